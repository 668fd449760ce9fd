//! Loom models of `MVar`: putters against performers that take, read, lease, choose and give up. At
//! the end every value that was put has been taken, is still there, or was dropped with a future,
//! and nothing waits.

use super::MVar;
use super::state::Phase;
use crate::event::Event;
use crate::event::choose;
use crate::loom_models::{explore, join_all, poll_once, spawn_with};
use crate::shim::sync::Arc;
use std::sync::Arc as StdArc;

/// A value whose clones are counted.
type Value = StdArc<u32>;

fn assert_idle(cell: &MVar<Value>) {
    cell.locked(|state, _| {
        assert!(matches!(state.phase, Phase::Empty | Phase::Full(0)), "the value is still in use");
        assert!(state.putting.is_empty(), "a putter is left behind");
        assert!(state.taking.is_empty(), "a taker is left behind");
        assert!(state.reading.is_empty(), "a reader is left behind");
    });
}

/// Takes the value that is left in the cell at the end, when nothing else uses the cell.
fn left(cell: &MVar<Value>) -> Option<u32> {
    assert_idle(cell);
    cell.try_take().map(|value| *value)
}

fn value(number: u32) -> Value {
    StdArc::new(number)
}

#[test]
fn a_put_reaches_a_taker() {
    explore(3, || {
        let cell = Arc::new(MVar::new());
        let putter = spawn_with(&cell, |cell| cell.put(value(1)));
        assert_eq!(*cell.take(), 1);
        putter.join().unwrap();
        assert_eq!(left(&cell), None);
    });
}

#[test]
fn two_putters_take_turns() {
    explore(3, || {
        let cell = Arc::new(MVar::new());
        let putters = [1, 2].map(|n| spawn_with(&cell, move |cell| cell.put(value(n))));
        assert_eq!(*cell.take() + *cell.take(), 3);
        join_all(putters);
        assert_eq!(left(&cell), None);
    });
}

/// There are a put, a take and a taker that leaves. The value is taken, dropped with the future, or
/// still there.
#[test]
fn a_dropped_take_has_taken_or_not() {
    explore(3, || {
        let cell = Arc::new(MVar::new());
        let count = value(1);
        let value = count.clone();
        let putter = spawn_with(&cell, |cell| cell.put(value));
        let polled = poll_once(cell.take_evt());
        putter.join().unwrap();
        match polled {
            Some(value) => {
                assert_eq!(*value, 1);
                assert_eq!(left(&cell), None);
            }
            None => {
                assert!(left(&cell).is_none_or(|value| value == 1));
                assert_eq!(StdArc::strong_count(&count), 1, "dropped once");
            }
        }
    });
}

/// A put leaves while a taker comes: that taker gets the value, or the next one does.
#[test]
fn a_dropped_put_has_put_or_not() {
    explore(3, || {
        let cell = Arc::new(MVar::full(value(0)));
        let (count, other) = (value(1), value(2));
        let taker = spawn_with(&cell, |cell| *cell.take());
        let done = poll_once(cell.put_evt(count.clone())).is_some();
        assert_eq!(taker.join().unwrap(), 0);
        let put = cell.try_put(other).is_err();
        assert!(put || !done);
        assert_eq!(left(&cell), Some(if put { 1 } else { 2 }));
        assert_eq!(StdArc::strong_count(&count), 1);
    });
}

/// A choice that waits at two cells takes from one; the other keeps its value.
#[test]
fn a_choice_takes_from_one_of_two() {
    explore(3, || {
        let cells = [0, 1].map(|_| Arc::new(MVar::new()));
        let putters = [0, 1].map(|i: usize| spawn_with(&cells[i], move |cell| cell.put(value(i as u32))));
        let got = *choose((cells[0].take_evt(), cells[1].take_evt())).sync() as usize;
        join_all(putters);
        assert_eq!(left(&cells[got]), None);
        assert_eq!(left(&cells[1 - got]), Some(1 - got as u32));
    });
}

/// Two choices of putting and taking meet: they never both wait for themselves.
#[test]
fn choices_of_put_and_take() {
    explore(3, || {
        let cell = Arc::new(MVar::new());
        let both = |cell: &MVar<Value>, n| {
            choose((cell.put_evt(value(n)).wrap(|()| 1), cell.take_evt().wrap(|_| -1_i32))).sync()
        };
        let other = spawn_with(&cell, move |cell| both(cell, 1));
        let sum = both(&cell, 2) + other.join().unwrap();
        assert_eq!(sum, i32::from(left(&cell).is_some()));
    });
}

/// A waiting reader sees the value that comes, although a taker waits for it too.
#[test]
fn a_reader_and_a_taker_share_a_value() {
    explore(3, || {
        let cell = Arc::new(MVar::<Value>::new());
        let reader = spawn_with(&cell, |cell| poll_once(cell.read_evt()).map(|value| *value));
        let taker = spawn_with(&cell, |cell| *cell.take());
        cell.put(value(1));
        assert_eq!(taker.join().unwrap(), 1);
        assert!(reader.join().unwrap().is_none_or(|value| value == 1));
        assert_eq!(left(&cell), None);
    });
}

#[test]
fn a_reader_waits_for_a_put() {
    explore(3, || {
        let cell = Arc::new(MVar::<Value>::new());
        let reader = spawn_with(&cell, |cell| *cell.read());
        let putter = spawn_with(&cell, |cell| cell.put(value(1)));
        assert_eq!(*cell.read(), 1);
        reader.join().unwrap();
        putter.join().unwrap();
        assert_eq!(left(&cell), Some(1));
    });
}

#[test]
fn updates_do_not_interfere() {
    explore(3, || {
        let cell = Arc::new(MVar::full(value(0)));
        let updaters =
            [1, 2].map(|n| spawn_with(&cell, move |cell| drop(cell.update(|old| value(**old + n)))));
        let seen = *cell.read();
        join_all(updaters);
        assert!(seen <= 3);
        assert_eq!(left(&cell), Some(3));
    });
}

/// A lease that is won by a future which is dropped at that moment is given back, and so is the
/// permission to read.
#[test]
fn a_dropped_lease_is_given_back() {
    explore(3, || {
        let cell = Arc::new(MVar::full(value(1)));
        let lease = cell.lease_evt().sync();
        let waiter = spawn_with(&cell, |cell| {
            drop(poll_once(cell.lease_evt()));
            drop(poll_once(cell.read_evt()));
        });
        drop(lease.put(value(2)));
        waiter.join().unwrap();
        assert_eq!(left(&cell), Some(2));
    });
}
