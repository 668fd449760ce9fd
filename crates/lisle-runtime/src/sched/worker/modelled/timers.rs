//! Virtual time: timers are processes that take one step. They may fire late, but no timer fires
//! before one that is due earlier and holds it up. The explorer decides which timers hold others
//! up.

use super::{Armed, Explorer, Nature, Process, Time};
use crate::event::Timer;
use crate::sched::worker::Worker;
use std::panic::Location;
use std::ptr::NonNull;

/// A timer, which is a process that takes one step: it fires, or comes too late. It takes that step
/// even if it is disarmed before: otherwise nobody would know that it could have come first.
pub(super) struct Pending {
    process: Process,
    deadline: u64,
    /// It holds up timers that are due later.
    holds_up: bool,
    /// `None` if it has been disarmed.
    timer: Option<NonNull<Timer>>,
}

/// Returns until when timers may fire: the deadline of the first one that holds others up.
fn latest(timers: &[Pending]) -> u64 {
    let mut holding = timers.iter().filter(|pending| pending.timer.is_some() && pending.holds_up);
    holding.next().map_or(u64::MAX, |first| first.deadline)
}

impl Worker {
    /// Returns the time of the execution under way.
    pub(in crate::sched::worker) fn modelled_now(&self, time: Time) -> Option<u64> {
        let explorer = self.explorer()?;
        explorer.time(time);
        Some(self.modelled.now.get())
    }

    /// Returns the same, for a report of which the execution does not learn.
    pub(in crate::sched::worker) fn modelled_now_to_tell(&self) -> Option<u64> {
        self.explorer().map(|_| self.modelled.now.get())
    }

    /// Arms a timer of the execution.
    pub(in crate::sched::worker) fn arm_modelled(&self, timer: NonNull<Timer>, deadline: u64) {
        // The end of all time never comes.
        if let Some(explorer) = self.explorer()
            && deadline != u64::MAX
        {
            explorer.time(Time::Armed);
            let process = explorer.spawned(Location::caller());
            explorer.introduced(process, Nature::Timer(deadline.saturating_sub(self.modelled.begun.get())));
            // SAFETY: an armed timer is alive.
            let (decides, is_sleep) = unsafe { (Timer::decides(timer), Timer::is_sleep(timer)) };
            let holds_up = explorer.armed(process, Armed { deadline, decides, is_sleep });
            let pending = Pending { process, deadline, holds_up, timer: Some(timer) };
            self.modelled.timers.change(|timers| {
                let place = timers.partition_point(|earlier| earlier.deadline <= deadline);
                timers.insert(place, pending);
            });
        }
    }

    pub(in crate::sched::worker) fn disarm_modelled(&self, timer: NonNull<Timer>) {
        let disarmed = self.modelled.timers.change(|timers| {
            let disarmed = timers.iter_mut().find(|pending| pending.timer == Some(timer))?;
            disarmed.timer = None;
            Some(disarmed.process)
        });
        if let (Some(explorer), Some(process)) = (self.explorer(), disarmed) {
            explorer.disarmed(process);
        }
    }

    /// Adds the timers that may fire to `offered`. Held-up timers come after these, for explorers
    /// that take them: so a timer has the same place among the timers that may fire, whatever else
    /// is offered.
    #[inline]
    pub(super) fn offer_timers(&self, explorer: &dyn Explorer, offered: &mut Vec<Process>) {
        if self.modelled.timers.is_empty() {
            return;
        }
        let timers = self.modelled.timers.read();
        // The armed timers are in the order of their deadlines.
        let latest = if explorer.takes_the_impossible() { u64::MAX } else { latest(&timers) };
        offered
            .extend(timers.iter().filter(|pending| pending.timer.is_none()).map(|pending| pending.process));
        let fire = timers.iter().filter(|pending| pending.timer.is_some() && pending.deadline <= latest);
        offered.extend(fire.map(|pending| pending.process));
    }

    /// Takes the step of a timer. Returns `false` if it cannot fire yet.
    pub(super) fn fire(&self, process: Process, explorer: &dyn Explorer) -> bool {
        let (pending, can_fire) = self.modelled.timers.change(|timers| {
            let at = timers.iter().position(|pending| pending.process == process);
            let latest = latest(timers);
            let pending = timers.remove(at.expect("the explorer names a ready timer"));
            let can_fire = pending.deadline <= latest;
            (pending, can_fire)
        });
        let _reported = self.report();
        let Some(timer) = pending.timer else {
            explorer.comes_too_late(process);
            return true;
        };
        explorer.time(Time::Passes);
        if !can_fire {
            return false;
        }
        self.modelled.now.set(self.modelled.now.get().max(pending.deadline));
        // SAFETY: it is armed, and hence alive.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: as above; it is not armed any more.
        if let Some(waker) = unsafe { Timer::expire(entry) } {
            waker.wake();
        }
        true
    }
}
