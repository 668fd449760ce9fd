//! Deeply nested events: up to a limit they work on a fiber's stack, and one more level is a panic
//! that says so.

use crate::support::{Cx, watched, worlds};
use lisle::event::{BoxEvent, Nack, choose_all, guard, with_nack};
use lisle::time::after;
use lisle::{Event, Runtime, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    choices_to_one_side,
    wraps_and_choices_of_all,
    guards_that_make_guards,
    stages_that_make_stages,
    many_alternatives_side_by_side,
);

/// The depth to which boxes may be nested.
const DEEPEST: usize = 128;

/// Returns the message of the panic in `f`.
fn refused<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it was not refused") };
    *panic.downcast::<String>().expect("a message")
}

fn assert_refused<T>(f: impl FnOnce() -> T) {
    let message = refused(f);
    assert!(message.contains("nested more than 128 deep") && message.contains("vector"), "{message}");
}

/// Returns `event` with `more` levels of boxes around it.
fn nested<'a>(
    event: BoxEvent<'a, u32>,
    more: usize,
    level: fn(BoxEvent<'a, u32>) -> BoxEvent<'a, u32>,
) -> BoxEvent<'a, u32> {
    (0..more).fold(event, |event, _| level(event))
}

fn beside_never(event: BoxEvent<'_, u32>) -> BoxEvent<'_, u32> {
    choose(vec![event, never().boxed()]).boxed()
}

async fn choices_to_one_side(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receive = || rx.recv_evt().wrap(Result::unwrap).boxed();
    let deep = nested(receive(), DEEPEST - 1, beside_never);
    assert_eq!(deep.poll(), None);
    let sender = cx.spawn(move |cx| async move {
        cx.sync(tx.send_evt(1)).await.unwrap();
        tx
    });
    assert_eq!(cx.sync(choose((&deep, never()))).await, 1);
    let _tx = cx.join(sender).await;
    assert_refused(|| beside_never(deep));
    // Both sides are nested, and refused events are dropped.
    for _ in 0..2 {
        assert_refused(|| nested(receive(), 50_000, |event| choose((event, never())).wrap(|n| n).boxed()));
    }
    assert_eq!(rx.try_recv().ok(), None);
}

async fn wraps_and_choices_of_all(cx: Cx) {
    let deep =
        nested(always(0).boxed(), DEEPEST - 1, |event| event.wrap(|n| n + 1).wrap_panic(|_| 0).boxed());
    assert_eq!(cx.sync(&deep).await, DEEPEST as u32 - 1);
    assert_refused(|| Some(deep).boxed());
    let deep = nested(always(0).boxed(), DEEPEST - 1, |event| choose_all([event]).wrap(|[n]| n + 1).boxed());
    assert_eq!(cx.sync(&deep).await, DEEPEST as u32 - 1);
    assert_refused(|| deep.replace(always).boxed());
}

static MADE: AtomicUsize = AtomicUsize::new(0);

/// Returns a guard that makes a guard, and so on.
fn guards<'a>(levels: usize) -> BoxEvent<'a, u32> {
    match levels {
        0 => always(7).boxed(),
        _ => guard(move || guards(levels - 1)).boxed(),
    }
}

fn nacks<'a>(levels: usize) -> BoxEvent<'a, u32> {
    match levels {
        0 => always(7).boxed(),
        _ => with_nack(move |_: Nack| nacks(levels - 1)).boxed(),
    }
}

async fn guards_that_make_guards(cx: Cx) {
    for make in [guards, nacks] {
        assert_eq!(cx.sync(make(DEEPEST - 1)).await, 7);
        assert_eq!(make(DEEPEST - 1).poll(), Some(7));
        assert_refused(|| make(50_000).poll());
        assert_refused(|| make(50_000).sync());
        // A guard may perform any event: that is another performance.
        let within = guard(|| {
            MADE.fetch_add(1, Ordering::Relaxed);
            always(make(DEEPEST - 1).poll().unwrap())
        });
        assert_eq!(nested(within.boxed(), DEEPEST - 1, beside_never).poll(), Some(7));
    }
}

/// Returns an event whose first stage makes such an event, and so on.
fn stages<'a>(levels: usize) -> BoxEvent<'a, u32> {
    match levels {
        0 => always(7).boxed(),
        _ => always(()).replace(move |()| stages(levels - 1)).boxed(),
    }
}

async fn stages_that_make_stages(cx: Cx) {
    assert_eq!(cx.sync(stages(DEEPEST - 1)).await, 7);
    assert_eq!(choose((stages(DEEPEST - 1), never())).poll(), Some(7));
    assert_refused(|| stages(50_000).poll());
    assert_refused(|| stages(50_000).sync());
    // Refused events have left nothing behind.
    assert_eq!(cx.sync(stages(1)).await, 7);
}

async fn many_alternatives_side_by_side(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let all: Vec<BoxEvent<'_, u32>> =
        (0..50_000).map(|_| rx.recv_evt().wrap(Result::unwrap).boxed()).collect();
    let all = choose(all);
    assert_eq!(all.poll(), None);
    let sender = cx.spawn(move |cx| async move { cx.sync(tx.send_evt(1)).await });
    assert_eq!(cx.sync(&all).await, 1);
    cx.join(sender).await.unwrap();
}

/// A fiber waits for the deepest event of each kind, appears in a listing, and continues.
#[test]
fn what_a_fiber_waits_for_is_described() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let (tx, rx) = channel::<u32>();
        let fibers = [0, 1, 2].map(|kind| {
            let rx = rx.clone();
            lisle::spawn(move || {
                let receive = rx.recv_evt().wrap(Result::unwrap).boxed();
                let deep = match kind {
                    0 => nested(receive, DEEPEST - 1, beside_never),
                    1 => nested(receive, DEEPEST - 2, |event| {
                        choose_all((event, always(()))).wrap(|(n, ())| n).boxed()
                    }),
                    _ => guard(|| {
                        nested(rx.recv_evt().wrap(Result::unwrap).boxed(), DEEPEST - 3, beside_never)
                    })
                    .boxed(),
                };
                choose((deep, after(Duration::from_secs(3_600)).wrap(|()| 0))).sync()
            })
        });
        while lisle::waiting().to_string().matches("receive from").count() < fibers.len() {
            lisle::fiber::yield_now();
        }
        (0..fibers.len()).for_each(|_| tx.send(5).unwrap());
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap() == 5));
    });
}
