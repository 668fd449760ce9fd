//! Models of the pool: each list is taken once, and all threads end when no work is left.

#[cfg(lisle_loom)]
use crate::pool::Pool;
use crate::raw::Raw;
#[cfg(not(lisle_loom))]
use crate::space::Pool;
use lisle_core::internal::shim::unseen::{AtomicUsize, Ordering};
use loom::sync::Arc;
use loom::thread;
use std::ptr;

/// The list with this number.
fn list(number: usize) -> Raw {
    ptr::without_provenance_mut(number)
}

/// Works off lists: one with a number above 1 is two of half the number.
fn work(pool: &Pool, mut number: usize, done: &AtomicUsize) {
    loop {
        while number > 1 && pool.give(list(number / 2)) {
            number -= number / 2;
        }
        done.fetch_add(number, Ordering::Relaxed);
        match pool.take() {
            Some(next) => number = next.addr(),
            None => return,
        }
    }
}

fn all_work_is_done(threads: usize, lists: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let (pool, done) = (Arc::new(Pool::new()), Arc::new(AtomicUsize::new(0)));
        pool.begin();
        let helpers: Vec<_> = (1..threads)
            .map(|_| {
                let (pool, done) = (pool.clone(), done.clone());
                thread::spawn(move || {
                    if let Some(list) = pool.join() {
                        work(&pool, list.addr(), &done);
                    }
                })
            })
            .collect();
        work(&pool, lists, &done);
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
        assert_eq!(done.load(Ordering::Relaxed), lists);
    });
}

#[test]
fn loom_two_threads_share_their_work() {
    all_work_is_done(2, 4);
}

#[test]
fn loom_three_threads_share_their_work() {
    all_work_is_done(3, 3);
}
