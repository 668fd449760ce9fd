//! Processes that go on although they ask in vain: alone, to see whether they leave their loop, or
//! in turn, since nothing else can run.

use super::known::Rounds;
use super::{Alone, Asking, AskingState, ENDLESS, Site};
use crate::explore::Process;
use lisle_runtime::internal::model::Again;

impl Asking {
    pub(super) fn is_endless(&mut self, Alone { process, is_last, .. }: Alone, site: Site) -> Again {
        self.alone = None;
        if is_last {
            let rounder = self.of(process);
            // Its rounds in vain are nothing new to others of its kind.
            rounder.is_tired = rounder.has_changes();
            (rounder.state, rounder.is_hopeless) = (AskingState::Waits, true);
            return Again::Wait;
        }
        self.known.learn(site, Rounds { is_long: true, ..self.known.of(site) });
        self.has_learnt = true;
        Again::GoOn
    }

    /// Ends the round of a process that has gone on in turn.
    pub(super) fn end_turn(&mut self, process: Process) -> Again {
        self.alone = None;
        let rounder = self.of(process);
        rounder.idle = rounder.idle.saturating_add(1);
        (rounder.state, rounder.is_tired, rounder.is_hopeless) = (AskingState::Waits, true, true);
        Again::Wait
    }

    /// Notes that a process does something else than before: if it goes on alone, it has left its
    /// loop. `has_stopped` tells that others have to run first.
    pub(super) fn leaves(&mut self, process: Process, has_stopped: bool) {
        self.deviates(process);
        let Some(alone) = self.alone.filter(|alone| alone.process == process) else { return };
        self.alone = None;
        let rounder = self.of(process);
        let (rounds, has_changes) = (rounder.rounds, rounder.has_changes());
        let site = rounder.site.expect("it has asked again");
        if has_changes && alone.is_last {
            if !rounder.sees_other {
                self.learn_of_those_that_wait(process);
            }
            // Others may see its changes.
            self.processes.iter_mut().for_each(|rounder| rounder.is_hopeless = false);
            self.turns = 0;
        }
        if alone.is_turn {
            return;
        }
        let before = self.known.of(site);
        // Others may wait for a change that it makes under a lock: all of its rounds are explored.
        let most = if has_changes && !has_stopped && !alone.is_last { ENDLESS } else { self.most };
        let known = match rounds <= most {
            true => Rounds { few: before.few.max(rounds), ..before },
            false => Rounds { is_long: true, ..before },
        };
        self.known.learn(site, known);
        // When nothing else can run, a long loop leaves as a part of the execution.
        self.has_learnt |= !alone.is_last || known.few > before.few.max(1);
    }

    /// Notes that a process has left its loop when all processes that could run were tired: these
    /// have changed something that the checker does not see.
    fn learn_of_those_that_wait(&mut self, process: Process) {
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = &self.processes[other.index()];
            let Some(site) = rounder.site.filter(|_| {
                (other == process || rounder.state == AskingState::Waits) && rounder.has_changes()
            }) else {
                continue;
            };
            let (before, together) = (self.known.of(site), rounder.idle.saturating_add(1));
            if together > before.together && together <= self.most {
                self.known.learn(site, Rounds { together, ..before });
                self.has_learnt = true;
            }
        }
    }

    /// Notes that the process that goes on alone needs others to run.
    pub(in crate::program) fn stops(&mut self) {
        if let Some(alone) = self.alone {
            self.leaves(alone.process, true);
        }
    }

    /// Returns a process that waits, and may go on since nothing else can run.
    pub(in crate::program) fn last(&mut self) -> Option<Process> {
        let waits = |process: &Process| self.processes[process.index()].state == AskingState::Waits;
        let is_hopeless = |process: &Process| self.processes[process.index()].is_hopeless;
        let hopeful = self.asking.iter().copied().find(|process| waits(process) && !is_hopeless(process));
        if hopeful.is_some() || self.turns >= ENDLESS {
            return hopeful;
        }
        // Where several take locks in vain, one may see the changes of another.
        let has_changes = |process: &Process| self.processes[process.index()].has_changes();
        let mut waiting = (0..self.asking.len()).filter(|at| waits(&self.asking[*at]));
        let many = waiting.clone().count() > 1 && waiting.clone().any(|at| has_changes(&self.asking[at]));
        if !many {
            return None;
        }
        let next = waiting.clone().find(|at| *at > self.last_turn).or_else(|| waiting.next());
        (self.turns, self.last_turn) = (self.turns + 1, next?);
        Some(self.asking[self.last_turn])
    }

    /// Notes that a process goes on since nothing else can run.
    pub(in crate::program) fn goes_last(&mut self, process: Process) {
        let rounder = self.of(process);
        let is_turn = rounder.is_hopeless;
        if !is_turn {
            rounder.rounds = 1;
        }
        if rounder.can_be_alone {
            self.alone = Some(Alone { process, is_last: true, is_turn, has_gone_round: false });
        } else {
            rounder.patience = if is_turn { 1 } else { ENDLESS };
        }
    }
}
