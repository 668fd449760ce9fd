//! Futures of streams and calls in the wrong hands: polled outside of frames, after they are ready,
//! in another stream or another world, leaked, or dropped after their world.

use crate::worlds::{Counter, Make, Tokens, count};
use lisle_frame::{
    Failure, Foreign, ForeignCallError, Get, Stream, TryCall, World, call, frames, here, next_frame,
};
use std::cell::RefCell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

in_all_worlds!(
    futures_that_are_polled_outside_of_frames_say_so,
    futures_that_are_polled_again_after_they_are_ready,
    a_read_that_is_begun_in_one_stream_and_polled_in_another,
    calls_are_moved_out_of_the_world_and_dropped_after_it,
    calls_are_forgotten,
    calls_are_dropped_before_and_after_they_have_begun,
    a_call_of_one_world_is_dropped_in_another,
    a_call_of_one_world_is_polled_in_another,
    a_foreign_function_is_in_no_frame,
    a_foreign_function_runs_a_world_of_its_own,
    a_function_that_looks_at_a_value_removes_its_stream,
    a_read_in_a_body_removes_what_it_reads,
    here_outlives_its_world,
);

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Begins a call, which does not end in this poll.
async fn begin<F: Future + Unpin>(call: &mut F) {
    poll_fn(|cx| {
        assert!(Pin::new(&mut *call).poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
}

/// Has a stream begin a call, and keep its future where others find it.
fn keep_begun<F: Future + Unpin + 'static>(world: &World, kept: &Rc<RefCell<Vec<F>>>, mut call: F) {
    let kept = kept.clone();
    world.live((), async move |_| {
        begin(&mut call).await;
        kept.borrow_mut().push(call);
    });
}

fn panics<T>(f: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

fn futures_that_are_polled_outside_of_frames_say_so(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n + 1);
    let one = world.stream(async || 1);
    for _ in 0..2 {
        assert!(panics(|| poll(&mut one.get())));
        assert!(panics(|| poll(&mut one.with(|n| *n))));
        assert!(panics(|| poll(&mut work.call(1))));
        assert!(panics(|| poll(&mut call(|| 1))));
        assert!(panics(|| poll(&mut next_frame())));
        assert!(panics(|| poll(&mut frames(0))));
        assert!(panics(here));
        let Poll::Ready(Err(error)) = poll(&mut one.try_get()) else { panic!("it is read") };
        assert!(matches!(error.failure(), Failure::Outside), "{error}");
        let Poll::Ready(Err(error)) = poll(&mut work.try_call(1)) else { panic!("it is called") };
        assert!(matches!(error, ForeignCallError::Outside), "{error}");
        world.frame();
        assert_eq!(world.get(one).unwrap(), 1);
    }
}

fn futures_that_are_polled_again_after_they_are_ready(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let one = world.stream(async move || made.make());
    let work = Foreign::new("work", |n: u32| vec![n]).batch(1);
    let read = world.stream(async move || {
        let mut get = one.get();
        let first = (&mut get).await;
        let second = (&mut get).await;
        drop((first, second));
        let mut with = one.with(|_| ());
        (&mut with).await;
        assert!(panics(|| poll(&mut with)));
        let mut calls = work.try_call(5);
        let result = (&mut calls).await.unwrap();
        assert!(panics(|| poll(&mut calls)));
        assert!(panics(|| poll(&mut calls)));
        result
    });
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(read).unwrap(), [5]);
        assert_eq!(tokens.alive(), 1);
    }
}

/// The second stream is on no list of readers. It does not hang the frame, and nobody else is woken
/// for it.
fn a_read_that_is_begun_in_one_stream_and_polled_in_another(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let mut n = 0;
    let source = world.stream(async move || {
        n += 1;
        work.call(n).await
    });
    let place = Rc::new(RefCell::new(None::<Get<u32>>));
    let begins = place.clone();
    let first = world.live(0, async move |out| {
        loop {
            let mut get = source.get();
            assert!(poll(&mut get).is_pending());
            *begins.borrow_mut() = Some(get);
            out.set(source.await);
            next_frame().await;
        }
    });
    let second = world.live(0, async move |out| {
        loop {
            let mut get = place.borrow_mut().take().unwrap();
            out.set((&mut get).await);
            next_frame().await;
        }
    });
    for frame in 1..=4 {
        world.frame();
        assert_eq!(world.get(first).unwrap(), frame);
        assert!(world.get(second).unwrap() <= frame);
    }
}

