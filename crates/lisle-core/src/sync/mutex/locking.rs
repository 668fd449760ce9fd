//! Taking the lock of a mutex, as an event: the steps of a performer that finds the lock taken. The
//! word and the turns of waiters are in `raw.rs`.

use super::raw::{RawMutex, is_given};
use super::turns::{Later, TurnMessages};
use crate::event::protocol::queue::Waiter;
use crate::event::{Attempt, Description, Event, Step, declare_made};
use crate::shim::atomic::Ordering;
use crate::shim::model::Touch;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// Taking the lock, as an event.
impl Event for RawMutex {
    type Output = ();
    type Branch<'e> = Locking<'e>;

    #[inline]
    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Locking<'_> {
        Locking { raw: self, waiter: Waiter::new(TurnMessages::default()), holds: false }
    }

    fn try_commit<'e>(&'e self, mut branch: Pin<&mut Locking<'e>>, attempt: &Attempt<'_>) -> Step {
        declare_made(&self.label, self);
        branch.must_be_of(self);
        branch.waiter.must_not_be_published();
        branch.as_mut().took(attempt.commit_if(|| self.try_lock().then_some(())))
    }

    fn publish<'e>(&'e self, mut branch: Pin<&mut Locking<'e>>, attempt: &Attempt<'_>) -> Step {
        declare_made(&self.label, self);
        branch.must_be_of(self);
        branch.waiter.must_not_be_published();
        let is_thread = attempt.record().is_single() && attempt.context().leaves_spinning();
        let turn = branch.messages(|messages| messages.turn);
        if let Some(turn) = turn {
            let taken = attempt.commit_if(|| self.try_turn(turn, attempt, is_thread).then_some(()));
            let step = branch.as_mut().took(taken);
            if step == Step::Committed {
                branch.messages(|messages| messages.turn = None);
                return step;
            }
        }
        // Dropped after the guard.
        let later = Later::default();
        let mut queue = self.queue.lock();
        let missed = turn.is_some() && !is_given(self.state.load(Ordering::Relaxed), turn);
        let taken = attempt.commit_if(|| {
            branch.messages(|messages| messages.turn = None);
            (self.take_late(&mut queue, turn) || self.lock_or_queue(turn)).then_some(())
        });
        let step = branch.as_mut().took(taken);
        if step == Step::Committed || attempt.is_decided() {
            return step;
        }
        let waited = branch.messages(|messages| {
            messages.missed += u8::from(missed);
            messages.is_thread = is_thread;
            queue.enters(messages, attempt.is_rooted());
            std::mem::replace(&mut messages.waited, true)
        });
        self.watch_before_wait(&mut queue, attempt.context(), &later);
        if waited {
            // SAFETY: the waiter is not linked, since it is not published. It is pinned, and it is
            // not freed before `withdraw` has unlinked it. Single events publish only one branch.
            unsafe { queue.waiters.push_front(&branch.waiter, attempt) };
        } else {
            // SAFETY: as above.
            unsafe { queue.waiters.push(&branch.waiter, attempt) };
        }
        step
    }

    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Locking<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.must_be_of(self);
        // If it is called again after completion, the branch has not won anew.
        let was_published = branch.waiter.is_published();
        if !branch.waiter.is_free() {
            // Dropped after the guard.
            let later = Later::default();
            let mut queue = self.queue.lock();
            if branch.waiter.is_held() {
                self.claim(&mut queue);
            }
            // SAFETY: the waiter is alive and was linked into this queue or into none.
            if unsafe { queue.waiters.unlink(NonNull::from(&branch.waiter)) } {
                // SAFETY: the queue's lock is held.
                unsafe { branch.waiter.slot_mut(|messages| queue.has_left(messages)) };
            }
            self.watch(&mut queue, &later);
        }
        branch.waiter.taken_back(attempt);
        let won = attempt.record().won_by(branch.waiter.id());
        if won && was_published {
            branch.as_mut().set_holds(true);
        }
        won
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Locking<'e>>) {
        branch.must_be_of(self);
        assert!(branch.holds, "`complete` on a branch that has not won");
        branch.set_holds(false);
        self.note_holder();
        self.touched(Touch::Write);
    }

    fn describe<'e>(&'e self, _: &Locking<'e>, waits: &mut Description) {
        waits.on_held("lock", &self.label, std::ptr::from_ref(self).addr(), self.holder());
    }
}

/// The branch of an event that takes the lock.
pub struct Locking<'e> {
    raw: &'e RawMutex,
    waiter: Waiter<TurnMessages>,
    /// `true` if the branch holds the lock and the lock has not been taken out yet.
    holds: bool,
}

impl Locking<'_> {
    /// Panics if the branch belongs to another mutex.
    fn must_be_of(&self, raw: &RawMutex) {
        assert!(std::ptr::eq(self.raw, raw), "a branch of another mutex");
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

    /// Accesses the slot. Called by the performer while the branch is not published.
    fn messages<R>(&self, f: impl FnOnce(&mut TurnMessages) -> R) -> R {
        self.waiter.must_not_be_published();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        unsafe { self.waiter.slot_mut(f) }
    }
}

impl Drop for Locking<'_> {
    /// Gives back a lock or a turn that was not taken out: a future was dropped after it got the
    /// lock or was told to try.
    fn drop(&mut self) {
        if self.holds {
            self.raw.unlock();
        }
        if let Some(turn) = self.messages(|messages| messages.turn) {
            self.raw.pass_on(turn);
        }
    }
}

impl fmt::Debug for Locking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locking").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}
