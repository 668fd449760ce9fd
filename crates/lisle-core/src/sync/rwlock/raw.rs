//! The lock of a readers-writer lock, without the value that it protects: it decides which
//! performer may have it next.
//!
//! One word counts the readers and says whether a writer has the lock and whether a performer
//! waits. While nothing waits, locking and unlocking are one exchange each. Once a performer waits,
//! the word's flag keeps newcomers out, and everything happens under the lock of the queues: the
//! lock is handed over and is never free to be taken.
//!
//! A plain thread tries for a while before it waits. A writer does not if readers have the lock:
//! for as long as it only tries, it keeps no reader out.
//!
//! Readers and writers have a queue each. A writer that unlocks hands the lock to all readers that
//! wait by then, and the last of them hands it to the first writer. Neither side therefore waits
//! for more than one turn of the other, however many come. This is a *phase-fair* lock (Brandenburg
//! and Anderson, *Reader-writer synchronization for shared-memory multiprocessor real-time
//! systems*, 2009).

use crate::event::lock::Lock;
use crate::event::protocol::queue::{WaitQueue, Waiter};
use crate::event::protocol::woken::Woken;
use crate::event::{Attempt, Description, Event, Label, Step, declare_made, visible_doing};
use crate::shim::{
    atomic::{AtomicUsize, Ordering},
    const_fn,
};
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A writer has the lock.
const WRITER: usize = 1;
/// A performer waits, or did so a moment ago. Set and cleared under the lock of the queues.
const QUEUED: usize = 2;
/// One reader.
const READER: usize = 4;

pub(crate) struct RawRwLock {
    state: AtomicUsize,
    queues: Lock<Queues>,
    pub(super) label: Label,
}

struct Queues {
    readers: WaitQueue<()>,
    writers: WaitQueue<()>,
}

impl Queues {
    fn are_empty(&self) -> bool {
        self.readers.is_empty() && self.writers.is_empty()
    }
}

/// The purpose for which a performer takes the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

impl RawRwLock {
    const_fn! {
        pub(super) fn new(label: Label) -> Self {
            RawRwLock {
                state: AtomicUsize::new(0),
                queues: Lock::new(Queues { readers: WaitQueue::new(), writers: WaitQueue::new() }),
                label,
            }
        }
    }

    /// Takes the lock if that is possible at once and nothing waits. Returns `false` otherwise.
    #[inline(always)]
    pub(super) fn try_lock(&self, mode: Mode) -> bool {
        declare_made(&self.label, self);
        match mode {
            Mode::Read => {
                let mut state = self.state.load(Ordering::Relaxed);
                while state & (WRITER | QUEUED) == 0 {
                    match self.state.compare_exchange_weak(
                        state,
                        state + READER,
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return true,
                        Err(now) => state = now,
                    }
                }
                false
            }
            Mode::Write => {
                self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
            }
        }
    }

    /// Returns `true` if readers have the lock.
    pub(super) fn is_read(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & WRITER == 0 && state >= READER
    }

    /// Takes the lock if that is possible at once, or else sets `QUEUED` and returns `false`.
    /// Called under the lock of the queues.
    fn lock_or_queue(&self, mode: Mode, queues: &Queues) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let (possible, taken) = match mode {
                Mode::Read => (state & WRITER == 0 && queues.writers.is_empty(), state.wrapping_add(READER)),
                Mode::Write => (state & !QUEUED == 0, state | WRITER),
            };
            let next = if possible { taken } else { state | QUEUED };
            match self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return possible,
                Err(now) => state = now,
            }
        }
    }

    #[inline(always)]
    pub(super) fn unlock(&self, mode: Mode) {
        match mode {
            Mode::Read => {
                if self.state.fetch_sub(READER, Ordering::Release) == READER | QUEUED {
                    self.hand_over(Mode::Write);
                }
            }
            Mode::Write => {
                if self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed).is_err() {
                    self.unlock_contended();
                }
            }
        }
    }

    #[cold]
    fn unlock_contended(&self) {
        // No newcomer takes the lock meanwhile, since `QUEUED` is set.
        self.state.fetch_and(!WRITER, Ordering::Release);
        self.hand_over(Mode::Read);
    }

    /// Turns the writer that has the lock into a reader. Waiting readers are admitted, unless a
    /// writer waits too.
    pub(super) fn downgrade(&self) {
        visible_doing("downgrade", &self.label, self);
        if self.state.fetch_add(READER - WRITER, Ordering::Release) & QUEUED != 0 {
            self.hand_over(Mode::Write);
        }
    }

    /// Gives the lock to waiters, if that is possible. If both kinds could have it, `first` gets
    /// it.
    #[cold]
    fn hand_over(&self, first: Mode) {
        // Dropped after the guard, so the wakes come when the lock of the queues is free.
        let mut woken = Woken::default();
        declare_made(&self.label, self);
        let mut queues = self.queues.lock();
        self.settle(&mut queues, &mut woken, first);
    }

    fn settle(&self, queues: &mut Queues, woken: &mut Woken, first: Mode) {
        let state = self.state.load(Ordering::Acquire);
        // While a performer waits, others only leave, so a lock that is possible now stays
        // possible.
        if state & QUEUED == 0 {
            return;
        }
        if state & WRITER == 0 {
            if state >= READER {
                // A waiting writer comes before readers that came later.
                if queues.writers.is_empty() {
                    self.admit_readers(queues, woken);
                }
            } else {
                let _ = match first {
                    Mode::Read => self.admit_readers(queues, woken) || self.admit_writer(queues, woken),
                    Mode::Write => self.admit_writer(queues, woken) || self.admit_readers(queues, woken),
                };
            }
        }
        if queues.are_empty() {
            self.state.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }

    /// Gives the lock to all waiting readers. Returns `false` if there is none.
    fn admit_readers(&self, queues: &mut Queues, woken: &mut Woken) -> bool {
        let mut some = false;
        while let Some(reader) = queues.readers.commit_outside() {
            self.state.fetch_add(READER, Ordering::Relaxed);
            woken.push(reader.finish());
            some = true;
        }
        some
    }

    /// Gives the lock to the first waiting writer. Returns `false` if there is none.
    fn admit_writer(&self, queues: &mut Queues, woken: &mut Woken) -> bool {
        let writer = queues.writers.commit_outside();
        if let Some(writer) = writer {
            self.state.fetch_or(WRITER, Ordering::Relaxed);
            woken.push(writer.finish());
            return true;
        }
        false
    }

    /// Returns the event of taking the lock.
    pub(super) fn access(&self, mode: Mode) -> Access<'_> {
        Access { raw: self, mode }
    }
}

