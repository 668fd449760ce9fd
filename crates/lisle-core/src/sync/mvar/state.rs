//! The state of an [`MVar`], the queues of its waiters, and the branch of all its events.
//!
//! Every operation is one-sided: it looks at the phase, and commits alone if the phase allows it.
//! After each change [`MVar::settle`] serves the waiters. Between two changes therefore
//!
//! - no performer waits to put while the cell is empty (other than in the putter's own
//!   performance),
//! - no performer waits to take or lease while the value is in the cell and is not being read,
//! - no performer waits to read while the value is in the cell and none waits to take it.

use super::MVar;
use crate::event::lock::Lock;
use crate::event::protocol::queue::{WaitQueue, Waiter};
use crate::event::protocol::record::Committer;
use crate::event::protocol::woken::Woken;
use crate::event::{Attempt, Description, Label, Step, declare_made};
use crate::shim::cell::UnsafeCell;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// Which thread may access the value in the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no value. The holder of the lock may put one in.
    Empty,
    /// The number of performers that read the value. If it is 0, the holder of the lock may take
    /// the value.
    Full(usize),
    /// The holder of the lease may access the value.
    Lent,
}

/// The operation that a performer wants and, later, its result.
pub(super) enum Slot<T> {
    Put(T),
    Take,
    Lease,
    Read,
    /// The value of `Put` is in the cell.
    Done,
    Taken(T),
    Leased,
    /// The performer is counted as a reader.
    Reading,
}

pub(crate) struct State<T> {
    pub(super) phase: Phase,
    /// Each waiter is in the queue of its slot's operation. `taking` also has waiters for a lease.
    pub(super) putting: WaitQueue<Slot<T>>,
    pub(super) taking: WaitQueue<Slot<T>>,
    pub(super) reading: WaitQueue<Slot<T>>,
}

impl<T> State<T> {
    fn queue(&mut self, slot: &Slot<T>) -> &mut WaitQueue<Slot<T>> {
        match slot {
            Slot::Put(_) | Slot::Done => &mut self.putting,
            Slot::Take | Slot::Lease | Slot::Taken(_) | Slot::Leased => &mut self.taking,
            Slot::Read | Slot::Reading => &mut self.reading,
        }
    }

    /// Admits all waiting readers. The value is in the cell.
    fn admit_readers(&mut self, woken: &mut Woken) {
        let Phase::Full(readers) = &mut self.phase else { unreachable!("the value lies in the cell") };
        while let Some(mut reader) = self.reading.commit_outside() {
            *readers += 1;
            reader.slot(|slot| *slot = Slot::Reading);
            woken.push(reader.finish());
        }
    }
}

impl<T> MVar<T> {
    pub(super) fn make(label: Label, value: Option<T>) -> Self {
        let phase = if value.is_some() { Phase::Full(0) } else { Phase::Empty };
        let state =
            State { phase, putting: WaitQueue::new(), taking: WaitQueue::new(), reading: WaitQueue::new() };
        MVar { state: Lock::new(state), value: UnsafeCell::new(value), label }
    }

    /// Runs one transition. The performers that it serves are woken after the lock is released.
    #[inline]
    pub(super) fn locked<R>(&self, transition: impl FnOnce(&mut State<T>, &mut Woken) -> R) -> R {
        let mut woken = Woken::default();
        declare_made(&self.label, self);
        let mut state = self.state.lock();
        transition(&mut state, &mut woken)
    }

    /// Puts `value` into the cell, which is empty.
    fn fill(&self, state: &mut State<T>, value: T) {
        debug_assert_eq!(state.phase, Phase::Empty);
        // SAFETY: this thread holds the lock, as `state` shows, and in this phase its holder may
        // access the value.
        let none = self.value.with_mut(|place| unsafe { (*place).replace(value) });
        debug_assert!(none.is_none());
        state.phase = Phase::Full(0);
    }

    /// Takes the value out of the cell, where nothing reads it.
    fn empty(&self, state: &mut State<T>) -> T {
        debug_assert_eq!(state.phase, Phase::Full(0));
        state.phase = Phase::Empty;
        // SAFETY: this thread holds the lock, as `state` shows, and in the phase `Full(0)`, which
        // just ended, its holder may access the value.
        self.value.with_mut(|place| unsafe { (*place).take() }).expect("a full cell has its value")
    }

    /// Serves the waiters as far as possible. If `fresh` is `true` the value has just come into the
    /// cell, and waiting readers see it before it is taken. Otherwise takers go first. Readers and
    /// takers alternate, so neither starves.
    pub(super) fn settle(&self, state: &mut State<T>, woken: &mut Woken, mut fresh: bool) {
        loop {
            match state.phase {
                Phase::Lent => return,
                Phase::Empty => {
                    let Some(mut putter) = state.putting.commit_outside() else { return };
                    let put = putter.slot(|slot| std::mem::replace(slot, Slot::Done));
                    let Slot::Put(value) = put else { unreachable!("a waiting putter has its value") };
                    self.fill(state, value);
                    woken.push(putter.finish());
                }
                Phase::Full(_) => {
                    if fresh || state.taking.is_empty() {
                        state.admit_readers(woken);
                    }
                    if state.phase != Phase::Full(0) {
                        return;
                    }
                    let Some(mut taker) = state.taking.commit_outside() else {
                        // The waiters that seemed to be there have been committed elsewhere.
                        return state.admit_readers(woken);
                    };
                    taker.slot(|slot| self.give(state, slot));
                    woken.push(taker.finish());
                }
            }
            fresh = true;
        }
    }

