//! Waiting within a frame: foreign calls, and several futures at once.

use crate::worlds::{Counter, Make, Tokens, count};
use futures::future::{Either, join_all, select, select_all};
use futures::stream::{FuturesOrdered, FuturesUnordered, StreamExt};
use lisle_frame::{Foreign, Stream, all, branch, call, next_frame, race, rush};
use std::pin::pin;
use std::time::Duration;

in_all_worlds!(
    thirty_calls_in_a_row_in_each_of_a_thousand_streams,
    calls_of_many_functions_interleave,
    calls_with_no_and_many_arguments,
    a_hundred_calls_at_once_by_join_all,
    executors_in_many_streams_at_once,
    results_as_they_come,
    the_first_of_two_drops_the_other,
    a_body_is_run_once_although_it_has_left_a_wait_behind,
    all_race_rush_and_branch_nested,
    a_branch_goes_on_while_its_body_waits,
    reads_that_wait_are_awaited_side_by_side,
    more_calls_than_places,
);

/// 10.
fn thirty_calls_in_a_row_in_each_of_a_thousand_streams(make: Make<'_>) {
    let (streams, calls) = (count(1_000, 10), 30);
    let step = Foreign::new("step", |n: u64| n.wrapping_mul(3) + 1).batch(100);
    let mut world = make();
    let expected = |n: u64| (0..calls).fold(n, |n, _| n.wrapping_mul(3) + 1);
    let all = (0..streams as u64).map(|n| {
        world.stream(async move || {
            let mut value = n;
            for _ in 0..calls {
                value = step.call(value).await;
            }
            value
        })
    });
    let all = all.collect::<Vec<_>>();
    for _ in 0..3 {
        let report = world.frame();
        assert_eq!((report.calls, report.streams), (streams * calls, streams));
        for (n, stream) in (0..).zip(&all) {
            assert_eq!(world.get(*stream).unwrap(), expected(n));
        }
    }
}

