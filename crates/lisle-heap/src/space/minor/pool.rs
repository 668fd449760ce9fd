//! The work that the threads of a collection share: lists of pending objects.
//!
//! A thread without work waits here. A thread with work looks now and then whether one waits, and gives it half of its
//! pending objects. The collection is over when all threads wait.

use crate::raw::Raw;
use lisle_core::internal::shim::hint::spin_loop;
use lisle_core::internal::shim::sync::{Condvar, Mutex, MutexGuard};
use lisle_core::internal::shim::unseen::{AtomicUsize, Ordering};

/// The number of looks before a thread without work sleeps: some 30 µs.
const LOOKS: u32 = if cfg!(any(lisle_loom, miri)) { 0 } else { 1_000 };

/// The number of lists that can wait for a thread.
const ROOM: usize = 16;

pub(crate) struct Pool {
    lists: Mutex<Lists>,
    /// The number of threads that wait, less the lists that wait for them. A hint.
    wants: AtomicUsize,
    more: Condvar,
}

struct Lists {
    lists: [Raw; ROOM],
    len: usize,
    /// The number of threads with work.
    busy: usize,
    waiting: usize,
    /// The number of threads among them that sleep.
    asleep: usize,
}

// SAFETY: the thread that takes a list is the only one that uses its objects.
unsafe impl Send for Lists {}

impl Pool {
    pub(crate) fn new() -> Self {
        let lists = Lists { lists: [std::ptr::null_mut(); ROOM], len: 0, busy: 0, waiting: 0, asleep: 0 };
        Self { lists: Mutex::new(lists), wants: AtomicUsize::new(0), more: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Says that a thread with work takes part.
    pub(crate) fn begin(&self) {
        self.lock().busy += 1;
    }

    /// Returns `true` if a thread waits for work.
    #[inline]
    pub(crate) fn wants(&self) -> bool {
        self.wants.load(Ordering::Relaxed) > 0
    }

    /// Gives a list to a thread that waits. Returns `false` if none does any more.
    pub(crate) fn give(&self, list: Raw) -> bool {
        let mut lists = self.lock();
        if lists.len == ROOM || lists.len >= lists.waiting {
            return false;
        }
        let len = lists.len;
        lists.lists[len] = list;
        lists.len += 1;
        self.wants.store(lists.waiting - lists.len, Ordering::Relaxed);
        if lists.asleep > 0 {
            drop(lists);
            self.more.notify_one();
        }
        true
    }

    /// Says that this thread has no work left, and returns a list that another gives. Returns `None` when no thread has
    /// work any more.
    pub(crate) fn take(&self) -> Option<Raw> {
        self.stop_work();
        self.join()
    }

    fn stop_work(&self) {
        let mut lists = self.lock();
        lists.busy -= 1;
        if lists.busy == 0 && lists.len == 0 {
            // Those that do not sleep look whether work is wanted.
            self.wants.store(0, Ordering::Relaxed);
            if lists.asleep > 0 {
                drop(lists);
                self.more.notify_all();
            }
        }
    }

    /// Takes part without work, and waits for a list. Returns `None` when no thread has work.
    pub(crate) fn join(&self) -> Option<Raw> {
        let mut lists = self.lock();
        lists.waiting += 1;
        let mut looks = 0;
        loop {
            if lists.len > 0 {
                lists.len -= 1;
                lists.waiting -= 1;
                lists.busy += 1;
                self.wants.store(lists.waiting - lists.len, Ordering::Relaxed);
                return Some(lists.lists[lists.len]);
            }
            if lists.busy == 0 {
                lists.waiting -= 1;
                return None;
            }
            self.wants.store(lists.waiting, Ordering::Relaxed);
            if looks < LOOKS {
                drop(lists);
                while looks < LOOKS && self.wants() {
                    looks += 1;
                    spin_loop();
                }
                lists = self.lock();
            } else {
                lists.asleep += 1;
                lists = self.more.wait(lists).unwrap_or_else(|poisoned| poisoned.into_inner());
                lists.asleep -= 1;
            }
        }
    }
}
