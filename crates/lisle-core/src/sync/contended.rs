//! The steps that all locks take before they wait.

use crate::event::{Label, installed, performer_id, visible_doing};
use crate::shim::{clock, hint, thread};

/// For how long a plain thread waits before it looks at a lock again, in spins: several times as
/// long as most locks are held, for each look takes the line of memory from the holder.
const SPINS: u32 = 30;

/// How often a plain thread looks again after that. Each time it offers its core to others: with
/// more threads than cores, the holder may be one that waits for a core.
const LOOKS: u32 = 20;

/// For how long, in nanoseconds, it looks where it is to wait in its place soon.
const SHORTLY: u64 = 500_000;

/// Tells a model that this lock is about to be tried, and returns the performer's id. This reads a
/// thread-local once in a fiber and twice elsewhere.
#[inline(always)]
pub(super) fn tell<T: ?Sized>(operation: &'static str, label: &Label, lock: &T) -> usize {
    visible_doing(operation, label, lock);
    performer_id()
}

/// Tries for a while to take a lock. Returns `true` if `take` did. A fiber does not try: the holder
/// of the lock may be waiting for this very thread.
pub(super) fn look(take: impl FnMut() -> bool) -> bool {
    installed().is_none() && look_on_thread(take)
}

/// Does the same, but not for long: with more threads than cores each look may take milliseconds, and who
/// only looks keeps nobody out, and has no place among those that wait.
pub(super) fn look_shortly(take: impl FnMut() -> bool) -> bool {
    installed().is_none() && look_shortly_on_thread(take)
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

/// Tries for a while, on a plain thread, to take a lock. Returns `true` if `take` did.
///
/// With two cores, a lock that is held for 20 ns and threads that want it all the time, this takes
/// it 1.3 to 1.6 times as often as looking after 2, 4 and 8 spins first, as parking_lot does.
/// Without the spins, holding it for 200 ns costs a third of the throughput: yielding takes longer
/// than that.
pub(super) fn look_on_thread(take: impl FnMut() -> bool) -> bool {
    look_while(|| true, take)
}

fn look_shortly_on_thread(take: impl FnMut() -> bool) -> bool {
    let since = clock::now();
    look_while(|| clock::now().saturating_sub(since) <= SHORTLY, take)
}

fn look_while(goes_on: impl Fn() -> bool, mut take: impl FnMut() -> bool) -> bool {
    // Loom would have to explore each attempt.
    let looks = if cfg!(lisle_loom) { 0 } else { LOOKS };
    (0..looks).take_while(|_| goes_on()).any(|round| {
        match round {
            0 => (0..SPINS).for_each(|_| hint::spin_loop()),
            _ => thread::yield_now(),
        }
        take()
    })
}
