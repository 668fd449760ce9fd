//! Loops that ask again and again until something is so, as waits.
//!
//! `while !flag.load(..) { yield_now() }` has executions without end: those in which whoever sets
//! the flag never has a turn. No schedule of a real runtime is like that, and all of its rounds but
//! the last are alike. So the rounds of a process are looked at: what it has read between two calls
//! of `yield_now` or [`spin_loop`](crate::hint::spin_loop). A round is *in vain* if the process has
//! changed nothing in it that others see. If it has read the same as in the round before, and
//! nobody has changed any of that meanwhile, another round would be the same again, as far as
//! others can tell. Then the process waits until somebody changes something that it has read. This
//! is the treatment of awaits in M. Kokologiannakis, A. Raad and V. Vafeiadis, *Effective lock
//! handling in stateless model checking* (OOPSLA 2019), and of B. Jonsson, M. Lång and K. Sagonas,
//! *Awaiting for Godot* (FMCAD 2022). Here it is found while the program runs.
//!
//! **Loops that give up.** A process can count its rounds, which nobody else sees:
//! `try three times, then give up`. Were it to wait, what it does after it has given up would come
//! too late. So when a process asks for the second time in vain at a place that is not known yet,
//! it goes on alone, and it turns out after how many rounds it leaves the loop, if it does within a
//! thousand. That execution is then given up, and the exploration begins anew with what was learnt:
//! a loop that leaves after a few rounds never waits, and all of its behaviours are explored. One
//! that takes more rounds than [`Checker::rounds`](super::Checker::rounds) allows, or does not
//! leave, waits after its second round. If nothing else can run in the end, it goes on alone again.
//! If it leaves then, the execution goes on; if it asks a thousand times more, nobody alive will
//! change what it reads, and that is reported.
//!
//! **What the reduction has to know.** The step in which a process begins to wait reads all that
//! its round has read: a change before it and one after it lead to different things. The first step
//! that changes any of it enables the process, and touches it as a wake touches what waits; so does
//! each later one, until the process has gone on, since it could have been the first one. A process
//! that goes on because nothing else could run comes after all that has happened.

mod known;
mod rounds;

use crate::explore::{Object, Process};
use known::Rounds;
pub(super) use known::{Known, Loops};
use lisle_runtime::model::Again;
use rounds::{Read, Rounder, State};
use std::panic::Location;

type Site = &'static Location<'static>;

/// So many rounds in vain, one after the other, are no end.
const ENDLESS: u32 = 1_000;
/// A round in which more was read is not compared with others.
const LONGEST: usize = 256;

/// What the processes of an execution ask.
#[derive(Debug)]
pub(super) struct Asking {
    processes: Vec<Rounder>,
    /// Those that have asked again in this execution.
    asking: Vec<Process>,
    known: Known,
    /// A loop that gives up after more rounds may wait.
    most: u32,
    /// The process that goes on whatever it does.
    alone: Option<Alone>,
    has_learnt: bool,
}

/// A process that goes on alone.
#[derive(Debug, Clone, Copy)]
struct Alone {
    process: Process,
    /// Nothing else can run.
    is_last: bool,
}

/// A process that asks again and again.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) process: Process,
    pub(super) site: Site,
    pub(super) places: Vec<Site>,
    pub(super) sees_anything: bool,
}

impl Asking {
    pub(super) fn new(known: Known, most: u32) -> Self {
        let (processes, asking) = (Vec::new(), Vec::new());
        Asking { processes, asking, known, most, alone: None, has_learnt: false }
    }

    /// Forgets all but what is known, for the next execution.
    pub(super) fn clear(&mut self) {
        self.processes.iter_mut().for_each(|rounder| {
            let (mut reads, mut before) =
                (std::mem::take(&mut rounder.reads), std::mem::take(&mut rounder.before));
            reads.clear();
            before.clear();
            *rounder = Rounder { reads, before, ..Rounder::default() };
        });
        self.asking.clear();
        self.alone = None;
        self.has_learnt = false;
    }