    /// Gives the value, which is in the cell and not being read, to a taker, or leases it.
    fn give(&self, state: &mut State<T>, slot: &mut Slot<T>) {
        match slot {
            Slot::Take => *slot = Slot::Taken(self.empty(state)),
            Slot::Lease => {
                state.phase = Phase::Lent;
                *slot = Slot::Leased;
            }
            _ => unreachable!("takers and those that want a lease wait in this queue"),
        }
    }

    /// Performs the operation of `slot` and returns `true`, if the phase allows it and `by` has not
    /// been committed.
    #[inline]
    pub(super) fn step(
        &self,
        state: &mut State<T>,
        woken: &mut Woken,
        by: &impl Committer,
        slot: &mut Slot<T>,
    ) -> bool {
        match (&slot, state.phase) {
            (Slot::Put(_), Phase::Empty) if by.commit_alone() => {
                let Slot::Put(value) = std::mem::replace(slot, Slot::Done) else { unreachable!("just seen") };
                self.fill(state, value);
                self.settle(state, woken, true);
                true
            }
            (Slot::Take | Slot::Lease, Phase::Full(0)) if by.commit_alone() => {
                self.give(state, slot);
                self.settle(state, woken, true);
                true
            }
            (Slot::Read, Phase::Full(readers)) if state.taking.is_empty() && by.commit_alone() => {
                state.phase = Phase::Full(readers + 1);
                *slot = Slot::Reading;
                true
            }
            _ => false,
        }
    }

    /// Ends the read of one performer.
    pub(super) fn end_read(&self) {
        self.locked(|state, woken| {
            let Phase::Full(readers) = &mut state.phase else {
                unreachable!("a read value stays in the cell")
            };
            *readers -= 1;
            self.settle(state, woken, false);
        });
    }

    /// Ends the lease, with a value in the cell.
    pub(super) fn end_lease(&self) {
        self.locked(|state, woken| {
            debug_assert_eq!(state.phase, Phase::Lent);
            state.phase = Phase::Full(0);
            self.settle(state, woken, true);
        });
    }

    pub(super) fn turn(&self, slot: Slot<T>) -> Turn<'_, T> {
        Turn { cell: self, waiter: Waiter::new(slot) }
    }
}

/// The branch of an event of an [`MVar`]: a waiter whose slot has the wanted operation.
///
/// If it is dropped after it has won a lease or the permission to read, and before it has been
/// completed, it gives that back.
pub struct Turn<'e, T> {
    pub(super) cell: &'e MVar<T>,
    waiter: Waiter<Slot<T>>,
}

impl<T> Turn<'_, T> {
    #[inline]
    pub(super) fn attempt(self: Pin<&mut Self>, attempt: &Attempt<'_>, wait: bool) -> Step {
        let this = self.into_ref().get_ref();
        this.waiter.must_not_be_published();
        this.cell.locked(|state, woken| {
            // SAFETY: the waiter is not published, as checked above, so it is free and only the
            // performer accesses its slot.
            let queue = unsafe {
                this.waiter.slot_mut(|slot| {
                    if this.cell.step(state, woken, attempt, slot) {
                        return None;
                    }
                    Some(state.queue(slot))
                })
            };
            let Some(queue) = queue else { return Step::Committed };
            if wait && !attempt.is_decided() {
                // SAFETY: the waiter is not linked, since it is not published. It is pinned, and it
                // is not freed before `withdraw` has unlinked it. Single events publish only one
                // branch.
                unsafe { queue.push(&this.waiter, attempt) };
            }
            Step::Waiting
        })
    }

    #[inline]
    pub(super) fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            self.cell.locked(|state, woken| {
                // SAFETY: this thread holds the lock.
                let queue = unsafe { self.waiter.slot_mut(|slot| state.queue(slot)) };
                // SAFETY: the waiter is alive and was linked into this queue or into none.
                unsafe { queue.unlink(NonNull::from(&self.waiter)) };
                // Readers that waited behind a taker that leaves need not wait any more.
                self.cell.settle(state, woken, false);
            });
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Returns the performer's result.
    #[inline]
    pub(super) fn outcome(self: Pin<&mut Self>) -> Slot<T> {
        assert!(!self.waiter.is_published(), "`complete` on a branch that has not been withdrawn");
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        unsafe { self.waiter.slot_mut(|slot| std::mem::replace(slot, Slot::Done)) }
    }

    pub(super) fn describe(&self, operation: &'static str, waits: &mut Description) {
        waits.on(operation, &self.cell.label, std::ptr::from_ref(self.cell) as usize);
    }
}

impl<T> Drop for Turn<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.waiter.must_not_be_published();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        match unsafe { self.waiter.slot_mut(|slot| std::mem::replace(slot, Slot::Done)) } {
            Slot::Leased => self.cell.end_lease(),
            Slot::Reading => self.cell.end_read(),
            _ => {}
        }
    }
}

impl<T> fmt::Debug for Turn<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}
