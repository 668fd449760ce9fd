//! The scheduler: domains, each with a thread, queues, a poller, timers and stacks of its own.
//!
//! - `worker/` is the part of a domain that only its thread sees.
//! - `shared.rs` has the state that the domains of a runtime share; `common.rs` has the fibers and
//!   tasks that belong to no domain; `sharing.rs` finds the domains that could take a part of a
//!   loop.
//! - `destination.rs` decides on the domain of a fiber with a destination; `groups.rs` learns the
//!   domains of others.
//! - `reactor/` waits for the sockets of a domain.
//! - `forked.rs` has the first steps of a forked child.
//! - `snapshot.rs` collects the waits of all fibers; `deadlock.rs` notices that all fibers wait for
//!   good; `monitor.rs` and `stall.rs` notice that a fiber keeps its domain.
//!
//! The queues are in `queue/`, and `runtime/` starts and ends a runtime. The README beside this
//! file explains how a domain sleeps and is woken.

pub(crate) mod common;
pub(crate) mod counts;
pub(crate) mod deadlock;
pub(crate) mod deadlock_policy;
pub(crate) mod default;
pub(crate) mod destination;
pub(crate) mod dump;
pub(crate) mod forked;
pub(crate) mod groups;
mod kernel;
pub(crate) mod lookouts;
pub(crate) mod monitor;
pub(crate) mod monitor_handle;
pub(crate) mod overflow;
pub(crate) mod questions;
pub(crate) mod reactor;
pub(crate) mod shared;
pub(crate) mod sharing;
pub(crate) mod snapshot;
mod stall;
pub(crate) mod tasks;
pub(crate) mod unclaimed;
pub mod within;
pub(crate) mod worker;

pub use deadlock_policy::OnDeadlock;

use crate::event::lock::Lock;
use crate::event::turn::Mark;
use crate::jobs::heartbeat::Beat;
use crate::jobs::offers::Offers;
use crate::queue::fifo::Fifo;
use crate::queue::inbox::Inbox;
use crate::queue::stealable::Stealable;
use crate::report::{Performer, RunningFiber};
use crate::shim::{
    CachePadded,
    sync::Arc,
    unseen::{self, AtomicBool, AtomicU32, AtomicU64, Ordering},
};
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::spawned::task_cell::Task;
use crate::time::lent_wheel::LentWheel;
use counts::Counts;
use reactor::Reactor;
use stall::Watched;
use std::panic::Location;
use std::ptr::NonNull;

