//! The part of a domain in loops: it gives work of its own away, and takes work of others.
//!
//! A fiber that computes looks at its domain's word (`jobs/heartbeat.rs`) wherever it puts
//! something off. It comes here if another domain looks for work, or if it is time to look at the
//! clock. So here a long loop also lets the sockets, timers and fibers of its domain have their
//! turn.

use super::Worker;
use super::held::resting::Load;
use crate::event::parker;
use crate::jobs::heartbeat::{self, Beat};
use crate::jobs::job::Job;
use crate::jobs::offers::Offers;
use crate::jobs::pending::{Inside, Pending};
use crate::shim::{atomic::Ordering, ticks};
use std::ptr::NonNull;

impl Worker {
    /// Checks whether others want work or a turn, on behalf of the code that runs on this stack.
    #[cold]
    pub(crate) fn heartbeat(&self, pending: &Pending) {
        if parker::running().is_none() {
            // Code between fibers cannot wait for a job that it gives away.
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
            self.jobs.last_beat.set(now);
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

    /// Offers up to `count` pending entries of this stack, if there is room, and wakes a domain for
    /// them.
    pub(crate) fn give_away(&self, pending: &Pending, count: usize) {
        let given = (0..count).take_while(|_| self.offer_one(pending)).count();
        if given > 0 && self.shared.could_wake_one() {
            self.shared.wake_for_loop(self.domain.index);
        }
    }

    /// Offers the oldest pending entry. Returns `false` between fibers, where code cannot wait for
    /// a job that it gives away.
    pub(crate) fn offer_one(&self, pending: &Pending) -> bool {
        parker::running().is_some() && self.offer(pending)
    }

    /// Offers the oldest pending entry. Returns `false` if nothing is pending or there is no room.
    fn offer(&self, pending: &Pending) -> bool {
        // SAFETY: a pending entry stays in place until it has been taken back or is done.
        unsafe { self.domain.offers.offer(|| pending.offer()) }
    }

    /// Lets others have their turn, if there are any. If there are none and none can come, quietens
    /// the heartbeat.
    fn attend(&self, pending: &Pending) {
        if self.give_way() {
            return;
        }
        // This counts as a new turn: nothing has waited for longer.
        self.begin_turn();
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

    /// Returns `true` if another domain could take work that is put off here.
    fn is_of_use(&self) -> bool {
        self.shared.looking() > 0 || self.shared.could_wake_one()
    }

    /// Returns `true` if only the domain's own code can make a fiber of it ready.
    fn is_alone(&self) -> bool {
        self.domain.reactor.is_empty()
            && self.timers.is_empty()
            && self.domain.tasks_timers.is_empty()
            && !self.domain.inbox.has_news()
    }

    /// Notes that the domain has found something to do. It has counted as searching from the start
    /// until its first look, so loops that divide themselves before it arrives do so for it, too.
    #[inline]
    pub(super) fn arrive(&self) {
        if !self.jobs.has_arrived.replace(true) {
            drop(Searching(self));
        }
    }

    /// Starts searching, until the result is dropped. Tells all other domains that their pending
    /// work is wanted.
    pub(super) fn search(&self) -> Searching<'_> {
        if self.jobs.has_arrived.replace(true) {
            self.shared.searching.fetch_add(1, Ordering::SeqCst);
        }
        for domain in self.shared.domains.iter().filter(|domain| domain.index != self.domain.index) {
            domain.heartbeat.want();
        }
        heartbeat::OUTSIDE.want();
        Searching(self)
    }

    /// Takes a job that a domain offers. If fibers wait here for parts of their work, takes only
    /// jobs that belong to the last awaited part: other code might want a lock that one of these
    /// fibers holds and could not release, since this is its domain. Returns `false` if there is no
    /// such job.
    pub(super) fn take_job(&self) -> bool {
        self.take_job_by(|offers, may| offers.take(may))
    }

    /// Does the same for a domain that looks again soon. It may miss a job where others look.
    pub(super) fn try_take_job(&self) -> bool {
        self.take_job_by(|offers, may| offers.try_take(may))
    }

    fn take_job_by(&self, take: impl Fn(&Offers, &dyn Fn(&Job) -> bool) -> Option<NonNull<Job>>) -> bool {
        let domains = &self.shared.domains;
        let waited_for = self.joining.descendants();
        // SAFETY: `take` calls this with an offered job.
        let may = |job: &Job| waited_for.is_none_or(|waited_for| unsafe { job.is_part_of(waited_for) });
        let start = self.random.next() as usize;
        for offset in 0..domains.len() {
            let victim = &domains[start.wrapping_add(offset) % domains.len()];
            if victim.offers.len() > 0
                && let Some(job) = take(&victim.offers, &may)
            {
                victim.stolen.fetch_add(1, Ordering::Relaxed);
                self.take(job, &victim.offers, &victim.heartbeat);
                return true;
            }
        }
        let outside = &self.shared.offers;
        if outside.len() > 0
            && let Some(job) = take(outside, &may)
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
        self.jobs.taken.set(Some(self.joining.expect_helper(job)));
    }

    /// Runs the taken job, if there is one.
    pub(super) fn run_taken(&self) {
        if let Some(taken) = self.jobs.taken.take() {
            if self.shared.could_wake_one() {
                // Domains with work for others should wake sleeping domains at once.
                self.hurry();
                self.domain.heartbeat.want();
                if self.shared.has_offers() {
                    self.shared.wake_for_loop(self.domain.index);
                }
            }
            self.run_on_runner(Load::Job(taken), self.turn.get());
        }
    }

    /// Makes the next heartbeat due at once.
    pub(crate) fn hurry(&self) {
        self.jobs.last_beat.hurry();
    }

    /// Returns `true` if it is time to look at the needs of others.
    #[inline]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.jobs.last_beat.is_past(now)
    }
}

/// A guard that counts a domain as searching until it is dropped.
pub(super) struct Searching<'a>(&'a Worker);

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        self.0.shared.searching.fetch_sub(1, Ordering::SeqCst);
    }
}
