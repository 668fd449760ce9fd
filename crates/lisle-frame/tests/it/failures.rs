//! A stream that fails fails alone.

use crate::worlds::{Counter, Later, Make, count};
use lisle_frame::{Failure, Foreign, ForeignCallError, find_dependence, here, next_frame};
use std::error::Error;

in_all_worlds!(
    a_stream_that_panics_fails_alone,
    a_stream_that_is_retried_comes_back,
    a_reader_fails_and_recovers_by_itself,
    a_stream_that_lives_over_frames_goes_on_reading,
    a_call_that_panics_gives_the_error_to_its_stream,
    a_panic_after_a_wait_fails_alone,
    a_panic_with_any_payload_is_told,
    a_stream_without_a_value_says_so,
    what_has_not_run_says_so,
    errors_are_debugged_as_text,
);

/// 7. With siblings on both sides, in one group and in others.
fn a_stream_that_panics_fails_alone(make: Make<'_>) {
    let mut world = make();
    let runs = Counter::default();
    let streams = (0..count(1_000, 40)).map(|n| {
        let runs = runs.clone();
        world.named("a sibling").stream(async move || {
            runs.add();
            assert!(n % 10 != 3, "number {n}");
            n
        })
    });
    let streams = streams.collect::<Vec<_>>();
    let other = world.stream(async || "other");
    for frame in 0..3 {
        world.frame();
        for (n, stream) in streams.iter().enumerate() {
            match world.get(*stream) {
                Ok(value) => assert_eq!((value, n % 10 == 3), (n, false)),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("stream 'a sibling'"), "{text}");
                    assert!(text.contains(&format!("(number {n})")), "{text}");
                    assert!(text.contains("failures.rs:"), "{text}");
                    assert!(text.ends_with(&format!("has panicked: number {n}")), "{text}");
                }
            }
        }
        assert_eq!(world.get(other).unwrap(), "other");
        // Streams that have panicked are not run again.
        let all = streams.len();
        assert_eq!(runs.get(), all + frame * (all - all / 10));
    }
}

/// 7.
fn a_stream_that_is_retried_comes_back(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let mut world = make();
    let mut n = 0;
    let stream = world.named("flaky").retrying().stream(async move || {
        n += 1;
        work.call(n).await;
        assert!(n % 3 != 0, "frame {n}");
        n
    });
    let reader = world.stream(async move || stream.await * 2);
    let tries = world.stream(async move || stream.try_get().await.ok());
    for frame in 1..=10 {
        world.frame();
        let value = (frame % 3 != 0).then_some(frame);
        assert_eq!(world.get(stream).ok(), value);
        assert_eq!(world.get(reader).ok(), value.map(|n| n * 2));
        assert_eq!(world.get(tries).unwrap(), value);
    }
}

/// 7. The reader's error names the failed stream and the place where it was made; the reader's own
///    body is not poisoned.
fn a_reader_fails_and_recovers_by_itself(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let stream = number.stream();
    let source = world.named("source").retrying().stream(async move || {
        let n = stream.await;
        assert!(n != 1, "one");
        n
    });
    let before = Counter::default();
    let begins = before.clone();
    let reader = world.named("reader").stream(async move || {
        begins.add();
        let a = stream.await;
        let b = source.await;
        (a, b)
    });
    for (frame, n) in [0, 1, 1, 2].into_iter().enumerate() {
        world.set(number, n).unwrap();
        world.frame();
        assert_eq!(before.get(), frame + 1);
        match world.get(reader) {
            Ok(value) => assert_eq!(value, (n, n)),
            Err(error) => {
                assert_eq!(n, 1);
                let Failure::Read { reader, cause } = error.failure() else { panic!("{error}") };
                assert_eq!(reader.name(), Some("reader"));
                let Failure::Panicked(origin, message) = cause.root().failure() else { panic!("{error}") };
                assert_eq!((origin.name(), message.as_str()), (Some("source"), "one"));
                assert!(origin.site().file().ends_with("failures.rs"));
            }
        }
    }
}

fn a_stream_that_lives_over_frames_goes_on_reading(make: Make<'_>) {
    let mut world = make();
    let number = world.input(0);
    let stream = number.stream();
    let source = world.retrying().stream(async move || {
        let n = stream.await;
        assert!(n % 2 == 0, "odd");
        n
    });
    let sum = world.live(0, async move |out| {
        loop {
            let n = source.await;
            out.update(|sum| *sum += n);
            next_frame().await;
        }
    });
    let mut expected = 0;
    for n in 0..6 {
        world.set(number, n).unwrap();
        world.frame();
        if n % 2 == 0 {
            expected += n;
            assert_eq!(world.get(sum).unwrap(), expected);
        } else {
            assert!(world.get(sum).is_err());
        }
    }
}