/// The future of a call of a plain function.
type Kept<T> = TryCall<fn() -> T, fn() -> T>;

/// Makes a world with calls that are pending or done, whose futures end up outside of it.
fn kept_calls<T: Send + 'static>(make: Make<'_>, frames: usize, result: fn() -> T) -> (World, Vec<Kept<T>>) {
    let mut world = make();
    let work = Foreign::new("work", result).batch(4);
    let kept = Rc::new(RefCell::new(Vec::new()));
    for n in 0..count(50, 10) {
        let kept = kept.clone();
        world.live((), async move |_| {
            let mut call = work.try_call(());
            if n % 3 == 0 {
                // It is made, and not waited for.
                begin(&mut call).await;
            }
            kept.borrow_mut().push(call);
        });
    }
    (0..frames).for_each(|_| _ = world.frame());
    let calls = kept.take();
    assert_eq!(calls.len(), count(50, 10));
    (world, calls)
}

fn calls_are_moved_out_of_the_world_and_dropped_after_it(make: Make<'_>) {
    let make_result = || vec![Box::new(5)];
    let (world, calls) = kept_calls(make, 1, make_result);
    drop((world, calls));
    let (mut world, calls) = kept_calls(make, 3, make_result);
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let other = world.stream(async move || work.call(1).await);
    drop(calls);
    world.frame();
    assert_eq!(world.get(other).unwrap(), 1);
    let (world, mut calls) = kept_calls(make, 2, make_result);
    drop(world);
    for call in &mut calls {
        let Poll::Ready(Err(error)) = poll(call) else { panic!("a world that is gone has answered") };
        assert!(matches!(error, ForeignCallError::Outside), "{error}");
    }
}

fn calls_are_forgotten(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u64| n + 1).batch(4);
    for n in 0..10 {
        world.stream(async move || {
            let mut call = work.call(n);
            begin(&mut call).await;
            std::mem::forget(call);
        });
    }
    let wanted = world.stream(async move || work.call(41).await);
    for _ in 0..3 {
        world.frame();
        assert_eq!(world.get(wanted).unwrap(), 42);
    }
}

