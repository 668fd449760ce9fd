//! Streams made of streams.

use crate::worlds::{Make, Tokens, count};
use lisle_frame::{Failure, Stream, here, next_frame};
use std::collections::BTreeMap;

in_all_worlds!(
    map_zip_and_fold,
    previous_is_the_value_of_the_last_frame,
    previous_of_previous_is_two_frames_old,
    previous_of_what_was_made_in_a_frame,
    previous_of_a_value_that_panics_when_it_is_cloned,
    hold_changes_and_sample,
    switch_follows_what_is_named,
    lists_are_mapped_and_filtered,
    keyed_lists_keep_the_state_of_their_keys,
    combinators_of_what_fails_fail,
);

/// 8.
fn map_zip_and_fold(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0_i64);
    let double = world.map(number.stream(), |n| n * 2);
    let pair = world.zip(double, number.stream());
    let sum = world.fold(pair, 0, |sum, (a, b)| *sum += a * b);
    assert_eq!(world.get(sum).unwrap(), 0);
    let mut expected = 0;
    for n in 1..20 {
        world.set(number, n).unwrap();
        world.frame();
        expected += 2 * n * n;
        assert_eq!(world.get(pair).unwrap(), (2 * n, n));
        assert_eq!(world.get(sum).unwrap(), expected);
    }
}

/// 4, 8. In the first frame, the value that it was given at the start: whatever the source is.
fn previous_is_the_value_of_the_last_frame(make: Make<'_>) {
    let mut world = make();
    let number = world.input(1);
    let mapped = world.map(number.stream(), |n| n);
    let folded = world.fold(number.stream(), 1_000, |last, n| *last = n);
    let lives = world.live(1_000, async move |out| {
        loop {
            out.set(number.stream().await);
            next_frame().await;
        }
    });
    let sources = [number.stream(), mapped, folded, lives];
    let all = sources.map(|source| world.previous(source, 0));
    let readers = all.map(|previous| world.stream(async move || previous.await));
    for n in 1..10 {
        world.set(number, n).unwrap();
        // It may be set more than once.
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!(all.map(|previous| world.get(previous).unwrap()), [n - 1; 4]);
        assert_eq!(readers.map(|reader| world.get(reader).unwrap()), [n - 1; 4]);
    }
    // A `previous` that is made later begins with the value of that frame.
    let late = world.previous(number.stream(), 0);
    world.set(number, 20).unwrap();
    world.frame();
    assert_eq!(world.get(late).unwrap(), 9);
}

/// 8. In either order of their making.
fn previous_of_previous_is_two_frames_old(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let one = world.previous(number.stream(), -1);
    let two = world.previous(one, -2);
    let (late, early) = (world.delay(-2), world.previous(number.stream(), -1));
    late.follow(early);
    let chain = (0..50).fold(number.stream(), |last, _| world.previous(last, -50));
    for n in 1..100 {
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!(world.get(one).unwrap(), if n == 1 { -1 } else { n - 1 });
        let before = match n {
            1 => -2,
            2 => -1,
            _ => n - 2,
        };
        assert_eq!((world.get(two).unwrap(), world.get(late.stream()).unwrap()), (before, before));
        assert_eq!(world.get(chain).unwrap(), if n > 50 { n - 50 } else { -50 });
    }
}

/// 2. Whether the source has run in the frame or not, it is no value of this frame.
fn previous_of_what_was_made_in_a_frame(make: Make<'_>) {
    let mut world = make();
    let number = world.input(5);
    let mapped = world.map(number.stream(), |n| n);
    let reader = world.live(Vec::new(), async move |out| {
        mapped.await;
        let previous = here().previous(mapped, 0);
        loop {
            let seen = (previous.await, mapped.await);
            out.update(|all: &mut Vec<(i32, i32)>| all.push(seen));
            next_frame().await;
        }
    });
    world.frame();
    world.set(number, 6).unwrap();
    world.frame();
    world.frame();
    assert_eq!(world.get(reader).unwrap(), [(0, 5), (5, 6), (6, 6)]);
}

fn previous_of_a_value_that_panics_when_it_is_cloned(make: Make<'_>) {
    struct Fragile(u32);
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert!(self.0 != 3, "three");
            Fragile(self.0)
        }
    }
    let mut world = make();
    let mut n = 0;
    let source = world.stream(async move || {
        n += 1;
        Fragile(n)
    });
    let previous = world.previous(source, Fragile(0));
    let other = world.previous(world.map(world.stream(async || 1), |n| n), 0);
    for frame in 1..6 {
        world.frame();
        let seen = world.with(previous, |value| value.0);
        if frame < 4 {
            assert_eq!(seen.unwrap(), frame - 1);
        } else {
            assert!(
                matches!(seen.unwrap_err().failure(), Failure::Panicked(_, message) if message == "three")
            );
        }
        assert_eq!(world.get(other).unwrap(), u32::from(frame > 1));
    }
}