/// 16.
fn a_call_that_panics_gives_the_error_to_its_stream(make: Make<'_>) {
    for batch in [1, 4, 1_000] {
        let divide = Foreign::new("divide", |a: u32, b: u32| a / b).batch(batch);
        let mut world = make();
        let calls =
            (0..10).map(|n| world.named("divider").stream(async move || divide.call((10, n % 3)).await));
        let calls = calls.collect::<Vec<_>>();
        let tries = (0..10).map(|n| world.stream(async move || divide.try_call((10, n % 3)).await.is_ok()));
        let tries = tries.collect::<Vec<_>>();
        for _ in 0..3 {
            world.frame();
            for n in 0..10_u32 {
                let (call, tried) = (world.get(calls[n as usize]), world.get(tries[n as usize]).unwrap());
                assert_eq!((call.is_ok(), tried), (n % 3 != 0, n % 3 != 0));
                let Err(error) = call else { continue };
                let Failure::Called(origin, ForeignCallError::Panicked { function, message }) =
                    error.failure()
                else {
                    panic!("{error}")
                };
                assert_eq!((origin.name(), *function), (Some("divider"), "divide"));
                assert!(message.contains("divide by zero"), "{message}");
            }
        }
    }
}

fn a_panic_after_a_wait_fails_alone(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(8);
    let mut world = make();
    let later = Later::<u32>::new();
    let streams = (0..100).map(|n| {
        let source = later.clone();
        world.stream(async move || {
            let n = work.call(n).await + source.stream().await;
            assert!(n % 7 != 0, "a multiple of seven");
            n
        })
    });
    let streams = streams.collect::<Vec<_>>();
    later.is(world.stream(async move || work.call(0).await));
    for _ in 0..3 {
        world.frame();
        for (n, stream) in (0..).zip(&streams) {
            assert_eq!(world.get(*stream).ok(), (n % 7 != 0).then_some(n));
        }
    }
}

fn a_panic_with_any_payload_is_told(make: Make<'_>) {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("the payload's destructor");
        }
    }
    let mut world = make();
    let number = world.stream(async || std::panic::panic_any(5_u8));
    let text = world.stream(async || std::panic::panic_any(String::from("a string")));
    let loud = world.stream(async || std::panic::panic_any(Loud));
    let work = Foreign::new("work", || std::panic::panic_any(Loud));
    let called = world.stream(async move || work.call(()).await);
    let fine = world.stream(async || 1);
    world.frame();
    let message = |error: Option<lisle_frame::StreamError>| error.unwrap().to_string();
    let payload = "a payload that is not text";
    assert!(message(world.with(number, |_: &()| ()).err()).ends_with(payload));
    assert!(message(world.with(text, |_: &()| ()).err()).ends_with("a string"));
    assert!(message(world.with(loud, |_: &()| ()).err()).ends_with(payload));
    assert!(message(world.with(called, |_: &()| ()).err()).ends_with(payload));
    assert_eq!(world.get(fine).unwrap(), 1);
}

fn a_stream_without_a_value_says_so(make: Make<'_>) {
    let mut world = make();
    let slow = world.named("slow").stream(async || {
        next_frame().await;
        5
    });
    let reader = world.stream(async move || slow.try_get().await.map_err(|error| error.to_string()));
    world.frame();
    assert!(matches!(world.get(slow).unwrap_err().failure(), Failure::NoValue(_)));
    let error = world.get(reader).unwrap().unwrap_err();
    assert!(error.contains("'slow'") && error.contains("no value yet"), "{error}");
    world.frame();
    assert_eq!((world.get(slow).unwrap(), world.get(reader).unwrap()), (5, Ok(5)));
}

fn what_has_not_run_says_so(make: Make<'_>) {
    let mut world = make();
    let young = world.named("young").stream(async || 1);
    let text = |error: lisle_frame::StreamError| error.to_string();
    assert!(text(world.get(young).unwrap_err()).ends_with("has not run yet; run a frame first"));
    let maker = world.live(None, async |out| {
        out.set(Some(here().stream(async || 2)));
        std::future::pending().await
    });
    world.frame();
    assert_eq!(world.get(young).unwrap(), 1);
    let made = world.get(maker).unwrap().unwrap();
    assert!(text(world.get(made).unwrap_err()).ends_with("has not run yet; run a frame first"));
    world.frame();
    assert_eq!(world.get(made).unwrap(), 2);
}

/// A program prints this text if its `main` returns an error.
fn errors_are_debugged_as_text(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| 1 / n);
    let mut world = make();
    let bad = world.named("bad").stream(async || -> u32 { panic!("on purpose") });
    let reader = world.stream(async move || bad.await);
    let called = world.stream(async move || work.try_call(0).await.unwrap_err());
    world.frame();
    let dependence = find_dependence(1, 0..20, || {
        let mut world = make();
        let first = Counter::default();
        for n in 1..10 {
            let first = first.clone();
            let stream = world.stream(async move || (work.call(n).await, first.add()));
            world.watch(stream).unwrap();
        }
        world
    });
    let errors: [Box<dyn Error>; 5] = [
        Box::new(dependence.unwrap_err()),
        Box::new(world.get(bad).unwrap_err()),
        Box::new(world.get(reader).unwrap_err()),
        Box::new(world.get(called).unwrap()),
        Box::new(world.snapshot().unwrap_err()),
    ];
    for error in errors {
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
