//! Worlds in the bodies of other worlds.

use crate::worlds::{Make, count};
use lisle_frame::{Failure, Foreign, World, here, next_frame};
use std::panic::{AssertUnwindSafe, catch_unwind};

in_all_worlds!(
    a_world_runs_in_a_body_of_another,
    the_outer_world_is_current_again,
    worlds_nested_deeply,
    a_body_panics_in_a_world_in_a_body,
);

/// 9. Both use one foreign function, and wait for it.
fn a_world_runs_in_a_body_of_another(make: Make<'_>) {
    let work = Foreign::new("work", |n: u64| n * 2).batch(2);
    let mut outer = make();
    let mut inner = make();
    let number = inner.input(0);
    let squares = (0..10).map(|n| inner.stream(async move || work.call(number.stream().await + n).await));
    let squares = squares.collect::<Vec<_>>();
    let mut n = 0;
    let sum = outer.stream(async move || {
        n += 1;
        let before = work.call(n).await;
        inner.set(number, n).unwrap();
        inner.frame();
        let sum = squares.iter().map(|square| inner.get(*square).unwrap()).sum::<u64>();
        assert_eq!(work.call(n).await, before);
        sum
    });
    let after = outer.stream(async move || sum.await + work.call(1).await);
    for frame in 1..=5 {
        let report = outer.frame();
        assert_eq!(outer.get(sum).unwrap(), 90 + 20 * frame);
        assert_eq!(outer.get(after).unwrap(), 92 + 20 * frame);
        assert_eq!((report.streams, report.calls), (2, 3));
    }
}

fn the_outer_world_is_current_again(make: Make<'_>) {
    let mut outer = make();
    let one = outer.stream(async || 1);
    let made = outer.live(0, async move |out| {
        loop {
            let mut inner = World::new();
            let two = inner.stream(async || here().stream(async || 2).await);
            inner.frame();
            let error = inner.stream(async move || one.try_get().await.unwrap_err());
            inner.frame();
            assert!(matches!(inner.get(error).unwrap().failure(), Failure::OtherWorld));
            let two = inner.get(two).unwrap();
            drop(inner);
            // Made and read here, not there.
            let three = here().stream(async move || one.await + two);
            out.set(three.await);
            next_frame().await;
        }
    });
    for _ in 0..3 {
        outer.frame();
        assert_eq!(outer.get(made).unwrap(), 3);
    }
    assert!(catch_unwind(here).is_err());
}

fn worlds_nested_deeply(make: Make<'_>) {
    fn depth(make: Make<'_>, left: usize) -> usize {
        if left == 0 {
            return 0;
        }
        // The bodies of a world cannot borrow, and so the inner ones are plain.
        let mut world = make();
        let below = world.stream(async move || depth(&World::new, left - 1));
        let reads = world.stream(async move || below.await + 1);
        world.frame();
        assert_eq!(world.frames(), 1);
        world.get(reads).unwrap()
    }
    let deepest = count(30, 5);
    assert_eq!(depth(make, deepest), deepest);
}

fn a_body_panics_in_a_world_in_a_body(make: Make<'_>) {
    let mut outer = make();
    let one = outer.stream(async || 1);
    let caught = outer.stream(async move || {
        let mut inner = World::new();
        let bad = inner.stream(async || -> u32 { panic!("inside") });
        inner.frame();
        let told = inner.get(bad).unwrap_err().to_string().ends_with("inside");
        // It unwinds out of the frame of a world that is dropped on the way.
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut inner = World::new();
            inner.stream(async || 1);
            inner.frame();
            panic!("between");
        }));
        (told, unwound.is_err(), one.await)
    });
    for _ in 0..2 {
        outer.frame();
        assert_eq!(outer.get(caught).unwrap(), (true, true, 1));
    }
}
