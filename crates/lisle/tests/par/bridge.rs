//! Sequential iterators as parallel ones.

use crate::support::{everywhere, work};
use lisle::{Runtime, channel, fiber, par, par::prelude::*, time::sleep};
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ITEMS: u64 = 3_000;

#[test]
fn all_items_are_there_in_any_order() {
    everywhere(|| {
        let all: HashSet<u64> = (0..ITEMS).par_bridge().map(|n| n + work(n) - work(n)).collect();
        assert_eq!(all, (0..ITEMS).collect());
        assert_eq!(std::iter::empty::<u64>().par_bridge().max(), None);
        assert_eq!(std::iter::once(7).par_bridge().map(work).count(), 1);
    });
}

/// Participants that have found nothing end, too.
#[test]
fn it_ends_once_an_item_is_found() {
    everywhere(|| {
        let found = (0_u64..).par_bridge().find_any(|n| *n == 4_321);
        assert_eq!(found, Some(4_321));
        let failed: Result<Vec<u64>, u64> =
            (0..).par_bridge().map(|n| if n == 1_234 { Err(n) } else { Ok(n) }).collect();
        assert_eq!(failed, Err(1_234));
        let stopped = (0_u64..).par_bridge().until(lisle::time::after(Duration::from_millis(1))).count();
        assert!(stopped.is_err());
    });
}

/// `next` runs loops, during which its domain runs other participants, which want the lock.
#[test]
fn the_iterator_runs_loops_itself() {
    everywhere(|| {
        let rows = (0..300_u64).map(|n| (0..n).into_par_iter().map(work).map(|_| 1).sum::<u64>());
        assert_eq!(rows.par_bridge().map(|n| n + par::join(|| 1, || 2).0).sum::<u64>(), 300 * 299 / 2 + 300);
        let inner = (0..2_000_u64).into_par_iter().flat_map(|n| {
            std::iter::once_with(move || par::join(move || n, move || n.to_string())).par_bridge()
        });
        assert!(inner.all(|(n, text)| n.to_string() == text));
    });
}

#[test]
fn the_iterator_waits_for_each_item() {
    everywhere(|| {
        fiber::scope(|scope| {
            let (numbers, all) = channel::bounded(1);
            scope.spawn(move || {
                for n in 0..200_u64 {
                    if n % 50 == 0 {
                        sleep(Duration::from_micros(500));
                    }
                    numbers.send(n).unwrap();
                }
            });
            assert_eq!(all.into_iter().par_bridge().map(|n| n * 2).sum::<u64>(), 200 * 199);
        });
    });
}

/// An item may lead to further ones, which come while it is treated.
#[test]
fn the_items_come_of_each_other() {
    everywhere(|| {
        let (found, queue) = channel::unbounded();
        let left = AtomicU64::new(1);
        found.send(1_u64).unwrap();
        let tree = queue.into_iter().take_while(|&n| n != 0).par_bridge().map(|n| {
            let children = [2 * n, 2 * n + 1].into_iter().filter(|n| *n < 1_000);
            children.for_each(|n| {
                left.fetch_add(1, Ordering::Relaxed);
                found.send(n).unwrap();
            });
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                found.send(0).unwrap();
            }
            n
        });
        assert_eq!(tree.sum::<u64>(), 999 * 1_000 / 2);
    });
}

#[test]
fn panics_reach_the_caller() {
    everywhere(|| {
        let in_next = (0..ITEMS).inspect(|n| assert!(*n != 2_000, "no more"));
        assert!(catch_unwind(|| in_next.par_bridge().map(work).count()).is_err());
        let after = (0..ITEMS).par_bridge().map(|n| assert!(n != 2_000, "no more"));
        assert!(catch_unwind(std::panic::AssertUnwindSafe(|| after.count())).is_err());
    });
}

/// Items that take long are shared by all domains, however few they are: an item takes until another domain has one, too.
#[test]
fn each_domain_takes_items() {
    let seen = Mutex::new(HashSet::new());
    Runtime::builder().domains(2).start().unwrap().run(|| {
        let start = Instant::now();
        (0..40).par_bridge().for_each(|_| {
            seen.lock().unwrap().insert(thread::current().id());
            while seen.lock().unwrap().len() < 2 && start.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
        });
    });
    assert_eq!(seen.into_inner().unwrap().len(), 2);
}