/// 10, 14.
fn calls_of_many_functions_interleave(make: Make<'_>) {
    let functions = [1, 2, 3, 7, 100].map(|batch| Foreign::new("add", |n: usize| n + 1).batch(batch));
    let mut world = make();
    let streams = (0..count(300, 15)).map(|n| {
        world.stream(async move || {
            let mut value = n;
            for step in 0..10 {
                value = functions[(n + step) % 5].call(value).await;
            }
            value
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..3 {
        world.frame();
        assert!(streams.iter().enumerate().all(|(n, stream)| world.get(*stream).unwrap() == n + 10));
    }
}

fn calls_with_no_and_many_arguments(make: Make<'_>) {
    let none = Foreign::new("none", || String::from("none"));
    let unit = Foreign::new("unit", |_: ()| {});
    let four = Foreign::new("four", |a: u8, b: u16, c: String, d: Box<u64>| format!("{a} {b} {c} {d}"));
    #[derive(Clone, Copy)]
    #[repr(align(256))]
    struct Aligned(u8);
    let aligned = Foreign::new("aligned", |value: Aligned| {
        assert_eq!((&raw const value).addr() % 256, 0);
        value
    });
    let large = Foreign::new("large", |bytes: [u8; 4_000]| bytes);
    let mut world = make();
    let streams = (0..count(20, 5) as u8).map(|n| {
        world.stream(async move || {
            unit.call(()).await;
            let four = four.call((n, 2, none.call(()).await, Box::new(4))).await;
            let aligned = aligned.call(Aligned(n)).await;
            let bytes = large.call([n; 4_000]).await;
            assert!(bytes.iter().all(|byte| *byte == n));
            let text = four.clone();
            let captured = call(move || text.len()).await;
            assert_eq!(captured, four.len());
            (four, aligned.0)
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..2 {
        world.frame();
        for (n, stream) in (0..).zip(&streams) {
            assert_eq!(world.get(*stream).unwrap(), (format!("{n} 2 none 4"), n));
        }
    }
}

/// 12, 13. They have a waker of their own for each.
fn a_hundred_calls_at_once_by_join_all(make: Make<'_>) {
    let square = Foreign::new("square", |n: u64| n * n).batch(7);
    let mut world = make();
    let doubled = (0..100).map(|n| world.stream(async move || square.call(n).await * 2)).collect::<Vec<_>>();
    let sum = world.stream(async move || {
        let squares = join_all((0..100).map(|n| square.call(n))).await;
        let doubles = join_all(doubled.iter().map(|stream| stream.get())).await;
        squares.iter().chain(&doubles).sum::<u64>()
    });
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(sum).unwrap(), 3 * 328_350);
    }
}

/// The time does not grow with the square of the number of streams.
fn executors_in_many_streams_at_once(make: Make<'_>) {
    let square = Foreign::new("square", |n: usize| n * n).batch(100);
    let mut world = make();
    let streams = (0..count(1_000, 5)).map(|n| {
        world.stream(async move || {
            let calls = (0..40).map(|at| square.call(n + at)).collect::<FuturesOrdered<_>>();
            calls.collect::<Vec<_>>().await
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..2 {
        assert_eq!(world.frame().calls, streams.len() * 40);
        for (n, stream) in streams.iter().enumerate() {
            let right = |squares: &Vec<usize>| (n..n + 40).map(|n| n * n).eq(squares.iter().copied());
            assert!(world.with(*stream, right).unwrap());
        }
    }
}

fn results_as_they_come(make: Make<'_>) {
    let work = Foreign::new("work", |n: u64| n).batch(3).unordered();
    let mut world = make();
    let sum = world.stream(async move || {
        let mut calls = (0..50).map(|n| work.call(n)).collect::<FuturesUnordered<_>>();
        let (mut sum, mut again) = (0, 0);
        while let Some(n) = calls.next().await {
            sum += n;
            if again < 20 {
                again += 1;
                calls.push(work.call(1_000));
            }
        }
        sum
    });
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(sum).unwrap(), 1_225 + 20_000);
    }
}

/// 6, 12.
fn the_first_of_two_drops_the_other(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let rare = Foreign::new("rare", |n: u32| n).batch(1_000);
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let first = world.stream(async move || {
        let token = made.make();
        let slow = async {
            let _token = token;
            loop {
                next_frame().await;
            }
        };
        let fast = pin!(async { work.call(1).await });
        match select(fast, pin!(slow)).await {
            Either::Left((value, _)) => value,
            Either::Right(_) => unreachable!(),
        }
    });
    let among = world.stream(async move || {
        let calls = (0..10).map(|n| if n < 5 { rare.call(n) } else { rare.call(n + 100) });
        let (value, at, rest) = select_all(calls).await;
        (value, at, rest.len())
    });
    let raced = world.stream(async move || race((work.call(5), work.call(6), rare.call(7))).await);
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(first).unwrap(), 1);
        assert_eq!(world.get(among).unwrap(), (0, 0, 9));
        assert_eq!(world.get(raced).unwrap(), 5);
        assert_eq!(tokens.alive(), 0);
    }
}

/// 1. The loser of a race would wake the stream, which has its value already.
fn a_body_is_run_once_although_it_has_left_a_wait_behind(make: Make<'_>) {
    let work = Foreign::new("work", |n: usize| n).batch(1);
    let mut world = make();
    let runs = Counter::default();
    let slow = world.stream(async move || work.call(1).await);
    let counted = runs.clone();
    let racer = world.stream(async move || {
        let run = counted.add();
        race((slow.get(), async move { run })).await
    });
    let counted = runs.clone();
    let (value, kept) = (world.live(0, async |_| {}), std::rc::Rc::new(std::cell::RefCell::new(Vec::new())));
    let keeper = world.stream(async move || {
        counted.add();
        // The call goes on, and its future with it.
        let mut made = work.call(2);
        let pending = futures::poll!(&mut made).is_pending();
        kept.borrow_mut().push(made);
        (pending, value.await)
    });
    for frame in 1..=5 {
        world.frame();
        assert_eq!((runs.get(), world.get(racer).unwrap()), (2 * frame, 2 * frame - 1));
        assert_eq!(world.get(keeper).unwrap(), (true, 0));
    }
}

/// 12.
fn all_race_rush_and_branch_nested(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(2);
    let mut world = make();
    let outcome = world.live(Vec::new(), async move |out| {
        loop {
            let background = branch(async move {
                next_frame().await;
                work.call(100).await
            });
            let (a, (b, c), d) = all((
                async { work.call(1).await + work.call(2).await },
                all((work.call(3), async { race((work.call(4), std::future::pending())).await })),
                rush((async move { work.call(5).await }, async {
                    next_frame().await;
                    6
                })),
            ))
            .await;
            let now = background.await;
            next_frame().await;
            let then = background.await;
            out.set(vec![a, b, c, d, now.unwrap_or(0), then.unwrap_or(0)]);
        }
    });
    for frame in 1..10 {
        world.frame();
        let expected = if frame == 1 { vec![] } else { vec![3, 3, 4, 5, 0, 100] };
        assert_eq!(world.get(outcome).unwrap(), expected, "frame {frame}");
    }
}

/// 12. And is dropped with it.
fn a_branch_goes_on_while_its_body_waits(make: Make<'_>) {
    let mut world = make();
    let (steps, tokens) = (Counter::default(), Tokens::default());
    let (counted, token) = (steps.clone(), tokens.make());
    let body = world.live((), async move |_| {
        branch(async move {
            let _token = token;
            loop {
                counted.add();
                next_frame().await;
            }
        });
        std::future::pending().await
    });
    for frame in 1..=10 {
        world.frame();
        assert_eq!((steps.get(), tokens.alive()), (frame, 1));
    }
    world.remove(body).unwrap();
    world.frame();
    assert_eq!((steps.get(), tokens.alive()), (10, 0));
}

fn reads_that_wait_are_awaited_side_by_side(make: Make<'_>) {
    let work = Foreign::new("work", |n: usize| n).batch(1_000).delay(Duration::MAX);
    let mut world = make();
    let streams = (0..50).map(|n| world.stream(async move || work.call(n).await)).collect::<Vec<_>>();
    let read = streams.clone();
    let sum = world.stream(async move || {
        let reads = read.iter().map(|stream: &Stream<usize>| stream.get()).collect::<Vec<_>>();
        all(reads).await.into_iter().sum::<usize>()
    });
    for _ in 0..3 {
        let report = world.frame();
        assert_eq!(world.get(sum).unwrap(), 1_225);
        assert_eq!((report.calls, report.batches), (50, 1));
    }
}

/// 19.
fn more_calls_than_places(make: Make<'_>) {
    let work = Foreign::new("work", |n: usize| n + 1).batch(1);
    let mut world = make();
    let streams = (0..count(3_000, 50)).map(|n| world.stream(async move || work.call(n).await));
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..2 {
        let report = world.frame();
        assert_eq!((report.calls, report.batches), (streams.len(), streams.len()));
        assert!(streams.iter().enumerate().all(|(n, stream)| world.get(*stream).unwrap() == n + 1));
    }
}
