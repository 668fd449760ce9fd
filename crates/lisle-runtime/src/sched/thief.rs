//! How an idle worker takes fibers that have not begun, and tasks that are ready, from another domain.
//!
//! It does not take what it sees, but what the other domain does not get to. A fiber that has begun stays on its
//! domain for good, and most fibers that are spawned talk to the one that spawned them, at once: taken away, each
//! message between the two would cross domains, which costs several times as much as to stay. So a thief notes
//! what waits, and takes a share only if that has still not all begun [`OVERDUE`]
//! later: then there is more to do than one domain can. Fibers that compute are spread within that time; pairs,
//! chains and short-lived fibers stay together.

use super::worker::Worker;
use crate::queue::stealable::Sight;
use crate::shim::{atomic::Ordering, clock, hint};

/// For how long fibers are left to the domain that they were spawned on, in nanoseconds: about twice what it
/// costs to wake a domain, and what it takes to begin a hundred fibers on new stacks.
const OVERDUE: u64 = 100_000;
/// How many fibers a thief takes at most.
pub(super) const SHARE: u64 = 32;

/// What a thief has seen to wait.
#[derive(Clone, Copy)]
pub(super) struct Sighting {
    victim: usize,
    sight: Sight,
    since: u64,
}

impl Worker {
    /// Takes a share of what has waited for too long, if anything has. Notes what waits otherwise.
    pub(super) fn steal_overdue(&self) -> bool {
        let domains = &self.shared.domains;
        if let Some(seen) = self.sighting.take()
            && domains[seen.victim].stealable.still_waits(seen.sight)
        {
            if clock::now().saturating_sub(seen.since) >= OVERDUE {
                return self.steal_from(seen.victim);
            }
            self.sighting.set(Some(seen));
            return false;
        }
        // What was seen has begun. Any domain may be the next, lest one that begins all in time hide the others.
        let start = self.random.next() as usize;
        for offset in 0..domains.len() {
            let victim = start.wrapping_add(offset) % domains.len();
            if victim != self.domain.index
                && let Some(sight) = domains[victim].stealable.sight()
            {
                self.sighting.set(Some(Sighting { victim, sight, since: clock::now() }));
                break;
            }
        }
        false
    }

    /// Goes on looking while something is seen to wait, until it has begun or is overdue. Not for ever: where each
    /// fiber begins in time there is nothing to be had.
    pub(super) fn wait_for_overdue(&self) -> bool {
        let start = clock::now();
        let mut count = 0;
        while self.sighting.get().is_some() && clock::now().saturating_sub(start) < 2 * OVERDUE {
            (0..16).for_each(|_| hint::spin_loop());
            count += 32;
            if self.glance(count, true) {
                return true;
            }
        }
        false
    }

    /// Takes half of what waits in a domain.
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
}
