//! The outcomes of a poll.

use super::Core;
use super::flags;
use super::group::Group;
use super::slot::{Head, Phase, StateWord};
use crate::error::{Failure, StreamError};
use crate::panics::{forget_panic, message};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

impl Core {
    /// Notes that a stream waits within the frame.
    #[inline(always)]
    pub(crate) fn waits(&self, head: &Head) {
        self.waiting.set(self.waiting.get() + 1);
        head.state.set(head.state.get().in_phase(Phase::Waiting));
    }

    /// Notes the outcome of a poll that is not simply a value.
    #[inline(never)]
    pub(crate) fn settle(&self, pointer: NonNull<Head>, ended: bool) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        let (flags, state) = (self.flags.get(), head.state.get());
        self.flags.set(flags & flags::QUEUED);
        let failure = self.failure.borrow_mut().take();
        if !head.is_alive() {
            if ended {
                // SAFETY: it has one, and its poll is over.
                self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
                return self.becomes_vacant(pointer, StateWord::new(Phase::Ended, 0).with_value(state));
            }
            return self.becomes_vacant(pointer, state);
        }
        let next = if ended {
            head.state.set(StateWord::new(Phase::Ended, 0).with_value(state));
            // SAFETY: it has one, and its poll is over.
            self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
            self.end_loosely(pointer);
            StateWord::new(Phase::Ended, 0)
        } else if let Some(error) = failure.filter(|_| flags & flags::FAILED != 0) {
            self.errors.borrow_mut().insert(pointer, error);
            StateWord::new(Phase::Failed, self.epoch.get())
        } else if flags & flags::WITHIN != 0 {
            return self.waits(head);
        } else {
            StateWord::new(Phase::Settled, self.epoch.get())
        };
        head.state.set(next.with_value(state));
        self.wake_readers(state.number());
    }

    /// Runs streams. If one panics, the stream that is being polled fails. Returns `true` if
    /// there was a panic.
    #[inline(always)]
    pub(crate) fn caught(&self, f: impl FnOnce()) -> bool {
        let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { return false };
        self.has_panicked(&*panic);
        forget_panic(panic);
        true
    }

    /// Notes that the body that is being polled has panicked. It will not run again.
    #[cold]
    fn has_panicked(&self, panic: &(dyn Any + Send)) {
        let Some(pointer) = self.current.get() else { return };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        self.flags.set(self.flags.get() & flags::QUEUED);
        self.failure.borrow_mut().take();
        if head.phase() != Phase::Running {
            return;
        }
        let error = StreamError::new(Failure::Panicked(self.origin(pointer), message(panic)));
        self.fail_for_good(pointer, error);
    }

    fn fail_for_good(&self, pointer: NonNull<Head>, error: StreamError) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        let state = head.state.get();
        head.state.set(StateWord::new(Phase::Failed, 0).with_value(state));
        // SAFETY: its poll is over; it has a future, because a stream without a future is
        // not polled.
        self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
        self.end_loosely(pointer);
        if !head.is_alive() {
            return self.becomes_vacant(pointer, StateWord::new(Phase::Failed, 0).with_value(state));
        }
        self.errors.borrow_mut().insert(pointer, error);
        self.wake_readers(state.number());
    }

    /// Fails the stream that is being polled, in this frame.
    pub(crate) fn fail_current(&self, error: StreamError) {
        // The first failure is the reason of the later ones.
        self.failure.borrow_mut().get_or_insert(error);
        self.flag(flags::FAILED);
    }

    /// Returns `true` if the poll under way waits for a stream or a call within the frame.
    pub(crate) fn waits_within(&self) -> bool {
        self.flags.get() & flags::WITHIN != 0
    }

    /// Returns `true` if the poll under way has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.flags.get() & flags::FAILED != 0
    }
}
