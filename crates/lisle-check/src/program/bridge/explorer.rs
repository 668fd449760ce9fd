//! The calls of the domain: its reports and questions.

use super::{Bridge, Course, TIME, of};
use crate::explore::{Decision, Kind, Process, Strategy};
use crate::program::asking::Asking;
use crate::program::objects::Thing;
use crate::program::timers::Holding;
use crate::program::trace::recorder::Recorder;
use crate::program::watch::Stage;
use lisle_core::event::Doing;
use lisle_core::event::awaited::Awaited;
use lisle_runtime::internal::model::{Again, Armed, Explorer, Nature, Time};
use std::panic::Location;

impl Explorer for Bridge {
    fn spawned(&self, site: &'static Location<'static>) -> u32 {
        self.note(|recorder| recorder.spawned(site));
        let Some(parent) = self.running.get() else { return Process::ROOT.0 };
        let child = self.new_child(parent);
        let before = of(&mut self.sites.borrow_mut(), child).replace(site);
        if before.is_none_or(|before| !std::ptr::eq(before, site)) {
            self.pulse.spawned(child.0, site);
        }
        self.course.borrow_mut().causes.follows(child, parent);
        if self.in_step.get() {
            self.strategy.borrow_mut().enables(child);
            self.memory.borrow_mut().enable(parent.0, child.0);
            self.asking.borrow_mut().has_done_something(parent);
        }
        child.0
    }

    fn introduced(&self, process: u32, nature: Nature<'_>) {
        self.note(|recorder| recorder.introduced(process, nature));
    }

    fn ended(&self, process: u32) {
        self.note(|recorder| recorder.ended(process));
    }

    fn about_to(&self, doing: Doing<'_>) {
        let process = self.running.get().unwrap_or(Process::ROOT);
        self.note(|recorder| recorder.about_to(process.0, doing));
    }

    fn begins(&self, process: u32) {
        self.running.set(Some(Process(process)));
        self.memory.borrow_mut().runs(process);
    }

    fn woken(&self, process: u32) {
        self.note(|recorder| recorder.woken(process));
        let woken = Process(process);
        if let Some(running) = self.running.get().filter(|running| self.in_step.get() && *running != woken) {
            self.strategy.borrow_mut().enables(woken);
            self.course.borrow_mut().causes.follows(woken, running);
            self.memory.borrow_mut().enable(running.0, process);
        }
    }

    fn time(&self, time: Time) {
        let Some(process) = self.running.get().filter(|_| self.in_step.get()) else { return };
        let holding = match time {
            Time::Read => self.timers.borrow_mut().is_read(),
            Time::Armed => Holding::None,
            Time::Passes => {
                self.note(Recorder::fires);
                self.timers.borrow_mut().fires(process);
                Holding::None
            }
        };
        self.learns(holding);
        if self.asking.borrow().holding() == Holding::None {
            return;
        }
        let kind = if time == Time::Passes { Kind::Add } else { Kind::Read };
        self.touches_time(process, TIME, kind);
        if time == Time::Passes {
            for (object, kind) in self.timers.borrow().touched_by(process) {
                self.touches_time(process, object, kind);
            }
        }
        self.asked_or_changed(TIME, kind);
    }

    fn armed(&self, timer: u32, armed: Armed) -> bool {
        let timer = Process(timer);
        let decides = self.objects.borrow().at(armed.decides);
        let (is_sleep, holding) = self.timers.borrow_mut().arm(timer, armed, decides);
        self.learns(holding);
        let holds_up = match self.asking.borrow().holding() {
            Holding::None => false,
            Holding::Deciding => !is_sleep,
            Holding::All => true,
        };
        if holds_up {
            self.timers.borrow_mut().holds_up(timer);
        }
        holds_up
    }

    fn disarmed(&self, timer: u32) {
        let Some(process) = self.running.get().filter(|_| self.in_step.get()) else { return };
        let holding = self.timers.borrow_mut().disarm(Process(timer));
        self.learns(holding);
        let deciding = self.timers.borrow().deciding(Process(timer));
        if let Some(object) = deciding {
            self.touches_time(process, object, Kind::Read);
        }
    }

    fn comes_too_late(&self, timer: u32) {
        let decides = self.timers.borrow().decided_by(Process(timer));
        if let Some(object) = decides.filter(|_| self.in_step.get()) {
            self.strategy.borrow_mut().access(object, Kind::Read);
        }
    }

    fn unwinds(&self) {
        self.pulse.enter(Stage::Unwinding);
        self.note(Recorder::is_over);
        self.in_step.set(false);
        self.is_unwinding.set(true);
    }

    fn takes_the_impossible(&self) -> bool {
        self.strategy.borrow().reduces()
    }

