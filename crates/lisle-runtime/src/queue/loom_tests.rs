//! Models of the queues that domains share, explored by loom: the inbox, and the fibers that have
//! not begun, in slot and ring.

use super::inbox::{Inbox, Linked};
use super::ring::{CAPACITY, Ring};
use super::stealable::Stealable;
use crate::shim::sync::Arc;
use loom::sync::Notify;
use loom::thread;
use std::ptr::NonNull;

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Something with a link, whose accesses loom follows.
struct Item {
    number: usize,
    next: loom::cell::Cell<*mut Item>,
}

// SAFETY: `set_link` stores the value that `link` returns.
unsafe impl Linked for Item {
    fn link(&self) -> *mut Item {
        self.next.get()
    }
    fn set_link(&self, next: *mut Item) {
        self.next.set(next);
    }
}

fn item(number: usize) -> NonNull<Item> {
    NonNull::from(Box::leak(Box::new(Item { number, next: loom::cell::Cell::new(std::ptr::null_mut()) })))
}

/// Takes an item back.
fn number(item: NonNull<Item>) -> usize {
    // SAFETY: `item` has leaked it, and the code that takes it out of an inbox or a ring owns it.
    unsafe { Box::from_raw(item.as_ptr()) }.number
}

/// An inbox, and how its owner is woken.
struct Domain {
    pub inbox: Inbox<Item>,
    poller: Notify,
}

impl Domain {
    fn new() -> Arc<Self> {
        Arc::new(Domain { inbox: Inbox::new(), poller: Notify::new() })
    }

    fn hand_over(&self, number: usize) {
        // SAFETY: a new item is in no list, and only the owner lets it go.
        if unsafe { self.inbox.push(item(number)) } {
            self.poller.notify();
        }
    }

    /// Sleeps as a domain does until it has been handed `count` items.
    fn take(&self, count: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        loop {
            self.inbox.take_all(|item| taken.push(number(item)));
            if taken.len() == count {
                return taken;
            }
            if self.inbox.fall_asleep() {
                while self.inbox.is_asleep() {
                    self.poller.wait();
                }
            }
        }
    }
}

#[test]
fn a_sleeping_owner_is_woken_and_nothing_is_left() {
    explore(3, || {
        let domain = Domain::new();
        let pushers = [1, 2].map(|n| {
            let domain = domain.clone();
            thread::spawn(move || domain.hand_over(n))
        });
        let mut taken = domain.take(2);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
        assert!(!domain.inbox.has_news());
    });
}

#[test]
fn one_pushers_order_is_kept() {
    explore(3, || {
        let domain = Domain::new();
        let pusher = thread::spawn({
            let domain = domain.clone();
            move || (1..=3).for_each(|n| domain.hand_over(n))
        });
        assert_eq!(domain.take(3), [1, 2, 3]);
        pusher.join().unwrap();
    });
}

/// Only one thread has to wake: the one that ends a sleep, by handing over or from outside.
#[test]
fn a_sleep_is_ended_once() {
    explore(3, || {
        let domain = Domain::new();
        assert!(domain.inbox.fall_asleep());
        let pusher = thread::spawn({
            let domain = domain.clone();
            // SAFETY: as in `hand_over`.
            move || unsafe { domain.inbox.push(item(1)) }
        });
        let roused = domain.inbox.rouse();
        let pushed = pusher.join().unwrap();
        assert!(roused != pushed, "one of two");
        assert_eq!(domain.take(1), [1]);
    });
}

fn drain(ring: &Ring<Item>) -> Vec<usize> {
    std::iter::from_fn(|| ring.take()).map(number).collect()
}

#[test]
fn a_ring_gives_each_entry_once() {
    explore(3, || {
        let ring = Arc::new(Ring::new());
        let thieves = [(); 2].map(|()| {
            let ring: Arc<Ring<Item>> = ring.clone();
            thread::spawn(move || ring.take().map(number))
        });
        for n in 1..=2 {
            assert!(ring.push(item(n), n % 2 == 0));
        }
        let mut all = drain(&ring);
        all.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        assert_eq!(ring.len(), 0);
    });
}

/// Takes a share as a thief does.
fn some(ring: &Ring<Item>, only_free: bool) -> Vec<usize> {
    let mut taken = Vec::new();
    ring.take_some(|there| there, only_free, |entry| taken.push(number(entry)));
    taken
}

/// The ring is full when two thieves take a share each, and the owner uses the slots again.
#[test]
fn shares_are_of_neighbours_and_taken_once() {
    explore(3, || {
        let ring = Arc::new(Ring::new());
        let capacity = CAPACITY as usize;
        for n in 0..capacity {
            assert!(ring.push(item(n), n == 0));
        }
        let thieves = [true, false].map(|only_free| {
            let ring: Arc<Ring<Item>> = ring.clone();
            thread::spawn(move || some(&ring, only_free))
        });
        let entry = item(capacity);
        let mut all = Vec::new();
        while !ring.push(entry, false) {
            all.extend(ring.take().map(number));
        }
        all.extend(drain(&ring));
        for taken in thieves.map(|thief| thief.join().unwrap()) {
            assert!(taken.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{taken:?}");
            all.extend(taken);
        }
        all.sort_unstable();
        assert_eq!(all, (0..=capacity).collect::<Vec<_>>());
    });
}

/// The ring is full when the thief reads a slot, and the owner uses that slot again.
#[test]
fn a_slot_that_is_used_again_is_not_taken_twice() {
    explore(3, || {
        let ring = Arc::new(Ring::new());
        let capacity = CAPACITY as usize;
        for n in 0..capacity {
            assert!(ring.push(item(n), n % 2 == 0));
        }
        let thief = thread::spawn({
            let ring: Arc<Ring<Item>> = ring.clone();
            move || ring.take().map(number)
        });
        let mut all = Vec::new();
        for n in capacity..capacity + 2 {
            let entry = item(n);
            while !ring.push(entry, n % 2 == 0) {
                all.extend(ring.take().map(number));
            }
        }
        all.extend(drain(&ring));
        all.extend(thief.join().unwrap());
        all.sort_unstable();
        assert_eq!(all, (0..capacity + 2).collect::<Vec<_>>());
    });
}

/// The owner fills the slot while a thief empties it, and moves the displaced fiber to the ring.
#[test]
fn each_fiber_that_has_not_begun_is_taken_once() {
    explore(3, || {
        let stealable = Arc::new(Stealable::new());
        let thief = thread::spawn({
            let stealable: Arc<Stealable<Item>> = stealable.clone();
            move || {
                let _ = stealable.sight().is_some_and(|seen| stealable.still_waits(seen));
                let mut taken = Vec::new();
                let only_free = stealable.has_free();
                stealable.take_some(|_| 1, only_free, |entry| taken.push(number(entry)));
                taken.extend(stealable.take_youngest().map(number));
                taken
            }
        });
        let mut taken = Vec::new();
        for n in 1..=3 {
            assert!(stealable.push(item(n)).is_ok(), "there is room");
            if n == 1 {
                taken.extend(stealable.take_youngest().map(number));
            }
        }
        assert!(stealable.append(item(4), true));
        taken.extend(std::iter::from_fn(|| stealable.take_oldest()).map(number));
        taken.extend(thief.join().unwrap());
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3, 4]);
        assert_eq!(stealable.len(), 0);
    });
}
