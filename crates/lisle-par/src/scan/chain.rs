//! How several participants scan chunks at the same time, in one pass over the memory.
//!
//! The algorithm is *decoupled look-back*: D. Merrill and M. Garland, *Single-pass parallel prefix
//! scan with decoupled look-back* (2016). A participant claims the next chunk, in order. If the
//! *carry* into it, the sum of all elements before, is there already, the participant scans the
//! chunk at once and hands the carry out of it to the next chunk. Otherwise it adds the chunk up
//! first. When the carry has come, it hands on the carry out of the chunk at once, and then scans
//! the chunk while it is still in the cache.
//!
//! **No participant waits for long.** If a carry does not come within a few microseconds, the
//! participant does not wait for it: the sender may have lost its core, or its operation may itself
//! be waiting, perhaps for this very thread. In that case the chunk is *left*, with its sum, and
//! the participant that brings the carry finishes it. Hence no chain of waiting can arise, a claim
//! that comes late or never blocks no participant, and an operation that panics has no waiter to
//! release. This differs from the original, in which a waiter looks back over the sums of several
//! chunks: here carries go from chunk to chunk.

use crate::join_within as join;
use crate::shim::Backoff;
use crate::shim::CachePadded;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::sync::{Mutex, MutexGuard};
use std::mem::forget;

/// The operations of a scan on chunks.
pub(super) trait Form: Sync {
    /// The type of the sums.
    type Item: Send;
    /// Where a chunk is read and written; at least two elements.
    type Piece: Send;
    /// Whether the sum of all elements is asked for.
    const TOTAL: bool;

    /// Returns the sum of two neighbouring ranges.
    fn sums(&self, left: &Self::Item, right: &Self::Item) -> Self::Item;

    /// Returns the sum of a chunk, or `None` if `is_to_stop` returned `true` early on.
    fn sum(&self, piece: &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<Self::Item>;

    /// Scans a chunk. `carry` is the sum of all elements before, if there are any. If `go_on` is
    /// set, returns the sum including the chunk.
    fn scan(&self, piece: Self::Piece, carry: Option<Self::Item>, go_on: bool) -> Option<Self::Item>;
}

/// The number of checks for a carry before the chunk is added up: the carry may be on its way.
const GLANCES: usize = if cfg!(lisle_loom) { 1 } else { 4 };

/// The number of checks for a carry after that: for a microsecond or a few. More checks would give
/// the core away, which takes milliseconds on a busy machine.
const LOOKS: usize = if cfg!(lisle_loom) {
    1
} else if cfg!(test) {
    2
} else {
    7
};

/// A scan in progress.
pub(super) struct Chain<'a, S: Form> {
    form: &'a S,
    /// Whether all sums are sums of whole chunks, and so do not depend on timing.
    is_fixed: bool,
    /// The first chunk that has not been claimed.
    next: CachePadded<AtomicUsize>,
    /// Set when an operation has panicked: then no work is left.
    is_broken: AtomicBool,
    /// One more than there are chunks: the carry into the last one is the sum of all others.
    chunks: Vec<CachePadded<Chunk<S>>>,
}

/// The sum of all elements before; `None` if there are none.
type Carry<S> = Option<<S as Form>::Item>;

struct Chunk<S: Form> {
    /// Whether the carry has come. Read repeatedly without the lock.
    is_reached: AtomicBool,
    /// Locked for a few instructions, none of which are the user's.
    state: Mutex<State<S>>,
}

struct State<S: Form> {
    /// Present until the chunk is claimed, and again while it is left.
    piece: Option<S::Piece>,
    /// Present while the chunk is left.
    sum: Option<S::Item>,
    /// Present from when it comes until it is used.
    carry: Option<Carry<S>>,
}

/// A chunk that can be finished: with its sum and its carry.
struct Ready<S: Form> {
    piece: S::Piece,
    carry: Carry<S>,
    sum: S::Item,
}

impl<S: Form> Chunk<S> {
    fn new(piece: Option<S::Piece>) -> Self {
        let state = State { piece, sum: None, carry: None };
        Chunk { is_reached: AtomicBool::new(false), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().expect("nothing panics under this lock")
    }

    /// Claims the chunk. Also returns the carry if it has come.
    fn claim(&self) -> (S::Piece, Option<Carry<S>>) {
        let mut state = self.state();
        (state.piece.take().expect("a chunk is claimed once"), state.carry.take())
    }

    /// Looks for the carry at most `looks` times, at longer and longer intervals. Returns `true` if
    /// it has come.
    fn is_reached_within(&self, looks: usize) -> bool {
        let mut backoff = Backoff::new();
        (0..looks).any(|look| {
            if look > 0 {
                backoff.wait();
            }
            self.is_reached()
        })
    }

    /// Returns `true` if the carry has come.
    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// Takes the carry. The caller has claimed the chunk and has seen that the carry has come.
    fn carry(&self) -> Carry<S> {
        self.state().carry.take().expect("the carry has come")
    }

    /// Leaves the chunk to the participant that brings the carry. The caller has claimed it and has
    /// no carry. If the carry has come in the meantime, the chunk is returned.
    fn leave(&self, piece: S::Piece, sum: S::Item) -> Option<Ready<S>> {
        let mut state = self.state();
        if let Some(carry) = state.carry.take() {
            return Some(Ready { piece, carry, sum });
        }
        (state.piece, state.sum) = (Some(piece), Some(sum));
        None
    }

    /// Brings the carry. If the chunk was left, it is returned, and the caller has to finish it.
    fn hand(&self, carry: Carry<S>) -> Option<Ready<S>> {
        let mut state = self.state();
        if let Some(sum) = state.sum.take() {
            let piece = state.piece.take().expect("a chunk is left as a whole");
            return Some(Ready { piece, carry, sum });
        }
        state.carry = Some(carry);
        self.is_reached.store(true, Ordering::Relaxed);
        None
    }
}

impl<'a, S: Form> Chain<'a, S> {
    pub(super) fn new(
        form: &'a S,
        pieces: impl Iterator<Item = S::Piece>,
        carry: Option<S::Item>,
        is_fixed: bool,
    ) -> Self {
        let places = pieces.map(Some).chain([None]);
        let chunks: Vec<_> = places.map(|piece| CachePadded(Chunk::new(piece))).collect();
        let untouched = chunks[0].hand(carry);
        debug_assert!(untouched.is_none());
        Chain {
            form,
            is_fixed,
            next: CachePadded(AtomicUsize::new(0)),
            is_broken: AtomicBool::new(false),
            chunks,
        }
    }

