//! The queues of a domain: the choice of the next fiber or task, and the places of ready ones.

use super::Worker;
use super::either::{Either, either};
use super::held::queues::{HASTE, STREAK, VISIT};
use super::held::stealing::SHARE;
use crate::event::parker::{self, ParkState};
use crate::event::tick;
use crate::sched::groups::is_sampled;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::kin::Mark;
use crate::spawned::runnable::Runnable;
use std::ptr::NonNull;

impl Worker {
    /// Takes the next fiber or task to run.
    #[inline]
    pub(super) fn pick(&self) -> Option<NonNull<Runnable>> {
        if self.begun.is_interrupting()
            && let Some(fiber) = self.begun.next_interrupted()
        {
            return Some(fiber.cast());
        }
        // At regular turns others have a chance, also if more and more become due.
        if self.queues.due.get() > 0 && !self.turn.get().is_multiple_of(VISIT) {
            if !self.queues.timed.is_empty() && self.queues.is_timers_turn.replace(false) {
                return self.queues.timed.pop();
            }
            if let Some(woken) = self.queues.take_woken() {
                self.queues.is_timers_turn.set(true);
                return Some(woken);
            }
        }
        if self.queues.hasty.get() > 0 {
            self.queues.hasty.set(self.queues.hasty.get() - 1);
            if let Some(oldest) = self.domain.stealable.take_oldest() {
                return Some(oldest);
            }
        }
        if !self.queues.timed.is_empty() && self.queues.streak.get() < STREAK {
            self.queues.streak.set(self.queues.streak.get() + 1);
            return self.queues.timed.pop();
        }
        if let Some(next) = self.queues.next.take() {
            if self.queues.streak.get() < STREAK {
                self.queues.streak.set(self.queues.streak.get() + 1);
                return Some(next);
            }
            self.postpone(next);
        } else if self.queues.streak.get() < STREAK
            && let Some(youngest) = self.domain.stealable.take_youngest()
        {
            self.queues.streak.set(self.queues.streak.get() + 1);
            return Some(youngest);
        }
        self.queues.streak.set(0);
        // Not by the parity of the turn: the turns of the slots may fall on every other one.
        let first = self.queues.turn.get();
        self.queues.turn.set((first + 1) % 3);
        (first..first + 3).find_map(|queue| match queue % 3 {
            0 => self.queues.ready.pop(),
            1 => self.take_unbegun(),
            _ => self.queues.take_woken(),
        })
    }

    /// If another domain looks for work, lets fibers that have not begun begin here soon. A fiber
    /// that talks to others of this domain then waits for them before it is overdue and a thief takes
    /// it. A fiber that takes long lets the thief have the rest.
    pub(super) fn hasten(&self) {
        // After a long turn others come first.
        let is_now = self.turn.get().is_multiple_of(VISIT) && self.shared.looking() > 0;
        let waiting = self.domain.stealable.len().min(HASTE);
        self.queues.hasty.set(if is_now { waiting } else { 0 });
    }

    /// Takes a fiber that has not begun: usually the one that has waited longest. If there is surplus,
    /// that is, more than the rings hold, takes the youngest of it: the fibers that it spawns then end
    /// before others begin to spawn. This limits the live fibers to the ring's fibers and their
    /// descendants. Even then, the fiber that has waited longest begins every 10 ms. Where few are in
    /// the ring, most of the surplus belongs to others, and the ring has three of four turns: it may
    /// also hold fibers from outside, and ready tasks.
    #[inline]
    fn take_unbegun(&self) -> Option<NonNull<Runnable>> {
        let oldest = || self.domain.stealable.take_oldest();
        if !self.has_surplus() {
            return oldest();
        }
        let oldest_first = if self.domain.stealable.len() <= SHARE {
            let turns = self.queues.turns_of_few.get().wrapping_add(1);
            self.queues.turns_of_few.set(turns);
            !turns.is_multiple_of(4)
        } else {
            let now = tick::now();
            self.queues.oldest_began.replace(now) != now
        };
        if oldest_first && let Some(oldest) = oldest() {
            return Some(oldest);
        }
        self.take_surplus().or_else(oldest)
    }

    pub(super) fn has_ready(&self) -> bool {
        self.queues.others_are_ready()
            || self.queues.next.get().is_some()
            || self.domain.stealable.len() > 0
            || self.domain.counts.surplus.get() > 0
            || self.begun.has_disturbed()
    }

    /// Queues a fiber that has not begun.
    #[inline]
    pub(crate) fn spawn(&self, fiber: NonNull<Fiber>, domain: Option<usize>) {
        // SAFETY: a fiber that is spawned is alive.
        #[cfg(feature = "model")]
        self.has_spawned(fiber.cast(), unsafe { fiber.as_ref() }.site());
        self.domain.counts.spawned.add(1);
        self.domain.counts.tally.fibers.add(1);
        match domain {
            None => match self.domain.stealable.push(fiber.cast()) {
                Ok(()) => self.share_work(),
                Err(older) => self.keep_surplus(older),
            },
            Some(index) if index == self.domain.index => {
                // SAFETY: a new fiber is in no list, and stays until it runs.
                unsafe { self.queues.push(fiber.cast()) };
                self.domain.counts.one_is_ready();
            }
            Some(index) => self.shared.domain(index).hand_over(fiber),
        }
    }