/// A bit that marks a noted spawn location as a task's. No location's address has it set.
const TASK: usize = 1;
const _: () = assert!(align_of::<Location<'static>>() > TASK);

/// The part of a domain that other threads see.
pub(crate) struct Domain {
    pub(crate) index: usize,
    /// Written by other threads.
    pub inbox: CachePadded<Inbox<Runnable>>,
    /// Written by the owner and by thieves.
    stealable: CachePadded<Stealable<Runnable>>,
    /// Fibers that have not begun and that the ring had no room for, the youngest first.
    surplus: Lock<Fifo<Runnable>>,
    pub stolen: AtomicU64,
    /// How many fibers live here that were spread, see `destination.rs`.
    spread: unseen::AtomicUsize,
    /// Set while fibers of this domain wait for parts of their loops.
    pub is_joining: AtomicBool,
    pub(crate) reactor: Arc<Reactor>,
    /// Read by the loops that run here.
    pub(crate) heartbeat: CachePadded<Beat>,
    /// Written by the owner and by thieves, but seldom.
    pub(crate) offers: CachePadded<Offers>,
    /// Written by the owner.
    pub(crate) counts: CachePadded<Counts>,
    /// The timers of the tasks that this domain polls. Used by any thread that drops or polls such a task.
    pub(crate) tasks_timers: LentWheel,
    /// Written by the monitor.
    watched: Watched,
    /// Set to ask a fiber that keeps the domain to let others pass.
    pub(crate) mark: Mark,
    /// Guards the name of the fiber that runs now. Held while a named fiber is retired or its name
    /// is read.
    naming: Lock<()>,
    /// The system's number for the domain's thread, or 0.
    thread: AtomicU32,
    /// Set when the domain has left and runs nothing any more.
    has_left: AtomicBool,
    /// Set when another thread has woken something here, which no model has decided.
    #[cfg(feature = "model")]
    woken_from_outside: AtomicBool,
}

impl Domain {
    pub(crate) fn new(index: usize, reactor: Arc<Reactor>) -> Self {
        Domain {
            index,
            inbox: CachePadded(Inbox::new()),
            stealable: CachePadded(Stealable::new()),
            surplus: Lock::new(Fifo::default()),
            stolen: AtomicU64::new(0),
            spread: unseen::AtomicUsize::new(0),
            is_joining: AtomicBool::new(false),
            reactor,
            heartbeat: CachePadded(Beat::new(false)),
            offers: CachePadded(Offers::new()),
            counts: CachePadded(Counts::default()),
            tasks_timers: LentWheel::new(),
            watched: Watched::default(),
            mark: Mark::new(),
            naming: Lock::new(()),
            thread: AtomicU32::new(0),
            has_left: AtomicBool::new(false),
            #[cfg(feature = "model")]
            woken_from_outside: AtomicBool::new(false),
        }
    }

    /// Returns about how many wait here that may begin, or go on, on any domain.
    pub(crate) fn unbegun(&self) -> u64 {
        self.counts.surplus.get() + self.stealable.len()
    }

    /// Hands `fiber` over to this domain, and wakes the domain if it sleeps.
    fn hand_over(&self, fiber: NonNull<Fiber>) {
        // SAFETY: the fiber is in no list: it is new, or parked and woken by this call. It is alive
        // until it runs.
        if unsafe { self.inbox.push(fiber.cast()) } {
            self.reactor.wake();
        } else {
            self.heartbeat.turn_on();
        }
    }

    /// Hands `fiber` over to `domain`, from a thread that does not keep that domain alive.
    ///
    /// # Safety
    ///
    /// `domain` comes from [`Arc::as_ptr`] and is alive until the fiber has been handed over.
    unsafe fn hand_over_at(domain: *const Domain, fiber: NonNull<Fiber>) {
        // The domain may end as soon as it has the fiber, before this thread has woken it.
        // SAFETY: alive, by the caller's promise.
        unsafe { Arc::increment_strong_count(domain) };
        // SAFETY: this takes over the count that was just added.
        let domain = unsafe { Arc::from_raw(domain) };
        #[cfg(feature = "model")]
        domain.woken_from_outside.store(true, Ordering::Relaxed);
        domain.hand_over(fiber);
    }

    /// Notes that `fiber` runs now.
    #[inline]
    fn running(&self, turn: u32, fiber: &Fiber, others_wait: bool) {
        self.counts.begin_turn(turn, others_wait);
        if fiber.runnable.kind() == Kind::Runner {
            self.running_borne(fiber);
        } else {
            self.running_code_of(fiber.site());
        }
        let named = if fiber.name().is_some() { std::ptr::from_ref(fiber) } else { std::ptr::null() };
        self.counts.named.store(named.cast_mut(), Ordering::Release);
    }

    /// Notes the spawn location of the fiber that runs now, or the location of the loop if it runs
    /// a part of one.
    #[inline]
    pub(crate) fn running_code_of(&self, site: &'static Location<'static>) {
        self.counts.site.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
    }

    /// Notes the spawn location of the task that runs now.
    #[inline]
    pub(crate) fn running_task(&self, site: &'static Location<'static>) {
        let site = std::ptr::from_ref(site).cast_mut();
        self.counts.site.store(site.map_addr(|address| address | TASK), Ordering::Relaxed);
    }

    /// Notes the code that a runner resumes: a task that has waited in it, or the runner's own
    /// code.
    #[cold]
    fn running_borne(&self, runner: &Fiber) {
        match Task::borne_by(runner) {
            Some(task) => self.running_task(task.site()),
            None => self.running_code_of(runner.code_site()),
        }
    }

    /// Notes that a fiber that was spread to this domain has ended.
    #[cold]
    fn spread_one_ended(&self) {
        self.spread.fetch_sub(1, unseen::Ordering::Relaxed);
    }

    /// Notes that no fiber runs, because none is ready.
    fn resting(&self) {
        self.counts.site.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Notes that `fiber` has ended. Called before the fiber is freed.
    #[inline]
    fn retire(&self, fiber: &Fiber) {
        if fiber.name().is_some() {
            let _naming = self.naming.lock();
            self.counts.named.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// Returns the fiber that runs now, as far as another thread can tell.
    fn running_now(&self) -> Option<RunningFiber> {
        let _naming = self.naming.lock();
        let noted = self.counts.site.load(Ordering::Relaxed);
        let kind = if noted.addr() & TASK == 0 { Performer::Fiber } else { Performer::Task };
        // SAFETY: without the mark it is the address of a location, and locations live forever.
        let site = unsafe { noted.map_addr(|address| address & !TASK).as_ref() }?;
        // SAFETY: a named fiber stays until it is retired, and retiring it takes the lock that is
        // held here.
        let named = unsafe { self.counts.named.load(Ordering::Acquire).as_ref() };
        let name = named.and_then(|fiber| fiber.name()).map(str::to_owned);
        Some(RunningFiber { domain: self.index, kind, name, site })
    }
}
