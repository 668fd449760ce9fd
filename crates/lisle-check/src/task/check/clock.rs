//! Sleeps, and the passing of time where it is modelled.
//!
//! The steps of tasks take no time, so time passes only when no task can go on. *Invariant:* a task
//! that sleeps has the end of its sleep in a slot, and no other task has.

use super::locals::UNIT;
use super::machine::Machine;
use super::slots::NOW;
use super::state::State;
use std::time::Duration;

impl Machine {
    /// Lets a task sleep. Returns the reply if the sleep is over, or orders nothing.
    pub(super) fn sleep(&mut self, state: &mut State, task: u32, duration: Duration) -> Option<u32> {
        let Some(due) = self.locals.slots.task(task).due else {
            return Some(UNIT);
        };
        let now = self.times[state.get(NOW) as usize];
        let until = match state.number(due) {
            Some(until) => self.times[until as usize],
            None => now.saturating_add(duration),
        };
        if until <= now {
            state.clear(due);
            return Some(UNIT);
        }
        let until = self.times.insert_full(until).0;
        state.set_number(due, u32::try_from(until).expect("fewer than 2^32 points in time"));
        None
    }

    /// Lets the time pass to the next at which a sleep is over, if no task can go on before.
    /// Returns `true` if it did, and a task is ready.
    pub(super) fn pass_time(&mut self, state: &mut State) -> bool {
        let mut actors = Vec::new();
        self.actors(state, &mut actors);
        if !actors.is_empty() {
            return false;
        }
        let until = |task: u32| {
            let due = self.locals.slots.task(task).due.and_then(|due| state.number(due))?;
            state.number(task).map(|_| self.times[due as usize])
        };
        let sleepers = self.locals.slots.tasks.iter().filter_map(|&task| Some((task, until(task)?)));
        let sleepers: Vec<(u32, Duration)> = sleepers.collect();
        let Some(next) = sleepers.iter().map(|&(_, until)| until).min() else {
            return false;
        };
        self.ready.extend(sleepers.iter().filter(|(_, until)| *until == next).map(|&(task, _)| task));
        let now = self.times.get_index_of(&next).expect("the time is known");
        state.set(NOW, u32::try_from(now).expect("fewer than 2^32 points in time"));
        true
    }
}