    /// Queues a fiber that has not begun for the first domain that has nothing to do.
    pub(crate) fn spawn_for_the_first(&self, fiber: NonNull<Fiber>) {
        #[cfg(feature = "model")]
        if self.is_modelled() {
            return self.spawn(fiber, None);
        }
        self.domain.counts.spawned.add(1);
        self.domain.counts.tally.fibers.add(1);
        self.shared.push_common(fiber.cast());
    }

    /// Queues a fiber that code of this domain has woken. It runs next if a fiber woke it.
    #[inline]
    pub(super) fn wake(&self, fiber: NonNull<Fiber>) {
        if is_sampled(self.turn.get()) {
            self.sample(fiber);
        }
        self.make_ready(fiber);
    }

    /// Queues a fiber that has been woken.
    #[inline]
    fn make_ready(&self, fiber: NonNull<Fiber>) {
        // SAFETY: a fiber that is to be woken is alive.
        let this = unsafe { fiber.as_ref() };
        #[cfg(feature = "model")]
        self.has_woken(fiber.cast());
        this.parker.woken.set(true);
        if !this.parker.is_parked() {
            return;
        }
        this.parker.state.set(ParkState::Queued);
        self.put_next(fiber.cast());
    }

    /// Makes a fiber that is woken here note its waker.
    #[cold]
    fn sample(&self, woken: NonNull<Fiber>) {
        let mark = |fiber: NonNull<Fiber>| Mark::of(fiber.addr().get());
        if parker::running().is_some()
            && let Some(waker) = self.current_fiber()
        {
            // SAFETY: a fiber that is to be woken is alive.
            let kin = unsafe { &woken.as_ref().kin };
            // SAFETY: a fiber that runs is alive.
            kin.was_woken_by(mark(woken), mark(waker), unsafe { &waker.as_ref().kin });
        }
    }

    /// Queues a woken fiber or task. It runs next if a fiber runs now: that fiber has woken it. A
    /// visit in the middle of a turn counts as between turns.
    #[inline(always)]
    pub(crate) fn put_next(&self, woken: NonNull<Runnable>) {
        // SAFETY: an entry to queue is alive.
        #[cfg(feature = "model")]
        if let Either::Task(task) = unsafe { either(woken) } {
            self.has_woken(task.cast());
        }
        if parker::running().is_some() {
            self.domain.counts.one_is_ready();
            if let Some(later) = self.queues.next.replace(Some(woken)) {
                self.postpone(later);
            }
        } else if self.timers.are_firing() && !self.is_for_thieves(woken) {
            // SAFETY: it was parked, so it is in no list, and stays until it runs.
            unsafe { self.queues.timed.push(woken) };
        } else {
            self.postpone(woken);
        }
    }

    /// Returns `true` if this is a task that a timer has woken, one of several, and there is a domain
    /// that could run it.
    fn is_for_thieves(&self, woken: NonNull<Runnable>) -> bool {
        !self.queues.timed.is_empty()
            && self.shared.takers() > 0
            // SAFETY: an entry to queue is alive.
            && matches!(unsafe { either(woken) }, Either::Task(_))
    }

    /// Queues an entry that is in no list, to go on after the others. A task goes to a place for
    /// thieves if a sleeping domain could steal and run it, and if that place is empty.
    #[inline]
    pub(crate) fn postpone(&self, later: NonNull<Runnable>) {
        // SAFETY: an entry to queue is alive.
        match unsafe { either(later) } {
            // SAFETY: it is in no list, and stays until it runs.
            Either::Fiber(_) => unsafe { self.queues.push(later) },
            Either::Task(_) => {
                let thieves = self.shared.takers() > 0;
                if thieves && self.domain.stealable.len() == 0 && self.domain.stealable.append(later, true) {
                    self.share_work();
                } else {
                    self.queues.backlog.set(self.queues.backlog.get() + 1);
                    // SAFETY: as above.
                    unsafe { self.queues.woken.push(later) };
                }
            }
        }
    }

    /// Lets thieves have the surplus and some of the ready tasks, if there are thieves.
    pub(super) fn share(&self) {
        if self.shared.could_wake_one() {
            self.offer_surplus();
        }
        if self.queues.woken.is_empty() || self.shared.takers() == 0 {
            return;
        }
        while self.domain.stealable.len() < SHARE
            && let Some(woken) = self.queues.take_woken()
        {
            self.adopt(woken);
        }
        self.share_now();
    }

    /// Takes the fibers and tasks that other threads have handed over.
    pub(super) fn take_inbox(&self) {
        if !self.domain.inbox.has_news() {
            return;
        }
        self.domain.inbox.take_all(|handed_over| {
            let fiber = handed_over.cast::<Fiber>();
            // SAFETY: a handed-over entry is a fiber, and it is alive.
            let this = unsafe { fiber.as_ref() };
            if this.parker.state.get() == ParkState::New {
                // SAFETY: it has just left the inbox, and stays until it runs.
                unsafe { self.queues.push(handed_over) };
            } else {
                if is_sampled(self.turn.get()) {
                    this.kin.was_woken_from_elsewhere();
                }
                self.make_ready(fiber);
            }
        });
    }
}