    /// Returns `true` if the execution is to be given up, since the next ones will be different.
    pub(super) fn has_learnt(&self) -> bool {
        self.has_learnt
    }

    #[inline]
    fn of(&mut self, process: Process) -> &mut Rounder {
        if self.processes.len() <= process.index() {
            self.processes.resize_with(process.index() + 1, Rounder::default);
        }
        &mut self.processes[process.index()]
    }

    /// Returns `true` if nothing that a process does now is of interest: it has done something in
    /// this round, and nobody has asked again.
    #[inline]
    pub(super) fn has_no_rounds(&self, process: Process) -> bool {
        self.asking.is_empty() && self.processes.get(process.index()).is_some_and(|rounder| rounder.is_of_use)
    }

    /// Notes that a process has read something.
    pub(super) fn has_read(&mut self, process: Process, object: Object, place: Option<Site>) {
        let rounder = self.of(process);
        let (read, at) = (Read { object, place }, rounder.reads.len());
        if rounder.is_of_use {
            return;
        }
        if at >= LONGEST {
            return self.has_done_something(process);
        }
        let is_other = rounder.before.get(at) != Some(&read);
        rounder.reads.push(read);
        if is_other {
            self.leaves(process);
        }
    }

    /// Notes that a process has done something that others see.
    pub(super) fn has_done_something(&mut self, process: Process) {
        self.of(process).is_of_use = true;
        self.leaves(process);
    }