/// The event of taking the lock.
#[derive(Clone, Copy)]
pub(super) struct Access<'a> {
    raw: &'a RawRwLock,
    mode: Mode,
}

impl Event for Access<'_> {
    type Output = ();
    type Branch<'e>
        = Accessing<'e>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Accessing<'_> {
        Accessing { raw: self.raw, mode: self.mode, waiter: Waiter::new(()), holds: false }
    }

    fn try_commit<'e>(&'e self, branch: Pin<&mut Accessing<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.must_be_of(self);
        branch.waiter.must_not_be_published();
        let taken = attempt.commit_if(|| self.raw.try_lock(self.mode).then_some(()));
        branch.took(taken)
    }

    fn publish<'e>(&'e self, mut branch: Pin<&mut Accessing<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.must_be_of(self);
        branch.waiter.must_not_be_published();
        let mut woken = Woken::default();
        declare_made(&self.raw.label, self.raw);
        let mut queues = self.raw.queues.lock();
        let taken = attempt.commit_if(|| self.raw.lock_or_queue(self.mode, &queues).then_some(()));
        let step = branch.as_mut().took(taken);
        if step == Step::Waiting && attempt.is_decided() {
            // Another branch has won meanwhile, and `QUEUED` may have been set for nobody.
            self.raw.settle(&mut queues, &mut woken, Mode::Write);
        } else if step == Step::Waiting {
            let queue = match self.mode {
                Mode::Read => &mut queues.readers,
                Mode::Write => &mut queues.writers,
            };
            // SAFETY: the waiter is not linked, since it is not published. It is pinned, and it is
            // not freed before `withdraw` has unlinked it. Single events publish only one branch.
            unsafe { queue.push(&branch.waiter, attempt) };
        }
        step
    }

    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Accessing<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.must_be_of(self);
        // If it is called again after completion, the branch has not won anew.
        let was_published = branch.waiter.is_published();
        if !branch.waiter.is_free() {
            let mut woken = Woken::default();
            declare_made(&self.raw.label, self.raw);
            let mut queues = self.raw.queues.lock();
            let queue = match self.mode {
                Mode::Read => &mut queues.readers,
                Mode::Write => &mut queues.writers,
            };
            // SAFETY: the waiter is alive and was linked into this queue or into none.
            unsafe { queue.unlink(NonNull::from(&branch.waiter)) };
            // Readers may have waited only for this writer.
            self.raw.settle(&mut queues, &mut woken, Mode::Write);
        }
        branch.waiter.taken_back(attempt);
        let won = attempt.record().won_by(branch.waiter.id());
        if won && was_published {
            branch.as_mut().set_holds(true);
        }
        won
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Accessing<'e>>) {
        branch.must_be_of(self);
        assert!(branch.holds, "`complete` on a branch that has not won");
        branch.set_holds(false);
    }

    fn describe<'e>(&'e self, _: &Accessing<'e>, waits: &mut Description) {
        let operation = match self.mode {
            Mode::Read => "read",
            Mode::Write => "write",
        };
        waits.on(operation, &self.raw.label, std::ptr::from_ref(self.raw).addr());
    }
}

/// The branch of an event that takes the lock.
pub struct Accessing<'e> {
    raw: &'e RawRwLock,
    mode: Mode,
    waiter: Waiter<()>,
    /// `true` if the branch holds the lock and the lock has not been taken out yet.
    holds: bool,
}

impl Accessing<'_> {
    /// Panics if the branch belongs to another lock or another mode.
    fn must_be_of(&self, access: &Access<'_>) {
        let same = std::ptr::eq(self.raw, access.raw) && self.mode == access.mode;
        assert!(same, "a branch of another access");
    }

    fn took(self: Pin<&mut Self>, taken: Result<Option<()>, ()>) -> Step {
        if taken == Ok(Some(())) {
            self.set_holds(true);
            return Step::Committed;
        }
        Step::Waiting
    }

    fn set_holds(self: Pin<&mut Self>, holds: bool) {
        // SAFETY: only the waiter is pinned, and nothing is moved.
        unsafe { self.get_unchecked_mut() }.holds = holds;
    }
}

impl Drop for Accessing<'_> {
    /// Gives back a lock that was not taken out: a future was dropped after it got the lock.
    fn drop(&mut self) {
        if self.holds {
            self.raw.unlock(self.mode);
        }
    }
}

impl fmt::Debug for Accessing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accessing").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}
