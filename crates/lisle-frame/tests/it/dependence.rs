//! Frames find and name the results that depend on real time.

use crate::worlds::{Counter, Make};
use lisle_frame::{Deadline, Dependence, Foreign, World, find_dependence, next_frame};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Worlds without workers, where each call ends at once, and worlds with workers.
macro_rules! in_worlds {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn alone() {
                crate::worlds::alone(super::$test);
            }
            #[cfg(feature = "threads")]
            #[test]
            fn workers() {
                crate::worlds::workers(super::$test);
            }
        }
    )*};
}

in_worlds!(
    calls_over_frames_are_found,
    deadlines_are_found,
    unordered_calls_are_found,
    what_does_not_depend_on_time_is_not_accused,
);

/// Looks for a dependence in worlds that a function fills.
fn find(make: Make<'_>, fill: impl Fn(&mut World)) -> Result<(), Dependence> {
    find_dependence(12, 0..10, || {
        let mut world = make();
        fill(&mut world);
        world
    })
}

fn count(world: &World) -> lisle_frame::Stream<u64> {
    world.fold(world.stream(async || 1), 0, |count, one| *count += one)
}

/// Also where there are no workers, and the call ends at once.
fn calls_over_frames_are_found(make: Make<'_>) {
    let path = Foreign::new("path", |n: u64| n);
    let found = find(make, |world| {
        let count = count(world);
        let found = world.named("found").live(0, async move |found| {
            loop {
                let path = path.call_over_frames(count.await).await;
                found.set(path);
                next_frame().await;
            }
        });
        world.watch(found).unwrap();
    });
    let found = found.unwrap_err();
    assert_eq!((found.stream.name(), found.untimed), (Some("found"), Some("path")));
    let text = found.to_string();
    assert!(text.contains("stream 'found'") && text.contains("'path' is called over frames"), "{text}");
}

fn deadlines_are_found(make: Make<'_>) {
    let long = Duration::from_secs(1_000);
    for deadline in [Deadline::KeepLast(long), Deadline::Cancel(long)] {
        let work = Foreign::new("hurried", |n: u64| n).deadline(deadline);
        let found = find(make, |world| {
            let count = count(world);
            let value = world.named("value").stream(async move || {
                let n = count.await;
                work.try_call(n).await.unwrap_or(0)
            });
            world.watch(value).unwrap();
        });
        let found = found.unwrap_err();
        assert_eq!((found.stream.name(), found.untimed), (Some("value"), Some("hurried")));
        assert!(found.to_string().contains("has a deadline"), "{found}");
    }
}

fn unordered_calls_are_found(make: Make<'_>) {
    let work = Foreign::new("work", |n: u64| n).unordered();
    let found = find(make, |world| {
        let first = Rc::new(Cell::new(0));
        for n in 1..10 {
            let first = first.clone();
            let place = world.named("place").stream(async move || {
                work.call(n).await;
                first.set(first.get() + 1);
                first.get()
            });
            world.watch(place).unwrap();
        }
    });
    let found = found.unwrap_err();
    assert_eq!((found.stream.name(), found.untimed), (Some("place"), None));
    assert!(found.to_string().contains("the order in which calls end (seed "));
}

/// Such calls are in the world, and nothing that is watched follows from them.
fn what_does_not_depend_on_time_is_not_accused(make: Make<'_>) {
    let path = Foreign::new("path", |n: u64| n);
    let hurried = Foreign::new("hurried", |n: u64| n).deadline(Deadline::KeepLast(Duration::from_secs(9)));
    let unordered = Foreign::new("unordered", |n: u64| n * n).unordered();
    let ended = Counter::default();
    find(make, |world| {
        let count = count(world);
        let ends = ended.clone();
        world.cosmetic().live(0, async move |_| {
            loop {
                path.call_over_frames(1).await;
                ends.add();
            }
        });
        world.stream(async move || hurried.call(count.await).await);
        let square = world.stream(async move || unordered.call(count.await).await);
        world.watch(square).unwrap();
    })
    .unwrap();
    assert!(ended.get() > 0);
}

/// There are no workers, whose time would matter.
#[test]
fn the_same_seed_gives_the_same_frames() {
    let path = Foreign::new("path", |n: u64| n);
    let run = |seed| {
        let mut world = World::new();
        world.shuffle(seed);
        let log = Rc::new(RefCell::new(Vec::new()));
        let (ends, frames) = (log.clone(), count(&world));
        world.live(0, async move |_| {
            loop {
                let begun = frames.await;
                path.call_over_frames(begun).await;
                let ended = frames.await;
                ends.borrow_mut().push((begun, ended));
            }
        });
        for _ in 0..30 {
            world.frame();
        }
        log.take()
    };
    let logs = [1, 2, 3].map(run);
    assert!(logs.iter().all(|log| log.len() > 5) && logs[0] != logs[1]);
    assert_eq!(logs, [1, 2, 3].map(run));
}
