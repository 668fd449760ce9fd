//! Long chains of streams.

use crate::worlds::{Later, Make, count};
use lisle_frame::{Foreign, Stream, World};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;

in_all_worlds!(
    a_long_chain_in_order,
    a_long_chain_against_the_order,
    no_link_is_polled_often,
    a_long_chain_shuffled,
    a_long_chain_of_calls,
    a_long_chain_fails_as_a_whole_and_recovers,
    a_long_chain_of_owners_is_removed,
);

/// Makes a chain, each stream of which reads the one after it in the order of their making.
fn against_the_order(world: &World, length: usize, last: Stream<usize>) -> Vec<Stream<usize>> {
    let laters = (0..length).map(|_| Later::new()).collect::<Vec<_>>();
    let streams = laters.iter().map(|later| {
        let later: Later<usize> = later.clone();
        world.stream(async move || later.stream().await + 1)
    });
    let streams = streams.collect::<Vec<_>>();
    let next = streams.iter().skip(1).copied().chain([last]);
    laters.iter().zip(next).for_each(|(later, next)| later.is(next));
    streams
}

/// 3.
fn a_long_chain_in_order(make: Make<'_>) {
    let length = count(100_000, 200);
    let mut world = make();
    let first = world.input(0);
    let mut last = first.stream();
    for _ in 0..length {
        last = world.map(last, |n| n + 1);
    }
    for n in 0..3 {
        world.set(first, n).unwrap();
        world.frame();
        assert_eq!(world.get(last).unwrap(), n + length);
    }
}

/// 3. The first stream that runs demands all the others.
fn a_long_chain_against_the_order(make: Make<'_>) {
    let length = count(100_000, 200);
    let mut world = make();
    let first = world.input(0);
    let streams = against_the_order(&world, length, first.stream());
    for n in 0..3 {
        world.set(first, n).unwrap();
        let report = world.frame();
        assert_eq!(world.get(streams[0]).unwrap(), n + length);
        assert_eq!(report.streams, length + 1);
    }
}

/// Behaviour 3. The work grows with the length of the chain, not with its square: no link is polled
/// more than twice in a frame, once when it is demanded and once when the value that it reads is
/// there.
fn no_link_is_polled_often(make: Make<'_>) {
    let length = count(100_000, 200);
    let polls = Rc::new(Cell::new(0));
    let mut world = make();
    let laters = (0..length).map(|_| Later::new()).collect::<Vec<_>>();
    let streams = laters.iter().map(|later| {
        let (later, polls): (Later<usize>, _) = (later.clone(), polls.clone());
        world.stream(async move || {
            let mut read = later.stream().get();
            let counted = poll_fn(|cx| {
                polls.set(polls.get() + 1);
                Pin::new(&mut read).poll(cx)
            });
            counted.await + 1
        })
    });
    let streams = streams.collect::<Vec<_>>();
    let last = world.input(0).stream();
    let next = streams.iter().skip(1).copied().chain([last]);
    laters.iter().zip(next).for_each(|(later, next)| later.is(next));
    world.frame();
    assert_eq!(world.get(streams[0]).unwrap(), length);
    assert!((length..=2 * length).contains(&polls.get()), "{} polls", polls.get());
}

/// 3. Links are made in the order of their bits reversed, so that demands and turns alternate.
fn a_long_chain_shuffled(make: Make<'_>) {
    let bits = if cfg!(miri) { 7 } else { 16 };
    let length = 1_usize << bits;
    let mut world = make();
    let laters = (0..length).map(|_| Later::new()).collect::<Vec<_>>();
    for n in 0..length {
        let place = n.reverse_bits() >> (usize::BITS - bits);
        let before = place.checked_sub(1).map(|before| laters[before].clone());
        laters[place].is(world.stream(async move || match &before {
            Some(before) => before.stream().await + 1,
            None => 1,
        }));
    }
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(laters[length - 1].stream()).unwrap(), length);
    }
}

/// 3, 10. Each link waits for a call before it reads the next one.
fn a_long_chain_of_calls(make: Make<'_>) {
    let length = count(5_000, 30);
    let add = Foreign::new("add", |a: usize, b: usize| a + b);
    let mut world = make();
    let later = Later::new();
    let first = later.clone();
    let mut last = world.stream(async move || add.call((first.stream().await, 1)).await);
    for _ in 1..length {
        last = world.stream(async move || add.call((last.await, 1)).await);
    }
    let input = world.input(0);
    later.is(input.stream());
    for n in 0..2 {
        world.set(input, n).unwrap();
        assert_eq!(world.frame().calls, length);
        assert_eq!(world.get(last).unwrap(), n + length);
    }
}

/// 3, 7. An error goes through the whole chain, and its root is found.
fn a_long_chain_fails_as_a_whole_and_recovers(make: Make<'_>) {
    let length = count(10_000, 100);
    let mut world = make();
    let mut n = 0;
    let source = world.named("the source").retrying().stream(async move || {
        n += 1;
        assert!(n % 2 == 0, "an odd frame");
        n
    });
    let streams = against_the_order(&world, length, source);
    for frame in 1..=4 {
        world.frame();
        let value = world.get(streams[0]);
        if frame % 2 == 0 {
            assert_eq!(value.unwrap(), length + frame);
        } else {
            let error = value.unwrap_err();
            assert!(error.to_string().contains("the source"), "{error}");
            assert!(error.root().to_string().ends_with("has panicked: an odd frame"), "{error}");
        }
    }
}

/// 3, 6. Each scope owns the next one; the first is removed.
fn a_long_chain_of_owners_is_removed(make: Make<'_>) {
    let mut world = make();
    let first = world.scope();
    let mut last = first.scope();
    for _ in 0..count(100_000, 200) {
        last = last.scope();
    }
    let stream = last.stream(async || 1);
    world.frame();
    assert_eq!(world.get(stream).unwrap(), 1);
    world.remove_scope(first);
    assert!(world.get(stream).is_err());
    assert_eq!(world.frame().streams, 0);
}
