//! What happened in an execution, and what happened before what.
//!
//! A [`Trace`] keeps the steps of the execution in progress with their accesses, and a vector clock for
//! each step. The next execution mostly begins as the last one did. Its common part is not computed
//! again: the trace is cut back to it ([`Trace::truncate`]) and goes on from there.
//!
//! Invariants: accesses, wakes and clocks are in the order of the steps, so that cutting back
//! is popping. Each list (the accesses to an object, the steps of a process, the wakes of a process) is
//! linked from its newest entry to older ones, so that popping restores its head.

use rustc_hash::FxHashMap;

use super::races::Race;
use super::{Access, Kind, Object, Process};

/// No step, no access: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// One value that a step was given by [`Strategy::choose`](super::Strategy::choose).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Choice {
    /// The way that was taken.
    pub(crate) way: u32,
    /// The number of ways that there were.
    pub(crate) ways: u32,
}

/// A step of the execution.
#[derive(Clone, Copy, Debug)]
struct Step {
    process: Process,
    /// The how-many-th step of its process this is, from 1 on.
    count: u32,
    /// The previous step of the process.
    previous: u32,
    first_access: u32,
    first_choice: u32,
}

/// The place of an access in the list of those to its object.
#[derive(Clone, Copy, Debug)]
struct Link {
    step: u32,
    /// The place of the object's newest access in the list of those.
    place: u32,
    /// The access to the same object before this one.
    previous: u32,
    /// The last access before this one that is of another kind.
    unlike: u32,
}

/// A step that made a process able to run.
#[derive(Clone, Copy, Debug)]
struct Wake {
    step: u32,
    process: Process,
    previous: u32,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug)]
struct Thread {
    last_step: u32,
    last_wake: u32,
}

/// The steps of an execution so far.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    steps: Vec<Step>,
    accesses: Vec<Access>,
    links: Vec<Link>,
    choices: Vec<Choice>,
    /// How many accesses there were before each choice.
    before_choices: Vec<u32>,
    wakes: Vec<Wake>,
    threads: Vec<Thread>,
    /// The newest access to each object, or none.
    newest: Vec<u32>,
    /// Where that of an object is. It stays there from one execution to the next.
    places: FxHashMap<Object, u32>,
    /// The object that was accessed last, and its place.
    latest: Option<(Object, u32)>,
    /// The clocks, `width` numbers for each step whose clock is known.
    clocks: Vec<u32>,
    width: usize,
    /// What the step in progress could not run before, and what it took something from.
    afters: Vec<u32>,
    follows: Vec<u32>,
    /// The clock that is being computed, and a copy of it from before the locks.
    clock: Vec<u32>,
    base: Vec<u32>,
    candidates: Vec<Candidate>,
}

/// A step that the step in progress does not commute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    step: u32,
    bond: Bond,
}

/// What the order of two steps that do not commute rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// The earlier one let the later one run.
    Enabled,
    /// Both take what may be enough for one only.
    Contest,
    /// Nothing: they can be reversed.
    Free,
}

impl Trace {
    /// Returns the number of steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the process that ran this step.
    pub(crate) fn process(&self, step: usize) -> Process {
        self.steps[step].process
    }

    /// Returns the accesses of this step.
    pub(crate) fn accesses(&self, step: usize) -> &[Access] {
        let end = self.steps.get(step + 1).map_or(self.accesses.len(), |next| next.first_access as usize);
        &self.accesses[self.steps[step].first_access as usize..end]
    }

    /// Returns the last step from `first` on that has chosen something.
    pub(crate) fn last_to_choose(&self, first: usize) -> Option<usize> {
        let mut steps = if self.has_choices() { first..self.steps.len() } else { 0..0 };
        steps.rfind(|&step| !self.choices(step).is_empty())
    }

    /// Returns the choices of this step.
    pub(crate) fn choices(&self, step: usize) -> &[Choice] {
        let end = self.steps.get(step + 1).map_or(self.choices.len(), |next| next.first_choice as usize);
        &self.choices[self.steps[step].first_choice as usize..end]
    }

