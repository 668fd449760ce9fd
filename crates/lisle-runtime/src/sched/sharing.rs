//! How a worker takes part in loops: what it gives away of its own, and what it takes.
//!
//! A fiber that computes looks at its domain's word (`jobs/heartbeat.rs`) wherever it puts
//! something off. It comes here if the word says that another domain looks for work, or that it is
//! time to look at the clock. So this is also where a long loop lets others have their turn: the
//! sockets, timers and fibers of its domain.

use super::joining::{Load, Taken};
use super::shared::Shared;
use super::within;
use crate::event::parker;
use crate::jobs::heartbeat::{self, Beat};
use crate::jobs::job::Job;
use crate::jobs::offers::Offers;
use crate::jobs::pending::{Inside, Pending};
use crate::sched::worker::Worker;
use crate::shim::{atomic::Ordering, ticks};
use crate::spawned::this_stack::this_stack;
use std::ptr::NonNull;

/// The time between two heartbeats: for this long, what is put off is left to its domain if those
/// that could take it sleep. It is about the cost of waking a domain.
pub const PERIOD: u64 = 50 * ticks::A_MICROSECOND;

impl Worker {
    /// Checks whether others want work or a turn, on behalf of the code that runs on this stack.
    #[cold]
    pub(crate) fn heartbeat(&self, pending: &Pending) {
        pending.looked();
        if parker::running().is_none() {
            // What runs between fibers cannot wait for what it gives away.
            return;
        }
        let now = ticks::now();
        let is_due = self.is_due(now);
        let word = &self.domain.heartbeat;
        if word.is_wanted() {
            word.heard();
            let wanted = self.shared.looking() + self.domain.offers.returning();
            (0..wanted).take_while(|_| self.offer(pending)).for_each(drop);
        }
        if is_due {
            self.last_beat.set(now);
            // This does not use the back-off of spawns: one wake each period is little enough.
            let could_wake = self.shared.could_wake_one();
            // A domain that looks for work has said so once, and may have got nothing.
            let is_missed = self.domain.offers.len() == 0 && self.shared.looking() > 0;
            let has_more = (could_wake || is_missed) && self.offer(pending);
            if could_wake && (has_more || self.domain.offers.len() > 0) {
                self.shared.wake_for_loop(self.domain.index);
            }
            self.attend(pending);
        }
    }

    /// Offers up to `count` of what is pending on this stack, if there is room, and wakes a domain
    /// for it.
    pub(crate) fn give_away(&self, pending: &Pending, count: usize) {
        if parker::running().is_none() {
            return;
        }
        let given = (0..count).take_while(|_| self.offer(pending)).count();
        if given > 0 && self.shared.could_wake_one() {
            self.shared.wake_for_loop(self.domain.index);
        }
    }

    /// Offers the oldest of what is pending. Returns `false` if nothing is pending or there is no
    /// room.
    fn offer(&self, pending: &Pending) -> bool {
        // SAFETY: what is pending stays in place until it has been taken back or is done.
        unsafe { self.domain.offers.offer(|| pending.offer()) }
    }

    /// Lets others have their turn, if there are any. If there are none and none can come, quietens
    /// the heartbeat.
    fn attend(&self, pending: &Pending) {
        if self.give_way() {
            return;
        }
        // This counts as a new turn: nothing has waited for longer.
        let turn = self.turn.get().wrapping_add(1);
        self.turn.set(turn);
        self.domain.counts.begin_turn(turn, self.others_are_ready());
        if self.is_alone() && !self.is_of_use() {
            let word = &self.domain.heartbeat;
            word.quieten();
            if self.is_of_use() || !self.is_alone() {
                word.want();
            } else if pending.inside.get() == Inside::One(0) {
                word.turn_off();
            }
        }
    }

    /// Returns `true` if another domain could take what is put off here.
    fn is_of_use(&self) -> bool {
        self.shared.looking() > 0 || self.shared.could_wake_one()
    }

    /// Returns `true` if only the domain's own code can make a fiber of it ready.
    fn is_alone(&self) -> bool {
        self.domain.reactor.is_empty() && self.wheel.borrow().is_empty() && !self.domain.inbox.has_news()
    }

    /// Notes that the worker has found something to do. It has been counted as searching from the
    /// start until its first look: what is divided before it arrives is divided for it, too.
    #[inline]
    pub fn arrive(&self) {
        if self.is_starting.take() {
            drop(Searching(self));
        }
    }

