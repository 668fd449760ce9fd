//! Virtual time: timers are processes that take one step, in the order of their deadlines.

use super::{Explorer, Nature, Process};
use crate::event::Timer;
use crate::sched::worker::Worker;
use std::panic::Location;
use std::ptr::NonNull;

/// A timer, which is a process that takes one step: it fires, or comes too late. It takes that step
/// even if it is disarmed before: otherwise nobody would know that it could have come first.
pub(super) struct Armed {
    pub(super) process: Process,
    pub(super) deadline: u64,
    /// `None` if it has been disarmed.
    pub(super) timer: Option<NonNull<Timer>>,
}

/// Returns the deadline of the timer that is due first.
fn first_deadline(timers: &[Armed]) -> Option<u64> {
    timers.iter().filter(|armed| armed.timer.is_some()).map(|armed| armed.deadline).min()
}

impl Worker {
    /// Returns the time of the execution under way.
    pub(in crate::sched::worker) fn modelled_now(&self) -> Option<u64> {
        let explorer = self.explorer()?;
        explorer.time(false);
        Some(self.modelled.now.get())
    }

    /// Arms a timer of the execution.
    pub(in crate::sched::worker) fn arm_modelled(&self, timer: NonNull<Timer>, deadline: u64) {
        // The end of all time never comes.
        if let Some(explorer) = self.explorer()
            && deadline != u64::MAX
        {
            explorer.time(false);
            let process = explorer.spawned(Location::caller());
            explorer.introduced(process, Nature::Timer(deadline.saturating_sub(self.modelled.begun.get())));
            // SAFETY: what is armed is alive.
            let decides = unsafe { Timer::decides(timer) };
            explorer.armed(process, decides);
            let armed = Armed { process, deadline, timer: Some(timer) };
            self.modelled.timers.push(armed);
        }
    }

    pub(in crate::sched::worker) fn disarm_modelled(&self, timer: NonNull<Timer>) {
        let lets_others_fire = self.modelled.timers.change(|timers| {
            let at = timers.iter().position(|armed| armed.timer == Some(timer))?;
            timers[at].timer = None;
            // Those that are due later may fire now.
            let deadline = timers[at].deadline;
            Some(timers.iter().any(|armed| armed.timer.is_some() && armed.deadline > deadline))
        });
        if let Some(explorer) = self.explorer().filter(|_| lets_others_fire == Some(true)) {
            explorer.time(false);
        }
    }

    /// Adds the timers that may take their step to `offered`: they fire in their order, and as late
    /// as they like. The others come after these, for explorers that take them.
    #[inline]
    pub(super) fn offer_timers(&self, explorer: &dyn Explorer, offered: &mut Vec<Process>) {
        if self.modelled.timers.is_empty() {
            return;
        }
        let timers = self.modelled.timers.read();
        let can_step =
            |armed: &&Armed| armed.timer.is_none() || Some(armed.deadline) == first_deadline(&timers);
        offered.extend(timers.iter().filter(can_step).map(|armed| armed.process));
        if explorer.takes_the_impossible() {
            offered.extend(timers.iter().filter(|armed| !can_step(armed)).map(|armed| armed.process));
        }
    }

    /// Takes the step of a timer. Returns `false` if it cannot fire yet.
    pub(super) fn fire(&self, process: Process, explorer: &dyn Explorer) -> bool {
        let (armed, can_fire) = self.modelled.timers.change(|timers| {
            let at = timers.iter().position(|armed| armed.process == process);
            let first = first_deadline(timers);
            let armed = timers.remove(at.expect("the explorer names what is ready"));
            let can_fire = Some(armed.deadline) == first;
            (armed, can_fire)
        });
        let _reported = self.report();
        let Some(timer) = armed.timer else {
            explorer.comes_too_late(process);
            return true;
        };
        explorer.time(true);
        if !can_fire {
            return false;
        }
        self.modelled.now.set(self.modelled.now.get().max(armed.deadline));
        // SAFETY: it is armed, and hence alive.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: as above; it is not armed any more.
        if let Some(waker) = unsafe { Timer::expire(entry) } {
            waker.wake();
        }
        true
    }
}