    /// Returns `true` if the step happens after the earlier one. Both have their clocks.
    pub(crate) fn happens_after(&self, step: usize, earlier: usize) -> bool {
        let Step { process, count, .. } = self.steps[earlier];
        self.clocks[step * self.width + process.index()] >= count
    }

    /// Returns the last step of this process before `before`, or else the one that created it.
    pub(crate) fn step_before(&self, process: Process, before: u32) -> Option<u32> {
        let Thread { last_step, last_wake } = self.threads[process.index()];
        let mut own = last_step;
        while own != NONE && own >= before {
            own = self.steps[own as usize].previous;
        }
        if own != NONE {
            return Some(own);
        }
        let mut creator = None;
        let mut wake = last_wake;
        while wake != NONE {
            creator = Some(self.wakes[wake as usize].step);
            wake = self.wakes[wake as usize].previous;
        }
        creator
    }

    /// Cuts the trace back to its first `length` steps.
    pub(crate) fn truncate(&mut self, length: usize) {
        let Some(&first) = self.steps.get(length) else {
            return;
        };
        let cut = first.first_access as usize;
        self.accesses.truncate(cut);
        for link in self.links.drain(cut..).rev() {
            self.newest[link.place as usize] = link.previous;
        }
        while let Some(wake) = self.wakes.pop_if(|wake| wake.step as usize >= length) {
            self.threads[wake.process.index()].last_wake = wake.previous;
        }
        for step in self.steps.drain(length..).rev() {
            self.threads[step.process.index()].last_step = step.previous;
        }
        self.choices.truncate(first.first_choice as usize);
        self.before_choices.truncate(first.first_choice as usize);
        self.clocks.truncate(length * self.width);
    }

    /// Begins a step of this process.
    pub(crate) fn push(&mut self, process: Process) {
        self.know(process);
        let thread = &mut self.threads[process.index()];
        let count =
            if thread.last_step == NONE { 1 } else { self.steps[thread.last_step as usize].count + 1 };
        self.steps.push(Step {
            process,
            count,
            previous: thread.last_step,
            first_access: self.links.len() as u32,
            first_choice: self.choices.len() as u32,
        });
        thread.last_step = self.steps.len() as u32 - 1;
        self.afters.clear();
        self.follows.clear();
    }

    /// Adds an access to the step in progress.
    pub(crate) fn access(&mut self, object: Object, kind: Kind) {
        let step = self.steps.len() as u32 - 1;
        let position = self.links.len() as u32;
        let place = self.place(object);
        let previous = std::mem::replace(&mut self.newest[place as usize], position);
        let unlike = match self.accesses.get(previous as usize) {
            Some(access) if access.kind == kind => self.links[previous as usize].unlike,
            _ => previous,
        };
        self.accesses.push(Access { object, kind });
        self.links.push(Link { step, place, previous, unlike });
    }

    /// Returns where the newest access to an object is, of which there need not be one.
    #[inline]
    fn place(&mut self, object: Object) -> u32 {
        match self.latest {
            Some((latest, place)) if latest == object => place,
            _ => self.place_of_another(object),
        }
    }

    #[inline(never)]
    fn place_of_another(&mut self, object: Object) -> u32 {
        let next = self.newest.len() as u32;
        let place = *self.places.entry(object).or_insert(next);
        if place == next {
            self.newest.push(NONE);
        }
        self.latest = Some((object, place));
        place
    }

    /// Returns the newest access to an object, or [`NONE`].
    fn newest(&self, object: Object) -> u32 {
        self.places.get(&object).map_or(NONE, |place| self.newest[*place as usize])
    }

    /// Adds a choice to the step in progress.
    pub(crate) fn chose(&mut self, way: u32, ways: u32) {
        self.choices.push(Choice { way, ways });
        self.before_choices.push(self.accesses.len() as u32);
    }

    /// Returns `true` if a step of the execution has chosen.
    pub(crate) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Returns how many choices this step makes, and in the same ways, if the `removed` steps do not run
    /// before it: those that it makes before it first touches what they touch.
    pub(crate) fn certain_choices(&self, step: usize, removed: &[u32]) -> usize {
        let first = self.steps[step].first_access as usize;
        let depends_on = |access: &Access, step: usize| {
            self.accesses(step)
                .iter()
                .any(|other| other.object == access.object && !access.kind.commutes(other.kind))
        };
        let accesses = self.accesses(step);
        let certain =
            accesses.iter().position(|access| removed.iter().any(|&gone| depends_on(access, gone as usize)));
        let certain = (first + certain.unwrap_or(0)) as u32;
        let choices = self.steps[step].first_choice as usize..;
        self.before_choices[choices]
            .iter()
            .take(self.choices(step).len())
            .take_while(|&&before| before <= certain)
            .count()
    }

