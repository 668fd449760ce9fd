//! Fibers of one domain do not see each other's spans.
//!
//! Each test has a subscriber of its own, on the thread that becomes the only domain of its
//! runtime.

mod support;

use lisle::{Runtime, channel, fiber, spawn, spawn_task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use support::{Seen, here, on_one_domain, recorded, watched};
use tracing::{Instrument, debug_span, dispatcher, info};

/// Enters a span, lets the other one do so, and tells where it is.
fn two_in_their_spans() {
    let other = spawn(|| {
        let _span = debug_span!("other").entered();
        fiber::yield_now();
        info!("other");
    });
    let _span = debug_span!("one").entered();
    fiber::yield_now();
    info!("one");
    other.join().unwrap();
}

#[test]
fn without_the_layer_fibers_are_in_each_other_s_spans() {
    let _watched = watched();
    let (dispatch, seen) = recorded(None);
    on_one_domain(&dispatch, two_in_their_spans);
    // The first fiber finds itself in the span of the second, and that has become a child of the
    // first's.
    assert_eq!(seen.events(), [("one", "one:other".to_owned()), ("other", "one:other".to_owned())]);
}

#[test]
fn with_the_layer_each_is_in_its_own() {
    let seen = Seen::of(two_in_their_spans);
    assert_eq!(seen.events(), [("one", "one".to_owned()), ("other", "other".to_owned())]);
}

#[test]
fn spans_are_entered_and_exited_around_each_wait() {
    let seen = Seen::of(|| {
        let (tx, rx) = channel::<u32>();
        let fiber = spawn(move || {
            info!("before");
            let outer = debug_span!("outer").entered();
            rx.recv().unwrap();
            let inner = debug_span!(parent: None, "inner").entered();
            rx.recv().unwrap();
            info!("both");
            drop(outer); // not in the reverse order
            rx.recv().unwrap();
            info!("inner alone");
            drop(inner);
            rx.recv().unwrap();
            info!("after");
        });
        for i in 0..4 {
            tx.send(i).unwrap();
            fiber::yield_now();
            info!("beside");
        }
        fiber.join().unwrap();
    });
    let mut events = seen.events();
    let beside = events.extract_if(.., |event| event.0 == "beside").collect::<Vec<_>>();
    assert_eq!(beside, vec![("beside", String::new()); 4]);
    let expected = [("before", ""), ("both", "inner"), ("inner alone", "inner"), ("after", "")];
    assert_eq!(events, expected.map(|(event, scope)| (event, scope.to_owned())));
}

#[test]
fn layers_see_an_exit_for_each_wait_and_an_entry_for_each_return() {
    let seen = Seen::of(|| {
        let _outer = debug_span!("outer").entered();
        let _inner = debug_span!("inner").entered();
        let _again = debug_span!("outer").entered();
        fiber::yield_now();
    });
    let [entered, exited] = [["+outer", "+inner", "+outer"], ["-outer", "-inner", "-outer"]];
    assert_eq!(seen.moves(), [entered, exited, entered, exited].concat());
}

#[test]
fn a_span_may_be_entered_by_several_fibers_and_several_times() {
    let seen = Seen::of(|| {
        let shared = debug_span!("shared");
        fiber::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let once = shared.enter();
                    let twice = shared.enter();
                    fiber::yield_now();
                    info!("twice");
                    drop(twice);
                    fiber::yield_now();
                    info!("once");
                    drop(once);
                    fiber::yield_now();
                    info!("out");
                });
            }
        });
    });
    let mut events = seen.events();
    events.sort();
    let expected = [("once", "shared"), ("out", ""), ("twice", "shared")]
        .map(|(event, scope)| (event, scope.to_owned()));
    assert_eq!(events, expected.iter().flat_map(|event| vec![event.clone(); 3]).collect::<Vec<_>>());
}

#[test]
fn children_inherit_nothing_unless_it_is_handed_on() {
    let seen = Seen::of(|| {
        let _span = debug_span!("parent").entered();
        spawn(|| info!("spawned")).join().unwrap();
        fiber::scope(|scope| {
            scope.spawn(|| info!("scoped")).join().unwrap();
            scope.spawn(lisle_tracing::in_current_span(|| info!("handed on"))).join().unwrap();
        });
        info!("parent");
    });
    let expected = [("spawned", ""), ("scoped", ""), ("handed on", "parent"), ("parent", "parent")];
    assert_eq!(seen.events(), expected.map(|(event, scope)| (event, scope.to_owned())));
}

