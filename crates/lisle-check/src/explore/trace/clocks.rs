//! The clocks of steps, and the races between them.
//!
//! The clock of a step joins the clocks of all steps before it in the order. The certain ones come
//! first: the previous step of its process, the steps that woke the process since, and the steps
//! that it waited for. Then come the *candidates*, the steps with which it does not commute, from
//! the newest on. If a candidate is not in the clock yet, it is a race, and its clock is joined. So
//! the steps between an older candidate and this step are in the clock by then.

use super::{Link, NONE, Step, Thread, Trace, Wake};
use crate::explore::races::Race;
use crate::explore::{Access, Kind, Process};

/// A step that the step in progress does not commute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    step: u32,
    bond: Bond,
}

/// The reason for the order of two steps that do not commute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// The earlier one let the later one run.
    Enabled,
    /// Both take something that may be enough for one only.
    Contest,
    /// Nothing: they can be reversed.
    Free,
}

impl Trace {
    /// Computes the clock of the step in progress, which is over, and adds its races to `races`.
    pub(crate) fn finish(&mut self, races: &mut Vec<Race>) {
        let now = self.steps.len() - 1;
        let Step { process, count, first_access, .. } = self.steps[now];
        self.begin_clock(process);
        for index in 0..self.afters.len() {
            self.join(self.afters[index] as usize);
        }
        for index in 0..self.follows.len() {
            self.candidates.push(Candidate { step: self.follows[index], bond: Bond::Enabled });
        }
        for index in first_access as usize..self.links.len() {
            self.find_candidates(self.accesses[index].kind, self.links[index].previous, now as u32);
        }
        self.judge_candidates(now as u32, races);
        self.clock[process.index()] = count;
        self.clocks.extend_from_slice(&self.clock);
    }

    /// Adds to `races` the races of the step that `process` is left waiting to run at the end.
    ///
    /// Their second step is `second`.
    pub(crate) fn races_of_waiting(
        &mut self,
        process: Process,
        access: Access,
        second: u32,
        races: &mut Vec<Race>,
    ) {
        self.know(process);
        self.begin_clock(process);
        let newest = self.newest(access.object);
        self.find_candidates(access.kind, newest, NONE);
        self.judge_candidates(second, races);
    }

    /// Begins the clock of the next step of `process` with the steps that certainly happen before
    /// it: the previous step of the process, and the steps that woke the process since.
    fn begin_clock(&mut self, process: Process) {
        let Thread { last_step, last_wake } = self.threads[process.index()];
        // The step in progress has no clock yet. It is its own last step.
        // The width is a power of two.
        let has_clock = self.clocks.len() >> self.width.trailing_zeros();
        let previous = match self.steps.get(last_step as usize) {
            Some(step) if last_step as usize >= has_clock => step.previous,
            _ => last_step,
        };
        self.clock.clear();
        if previous == NONE {
            self.clock.resize(self.width, 0);
        } else {
            self.clock.extend_from_slice(&self.clocks[previous as usize * self.width..][..self.width]);
        }
        let mut wake = last_wake;
        while wake != NONE {
            let Wake { step, previous: before, .. } = self.wakes[wake as usize];
            if previous != NONE && step < previous {
                break;
            }
            if (step as usize) < has_clock {
                self.join(step as usize);
            }
            wake = before;
        }
    }

    /// Adds the clock of this step to the one that is being computed.
    fn join(&mut self, step: usize) {
        let row = &self.clocks[step * self.width..][..self.width];
        for (mine, theirs) in self.clock.iter_mut().zip(row) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Collects the steps before `now` that an access of this kind does not commute with, from the
    /// newest entry of its object on. Steps that certainly happen before one of them are left out.
    fn find_candidates(&mut self, kind: Kind, newest: u32, now: u32) {
        let mut position = newest;
        // A change of another kind may have left in the queue the message that this step takes.
        // Even so, the step that took a message before may come after this one.
        let mut only_contests = false;
        while let Some(&Link { step, previous, unlike, .. }) = self.links.get(position as usize) {
            let access = self.accesses[position as usize];
            position = previous;
            if step == now || only_contests && !kind.competes(access.kind) {
                continue;
            }
            if kind.commutes(access.kind) {
                position = if access.kind == kind { unlike } else { previous };
                continue;
            }
            if kind.is_enabled_by(access.kind) {
                self.candidates.push(Candidate { step, bond: Bond::Enabled });
                continue;
            }
            // A try that has left the message which this step takes does not compete with it.
            let has_left =
                kind.is_of_queue() && self.candidates.contains(&Candidate { step, bond: Bond::Enabled });
            if has_left && access.kind == Kind::Update {
                only_contests = true;
                continue;
            }
            let bond = if kind.competes(access.kind) { Bond::Contest } else { Bond::Free };
            self.candidates.push(Candidate { step, bond });
            only_contests |= access.kind.is_exclusive();
            if only_contests && (bond == Bond::Contest || !kind.is_of_queue()) {
                break;
            }
        }
    }

    /// Joins the clocks of all candidates, and adds candidates without a step in between to
    /// `races`.
    ///
    /// Newer candidates come first: the steps between an older one and `now` are then in the clock.
    /// If two steps compete, the step that enabled the later one does not count: if the later one
    /// goes first, it takes the thing that the earlier one took. Nor do the other accesses of the
    /// step count that came in between, since they cannot come before that without coming before
    /// the earlier one. For all other candidates both count.
    fn judge_candidates(&mut self, now: u32, races: &mut Vec<Race>) {
        match self.candidates[..] {
            [] => return,
            [candidate] => {
                self.candidates.clear();
                return match candidate.bond {
                    Bond::Enabled => self.join(candidate.step as usize),
                    Bond::Contest | Bond::Free => self.judge(candidate, true, now, races),
                };
            }
            _ => {}
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        candidates.dedup();
        let enabling = |candidate: &&Candidate| candidate.bond == Bond::Enabled;
        let has = |bond| candidates.iter().any(|candidate| candidate.bond == bond);
        if has(Bond::Enabled) || has(Bond::Contest) && has(Bond::Free) {
            self.base.clone_from(&self.clock);
            for candidate in candidates.iter().filter(|candidate| candidate.bond == Bond::Contest) {
                self.judge(*candidate, true, now, races);
            }
            std::mem::swap(&mut self.base, &mut self.clock);
            for candidate in candidates.iter().filter(enabling) {
                self.join(candidate.step as usize);
            }
            for candidate in candidates.iter().filter(|candidate| !enabling(candidate)) {
                self.judge(*candidate, candidate.bond == Bond::Free, now, races);
            }
        } else {
            for candidate in &candidates {
                self.judge(*candidate, true, now, races);
            }
        }
        candidates.clear();
        self.candidates = candidates;
    }

    /// Joins the clock of a candidate that enables nothing, and adds it to `races` if it is not in
    /// the clock yet and `can_race`.
    fn judge(&mut self, candidate: Candidate, can_race: bool, now: u32, races: &mut Vec<Race>) {
        let Step { process, count, .. } = self.steps[candidate.step as usize];
        if self.clock[process.index()] < count {
            if can_race {
                races.push(Race { first: candidate.step, second: now });
            }
            self.join(candidate.step as usize);
        }
    }
}
