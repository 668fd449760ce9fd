//! Loops that ask again and again until a condition holds: the checker treats them as waits.
//!
//! `while !flag.load(..) { yield_now() }` has executions without end: the fiber that sets the flag
//! may never have a turn. No schedule of a real runtime is like that, and all rounds of the loop but
//! the last are alike. So the checker looks at the *rounds* of a process: its steps between two
//! calls of `yield_now` or [`spin_loop`](crate::hint::spin_loop). A round is *in vain* if it leaves
//! everything as it was: the process has only read, or stored the value that was there, or taken a
//! lock and released it. Suppose that a round is the same as the one before, and that no other
//! process has changed an object of the round meanwhile. Then another round would be the same again,
//! to all other processes. So the process waits until another process changes one of these objects.
//! This is the treatment of awaits in M. Kokologiannakis, A. Raad and V. Vafeiadis, *Effective lock
//! handling in stateless model checking* (OOPSLA 2019), and of B. Jonsson, M. Lång and K. Sagonas,
//! *Awaiting for Godot* (FMCAD 2022). Here the checker finds them while the program runs.
//!
//! **Loops that give up.** A process can count its rounds: `try three times, then give up`. No
//! other process sees the count. Nor does the checker see the data under a lock, which a round may
//! have changed. If such a process waited, its steps after the loop would come too late. So when a
//! process asks in vain for the second time at an unknown place, it goes on alone, for up to a
//! thousand rounds, and the checker learns the number of rounds after which it leaves the loop.
//! Then the checker gives that execution up, and the exploration begins anew with this number. A
//! loop that leaves after a few rounds never waits, and all of its behaviours are explored. A loop
//! waits after its second round if it does not leave, or takes more rounds than
//! [`Checker::rounds`](super::Checker::rounds) allows and no locks in them. If nothing else can run
//! in the end, it goes on alone again. If it leaves then, the execution goes on. If it asks a
//! thousand times more, no process will change what it reads, and the checker reports that.
//!
//! **Several loops under one lock** would wake each other for ever, and the process that changes the
//! data would never have a turn. So a process becomes *tired* after some equal rounds, if only such
//! rounds of other processes have changed something meanwhile. Then it waits only for processes that
//! do something new. If all processes that can run are tired, they go on in turn, a round each. If
//! one of them leaves its loop, the rounds have changed something that the checker does not see. If
//! the rounds are few, the exploration begins anew, and processes become tired later. A thousand
//! turns that lead to nothing are a livelock.
//!
//! **Cycles in lockstep.** Processes also become tired in a cycle where each undoes its own steps
//! because the others are in its way. So when a process would become tired for the first time, and
//! all processes that can run have taken part since it last asked, the checker repeats the same
//! steps, a thousand times if it can. The first time, this is only a preference: the other schedules
//! are explored as well.
//!
//! **Accesses for the reduction.** The step in which a process begins to wait reads all objects of
//! its round, since a change before this step and a change after it have different effects. The
//! first step that changes one of these objects enables the process, and touches it as a wake does.
//! Each later such step does the same until the process has gone on, since it could have been the
//! first one. Whether a change is news to a tired process depends only on the earlier steps of the
//! process that makes the change. A process that goes on because nothing else can run comes after
//! all earlier steps.

mod cycle;
mod known;
mod last;
mod rounds;

use super::timers::Holding;
use crate::explore::{Kind, Object, Process};
use cycle::Cycle;
pub(super) use known::{Known, Loops};
use lisle_runtime::internal::model::Again;
pub(super) use rounds::Act;
use rounds::{AskingState, Rounder};
use std::panic::Location;

type Site = &'static Location<'static>;

/// The number of rounds in vain after which a loop counts as endless.
const ENDLESS: u32 = 1_000;

/// The loops of an execution that ask.
#[derive(Debug)]
pub(super) struct Asking {
    processes: Vec<Rounder>,
    /// The processes that have asked again in this execution.
    asking: Vec<Process>,
    known: Known,
    /// A loop that gives up after more rounds may wait.
    most: u32,
    /// The process that goes on whatever it does.
    alone: Option<Alone>,
    /// The number of turns, and the process of the last one.
    turns: u32,
    last_turn: usize,
    /// A process that is tired, unless the steps of a cycle are repeated, and the number of steps
    /// before the cycle.
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

    /// Forgets all but the learnt facts, for the next execution.
    pub(super) fn clear(&mut self) {
        self.processes.iter_mut().for_each(Rounder::clear);
        self.asking.clear();
        (self.alone, self.suspected, self.cycle) = (None, None, None);
        (self.turns, self.last_turn) = (0, 0);
        self.has_learnt = false;
    }