#[test]
fn tasks_are_in_their_spawner_s_spans_until_they_wait_and_in_their_own_whenever_they_run() {
    let seen = Seen::of(|| {
        let (tx, rx) = channel::<u32>();
        let _span = debug_span!("spawner").entered();
        let rx = Arc::new(rx);
        // It comes first: a spawner whose earlier task took long is charged, and queues the next.
        let plain = spawn_task({
            let rx = rx.clone();
            async move {
                info!("plain");
                rx.recv_evt().await.unwrap();
                info!("plain");
            }
        });
        let tasks = [("first", debug_span!("a")), ("second", debug_span!("b"))].map(|(name, span)| {
            let rx = rx.clone();
            let task = async move {
                info!(name);
                rx.recv_evt().await.unwrap();
                info!(name);
                fiber::yield_now(); // in place, on a stack of the domain's
                info!(name);
            };
            spawn_task(task.instrument(span))
        });
        (0..3).for_each(|i| tx.send(i).unwrap());
        tasks.into_iter().chain([plain]).for_each(|task| task.join().unwrap());
        info!("spawner");
    });
    let of = |name| {
        seen.events().into_iter().filter(|event| event.0 == name).map(|event| event.1).collect::<Vec<_>>()
    };
    // The spans were made in the spawner's, so that is their parent.
    assert_eq!(of("first"), ["spawner:a"; 3]);
    assert_eq!(of("second"), ["spawner:b"; 3]);
    assert_eq!(of("plain"), ["spawner", ""]);
    assert_eq!(of("spawner"), ["spawner"]);
}

#[test]
fn a_panic_takes_a_fiber_out_of_its_own_spans_and_no_other_s() {
    let seen = Seen::of(|| {
        let panics = spawn(|| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _span = debug_span!("caught").entered();
                fiber::yield_now();
                panic!("in a span");
            }));
            assert!(caught.is_err());
            info!("caught it");
            let _span = debug_span!("fatal").entered();
            fiber::yield_now();
            panic!("in another");
        });
        let _span = debug_span!("bystander").entered();
        while !panics.is_finished() {
            fiber::yield_now();
            info!("bystander");
        }
        assert!(panics.join().is_err());
    });
    let mut events = seen.events();
    events.dedup();
    events.sort();
    events.dedup();
    assert_eq!(events, [("bystander", "bystander".to_owned()), ("caught it", String::new())]);
}

#[test]
fn a_fiber_that_ends_in_a_span_leaves_it() {
    let seen = Seen::of(|| {
        let forgets = || {
            std::mem::forget(debug_span!("forgotten").entered());
            // The program forgets that span, which stays alive. Of the next one it forgets only the
            // guard.
            let gone = debug_span!("gone");
            std::mem::forget(gone.enter());
            drop(gone);
            fiber::yield_now();
        };
        spawn(forgets).join().unwrap();
        spawn(forgets).join().unwrap();
        info!("after");
    });
    assert_eq!(seen.events(), [("after", String::new())]);
}

