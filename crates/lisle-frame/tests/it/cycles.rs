//! Streams that read each other in a circle.

use crate::worlds::{Later, Make, count};
use lisle_frame::{Failure, Foreign, Stream, StreamError, World, next_frame};

in_all_worlds!(
    a_circle_is_an_error_that_names_all_on_it,
    a_stream_that_reads_itself,
    a_long_circle_is_found,
    two_circles_and_those_that_read_them,
    a_circle_through_a_call,
    a_circle_that_is_there_in_some_frames_leaves_no_old_values,
    a_circle_through_previous_is_none,
    a_circle_through_a_delay_counts,
);

/// Makes streams that read each other in a circle.
fn circle(world: &World, length: usize) -> Vec<Stream<u32>> {
    let laters = (0..length).map(|_| Later::<u32>::new()).collect::<Vec<_>>();
    let streams = (0..length).map(|n| {
        let next = laters[(n + 1) % length].clone();
        let making = if n == 0 { world.named("the first") } else { world.named("another") };
        making.stream(async move || next.stream().await + 1)
    });
    let streams = streams.collect::<Vec<_>>();
    laters.iter().zip(&streams).for_each(|(later, stream)| later.is(*stream));
    streams
}

fn circle_of(error: &StreamError) -> Vec<String> {
    match error.root().failure() {
        Failure::Cycle(origins) => origins.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// 4.
fn a_circle_is_an_error_that_names_all_on_it(make: Make<'_>) {
    let mut world = make();
    let streams = circle(&world, 3);
    let other = world.stream(async || 5);
    for _ in 0..3 {
        world.frame();
        for stream in &streams {
            let error = world.get(*stream).unwrap_err();
            let names = circle_of(&error);
            assert_eq!(names.len(), 3);
            let firsts = names.iter().filter(|name| name.contains("the first")).count();
            let others = names.iter().filter(|name| name.contains("another")).count();
            assert_eq!((firsts, others), (1, 2), "{error}");
            assert!(names.iter().all(|name| name.contains("cycles.rs:")), "{error}");
            assert!(names.iter().all(|name| error.to_string().contains(name)), "{error}");
            // The way out that one has who cannot name a stream yet.
            assert!(error.to_string().contains("`delay`"), "{error}");
        }
        assert_eq!(world.get(other).unwrap(), 5);
    }
}

fn a_stream_that_reads_itself(make: Make<'_>) {
    let mut world = make();
    let stream = circle(&world, 1)[0];
    let reader = world.stream(async move || stream.try_get().await.is_err());
    world.frame();
    assert_eq!(circle_of(&world.get(stream).unwrap_err()).len(), 1);
    assert!(world.get(reader).unwrap());
}

fn a_long_circle_is_found(make: Make<'_>) {
    let length = count(20_000, 100);
    let mut world = make();
    let streams = circle(&world, length);
    for _ in 0..2 {
        world.frame();
        assert_eq!(circle_of(&world.get(streams[length / 2]).unwrap_err()).len(), length);
    }
}

fn two_circles_and_those_that_read_them(make: Make<'_>) {
    let mut world = make();
    let (a, b) = (circle(&world, 2), circle(&world, 3));
    let (from_a, from_b) = (a[1], b[1]);
    let reader = world.named("the reader").stream(async move || from_a.await + from_b.await);
    let tries =
        world.stream(async move || (from_a.try_get().await.is_err(), from_b.try_get().await.is_err()));
    for _ in 0..2 {
        world.frame();
        assert_eq!(circle_of(&world.get(a[0]).unwrap_err()).len(), 2);
        assert_eq!(circle_of(&world.get(b[0]).unwrap_err()).len(), 3);
        let error = world.get(reader).unwrap_err();
        assert!(error.to_string().starts_with("stream 'the reader'"), "{error}");
        assert_eq!(circle_of(&error).len(), 2);
        assert_eq!(world.get(tries).unwrap(), (true, true));
    }
}

fn a_circle_through_a_call(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let mut world = make();
    let later = Later::new();
    let first = later.clone();
    let a = world.stream(async move || work.call(first.stream().await).await);
    let b = world.stream(async move || {
        work.call(1).await;
        a.await
    });
    later.is(b);
    let fine = world.stream(async move || work.call(3).await);
    for _ in 0..3 {
        world.frame();
        assert_eq!(circle_of(&world.get(a).unwrap_err()).len(), 2);
        assert_eq!(world.get(fine).unwrap(), 3);
    }
}

/// 2, 4. In odd frames `a` reads `b` as well; in the frame after that, its body begins anew.
fn a_circle_that_is_there_in_some_frames_leaves_no_old_values(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0_u32);
    let later = Later::<u32>::new();
    let read = later.clone();
    let a = world.stream(async move || {
        let n = number.stream().await;
        let of_b = if n % 2 == 1 { read.stream().await } else { 0 };
        (n, of_b)
    });
    let b = world.stream(async move || a.await.0);
    later.is(b);
    for n in 0..6 {
        world.set(number, n).unwrap();
        world.frame();
        if n % 2 == 1 {
            assert_eq!(circle_of(&world.get(a).unwrap_err()).len(), 2);
        } else {
            assert_eq!((world.get(a).unwrap(), world.get(b).unwrap()), ((n, 0), n));
        }
    }
}

/// 4.
fn a_circle_through_previous_is_none(make: Make<'_>) {
    let mut world = make();
    let later = Later::new();
    let read = later.clone();
    let a = world.stream(async move || read.stream().await + 1);
    later.is(world.previous(a, 10));
    for frame in 1..=5 {
        world.frame();
        assert_eq!(world.get(a).unwrap(), 10 + frame);
        assert_eq!(world.get(later.stream()).unwrap(), 9 + frame);
    }
}

/// 4. Fibonacci's numbers, of two delays, beside a stream that lives over frames.
fn a_circle_through_a_delay_counts(make: Make<'_>) {
    let mut world = make();
    let (one, two) = (world.delay(1_u64), world.delay(0_u64));
    let (last, last_but_one) = (one.stream(), two.stream());
    let sum = world.stream(async move || last.await + last_but_one.await);
    one.follow(sum);
    two.follow(last);
    let index = world.live(1_u32, async |out| {
        loop {
            out.update(|index| *index += 1);
            next_frame().await;
        }
    });
    for _ in 0..50 {
        world.frame();
    }
    assert_eq!((world.get(index).unwrap(), world.get(sum).unwrap()), (51, 20_365_011_074));
}
