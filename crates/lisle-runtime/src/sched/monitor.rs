//! A thread that watches a runtime at work: it reports fibers that keep their domain for long while
//! others wait, wakes idle domains for fibers that no domain has begun, and notices when no fiber
//! can ever go on.
//!
//! It also looks at the pending work of loops on stacks whose owner is in a long call or waits, and
//! offers some of it if another domain could take it (`../jobs/stacks.rs`). The monitor of the
//! default runtime does so for the threads that run no domain.
//!
//! Every second, and before it sleeps, it gives back the recycled memory that has not been used.
//!
//! A runtime of one domain also runs without it, if the system gives no thread for it. Its domain asks
//! for one again every second.
//!
//! It looks every 10 ms while any domain works, and sleeps for good when no domain does.

use super::Domain;
use super::deadlock::{self, Verdict};
use super::default::started_default_runtime;
use super::shared::Shared;
use crate::affinity;
use crate::event::tick;
use crate::jobs::heartbeat;
use crate::memory::{self, Blocks};
use crate::own_threads;
use crate::report::{self, NoThread, Report};
use crate::sched::tasks::slots::Slots;
use crate::shim::atomic::Ordering;
use crate::shim::clock;
use crate::shim::sync::Arc;
use crate::threads;
use std::sync::Weak;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(10);
/// After this many looks at a runtime that sleeps, the monitor sleeps, too.
const QUIET: u32 = 20;
/// After this many, it checks whether the runtime can ever wake up.
const SETTLED: u32 = 5;
/// If that could not be told, it checks again after a pause, and after twice that, up to the
/// longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// Recycled memory that has not been used for this many looks is given back.
const UNUSED: u32 = 100;

/// The time between two attempts to start a monitor that the system has refused, in nanoseconds.
const RETRY: u64 = 1_000_000_000;

/// The pause between two looks at all the descriptors that fibers of a stuck domain wait for.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// The lateness, in nanoseconds, at which timers of tasks are handed over to the clock thread, since
/// something keeps their domain: the tasks go on elsewhere. If no domain is idle there is no hurry. The
/// awaited event may wake others than the task.
const LATE: u64 = 1_000_000;
const LATEST: u64 = 100_000_000;

/// The monitor's notes about a domain between two looks.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Set when it has been reported that the domain has been in its turn for long.
    reported: bool,
    /// When all descriptors that are waited for may be looked at again.
    next_look: u64,
}

/// Starts the monitor of a runtime. The thread ends with the runtime.
pub(crate) fn start(shared: &Arc<Shared>) -> std::io::Result<()> {
    let weak = Arc::downgrade(shared);
    let name = format!("{}-monitor", shared.thread_name);
    let builder = std::thread::Builder::new().name(name).stack_size(256 * 1024);
    let thread = threads::start_as(builder, "the monitor of a runtime", move || {
        watch(&weak);
        give_back_all();
    })?;
    let _ = shared.monitor.thread.set(thread.thread().clone());
    Ok(())
}

/// Notes, and reports, that a runtime runs without its monitor until there is a thread for it.
#[cold]
pub(crate) fn is_refused(shared: &Shared, error: &std::io::Error) {
    let monitor = &shared.monitor;
    monitor.next_try.store(clock::now().saturating_add(RETRY), Ordering::Relaxed);
    if !monitor.is_missing.swap(true, Ordering::Relaxed) {
        let meanwhile = "deadlocks and fibers that keep their domain are not noticed";
        shared.report(&Report::NoThread(NoThread::new(error, meanwhile)));
    }
}

