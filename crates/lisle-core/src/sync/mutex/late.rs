//! The mutexes whose waiters may have to take back a late turn. The clock thread looks at them.
//!
//! A mutex is listed, under its queue's lock, only while a *rooted* waiter is in its queue
//! (`TurnMessages::rooted`), and is taken off the list before the last of these has left. Such a performer
//! borrows the mutex and cannot be forgotten, so a listed mutex is alive for a thread that has the
//! list's lock. A waiter that is a future on a foreign executor, or a source of a wait set, does not
//! count: forgotten, it stays in the queue of a mutex that may be gone. If only such wait, they wait
//! until the one that has the turn comes.
//!
//! The list's lock is taken under a queue's lock; the clock thread, which takes them the other way
//! round, only tries the second. It borrows nothing. So it takes no waiter out of the queue whose
//! performer could leave before the queue's lock is free again (`Queue::next`).
//!
//! Listing is cheap, and the clock thread is told once in a period at most.

use super::raw::RawMutex;
use crate::event::lock::Lock;
use crate::event::protocol::woken::Woken;
use crate::fork::PerProcess;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::{CachePadded, clock};
use crate::time::outside;
use std::ptr::NonNull;

/// How often, in nanoseconds, the clock thread looks, while there is something to look at.
const PERIOD: u64 = 4_000_000;

/// The number of lists. A mutex is always on the same one. There are several, since each mutex needs
/// its list when it gives turns to other domains.
const LISTS: usize = 16;

struct Listed(NonNull<RawMutex>);

// SAFETY: a mutex may be used from any thread.
unsafe impl Send for Listed {}

/// The late turns of a process. A forked child has none: the waiters are threads of its parent.
struct Late {
    lists: [CachePadded<Lock<Vec<Listed>>>; LISTS],
    /// The clock thread has been told to look, and has not begun to.
    told: AtomicBool,
}

impl Late {
    fn new() -> Self {
        let lists = [const { CachePadded(Lock::new(Vec::new())) }; LISTS];
        Late { lists, told: AtomicBool::new(false) }
    }
}

static LATE: PerProcess<Late> = PerProcess::new(Late::new);

fn list_of(mutex: &RawMutex) -> &'static Lock<Vec<Listed>> {
    &LATE.get().lists[std::ptr::from_ref(mutex).addr() / size_of::<RawMutex>() % LISTS].0
}

/// Puts a mutex on its list, on which it is not.
pub(super) fn list(mutex: &RawMutex) {
    list_of(mutex).lock().push(Listed(NonNull::from(mutex)));
}

/// Takes a mutex off its list.
pub(super) fn unlist(mutex: &RawMutex) {
    list_of(mutex).lock().retain(|listed| listed.0 != NonNull::from(mutex));
}

/// Has the clock thread look soon, after a mutex was listed.
#[cold]
pub(super) fn look_soon() {
    // A thread that listed a mutex too late for a look has the list's lock after that look, and so
    // sees that it had begun.
    let told = &LATE.get().told;
    if !told.load(Ordering::Relaxed)
        && !told.swap(true, Ordering::Relaxed)
        && !outside::call_at(clock::now() + PERIOD, look)
    {
        // The system gives no thread. The next that lists a mutex asks again.
        told.store(false, Ordering::Relaxed);
    }
}

/// Gives the turns that are late to others.
fn look() {
    let late = LATE.get();
    late.told.store(false, Ordering::Relaxed);
    let mut is_empty = true;
    for list in &late.lists {
        // Dropped after the guard.
        let woken = Woken::default();
        let mut list = list.0.lock();
        // SAFETY: a listed mutex is alive as long as the list's lock is held.
        list.retain(|mutex| unsafe { mutex.0.as_ref() }.see_to_late_turn(&woken));
        is_empty &= list.is_empty();
    }
    if !is_empty {
        look_soon();
    }
}
