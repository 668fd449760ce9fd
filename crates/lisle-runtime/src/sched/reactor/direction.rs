//! The state of one direction of a descriptor, with its waiters.
//!
//! An edge-triggered kernel reports once, when something becomes possible. An operation that then
//! finds that it is no longer possible must not forget an edge that comes at the same moment;
//! otherwise it would wait for ever. Each direction therefore has one word,
//!
//! ```text
//! [ tick: count of edges | FINAL | READY ]
//! ```
//!
//! and these rules:
//!
//! 1. An *edge* sets READY and adds one to the tick, in one step. Then, if READY was not set
//!    before, it takes the lock of the queue and wakes all waiters. Only the driver does this.
//! 2. An *operation* reads the word and runs its system call if READY is set. If that would have
//!    blocked, the operation clears READY **by comparing with the word it has read**. If that fails
//!    because of the tick, an edge has come since, and it starts over.
//! 3. A *waiter* links itself into the queue under its lock, and only if it reads READY as not set
//!    there.
//!
//! **No edge is lost.** Let the kernel make a direction ready after an operation's system call
//! found that it was not. The edge for it is reported after the call, so its step of rule 1 comes
//! after the word was read. If the step comes before the clearing, the clearing fails. If it comes
//! after, READY is set when it is done. So after the last edge READY stays set until a later system
//! call has found nothing.
//!
//! **No waiter sleeps through an edge.** A waiter that read READY as not set held the queue's lock.
//! If the edge's wake takes the lock after it, it finds the waiter in the queue. If the wake took
//! the lock before it, the waiter saw the word of that edge or a later one; so a system call after
//! the edge had cleared READY.
//!
//! **READY set before means an empty queue.** Waiters join only while READY is not set, and the
//! step that last set it went on to empty the queue. Edges come from one thread, so the queue is
//! empty when the next edge comes. A busy socket, whose every event says anew that it is writable,
//! thus needs no lock.
//!
//! The fast path, an operation on a descriptor that is believed to be ready and is, costs one load.
//!
//! FINAL says that a short read no longer proves that nothing is left: the peer has shut down, or
//! has marked data as urgent. See [`DirectionState::attempt`].

use crate::event::{Source, Waiting};
use crate::shim::atomic::{AtomicUsize, Ordering};
use lisle_core::Event;
use std::io;

const READY: usize = 1;
const FINAL: usize = 2;
const TICK: usize = 4;

/// The effect of an edge on waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wakes {
    /// It commits them: they wait for the edge.
    Commit,
    /// It makes them try again: they wait for an operation, which only some of them may complete.
    Retry,
}

/// One direction of one descriptor.
#[derive(Debug)]
pub struct DirectionState {
    word: AtomicUsize,
    wakes: Wakes,
    waiters: Source<(), ()>,
}

/// Whether an operation asks the kernel even where the word says that it would block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// It does not: the caller would go on to wait anyway.
    IfReady,
    /// It does: the caller needs the answer.
    Always,
}

impl DirectionState {
    pub(super) fn new(wakes: Wakes, ready: bool) -> Self {
        DirectionState {
            word: AtomicUsize::new(if ready { READY } else { 0 }),
            wakes,
            waiters: Source::new(()),
        }
    }

    /// Returns `true` if an operation may succeed, as far as is known.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.word.load(Ordering::Acquire) & READY != 0
    }

    /// Runs `operation`, a non-blocking system call, and updates the word.
    ///
    /// `drained` returns whether a result shows that nothing is left. On Linux a short read from a
    /// stream does (epoll(7), "Questions and answers", 9), which spares a reader that is about to
    /// wait the call that would return nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of the operation. `WouldBlock` means that READY is not set, or was not a
    /// moment ago.
    #[inline]
    pub fn attempt<R>(
        &self,
        ask: Ask,
        mut operation: impl FnMut() -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        loop {
            let seen = self.word.load(Ordering::Acquire);
            let ready = seen & READY != 0;
            if !ready && ask == Ask::IfReady {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            match operation() {
                Ok(done) => {
                    if ready && seen & FINAL == 0 && drained(&done) {
                        // If this fails, an edge has come since, and more is there.
                        self.clear(seen);
                    }
                    return Ok(done);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !ready || self.clear(seen) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Notes that a look at the descriptor has found it not ready. The look began when
    /// [`observe`](DirectionState::observe) returned `seen`. Returns `false` if an edge has come
    /// since.
    #[inline]
    pub fn clear(&self, seen: usize) -> bool {
        self.word.compare_exchange(seen, seen & !READY, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Returns the word, if READY is set.
    #[inline]
    pub fn observe(&self) -> Option<usize> {
        let seen = self.word.load(Ordering::Acquire);
        (seen & READY != 0).then_some(seen)
    }

    /// Returns the event of READY being or becoming set.
    #[inline]
    pub fn ready(&self) -> impl Event<Output = ()> {
        self.waiters.event(|()| self.is_ready().then_some(()))
    }

    /// Returns a branch of an event that waits here.
    #[inline]
    pub fn waiting(&self) -> Waiting<'_, (), ()> {
        self.waiters.waiting()
    }

    /// Returns `true` if anything waits here. A waiter may turn out to have been served elsewhere.
    pub(super) fn is_waited_for(&self) -> bool {
        self.waiters.update(|(), waiters| !waiters.is_empty())
    }

    /// Notes that the kernel reports this direction as ready, and wakes the waiters.
    pub(super) fn edge(&self, is_final: bool) {
        let flags = if is_final { READY | FINAL } else { READY };
        let before = self
            .word
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| Some((word | flags).wrapping_add(TICK)))
            .unwrap_or_else(|word| word);
        if before & READY != 0 {
            return;
        }
        self.waiters.update(|(), waiters| match self.wakes {
            Wakes::Commit => while waiters.grant(()).is_ok() {},
            Wakes::Retry => waiters.retry_all(),
        });
    }
}

// Loom's build has this file without the folder above it, hence the path.
#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "direction_loom.rs"]
mod loom_tests;