/// 6. A call that has not begun does not begin; arguments and results are dropped once each.
fn calls_are_dropped_before_and_after_they_have_begun(make: Make<'_>) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let mut world = make();
    let alive = Arc::new(());
    let begun = Arc::new(AtomicUsize::new(0));
    let begins = begun.clone();
    let body = move |token: Arc<()>| {
        begins.fetch_add(1, Ordering::Relaxed);
        token
    };
    let work = Foreign::new("work", body).batch(1_000);
    let together = Foreign::new("together", |token: Arc<()>| token).batch(3);
    let streams = (0..30).map(|n| {
        let (alive, work, together) = (alive.clone(), work.clone(), together);
        world.stream(async move || {
            // Dropped before the batch leaves: it has room for all of them.
            let mut dropped = work.call(alive.clone());
            begin(&mut dropped).await;
            drop(dropped);
            // In part dropped when the batch has left.
            let mut call = together.call(alive.clone());
            if n % 2 == 0 {
                begin(&mut call).await;
                drop(call);
                return 0;
            }
            drop(call.await);
            1
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..5 {
        world.frame();
        let sum = streams.iter().map(|stream| world.get(*stream).unwrap()).sum::<usize>();
        assert_eq!((sum, begun.load(Ordering::Relaxed)), (15, 0));
    }
    drop((world, work, together));
    // Each value of a batch that was left to a worker is dropped by it.
    while Arc::strong_count(&alive) > 1 {
        std::thread::yield_now();
    }
}

/// The batches of a world stay its own.
fn a_call_of_one_world_is_dropped_in_another(make: Make<'_>) {
    let work = Foreign::new("work", |n: usize| vec![n; 3]).batch(1);
    let mut outer = make();
    let sum = outer.live(0, async move |out| {
        // The outer world knows the function too.
        work.call(0).await;
        for round in 0..5 {
            let kept = Rc::new(RefCell::new(Vec::new()));
            let mut inner = World::new();
            for n in 0..10 {
                keep_begun(&inner, &kept, work.call(n));
            }
            inner.frame();
            // Retired calls are dropped in the outer world's frame.
            kept.borrow_mut().drain(..5);
            drop(inner);
            kept.borrow_mut().clear();
            let mut sum = 0;
            for n in 0..20 {
                sum += work.call(n + round).await.iter().sum::<usize>();
            }
            out.set(sum);
            next_frame().await;
        }
    });
    for round in 0..5 {
        outer.frame();
        assert_eq!(outer.get(sum).unwrap(), 3 * (190 + 20 * round));
    }
}

fn a_call_of_one_world_is_polled_in_another(make: Make<'_>) {
    let work = Foreign::new("work", |n: usize| vec![n; 3]).batch(2);
    let mut outer = make();
    let outcome = outer.live(0, async move |out| {
        let kept = Rc::new(RefCell::new(Vec::new()));
        let mut inner = World::new();
        for n in 0..7 {
            keep_begun(&inner, &kept, work.try_call(n));
        }
        inner.frame();
        let calls = kept.take();
        let mut sum = 0;
        for call in calls {
            sum += call.await.unwrap().iter().sum::<usize>();
        }
        out.set(sum);
    });
    outer.frame();
    assert_eq!(outer.get(outcome).unwrap(), 63);
}

/// 22. It has no world around it, whichever thread runs it, and so has the same result everywhere.
fn a_foreign_function_is_in_no_frame(make: Make<'_>) {
    let mut world = make();
    let one = world.stream(async || 1);
    for batch in [1, 3, 100] {
        let body = move |stream: Stream<i32>| match poll(&mut stream.try_get()) {
            Poll::Ready(Err(error)) => matches!(error.failure(), Failure::Outside) && panics(here),
            _ => false,
        };
        let look = Foreign::new("look", body).batch(batch);
        let streams = (0..count(10, 4)).map(|_| world.stream(async move || look.call(one).await));
        let streams = streams.collect::<Vec<_>>();
        world.frame();
        assert!(streams.iter().all(|stream| world.get(*stream).unwrap()), "in batches of {batch}");
        streams.into_iter().for_each(|stream| world.remove(stream).unwrap());
    }
}

fn a_foreign_function_runs_a_world_of_its_own(make: Make<'_>) {
    let body = |n: u64| {
        let mut inner = World::new();
        let square = inner.stream(async move || call(move || n * n).await);
        inner.frame();
        inner.get(square).unwrap()
    };
    let work = Foreign::new("a world", body).batch(2);
    let mut world = make();
    let squares = (0..count(10, 3) as u64).map(|n| world.stream(async move || work.call(n).await));
    let squares = squares.collect::<Vec<_>>();
    for _ in 0..2 {
        world.frame();
        for (n, square) in (0..).zip(&squares) {
            assert_eq!(world.get(*square).unwrap(), n * n);
        }
    }
}

/// 5. The value stays until the function has returned, and no longer.
fn a_function_that_looks_at_a_value_removes_its_stream(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let stream = world.stream(async move || made.make());
    let other = world.stream(async || 5);
    world.frame();
    let alive = world.with(stream, |_| {
        world.remove(stream).unwrap();
        assert!(world.with(stream, |_| ()).is_err());
        assert_eq!(world.with(other, |n| *n).unwrap(), 5);
        // Removing others does not bury it either.
        world.remove(other).unwrap();
        world.stream(async || 6);
        tokens.alive()
    });
    assert_eq!((alive.unwrap(), tokens.alive()), (1, 0));
    world.frame();
}

fn a_read_in_a_body_removes_what_it_reads(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let looked = Counter::default();
    let made = tokens.clone();
    let source = world.stream(async move || made.make());
    let (watched, looks) = (tokens.clone(), looked.clone());
    let reader = world.stream(async move || {
        let removed = source.with(|_| {
            here().remove(source).unwrap();
            looks.add();
            watched.alive()
        });
        let alive = removed.await;
        (alive, source.try_get().await.is_err())
    });
    world.frame();
    assert_eq!(world.get(reader).unwrap(), (1, true));
    assert_eq!(tokens.alive(), 0);
    world.frame();
    let error = world.get(reader).unwrap_err();
    assert!(matches!(error.root().failure(), Failure::Removed { .. }), "{error}");
    assert_eq!(looked.get(), 1);
}

fn here_outlives_its_world(make: Make<'_>) {
    let mut world = make();
    let handle = world.stream(async || Rc::new(here()));
    let scope = world.scope();
    let stream = scope.stream(async || 1);
    world.frame();
    let outside = world.get(handle).unwrap();
    assert_eq!(world.get(stream).unwrap(), 1);
    drop(world);
    assert!(panics(|| outside.stream(async || 1)));
    assert!(panics(|| scope.stream(async || 1)));
    assert!(outside.remove(stream).is_err());
    outside.remove_scope(scope);
}
