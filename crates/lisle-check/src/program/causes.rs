//! The steps that must have come before a step, in every schedule.
//!
//! A step comes after the earlier steps of its process, after the step that spawned or woke the
//! process, after the end of each process that it has joined, and after the step that left the
//! message that it takes. Two steps that only met at an object have no order here: they could have
//! come the other way round. So this is less than the order of an execution, and it is known while
//! the execution runs.

use crate::explore::{Mark, Process};
use smallvec::SmallVec;

/// For each process, the number of its last known step.
pub(super) type Clock = SmallVec<[u32; 8]>;

/// A place in an execution: within a step, which a process takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) process: Process,
    pub(super) step: usize,
}

impl Moment {
    /// Returns the mark of the step.
    pub(super) fn mark(self) -> Mark {
        Mark(self.step.saturating_sub(1) as u32)
    }
}

/// The clock of each process.
#[derive(Debug, Default)]
pub(super) struct Causes(Vec<Clock>);

impl Causes {
    /// Forgets all, for the next execution.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(Clock::clear);
    }

    /// Notes that a process goes on at this moment.
    #[inline]
    pub(super) fn goes_on(&mut self, now: Moment) {
        let (clock, at) = (self.clock_mut(now.process), now.process.index());
        match clock.get_mut(at) {
            Some(known) => *known = now.step as u32,
            None => {
                clock.resize(at, 0);
                clock.push(now.step as u32);
            }
        }
    }

    /// Notes that a process goes on after all earlier steps of another one.
    pub(super) fn follows(&mut self, process: Process, other: Process) {
        let clock = self.clock(other);
        self.follows_clock(process, &clock);
    }

    /// Notes that a process goes on after the steps in this clock.
    pub(super) fn follows_clock(&mut self, process: Process, clock: &Clock) {
        let mine = self.clock_mut(process);
        if mine.len() < clock.len() {
            mine.resize(clock.len(), 0);
        }
        mine.iter_mut().zip(clock).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    /// Returns the clock of a process.
    pub(super) fn clock(&self, process: Process) -> Clock {
        self.0.get(process.index()).cloned().unwrap_or_default()
    }

    /// Returns `true` if an earlier moment must have come before the present step of this process.
    pub(super) fn must_precede(&self, earlier: Moment, process: Process) -> bool {
        let clock = self.0.get(process.index());
        let known = clock.and_then(|clock| clock.get(earlier.process.index()));
        known.is_some_and(|&known| known as usize >= earlier.step)
    }

    #[inline]
    fn clock_mut(&mut self, process: Process) -> &mut Clock {
        if self.0.len() <= process.index() {
            self.0.resize_with(process.index() + 1, Clock::new);
        }
        &mut self.0[process.index()]
    }
}