#[test]
fn a_fiber_that_is_cancelled_or_shut_down_exits_its_spans_itself() {
    struct Tells(&'static str);
    impl Drop for Tells {
        fn drop(&mut self) {
            match self.0 {
                "left" => info!("left"),
                _ => info!("cancelled"),
            }
        }
    }
    let seen = Seen::of(|| {
        let cancelled = spawn(|| {
            let _span = debug_span!("cancelled").entered();
            let _tells = Tells("cancelled");
            lisle::Event::sync(&fiber::cancelled_evt());
        });
        for _ in 0..2 {
            drop(spawn(|| {
                let _span = debug_span!("left").entered();
                let _tells = Tells("left");
                lisle::Event::sync(&lisle::never::<()>());
            }));
        }
        fiber::yield_now();
        let _span = debug_span!("main").entered();
        cancelled.cancel();
        cancelled.join().unwrap();
        info!("main");
    });
    let expected = [("cancelled", "cancelled"), ("main", "main"), ("left", "left"), ("left", "left")];
    assert_eq!(seen.events(), expected.map(|(event, scope)| (event, scope.to_owned())));
}

#[test]
fn two_subscribers_are_kept_apart() {
    let _watched = watched();
    let [(one, seen_by_one), (two, seen_by_two)] = [(); 2].map(|()| recorded(Some(lisle_tracing::layer())));
    Runtime::builder().domains(1).run(|| {
        let fiber = |dispatch: dispatcher::Dispatch, name: &'static str| {
            spawn(move || {
                let in_it = || dispatcher::with_default(&dispatch, || debug_span!("span", name).entered());
                let _span = in_it();
                for _ in 0..3 {
                    fiber::yield_now();
                    dispatcher::with_default(&dispatch, || info!("event"));
                }
            })
        };
        let fibers = [fiber(one.clone(), "a"), fiber(two.clone(), "b"), fiber(one.clone(), "c")];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    for (seen, count) in [(seen_by_one, 6), (seen_by_two, 3)] {
        assert_eq!(seen.events(), vec![("event", "span".to_owned()); count]);
    }
}

#[test]
fn a_subscriber_may_go_before_a_fiber_that_is_in_a_span_of_it() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let (dispatch, _) = recorded(Some(lisle_tracing::layer()));
        let (tx, rx) = channel::<()>();
        let fiber = spawn(move || {
            std::mem::forget(dispatcher::with_default(&dispatch, || debug_span!("span").entered()));
            drop(dispatch);
            rx.recv().unwrap();
        });
        tx.send(()).unwrap();
        fiber.join().unwrap();
    });
}

#[test]
fn plain_threads_are_as_they_were() {
    let _watched = watched();
    let (dispatch, seen) = recorded(Some(lisle_tracing::layer()));
    dispatcher::with_default(&dispatch, || {
        let _around = debug_span!("around").entered();
        info!("thread");
        // Domain 0 is this thread, so its fibers are within.
        Runtime::builder().domains(1).run(two_in_their_spans);
        info!("thread");
    });
    let expected =
        [("thread", "around"), ("one", "around:one"), ("other", "around:other"), ("thread", "around")];
    assert_eq!(seen.events(), expected.map(|(event, scope)| (event, scope.to_owned())));
    assert_eq!(here(&dispatch), "");
}

#[test]
fn times_of_fmt_tell_waiting_from_running() {
    use std::io::Write;
    use std::sync::Mutex;
    use tracing_subscriber::fmt::format::FmtSpan;
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);
    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let _watched = watched();
    let out = Out::default();
    let writer = out.clone();
    let fmt = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_span_events(FmtSpan::ENTER | FmtSpan::EXIT)
        .with_writer(move || writer.clone());
    let subscriber = tracing_subscriber::registry().with(fmt).with(lisle_tracing::layer());
    on_one_domain(&dispatcher::Dispatch::new(subscriber), || {
        let sleeper = spawn(|| {
            let _span = tracing::info_span!("sleeper").entered();
            lisle::time::sleep(Duration::from_millis(1));
        });
        sleeper.join().unwrap();
    });
    let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let steps = text.lines().map(|line| line.rsplit(' ').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(steps, ["enter", "exit", "enter", "exit"], "{text}");
}

/// A runtime that is run by the destructor of a thread-local, when the layer's own thread-local has
/// gone: its fibers are in no span, and go on.
#[test]
fn a_runtime_in_the_destructor_of_a_thread_local() {
    struct Runs(std::sync::mpsc::Sender<()>);
    impl Drop for Runs {
        fn drop(&mut self) {
            let _ = Seen::of(two_in_their_spans);
            self.0.send(()).unwrap();
        }
    }
    thread_local! {
        static OLDER: std::cell::RefCell<Option<Runs>> = const { std::cell::RefCell::new(None) };
    }
    let (ran, has_run) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        OLDER.set(Some(Runs(ran)));
        let _ = Seen::of(two_in_their_spans);
    });
    thread.join().unwrap();
    assert!(has_run.recv().is_ok());
}
