//! The reports of frames.

use crate::support::{Idle, until, watched, world_with};
use lisle_frame::{Foreign, World, next_frame};
use std::time::{Duration, Instant};

fn takes(time: Duration) -> impl Fn() + Copy + Send + 'static {
    move || {
        let begin = Instant::now();
        until(|| begin.elapsed() >= time);
    }
}

#[test]
fn counts_and_names() {
    let _watched = watched();
    for workers in [0, 1] {
        let (mut world, _workers) = world_with(workers);
        let quick = Foreign::new("quick", takes(Duration::from_micros(1))).batch(4);
        let slow = Foreign::new("slow", takes(Duration::from_millis(2))).batch(1);
        for _ in 0..10 {
            world.stream(async move || quick.call(()).await);
        }
        world.stream(async move || slow.call(()).await);
        // It is evaluated in every frame, and calls in every second one.
        world.live((), async move |_| {
            loop {
                quick.call(()).await;
                next_frame().await;
                next_frame().await;
            }
        });
        for frame in 1..=4 {
            let report = world.frame();
            assert_eq!((report.frame, report.streams), (frame, 12));
            assert_eq!(report.calls, 11 + (frame % 2) as usize);
            assert!((4..=report.calls).contains(&report.batches), "{report}");
            let (name, time) = report.slowest.unwrap();
            // The other one is slower if the system has taken its thread's core for a while.
            assert!(time >= Duration::from_millis(2), "{report}");
            if name != "slow" {
                assert_eq!(name, "quick");
            }
            assert_eq!(report.in_streams + report.waiting + report.retiring, report.total);
            assert!(report.total >= Duration::from_millis(2));
            assert!(report.within_budget, "there is none");
            assert!(report.to_string().starts_with(&format!("frame {frame}: ")), "{report}");
        }
    }
}

#[test]
fn nothing_happens() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let report = world.frame();
    assert_eq!((report.streams, report.calls, report.batches), (0, 0, 0));
    assert_eq!((report.stalls, report.late, report.slowest), (0, 0, None));
    assert_eq!(report.waiting, Duration::ZERO);
}

#[test]
fn waits_are_counted_and_timed() {
    let _watched = watched();
    let mut world = World::builder().pool(Idle::new(1)).build();
    let slow = Foreign::new("slow", takes(Duration::from_millis(1))).batch(1);
    // One after the other: the world, which runs them itself, waits for each.
    world.stream(async move || {
        for _ in 0..3 {
            slow.call(()).await;
        }
    });
    let report = world.frame();
    assert_eq!((report.calls, report.batches, report.stalls), (3, 3, 3));
    assert!(report.waiting >= Duration::from_millis(3), "{report}");
}

#[test]
fn budgets() {
    let _watched = watched();
    let frame = |budget| {
        let mut world = World::builder().budget(budget).build();
        let slow = Foreign::new("slow", takes(Duration::from_millis(1)));
        world.stream(async move || slow.call(()).await);
        world.frame()
    };
    assert!(frame(Duration::from_secs(3600)).within_budget);
    let over = frame(Duration::from_micros(100));
    assert!(!over.within_budget);
    assert!(over.to_string().contains("over its budget"), "{over}");
}
