//! The state that the domains of a runtime share: the domains, the phase, and the work that belongs
//! to no domain.

use crate::event::lock::Lock;
use crate::fork;
use crate::jobs::offers::Offers;
use crate::report::PanicPolicy;
use crate::report::{self, Handler, Report};
use crate::report::{Shutdown, Straggler};
use crate::sched::Domain;
use crate::sched::common::Common;
use crate::sched::counts::Tally;
use crate::sched::deadlock_policy::Deadlocks;
use crate::sched::groups::Groups;
use crate::sched::lookouts::Lookouts;
use crate::sched::monitor_handle::Monitor;
use crate::sched::questions::Snapshots;
use crate::shim::{
    CachePadded,
    atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Arc, Condvar, Mutex},
};
use crate::signals::Caught;
use crate::spawned::fiber_cell::{self, Fiber};
use crate::spawned::hooks::HookList;
use crate::spawned::runnable::Runnable;
use crate::stack::spare::SpareStacks;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

#[cold]
#[track_caller]
fn inherited() -> ! {
    panic!(
        "this runtime was started before the process forked, and its threads are in the parent: start another one in the \
         child, or fork before the first one starts"
    );
}

pub(crate) const RUNNING: u8 = 0;
/// Fibers run, and a thread waits until all of them have ended.
const DRAINING: u8 = 1;
/// Fibers are interrupted, and each domain leaves when all fibers have ended.
const STOPPING: u8 = 2;
/// The deadline is over: domains leave, whatever is left.
const ABANDONED: u8 = 3;

/// The state that the domains of a runtime share.
pub struct Shared {
    pub(crate) domains: Box<[Arc<Domain>]>,
    pub(crate) stack_size: usize,
    pub(crate) panic_policy: PanicPolicy,
    pub(crate) stall_report: Option<Duration>,
    pub(crate) thread_name: String,
    pub(crate) hooks: HookList,
    pub monitor: Monitor,
    pub(crate) snapshot: Snapshots,
    pub(crate) deadlocks: Deadlocks,
    /// Tells runtimes apart.
    pub(crate) number: usize,
    /// The number of domains that sleep. In a line of its own: they write it, and each spawn reads the
    /// fields that would lie beside it.
    pub idle: CachePadded<AtomicUsize>,
    /// The number of domains that look for work, sleeping ones included. At the start all are
    /// counted: their threads are about to begin.
    pub searching: CachePadded<AtomicUsize>,
    pub(crate) lookouts: Lookouts,
    /// The number of processors that the process may use.
    pub processors: usize,
    /// The offers of threads that run no domain.
    pub(crate) offers: Offers,
    pub(crate) phase: AtomicU8,
    /// The number of domains that have left.
    pub(crate) left: AtomicUsize,
    /// Told when the last one has.
    pub(crate) has_last_left: (Mutex<()>, Condvar),
    pub(crate) common: CachePadded<Common>,
    pub(crate) groups: Groups,
    /// The fibers and tasks spawned by threads that run no domain, less the tasks that have ended
    /// on such threads.
    pub(crate) spawned_outside: AtomicU64,
    pub(crate) outside: Lock<Tally>,
    pub(crate) spare_stacks: SpareStacks,
    pub(crate) handler: Option<Handler>,
    /// The signal at which the runtime reports a snapshot.
    pub(crate) dumps: Mutex<Option<Caught>>,
    pub(crate) has_told_of_stacks: AtomicBool,
    pub(crate) has_told_of_sockets: AtomicBool,
    pub(crate) has_told_of_threads: AtomicBool,
    /// The process that has started the runtime, see `fork.rs`.
    pub(crate) generation: u32,
}

