//! Finds the step that has left the message or the place that another step takes from a queue.
//!
//! The ends of a queue commute, so only this module orders a receive after its send, and a send
//! after the place was freed. The n-th message taken is the n-th message put, by any processes.
//! That holds as long as all steps only put and take. Any other step commutes with nothing, and so
//! comes after all steps before it: then the contents of the queue are unknown, and need not be
//! known.

use super::causes::{Causes, Clock};
use super::memory::Modelled;
use crate::explore::{Kind, Mark, Object, Process, Strategy};
use lisle_core::internal::shim::model::Touch;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The queues of an execution.
#[derive(Debug, Default)]
pub(super) struct Queues(FxHashMap<Object, Queue>);

/// A step that has left something, and the clock of its process then.
type Left = (Mark, Clock);

/// The process that touches a queue.
pub(super) struct By<'a, S> {
    pub(super) strategy: &'a mut S,
    pub(super) causes: &'a mut Causes,
    pub(super) memory: &'a mut Modelled,
    pub(super) process: Process,
}

impl<S: Strategy> By<'_, S> {
    fn left(&mut self) -> Left {
        let mark = self.strategy.mark();
        self.memory.leave(self.process.0, mark);
        (mark, self.causes.clock(self.process))
    }

    fn follows(&mut self, (mark, clock): &Left) {
        self.strategy.follows(*mark);
        self.memory.follow(self.process.0, *mark);
        self.causes.follows_clock(self.process, clock);
    }
}

/// The steps that have left the contents of a queue.
#[derive(Debug, Default)]
struct Queue {
    /// The steps that have put the last messages.
    messages: VecDeque<Left>,
    /// The steps that have freed the last places.
    places: VecDeque<Left>,
    /// The step that has closed it.
    closed: Option<Left>,
}

impl Queues {
    /// Forgets the queues, for the next execution.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes that the step in progress touches an object, and reports the steps that it follows.
    /// Returns the kind of the access, if it differs from the kind of the touch.
    pub(super) fn touched(
        &mut self,
        object: Object,
        touch: Touch,
        by: &mut By<'_, impl Strategy>,
    ) -> Option<Kind> {
        let followed = match touch {
            Touch::Put(free) => {
                let queue = self.0.entry(object).or_default();
                queue.messages.push_back(by.left());
                // The places that were free from the beginning come first.
                if queue.places.len() == free { queue.places.pop_front() } else { return None }
            }
            Touch::Take(messages) => {
                let queue = self.0.entry(object).or_default();
                if queue.messages.len() != messages {
                    queue.forget();
                    return Some(Kind::Update);
                }
                queue.places.push_back(by.left());
                queue.messages.pop_front()
            }
            // A try could have come before the step that let it succeed. But a later step needs the
            // message or place that it leaves.
            Touch::TryPut(free) => {
                let queue = self.0.entry(object).or_default();
                queue.messages.push_back(by.left());
                if queue.places.len() == free {
                    queue.places.pop_front();
                }
                return Some(Kind::Update);
            }
            Touch::TryTake(messages) => {
                let queue = self.0.entry(object).or_default();
                if queue.messages.len() == messages {
                    queue.messages.pop_front();
                } else {
                    queue.forget();
                }
                queue.places.push_back(by.left());
                return Some(Kind::Update);
            }
            Touch::PutEnd | Touch::TakeEnd => self.0.get(&object).and_then(|queue| queue.closed.clone()),
            Touch::Close => {
                self.0.entry(object).or_default().closed = Some(by.left());
                return None;
            }
            Touch::Write | Touch::Store => {
                if let Some(queue) = self.0.get_mut(&object) {
                    queue.forget();
                }
                return None;
            }
            _ => return None,
        };
        match followed {
            Some(left) => by.follows(&left),
            // The steps that it follows are unknown: it commutes with nothing.
            None => return Some(Kind::Update),
        }
        None
    }
}

impl Queue {
    fn forget(&mut self) {
        self.messages.clear();
        self.places.clear();
    }
}
