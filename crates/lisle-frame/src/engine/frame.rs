//! A frame, from its beginning to its end.

use super::Core;
use super::flags;
use super::slot::{GREATEST, Phase, State};
use crate::current::Entered;
use crate::error::{Failure, StreamError};
use std::rc::Rc;

impl Core {
    /// Evaluates each stream once.
    pub(crate) fn frame(self: &Rc<Core>) {
        let _entered = Entered::new(self.clone());
        let _in_frame = InFrame::new(self);
        let here = 0u8;
        self.stack.set((&raw const here).addr());
        self.frames.set(self.frames.get() + 1);
        self.set_epoch(self.epoch.get() % GREATEST + 1);
        self.wake_all_executors();
        self.flag(flags::QUEUED);
        self.drain();
        for groups in [&self.early, &self.groups] {
            let mut index = 0;
            loop {
                let Some(group) = groups.borrow().get(index).cloned() else { break };
                group.run(self);
                index += 1;
            }
        }
        self.drain();
        self.clock.streams_have_run();
        loop {
            self.foreigns().retire_all(&**self);
            if self.waiting.get() == 0 {
                break;
            }
            self.end_circles();
            self.drain();
        }
    }

    /// Lets the streams fail that wait for each other, when nothing else is to be waited for.
    fn end_circles(&self) {
        let circles = self.waits.circles();
        for circle in &circles {
            let origins = circle.iter().map(|head| self.origin(*head)).collect::<Vec<_>>();
            let error = StreamError::new(Failure::Cycle(origins));
            for pointer in circle {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                self.waiting.set(self.waiting.get() - 1);
                self.errors.borrow_mut().insert(*pointer, error.clone());
                head.state.set(State::new(Phase::Failed, self.epoch.get()).with_value(state));
                self.wake_readers(state.number());
            }
        }
        if circles.is_empty() {
            self.end_lost_waits();
        }
    }

    /// Ends the waits of streams that wait within the frame for nothing that could end in it, as a
    /// stream does that has dropped what it waited for. They keep their values.
    fn end_lost_waits(&self) {
        for group in self.groups.borrow().iter().chain(self.early.borrow().iter()) {
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                if state.phase() == Phase::Waiting {
                    self.waiting.set(self.waiting.get() - 1);
                    head.state.set(State::new(Phase::Settled, self.epoch.get()).with_value(state));
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
