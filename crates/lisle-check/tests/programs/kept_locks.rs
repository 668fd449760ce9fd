//! Locks that not everybody gives back: nidhugg's programs of mutexes, with its counts.
//!
//! They are in `tests/smoke/C-tests` of github.com/nidhugg/nidhugg, and the counts in its
//! `reference.results.txt`. An execution in which a thread waits for ever counts as one that ends
//! does. So two orders are the same if they differ only in who would have come after the one that
//! keeps the lock.

use lisle::sync::Mutex;
use lisle_check::{Checker, Counts};
use std::mem::forget;
use std::sync::Arc;

/// Explores a program of `fibers` fibers. Each takes the lock of a number, adds one, and keeps the
/// lock if `keeps` returns `true` for the fiber and the number before. Returns how many executions
/// come to an end, and in how many the others wait for ever.
fn executions(fibers: usize, keeps: fn(usize, usize) -> bool) -> (u64, u64) {
    let verdict = Checker::new().past_failures().explore(move || {
        let number = Arc::new(Mutex::new(0));
        for fiber in 0..fibers {
            let number = number.clone();
            lisle::spawn(move || {
                let mut guard = number.lock();
                *guard += 1;
                if keeps(fiber, *guard - 1) {
                    forget(guard);
                }
            });
        }
    });
    let Counts { complete, blocked, .. } = verdict.counts();
    assert_eq!(complete + blocked, verdict.counts().all(), "{verdict}");
    (complete, blocked)
}

/// `mutex_order_2` and `mutex_order_3`.
#[test]
fn nobody_keeps_it() {
    assert_eq!([2, 3].map(|fibers| executions(fibers, |_, _| false)), [(2, 0), (6, 0)]);
}

/// `mutex_deadlock_2` and `mutex_deadlock_3`: two executions and three.
#[test]
fn whoever_takes_it_keeps_it() {
    assert_eq!([2, 3, 4].map(|fibers| executions(fibers, |_, _| true)), [(0, 2), (0, 3), (0, 4)]);
}

/// `mutex_deadlock_one` and `mutex_deadlock_one_first`: five each, for those before the keeper come
/// in any order, and those after it in none.
#[test]
fn one_of_three_keeps_it() {
    assert_eq!(executions(3, |fiber, _| fiber == 2), (2, 3));
    assert_eq!(executions(3, |fiber, _| fiber == 0), (2, 3));
}

/// `mutex_hard`: four, for each gives it back only in its turn.
#[test]
fn who_comes_out_of_turn_keeps_it() {
    let (complete, blocked) = executions(3, |fiber, turn| fiber != turn);
    assert_eq!(complete + blocked, 4);
    assert_eq!(complete, 1);
}
