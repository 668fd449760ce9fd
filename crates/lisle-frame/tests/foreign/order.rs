//! Results come in the order of issue, whichever threads run the calls, and however long they take.

use crate::support::{Gate, Random, mix, scaled, take_a_while, watched, world_with};
use lisle_frame::{Deadline, Foreign, call};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Each stream awaits several calls, and writes down when it goes on. The order is the order of
/// issue: all first calls, then all second ones.
#[test]
fn results_come_in_the_order_of_issue() {
    let _watched = watched();
    let streams = scaled(1_000, 300, 12);
    for workers in [0, 3] {
        let (mut world, _workers) = world_with(workers);
        let work = Foreign::new("work", |n: usize| {
            take_a_while();
            n
        })
        .batch(7);
        let trace = Rc::new(RefCell::new(Vec::new()));
        for n in 0..streams {
            let trace = trace.clone();
            world.stream(async move || {
                for round in 0..3 {
                    assert_eq!(work.call(n).await, n);
                    trace.borrow_mut().push((round, n));
                }
            });
        }
        for _ in 0..3 {
            world.frame();
            let expected = (0..3).flat_map(|round| (0..streams).map(move |n| (round, n)));
            assert!(trace.take().into_iter().eq(expected));
        }
    }
}

/// Runs a world with functions of all kinds, and returns a hash of its events in their order.
fn trace(workers: usize, frames: usize, streams: usize) -> u64 {
    let (mut world, _workers) = world_with(workers);
    let hash = Rc::new(Cell::new(0));
    let work = |name| {
        Foreign::new(name, |n: u64| {
            take_a_while();
            n.wrapping_mul(31) + 7
        })
    };
    let (adaptive, fixed, homed) = (work("adaptive"), work("fixed").batch(5), work("homed").homed().batch(3));
    let chain = work("first").then(work("second")).delay(Duration::ZERO);
    let frame = world.input(0_u64);
    let mut before = None;
    for n in 0..streams as u64 {
        let (hash, now, chain) = (hash.clone(), frame.stream(), chain.clone());
        let stream = world.stream(async move || {
            let mut random = Random(mix(now.await, n));
            let note = |value: u64| hash.set(mix(hash.get(), mix(n, value)));
            let mut sum = 0;
            for _ in 0..random.below(4) {
                let argument = random.next();
                let value = match random.below(6) {
                    0 => adaptive.call(argument).await,
                    1 => fixed.call(argument).await,
                    2 => homed.call(argument).await,
                    3 => chain.call(argument).await,
                    4 => call(move || argument + 1).await,
                    // The value of another stream in this frame, which may wait for calls of its
                    // own.
                    _ => match before {
                        Some(before) => lisle_frame::Stream::<u64>::get(before).await,
                        None => argument,
                    },
                };
                note(value);
                sum = mix(sum, value);
            }
            note(sum);
            sum
        });
        before = Some(stream);
    }
    for n in 0..frames as u64 {
        world.set(frame, n).unwrap();
        world.frame();
        hash.set(mix(hash.get(), world.get(before.unwrap()).unwrap()));
    }
    hash.get()
}

#[test]
fn the_trace_is_the_same_for_any_number_of_workers() {
    let _watched = watched();
    let (frames, streams) = (scaled(1_000, 100, 2), scaled(200, 100, 10));
    let alone = trace(0, frames, streams);
    for workers in if cfg!(miri) { &[1, 3][..] } else { &[1, 2, 4, 8] } {
        let workers = *workers;
        assert_eq!(trace(workers, frames, streams), alone, "with {workers} workers");
    }
    assert_ne!(trace(0, frames + 1, streams), alone, "the hash sees what happens");
}

/// The first call returns only when the stream of the second has gone on with its result, which it
/// does since nobody asked for the order. (A function with a deadline is run by workers only.)
#[test]
fn unordered_results_come_as_they_are_there() {
    let _watched = watched();
    let (mut world, _workers) = world_with(2);
    let gate = Gate::default();
    let passes = gate.clone();
    let work = Foreign::new("work", move |waits: bool| {
        if waits {
            passes.pass();
        }
        waits
    })
    .batch(1)
    .unordered()
    .deadline(Deadline::KeepLast(Duration::from_secs(3600)));
    let trace = Rc::new(RefCell::new(Vec::new()));
    for waits in [true, false] {
        let (work, trace, gate) = (work.clone(), trace.clone(), gate.clone());
        world.stream(async move || {
            let waited = work.call(waits).await;
            trace.borrow_mut().push(waited);
            gate.open();
        });
    }
    let report = world.frame();
    assert_eq!(*trace.borrow(), [false, true]);
    assert_eq!((report.calls, report.late), (2, 0));
}

/// Of two that are under way, the second has the sooner deadline. It is not put off by the first,
/// which returns only when the stream of the second has gone on.
#[test]
fn each_unordered_function_has_its_own_deadline() {
    let _watched = watched();
    let (mut world, _workers) = world_with(2);
    let (first, second) = (Gate::default(), Gate::default());
    let (passes, opens, stays) = (first.clone(), first.clone(), second.clone());
    let work = Foreign::new("work", move || passes.pass()).batch(1).unordered();
    let work = work.deadline(Deadline::KeepLast(Duration::from_secs(3600)));
    let stuck = Foreign::new("stuck", move || stays.pass()).batch(1).unordered();
    let stuck = stuck.deadline(Deadline::Cancel(Duration::from_millis(1)));
    let waits = world.stream(async move || work.call(()).await);
    let fails = world.stream(async move || {
        let error = stuck.try_call(()).await.map_err(|error| error.to_string());
        opens.open();
        error
    });
    let report = world.frame();
    // Before anything is asserted: a test that fails must not wait for that call.
    second.open();
    assert_eq!(report.late, 1);
    world.get(waits).unwrap();
    assert!(world.get(fails).unwrap().unwrap_err().contains("before its deadline"));
}

/// Every result is given once, though nobody knows the order.
#[test]
fn unordered_results_are_all_there() {
    let _watched = watched();
    let streams = scaled(2_000, 500, 12);
    for workers in [0, 1, 3] {
        let (mut world, _workers) = world_with(workers);
        let work = Foreign::new("work", |n: usize| {
            take_a_while();
            n + 1
        })
        .batch(4)
        .unordered();
        let ordered = Foreign::new("ordered", |n: usize| n + 1).batch(3);
        let all = (0..streams)
            .map(|n| world.stream(async move || ordered.call(work.call(work.call(n).await).await).await))
            .collect::<Vec<_>>();
        for _ in 0..3 {
            let report = world.frame();
            assert_eq!(report.calls, 3 * streams);
            for (n, stream) in all.iter().enumerate() {
                assert_eq!(world.get(*stream).unwrap(), n + 3);
            }
        }
    }
}
