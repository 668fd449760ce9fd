//! Cells, barriers, latches, and events of the user's own.

use crate::executor::poll_once;
use crate::ways::{WAYS, each_way, perform};
use crate::{rounds, start};
use lisle_core::event::Source;
use lisle_core::sync::{Barrier, Condition, IVar, Latch, MVar, OnceCell, WaitGroup, Watch};
use lisle_core::{Event, choose};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::scope;

#[test]
fn an_ivar_and_a_condition_reach_all_that_wait() {
    for first in start()..start() + rounds(4 * WAYS, 2) {
        let (cell, signal) = (IVar::<Box<u32>>::new(), Condition::new());
        scope(|scope| {
            for way in [first, first + 1] {
                let (cell, signal) = (&cell, &signal);
                scope.spawn(move || {
                    if let Some(value) = perform(way, cell.get_evt()) {
                        assert_eq!(**value, 7);
                    }
                    perform(way, signal.wait_evt());
                    poll_once(pin!(choose((signal.wait_evt(), signal.wait_evt())).future()));
                });
            }
            scope.spawn(|| {
                cell.put(Box::new(7)).unwrap();
                signal.signal();
            });
        });
    }
}

#[test]
fn an_mvar_is_put_taken_read_and_lent() {
    let cell = MVar::new();
    let (count, busy) = (rounds(300, 4), AtomicUsize::new(2));
    /// Says that a thread has ended, also by a panic.
    struct Ends<'a>(&'a AtomicUsize);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }
    scope(|scope| {
        let (cell, busy) = (&cell, &busy);
        scope.spawn(move || {
            let _ends = Ends(busy);
            each_way(count, start(), || cell.put_evt(Box::new(3)), |()| ());
        });
        scope.spawn(move || {
            let _ends = Ends(busy);
            for way in 0..count {
                perform_if_brief(way, cell);
            }
        });
        // The others may wait for room until they have ended.
        scope.spawn(move || {
            while busy.load(Relaxed) > 0 {
                drop(cell.try_take());
                std::thread::yield_now();
            }
        });
    });
}

/// Takes, reads or borrows a value in the ways that need not wait.
fn perform_if_brief(way: usize, cell: &MVar<Box<u32>>) {
    const BRIEF: [usize; 7] = [1, 3, 5, 7, 9, 14, 20];
    let brief = BRIEF[way % BRIEF.len()];
    perform(brief, cell.read_evt());
    perform(brief, cell.lease_evt());
    let mut taking = pin!(cell.take_evt().future());
    if let Some(value) = poll_once(taking.as_mut()) {
        cell.put(value);
    }
}

#[test]
fn watchers_see_what_is_set() {
    let watch = Watch::new(Box::new(0));
    let count = rounds(300, 4);
    scope(|scope| {
        for first in [start(), start() + WAYS / 2] {
            let watcher = watch.watcher();
            scope.spawn(move || {
                for way in first.. {
                    if let Some(Err(_)) = perform(way, watcher.changed_evt().wrap(|seen| seen.map(|_| ()))) {
                        return;
                    }
                    watcher.see();
                }
            });
        }
        scope.spawn(move || {
            for value in 0..count {
                watch.set(Box::new(value));
            }
        });
    });
}

#[test]
fn barriers_latches_groups_and_cells_that_are_filled_once() {
    for way in start()..start() + rounds(4 * WAYS, 1) {
        let (barrier, latch, group, cell) =
            (Barrier::new(), Latch::new(2), WaitGroup::new(), OnceCell::new());
        let (parties, members) = ([barrier.enrol(), barrier.enrol()], [group.enter(), group.enter()]);
        scope(|scope| {
            for (party, member) in parties.into_iter().zip(members) {
                let (latch, cell) = (&latch, &cell);
                scope.spawn(move || {
                    poll_once(pin!(party.wait_evt().future()));
                    party.wait();
                    latch.count_down();
                    cell.get_or_init(|| Box::new(4));
                    drop(member);
                });
            }
            scope.spawn(|| perform(way, latch.wait_evt()));
            scope.spawn(|| perform(way + 1, group.wait_evt()));
            scope.spawn(|| perform(way, cell.get_evt()));
        });
        assert_eq!(cell.get().map(|value| **value), Some(4));
    }
}

/// A source grants to several that wait, under one lock, and tells others to start over.
#[test]
fn an_event_of_the_users_own() {
    let tokens = Source::<usize, Box<usize>>::new(0);
    let count = rounds(300, 4);
    scope(|scope| {
        for first in [start(), start() + WAYS / 2] {
            let tokens = &tokens;
            scope.spawn(move || {
                each_way(
                    count,
                    first,
                    || {
                        tokens.event(|left| {
                            *left = left.checked_sub(1)?;
                            Some(Box::new(*left))
                        })
                    },
                    |_| (),
                );
                // Lets the giver end.
                tokens.update(|left, _| *left += 1_000_000);
            });
        }
        scope.spawn(|| {
            let mut ends = false;
            while !ends {
                tokens.update(|left, waiters| {
                    ends = *left >= 1_000_000;
                    if waiters.grant(Box::new(1)).is_err() {
                        *left += 1;
                    }
                    waiters.retry_all();
                });
                std::thread::yield_now();
            }
        });
    });
}