/// Asks for the thread again, if it is time.
#[cold]
pub(super) fn start_again(shared: &Arc<Shared>) {
    let monitor = &shared.monitor;
    let now = clock::now();
    let next = monitor.next_try.load(Ordering::Relaxed);
    let is_ours = || {
        let later = now.saturating_add(RETRY);
        monitor.next_try.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    if now >= next && is_ours() && affinity::unpinned(|| start(shared)).is_ok() {
        monitor.is_missing.store(false, Ordering::Relaxed);
    }
}

fn give_back_all() {
    memory::give_back_all::<Blocks>();
    memory::give_back_all::<Slots>();
}

fn watch(weak: &Weak<Shared>) {
    let _working = weak.upgrade().map(|shared| {
        let through = report::through(shared.handler.clone());
        (through, own_threads::enlist(own_threads::Owner::Runtime(shared.number)))
    });
    let mut seen = Vec::new();
    let mut looks = 0_u32;
    let mut quiet = 0;
    let mut judged = 0;
    let mut deadlocks = deadlock::Watch::default();
    let mut verdict = Verdict::GoesOn;
    loop {
        {
            let Some(shared) = weak.upgrade() else { return };
            if shared.has_ended() || shared.monitor.ended.load(Ordering::Acquire) {
                return;
            }
            seen.resize(shared.domains.len(), Seen::default());
            look(&shared, &mut seen);
            tick::advance();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(UNUSED) {
                memory::give_back::<Blocks>();
                memory::give_back::<Slots>();
            }
            let all_sleep = shared.idle.load(Ordering::Relaxed) == shared.domains.len();
            quiet = if all_sleep && !has_loops_outside(&shared) { quiet + 1 } else { 0 };
            // If a domain has woken and fallen asleep again between two looks, the earlier verdict
            // is worthless.
            if quiet == SETTLED || (quiet > QUIET && sleeps_of(&shared) != judged) {
                judged = sleeps_of(&shared);
                verdict = deadlocks.look(&shared);
            }
            if quiet > QUIET {
                give_back_all();
                shared.monitor.asleep.store(true, Ordering::SeqCst);
                // A domain that woke in between may have missed the mark, so its wake is checked
                // for once more.
                if shared.idle.load(Ordering::SeqCst) != shared.domains.len()
                    || sleeps_of(&shared) != judged
                    || has_loops_outside(&shared)
                {
                    shared.monitor.asleep.store(false, Ordering::SeqCst);
                    quiet = 0;
                }
            }
        }
        let asleep = || weak.upgrade().is_some_and(|shared| shared.monitor.asleep.load(Ordering::Acquire));
        if quiet > QUIET {
            let ended = |shared: &Shared| shared.has_ended() || shared.monitor.ended.load(Ordering::Acquire);
            let mut pause = FIRST_PAUSE;
            while asleep() && !weak.upgrade().is_some_and(|shared| ended(&shared)) {
                let is_open = verdict == Verdict::Unknown && pause <= LONGEST_PAUSE;
                std::thread::park_timeout(if is_open { pause } else { Duration::from_secs(3600) });
                if is_open && asleep() {
                    pause *= 2;
                    verdict = weak.upgrade().map_or(verdict, |shared| deadlocks.look(&shared));
                }
            }
            quiet = 0;
        } else {
            std::thread::sleep(PERIOD);
        }
    }
}

/// Returns a number that changes whenever a domain falls asleep or wakes.
fn sleeps_of(shared: &Shared) -> u64 {
    shared
        .domains
        .iter()
        .fold(0, |sum, domain| sum.wrapping_mul(31).wrapping_add(domain.counts.asleep.load(Ordering::SeqCst)))
}

/// Returns `true` if threads that run no domain compute loops, and this runtime helps them.
fn has_loops_outside(shared: &Arc<Shared>) -> bool {
    helps_outside(shared) && !heartbeat::OUTSIDE.stacks.is_empty()
}

/// Returns `true` if this is the runtime that helps threads that run no domain.
fn helps_outside(shared: &Arc<Shared>) -> bool {
    started_default_runtime().is_some_and(|helper| Arc::ptr_eq(helper, shared))
}

/// Offers the pending work of stacks whose owners do not look.
fn share_loops(shared: &Arc<Shared>) {
    let mut takers = shared.takers();
    let stacks =
        shared.domains.iter().map(|domain| (&domain.heartbeat.stacks, &*domain.offers, domain.index));
    let outside = helps_outside(shared).then(|| (&heartbeat::OUTSIDE.stacks, &shared.offers, 0));
    for (stacks, offers, index) in stacks.chain(outside) {
        let given = stacks.look(offers, takers);
        takers -= given;
        for _ in 0..given {
            if shared.could_wake_one() {
                shared.wake_for_loop(index);
            }
        }
    }
}

fn look(shared: &Arc<Shared>, seen: &mut [Seen]) {
    share_loops(shared);
    let now = clock::now();
    for (domain, seen) in shared.domains.iter().zip(&mut *seen) {
        if shared.idle.load(Ordering::Relaxed) > 0 {
            if domain.unbegun() > 0 {
                shared.wake_one(domain.index);
            } else if domain.offers.len() > 0 && shared.could_wake_one() {
                shared.wake_for_loop(domain.index);
            }
        }
        domain.heartbeat.turn_on();
        domain.mark.set();
        // One that sleeps is about to wake.
        let could_go_on = shared.idle.load(Ordering::Relaxed) > 0 && !domain.inbox.is_asleep();
        let patience = if could_go_on { LATE } else { LATEST };
        if domain.tasks_timers.next().saturating_add(patience) <= now {
            domain.tasks_timers.hand_over_due(now);
        }
        let turn = domain.counts.turn();
        if turn != domain.watched.turn() || domain.inbox.is_asleep() {
            domain.watched.begins(turn, now);
            *seen = Seen::default();
        }
    }
    // A thread that offers from outside may look at nothing any more, and may have missed a domain
    // that was about to sleep.
    if shared.offers.len() > 0 && shared.could_wake_one() {
        shared.wake_for_loop(0);
    }
    let Some(limit) = shared.stall_report else { return };
    let is_long = |domain: &Domain| domain.lasted(now).is_some_and(|lasted| lasted >= limit);
    let all_are_busy = shared.domains.iter().all(|domain| is_long(domain));
    for (domain, seen) in shared.domains.iter().zip(seen).filter(|(domain, _)| is_long(domain)) {
        if !seen.reported
            && domain.running_now().is_some()
            && seen.is_delayed(domain, shared, all_are_busy, now)
        {
            let mut stall = domain.stall(shared, all_are_busy);
            // A fiber whose descriptor is not ready does not wait for the domain.
            stall.delayed.descriptors.retain(|awaited| awaited.is_ready);
            // The turn may have ended just now.
            if stall.lasted.is_some_and(|lasted| lasted >= limit) && !stall.delayed.is_empty() {
                seen.reported = true;
                shared.report(&Report::Stall(stall));
            }
        }
    }
}

impl Seen {
    /// Returns `true` if anything waits for a domain that has been in one turn for long.
    fn is_delayed(&mut self, domain: &Domain, shared: &Shared, all_are_busy: bool, now: u64) -> bool {
        if !domain.delayed(shared, all_are_busy, now).is_empty() {
            return true;
        }
        if domain.reactor.is_empty() || now < self.next_look || !domain.reactor.has_news() {
            return false;
        }
        // There may be many descriptors to look at, and news of one that is not waited for stays.
        self.next_look = now.saturating_add(clock::saturating_nanos(LOOK_PAUSE));
        domain.reactor.awaited().iter().any(|awaited| awaited.is_ready)
    }
}