impl Shared {
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.phase.load(Ordering::Relaxed) >= STOPPING
    }

    /// Notes that a fiber has ended. If a thread waits for the last one, checks whether this was
    /// it.
    #[inline]
    pub(crate) fn fiber_ended(&self) {
        if self.phase.load(Ordering::Relaxed) != RUNNING {
            self.fiber_ended_late();
        }
    }

    #[cold]
    pub(crate) fn fiber_ended_late(&self) {
        // If two domains count their last fibers at once, at least one of them sees both counts.
        fence(Ordering::SeqCst);
        if self.live() == 0 {
            self.wake_all();
        }
    }

    /// Returns `true` if the threads of this runtime are in another process, from which this one
    /// was forked.
    #[inline]
    pub(crate) fn is_inherited(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Panics if this runtime has no threads in this process. Whatever waits for it would wait for
    /// ever.
    #[track_caller]
    pub(crate) fn must_be_here(&self) {
        if self.is_inherited() {
            inherited();
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == DRAINING
    }

    pub(crate) fn drain(&self) {
        // Fails if a deadlock has already stopped the runtime.
        let _ = self.phase.compare_exchange(RUNNING, DRAINING, Ordering::SeqCst, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.left.load(Ordering::Acquire) == self.domains.len()
    }

    /// Returns the domain with this index, which [`Shared::decide`] has seen to exist.
    pub(crate) fn domain(&self, index: usize) -> &Domain {
        &self.domains[index]
    }

    /// Returns `true` if any other domain works, and work may soon come from it.
    pub(crate) fn others_work(&self) -> bool {
        self.idle.load(Ordering::Relaxed) + 1 < self.domains.len()
    }

    /// Wakes one sleeping domain. Tries `except` last.
    pub(crate) fn wake_one(&self, except: usize) {
        let count = self.domains.len();
        for offset in 1..=count {
            let domain = &self.domains[(except + offset) % count];
            if domain.inbox.rouse() {
                domain.reactor.wake();
                return;
            }
        }
    }

    pub(crate) fn wake_all(&self) {
        for domain in &self.domains {
            domain.inbox.rouse();
            domain.reactor.wake();
        }
    }

    /// Queues a fiber that has not begun, or a task, for the first domain that takes it.
    #[cold]
    pub(crate) fn push_common(&self, movable: NonNull<Runnable>) {
        // SAFETY: it is in no list, and stays until it runs.
        unsafe { self.common.push(movable) };
        self.wake_if_idle();
    }

    pub(crate) fn wake_if_idle(&self) {
        if self.idle.load(Ordering::SeqCst) > 0 {
            self.wake_one(0);
        }
    }

    /// Queues a fiber spawned by a thread that runs no domain of this runtime. During a shutdown it is
    /// refused, because there may be no domain left to take it.
    pub(crate) fn spawn_outside(&self, fiber: NonNull<Fiber>, domain: Option<usize>) {
        let count = || {
            self.spawned_outside.fetch_add(1, Ordering::SeqCst);
            self.outside.lock().fibers.add(1);
        };
        match domain {
            // No domain leaves before the counted fibers have ended.
            Some(index) if self.common.count_if_open(count) => self.domain(index).hand_over(fiber),
            // SAFETY: a new fiber is in no list, and stays until it runs.
            None if unsafe { self.common.push_if_open(fiber.cast(), count) } => self.wake_if_idle(),
            // SAFETY: the fiber has not begun, and no other code has it.
            _ => unsafe { fiber_cell::refuse(fiber) },
        }
    }

    /// Counts a task of `bytes` bytes that a thread that runs no domain has reified.
    pub(crate) fn task_from_outside(&self, bytes: usize) {
        self.spawned_outside.fetch_add(1, Ordering::SeqCst);
        let outside = self.outside.lock();
        outside.tasks.add(1);
        outside.reified(bytes);
    }

    /// Returns how many fibers have been spawned, and tasks reified, that have not ended. Never too
    /// few.
    pub(crate) fn live(&self) -> u64 {
        let finished: u64 = self.domains.iter().map(|domain| domain.counts.finished.get()).sum();
        // Read before the count of spawns inside: tasks that end outside are subtracted here.
        let outside = self.spawned_outside.load(Ordering::SeqCst);
        let spawned: u64 = self.domains.iter().map(|domain| domain.counts.spawned.get()).sum();
        let spawned = spawned.wrapping_add(outside);
        // A negative number means that more has ended since the counts were read.
        u64::try_from(spawned.wrapping_sub(finished).cast_signed()).unwrap_or(0)
    }

    /// Returns how many fibers wait to begin, without fibers that were placed on a domain.
    pub(crate) fn waiting_to_begin(&self) -> usize {
        // Before the common queue, where it may go.
        let unbegun: u64 = self.domains.iter().map(|domain| domain.unbegun()).sum();
        usize::try_from(unbegun + self.common.len()).unwrap_or(usize::MAX)
    }

    /// Notes that the domain `index` leaves.
    pub(crate) fn leave(&self, index: usize) {
        self.domains[index].has_left.store(true, Ordering::Release);
        self.snapshot.tell();
        self.left.fetch_add(1, Ordering::AcqRel);
        if self.has_ended() {
            self.monitor.end();
            // Under the lock: a thread that waits has not looked yet, or sleeps.
            let _told = self.has_last_left.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.has_last_left.1.notify_all();
        }
    }

    /// Blocks the thread until all domains have left, or until `end`.
    pub(crate) fn wait_for_end(&self, end: Instant) {
        let mut lock = self.has_last_left.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while !self.has_ended() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.has_last_left.1.wait_timeout(lock, left);
            lock = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
    }

    /// Returns `true` if a domain that has nothing to run may leave.
    pub(crate) fn may_leave(&self) -> bool {
        match self.phase.load(Ordering::Acquire) {
            RUNNING | DRAINING => false,
            STOPPING => self.live() == 0,
            _ => true,
        }
    }

    /// Returns `true` if the runtime has live fibers and is not being stopped. Then it may be that
    /// none of them can go on.
    pub(crate) fn may_be_dead(&self) -> bool {
        self.phase.load(Ordering::SeqCst) < STOPPING && self.live() > 0
    }

    /// Returns the current turn of each domain.
    pub(crate) fn turns(&self) -> Vec<u64> {
        self.domains.iter().map(|domain| domain.counts.turn()).collect()
    }

    /// Hands `report` to this runtime's handler, or to the default one.
    pub(crate) fn report(&self, report: &Report) {
        report::say(self.handler.as_ref(), report);
    }

    /// Does the same if `is_said` is not set yet, and sets it.
    pub(crate) fn report_once(&self, is_said: &AtomicBool, report: impl FnOnce() -> Report) {
        if !is_said.swap(true, Ordering::Relaxed) {
            self.report(&report());
        }
    }

    pub(crate) fn stop(&self) {
        // The queue is closed before the phase is stored: a domain that checks whether it may leave
        // sees everything that was queued by then.
        self.common.close();
        self.phase.fetch_max(STOPPING, Ordering::SeqCst);
        self.wake_all();
    }

    /// Tells domains that still wait for fibers to leave, and returns the remaining fibers.
    pub(crate) fn abandon(self: &Arc<Self>) -> Shutdown {
        // Asked now, while the domains can still answer.
        let waiting = if self.has_ended() { Vec::new() } else { self.snapshot().graph.fibers };
        self.phase.store(ABANDONED, Ordering::Release);
        // A domain that does not return fires no timers.
        for domain in &self.domains {
            let _ = domain.tasks_timers.close();
        }
        self.wake_all();
        let unfinished = usize::try_from(self.live()).unwrap_or(usize::MAX);
        if unfinished > 0 {
            // A task that has not ended may refer to this.
            std::mem::forget(self.clone());
        }
        let running = self.domains.iter().filter_map(|domain| domain.running_now()).map(Straggler::from);
        let waiting = waiting.into_iter().filter_map(Straggler::waiting);
        let stragglers = if unfinished == 0 { Vec::new() } else { running.chain(waiting).collect() };
        Shutdown { stragglers, unfinished }
    }
}
