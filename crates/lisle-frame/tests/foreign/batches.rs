//! How calls are collected, and when batches leave.

use crate::support::{scaled, until, watched, world_with};
use lisle_frame::{Foreign, Here, Workers, World};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No batch leaves because of its age.
const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn fixed_sizes() {
    let _watched = watched();
    let calls = scaled(30_000, 30_000, 23);
    for workers in [0, 2] {
        for size in if cfg!(miri) { [1, 10, 20, 30] } else { [1, 10, 100, 1_000] } {
            let (mut world, _workers) = world_with(workers);
            let work = Foreign::new("work", |n: usize| n * 3 + 1).batch(size).delay(NEVER);
            let streams =
                (0..calls).map(|n| world.stream(async move || work.call(n).await)).collect::<Vec<_>>();
            for frame in 1..=3 {
                let report = world.frame();
                assert_eq!((report.frame, report.calls), (frame, calls));
                assert_eq!(report.batches, calls.div_ceil(size), "in batches of {size}");
                for (n, stream) in streams.iter().enumerate() {
                    assert_eq!(world.get(*stream).unwrap(), n * 3 + 1);
                }
            }
        }
    }
}

/// Arguments so large that a batch has room for fewer calls than it is to have.
#[test]
#[cfg_attr(miri, ignore = "moves several mebibytes")]
fn large_arguments_and_results() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let work = Foreign::new("work", |bytes: [u64; 1 << 10]| bytes.map(|n| n + 1)).batch(1_000).delay(NEVER);
    let streams = (0..100)
        .map(|n| world.stream(async move || work.call([n; 1 << 10]).await.iter().sum::<u64>()))
        .collect::<Vec<_>>();
    let report = world.frame();
    assert_eq!(report.calls, streams.len());
    assert!(report.batches > 1, "a mebibyte holds no 100 calls with 16 kibibytes");
    for (n, stream) in streams.iter().enumerate() {
        assert_eq!(world.get(*stream).unwrap(), (n as u64 + 1) << 10);
    }
}

/// Types of size zero, of great alignment, and that own memory.
#[test]
fn all_kinds_of_arguments() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(512))]
    struct Aligned(u8);

    let _watched = watched();
    for workers in [0, 1] {
        let (mut world, _workers) = world_with(workers);
        let nothing = Foreign::new("nothing", || ()).batch(3);
        let aligned = Foreign::new("aligned", |n: Aligned| {
            assert_eq!((&raw const n).addr() % 512, 0);
            Aligned(n.0 + 1)
        })
        .batch(3);
        let owned = Foreign::new("owned", |a: String, b: Vec<String>| b.join(&a)).batch(3);
        let streams = (0..10_u8)
            .map(|n| {
                world.stream(async move || {
                    nothing.call(()).await;
                    let aligned = aligned.call(Aligned(n)).await;
                    let words = vec!["a".to_owned(), n.to_string()];
                    (aligned, owned.call(("-".to_owned(), words)).await)
                })
            })
            .collect::<Vec<_>>();
        for _ in 0..3 {
            world.frame();
            for (n, stream) in (0..).zip(&streams) {
                assert_eq!(world.get(*stream).unwrap(), (Aligned(n + 1), format!("a-{n}")));
            }
        }
    }
}

/// Makes a world in which a lone call is made by the first stream. The streams after it run in
/// groups of their own, so that the world looks at the clock before each. The last one calls
/// `before_last`, and then notes whether the call has run.
fn lone_call(delay: Duration, before_last: impl Fn(&AtomicBool) + 'static) -> bool {
    let workers = Workers::new(1).unwrap();
    let mut world = World::builder().pool(&workers).build();
    let ran = Arc::new(AtomicBool::new(false));
    let runs = ran.clone();
    let work = Foreign::new("work", move || runs.store(true, Ordering::SeqCst)).batch(1_000).delay(delay);
    world.stream(async move || work.call(()).await);
    // This stream takes longer than the delay, if that is not for ever.
    world.stream(async move || {
        let begin = Instant::now();
        until(|| delay == NEVER || begin.elapsed() > delay);
    });
    let seen = Rc::new(Cell::new(false));
    let (sees, last) = (seen.clone(), ran.clone());
    world.stream(async move || {
        before_last(&last);
        sees.set(last.load(Ordering::SeqCst));
    });
    world.frame();
    assert!(ran.load(Ordering::SeqCst), "the frame waits for it in any case");
    seen.get()
}

/// The batch is sent as soon as the world looks at the clock and the delay has passed: while
/// streams still run. If it were held back, the last stream would wait for ever.
#[test]
fn a_lone_call_is_not_held_back_longer_than_the_delay() {
    let _watched = watched();
    for delay in [Duration::ZERO, Duration::from_millis(2)] {
        assert!(lone_call(delay, |ran| until(|| ran.load(Ordering::SeqCst))));
    }
}

#[test]
fn a_call_waits_for_others_before_the_delay() {
    let _watched = watched();
    assert!(!lone_call(NEVER, |_| ()));
}

/// Costly calls go in small batches, cheap calls in large ones.
#[test]
#[cfg_attr(miri, ignore = "an interpreter has other costs")]
fn the_size_follows_the_cost() {
    let _watched = watched();
    let calls = scaled(1_000, 1_000, 20);
    let (mut world, _workers) = world_with(1);
    let costly = Foreign::new("costly", || {
        let begin = Instant::now();
        until(|| begin.elapsed() > Duration::from_micros(20));
    })
    .delay(NEVER);
    let cheap = Foreign::new("cheap", |n: usize| n).delay(NEVER);
    let mut frames = |of: &dyn Fn(&Here)| {
        let scope = world.scope();
        of(&scope);
        // The first frames learn.
        let reports = [(); 6].map(|()| world.frame());
        let report = reports[5];
        world.remove_scope(scope);
        report
    };
    let report = frames(&|here| {
        for _ in 0..calls {
            here.stream(async move || costly.call(()).await);
        }
    });
    assert_eq!(report.calls, calls);
    // The longest batches, of 100 microseconds, have five calls.
    assert!((calls / 5..=calls).contains(&report.batches), "{} batches of costly calls", report.batches);
    assert_eq!(report.slowest.unwrap().0, "costly");
    assert!(report.slowest.unwrap().1 >= Duration::from_micros(20));
    let costly = report.batches;
    let report = frames(&|here| {
        for n in 0..calls {
            here.stream(async move || cheap.call(n).await);
        }
    });
    assert_eq!(report.calls, calls);
    assert!(report.batches < costly, "{} batches of calls that cost nothing", report.batches);
}
