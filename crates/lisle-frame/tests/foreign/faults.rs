//! Calls that panic, fail, or do not return.

use crate::support::{Counted, Gate, until, watched, world_with};
use lisle_frame::{Deadline, Failure, Foreign, ForeignCallError, Stream, Workers, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn called(world: &World, stream: Stream<u32>) -> ForeignCallError {
    match world.get(stream).unwrap_err().failure() {
        Failure::Called(_, error) => error.clone(),
        other => panic!("{other:?}"),
    }
}

/// The stream fails in this frame, with the name of the function; the others of its batch do not.
#[test]
fn a_call_that_panics() {
    let _watched = watched();
    for workers in [0, 2] {
        let (mut world, _workers) = world_with(workers);
        let turn = world.input(0_u32);
        let now = turn.stream();
        let work = Foreign::new("work", |n: u32, turn: u32| {
            assert!(n % 3 != turn, "{n} fell over");
            n
        })
        .batch(4);
        let trying = (0..20)
            .map(|n| {
                world.stream(async move || work.try_call((n, now.await)).await.map_err(|e| e.to_string()))
            })
            .collect::<Vec<_>>();
        let plain = (0..20).map(|n| victim(&world, work, now, n)).collect::<Vec<_>>();
        let read = plain[1];
        let reader = world.stream(async move || read.await);
        for frame in 0..4 {
            world.set(turn, frame).unwrap();
            world.frame();
            for n in 0..20 {
                let (plain, trying) = (plain[n as usize], trying[n as usize]);
                if n % 3 == frame {
                    let error = called(&world, plain);
                    assert_eq!(
                        error.to_string(),
                        format!("the foreign function 'work' has panicked: {n} fell over")
                    );
                    let message = world.get(plain).unwrap_err().to_string();
                    assert!(message.starts_with("stream 'victim'"), "{message}");
                    assert_eq!(world.get(trying).unwrap(), Err(error.to_string()));
                } else {
                    assert_eq!(world.get(plain).unwrap(), n);
                    assert_eq!(world.get(trying).unwrap(), Ok(n));
                }
            }
            assert_eq!(world.get(reader).is_err(), frame == 1, "who reads what failed fails with it");
        }
    }
}

fn victim<F>(world: &World, work: Foreign<F>, now: Stream<u32>, n: u32) -> Stream<u32>
where
    F: Fn(u32, u32) -> u32 + Clone + Send + 'static,
{
    world.named("victim").stream(async move || work.call((n, now.await)).await)
}

/// An error is a value like others.
#[test]
fn a_call_that_returns_an_error() {
    let _watched = watched();
    for workers in [0, 2] {
        let (mut world, _workers) = world_with(workers);
        let parse = Foreign::new("parse", |text: &'static str| text.parse::<u32>()).batch(2);
        let streams =
            ["1", "two", "3"].map(|text| world.stream(async move || parse.call(text).await.unwrap_or(0)));
        let whole = world.stream(async move || parse.call("x").await.map_err(|error| error.to_string()));
        world.frame();
        assert_eq!(streams.map(|stream| world.get(stream).unwrap()), [1, 0, 3]);
        assert_eq!(world.get(whole).unwrap().unwrap_err(), "invalid digit found in string");
    }
}

/// Arguments and results whose destructors panic do so on their own: the others go on.
#[test]
fn destructors_that_panic() {
    struct Bad(bool);
    impl Drop for Bad {
        fn drop(&mut self) {
            if self.0 && !std::thread::panicking() {
                panic!("a destructor panics");
            }
        }
    }
    let _watched = watched();
    for workers in [0, 2] {
        let (mut world, _workers) = world_with(workers);
        // The argument is dropped by the call, whose result is lost with that.
        let work = Foreign::new("work", |bad: Bad| drop(bad)).batch(3);
        let results = Foreign::new("results", Bad).batch(3);
        let streams =
            (0..9).map(|n| world.stream(async move || work.call(Bad(n == 4)).await)).collect::<Vec<_>>();
        for frame in 0..3 {
            // A stream that is removed while it waits: nobody takes its result.
            let owner = world.live((), async move |_| {
                let mut given_up = Box::pin(results.call(true));
                futures_poll_once(given_up.as_mut()).await;
            });
            world.frame();
            for (n, stream) in streams.iter().enumerate() {
                assert_eq!(world.get(*stream).is_err(), n == 4, "in frame {frame}");
            }
            world.remove(owner).unwrap();
        }
    }
}

/// Polls a future once, and gives it up.
async fn futures_poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) {
    std::future::poll_fn(|cx| {
        let _ = future.as_mut().poll(cx);
        std::task::Poll::Ready(())
    })
    .await;
}

struct Stuck {
    world: World,
    _workers: Option<Workers>,
    stream: Stream<u32>,
    sibling: Stream<u32>,
    results: Arc<AtomicUsize>,
}

/// Makes a world with a stream whose call does not return before the gate is opened, except in the
/// first frame. Returns the stream, another one, and how many of the results are there.
fn stuck(deadline: Deadline, gate: &Gate) -> Stuck {
    let (world, _workers) = world_with(1);
    let (passes, results) = (gate.clone(), Arc::new(AtomicUsize::new(0)));
    let counts = results.clone();
    let work = Foreign::new("stuck", move |frame: u32| {
        if frame > 1 {
            passes.pass();
        }
        (frame, Counted::new(&counts))
    })
    .deadline(deadline)
    .batch(1);
    let frame = world.fold(world.stream(async || 1), 0, |frame, one| *frame += one);
    let stream = world.named("waits").stream(async move || work.call(frame.await).await.0);
    let other = Foreign::new("other", |n: u32| n).batch(1);
    let sibling = world.stream(async move || other.call(frame.await).await);
    Stuck { world, _workers, stream, sibling, results }
}

#[test]
fn a_call_that_does_not_return_is_waited_for() {
    let _watched = watched();
    let gate = Gate::default();
    let Stuck { mut world, _workers, stream, sibling, results } = stuck(Deadline::Wait, &gate);
    world.frame();
    let opener = std::thread::spawn({
        let gate = gate.clone();
        move || {
            until(|| gate.entered() == 1);
            gate.open();
        }
    });
    let report = world.frame();
    assert_eq!(gate.entered(), 1);
    assert_eq!((world.get(stream).unwrap(), world.get(sibling).unwrap()), (2, 2));
    assert_eq!((report.late, report.slowest.unwrap().0), (0, "stuck"));
    assert!(report.stalls > 0 && report.waiting > Duration::ZERO);
    opener.join().unwrap();
    assert_eq!(results.load(Ordering::SeqCst), 0, "the stream has dropped it");
}

#[test]
fn a_stream_keeps_its_last_value() {
    let _watched = watched();
    let gate = Gate::default();
    // A call of the first frame may be late, too, if the machine is busy.
    let Stuck { mut world, _workers, stream, sibling, results } =
        stuck(Deadline::KeepLast(Duration::from_millis(50)), &gate);
    while gate.entered() == 0 {
        world.frame();
    }
    let before = world.get(stream).unwrap();
    assert_eq!(before, 1);
    for _ in 0..3 {
        let report = world.frame();
        assert_eq!(world.get(stream).unwrap(), before);
        assert_eq!(world.get(sibling).unwrap(), u32::try_from(report.frame).unwrap());
        assert_eq!(report.late, 0, "it is late once");
    }
    gate.open();
    // Its result comes between two frames; the next one gives it.
    while world.get(stream).unwrap() == 1 {
        world.frame();
    }
    let second = world.get(stream).unwrap();
    while world.get(stream).unwrap() == second {
        world.frame();
    }
    assert!(world.get(stream).unwrap() > second, "it goes on as before");
    drop(world);
    until(|| results.load(Ordering::SeqCst) == 0);
}

#[test]
fn the_report_names_what_is_late() {
    let _watched = watched();
    let gate = Gate::default();
    let Stuck { mut world, _workers, stream, .. } =
        stuck(Deadline::KeepLast(Duration::from_millis(1)), &gate);
    // The call of the first frame may be late, too.
    let late = loop {
        let report = world.frame();
        if report.late > 0 {
            break report;
        }
    };
    assert_eq!((late.late, late.slowest.unwrap().0), (1, "stuck"));
    assert!(late.slowest.unwrap().1 >= Duration::from_millis(1));
    assert!(late.to_string().contains("1 batches late, the slowest call was 'stuck'"), "{late}");
    gate.open();
    while world.get(stream).ok().is_none_or(|value| value < 2) {
        world.frame();
    }
}

#[test]
fn a_call_that_does_not_return_is_cancelled() {
    let _watched = watched();
    let gate = Gate::default();
    let Stuck { mut world, _workers, stream, sibling, results } =
        stuck(Deadline::Cancel(Duration::from_millis(5)), &gate);
    let report = loop {
        let report = world.frame();
        if report.late > 0 && report.frame > 1 {
            break report;
        }
    };
    assert_eq!((report.late, report.slowest.unwrap().0), (1, "stuck"));
    assert!(matches!(called(&world, stream), ForeignCallError::Deadline { function: "stuck" }));
    assert_eq!(
        called(&world, stream).to_string(),
        "the foreign function 'stuck' has not returned before its deadline"
    );
    assert_eq!(u64::from(world.get(sibling).unwrap()), report.frame);
    // In each frame it is tried again, and fails again, also when one of the calls has begun: one
    // that has not when it is cancelled never does.
    while gate.entered() == 0 {
        world.frame();
    }
    world.frame();
    assert!(matches!(called(&world, stream), ForeignCallError::Deadline { .. }));
    gate.open();
    // The worker is free again, so that a call has a result; the results of the late calls are
    // dropped.
    while world.get(stream).is_err() {
        world.frame();
    }
    assert!(world.get(stream).unwrap() > 2);
    drop(world);
    until(|| results.load(Ordering::SeqCst) == 0);
}

/// Each call gives its own result, and once, although the destructor of a captured value panics.
#[test]
fn a_function_whose_destructor_panics_gives_each_result_once() {
    let _watched = watched();
    struct Falls(bool);
    impl Clone for Falls {
        fn clone(&self) -> Self {
            Falls(true)
        }
    }
    impl Drop for Falls {
        fn drop(&mut self) {
            if std::mem::take(&mut self.0) {
                std::panic::resume_unwind(Box::new("a destructor's"));
            }
        }
    }
    for threads in [0, 1] {
        let (mut world, _workers) = world_with(threads);
        let falls = Falls(false);
        let number = Foreign::new("number", move |n: u32| {
            let _falls = &falls;
            Box::new(n)
        });
        let number = number.batch(2);
        let frames = std::rc::Rc::new(std::cell::Cell::new(0));
        let number_of = frames.clone();
        let values = world.stream(async move || {
            let first = number_of.get() * 10;
            number.call_each([first, first + 1, first + 2]).await.into_iter().map(|n| *n).collect::<Vec<_>>()
        });
        for frame in 0..5 {
            frames.set(frame);
            world.frame();
            assert_eq!(
                world.get(values),
                Ok(vec![frame * 10, frame * 10 + 1, frame * 10 + 2]),
                "{threads} workers"
            );
        }
    }
}
