//! Waiting for the time in the game, for values, and for no longer than that.

use crate::worlds::{Counter, Make, Tokens, count};
use lisle_frame::{
    Elapsed, Failure, Foreign, Here, Making, Stream, World, all, branch, frames, here, next_frame, race,
    seconds, timeout, until,
};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

in_all_worlds!(
    seconds_are_so_many_frames,
    steps_may_change,
    the_time_goes_back_with_the_world,
    until_a_value_is_right,
    until_goes_on_after_a_failure,
    a_timeout_drops_what_it_waits_for,
    a_timeout_within_a_frame,
    combinators_with_a_name,
);

/// Returns after how many frames a wait has ended.
fn frames_of<F: Future + 'static>(world: &mut World, wait: impl FnOnce() -> F + 'static) -> u64 {
    let begun = world.frames();
    let ended = world.live(false, async move |ended| {
        wait().await;
        ended.set(true);
    });
    while !world.get(ended).unwrap() {
        world.frame();
        assert!(world.frames() < begun + 10_000);
    }
    world.frames() - begun - 1
}

fn seconds_are_so_many_frames(make: Make<'_>) {
    let mut world = make();
    let cases = [(0.0, 0), (0.000_1, 1), (1.0 / 60.0, 1), (0.1, 6), (0.5, 30), (1.0, 60), (10.0, 600)];
    for (time, expected) in cases.into_iter().take(count(7, 5)) {
        assert_eq!(frames_of(&mut world, move || seconds(time)), expected, "{time}");
    }
    // A second is a second, however it is made up.
    assert_eq!(frames_of(&mut world, || async { all((seconds(0.2), seconds(0.1))).await }), 12);
    let ticks = world.live(0, async |ticks| {
        loop {
            seconds(0.05).await;
            ticks.update(|ticks| *ticks += 1);
        }
    });
    for _ in 0..31 {
        world.frame();
    }
    assert_eq!(world.get(ticks).unwrap(), 10);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(seconds(bad)))).is_err());
    }
}

fn steps_may_change(make: Make<'_>) {
    let mut world = make();
    world.set_step(Duration::from_millis(100));
    assert_eq!(frames_of(&mut world, || seconds(1.0)), 10);
    let before = world.time();
    let clock = world.stream(async || here().time());
    let ended = world.live(Duration::ZERO, async |ended| {
        seconds(1.0).await;
        ended.set(here().time());
    });
    world.frame();
    for step in [300, 300, 300, 300, 300] {
        world.set_step(Duration::from_millis(step));
        world.frame();
        assert_eq!(world.get(clock).unwrap(), world.time());
    }
    assert_eq!(world.time() - before, Duration::from_millis(1_600));
    // The frame at 1.0 is nearer to 1.1 than that at 1.3.
    assert_eq!(world.get(ended).unwrap() - before, Duration::from_millis(1_000));
    // Time stands still.
    world.set_step(Duration::ZERO);
    let waits = world.live(false, async |ended| {
        seconds(0.001).await;
        ended.set(true);
    });
    for _ in 0..10 {
        world.frame();
    }
    assert!(!world.get(waits).unwrap());
}

fn the_time_goes_back_with_the_world(make: Make<'_>) {
    let mut world = make();
    world.set_step(Duration::from_secs(1));
    let clock = world.stream(async || here().time().as_secs());
    let shown = world.cosmetic().live((0, 0), async |shown| {
        loop {
            seconds(2.0).await;
            shown.update(|(times, at)| (*times, *at) = (*times + 1, here().time().as_secs()));
        }
    });
    world.frame();
    let then = world.snapshot().unwrap();
    for _ in 0..2 {
        world.frame();
    }
    assert_eq!((world.get(clock).unwrap(), world.get(shown).unwrap()), (3, (1, 3)));
    world.restore(&then).unwrap();
    assert_eq!(world.time(), Duration::from_secs(1));
    world.resimulate();
    world.resimulate();
    assert_eq!((world.get(clock).unwrap(), world.get(shown).unwrap()), (3, (1, 3)));
    world.frame();
    world.frame();
    assert_eq!((world.get(clock).unwrap(), world.get(shown).unwrap()), (5, (2, 5)));
}

fn until_a_value_is_right(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n * 2).batch(2);
    let number = world.input(0);
    let double = world.stream(async move || work.call(number.stream().await).await);
    let (looks, seen) = (Counter::default(), Counter::default());
    let looked = looks.clone();
    let found = world.live(0, async move |found| {
        let value = until(double, move |n| {
            looked.add();
            *n > 10
        });
        found.set(value.await);
        // It is the value of this frame, again.
        let again = until(double, |_| true).await;
        found.update(|found| *found += again);
        race((until(double, |n| *n == 0), async { pending().await })).await;
        seen.add();
        found.set(seen.get() as u32);
    });
    for (frame, n) in [1, 5, 3].into_iter().enumerate() {
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!((world.get(found).unwrap(), looks.get()), (0, frame + 1));
    }
    world.set(number, 6).unwrap();
    world.frame();
    assert_eq!((world.get(found).unwrap(), looks.get()), (24, 4));
    world.set(number, 0).unwrap();
    world.frame();
    assert_eq!(world.get(found).unwrap(), 1);
}

