//! The part of a report about loops that ask again and again.

use super::asking::{Act, Asker, Asking};
use super::bridge::Bridge;
use crate::explore::{Kind, Object, Process, Strategy};
use lisle_runtime::internal::model::Again;
use std::cell::Cell;
use std::fmt;
use std::panic::Location;

thread_local! {
    static PLACE: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// Notes the place of this thread's next operation.
pub(crate) fn read_at(place: &'static Location<'static>) {
    PLACE.set(Some(place));
}

/// A fiber or task that asks again and again for a change that no process will make.
#[derive(Debug, Clone)]
pub struct Spin {
    spawned_at: Option<&'static Location<'static>>,
    asks_at: &'static Location<'static>,
    reads_at: Vec<&'static Location<'static>>,
    sees_anything: bool,
}

impl Spin {
    /// Returns the place where it was spawned, or `None` for the program itself.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.spawned_at
    }

    /// Returns the place where it lets others run before it asks again.
    pub fn asks_at(&self) -> &'static Location<'static> {
        self.asks_at
    }

    /// Returns the places where it reads atomics of [`atomic`](crate::atomic).
    pub fn reads_at(&self) -> &[&'static Location<'static>] {
        &self.reads_at
    }
}

impl fmt::Display for Spin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spawned_at {
            Some(site) => write!(f, "the fiber or task spawned at {site}")?,
            None => write!(f, "the program itself")?,
        }
        write!(f, " asks again and again, at {}", self.asks_at)?;
        for (at, place) in self.reads_at.iter().enumerate() {
            write!(f, "{} {place}", if at == 0 { ", and reads at" } else { " and" })?;
        }
        match self.sees_anything {
            true => write!(f, ": nobody alive will change what it reads"),
            false => write!(f, ": it looks at nothing that a check can see"),
        }
    }
}

impl Bridge {
    /// Notes an access of the running process, for processes that ask again and again.
    #[inline(always)]
    pub(super) fn asked_or_changed(&self, object: Object, kind: Kind) {
        self.asked_or_set(object, kind, None, None);
    }

    /// Does the same for a number, with its old and new value, and the value that the process has
    /// seen.
    #[inline(always)]
    pub(super) fn asked_or_set(
        &self,
        object: Object,
        kind: Kind,
        values: Option<(u64, u64)>,
        saw: Option<u64>,
    ) {
        if let Some(process) = self.running.get()
            && !self.asking.borrow().has_no_rounds(process)
        {
            let act = Act { object, kind, place: PLACE.take(), saw };
            self.has_asked_or_changed(process, act, values);
        }
    }

    fn has_asked_or_changed(&self, process: Process, act: Act, values: Option<(u64, u64)>) {
        if act.object == self.objects.borrow().of_process(process) {
            // Its own stack and cell, which concern no other process.
            return;
        }
        if act.kind == Kind::Read {
            return self.asking.borrow_mut().has_read(process, act);
        }
        let touched = self.asking.borrow_mut().has_changed(process, act, values);
        self.touch_those_that_wait(touched);
    }

    /// Tells the strategy of the processes that have waited for the step in progress.
    #[inline(always)]
    pub(super) fn touch_those_that_wait(&self, touched: Vec<(Process, bool)>) {
        if !touched.is_empty() {
            self.touch_each(touched);
        }
    }

    fn touch_each(&self, touched: Vec<(Process, bool)>) {
        for (process, wakes) in touched {
            let object = self.objects.borrow().of_process(process);
            let mut strategy = self.strategy.borrow_mut();
            strategy.access(object, if wakes { Kind::Update } else { Kind::Read });
            if wakes {
                strategy.enables(process);
            }
            if let Some(running) = self.running.get() {
                let mut memory = self.memory.borrow_mut();
                let kind = if wakes { Kind::Update } else { Kind::Read };
                memory.touch(running.0, object, kind, false);
                if wakes {
                    memory.wake(running.0, process.0);
                }
            }
        }
    }

    /// Ends a round of a process.
    pub(super) fn end_round(
        &self,
        process: Process,
        site: &'static Location<'static>,
        can_be_alone: bool,
    ) -> Again {
        // Before its first wait, a task is a part of its spawner's step.
        if !self.in_step.get() || self.running.get() != Some(process) {
            return Again::GoOn;
        }
        let mut asking = self.asking.borrow_mut();
        let mut memory = self.memory.borrow_mut();
        let steps = self.steps();
        let again = asking.asks_again(process, site, can_be_alone, memory.sees_old(process.0), steps);
        let catches_up = asking.catches_up(process);
        memory.asks_again(process.0, again == Again::Wait, catches_up);
        if again == Again::Wait || catches_up {
            let mut strategy = self.strategy.borrow_mut();
            asking.touched_by(process).for_each(|object| strategy.access(object, Kind::Read));
        }
        again
    }

    /// Returns the loops that are left asking when nothing can go on.
    pub(super) fn spins(&self) -> Vec<Spin> {
        let spin = |Asker { process, site, places, sees_anything }| Spin {
            spawned_at: self.site_of(process),
            asks_at: site,
            reads_at: places,
            sees_anything,
        };
        self.asking.borrow().waiting().into_iter().map(spin).collect()
    }
}

impl Asking {
    /// Notes that a process takes a step because nothing else can run. The step comes after all
    /// steps of the others.
    pub(super) fn comes_last(all: &[Process], process: Process, strategy: &mut dyn Strategy) {
        all.iter().filter(|other| **other != process).for_each(|other| strategy.after(*other));
    }
}
