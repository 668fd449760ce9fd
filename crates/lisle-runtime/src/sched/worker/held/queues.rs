//! The queues of a domain: its ready fibers and tasks.

use crate::queue::fifo::Fifo;
use crate::sched::worker::either::{Either, either};
use crate::spawned::runnable::Runnable;
use crate::spawned::task_cell::Task;
use std::cell::Cell;
use std::ptr::NonNull;

/// The number of short turns between two visits of a busy domain to its inbox, timers and sockets.
pub(in crate::sched::worker) const VISIT: u32 = 32;

/// If at least this many tasks are ready when a fiber's turn ends, as many as it has added go before
/// the next fiber. One fiber can unblock many tasks in a turn, and the next fiber as many again: the
/// tasks would pile up.
pub(in crate::sched::worker) const BACKLOG: u32 = 32;
/// How many in a row may be due, come from the run-next slot or be the youngest while others wait.
pub(in crate::sched::worker) const STREAK: u32 = 16;
/// How many that have not begun begin before others after a visit, while a domain looks for work.
/// That leaves half of the turns until the next visit to the others.
pub(in crate::sched::worker) const HASTE: u64 = VISIT as u64 / 2;

/// The ready fibers and tasks of a domain.
#[derive(Default)]
pub(in crate::sched::worker) struct Queues {
    /// The run-next slot: the fiber or task that the running code has woken last.
    pub(in crate::sched::worker) next: Cell<Option<NonNull<Runnable>>>,
    /// How many in a row have gone before the queues that take turns.
    pub(in crate::sched::worker) streak: Cell<u32>,
    /// Which of the three queues of `pick` has the next turn.
    pub(in crate::sched::worker) turn: Cell<u8>,
    pub(in crate::sched::worker) ready: Fifo<Runnable>,
    /// Entries that timers have woken. They go before fibers that have not begun, which may take
    /// long.
    pub(in crate::sched::worker) timed: Fifo<Runnable>,
    /// Ready tasks, except tasks in the ring, where thieves may take them; their number; and the
    /// number of them that run before the next fiber does.
    pub(in crate::sched::worker) woken: Fifo<Runnable>,
    pub(in crate::sched::worker) backlog: Cell<u32>,
    pub(in crate::sched::worker) due: Cell<u32>,
    /// Whether one that a timer has woken goes before the next task that is due: every other one
    /// does.
    pub(in crate::sched::worker) is_timers_turn: Cell<bool>,
    /// The number of entries of the ring that go before all others.
    pub(in crate::sched::worker) hasty: Cell<u64>,
    /// The tick (see `tick.rs`) at which the oldest fiber that has not begun last had its turn
    /// before younger ones.
    pub(in crate::sched::worker) oldest_began: Cell<u32>,
    /// Counts the turns of the ring while few lie in it.
    pub(in crate::sched::worker) turns_of_few: Cell<u32>,
}

impl Queues {
    /// Takes a task that may run right after another, on the same stack. Returns `None` if a fiber
    /// is to run next, or if too many in a row have gone before others.
    #[inline]
    pub(in crate::sched::worker) fn pick_task(&self) -> Option<NonNull<Task>> {
        if self.streak.get() >= STREAK {
            return None;
        }
        match self.next.get() {
            Some(next) if self.due.get() == 0 => {
                // SAFETY: a queued entry is alive, and the domain that takes it runs it.
                let Either::Task(task) = (unsafe { either(next) }) else { return None };
                self.next.set(None);
                self.streak.set(self.streak.get() + 1);
                Some(task)
            }
            // Where nothing runs next there may be many: code that goes on may unblock one after
            // the other. They must not pile up.
            _ => {
                if !self.ready.is_empty() && self.due.get() == 0 {
                    self.streak.set(self.streak.get() + 1);
                }
                self.take_woken().map(NonNull::cast)
            }
        }
    }

    /// Takes anything, in no particular order.
    pub(in crate::sched::worker) fn take_any(&self) -> Option<NonNull<Runnable>> {
        let queued = || self.timed.pop().or_else(|| self.ready.pop()).or_else(|| self.take_woken());
        self.next.take().or_else(queued)
    }

    /// Takes everything, in the order of [`take_any`](Queues::take_any).
    #[cfg(feature = "model")]
    #[inline(always)]
    pub(in crate::sched::worker) fn take_all(&self, mut each: impl FnMut(NonNull<Runnable>)) {
        self.next.take().into_iter().for_each(&mut each);
        for queue in [&self.timed, &self.ready] {
            while let Some(next) = queue.pop() {
                each(next);
            }
        }
        while let Some(next) = self.take_woken() {
            each(next);
        }
    }

    /// Takes the next of the ready tasks.
    #[inline]
    pub(in crate::sched::worker) fn take_woken(&self) -> Option<NonNull<Runnable>> {
        let woken = self.woken.pop()?;
        self.backlog.set(self.backlog.get() - 1);
        self.due.set(self.due.get().saturating_sub(1));
        Some(woken)
    }

    /// Queues a fiber, or a task that has its turn like one.
    ///
    /// # Safety
    ///
    /// It is in no list, and stays until it is taken.
    #[inline]
    pub(in crate::sched::worker) unsafe fn push(&self, ready: NonNull<Runnable>) {
        // SAFETY: passed on to the caller.
        unsafe { self.ready.push(ready) };
    }

    /// Returns the number of ready tasks, except tasks in the ring.
    #[inline]
    pub(in crate::sched::worker) fn backlog(&self) -> u32 {
        self.backlog.get()
    }

    /// Ends the turn of a fiber, before which there were `before` ready tasks: if there are too many,
    /// makes as many as it has added go before the next fiber.
    #[inline]
    pub(in crate::sched::worker) fn look_at_backlog(&self, before: u32) {
        let backlog = self.backlog.get();
        if backlog >= BACKLOG && backlog > before {
            self.due.set(self.due.get() + (backlog - before));
        }
    }

    /// Returns `true` if anything is ready besides the run-next slot.
    #[inline]
    pub(in crate::sched::worker) fn others_are_ready(&self) -> bool {
        !self.ready.is_empty() || !self.timed.is_empty() || !self.woken.is_empty()
    }
}
