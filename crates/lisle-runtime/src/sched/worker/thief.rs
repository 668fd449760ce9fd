//! Moves fibers that have not begun, and ready tasks, between domains: an idle domain steals, any
//! domain takes from the common queue, and domains wake each other.
//!
//! A thief does not take every fiber that it sees, but only fibers to which the other domain does
//! not get. A fiber that has begun stays on its domain for good, and most spawned fibers exchange
//! messages at once with the fiber that spawned them. If they were stolen, each message between the
//! two would cross domains, which costs several times as much as staying. So a thief notes the
//! waiting fibers, and takes a share only if some of them have not begun [`OVERDUE`] later: then
//! there is more work than one domain can do. Fibers that compute are spread within that time;
//! pairs, chains and short-lived fibers stay together.
//!
//! It takes ready tasks at once if several lie there. A task goes on where it is woken, so the partners of a
//! task follow it after a message: of many pairs half are soon on each domain, and no message crosses any
//! more. But if all tasks talk to one task, they follow it back at once, and each has crossed for nothing.
//! The thief finds out which case it is. Before it has nothing to run again, each task that it took should
//! give it [`TURNS`](super::held::stealing::TURNS) turns, or work for
//! [`WORTH`](super::held::stealing::WORTH). Otherwise the thief leaves tasks alone for a while, and for twice
//! as long the next time.
//!
//! `lookouts.rs` decides which domains may look at the rings of others. A thief takes neighbours, in
//! one step: fibers that talk to each other are mostly spawned in a row. It takes an even number of
//! them, if there are several: most often they are pairs.

use super::Worker;
use super::either::{Either, either};
use super::held::stealing::{LONGEST_PAUSE, LOOK, SHARE, Trial};
use crate::queue::fifo::Fifo;
use crate::sched::lookouts::{HeldLookout, Lookout, Sighting};
use crate::shim::{atomic::Ordering, clock, hint};
use crate::spawned::runnable::Runnable;
use std::cell::Cell;
use std::ptr::NonNull;

