//! Waiting over frames.

use crate::worlds::{Counter, Make};
use lisle_frame::{Foreign, frames, next_frame};
use std::sync::Arc;

in_all_worlds!(
    a_body_goes_on_in_the_frame_that_it_waits_for,
    a_stream_keeps_its_value_while_it_waits,
    a_stream_that_ends_keeps_its_value,
    only_the_last_value_of_a_frame_is_seen,
    a_call_over_frames_does_not_hold_the_frame,
    both_kinds_of_waiting_in_one_body,
    a_world_ends_while_calls_over_frames_are_pending,
);

/// 11.
fn a_body_goes_on_in_the_frame_that_it_waits_for(make: Make<'_>) {
    let mut world = make();
    let log = world.live(Vec::new(), async |out| {
        let mut frame = 1;
        for wait in [0, 1, 2, 0, 5, 1, 3] {
            frames(wait).await;
            frame += wait;
            out.update(|log| log.push(frame));
        }
        frames(u64::MAX).await;
        unreachable!("so many frames have passed");
    });
    for frame in 1..=20 {
        world.frame();
        let expected = [1, 2, 4, 4, 9, 10, 13].into_iter().filter(|at| *at <= frame).collect::<Vec<_>>();
        assert_eq!(world.get(log).unwrap(), expected);
    }
}

/// 11. The body of a stream that is run anew is not begun before the last run is over.
fn a_stream_keeps_its_value_while_it_waits(make: Make<'_>) {
    let mut world = make();
    let runs = Counter::default();
    let counted = runs.clone();
    let slow = world.stream(async move || {
        let run = counted.add();
        frames(2).await;
        run
    });
    let reader = world.stream(async move || slow.try_get().await.ok());
    for frame in 1..=12_usize {
        world.frame();
        // A run takes three frames: it begins in the frame after that in which the last one has
        // ended.
        assert_eq!(runs.get(), frame.div_ceil(3));
        let expected = (frame >= 3).then_some(frame / 3);
        assert_eq!((world.get(slow).ok(), world.get(reader).unwrap()), (expected, expected));
    }
}

fn a_stream_that_ends_keeps_its_value(make: Make<'_>) {
    let mut world = make();
    let once = world.live(1, async |out| {
        out.set(2);
        next_frame().await;
        out.set(3);
    });
    let reader = world.stream(async move || once.await);
    for expected in [2, 3, 3, 3] {
        let report = world.frame();
        assert_eq!((world.get(once).unwrap(), world.get(reader).unwrap()), (expected, expected));
        assert!(report.streams <= 2);
    }
    assert_eq!(world.frame().streams, 1);
}

/// 2. Readers that come while it waits see the last value as well.
fn only_the_last_value_of_a_frame_is_seen(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let mut world = make();
    let source = world.live(0, async move |out| {
        for n in 0.. {
            out.set(1_000);
            work.call(1).await;
            out.set(2_000);
            work.call(1).await;
            out.set(n);
            assert_eq!(out.update(|value| *value), Some(n));
            next_frame().await;
        }
    });
    let readers = (0..10).map(|_| world.stream(async move || source.await)).collect::<Vec<_>>();
    for frame in 0..5 {
        world.frame();
        assert!(readers.iter().all(|reader| world.get(*reader).unwrap() == frame));
    }
}

/// 11. With no free worker it is run in place, and so is done in the next frame.
fn a_call_over_frames_does_not_hold_the_frame(make: Make<'_>) {
    let square = Foreign::new("square", |n: u32| n * n);
    let mut world = make();
    let stream = world.live((0, 0), async move |out| {
        for n in 1.. {
            let result = square.call_over_frames(n).await;
            out.set((n, result));
            next_frame().await;
        }
    });
    let begin = world.frames();
    // A pool that runs nothing gets it from the end of the world only.
    for _ in 0..10_000 {
        world.frame();
        let (n, result) = world.get(stream).unwrap();
        assert_eq!(result, n * n);
        if n >= 5 {
            return;
        }
        std::thread::yield_now();
    }
    assert_eq!(world.frames() - begin, 10_000);
}

/// 10, 11.
fn both_kinds_of_waiting_in_one_body(make: Make<'_>) {
    let add = Foreign::new("add", |a: u32, b: u32| a + b).batch(3);
    let mut world = make();
    let streams = (0..20).map(|n| {
        world.live(n, async move |out| {
            let mut value = n;
            loop {
                value = add.call((value, 1)).await;
                out.set(value);
                next_frame().await;
                value = add.call((value, 2)).await;
                value = add.call((value, 3)).await;
                out.set(value);
                frames(2).await;
            }
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for frame in 1..=12_u32 {
        world.frame();
        let (rounds, rest) = ((frame - 1) / 3, (frame - 1) % 3);
        let expected = rounds * 6 + if rest == 0 { 1 } else { 6 };
        assert!((0..).zip(&streams).all(|(n, stream)| world.get(*stream).unwrap() == n + expected));
    }
}

/// 6. The arguments of a call that has begun stay valid until it is done; no other call begins.
fn a_world_ends_while_calls_over_frames_are_pending(make: Make<'_>) {
    let alive = Arc::new(());
    let wait = Foreign::new("wait", |token: Arc<()>, numbers: Vec<u64>| {
        let sum = numbers.iter().sum::<u64>();
        assert_eq!(sum, 4_950);
        (token, sum)
    });
    for _ in 0..5 {
        let mut world = make();
        for _ in 0..20 {
            let alive = alive.clone();
            world.stream(async move || {
                let (_, sum) = wait.call_over_frames((alive.clone(), (0..100).collect())).await;
                sum
            });
        }
        world.frame();
        drop(world);
    }
    while Arc::strong_count(&alive) > 1 {
        std::thread::yield_now();
    }
}