    /// Starts searching, until the result is dropped. Tells all other domains that what they put
    /// off is wanted.
    pub fn search(&self) -> Searching<'_> {
        if !self.is_starting.take() {
            self.shared.searching.fetch_add(1, Ordering::SeqCst);
        }
        for domain in self.shared.domains.iter().filter(|domain| domain.index != self.domain.index) {
            domain.heartbeat.want();
        }
        heartbeat::OUTSIDE.want();
        Searching(self)
    }

    /// Takes a job that a domain offers. If fibers wait here for parts of their work, takes only
    /// what belongs to the part that was waited for last: other code might want a lock that one of
    /// these fibers holds and could not release, since this is its domain. Returns `false` if there
    /// is no such job.
    pub fn take_job(&self) -> bool {
        let domains = &self.shared.domains;
        // SAFETY: it stays until it is taken out of the list.
        let waited_for = unsafe { self.joining.get().as_ref() }.map(|joining| joining.descendants);
        // SAFETY: `take` calls this with what is offered.
        let may = |job: &Job| waited_for.is_none_or(|waited_for| unsafe { job.is_part_of(waited_for) });
        let start = self.random.next() as usize;
        for offset in 0..domains.len() {
            let victim = &domains[start.wrapping_add(offset) % domains.len()];
            if victim.offers.len() > 0
                && let Some(job) = victim.offers.take(may)
            {
                victim.stolen.fetch_add(1, Ordering::Relaxed);
                self.take(job, &victim.offers, &victim.heartbeat);
                return true;
            }
        }
        let outside = &self.shared.offers;
        if outside.len() > 0
            && let Some(job) = outside.take(may)
        {
            self.take(job, outside, &heartbeat::OUTSIDE);
            return true;
        }
        false
    }

    /// Notes that `job`, which was taken out of `offers`, runs next. If there may be more of its
    /// kind, asks for another to be offered by the time it is done: its owner may then be in the
    /// middle of one, and such code need not look at the word.
    fn take(&self, job: NonNull<Job>, offers: &Offers, heartbeat: &Beat) {
        // SAFETY: taken, and not done.
        if unsafe { job.as_ref() }.has_siblings() {
            offers.will_return();
            heartbeat.want();
        }
        self.taken.set(Some(self.expect_helper(job)));
    }

    /// Runs what was taken, if anything was.
    pub fn run_taken(&self) {
        if let Some(taken) = self.taken.take() {
            if self.shared.could_wake_one() {
                // Domains that still sleep are to be woken at once by those that have work for
                // them.
                self.hurry();
                self.domain.heartbeat.want();
                if self.shared.has_offers() {
                    self.shared.wake_for_loop(self.domain.index);
                }
            }
            self.run_on_runner(Load::Job(taken), self.turn.get());
        }
    }

    /// Runs what was taken, on the stack of the runner that calls this.
    ///
    /// # Safety
    ///
    /// It was taken by this worker, and is not used afterwards.
    pub unsafe fn run_job(&self, taken: Taken) {
        // SAFETY: taken, and not done.
        self.domain.running_code_of(unsafe { taken.job.as_ref() }.site);
        let pending = &this_stack().pending;
        pending.job.set(taken.job.as_ptr());
        let within = within::enter(pending);
        // SAFETY: passed on to the caller.
        unsafe { self.run_as_helper(taken) };
        drop(within);
        pending.job.set(std::ptr::null());
    }

    /// Makes the next heartbeat due at once.
    pub(crate) fn hurry(&self) {
        self.last_beat.set(0);
    }

    /// Returns `true` if it is time to look at what others want.
    #[inline]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        now.wrapping_sub(self.last_beat.get()) >= PERIOD
    }
}

impl Shared {
    /// Returns how many domains can work at the same time.
    pub fn most_at_once(&self) -> usize {
        self.domains.len().min(self.processors)
    }

    /// Wakes the monitor, which looks at what a thread that is no worker puts off.
    #[inline]
    pub(crate) fn wake_monitor(&self) {
        self.monitor.wake();
    }

    /// Returns `true` if a domain sleeps for which there would be a processor.
    pub(crate) fn could_wake_one(&self) -> bool {
        let asleep = self.idle.load(Ordering::SeqCst);
        asleep > 0 && self.domains.len() - asleep.min(self.domains.len()) < self.processors
    }

    /// Returns how many domains look for work and do not sleep.
    pub(crate) fn looking(&self) -> usize {
        let searching = self.searching.load(Ordering::SeqCst);
        searching.saturating_sub(self.idle.load(Ordering::SeqCst))
    }

    /// Returns how many domains could take something now, or once they have been woken.
    pub fn takers(&self) -> usize {
        let asleep = self.idle.load(Ordering::SeqCst).min(self.domains.len());
        let awake = self.domains.len() - asleep;
        self.looking() + asleep.min(self.processors.saturating_sub(awake))
    }

    /// Returns `true` if anything is offered.
    pub(super) fn has_offers(&self) -> bool {
        self.offers.len() > 0 || self.domains.iter().any(|domain| domain.offers.len() > 0)
    }

    /// Wakes a sleeping domain for a part of a loop. Tries `except` last, and prefers a domain that
    /// may take any part.
    pub(crate) fn wake_for_loop(&self, except: usize) {
        let count = self.domains.len();
        for may_take_any in [true, false] {
            for offset in 1..=count {
                let domain = &self.domains[(except + offset) % count];
                if domain.is_joining.load(Ordering::Relaxed) != may_take_any && domain.inbox.rouse() {
                    return domain.reactor.wake();
                }
            }
        }
    }
}

/// A guard that counts a domain as searching until it is dropped.
pub struct Searching<'a>(&'a Worker);

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        self.0.shared.searching.fetch_sub(1, Ordering::SeqCst);
    }
}