    /// Returns which timers are known to hold up others.
    pub(super) fn holding(&self) -> Holding {
        self.known.holding()
    }

    /// Notes which timers hold up others.
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

    /// Returns `true` if the accesses of a process need not be noted now: it has done something new
    /// in this round, and no process has asked again.
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

    /// Notes that a process has changed something. Returns the other processes that wait for it, or
    /// have waited and not gone on yet, and whether they go on now.
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
        if self.of(process).state == AskingState::Waits {
            self.of(process).state = AskingState::Runs;
        }
        let mut touched = Vec::new();
        for at in 0..self.asking.len() {
            let other = self.asking[at];
            let rounder = self.of(other);
            if other != process && rounder.touches(act.object) {
                rounder.is_changed = true;
                // A process that waits makes its whole next round after this change.
                rounder.is_news |= is_news && rounder.state != AskingState::Waits;
                touched.extend(rounder.wake(is_news).map(|wakes| (other, wakes)));
            }
        }
        touched
    }

    /// Returns `true` if all visible rounds of a process are the same.
    fn is_idle(&self, process: Process) -> bool {
        let Some(rounder) = self.processes.get(process.index()) else { return false };
        let Some(site) = rounder.site.filter(|_| rounder.alike > 0 && rounder.is_as_before()) else {
            return false;
        };
        rounder.alike >= self.known.of(site).fresh()
    }

    /// Notes that a process takes a step. Returns the processes that wait for any step.
    #[inline]
    pub(super) fn takes_step(&mut self, process: Process) -> Vec<(Process, bool)> {
        let rounder = self.of(process);
        (rounder.state, rounder.is_tired) = (AskingState::Runs, false);
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

    /// Ends a round of a process, after `steps` steps of the execution. `sees_old` tells that it
    /// has read a value that is not the newest.
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
                // Now the process sees the newest write: to read an old one for longer would be the
                // same again.
                let rounder = self.of(process);
                (rounder.rounds, rounder.catches_up) = (0, true);
                return Again::GoOn;
            }
            if known.is_long || reads_nothing || !can_be_alone {
                let rounder = self.of(process);
                (rounder.state, rounder.is_hopeless) = (AskingState::Waits, reads_nothing || patience > 0);
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

    /// Lets a process wait for processes that do something new. `before` is the number of steps
    /// when it asked last.
    fn tires(&mut self, process: Process, before: usize) -> Again {
        if self.cycle.is_some() {
            return Again::GoOn;
        }
        let rounder = self.of(process);
        (rounder.state, rounder.is_tired, rounder.is_hopeless) = (AskingState::Waits, true, false);
        rounder.catches_up = true;
        if !std::mem::replace(&mut rounder.was_suspected, true) {
            self.suspected = Some((process, before));
        }
        Again::Wait
    }

    /// Returns `true` if a process that has just asked again reads no old value again.
    pub(super) fn catches_up(&mut self, process: Process) -> bool {
        std::mem::take(&mut self.of(process).catches_up)
    }

    /// Returns `true` if this process goes on whatever it does.
    pub(super) fn is_alone(&self, process: Process) -> bool {
        self.alone.is_some_and(|alone| alone.process == process)
    }

    /// Returns `true` if a process that goes on alone does something for the second time in the
    /// step in progress. To all others a step that does it once is the same.
    #[inline]
    pub(super) fn has_told(&self, process: Process, object: Object, kind: Kind) -> bool {
        self.alone.is_some_and(|alone| alone.process == process && alone.has_gone_round)
            && self.processes[process.index()].does_again(object, kind)
    }

    /// Returns `true` if this process may go on.
    pub(super) fn may_go_on(&self, process: Process) -> bool {
        let waits =
            self.processes.get(process.index()).is_some_and(|rounder| rounder.state == AskingState::Waits);
        !waits || self.suspected.is_some_and(|(suspected, _)| suspected == process)
    }

    /// Returns the objects of a process's last round.
    pub(super) fn touched_by(&self, process: Process) -> impl Iterator<Item = Object> + '_ {
        self.processes[process.index()].before.iter().map(|act| act.object)
    }

    /// Returns the processes that wait.
    pub(super) fn waiting(&self) -> Vec<Asker> {
        let asker = |process: &Process| {
            let rounder = &self.processes[process.index()];
            let site = rounder.site.filter(|_| rounder.state == AskingState::Waits)?;
            let mut places: Vec<_> = rounder.before.iter().filter_map(|act| act.place).collect();
            places.sort_unstable();
            places.dedup();
            Some(Asker { process: *process, site, places, sees_anything: !rounder.before.is_empty() })
        };
        self.asking.iter().filter_map(asker).collect()
    }
}
