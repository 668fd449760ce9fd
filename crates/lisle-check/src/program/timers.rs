//! In which order timers fire, and who can tell.
//!
//! Time is virtual. A timer is a process that takes one step: it fires. It does so as late as it
//! likes, but not before one that is due earlier. What a sleeper does comes still later, so that the
//! order of the timers says next to nothing of the order of what they wake. If all that fire count
//! as dependent, six fibers that sleep and are joined have 23,434 executions; they have one.
//!
//! **Two kinds.** A timer *decides* if something else could come first, and the timer then comes to
//! nothing: that of a timeout, or of a choice. The others are *sleeps*: they make a performer ready,
//! and nobody can tell whether a sleep is over but its sleeper, when it goes on. So a sleep holds
//! nobody up: one that is due later may fire before it. Timers that decide hold up all those that
//! are due later.
//!
//! *That is sound.* Take an execution in which sleeps fire late. Before each timer that fires, let
//! those fire that are due earlier and have not: they are sleeps, and their sleepers, who are ready
//! sooner for it, go on when they did. Nothing else is different. The time is the largest deadline
//! of what has fired, and those deadlines are smaller; so all who read it read the same, and
//! arm timers for the same deadlines. So each execution is one in which all timers fire in their
//! order, and does and returns the same. And all those in which they do are among these.
//!
//! *What a sleep must be for that.* Nobody but the timer decides its record, and nobody looks at the
//! record before it fires. The record of a fiber that sleeps is one: the fiber is parked. But who
//! polls a future again, or drops it, looks at the record of a sleep that is not over; who ends a
//! fiber that sleeps disarms the timer. In an execution that does neither, all of the above holds. If
//! one does, it is given up, and the exploration begins anew in a world where each timer decides. It
//! is the same with a record that has no name: others could look at it, and it would not be seen.
//!
//! **What is dependent.** As long as no timer decides anything and nobody reads the time, nothing:
//! the order in which sleeps fire leads to the same. This, too, is believed until an execution shows
//! the contrary. From then on
//!
//! - whoever reads the time, or arms a timer, which is due so long after now, reads the time; whatever
//!   fires adds to it: that of two is the larger one, whichever comes first;
//! - each timer that decides is an object, which it reads when it fires, and which is read when it is
//!   disarmed; each that is due later adds to it when it fires. So what could be held up depends on
//!   what holds it up, and timers that are due at one time, or that hold nobody up, do not depend on
//!   each other. The objects are those of all timers that were armed before in the execution: what
//!   arms one reads the time, so that this is the same after the same steps.

use super::bridge::TIME;
use crate::explore::{Kind, Object, Process};
use lisle_runtime::model::Armed;
use serde::{Deserialize, Serialize};

/// Which timers hold up those that are due later, as far as is known that it makes a difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Holding {
    /// All that are armed are sleeps, and nobody reads the time.
    #[default]
    None,
    /// Those that decide something.
    Deciding,
    /// All: it was seen that a sleep is not over.
    All,
}

/// The timers of an execution.
#[derive(Debug, Default)]
pub(super) struct Timers {
    armed: Vec<Option<Timer>>,
    /// Those that decide, and when they are due.
    deciding: Vec<(Object, u64)>,
    /// The records of sleeps that are not over.
    asleep: Vec<(Process, usize)>,
    /// A timer has been armed.
    are_there: bool,
    /// The time has been read.
    is_read: bool,
}

/// A timer that has been armed.
#[derive(Debug, Clone, Copy)]
struct Timer {
    deadline: u64,
    decides: Option<Object>,
}

/// Returns a timer that decides, as an object. Its numbers are not those of processes.
fn object_of(timer: Process) -> Object {
    Object(TIME.0 - 1 - u64::from(timer.0))
}

impl Timers {
    /// Forgets all, for the next execution.
    pub(super) fn clear(&mut self) {
        self.armed.clear();
        self.deciding.clear();
        self.asleep.clear();
        (self.are_there, self.is_read) = (false, false);
    }

    /// Notes that the time is read. Returns what is known from then on.
    pub(super) fn is_read(&mut self) -> Holding {
        self.is_read = true;
        self.of_reads()
    }

    fn of_reads(&self) -> Holding {
        if self.is_read && self.are_there { Holding::Deciding } else { Holding::None }
    }

    /// Notes that a timer has been armed, which decides a record with this name. Returns whether it
    /// is a sleep, and what is known from then on.
    pub(super) fn arm(&mut self, timer: Process, armed: Armed, decides: Option<Object>) -> (bool, Holding) {
        let Armed { deadline, decides: address, is_sleep } = armed;
        let is_sleep = is_sleep && decides.is_some();
        if self.armed.len() <= timer.index() {
            self.armed.resize(timer.index() + 1, None);
        }
        self.armed[timer.index()] = Some(Timer { deadline, decides });
        self.are_there = true;
        if is_sleep {
            self.asleep.push((timer, address));
        }
        (is_sleep, if is_sleep { self.of_reads() } else { Holding::Deciding })
    }

    /// Notes that a timer that was armed holds up those that are due later.
    pub(super) fn holds_up(&mut self, timer: Process) {
        if let Some(Some(armed)) = self.armed.get(timer.index()) {
            self.deciding.push((object_of(timer), armed.deadline));
        }
    }

    /// Notes that a timer is disarmed. Returns what is known from then on.
    pub(super) fn disarm(&mut self, timer: Process) -> Holding {
        let count = self.asleep.len();
        self.asleep.retain(|asleep| asleep.0 != timer);
        if self.asleep.len() < count { Holding::All } else { Holding::Deciding }
    }

    /// Returns `true` if what is at this address is the record of a sleep that is not over.
    #[inline]
    pub(super) fn are_of(&self, address: usize) -> bool {
        !self.asleep.is_empty() && self.asleep.iter().any(|asleep| asleep.1 == address)
    }

    /// Notes that a timer fires.
    pub(super) fn fires(&mut self, timer: Process) {
        self.asleep.retain(|asleep| asleep.0 != timer);
    }

    /// Returns what a timer touches of the time when it fires.
    pub(super) fn touched_by(&self, timer: Process) -> impl Iterator<Item = (Object, Kind)> + '_ {
        let own = object_of(timer);
        let deadline = self.armed.get(timer.index()).copied().flatten().map_or(0, |armed| armed.deadline);
        let touched = move |&(object, due): &(Object, u64)| match () {
            () if object == own => Some((object, Kind::Read)),
            () if due < deadline => Some((object, Kind::Add)),
            () => None,
        };
        self.deciding.iter().filter_map(touched)
    }

    /// Returns the object that a timer is, if it holds others up.
    pub(super) fn deciding(&self, timer: Process) -> Option<Object> {
        let own = object_of(timer);
        self.deciding.iter().any(|(object, _)| *object == own).then_some(own)
    }

    /// Returns what a timer decides.
    pub(super) fn decided_by(&self, timer: Process) -> Option<Object> {
        self.armed.get(timer.index()).copied().flatten()?.decides
    }
}
