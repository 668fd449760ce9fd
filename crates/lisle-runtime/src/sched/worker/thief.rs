//! How fibers that have not begun, and tasks that are ready, move between domains: what an idle
//! worker steals, what any worker takes of the common queue, and when one wakes another.
//!
//! A thief does not take everything that it sees, but what the other domain does not get to. A
//! fiber that has begun stays on its domain for good, and most spawned fibers exchange messages at
//! once with the fiber that spawned them. If they were stolen, each message between the two would
//! cross domains, which costs several times as much as staying. So a thief notes what waits, and
//! takes a share only if that has not all begun [`OVERDUE`] later: then there is more to do than
//! one domain can. Fibers that compute are spread within that time; pairs, chains and short-lived
//! fibers stay together.

use super::Worker;
use crate::queue::stealable::Sight;
use crate::shim::{atomic::Ordering, clock, hint};
use crate::spawned::runnable::Runnable;
use std::cell::Cell;
use std::ptr::NonNull;

/// For how long fibers are left to the domain that they were spawned on, in nanoseconds. This is
/// about twice the cost of waking a domain, and the time to begin a hundred fibers on new stacks.
const OVERDUE: u64 = 100_000;
/// How many fibers a thief takes at most.
pub(super) const SHARE: u64 = 32;
/// The longest pause, in spawns, between wakes of idle domains that find nothing.
const LONGEST_PAUSE: u32 = 4096;

/// What a thief has seen waiting.
#[derive(Clone, Copy)]
struct Sighting {
    victim: usize,
    sight: Sight,
    since: u64,
}

/// What a worker remembers of stealing, its own and that of others.
#[derive(Default)]
pub(super) struct Stealing {
    seen: Cell<Option<Sighting>>,
    /// How many more spawns pass before an idle domain is woken again, and the length of the whole
    /// pause.
    pause: Cell<(u32, u32)>,
    /// How often others had taken something when an idle domain was last woken.
    stolen_before: Cell<u64>,
}

impl Stealing {
    /// Forgets what has been seen.
    pub(super) fn forget(&self) {
        self.seen.set(None);
    }
}

impl Worker {
    /// Steals a share of what has waited for too long. Returns `false` if nothing has; then notes
    /// what waits.
    pub(super) fn steal_overdue(&self) -> bool {
        let domains = &self.shared.domains;
        if let Some(seen) = self.stealing.seen.take()
            && domains[seen.victim].stealable.still_waits(seen.sight)
        {
            if clock::now().saturating_sub(seen.since) >= OVERDUE {
                return self.steal_from(seen.victim);
            }
            self.stealing.seen.set(Some(seen));
            return false;
        }
        // What was seen has begun. The next look starts at a random domain: otherwise one that
        // begins everything in time would hide the others.
        let start = self.random.next() as usize;
        for offset in 0..domains.len() {
            let victim = start.wrapping_add(offset) % domains.len();
            if victim != self.domain.index
                && let Some(sight) = domains[victim].stealable.sight()
            {
                self.stealing.seen.set(Some(Sighting { victim, sight, since: clock::now() }));
                break;
            }
        }
        false
    }

    /// Goes on looking while something is seen to wait, until it has begun or is overdue. Gives up
    /// after a while: where each fiber begins in time there is nothing to steal. Returns `true` if
    /// something was found.
    pub(super) fn wait_for_overdue(&self) -> bool {
        let start = clock::now();
        let mut count = 0;
        while self.stealing.seen.get().is_some() && clock::now().saturating_sub(start) < 2 * OVERDUE {
            (0..16).for_each(|_| hint::spin_loop());
            count += 32;
            if self.glance(count, true) {
                return true;
            }
        }
        false
    }

    /// Steals half of what waits in a domain. Returns `false` if nothing was left there.
    fn steal_from(&self, victim: usize) -> bool {
        let victim = &self.shared.domains[victim];
        let half = victim.stealable.len().div_ceil(2).min(SHARE);
        let mut taken = 0;
        while taken < half
            && let Some(stolen) = victim.stealable.take_oldest()
        {
            self.adopt(stolen);
            taken += 1;
        }
        if taken > 0 {
            victim.stolen.fetch_add(1, Ordering::Relaxed);
        }
        taken > 0
    }

    /// Wakes an idle domain after a spawn, unless that has been of no use lately.
    #[inline]
    pub(super) fn share_work(&self) {
        if self.shared.idle.load(Ordering::Relaxed) > 0 {
            self.wake_idle();
        }
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

    /// Queues what may move between domains where this domain will run it, and where it may be
    /// stolen.
    pub(super) fn adopt(&self, movable: NonNull<Runnable>) {
        if !self.domain.stealable.append(movable) {
            self.shared.push_common(movable);
        }
    }

    /// Takes a share of the common queue. The first goes straight into the ready queue: it has its
    /// turn however many wait to begin here.
    pub(super) fn take_common(&self) -> bool {
        let mut taken = 0;
        while taken < SHARE
            && (taken == 0 || self.domain.stealable.len() < SHARE)
            && let Some(taken_over) = self.shared.common.take()
        {
            if taken == 0 {
                // SAFETY: it was just taken out of its queue, and stays until it runs.
                unsafe { self.queues.push(taken_over) };
            } else {
                self.adopt(taken_over);
            }
            taken += 1;
        }
        taken > 0
    }
}
