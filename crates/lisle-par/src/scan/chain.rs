//! How chunks are scanned by several at the same time, in one pass over the memory.
//!
//! By *decoupled look-back*: D. Merrill and M. Garland, *Single-pass parallel prefix scan with decoupled look-back*
//! (2016). Whoever takes part claims the next chunk, in order. If the *carry* into it, the sum of all before, is
//! there already, the chunk is scanned in one go, and the carry out of it is handed to the next chunk. Otherwise the
//! chunk is added up first, and when the carry has come the carry out of it is handed on at once, for others to go
//! on, and the chunk is scanned while it still is in the cache.
//!
//! **Nobody waits for long.** A carry that does not come in a few microseconds is not waited for: its sender may have
//! lost its core, or its operation may itself be waiting, perhaps for this very thread. So the chunk is *left*, with
//! its sum, and whoever brings the carry finishes it. No chain of waiting can come about then, a claim that comes
//! late or never stops nobody, and an operation that panics has nobody to release. Here this differs from the
//! original, where who waits looks back over the sums of several chunks: carries go from chunk to chunk.

use crate::join_within as join;
use crate::shim::Backoff;
use crate::shim::CachePadded;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::sync::{Mutex, MutexGuard};
use std::mem::forget;

/// What is done to chunks.
pub(super) trait Form: Sync {
    /// What sums are.
    type Item: Send;
    /// Where a chunk is read and written; at least two elements.
    type Piece: Send;
    /// Is the sum of all asked for?
    const TOTAL: bool;

    /// The sum of two neighbouring runs.
    fn sums(&self, left: &Self::Item, right: &Self::Item) -> Self::Item;

    /// The sum of a chunk; or nothing, if it is to stop early on.
    fn sum(&self, piece: &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<Self::Item>;

    /// Scans a chunk. `carry` is the sum of all before, if there is something before. If it is to `go_on`, the sum
    /// including the chunk is returned.
    fn scan(&self, piece: Self::Piece, carry: Option<Self::Item>, go_on: bool) -> Option<Self::Item>;
}

/// How often one looks for a carry before adding the chunk up: it may be on its way.
const GLANCES: usize = if cfg!(lisle_loom) { 1 } else { 4 };

/// How often one looks for a carry after that: for a microsecond or a few. Not so often that a look would give the
/// core away: on a busy machine that takes milliseconds.
const LOOKS: usize = if cfg!(lisle_loom) {
    1
} else if cfg!(test) {
    2
} else {
    7
};

/// A scan that is going on.
pub(super) struct Chain<'a, S: Form> {
    form: &'a S,
    /// Are all sums those of whole chunks, so that they do not depend on who came when?
    is_fixed: bool,
    /// The first chunk that nobody has claimed.
    next: CachePadded<AtomicUsize>,
    /// Has an operation panicked, so that there is nothing left to do?
    is_broken: AtomicBool,
    /// One more than there are: the carry into the last is what comes out of the others.
    chunks: Vec<CachePadded<Chunk<S>>>,
}

/// The sum of all before; `None` if nothing is before.
type Carry<S> = Option<<S as Form>::Item>;

struct Chunk<S: Form> {
    /// Has the carry come? For those who look again and again.
    is_reached: AtomicBool,
    /// Locked for a few instructions, none of which are the user's.
    state: Mutex<State<S>>,
}

struct State<S: Form> {
    /// Until it is claimed, and again while it is left.
    piece: Option<S::Piece>,
    /// While it is left.
    sum: Option<S::Item>,
    /// Since it has come, until it is used.
    carry: Option<Carry<S>>,
}

/// A chunk of which all is known that it takes to finish it.
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

    /// For the one who has claimed it. The carry, too, if it has come.
    fn claim(&self) -> (S::Piece, Option<Carry<S>>) {
        let mut state = self.state();
        (state.piece.take().expect("a chunk is claimed once"), state.carry.take())
    }

    /// Looks for the carry so many times, at longer and longer intervals; has it come?
    fn is_reached_within(&self, looks: usize) -> bool {
        let mut backoff = Backoff::new();
        (0..looks).any(|look| {
            if look > 0 {
                backoff.wait();
            }
            self.is_reached()
        })
    }

    /// Has the carry come?
    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// For the one who has claimed it and sees that the carry has come.
    fn carry(&self) -> Carry<S> {
        self.state().carry.take().expect("the carry has come")
    }

    /// For the one who has claimed it and has no carry: leaves it to who brings the carry. If that has come, the
    /// chunk comes back.
    fn leave(&self, piece: S::Piece, sum: S::Item) -> Option<Ready<S>> {
        let mut state = self.state();
        if let Some(carry) = state.carry.take() {
            return Some(Ready { piece, carry, sum });
        }
        (state.piece, state.sum) = (Some(piece), Some(sum));
        None
    }

    /// Brings the carry. If the chunk was left, it is now the caller's.
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

    /// How many chunks there are, and steps to be made.
    pub(super) fn len(&self) -> usize {
        self.chunks.len() - 1
    }

    /// Has anybody claimed a chunk?
    #[cfg(test)]
    pub(super) fn has_begun(&self) -> bool {
        self.next.load(Ordering::Relaxed) > 0
    }

    /// What has come out of the last chunk, when all steps have been made.
    pub(super) fn total(mut self) -> Option<S::Item> {
        self.chunks.pop().and_then(|end| end.0.state.into_inner().ok()?.carry?)
    }

    /// Claims a chunk, and does what is to be done for it; also for others, if they have been left. Is there any use
    /// in going on?
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

    /// For the one who has claimed a chunk and has its carry: all in one go.
    fn scan_on(&self, number: usize, piece: S::Piece, carry: Carry<S>) {
        if let Some(sum) = self.form.scan(piece, carry, self.goes_on(number))
            && let Some(next) = self.chunks[number + 1].hand(Some(sum))
        {
            self.finish(number + 1, next);
        }
    }

    /// For the one who has claimed a chunk and has no carry.
    ///
    /// If it comes early on, what has been added up is given up: going on would be more to do.
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

    /// Is what comes out of this chunk asked for?
    fn goes_on(&self, number: usize) -> bool {
        S::TOTAL || number + 2 < self.chunks.len()
    }

    /// Hands the carry on, through all chunks that were left, and only then scans.
    fn finish(&self, mut number: usize, mut ready: Ready<S>) {
        // Mostly there are none.
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

    /// Scans chunks of which the carries are known.
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

/// Says so if a step panics.
struct Breaks<'a>(&'a AtomicBool);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
