//! The steps that all locks take before they wait.

use crate::event::{Label, PerformerContext, installed, performer_id, visible_doing};
use crate::shim::unseen::{AtomicU32, Ordering};
use crate::shim::{clock, const_fn, hint, thread};

/// For how long a performer waits before it looks at a lock again, in spins: several times as long
/// as most locks are held, for each look takes the line of memory from the holder.
const SPINS: u32 = 30;

/// How often a plain thread looks again after that. Each time it offers its core to others: with
/// more threads than cores, the holder may be one that waits for a core.
const LOOKS: u32 = 20;

/// How long, in nanoseconds, an offer of the core takes at most if nobody takes it. It takes some
/// 200 where the kernel has nobody else to run there, and several thousand where it has.
const NOBODY_CAME: u64 = 1_000;

/// For how long, in nanoseconds, it looks where it is to wait in its place soon.
const SHORTLY: u64 = 500_000;

/// Tells a model that this lock is about to be tried, and returns the performer's id. This reads a
/// thread-local once in a fiber and twice elsewhere.
#[inline(always)]
pub(super) fn tell<T: ?Sized>(operation: &'static str, label: &Label, lock: &T) -> usize {
    visible_doing(operation, label, lock);
    performer_id()
}

/// Tries to take a lock, but not for long: with more threads than cores each look may take
/// milliseconds, and a thread that only looks has no place in the queue. Returns `true` if `take`
/// did. A fiber does not try: of four that mostly read, on two cores, a look takes a sixth of the
/// throughput.
pub(super) fn look(take: impl FnMut() -> bool) -> bool {
    installed().is_none() && look_shortly_on_thread(take)
}

/// Does the same for a writer, but only once if readers have the lock: a writer that only looks
/// keeps no reader out.
///
/// Readers that come and go have the lock nearly always. Beside 15 threads that only read, on two
/// cores, a writer that went on looking wrote 144 times a second, and 109,000 times if it waits
/// after the first look. Where one lock in ten is for writing all get 1.2 to 1.4 times as much
/// done. If it waited at once when another writer has the lock, 16 threads that only write would
/// lock 64,000 times a second in place of 90 million.
pub(super) fn look_as_writer(is_read: impl Fn() -> bool, mut take: impl FnMut() -> bool) -> bool {
    // Loom would have to explore each attempt.
    if cfg!(lisle_loom) || installed().is_some() {
        return false;
    }
    spin();
    take() || look_shortly_while(|| !is_read(), take)
}

/// Tries for a moment, in a fiber, to take a mutex. The holder may be a fiber that waits for this
/// very thread, so it is one moment, and none if the thread has anything else to do.
///
/// On two cores two fibers lock 73 million times a second so, and 26 if they wait at once: where
/// nothing else is ready, a wait is a wake by another domain.
pub(super) fn look_in(context: &dyn PerformerContext, mut take: impl FnMut() -> bool) -> bool {
    !cfg!(lisle_loom) && context.may_spin() && {
        spin();
        take()
    }
}

/// Tries to take something, and looks shortly, if this is a plain thread. `take` is one step.
pub(super) fn take_on_thread<T>(mut take: impl FnMut() -> Option<T>) -> Option<T> {
    if cfg!(lisle_loom) || installed().is_some() {
        return None;
    }
    let mut taken = take();
    let _ = taken.is_some()
        || look_shortly_on_thread(|| {
            taken = take();
            taken.is_some()
        });
    taken
}

pub(super) fn look_shortly_on_thread(take: impl FnMut() -> bool) -> bool {
    look_shortly_while(|| true, take)
}

/// Tries for a short time to take a lock, on a plain thread, and for as long as it may go on.
/// Returns `true` if `take` did.
///
/// With two cores, a lock that is held for 20 ns and threads that want it all the time, this takes
/// it 1.3 to 1.6 times as often as looking after 2, 4 and 8 spins first, as parking_lot does.
/// Without the spins, holding it for 200 ns costs a third of the throughput: yielding takes longer
/// than that.
fn look_shortly_while(goes_on: impl Fn() -> bool, mut take: impl FnMut() -> bool) -> bool {
    // Loom would have to explore each attempt.
    let looks = if cfg!(lisle_loom) { 0 } else { LOOKS };
    let since = clock::now();
    let is_short = || clock::now().saturating_sub(since) <= SHORTLY;
    (0..looks).take_while(|_| goes_on() && is_short()).any(|round| {
        match round {
            0 => spin(),
            _ => thread::yield_now(),
        }
        take()
    })
}

/// The shared state of the plain threads that look at one lock: the one that looked last.
///
/// Where there are more threads than cores, each looking thread offers its core to the next. One or
/// two of them run at any time, and take the lock from each other without a wake. Where each has a
/// core, all of them run: the lock's cache line goes round among the looking threads, and the
/// holder waits for it. So a thread whose core no other thread wants looks only while it is the
/// only one, and the queue is empty. On 16 cores 8 threads lock 28 million times a second like
/// this, and 3.7 million times if all look.
#[derive(Debug)]
pub(super) struct Looker(AtomicU32);

impl Looker {
    const_fn! {
        pub(super) fn new() -> Self {
            Looker(AtomicU32::new(0))
        }
    }

    /// Tries for a while to take a lock, for the performer `me`. Returns `true` if `take` did.
    pub(super) fn look(
        &self,
        me: usize,
        is_queue: impl Fn() -> bool,
        mut take: impl FnMut() -> bool,
    ) -> bool {
        if let Some(context) = installed() {
            return look_in(context, take);
        }
        // Loom would have to explore each attempt.
        if cfg!(lisle_loom) {
            return false;
        }
        spin();
        if take() {
            return true;
        }
        let me = (me / align_of::<usize>()) as u32;
        for _ in 1..LOOKS {
            if self.0.load(Ordering::Relaxed) != me {
                self.0.store(me, Ordering::Relaxed);
            }
            let before = clock::now();
            thread::yield_now();
            if take() {
                return true;
            }
            let has_core = clock::now().saturating_sub(before) < NOBODY_CAME;
            if has_core && (is_queue() || self.0.load(Ordering::Relaxed) != me) {
                return false;
            }
        }
        false
    }
}

fn spin() {
    (0..SPINS).for_each(|_| hint::spin_loop());
}