/// 8.
fn hold_changes_and_sample(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let sometimes = world.map(number.stream(), |n| (n % 3 == 0).then_some(n));
    let held = world.hold(sometimes, -1);
    let changes = world.changes(held);
    let sampled = world.sample(number.stream(), 4);
    for n in 1..40 {
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!(world.get(held).unwrap(), if n < 3 { -1 } else { n - n % 3 });
        let expected = if n == 1 { Some(-1) } else { (n % 3 == 0).then_some(n) };
        assert_eq!(world.get(changes).unwrap(), expected);
        assert_eq!(world.get(sampled).unwrap(), (n - 1) / 4 * 4 + 1);
    }
}

/// 8. The chosen stream may be made in the frame.
fn switch_follows_what_is_named(make: Make<'_>) {
    let mut world = make();
    let streams = (0..5).map(|n| world.stream(async move || n)).collect::<Vec<_>>();
    let number = world.input(0);
    let choice = world.stream(async move || match number.stream().await {
        5 => here().stream(async || 55),
        n => streams[n],
    });
    let switched = world.switch(choice);
    for n in [0, 4, 5, 2, 5, 5, 1] {
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!(world.get(switched).unwrap(), if n == 5 { 55 } else { n });
    }
}

/// 8.
fn lists_are_mapped_and_filtered(make: Make<'_>) {
    let mut world = make();
    let length = count(1_000, 20);
    let factor = world.input(1);
    let numbers = world.list(length, |n| async move || n * factor.stream().await);
    let squares = world.map_list(numbers, |n| async move || n.await * n.await);
    let chosen = world.filter(squares, |square| square % 3 == 1);
    let sum = world.stream(async move || {
        let mut sum = 0;
        chosen.each(|square| sum += square).await;
        (sum, chosen.values().await.len())
    });
    for n in 1..6 {
        world.set(factor, n).unwrap();
        world.frame();
        let squares = (0..length).map(|at| at * n * at * n).filter(|square| square % 3 == 1);
        let expected = squares.fold((0, 0), |(sum, count), square| (sum + square, count + 1));
        assert_eq!(world.get(sum).unwrap(), expected);
    }
}

/// 8. Keys come and go at random; each counts the frames of its own life.
fn keyed_lists_keep_the_state_of_their_keys(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(Vec::<u32>::new());
    let made = tokens.clone();
    let ages = world.keyed(keys.stream(), move |key| {
        let (token, mut age) = (made.make(), 0);
        async move || {
            let _token = &token;
            age += 1;
            (key, age)
        }
    });
    let doubled = world.map_list(ages, |age: Stream<(u32, u32)>| async move || age.await.1 * 2);
    let both = world.stream(async move || (ages.values().await, doubled.values().await));
    let (mut lives, mut random) = (BTreeMap::<u32, u32>::new(), 1_u64);
    for _ in 0..count(300, 15) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let now = (0..30).filter(|key| random >> (key + 20) & 1 == 1).collect::<Vec<u32>>();
        lives.retain(|key, _| now.contains(key));
        now.iter().for_each(|key| *lives.entry(*key).or_default() += 1);
        // Each comes twice, and in the other order the second time.
        let twice = now.iter().chain(now.iter().rev()).copied().collect();
        world.set(keys, twice).unwrap();
        world.frame();
        let (ages, doubled) = world.get(both).unwrap();
        assert_eq!(ages, lives.iter().map(|(key, age)| (*key, *age)).collect::<Vec<_>>());
        assert_eq!(doubled, lives.values().map(|age| age * 2).collect::<Vec<_>>());
        assert_eq!(tokens.alive(), lives.len() as isize);
    }
    drop(world);
    assert_eq!(tokens.alive(), 0);
}

/// 7, 8. And keep their state for the time after.
fn combinators_of_what_fails_fail(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let flaky = world.retrying().stream(async move || {
        let n = number.stream().await;
        assert!(n != 2, "two");
        n
    });
    let mapped = world.map(flaky, |n| n);
    let zipped = world.zip(mapped, number.stream());
    let sum = world.fold(flaky, 0, |sum, n| *sum += n);
    let previous = world.previous(flaky, 100);
    let mut expected = 0;
    for n in 1..5 {
        world.set(number, n).unwrap();
        world.frame();
        if n == 2 {
            assert!(world.get(mapped).is_err() && world.get(zipped).is_err() && world.get(sum).is_err());
        } else {
            expected += n;
            assert_eq!((world.get(zipped).unwrap(), world.get(sum).unwrap()), ((n, n), expected));
        }
        // The last value that there was.
        assert_eq!(world.get(previous).unwrap(), [100, 1, 1, 3][n as usize - 1]);
    }
}
