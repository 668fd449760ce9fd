//! A thread that watches a runtime at work: it reports hosts that keep their domain for long while others
//! wait, wakes idle domains for hosts that nobody has begun, and notices when no host can ever go on.
//!
//! It looks every 10 ms while any domain works, and sleeps for good when none does.

use super::deadlock::{self, Verdict};
use super::runtime::Shared;
use super::shutdown::Straggler;
use crate::event::tick;
use crate::own_threads;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::sync::{Arc, OnceLock};
use std::io::Write;
use std::sync::Weak;
use std::thread::Thread;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(10);
/// After so many looks at a runtime that sleeps the monitor sleeps, too.
const QUIET: u32 = 20;
/// After so many it is time to look whether it can ever wake up.
const SETTLED: u32 = 5;
/// If that could not be told, it is looked for again after a pause, and after twice that, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

#[derive(Default)]
pub(super) struct Monitor {
    asleep: AtomicBool,
    ended: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Monitor {
    /// Work begins on some domain.
    #[inline]
    pub(super) fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst)
            && self.asleep.swap(false, Ordering::AcqRel)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// What the monitor remembers of a domain between two looks.
#[derive(Clone, Copy, Default)]
struct Seen {
    turn: u64,
    for_looks: u32,
    reported: bool,
}

/// Starts the monitor of a runtime. It ends with it.
pub(super) fn start(shared: &Arc<Shared>) -> std::io::Result<()> {
    let weak = Arc::downgrade(shared);
    let thread = std::thread::Builder::new()
        .name(format!("{}-monitor", shared.thread_name))
        .stack_size(256 * 1024)
        .spawn(move || watch(&weak))?;
    let _ = shared.monitor.thread.set(thread.thread().clone());
    Ok(())
}

fn watch(weak: &Weak<Shared>) {
    let _enlisted =
        weak.upgrade().map(|shared| own_threads::enlist(own_threads::Owner::Runtime(shared.number)));
    let mut seen = Vec::new();
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
            quiet = if shared.idle.load(Ordering::Relaxed) == shared.domains.len() { quiet + 1 } else { 0 };
            // A domain may have woken and fallen asleep again between two looks, and then the verdict is of no worth.
            if quiet == SETTLED || (quiet > QUIET && sleeps_of(&shared) != judged) {
                judged = sleeps_of(&shared);
                verdict = deadlocks.look(&shared);
            }
            if quiet > QUIET {
                shared.monitor.asleep.store(true, Ordering::SeqCst);
                // A domain that woke in between may not have seen the mark, so its wake is looked for once more.
                if shared.idle.load(Ordering::SeqCst) != shared.domains.len() || sleeps_of(&shared) != judged
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

/// Changes whenever a domain falls asleep or wakes.
fn sleeps_of(shared: &Shared) -> u64 {
    shared
        .domains
        .iter()
        .fold(0, |sum, domain| sum.wrapping_mul(31).wrapping_add(domain.counts.asleep.load(Ordering::SeqCst)))
}

fn look(shared: &Shared, seen: &mut [Seen]) {
    for (domain, seen) in shared.domains.iter().zip(seen) {
        if shared.idle.load(Ordering::Relaxed) > 0 {
            if domain.stealable.len() > 0 {
                shared.wake_one(domain.index);
            } else if domain.offers.len() > 0 && shared.could_wake_one() {
                shared.wake_for_loop(domain.index);
            }
        }
        domain.beat.turn_on();
        let turn = domain.counts.turn.load(Ordering::Relaxed);
        if turn != seen.turn || domain.inbox.is_asleep() {
            *seen = Seen { turn, ..Seen::default() };
            continue;
        }
        seen.for_looks += 1;
        let others_wait = turn & 1 == 1 || domain.inbox.has_news() || domain.stealable.len() > 0;
        let long = shared.stall_report.is_some_and(|limit| PERIOD * seen.for_looks >= limit);
        if long && others_wait && !seen.reported {
            seen.reported = true;
            if let Some(host) = domain.running_now().map(Straggler::from) {
                let _ = writeln!(
                    std::io::stderr(),
                    "lisle: {host}, for {:?} without blocking, and others wait; it could call yield_now, or \
                     blocking if it waits for something foreign",
                    PERIOD * seen.for_looks
                );
            }
        }
    }
}
