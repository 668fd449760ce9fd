//! The places where a process gives way, and the conditions on which it goes on.

use super::{Again, Explorer};
use crate::event::awaited::Awaited;
use crate::event::limit;
use crate::event::parker::{self, Parker, Suspend};
use crate::event::{Doing, Label, PerformerContext, step, suspend};
use crate::sched::worker::Worker;
use crate::spawned::runnable::Runnable;
use crate::spawned::task_cell::Task;
use std::panic::Location;
use std::ptr::NonNull;

/// How many times fibers are unwound before one of them has to give the domain back.
const CAUGHT: u32 = 100;

pub(super) type IsSo = *const (dyn Fn() -> bool + 'static);

/// A process that waits for a condition, such as a free lock.
pub(super) struct Waits {
    pub(super) who: NonNull<Runnable>,
    pub(super) awaited: Awaited,
    pub(super) is_so: IsSo,
}

impl Worker {
    /// Returns `true` if nothing that is ready waits for anything.
    #[inline]
    pub(super) fn all_can_go_on(&self) -> bool {
        self.modelled.waiting.is_empty() && self.modelled.asking.is_empty()
    }

    pub(super) fn can_go_on(&self, ready: NonNull<Runnable>) -> bool {
        let waiting = self.modelled.waiting.read();
        let Some(Waits { is_so, .. }) = waiting.iter().find(|waits| waits.who == ready) else {
            let asks = self.modelled.asking.read().contains(&ready);
            return !asks || self.explorer().is_none_or(|explorer| explorer.may_ask(self.process_of(ready)));
        };
        // SAFETY: the process is suspended in the call that has asked, which keeps the closure.
        unsafe { (**is_so)() }
    }

    /// Waits until a fiber or a task has ended, if a model runs this code and that can be.
    pub(crate) fn await_end(&self, who: &Runnable, has_ended: &dyn Fn() -> bool) {
        if let Some(explorer) = self.explorer() {
            let address = std::ptr::from_ref(who).addr();
            explorer.about_to(Doing::One(
                "wait for the end of",
                const { &Label::anywhere("fiber") },
                address,
            ));
            self.visible_step(Some((Awaited::Free, has_ended)));
            if has_ended() {
                explorer.joined(who.process.get());
            }
        }
    }

    /// Lets the explorer run other processes before the running code does something that others
    /// see.
    ///
    /// This and [`step_of`](Worker::step_of) are inlined: a return after a switch is mispredicted,
    /// see `event/performer/parker.rs`, and each step has one for each function around the switch.
    #[inline(always)]
    pub(in crate::sched::worker) fn visible_step(&self, until: Option<(Awaited, &dyn Fn() -> bool)>) {
        let modelled = &self.modelled;
        let Some(parker) = parker::running().filter(|_| self.explorer().is_some()) else { return };
        self.step_of(parker, until);
        if modelled.is_ending.get() && parker::can_be_unwound() && !limit::is_masked() {
            // Code that catches the unwinding again and again does not keep the domain.
            modelled.unwound.set(modelled.unwound.get() + 1);
            if modelled.unwound.get().is_multiple_of(CAUGHT) && step::is_free() {
                // SAFETY: it is the parker of the running fiber.
                let _ = suspend(|| unsafe { parker.suspend(Suspend::Yielded) });
            }
            PerformerContext::unwind(self);
        }
    }

    /// Does the same as [`yield_now`](super::way::yield_now) for a process of a model. Returns
    /// `false` if none runs here, or if it must not be suspended.
    pub(in crate::sched::worker) fn ask_again(&self, site: &'static Location<'static>) -> bool {
        let (Some(parker), Some(explorer)) = (parker::running(), self.explorer()) else { return false };
        if self.modelled.is_ending.get() || !step::is_free() || parker::is_unwinding() {
            return false;
        }
        let current = self.current_fiber().expect("a fiber runs here").cast();
        let process = self.process_of(current);
        match explorer.asks_again(process, site, true) {
            Again::GoOnAlone => {}
            Again::GoOn => self.step_of(parker, None),
            Again::Wait => {
                self.modelled.asking.push(current);
                self.step_of(parker, Some((Awaited::Free, &|| explorer.may_ask(process))));
                self.modelled.asking.retain(|asking| *asking != current);
            }
        }
        true
    }

    /// Notes that a task yields: it asks again in its next turn.
    pub(crate) fn task_asks_again(&self, task: NonNull<Task>, site: &'static Location<'static>) {
        let Some(explorer) = self.explorer() else { return };
        let process = self.process_of(task.cast());
        if !self.modelled.is_ending.get() && explorer.asks_again(process, site, false) == Again::Wait {
            self.modelled.asking.push(task.cast());
        }
    }

    /// Lets the explorer run other processes before the running code goes on, once its condition
    /// holds.
    #[inline(always)]
    pub(in crate::sched::worker) fn step_of(
        &self,
        parker: &Parker,
        until: Option<(Awaited, &dyn Fn() -> bool)>,
    ) {
        let modelled = &self.modelled;
        if self.explorer().is_some_and(Explorer::is_alone) && until.is_none_or(|(_, is_so)| is_so()) {
            return;
        }
        if !modelled.is_ending.get() && step::is_free() && !parker::is_unwinding() {
            let waits = until.map(|(awaited, is_so)| {
                // SAFETY: it is taken out again below, when this fiber goes on.
                let erased = unsafe {
                    std::mem::transmute::<*const (dyn Fn() -> bool + '_), IsSo>(std::ptr::from_ref(is_so))
                };
                let current = self.current_fiber().expect("a fiber runs here").cast();
                modelled.waiting.push(Waits { who: current, awaited, is_so: erased });
                current
            });
            // SAFETY: it is the parker of the running fiber.
            let _ = suspend(|| unsafe { parker.suspend(Suspend::Yielded) });
            if let Some(current) = waits {
                modelled.waiting.retain(|waits| waits.who != current);
            }
        }
    }
}