    /// Returns the number of chunks, which is the number of steps.
    pub(super) fn len(&self) -> usize {
        self.chunks.len() - 1
    }

    /// Returns `true` if a chunk has been claimed.
    #[cfg(test)]
    pub(super) fn has_begun(&self) -> bool {
        self.next.load(Ordering::Relaxed) > 0
    }

    /// Returns the carry out of the last chunk, when all steps have been made.
    pub(super) fn total(mut self) -> Option<S::Item> {
        self.chunks.pop().and_then(|end| end.0.state.into_inner().ok()?.carry?)
    }

    /// Claims a chunk and processes it, along with chunks of other participants that were left.
    /// Returns `false` if an operation has panicked, and going on is useless.
    pub(super) fn step(&self) -> bool {
        if self.is_broken.load(Ordering::Relaxed) {
            return false;
        }
        let breaks = Breaks(&self.is_broken);
        self.claim();
        forget(breaks);
        true
    }

    fn claim(&self) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let chunk = &self.chunks[number];
        chunk.is_reached_within(GLANCES);
        let (piece, carry) = chunk.claim();
        match carry {
            Some(carry) if !self.is_fixed => self.scan_on(number, piece, carry),
            Some(carry) => {
                let sum = self.form.sum(&piece, || false).expect("nothing stops it");
                self.finish(number, Ready { piece, carry, sum });
            }
            None => self.add_up(number, piece),
        }
    }

    /// Scans a chunk at once. The caller has claimed it and has its carry.
    fn scan_on(&self, number: usize, piece: S::Piece, carry: Carry<S>) {
        if let Some(sum) = self.form.scan(piece, carry, self.goes_on(number))
            && let Some(next) = self.chunks[number + 1].hand(Some(sum))
        {
            self.finish(number + 1, next);
        }
    }

    /// Adds a chunk up. The caller has claimed it and has no carry.
    ///
    /// If the carry comes early on, the partial sum is discarded: going on would be more work.
    fn add_up(&self, number: usize, piece: S::Piece) {
        let chunk = &self.chunks[number];
        let Some(sum) = self.form.sum(&piece, || !self.is_fixed && chunk.is_reached()) else {
            return self.scan_on(number, piece, chunk.carry());
        };
        chunk.is_reached_within(LOOKS);
        if let Some(ready) = chunk.leave(piece, sum) {
            self.finish(number, ready);
        }
    }

    /// Returns `true` if the carry out of this chunk is needed.
    fn goes_on(&self, number: usize) -> bool {
        S::TOTAL || number + 2 < self.chunks.len()
    }

    /// Hands the carry on through all chunks that were left, and only then scans them.
    fn finish(&self, mut number: usize, mut ready: Ready<S>) {
        // Usually empty.
        let mut earlier = Vec::new();
        loop {
            let Ready { piece, carry, sum } = ready;
            let next = self.goes_on(number).then(|| match &carry {
                Some(carry) => self.form.sums(carry, &sum),
                None => sum,
            });
            number += 1;
            let Some(left) = next.and_then(|next| self.chunks[number].hand(Some(next))) else {
                join(|| self.form.scan(piece, carry, false), || self.scan_all(&mut earlier));
                return;
            };
            earlier.push(Some((piece, carry)));
            ready = left;
        }
    }

    /// Scans chunks whose carries are known.
    fn scan_all(&self, chunks: &mut [Option<(S::Piece, Carry<S>)>]) {
        match chunks {
            [] => {}
            [chunk] => {
                let (piece, carry) = chunk.take().expect("a chunk is scanned once");
                self.form.scan(piece, carry, false);
            }
            _ => {
                let (chunks, later) = chunks.split_at_mut(chunks.len() / 2);
                join(|| self.scan_all(chunks), || self.scan_all(later));
            }
        }
    }
}

/// Sets the flag when it is dropped, which happens if a step panics.
struct Breaks<'a>(&'a AtomicBool);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
