//! Domains: one worker thread each, with its own queues, poller, timers and stacks.
//!
//! `worker.rs` is the loop, `queues.rs` what runs next, `ending.rs` what happens when there is to be no next, `bearer.rs` where
//! parasites run, `loops.rs` how it takes part in loops, `way.rs` how a host lets others pass, `hooked.rs` what
//! else is done around a turn, `idle.rs` how it looks for work and sleeps, `thief.rs` how it takes work from
//! others, `inbox.rs` how others hand it something, `common.rs` what belongs to no domain, `stealable.rs` and `ring.rs` where hosts wait that have not
//! begun and may be stolen, `reactor.rs` its sockets, `runtime.rs` what starts and ends it all,
//! `survey.rs` asks who waits, `deadlock.rs` notices that all do, and `monitor.rs` and `stall.rs` that one keeps its domain. The README beside this file explains how a domain
//! sleeps and is woken.

mod bearer;
mod common;
pub(crate) mod counts;
mod deadlock;
mod dump;
mod ending;
mod fifo;
mod guests;
mod handle;
mod hooked;
mod idle;
pub(crate) mod inbox;
pub(crate) mod loops;
mod monitor;
mod overflow;
mod queues;
pub(crate) mod reactor;
mod ring;
pub(crate) mod runnable;
pub(crate) mod runtime;
mod shutdown;
mod stall;
mod statistics;
mod stealable;
mod survey;
mod thief;
mod waiting;
pub(crate) mod way;
pub(crate) mod worker;

pub use deadlock::{Deadlock, OnDeadlock};
pub use handle::Handle;
pub use reactor::Awaited;
pub use runtime::{Builder, InstallDefaultError, Runtime, run, waiting};
pub use shutdown::{Shutdown, Straggler};
pub use stall::{Delayed, Stall};
pub use statistics::{Statistics, statistics};
pub use waiting::{Performer, RunningHost, WaitGraph, Waiter};

use crate::event::lock::Lock;
use crate::event::turn::Mark;
use crate::fiber::host::Host;
use crate::par::beat::Beat;
use crate::par::offers::Offers;
use crate::shim::{
    CachePadded,
    atomic::{AtomicBool, AtomicU64, Ordering},
    sync::Arc,
};
use counts::Counts;
use inbox::Inbox;
use reactor::Reactor;
use runnable::{Kind, Runnable};
use stall::Watched;
use std::panic::Location;
use std::ptr::NonNull;
use stealable::Stealable;

/// Marks the place of spawning of a parasite: a bit that no location's address has.
const PARASITE: usize = 1;
const _: () = assert!(align_of::<Location<'static>>() > PARASITE);

/// The part of a domain that other threads see.
pub(crate) struct Domain {
    pub(crate) index: usize,
    /// Written by others.
    inbox: CachePadded<Inbox<Runnable>>,
    /// Written by the owner and by thieves.
    stealable: CachePadded<Stealable<Runnable>>,
    stolen: AtomicU64,
    /// Hosts of it wait for parts of their loops.
    is_joining: AtomicBool,
    pub(crate) reactor: Arc<Reactor>,
    /// Looked at by the loops that run here.
    pub(crate) beat: CachePadded<Beat>,
    /// Written by the owner and by thieves, but seldom.
    pub(crate) offers: CachePadded<Offers>,
    /// Written by the owner.
    pub(crate) counts: CachePadded<Counts>,
    /// Written by the monitor.
    watched: Watched,
    /// That a host which keeps the domain is to let others pass.
    pub(crate) mark: Mark,
    /// What is needed to name the host that runs now. Held while a named host is retired or looked at.
    naming: Lock<()>,
    /// Its worker has left, and runs nothing any more.
    has_left: AtomicBool,
}

impl Domain {
    fn new(index: usize, reactor: Arc<Reactor>) -> Self {
        Domain {
            index,
            inbox: CachePadded(Inbox::new()),
            stealable: CachePadded(Stealable::new()),
            stolen: AtomicU64::new(0),
            is_joining: AtomicBool::new(false),
            reactor,
            beat: CachePadded(Beat::new(false)),
            offers: CachePadded(Offers::new()),
            counts: CachePadded(Counts::default()),
            watched: Watched::default(),
            mark: Mark::new(),
            naming: Lock::new(()),
            has_left: AtomicBool::new(false),
        }
    }

    /// Hands a host over to this domain, waking it if it sleeps.
    fn hand_over(&self, host: NonNull<Host>) {
        // SAFETY: the host is in no list: it is new, or parked and woken by us; it is alive until it runs.
        if unsafe { self.inbox.push(host.cast()) } {
            self.reactor.wake();
        } else {
            self.beat.turn_on();
        }
    }

    /// Hands a host over to its domain, from a thread that does not keep that domain alive.
    ///
    /// # Safety
    ///
    /// `domain` comes from [`Arc::as_ptr`] and is alive until the host has been handed over.
    unsafe fn hand_over_at(domain: *const Domain, host: NonNull<Host>) {
        // Once it has the host the domain may end, while we are still to wake it.
        // SAFETY: alive, by the caller's promise.
        unsafe { Arc::increment_strong_count(domain) };
        // SAFETY: the count that was just added.
        let domain = unsafe { Arc::from_raw(domain) };
        domain.hand_over(host);
    }

    /// Notes which host runs now.
    #[inline]
    fn running(&self, turn: u32, host: &Host, others_wait: bool) {
        self.counts.begin_turn(turn, others_wait);
        if host.runnable.kind() == Kind::Bearer {
            self.running_borne(host);
        } else {
            self.running_code_of(host.site);
        }
        let named = if host.name.is_some() { std::ptr::from_ref(host) } else { std::ptr::null() };
        self.counts.named.store(named.cast_mut(), Ordering::Release);
    }

    /// Notes where the host was spawned that runs now, or the loop of which it runs a part.
    #[inline]
    pub(crate) fn running_code_of(&self, site: &'static Location<'static>) {
        self.counts.site.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
    }

    /// Notes where the parasite was spawned that runs now.
    #[inline]
    pub(crate) fn running_parasite(&self, site: &'static Location<'static>) {
        let site = std::ptr::from_ref(site).cast_mut();
        self.counts.site.store(site.map_addr(|address| address | PARASITE), Ordering::Relaxed);
    }

    /// Notes what a bearer goes on with that has waited in it.
    #[cold]
    fn running_borne(&self, bearer: &Host) {
        match bearer.borne() {
            Some(parasite) => self.running_parasite(parasite.site()),
            None => self.running_code_of(bearer.code_site()),
        }
    }

    /// Notes that no host runs, since there is none to run.
    fn resting(&self) {
        self.counts.site.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Notes that a host has ended, before it goes.
    #[inline]
    fn retire(&self, host: &Host) {
        if host.name.is_some() {
            let _naming = self.naming.lock();
            self.counts.named.store(std::ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// The host that runs now, as far as another thread can tell.
    fn running_now(&self) -> Option<RunningHost> {
        let _naming = self.naming.lock();
        let noted = self.counts.site.load(Ordering::Relaxed);
        let kind = if noted.addr() & PARASITE == 0 { Performer::Host } else { Performer::Parasite };
        // SAFETY: without its mark, it is that of a location, which live forever.
        let site = unsafe { noted.map_addr(|address| address & !PARASITE).as_ref() }?;
        // SAFETY: a named host stays until it is retired, for which the lock is needed.
        let named = unsafe { self.counts.named.load(Ordering::Acquire).as_ref() };
        let name = named.and_then(|host| host.name.as_deref()).map(str::to_owned);
        Some(RunningHost { domain: self.index, kind, name, site })
    }
}
