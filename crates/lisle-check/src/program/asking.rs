//! Loops that ask again and again until something is so, as waits.
//!
//! `while !flag.load(..) { yield_now() }` has executions without end: those in which whoever sets
//! the flag never has a turn. No schedule of a real runtime is like that, and all of its rounds but
//! the last are alike. So the rounds of a process are looked at: what it does between two calls
//! of `yield_now` or [`spin_loop`](crate::hint::spin_loop). A round is *in vain* if all is again as
//! it was when the process has ended it: it has only read, or stored what was there, or taken a lock
//! and given it back. If it has done the same as in the round before, and nobody has changed any of
//! what it touches meanwhile, another round would be the same again, as far as others can tell.
//! Then the process waits until somebody changes something that it touches. This
//! is the treatment of awaits in M. Kokologiannakis, A. Raad and V. Vafeiadis, *Effective lock
//! handling in stateless model checking* (OOPSLA 2019), and of B. Jonsson, M. Lång and K. Sagonas,
//! *Awaiting for Godot* (FMCAD 2022). Here it is found while the program runs.
//!
//! **Loops that give up.** A process can count its rounds, which nobody else sees:
//! `try three times, then give up`; and what a lock protects cannot be seen, so that a round may
//! have changed it. Were the process to wait, what it does after it has given up would come
//! too late. So when a process asks for the second time in vain at a place that is not known yet,
//! it goes on alone, and it turns out after how many rounds it leaves the loop, if it does within a
//! thousand. That execution is then given up, and the exploration begins anew with what was learnt:
//! a loop that leaves after a few rounds never waits, and all of its behaviours are explored. One
//! that takes more rounds than [`Checker::rounds`](super::Checker::rounds) allows, unless it takes
//! locks in them, or does not leave, waits after its second round. If nothing else can run in the
//! end, it goes on alone again.
//! If it leaves then, the execution goes on; if it asks a thousand times more, nobody alive will
//! change what it reads, and that is reported.
//!
//! **Several that ask** about what the same lock protects would wake each other for ever, and whoever
//! is to change it would never have a turn. So a process becomes *tired* after some rounds that were
//! the same, if all that was changed meanwhile was changed by others in rounds of that kind. It then
//! waits for those only that do something new. If all that can run are tired, they go on in turn,
//! a round each. If one of them leaves its loop, there was something new in these rounds that could
//! not be seen. If they are few, that is learnt: the exploration begins anew, and nobody is tired
//! so soon. A thousand turns that lead to nothing are a livelock.
//!
//! **Cycles** of several in lockstep, each of which undoes what it has done because the others are
//! in its way, are what those are tired of as well. So when a process would become tired for the
//! first time, and all that can run have taken part since it has asked last, the same steps are
//! repeated, a thousand times if that can be. The first time, that is a preference, and no rule: what
//! else could have run is explored as ever.
//!
//! **What the reduction has to know.** The step in which a process begins to wait reads all that
//! its round has touched: a change before it and one after it lead to different things. The first
//! step that changes any of it enables the process, and touches it as a wake touches what waits; so
//! does each later one, until the process has gone on, since it could have been the first one.
//! Whether a change is news to one that is tired depends on what its own process has done before,
//! and on nothing else. A process that goes on because nothing else could run comes after all that
//! has happened.

mod cycle;
mod known;
mod last;
mod rounds;

use super::timers::Holding;
use crate::explore::{Kind, Object, Process};
use cycle::Cycle;
pub(super) use known::{Known, Loops};
use lisle_runtime::model::Again;
pub(super) use rounds::Act;
use rounds::{Rounder, State};
use std::panic::Location;

type Site = &'static Location<'static>;

/// So many rounds in vain, one after the other, are no end.
const ENDLESS: u32 = 1_000;

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
    /// How often a process has gone on in turn, and which was the last.
    turns: u32,
    last_turn: usize,
    /// A process that is tired, unless the steps of a cycle are repeated, and how many there were
    /// before these.
    suspected: Option<(Process, usize)>,
    cycle: Option<Cycle>,
    has_learnt: bool,
}