    fn next(&self, ready: &[u32]) -> Option<u32> {
        self.note(|recorder| recorder.ends_step(ready));
        self.in_step.set(false);
        self.pulse.enter(Stage::Checker);
        if self.cut.as_ref().is_some_and(|cut| cut.is_now(self.course.borrow().steps.len())) {
            self.was_cut.set(true);
            return None;
        }
        let (mut asking, mut memory) = (self.asking.borrow_mut(), self.memory.borrow_mut());
        asking.stops();
        if asking.has_learnt() {
            return None;
        }
        memory.end_step();
        if memory.is_over() {
            return None;
        }
        let course = &mut *self.course.borrow_mut();
        let Course { steps, processes, offered, .. } = course;
        if steps.len() >= self.longest {
            self.too_long.set(true);
            return None;
        }
        let mut strategy = self.strategy.borrow_mut();
        offered.clear();
        // They are few: a loop copies them faster than a function for many.
        offered.reserve(ready.len());
        for ready in ready {
            offered.push(Process(*ready));
        }
        if asking.suspects(steps, offered) {
            self.is_last.set(true);
        }
        let running = asking.repeats(offered).or(steps.last().copied());
        let Decision::Run(process) = strategy.next(running, offered) else { return None };
        let is_again = asking.repeats_again();
        if asking.goes_round(process) {
            self.too_long.set(true);
            return None;
        }
        self.running.set(Some(process));
        self.in_step.set(true);
        memory.runs(process.0);
        if self.is_last.take() {
            Asking::comes_last(processes, process, &mut *strategy);
            asking.goes_last(process);
            memory.comes_last(process.0);
        } else if is_again {
            // The orders of such repeated rounds are not told apart.
            Asking::comes_last(processes, process, &mut *strategy);
            memory.comes_last(process.0);
        }
        let touched = asking.takes_step(process);
        drop((asking, memory, strategy));
        self.touch_those_that_wait(touched);
        course.goes_on(process);
        self.note(|recorder| recorder.begins_step(process.0));
        self.pulse.steps(process.0);
        Some(process.0)
    }

    fn choose(&self, ways: usize) -> usize {
        let process = self.running.get().unwrap_or(Process::ROOT);
        let way = self.choose_of(process, ways);
        self.memory.borrow_mut().chosen(process.0, way);
        way
    }

    fn about_to_touch(&self, address: usize, size: usize, made: Option<&'static Location<'static>>) {
        self.note(|recorder| recorder.about_to_touch(address, size));
        // Unwinding and looks from outside are no part of an execution.
        if !self.in_step.get() {
            return;
        }
        let process = self.running.get().unwrap_or(Process::ROOT);
        if !self.objects.borrow().is_latest(process, address, size) {
            self.declare(process, address, Thing { size, made });
        }
    }

    fn owns(&self, process: u32, address: usize, size: usize) {
        self.note(|recorder| recorder.owns(process, address, size));
        self.objects.borrow_mut().own(Process(process), address, size);
        self.memory.borrow_mut().forget_within(address, size);
    }

    fn joined(&self, process: u32) {
        if self.in_step.get() {
            self.strategy.borrow_mut().after(Process(process));
            if let Some(running) = self.running.get() {
                self.course.borrow_mut().causes.follows(running, Process(process));
                self.memory.borrow_mut().join(running.0, process);
            }
        }
    }

    fn is_over(&self, waiting: &[(u32, Awaited)]) {
        self.note(Recorder::is_over);
        self.in_step.set(false);
        self.is_blocked.set(true);
        for &(process, awaited_by) in waiting {
            let awaited = self.awaited.borrow().get(process as usize).copied().unwrap_or(0);
            if let Some(object) = self.objects.borrow().at(awaited) {
                let kind = match awaited_by {
                    Awaited::Free => Kind::Acquire,
                    Awaited::Message => Kind::Front,
                    Awaited::Place => Kind::Back,
                };
                self.strategy.borrow_mut().waits(Process(process), object, kind);
            }
        }
    }

    fn most_parts(&self) -> usize {
        self.division.parts
    }

    fn division(&self, blocks: usize) -> Option<usize> {
        self.division.first_part(blocks, |ways| self.choose(ways))
    }

    fn asks_again(&self, process: u32, site: &'static Location<'static>, can_be_alone: bool) -> Again {
        self.end_round(Process(process), site, can_be_alone)
    }

    fn may_ask(&self, process: u32) -> bool {
        self.asking.borrow().may_go_on(Process(process))
    }

    fn is_alone(&self) -> bool {
        self.running.get().is_some_and(|process| self.asking.borrow().is_alone(process))
    }

    fn asks_last(&self) -> Option<u32> {
        let process = self.asking.borrow_mut().last()?;
        self.is_last.set(true);
        Some(process.0)
    }

    fn rests_on_parts(&self, parts: &[u32]) {
        self.unbegun.borrow_mut().extend(parts.iter().map(|part| Process(*part)));
    }

    fn is_disturbed(&self) {
        self.in_step.set(false);
        self.is_disturbed.set(true);
    }
}
