//! A frame, from its beginning to its end.

use super::Core;
use super::flags;
use super::group::Group;
use super::slot::{GREATEST, Head, Phase, StateWord};
use crate::current::{enter, unsuspended};
use crate::error::{Failure, StreamError};
use std::ptr::NonNull;
use std::rc::Rc;

impl Core {
    /// Evaluates each stream once. If the frame is run again after `restore` (`is_old`), it leaves
    /// out cosmetic streams.
    pub(crate) fn frame(self: &Rc<Core>, is_old: bool) {
        enter(self.clone(), || self.evaluate(is_old));
    }

    fn evaluate(&self, is_old: bool) {
        let _in_frame = InFrame::new(self);
        let here = 0u8;
        self.stack.set((&raw const here).addr());
        self.frames.set(self.frames.get() + 1);
        self.time.set(self.time.get().saturating_add(self.step.get()));
        if !is_old {
            self.turns.set(self.turns.get() + 1);
            self.time_of_turns.set(self.time_of_turns.get().saturating_add(self.step.get()));
        }
        unsuspended(|| self.look_at_sources());
        self.look_again();
        self.usual.set(self.ready.get());
        self.set_epoch(self.epoch.get() % GREATEST + 1);
        self.wake_all_executors();
        self.flag(flags::QUEUED);
        self.drain();
        for groups in [&self.early, &self.groups] {
            let mut index = 0;
            loop {
                let Some(group) = groups.borrow().get(index).cloned() else { break };
                if !is_old || !group.key.is_cosmetic {
                    group.run(self);
                }
                index += 1;
            }
        }
        self.drain();
        self.clock.streams_have_run();
        loop {
            self.foreigns().retire_all(self);
            if self.waiting.get() == 0 {
                break;
            }
            self.end_circles();
            self.drain();
        }
    }

    /// Fails the streams that wait for each other, when the frame has nothing else to wait for.
    fn end_circles(&self) {
        let circles = self.waits.circles();
        for circle in &circles {
            // SAFETY: slots live as long as the world.
            if circle.iter().any(|head| unsafe { head.as_ref() }.phase() != Phase::Waiting) {
                continue;
            }
            let origins = circle.iter().map(|head| self.origin(*head)).collect::<Vec<_>>();
            let error = StreamError::new(Failure::Cycle(origins));
            for pointer in circle {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                self.waiting.set(self.waiting.get() - 1);
                self.errors.borrow_mut().insert(*pointer, error.clone());
                head.state.set(StateWord::new(Phase::Failed, self.epoch.get()).with_value(state));
                self.wake_readers(state.number());
            }
            for pointer in circle {
                self.poll_failed(*pointer, &error);
            }
        }
        if circles.is_empty() {
            self.end_lost_waits();
        }
    }

    /// Polls a stream that has failed while it waited. So a body that is run anew in each frame
    /// does not go on in the next frame with the values that it has read in this one.
    fn poll_failed(&self, pointer: NonNull<Head>, error: &StreamError) {
        self.wake_executors(pointer);
        // SAFETY: slots live as long as the world.
        if unsafe { pointer.as_ref() }.phase() != Phase::Failed {
            // The body of another stream, or a waker, has removed it.
            return;
        }
        self.fail_current(error.clone());
        // SAFETY: the stream was waiting, and hence has a future and is not running.
        let poll = || unsafe { Group::of(pointer).poll(self, pointer) };
        self.caught(|| unsuspended(poll));
    }

    /// Ends waits within the frame that would not end by themselves. A stream waits in this way if
    /// it has dropped the future for which it waited. It keeps its value.
    fn end_lost_waits(&self) {
        for group in self.groups.borrow().iter().chain(self.early.borrow().iter()) {
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                if state.phase() == Phase::Waiting {
                    self.waiting.set(self.waiting.get() - 1);
                    head.state.set(StateWord::new(Phase::Settled, self.epoch.get()).with_value(state));
                    self.wake_readers(state.number());
                }
            });
        }
    }
}

/// Marks that a frame is under way.
struct InFrame<'a>(&'a Core);

impl<'a> InFrame<'a> {
    fn new(core: &'a Core) -> Self {
        assert!(!core.in_frame.replace(true), "a frame of this world is under way");
        InFrame(core)
    }
}

impl Drop for InFrame<'_> {
    fn drop(&mut self) {
        self.0.in_frame.set(false);
        self.0.current.set(None);
    }
}