/// A process that goes on alone.
#[derive(Debug, Clone, Copy)]
struct Alone {
    process: Process,
    /// Nothing else can run.
    is_last: bool,
    /// It makes one round.
    is_turn: bool,
    /// It has made a round.
    has_gone_round: bool,
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
        Asking {
            processes: Vec::new(),
            asking: Vec::new(),
            known,
            most,
            alone: None,
            turns: 0,
            last_turn: 0,
            suspected: None,
            cycle: None,
            has_learnt: false,
        }
    }

    /// Forgets all but what is known, for the next execution.
    pub(super) fn clear(&mut self) {
        self.processes.iter_mut().for_each(Rounder::clear);
        self.asking.clear();
        (self.alone, self.suspected, self.cycle) = (None, None, None);
        (self.turns, self.last_turn) = (0, 0);
        self.has_learnt = false;
    }

    /// Returns which timers hold up others, as far as is known.
    pub(super) fn holding(&self) -> Holding {
        self.known.holding()
    }

    /// Notes that these do.
    pub(super) fn learns(&mut self, holding: Holding) {
        if holding > self.known.holding() {
            self.has_learnt = true;
            self.known.learn_holding(holding);
        }
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
    pub(super) fn has_read(&mut self, process: Process, act: Act) {
        let rounder = self.of(process);
        if !rounder.is_of_use && rounder.does(act, None) {
            self.leaves(process, false);
        }
    }

    /// Notes that a process has done something that cannot be undone.
    pub(super) fn has_done_something(&mut self, process: Process) {
        self.of(process).is_of_use = true;
        self.leaves(process, false);
    }

    /// Notes that a process has changed something. Returns which others wait for that, or have
    /// waited and not gone on yet, and whether they are to go on now.
    pub(super) fn has_changed(
        &mut self,
        process: Process,
        act: Act,
        values: Option<(u64, u64)>,
    ) -> Vec<(Process, bool)> {
        let rounder = self.of(process);
        if rounder.does(act, values) {
            self.leaves(process, false);
        }
        let is_news = !self.is_idle(process);
        if self.of(process).state == State::Waits {
            self.of(process).state = State::Runs;
        }
        let mut touched = Vec::new();
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = self.of(other);
            if other != process && rounder.touches(act.object) {
                rounder.is_changed = true;
                // Who waits makes all of the next round after this.
                rounder.is_news |= is_news && rounder.state != State::Waits;
                touched.extend(rounder.wake(is_news).map(|wakes| (other, wakes)));
            }
        }
        touched
    }

    /// Returns `true` if a process makes the same rounds again and again, as far as can be seen.
    fn is_idle(&self, process: Process) -> bool {
        let Some(rounder) = self.processes.get(process.index()) else { return false };
        let Some(site) = rounder.site.filter(|_| rounder.alike > 0 && rounder.is_as_before()) else {
            return false;
        };
        rounder.alike >= self.known.of(site).fresh()
    }

    /// Notes that a process takes a step. Returns those that wait for anything to happen.
    #[inline]
    pub(super) fn takes_step(&mut self, process: Process) -> Vec<(Process, bool)> {
        let rounder = self.of(process);
        (rounder.state, rounder.is_tired) = (State::Runs, false);
        if self.asking.is_empty() { Vec::new() } else { self.wakes_those_without_reads(process) }
    }

    fn wakes_those_without_reads(&mut self, process: Process) -> Vec<(Process, bool)> {
        let mut touched = Vec::new();
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = self.of(other);
            if other != process && rounder.before.is_empty() {
                touched.extend(rounder.wake(true).map(|wakes| (other, wakes)));
            }
        }
        touched
    }

    /// Ends a round of a process, after so many steps of the execution. `sees_old` tells that it
    /// has read something that is not the newest.
    pub(super) fn asks_again(
        &mut self,
        process: Process,
        site: Site,
        can_be_alone: bool,
        sees_old: bool,
        steps: usize,
    ) -> Again {
        if self.most == u32::MAX {
            return Again::GoOn;
        }
        if !self.asking.contains(&process) {
            self.asking.push(process);
        }
        if !self.of(process).is_same() {
            self.leaves(process, false);
        }
        let alone = self.alone.filter(|alone| alone.process == process);
        let rounder = self.of(process);
        rounder.end_round(site, alone.is_some());
        rounder.can_be_alone = can_be_alone;
        rounder.was_suspected &= rounder.idle > 1;
        let (rounds, idle, patience) = (rounder.rounds, rounder.idle, rounder.patience);
        let reads_nothing = rounder.before.is_empty();
        let before = std::mem::replace(&mut rounder.asked_at, steps);
        if let Some(alone) = alone {
            self.of(process).catches_up = sees_old;
            self.alone = Some(Alone { has_gone_round: true, ..alone });
            return match () {
                () if alone.is_turn => self.end_turn(process),
                () if rounds < ENDLESS => Again::GoOnAlone,
                () => self.is_endless(alone, site),
            };
        }
        let known = self.known.of(site);
        let most = match () {
            () if reads_nothing => ENDLESS,
            () if can_be_alone => known.few.max(1),
            () => self.most.max(patience),
        };
        if rounds > most {
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
        } else if idle <= known.fresh().max(most) || reads_nothing {
            return Again::GoOn;
        } else {
            return self.tires(process, before);
        }
        self.alone = Some(Alone { process, is_last: false, is_turn: false, has_gone_round: false });
        Again::GoOnAlone
    }

    /// Lets a process wait for those that do something new. It has asked before when there were so
    /// many steps.
    fn tires(&mut self, process: Process, before: usize) -> Again {
        if self.cycle.is_some() {
            return Again::GoOn;
        }
        let rounder = self.of(process);
        (rounder.state, rounder.is_tired, rounder.is_hopeless) = (State::Waits, true, false);
        rounder.catches_up = true;
        if !std::mem::replace(&mut rounder.was_suspected, true) {
            self.suspected = Some((process, before));
        }
        Again::Wait
    }

    /// Returns `true` if a process that has just asked again reads nothing old again.
    pub(super) fn catches_up(&mut self, process: Process) -> bool {
        std::mem::take(&mut self.of(process).catches_up)
    }

    /// Returns `true` if this process goes on whatever it does.
    pub(super) fn is_alone(&self, process: Process) -> bool {
        self.alone.is_some_and(|alone| alone.process == process)
    }

    /// Returns `true` if a process that goes on alone does what it has done in the step in progress
    /// before. A step that does it once is the same to all others.
    #[inline]
    pub(super) fn has_told(&self, process: Process, object: Object, kind: Kind) -> bool {
        self.alone.is_some_and(|alone| alone.process == process && alone.has_gone_round)
            && self.processes[process.index()].does_again(object, kind)
    }

    /// Returns `true` if this process may go on.
    pub(super) fn may_go_on(&self, process: Process) -> bool {
        let waits = self.processes.get(process.index()).is_some_and(|rounder| rounder.state == State::Waits);
        !waits || self.suspected.is_some_and(|(suspected, _)| suspected == process)
    }

    /// Returns what a process has touched in its last round.
    pub(super) fn touched_by(&self, process: Process) -> impl Iterator<Item = Object> + '_ {
        self.processes[process.index()].before.iter().map(|act| act.object)
    }

    /// Returns those that wait.
    pub(super) fn waiting(&self) -> Vec<Asker> {
        let asker = |process: &Process| {
            let rounder = &self.processes[process.index()];
            let site = rounder.site.filter(|_| rounder.state == State::Waits)?;
            let mut places: Vec<_> = rounder.before.iter().filter_map(|act| act.place).collect();
            places.sort_unstable();
            places.dedup();
            Some(Asker { process: *process, site, places, sees_anything: !rounder.before.is_empty() })
        };
        self.asking.iter().filter_map(asker).collect()
    }
}
