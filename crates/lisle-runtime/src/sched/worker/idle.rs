//! A domain without work: it looks around, and sleeps. In `thief.rs` it takes work from others.
//!
//! The README of `sched` explains how a domain sleeps and is woken, and why no wake is lost.

use super::Worker;
use crate::abort;
use crate::event::tick;
use crate::report::Report;
use crate::sched::lookouts::HeldLookout;
use crate::sched::monitor;
use crate::shim::{atomic::Ordering, clock};
use std::time::Duration;

/// How many stacks a domain trims at most each time it goes to sleep.
const TRIM: usize = 16;
/// While a runtime drains, its domains check at least this often whether all fibers have ended.
const DRAIN_LOOK: Duration = Duration::from_millis(50);
/// The shortest time between two looks at the sockets of a busy domain, in nanoseconds.
const POLL_PAUSE: u64 = 20_000;

impl Worker {
    /// Visits everything that is not in a queue of this domain, although there is work.
    #[cold]
    pub(super) fn visit(&self) {
        self.visited.set(tick::now());
        self.look_at_process();
        self.hasten();
        if self.shared.is_stopping() {
            self.stop(false);
        }
        if self.is_asked() {
            self.answer();
        }
        self.tell_tally();
        self.look_after_stacks();
        self.joining.look_after_all();
        self.share();
        self.take_inbox();
        self.fire_timers();
        self.take_common();
        if !self.domain.reactor.is_empty() {
            let now = clock::now();
            if now.saturating_sub(self.idle.last_poll.get()) >= POLL_PAUSE {
                self.idle.last_poll.set(now);
                self.poll(Some(Duration::ZERO));
            }
        }
    }

    /// Looks whether the threads are there that this runtime needs.
    fn look_at_process(&self) {
        if self.shared.is_inherited() {
            abort::process(
                "a fiber has forked the process and goes on in the child, which has none of the other threads of its \
                 runtime: in the child, execute a program or end the process (`_exit`) before anything waits and before \
                 the fiber ends; or fork before a runtime starts",
            );
        }
        if self.shared.monitor.is_missing() {
            monitor::start_again(&self.shared);
        }
    }

    /// Finds something to run, or sleeps until there may be something.
    pub(super) fn idle(&self) {
        self.look_at_process();
        self.stealing.has_come_to_an_end(self.turn.get());
        if self.shared.is_stopping() {
            self.stop(!self.has_ready() && !self.take_common());
        }
        if self.is_asked() {
            self.answer();
        }
        self.take_inbox();
        self.fire_timers();
        self.look_after_stacks();
        self.joining.look_after_all();
        if self.has_ready() || self.take_common() {
            return;
        }
        if !self.domain.reactor.is_empty() {
            self.poll(Some(Duration::ZERO));
            if self.has_ready() {
                return;
            }
        }
        if self.take_job() {
            return self.run_taken();
        }
        self.domain.resting();
        self.tell_tally();
        let search = self.search();
        self.look_and_sleep();
        drop(search);
        self.run_taken();
    }

    fn look_and_sleep(&self) {
        if self.look() {
            return;
        }
        if self.stacks.borrow_mut().trim(TRIM) == TRIM {
            return; // There are more to trim; look around in between.
        }
        self.sleep();
    }

    /// Looks around for a while if another domain may produce work, or if looking has paid lately.
    /// Returns `true` if something was found.
    fn look(&self) -> bool {
        let others = self.shared.others_work();
        if !others && !self.idle.spin.is_long() {
            return false;
        }
        let mut place = None;
        if others && self.look_at_others(&mut place) {
            return true;
        }
        if self.shared.is_crowded() {
            return false; // It would take the processor from one that works.
        }
        let mut looks = 0;
        self.idle.spin.look(|| {
            looks += 1;
            self.glance(looks, others, &mut place)
        }) || (others && self.wait_for_overdue(&mut place))
    }

    /// Checks, for the `count`th time in a row, whether there is something to run: the inbox and the
    /// common queue every time, and dearer places only now and then. Looks at the queues of others
    /// if it has a place for that, or finds one.
    pub(super) fn glance<'a>(&'a self, count: u32, others: bool, place: &mut HeldLookout<'a>) -> bool {
        if self.domain.inbox.has_news() || self.take_common() {
            return true;
        }
        if count.is_multiple_of(8) && self.try_take_job() {
            return true;
        }
        if count.is_multiple_of(32) && others && self.look_at_others(place) {
            return true;
        }
        if count.is_multiple_of(256) {
            // Wakers of futures are the user's code.
            *place = None;
            self.fire_timers();
            if !self.domain.reactor.is_empty() {
                self.poll(Some(Duration::ZERO));
            }
            return self.has_ready();
        }
        false
    }

    /// Sleeps in the poller until woken, or until the next timer is due.
    fn sleep(&self) {
        if !self.domain.inbox.fall_asleep() {
            return;
        }
        self.shared.idle.fetch_add(1, Ordering::SeqCst);
        // A thread that spawns looks for sleepers after its spawn; this domain looks for work after
        // it can be seen to sleep. The same holds for a thread that requests a snapshot: either its
        // wake of the poller is still pending, or this domain sees the request here.
        if !self.take_common() && !self.take_job() && !self.shared.is_stopping() && !self.is_asked() {
            let next = self.next_deadline();
            let mut pause = next.map(|next| Duration::from_nanos(next.saturating_sub(clock::now())));
            if self.shared.is_draining() {
                // The last fiber may have ended elsewhere just before draining could be seen.
                pause = Some(pause.map_or(DRAIN_LOOK, |pause| pause.min(DRAIN_LOOK)));
            }
            self.domain.counts.timers.store(!self.timers.is_empty(), Ordering::Relaxed);
            let sleep = self.idle.sleeps.get() + 1;
            self.idle.sleeps.set(sleep);
            // Release: a thread that sees this sleep sees all earlier steps. `poll` ends the sleep.
            self.domain.counts.asleep.store(sleep, Ordering::Release);
            let asleep = clock::now();
            self.poll(pause);
            if !self.domain.inbox.is_asleep() {
                self.idle.spin.slept(clock::now().saturating_sub(asleep));
            }
        } else if self.shared.is_stopping() {
            self.poll(Some(Duration::from_millis(1)));
        }
        self.shared.idle.fetch_sub(1, Ordering::SeqCst);
        self.take_inbox();
        self.shared.monitor.wake();
    }

    /// Fires the timers that are due, of fibers and of tasks.
    fn fire_timers(&self) {
        self.timers.fire(&self.domain.counts.next_timer);
        let of_tasks = &self.domain.tasks_timers;
        if !of_tasks.is_empty() {
            self.timers.while_firing(|| of_tasks.fire(clock::now()));
        }
    }

    /// Returns when the domain has to look at its timers again.
    fn next_deadline(&self) -> Option<u64> {
        let of_tasks = &self.domain.tasks_timers;
        let of_tasks = (!of_tasks.is_empty()).then(|| of_tasks.next());
        self.timers.next_deadline().into_iter().chain(of_tasks).chain(self.starving.deadline()).min()
    }

    fn poll(&self, timeout: Option<Duration>) {
        // Threads that see a step from here on also see this store, since handing a fiber over is a
        // release.
        let awake = || self.domain.counts.asleep.store(0, Ordering::Release);
        let polled = self.driver.borrow_mut().wait_then(timeout, awake);
        if let Err(error) = polled {
            let report = || Report::System(format!("waiting for sockets failed: {error}"));
            self.shared.report_once(&self.shared.has_told_of_sockets, report);
        }
    }
}