fn until_goes_on_after_a_failure(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let share = world.retrying().stream(async move || 12 / number.stream().await);
    let found = world.live(0, async move |found| found.set(until(share, |n| *n == 4).await));
    for n in [0, 2, 0, 0] {
        world.set(number, n).unwrap();
        world.frame();
        let result = world.get(found);
        assert!(if n == 0 {
            matches!(result.unwrap_err().failure(), Failure::Read { .. })
        } else {
            result == Ok(0)
        });
    }
    world.set(number, 3).unwrap();
    world.frame();
    assert_eq!(world.get(found).unwrap(), 4);
}

fn a_timeout_drops_what_it_waits_for(make: Make<'_>) {
    let mut world = make();
    let (tokens, steps) = (Tokens::default(), Counter::default());
    let (kept, counted) = (tokens.clone(), steps.clone());
    let outcome = world.live(None, async move |outcome| {
        let scene = async {
            let _token = kept.make();
            let token = kept.make();
            branch(async move {
                let _token = token;
                loop {
                    counted.add();
                    next_frame().await;
                }
            });
            pending::<u32>().await
        };
        let first = timeout(frames(3), scene).await;
        let second = timeout(seconds(10.0), async {
            frames(2).await;
            7
        });
        outcome.set(Some((first, second.await)));
        pending().await
    });
    for frame in 1..=3 {
        world.frame();
        assert_eq!(tokens.alive(), 2, "frame {frame}");
    }
    for _ in 0..3 {
        world.frame();
        assert_eq!(tokens.alive(), 0);
    }
    let (first, second) = world.get(outcome).unwrap().unwrap();
    assert_eq!(second, Ok(7));
    let error: Elapsed = first.unwrap_err();
    assert_eq!(error.to_string(), "the time was over before the future was done");
    assert!((3..=4).contains(&steps.get()));
}

/// A future that ends in the same frame is in time, also if it has waited for a call.
fn a_timeout_within_a_frame(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n).batch(2);
    let body = world.stream(async move || {
        let now = timeout(frames(0), async { 1 }).await;
        let called = timeout(frames(1), work.call(2)).await;
        let never = timeout(work.call(0), pending::<u32>()).await;
        (now, called, never.is_err())
    });
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(body).unwrap(), (Ok(1), Ok(2), true));
    }
}

/// 8. All that is made of streams can be named, and is the same as without a name.
fn combinators_with_a_name(make: Make<'_>) {
    fn made<'h>(
        here: &'h Here,
        number: Stream<i32>,
        named: impl Fn(&'h Here) -> Making<'h>,
    ) -> Stream<String> {
        let half = named(here).map(number, |n| (n % 2 == 0).then_some(n / 2));
        let held = named(here).hold(half, -1);
        let pair = named(here).zip(number, held);
        let sum = named(here).fold(pair, 0, |sum, (a, b)| *sum += a * b);
        let delay = named(here).delay(100);
        delay.follow(sum);
        let last = named(here).previous(sum, 100);
        let changed = named(here).changes(held);
        let sampled = named(here).sample(number, 3);
        let chosen = named(here).map(number, move |n| if n % 3 == 0 { sum } else { last });
        let switched = named(here).switch(chosen);
        let list = named(here).list_of(vec![number, sum, last]);
        let positive = named(here).filter(list, |n| *n > 0);
        let values = named(here).values(positive);
        let all = (delay.stream(), changed);
        named(here).stream(async move || {
            let numbers = (all.0.await, all.1.await, sampled.await, switched.await);
            format!("{numbers:?} {:?}", values.await)
        })
    }
    let mut world = make();
    let number = world.named("number").input(0);
    let plain = made(&world, number.stream(), |here| here.named("plain"));
    let scope = world.named("scope").scope();
    let named = made(&scope, number.stream(), |here| here.named("named").retrying());
    for n in 1..20 {
        world.set(number, n * 7 % 11).unwrap();
        world.frame();
        assert_eq!(world.get(plain).unwrap(), world.get(named).unwrap());
    }
    world.remove_scope(scope);
    assert!(world.get(named).unwrap_err().to_string().contains("stream 'named'"));
    let bad = world.named("bad").map(number.stream(), |_| -> u8 { panic!("on purpose") });
    let after = world.named("after").previous(bad, 5);
    world.frame();
    world.frame();
    assert!(world.get(bad).unwrap_err().to_string().contains("game_time.rs"));
    assert_eq!(world.get(after).unwrap(), 5);
}
