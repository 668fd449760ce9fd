//! Events that order accesses: operations of the library, steps that let others go on, and choices
//! of the checker.

use super::{Detail, Modelled};
use crate::explore::{Kind, Mark, Object};

impl Modelled {
    /// Notes that a process has touched an object of the library's.
    pub(in crate::program) fn touch(&mut self, process: u32, object: Object, kind: Kind, is_order: bool) {
        if self.detail > Detail::None {
            self.library.touch(&mut self.graph, process, object, kind, is_order);
        }
    }

    /// Notes that the step in progress, with this mark, leaves something for another step.
    pub(in crate::program) fn leave(&mut self, process: u32, mark: Mark) {
        if self.detail > Detail::None {
            self.library.leave(&mut self.graph, process, mark.0);
        }
    }

    /// Notes that a process takes something that the step with this mark has left.
    pub(in crate::program) fn follow(&mut self, process: u32, mark: Mark) {
        if self.detail > Detail::None {
            self.library.follow(&mut self.graph, process, mark.0);
        }
    }

    /// Notes that a process that asks again and again can go on, since another one has changed
    /// something. That orders their steps, but not their accesses.
    pub(in crate::program) fn wake(&mut self, process: u32, other: u32) {
        if self.detail > Detail::None {
            self.enabled.push(other);
            self.library.comes_after(&mut self.graph, other, process);
        }
    }

    /// Notes that a process takes a step since nothing else can run: after all steps of the others.
    pub(in crate::program) fn comes_last(&mut self, process: u32) {
        if self.detail > Detail::None {
            for other in 0..self.graph.threads.len() as u32 {
                self.library.comes_after(&mut self.graph, process, other);
            }
        }
    }

    /// Returns `true` if a process has read an old value since it last asked.
    pub(in crate::program) fn sees_old(&self, process: u32) -> bool {
        self.detail == Detail::Weak && self.graph.sees_old(process)
    }

    /// Notes that a process asks again. If it `looks`, it comes after all writes of the locations
    /// that it has read; if it `catches_up`, it reads nothing older from now on.
    pub(in crate::program) fn asks_again(&mut self, process: u32, looks: bool, catches_up: bool) {
        if self.detail == Detail::Weak {
            self.graph.asks_again(process, looks || catches_up, catches_up);
        }
    }

    /// Notes that the code of a process runs in the step in progress.
    pub(in crate::program) fn runs(&mut self, process: u32) {
        if self.detail > Detail::None {
            self.running.push(process);
        }
    }

    /// Ends the step in progress.
    pub(in crate::program) fn end_step(&mut self) {
        if self.detail > Detail::None {
            let past = self.graph.end_step(&self.running, &self.enabled);
            self.library.end_step(&past);
            self.running.clear();
            self.enabled.clear();
        }
    }

    /// Notes that a process lets another one begin, or go on.
    pub(in crate::program) fn enable(&mut self, process: u32, other: u32) {
        if self.detail > Detail::None {
            self.enabled.push(other);
            self.library.enable(&mut self.graph, process, other);
        }
    }

    /// Notes that a process goes on after the end of another one.
    pub(in crate::program) fn join(&mut self, process: u32, ended: u32) {
        if self.detail > Detail::None {
            self.library.join(&mut self.graph, process, ended);
        }
    }

    /// Notes the way that the checker has chosen for a process.
    pub(in crate::program) fn chosen(&mut self, process: u32, way: usize) {
        if self.detail == Detail::Weak {
            self.library.observe(process, way as u64 + 1);
        }
    }
}
