//! Finds the domain of a new fiber that its spawner has placed.
//!
//! A fiber without a destination lies where idle domains may take it. One with a destination is
//! handed over to its domain and begins there. To *spread* fibers is to give each the domain on which
//! the fewest spread fibers live: a count for each domain, which only the spawning and the ending of spread
//! fibers touch. It counts the fibers that users have declared to be load, and not all fibers that
//! have begun: ten thousand fibers that wait are less of a load than one that computes, and to
//! count all would cost each fiber two stores.
//!
//! Two threads that spread at once may read the same counts and choose the same domain. The next
//! one sees both, so the counts differ by no more than the number of threads that spread at once.

use super::shared::Shared;
use super::worker::Worker;
use crate::shim::sync::Arc;
use crate::shim::unseen::Ordering;
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::kin::Mark;
use std::ptr::NonNull;

/// Where a new fiber is to go.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Destination {
    /// To the spawner's domain, or to one that has nothing to do.
    #[default]
    Anywhere,
    /// To the domain with this index.
    Domain(usize),
    /// To the domain that has the most room.
    Spread,
    /// To whichever domain takes it first.
    FirstFree,
    /// To the domain at this address, if it is one of the runtime. It is only compared: the domain
    /// may have gone, or may never have been (0).
    Near(usize),
}

impl Destination {
    /// Returns the destination on the domain of `fiber`, which any thread may ask for.
    pub(crate) fn beside(fiber: &Fiber) -> Self {
        Destination::Near(fiber.domain.load(Ordering::Relaxed).addr())
    }
}

impl Worker {
    /// Notes the spawner of `fiber`, which has no destination and has not been queued yet. Returns
    /// the destination that has been learned from others, if there is one.
    #[inline(never)]
    pub(crate) fn beside_its_kin(&self, fiber: NonNull<Fiber>) -> Option<usize> {
        let spawner = self.current_fiber()?;
        // SAFETY: the fiber has just been made.
        let this = unsafe { fiber.as_ref() };
        let ordinal = self.domain().counts.spawned.get() as u32;
        this.kin.was_spawned_by(Mark::of(spawner.addr().get()), ordinal);
        let (shared, site) = (self.shared(), this.site());
        // A runtime that ends may leave a handed-over fiber in the inbox.
        if !shared.groups.knows(site) || shared.is_stopping() {
            return None;
        }
        // To no more domains than can run at the same time: messages to others would wait for the
        // system.
        let offset = shared.groups.place(site, &this.kin, shared.most_at_once())?;
        let index = (self.domain().index + offset) % shared.domains.len();
        // A handed-over fiber begins there and nowhere else.
        if shared.domains[index].is_in_a_long_turn() {
            return None;
        }
        shared.settle(this, Destination::Anywhere, index);
        Some(index)
    }
}

impl Shared {
    /// Decides to which domain a fiber goes that is spawned on the domain `here`, or by a thread
    /// that runs no domain. The fiber is to be [settled](Self::settle) there.
    ///
    /// # Panics
    ///
    /// If there is no domain with the index of `destination`.
    #[inline]
    #[track_caller]
    pub(crate) fn decide(&self, destination: Destination, here: Option<usize>) -> Option<usize> {
        match destination {
            Destination::Anywhere | Destination::FirstFree => None,
            Destination::Domain(index) => {
                self.check(index);
                Some(index)
            }
            Destination::Spread => self.roomiest(here.unwrap_or(0)),
            Destination::Near(address) => {
                self.domains.iter().position(|domain| Arc::as_ptr(domain).addr() == address)
            }
        }
    }

    /// Panics if there is no domain `index`, before anything has been done.
    #[track_caller]
    fn check(&self, index: usize) {
        let count = self.domains.len();
        assert!(index < count, "there is no domain {index}: this runtime has {count}, numbered from 0");
    }

    /// Returns the domain that has the most room, where `here` is the first of equals. Returns
    /// `None` if there is only one domain.
    fn roomiest(&self, here: usize) -> Option<usize> {
        let count = self.domains.len();
        let load = |&index: &usize| {
            let domain = &self.domains[index];
            (domain.spread.load(Ordering::Relaxed), !domain.inbox.is_asleep())
        };
        let all = (0..count).map(|offset| (here + offset) % count);
        if count > 1 { all.min_by_key(load) } else { None }
    }

    /// Notes that `fiber`, which has not been queued yet, goes to the domain `index`.
    #[cold]
    pub(crate) fn settle(&self, fiber: &Fiber, destination: Destination, index: usize) {
        let domain = &self.domains[index];
        fiber.domain.store(Arc::as_ptr(domain).cast_mut().cast(), Ordering::Relaxed);
        if matches!(destination, Destination::Spread) {
            fiber.is_spread.set(true);
            domain.spread.fetch_add(1, Ordering::Relaxed);
        }
    }
}
