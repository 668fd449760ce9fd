//! What the worker tells, and what it asks.

use super::{Bridge, Course, TIME, of};
use crate::explore::{Decision, Kind, Process, Strategy};
use crate::program::asking::Asking;
use crate::program::causes::Moment;
use crate::program::objects::Thing;
use crate::program::trace::recorder::Recorder;
use crate::program::watch::Stage;
use lisle_core::event::Doing;
use lisle_core::event::awaited::Awaited;
use lisle_runtime::model::{Again, Explorer, Nature};
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

    fn time(&self, passes: bool) {
        if self.in_step.get() {
            let kind = if passes { Kind::Update } else { Kind::Read };
            self.strategy.borrow_mut().access(TIME, kind);
            if let Some(process) = self.running.get() {
                self.memory.borrow_mut().touch(process.0, TIME, kind, false);
            }
            self.asked_or_changed(TIME, kind);
        }
    }

    fn armed(&self, timer: u32, decides: usize) {
        *of(&mut self.decided.borrow_mut(), Process(timer)) = self.objects.borrow().at(decides);
    }

    fn comes_too_late(&self, timer: u32) {
        let decides = *of(&mut self.decided.borrow_mut(), Process(timer));
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
        let Course { steps, causes, offered } = &mut *self.course.borrow_mut();
        if steps.len() >= self.longest {
            self.too_long.set(true);
            return None;
        }
        let mut strategy = self.strategy.borrow_mut();
        offered.clear();
        // They are few: to copy them one by one is faster than to prepare for many.
        offered.reserve(ready.len());
        for ready in ready {
            offered.push(Process(*ready));
        }
        let Decision::Run(process) = strategy.next(steps.last().copied(), offered) else { return None };
        self.running.set(Some(process));
        self.in_step.set(true);
        memory.runs(process.0);
        if self.is_last.take() {
            Asking::comes_last(steps, process, &mut *strategy);
            asking.goes_last(process);
            memory.comes_last(process.0);
        }
        let touched = asking.takes_step(process);
        drop((asking, memory, strategy));
        self.touch_those_that_wait(touched);
        steps.push(process);
        causes.goes_on(Moment { process, step: steps.len() });
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
        // What is unwound, or only looked at, is no part of an execution.
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
        let process = self.asking.borrow().last()?;
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