    /// Notes that the step in progress lets this process run.
    pub(crate) fn enables(&mut self, process: Process) {
        self.know(process);
        let thread = &mut self.threads[process.index()];
        self.wakes.push(Wake { step: self.steps.len() as u32 - 1, process, previous: thread.last_wake });
        thread.last_wake = self.wakes.len() as u32 - 1;
    }

    /// Notes that the step in progress could not run before the last step of this process.
    pub(crate) fn after(&mut self, process: Process) {
        self.know(process);
        let Thread { last_step, last_wake } = self.threads[process.index()];
        if last_step != NONE {
            self.afters.push(last_step);
        } else if last_wake != NONE {
            self.afters.push(self.wakes[last_wake as usize].step);
        }
    }

    /// Notes that the step in progress takes what this one left.
    pub(crate) fn follows(&mut self, step: u32) {
        self.follows.push(step);
    }

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

    /// Calls `visit` for each step that took this lock or gave it back since it was last taken alone, and
    /// for that one, from the newest before `before` on.
    pub(crate) fn visit_holders(&self, lock: Object, before: u32, mut visit: impl FnMut(u32, Kind)) {
        let mut position = self.newest(lock);
        while let Some(&Link { step, previous, .. }) = self.links.get(position as usize) {
            let kind = self.accesses[position as usize].kind;
            if step < before {
                visit(step, kind);
                if kind.is_exclusive() && kind != Kind::Release {
                    break;
                }
            }
            position = previous;
        }
    }

    /// Adds the races of a step that `process` waits to run, after all others, to `races`.
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

    /// Begins the clock of the next step of `process` with what it certainly happens after: the
    /// previous step of the process, and those that woke it since.
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
    /// newest entry of its object on. What happens before one of them for certain is left out.
    fn find_candidates(&mut self, kind: Kind, newest: u32, now: u32) {
        let mut position = newest;
        // What has changed a queue in another way may have left what this step takes of it. Whoever took the
        // last of it before may have come after this step all the same.
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
            // A try has left what this step takes, and does not compete with it then.
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

    /// Joins the clocks of all candidates, and adds those that nothing lies between to `races`.
    ///
    /// Newer candidates come first: what lies between an older one and `now` is then in the clock.
    /// Of two that compete, what enabled the later one does not count: if it goes first, it takes what
    /// the earlier one took. Nor does what else the step does that was taken in between, since it cannot come
    /// before that without coming before the earlier one. For all others both count.
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

    /// Joins the clock of a candidate that enables nothing, and adds it to `races` if it is not in the
    /// clock yet and `can_race`.
    fn judge(&mut self, candidate: Candidate, can_race: bool, now: u32, races: &mut Vec<Race>) {
        let Step { process, count, .. } = self.steps[candidate.step as usize];
        if self.clock[process.index()] < count {
            if can_race {
                races.push(Race { first: candidate.step, second: now });
            }
            self.join(candidate.step as usize);
        }
    }

    /// Makes room for this process.
    fn know(&mut self, process: Process) {
        if self.threads.len() <= process.index() {
            self.threads.resize(process.index() + 1, Thread { last_step: NONE, last_wake: NONE });
        }
        if self.width <= process.index() {
            self.widen((process.index() + 1).next_power_of_two().max(4));
        }
    }

    /// Gives each clock room for this many processes.
    fn widen(&mut self, width: usize) {
        let mut clocks = Vec::with_capacity(self.clocks.capacity().max(width * 16));
        if self.width > 0 {
            for row in self.clocks.chunks_exact(self.width) {
                clocks.extend_from_slice(row);
                clocks.resize(clocks.len() + width - self.width, 0);
            }
        }
        self.clocks = clocks;
        self.width = width;
        self.clock.resize(width, 0);
    }
}