    /// Notes that a process has changed something. Returns which others wait for that, or have
    /// waited and not gone on yet, and whether they are to go on now.
    pub(super) fn has_changed(&mut self, process: Process, object: Object) -> Vec<(Process, bool)> {
        self.has_done_something(process);
        if self.of(process).state == State::Waits {
            self.of(process).state = State::Runs;
        }
        let mut touched = Vec::new();
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = self.of(other);
            let has_read = |reads: &[Read]| reads.iter().any(|read| read.object == object);
            if other != process && (has_read(&rounder.reads) || has_read(&rounder.before)) {
                rounder.is_changed = true;
                touched.extend(rounder.wake().map(|wakes| (other, wakes)));
            }
        }
        touched
    }

    /// Notes that a process takes a step. Returns those that wait for anything to happen.
    #[inline]
    pub(super) fn takes_step(&mut self, process: Process) -> Vec<(Process, bool)> {
        self.of(process).state = State::Runs;
        if self.asking.is_empty() { Vec::new() } else { self.wakes_those_without_reads(process) }
    }

    fn wakes_those_without_reads(&mut self, process: Process) -> Vec<(Process, bool)> {
        let mut touched = Vec::new();
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = self.of(other);
            if other != process && rounder.before.is_empty() {
                touched.extend(rounder.wake().map(|wakes| (other, wakes)));
            }
        }
        touched
    }

    /// Ends a round of a process. `sees_old` tells that it has read something that is not the
    /// newest.
    pub(super) fn asks_again(
        &mut self,
        process: Process,
        site: Site,
        can_be_alone: bool,
        sees_old: bool,
    ) -> Again {
        if !self.asking.contains(&process) {
            self.asking.push(process);
        }
        let rounder = self.of(process);
        rounder.end_round(site);
        rounder.can_be_alone = can_be_alone;
        let (rounds, patience) = (rounder.rounds, rounder.patience);
        let reads_nothing = rounder.before.is_empty();
        if let Some(alone) = self.alone.filter(|alone| alone.process == process) {
            self.of(process).catches_up = sees_old;
            return if rounds < ENDLESS { Again::GoOnAlone } else { self.is_endless(alone, site) };
        }
        let known = self.known.of(site);
        let most = match () {
            () if reads_nothing => ENDLESS,
            () if can_be_alone => known.few.max(1),
            () => self.most.max(patience),
        };
        if rounds <= most {
            return Again::GoOn;
        }
        if sees_old {
            // A write is seen at last. To read an old one for longer would be the same again.
            let rounder = self.of(process);
            (rounder.rounds, rounder.catches_up) = (0, true);
            return Again::GoOn;
        }
        if known.is_long || reads_nothing || !can_be_alone {
            let rounder = self.of(process);
            (rounder.state, rounder.is_hopeless) = (State::Waits, reads_nothing || patience > 0);
            return Again::Wait;
        }
        self.alone = Some(Alone { process, is_last: false });
        Again::GoOnAlone
    }

    /// Returns `true` if a process that has just asked again reads nothing old again.
    pub(super) fn catches_up(&mut self, process: Process) -> bool {
        std::mem::take(&mut self.of(process).catches_up)
    }

    fn is_endless(&mut self, Alone { process, is_last }: Alone, site: Site) -> Again {
        self.alone = None;
        if is_last {
            let rounder = self.of(process);
            (rounder.state, rounder.is_hopeless) = (State::Waits, true);
            return Again::Wait;
        }
        self.known.learn(site, Rounds { is_long: true, ..self.known.of(site) });
        self.has_learnt = true;
        Again::GoOn
    }

    /// Notes that a process does something else than before: if it goes on alone, it has left its
    /// loop.
    fn leaves(&mut self, process: Process) {
        let Some(alone) = self.alone.filter(|alone| alone.process == process) else { return };
        self.alone = None;
        let rounder = self.of(process);
        let (rounds, site) = (rounder.rounds, rounder.site.expect("it has asked again"));
        let before = self.known.of(site);
        let known = match rounds <= self.most {
            true => Rounds { few: before.few.max(rounds), ..before },
            false => Rounds { is_long: true, ..before },
        };
        self.known.learn(site, known);
        // When nothing else can run, a long loop leaves as a part of the execution.
        self.has_learnt = !alone.is_last || known.few > before.few;
    }

    /// Notes that the process that goes on alone has come to where others have to run.
    pub(super) fn stops(&mut self) {
        if let Some(alone) = self.alone {
            self.leaves(alone.process);
        }
    }

    /// Returns `true` if this process goes on whatever it does.
    pub(super) fn is_alone(&self, process: Process) -> bool {
        self.alone.is_some_and(|alone| alone.process == process)
    }

    /// Returns `true` if this process may go on.
    pub(super) fn may_go_on(&self, process: Process) -> bool {
        self.processes.get(process.index()).is_none_or(|rounder| rounder.state != State::Waits)
    }

    /// Returns a process that waits, and may go on since nothing else can run.
    pub(super) fn last(&self) -> Option<Process> {
        let waits = |process: &Process| {
            let rounder = &self.processes[process.index()];
            rounder.state == State::Waits && !rounder.is_hopeless
        };
        self.asking.iter().copied().find(waits)
    }

    /// Notes that a process goes on since nothing else can run.
    pub(super) fn goes_last(&mut self, process: Process) {
        let rounder = self.of(process);
        if rounder.can_be_alone {
            self.alone = Some(Alone { process, is_last: true });
        } else {
            rounder.patience = ENDLESS;
        }
    }

    /// Returns what a process has read in its last round.
    pub(super) fn read_by(&self, process: Process) -> impl Iterator<Item = Object> + '_ {
        self.processes[process.index()].before.iter().map(|read| read.object)
    }

    /// Returns those that wait.
    pub(super) fn waiting(&self) -> Vec<Asker> {
        let asker = |process: &Process| {
            let rounder = &self.processes[process.index()];
            let site = rounder.site.filter(|_| rounder.state == State::Waits)?;
            let mut places: Vec<_> = rounder.before.iter().filter_map(|read| read.place).collect();
            places.sort_unstable();
            places.dedup();
            Some(Asker { process: *process, site, places, sees_anything: !rounder.before.is_empty() })
        };
        self.asking.iter().filter_map(asker).collect()
    }
}
