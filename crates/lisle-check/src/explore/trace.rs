//! The steps of an execution, and the happens-before order of the steps.
//!
//! A [`Trace`] keeps the steps of the execution in progress with their accesses, and a vector clock
//! for each step. The next execution mostly begins as the last one did. Its common part is not
//! computed again: the trace is cut back to it ([`Trace::truncate`]) and goes on from there.
//!
//! Invariants: accesses, wakes and clocks are in the order of the steps, so that cutting back is
//! popping. Each list (the accesses to an object, the steps of a process, the wakes of a process)
//! is linked from its newest entry to older ones, so that popping restores its head.

mod choices;
mod clocks;

use rustc_hash::FxHashMap;

use super::{Access, Kind, Object, Process};
pub(crate) use choices::Choice;
use clocks::Candidate;

/// No step, no access: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// A step of the execution.
#[derive(Clone, Copy, Debug)]
struct Step {
    process: Process,
    /// The number of this step among its process's steps, from 1 on.
    count: u32,
    /// The previous step of the process.
    previous: u32,
    first_access: u32,
    first_choice: u32,
}

/// The place of an access in the list of accesses to its object.
#[derive(Clone, Copy, Debug)]
struct Link {
    step: u32,
    /// The place of the object in `newest`.
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

/// The state of a process.
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
    /// The place of each object in `newest`. It stays the same from one execution to the next.
    places: FxHashMap<Object, u32>,
    /// The object that was accessed last, and its place.
    latest: Option<(Object, u32)>,
    /// The clocks, `width` numbers for each step whose clock is known.
    clocks: Vec<u32>,
    width: usize,
    /// The steps before which the step in progress could not run, and the steps from which it took
    /// something.
    afters: Vec<u32>,
    follows: Vec<u32>,
    /// The clock that is being computed, and a copy of it from before the locks.
    clock: Vec<u32>,
    base: Vec<u32>,
    candidates: Vec<Candidate>,
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

    /// Returns `true` if the step happens after the earlier one. Both have their clocks.
    pub(crate) fn happens_after(&self, step: usize, earlier: usize) -> bool {
        let Step { process, count, .. } = self.steps[earlier];
        self.clocks[step * self.width + process.index()] >= count
    }

    /// Returns the last step of this process before `before`, or else the step that created the
    /// process.
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

    /// Returns the place of the object in `newest`. There need not be an access to it.
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

    /// Notes that the step in progress takes something that this step left.
    pub(crate) fn follows(&mut self, step: u32) {
        self.follows.push(step);
    }

    /// Calls `visit` for each step before `before` that took or released this lock, from the newest
    /// back to the last one that took it alone.
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
