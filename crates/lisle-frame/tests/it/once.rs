//! A stream runs at most once a frame, on demand, and its readers see this frame's value.

use crate::worlds::{Counter, Later, Make, Tokens, count};
use lisle_frame::{Foreign, Stream};

in_all_worlds!(
    a_body_runs_once_however_many_read_it,
    a_diamond_has_no_glitches,
    a_diamond_of_calls_has_no_glitches,
    what_is_read_before_its_turn_runs_then,
    a_read_by_reference_does_not_clone,
    many_readers_of_one_that_waits_all_go_on,
);

/// 1. Half of the readers are run before the stream that they read, half of them after it.
fn a_body_runs_once_however_many_read_it(make: Make<'_>) {
    for readers in [0, 1, 2, count(1_000, 50)] {
        let mut world = make();
        let (runs, later) = (Counter::default(), Later::new());
        let read = |later: Later<usize>| world.stream(async move || later.stream().await);
        let mut all = (0..readers / 2).map(|_| read(later.clone())).collect::<Vec<_>>();
        let counted = runs.clone();
        let source = world.stream(async move || counted.add());
        later.is(source);
        all.extend((0..readers - readers / 2).map(|_| world.map(source, |n| n)));
        for frame in 1..=5 {
            let report = world.frame();
            assert_eq!(runs.get(), frame);
            assert!(all.iter().all(|stream| world.get(*stream).unwrap() == frame));
            assert_eq!((report.frame, report.streams), (frame as u64, readers + 1));
        }
        assert_eq!(world.frames(), 5);
    }
}

/// 2. The sum is made first, and so demands the rest.
fn a_diamond_has_no_glitches(make: Make<'_>) {
    let mut world = make();
    let (later_b, later_c) = (Later::new(), Later::new());
    let (b, c) = (later_b.clone(), later_c.clone());
    let first = world.stream(async move || (b.stream().await, c.stream().await));
    let mut n = 0_u64;
    let a = world.stream(async move || {
        n += 1;
        n
    });
    let b = world.stream(async move || a.await + 1);
    let c = world.stream(async move || a.await * 10);
    let d = world.stream(async move || b.await + c.await);
    later_b.is(b);
    later_c.is(c);
    for frame in 1..=count(10_000, 20) as u64 {
        world.frame();
        assert_eq!(world.get(a).unwrap(), frame);
        assert_eq!(world.get(d).unwrap(), frame + 1 + frame * 10);
        assert_eq!(world.get(first).unwrap(), (frame + 1, frame * 10));
    }
}

/// 2. Each edge is a foreign call, so that all of the diamond waits within the frame.
fn a_diamond_of_calls_has_no_glitches(make: Make<'_>) {
    let add = Foreign::new("add", |a: u64, b: u64| a + b).batch(1);
    let times = Foreign::new("times", |a: u64, b: u64| a * b);
    let mut world = make();
    let mut n = 0;
    let a = world.stream(async move || {
        n = add.call((n, 1)).await;
        n
    });
    let b = world.stream(async move || add.call((a.await, 1)).await);
    let c = world.stream(async move || times.call((a.await, 10)).await);
    let d = world.stream(async move || add.call((b.await, c.await)).await);
    for frame in 1..=count(500, 5) as u64 {
        let report = world.frame();
        assert_eq!(world.get(d).unwrap(), frame + 1 + frame * 10);
        assert_eq!((report.calls, report.streams), (4, 4));
    }
}

/// 2. The order of the bodies shows that reading is on demand, and that it is this frame's value.
fn what_is_read_before_its_turn_runs_then(make: Make<'_>) {
    use std::cell::RefCell;
    use std::rc::Rc;
    let mut world = make();
    let trace = Rc::new(RefCell::new(Vec::new()));
    let later = Later::new();
    let (log, read) = (trace.clone(), later.clone());
    let reader = world.stream(async move || {
        log.borrow_mut().push("the reader begins");
        let value = read.stream().await;
        log.borrow_mut().push("the reader ends");
        value
    });
    let (log, mut n) = (trace.clone(), 0);
    let source = world.stream(async move || {
        log.borrow_mut().push("the source");
        n += 1;
        n
    });
    later.is(source);
    for frame in 1..=3 {
        world.frame();
        assert_eq!(*trace.borrow(), ["the reader begins", "the source", "the reader ends"]);
        assert_eq!(world.get(reader).unwrap(), frame);
        trace.borrow_mut().clear();
    }
}

/// 1.
fn a_read_by_reference_does_not_clone(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let source = world.stream(async move || made.make());
    let watched = tokens.clone();
    let reader = world.stream(async move || source.with(|_| watched.alive()).await);
    for _ in 0..3 {
        world.frame();
        // The value of the last frame is dropped when this frame's takes its place.
        assert_eq!(world.get(reader).unwrap(), 1);
        assert_eq!(world.with(source, |_| tokens.alive()).unwrap(), 1);
        drop(world.get(source).unwrap());
        assert_eq!(tokens.alive(), 1);
    }
    drop(world);
    assert_eq!(tokens.alive(), 0);
}

/// 1, 2. A stream waits for a call, and so do all its readers.
fn many_readers_of_one_that_waits_all_go_on(make: Make<'_>) {
    let square = Foreign::new("square", |n: usize| n * n).batch(1);
    let mut world = make();
    let (runs, later) = (Counter::default(), Later::new());
    let readers = (0..count(1_000, 20)).map(|n| {
        let later = later.clone();
        world.stream(async move || later.stream().await + n)
    });
    let readers = readers.collect::<Vec<Stream<usize>>>();
    let counted = runs.clone();
    later.is(world.stream(async move || square.call(counted.add()).await));
    for frame in 1..=10 {
        world.frame();
        assert_eq!(runs.get(), frame);
        for (n, reader) in readers.iter().enumerate() {
            assert_eq!(world.get(*reader).unwrap(), frame * frame + n);
        }
    }
}
