//! Domains: one worker thread each, with its own queues, poller, timers and stacks.
//!
//! `worker.rs` is the loop, `queues.rs` what runs next, `ending.rs` what happens when there is to be no next, `runner.rs` where
//! tasks run, `loops.rs` how it takes part in loops, `way.rs` how a fiber lets others pass, `hooked.rs` what
//! else is done around a turn, `idle.rs` how it looks for work and sleeps, `thief.rs` how it takes work from
//! others, `inbox.rs` how others hand it something, `common.rs` what belongs to no domain, `stealable.rs` and `ring.rs` where fibers wait that have not
//! begun and may be stolen, `reactor.rs` its sockets, `runtime.rs` what starts and ends it all,
//! `snapshot.rs` asks who waits, `deadlock.rs` notices that all do, and `monitor.rs` and `stall.rs` that one keeps its domain. The README beside this file explains how a domain
//! sleeps and is woken.

pub(crate) mod common;
pub(crate) mod counts;
pub(crate) mod deadlock;
pub mod default;
pub(crate) mod dump;
mod either;
mod ending;
pub(crate) mod helping;
mod hooked;
mod idle;
pub(crate) mod monitor;
pub(crate) mod overflow;
mod queues;
#[doc(hidden)]
pub mod reactor;
mod runner;
pub mod shared;
pub mod sharing;
pub(crate) mod snapshot;
mod stall;
mod thief;
#[doc(hidden)]
pub mod way;
pub mod within;
#[doc(hidden)]
pub mod worker;

pub use deadlock::OnDeadlock;

use crate::event::lock::Lock;
use crate::event::turn::Mark;
use crate::jobs::heartbeat::Beat;
use crate::jobs::offers::Offers;
use crate::queue::inbox::Inbox;
use crate::queue::stealable::Stealable;
use crate::report::{Performer, RunningFiber};
use crate::shim::{
    CachePadded,
    atomic::{AtomicBool, AtomicU64, Ordering},
    sync::Arc,
};
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::task::Task;
use counts::Counts;
use reactor::Reactor;
use stall::Watched;
use std::panic::Location;
use std::ptr::NonNull;

/// Marks the place of spawning of a task: a bit that no location's address has.
const TASK: usize = 1;
const _: () = assert!(align_of::<Location<'static>>() > TASK);

/// The part of a domain that other threads see.
pub(crate) struct Domain {
    pub(crate) index: usize,
    /// Written by others.
    pub inbox: CachePadded<Inbox<Runnable>>,
    /// Written by the owner and by thieves.
    stealable: CachePadded<Stealable<Runnable>>,
    pub stolen: AtomicU64,
    /// Fibers of it wait for parts of their loops.
    pub is_joining: AtomicBool,
    pub(crate) reactor: Arc<Reactor>,
    /// Looked at by the loops that run here.
    pub(crate) heartbeat: CachePadded<Beat>,
    /// Written by the owner and by thieves, but seldom.
    pub(crate) offers: CachePadded<Offers>,
    /// Written by the owner.
    pub(crate) counts: CachePadded<Counts>,
    /// Written by the monitor.
    watched: Watched,
    /// That a fiber which keeps the domain is to let others pass.
    pub(crate) mark: Mark,
    /// What is needed to name the fiber that runs now. Held while a named fiber is retired or looked at.
    naming: Lock<()>,
    /// Its worker has left, and runs nothing any more.
    has_left: AtomicBool,
}

impl Domain {
    pub(crate) fn new(index: usize, reactor: Arc<Reactor>) -> Self {
        Domain {
            index,
            inbox: CachePadded(Inbox::new()),
            stealable: CachePadded(Stealable::new()),
            stolen: AtomicU64::new(0),
            is_joining: AtomicBool::new(false),
            reactor,
            heartbeat: CachePadded(Beat::new(false)),
            offers: CachePadded(Offers::new()),
            counts: CachePadded(Counts::default()),
            watched: Watched::default(),
            mark: Mark::new(),
            naming: Lock::new(()),
            has_left: AtomicBool::new(false),
        }
    }

    /// Hands a fiber over to this domain, waking it if it sleeps.
    fn hand_over(&self, fiber: NonNull<Fiber>) {
        // SAFETY: the fiber is in no list: it is new, or parked and woken by us; it is alive until it runs.
        if unsafe { self.inbox.push(fiber.cast()) } {
            self.reactor.wake();
        } else {
            self.heartbeat.turn_on();
        }
    }

    /// Hands a fiber over to its domain, from a thread that does not keep that domain alive.
    ///
    /// # Safety
    ///
    /// `domain` comes from [`Arc::as_ptr`] and is alive until the fiber has been handed over.
    unsafe fn hand_over_at(domain: *const Domain, fiber: NonNull<Fiber>) {
        // Once it has the fiber the domain may end, while we are still to wake it.
        // SAFETY: alive, by the caller's promise.
        unsafe { Arc::increment_strong_count(domain) };
        // SAFETY: the count that was just added.
        let domain = unsafe { Arc::from_raw(domain) };
        domain.hand_over(fiber);
    }

    /// Notes which fiber runs now.
    #[inline]
    fn running(&self, turn: u32, fiber: &Fiber, others_wait: bool) {
        self.counts.begin_turn(turn, others_wait);
        if fiber.runnable.kind() == Kind::Runner {
            self.running_borne(fiber);
        } else {
            self.running_code_of(fiber.site);
        }
        let named = if fiber.name.is_some() { std::ptr::from_ref(fiber) } else { std::ptr::null() };
        self.counts.named.store(named.cast_mut(), Ordering::Release);
    }

    /// Notes where the fiber was spawned that runs now, or the loop of which it runs a part.
    #[inline]
    pub(crate) fn running_code_of(&self, site: &'static Location<'static>) {
        self.counts.site.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
    }

    /// Notes where the task was spawned that runs now.
    #[inline]
    pub(crate) fn running_task(&self, site: &'static Location<'static>) {
        let site = std::ptr::from_ref(site).cast_mut();
        self.counts.site.store(site.map_addr(|address| address | TASK), Ordering::Relaxed);
    }

    /// Notes what a runner goes on with that has waited in it.
    #[cold]
    fn running_borne(&self, runner: &Fiber) {
        match Task::borne_by(runner) {
            Some(task) => self.running_task(task.site()),
            None => self.running_code_of(runner.code_site()),
        }
    }

    /// Notes that no fiber runs, since there is none to run.
    fn resting(&self) {
        self.counts.site.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Notes that a fiber has ended, before it goes.
    #[inline]
    fn retire(&self, fiber: &Fiber) {
        if fiber.name.is_some() {
            let _naming = self.naming.lock();
            self.counts.named.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// The fiber that runs now, as far as another thread can tell.
    fn running_now(&self) -> Option<RunningFiber> {
        let _naming = self.naming.lock();
        let noted = self.counts.site.load(Ordering::Relaxed);
        let kind = if noted.addr() & TASK == 0 { Performer::Fiber } else { Performer::Task };
        // SAFETY: without its mark, it is that of a location, which live forever.
        let site = unsafe { noted.map_addr(|address| address & !TASK).as_ref() }?;
        // SAFETY: a named fiber stays until it is retired, for which the lock is needed.
        let named = unsafe { self.counts.named.load(Ordering::Acquire).as_ref() };
        let name = named.and_then(|fiber| fiber.name.as_deref()).map(str::to_owned);
        Some(RunningFiber { domain: self.index, kind, name, site })
    }
}
