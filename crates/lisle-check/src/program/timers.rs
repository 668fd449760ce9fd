//! The order in which timers fire, and the processes that can see it.
//!
//! Time is virtual. A timer is a process that takes one step: it fires. It may fire at any later
//! time, but not before a timer that is due earlier. The steps of a sleeper come still later, so the
//! order of the timers hardly limits the order of the fibers that they wake. If all firing timers
//! depended on each other, six fibers that sleep and are joined would have 23,434 executions; they
//! have one.
//!
//! **Two kinds.** A timer *decides* if something else could come first, as the timer of a timeout or
//! of a choice. Other timers are *sleeps*: they make a performer ready, and only the sleeper can see
//! that its sleep is over, when it goes on. So a sleep holds no timer up: a timer that is due later
//! may fire before it. Timers that decide hold up all timers that are due later.
//!
//! *That is sound.* Take an execution in which sleeps fire late. Before each timer that fires, let
//! all unfired timers fire that are due earlier. They are sleeps. Their sleepers are ready sooner,
//! but go on at the same place as before. Nothing else is different. The time is the largest
//! deadline of a fired timer, and the moved deadlines are smaller; so all reads of the time have
//! the same result, and timers are armed for the same deadlines. So each such execution has the
//! same steps and results as an execution in which all timers fire in their order. And all
//! executions of the latter kind are among the explored ones.
//!
//! *The conditions on a sleep.* Only the timer decides its record, and no process looks at the record
//! before the timer fires. The record of a sleeping fiber fulfils this: the fiber is parked. But a
//! poll or a drop of a future looks at the record of an unfinished sleep, and the end of a sleeping
//! fiber disarms the timer. An execution without these keeps the conditions. If one of these happens,
//! the execution is given up, and the exploration begins anew with all timers as deciding ones. The
//! same holds for a record without a name: the checker would not see that others look at it.
//!
//! **Dependent steps.** As long as no timer decides and no process reads the time, timers depend on
//! nothing: all orders of sleeps have the same effect. The checker assumes this, too, until an
//! execution shows the contrary. From then on
//!
//! - a step that reads the time, or arms a timer relative to now, reads the time object; a timer that
//!   fires adds to it: after two timers the time is the larger deadline, in either order;
//! - each deciding timer is an object. It is read when the timer fires, and when the timer is
//!   disarmed; each timer that is due later adds to it when it fires. So a timer that could be held
//!   up depends on the timers that hold it up. Timers that are due at one time, or that hold no timer
//!   up, do not depend on each other. A timer touches the objects of all timers that were armed
//!   before in the execution. To arm a timer reads the time, so these are the same after the same
//!   steps.

use super::bridge::TIME;
use crate::explore::{Kind, Object, Process};
use lisle_runtime::internal::model::Armed;
use serde::{Deserialize, Serialize};

/// The timers that are known to hold up later timers, where that makes a difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Holding {
    /// None: all armed timers are sleeps, and no process reads the time.
    #[default]
    None,
    /// The deciding timers.
    Deciding,
    /// All timers: a process has seen that a sleep is not over.
    All,
}

/// The timers of an execution.
#[derive(Debug, Default)]
pub(super) struct Timers {
    armed: Vec<Option<Timer>>,
    /// The deciding timers, with the times at which they are due.
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

/// Returns the object of a deciding timer. Its number differs from the numbers of processes'
/// objects.
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

    /// Notes that the time is read. Returns the timers that hold up others from now on.
    pub(super) fn is_read(&mut self) -> Holding {
        self.is_read = true;
        self.of_reads()
    }

    fn of_reads(&self) -> Holding {
        if self.is_read && self.are_there { Holding::Deciding } else { Holding::None }
    }

    /// Notes that a timer has been armed, which decides a record with this name. Returns whether it
    /// is a sleep, and the timers that hold up others from now on.
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

    /// Notes that an armed timer holds up the timers that are due later.
    pub(super) fn holds_up(&mut self, timer: Process) {
        if let Some(Some(armed)) = self.armed.get(timer.index()) {
            self.deciding.push((object_of(timer), armed.deadline));
        }
    }

    /// Notes that a timer is disarmed. Returns the timers that hold up others from now on.
    pub(super) fn disarm(&mut self, timer: Process) -> Holding {
        let count = self.asleep.len();
        self.asleep.retain(|asleep| asleep.0 != timer);
        if self.asleep.len() < count { Holding::All } else { Holding::Deciding }
    }

    /// Returns `true` if the record of an unfinished sleep is at this address.
    #[inline]
    pub(super) fn are_of(&self, address: usize) -> bool {
        !self.asleep.is_empty() && self.asleep.iter().any(|asleep| asleep.1 == address)
    }

    /// Notes that a timer fires.
    pub(super) fn fires(&mut self, timer: Process) {
        self.asleep.retain(|asleep| asleep.0 != timer);
    }

    /// Returns the accesses of a timer to the time and to other timers when it fires.
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

    /// Returns the object of a timer, if it holds others up.
    pub(super) fn deciding(&self, timer: Process) -> Option<Object> {
        let own = object_of(timer);
        self.deciding.iter().any(|(object, _)| *object == own).then_some(own)
    }

    /// Returns the record that a timer decides.
    pub(super) fn decided_by(&self, timer: Process) -> Option<Object> {
        self.armed.get(timer.index()).copied().flatten()?.decides
    }
}