/// For how long fibers are left to the domain that they were spawned on, in nanoseconds. This is
/// about twice the cost of waking a domain, and the time to begin a hundred fibers on new stacks.
const OVERDUE: u64 = 100_000;
/// The same if more domains are awake than there are processors. Then a domain may have been
/// suspended by the system, and gets to its fibers when it goes on.
const OVERDUE_IN_A_CROWD: u64 = 20_000_000;
impl Worker {
    /// If it has a place for looking at others, or finds one, steals tasks or a share of overdue
    /// fibers. Returns `false` if there is nothing to steal.
    pub(super) fn look_at_others<'a>(&'a self, place: &mut HeldLookout<'a>) -> bool {
        if place.is_none() {
            *place = self.shared.lookouts.man();
        }
        let Some(lookout) = place.as_deref() else { return false };
        (!self.shared.is_crowded() && self.steal_tasks()) || self.steal_overdue(lookout)
    }

    /// Steals a share of overdue fibers. Returns `false` if there are none; then notes the waiting
    /// ones.
    fn steal_overdue(&self, lookout: &Lookout) -> bool {
        let domains = &self.shared.domains;
        if let Some(seen) = lookout.take()
            && seen.victim != self.domain.index
            && domains[seen.victim].stealable.still_waits(seen.sight)
        {
            let overdue = if self.shared.is_crowded() { OVERDUE_IN_A_CROWD } else { OVERDUE };
            // They stay in sight: the remaining ones are overdue as well.
            lookout.set(Some(seen));
            return clock::now().saturating_sub(seen.since) >= overdue
                && self.steal_from(seen.victim, false) > 0;
        }
        // The noted fibers have begun. The next look starts at a random domain: otherwise one that
        // begins everything in time would hide the others.
        let start = self.random.next() as usize;
        for offset in 0..domains.len() {
            let victim = start.wrapping_add(offset) % domains.len();
            if victim == self.domain.index {
                continue;
            }
            if let Some(sight) = domains[victim].stealable.sight() {
                lookout.set(Some(Sighting { victim, sight, since: clock::now() }));
                break;
            }
            // It has had no room in a ring that is empty by now.
            if self.shared.offer_surplus_of(&domains[victim]) {
                return self.take_common();
            }
        }
        false
    }

    /// Steals a share of the ready tasks of a domain where several lie. Returns `false` if none has
    /// several, or if that has not been worth it lately.
    fn steal_tasks(&self) -> bool {
        let domains = &self.shared.domains;
        let start = self.random.next() as usize;
        let mut others = (0..domains.len()).map(|offset| start.wrapping_add(offset) % domains.len());
        let Some(victim) =
            others.find(|&index| index != self.domain.index && domains[index].stealable.has_free())
        else {
            return false;
        };
        let trial = self.stealing.trial.get();
        let now = clock::now();
        if now < trial.next {
            return false;
        }
        let taken = self.steal_from(victim, true);
        self.stealing.trial.set(Trial { taken, since: now, turn: self.turn.get(), ..trial });
        taken > 0
    }

    /// Goes on looking while something is seen to wait, until it has begun or is overdue. After a while
    /// it waits for nothing else: where each fiber begins in time there is nothing to steal. Returns
    /// `true` if something was found.
    pub(super) fn wait_for_overdue<'a>(&'a self, place: &mut HeldLookout<'a>) -> bool {
        let start = clock::now();
        let mut count = 0;
        let mut last = None;
        while !self.shared.is_crowded()
            && let Some(seen) = place.as_deref().and_then(Cell::get)
        {
            let waited = clock::now().saturating_sub(start);
            if waited >= 4 * OVERDUE
                || (waited >= 2 * OVERDUE && *last.get_or_insert(seen.since) != seen.since)
            {
                break;
            }
            (0..16).for_each(|_| hint::spin_loop());
            // Sockets and timers, for which the place is given up, are looked at by turns.
            count += 32;
            if self.glance(count, true, place) || (place.is_none() && self.look_at_others(place)) {
                return true;
            }
        }
        false
    }

    /// Steals a share of a domain's waiting entries, which leaves as much for the owner and for
    /// each domain that could take another share; if `only_free`, a share of its tasks. Returns
    /// their number. Wakes another domain, which may find more; for tasks only if there are more.
    fn steal_from(&self, victim: usize, only_free: bool) -> u64 {
        let victim = &self.shared.domains[victim];
        let parts = 1 + self.shared.takers().max(1) as u64;
        let share = |there: u64| {
            let share = there.div_ceil(parts);
            if only_free || share < 2 { share } else { share & !1 }
        };
        let taken = victim.stealable.take_some(share, only_free, |stolen| self.adopt(stolen));
        if taken > 0 {
            victim.stolen.fetch_add(1, Ordering::Relaxed);
            let is_looked_for = !only_free || victim.stealable.has_free();
            if is_looked_for && self.shared.could_wake_one() {
                self.shared.wake_one(self.domain.index);
            }
        }
        taken
    }

    /// Wakes an idle domain for a theft, if there is a processor for it, and unless that has been of
    /// no use lately. If many fibers wait and no domain was idle, looks for one only now and then:
    /// the count of sleeping domains is in a line that they write.
    #[inline]
    pub(super) fn share_work(&self) {
        let passed = &self.stealing.passed;
        if passed.get() > 0 {
            passed.set(passed.get() - 1);
        } else if !self.share_now() && self.domain.stealable.len() >= LOOK {
            passed.set(LOOK);
        }
    }

    /// Does the same, and looks in any case. Returns `false` if there is no idle domain, or no
    /// processor for it.
    #[inline]
    pub(super) fn share_now(&self) -> bool {
        let could_wake = self.shared.could_wake_one();
        if could_wake {
            self.wake_idle();
        }
        could_wake
    }

    #[cold]
    fn wake_idle(&self) {
        let stealing = &self.stealing;
        let (left, pause) = stealing.pause.get();
        if left > 0 {
            return stealing.pause.set((left - 1, pause));
        }
        // If nothing was taken since the last wake, the fibers end before a thief arrives.
        let stolen = self.domain.stolen.load(Ordering::Relaxed);
        let useful = stealing.stolen_before.replace(stolen) != stolen;
        let pause = if useful { 0 } else { (pause * 2 + 1).min(LONGEST_PAUSE) };
        stealing.pause.set((pause, pause));
        self.shared.wake_one(self.domain.index);
    }

    /// Queues an entry that may move between domains in a place where this domain will run it, and
    /// thieves may take it.
    pub(super) fn adopt(&self, movable: NonNull<Runnable>) {
        // SAFETY: an entry to queue is alive.
        let is_task = matches!(unsafe { either(movable) }, Either::Task(_));
        if !self.domain.stealable.append(movable, is_task) {
            self.shared.push_common(movable);
        }
    }

    /// Takes a share of the common queue. The first goes straight into the ready queue: it has its
    /// turn however many wait to begin here.
    pub(super) fn take_common(&self) -> bool {
        if self.shared.common.len() == 0 {
            return false;
        }
        let room = SHARE.saturating_sub(self.domain.stealable.len()).max(1);
        let share = Fifo::default();
        self.shared.common.take_share(room, &share);
        let Some(first) = share.pop() else { return false };
        // SAFETY: it was just taken out of its queue, and stays until it runs.
        unsafe { self.queues.push(first) };
        while let Some(other) = share.pop() {
            self.adopt(other);
        }
        true
    }
}
