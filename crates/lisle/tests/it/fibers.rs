//! Fibers: spawning, joining, panics, cancellation, locals, names, turns.

use crate::support::{Executor, block_on, on_domains, scaled, watched};
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose, fiber};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Panics without the hook's message, for tests that need a panic.
fn quiet_panic(message: &'static str) -> ! {
    resume_unwind(Box::new(message))
}

#[test]
fn a_join_gives_the_result() {
    on_domains(|| {
        assert_eq!(lisle::spawn(|| 6 * 7).join().unwrap(), 42);
        let fibers: Vec<_> = (0..100).map(|i| lisle::spawn(move || vec![i; i])).collect();
        for (i, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(fiber.join().unwrap(), vec![i; i]);
        }
        let fiber = lisle::spawn(|| ());
        while !fiber.is_finished() {
            fiber::yield_now();
        }
        fiber.join().unwrap();
    });
}

/// Results and closures of any size and alignment are stored, and are dropped once.
#[test]
fn large_and_aligned_values_pass_through() {
    #[repr(align(128))]
    #[derive(Clone)]
    struct Aligned(Arc<()>, [u8; 3000]);
    on_domains(|| {
        let token = Arc::new(());
        for joined in [true, false] {
            let taken = Aligned(token.clone(), [7; 3000]);
            let fiber = lisle::spawn(move || {
                assert!((&raw const taken).is_aligned());
                fiber::yield_now();
                taken
            });
            if joined {
                let given = fiber.join().unwrap();
                assert!((&raw const given).is_aligned());
                assert_eq!(given.1, [7; 3000]);
                assert_eq!(Arc::strong_count(&given.0), 2);
            } else {
                drop(fiber);
            }
            while Arc::strong_count(&token) > 1 {
                fiber::yield_now();
            }
        }
    });
}

/// Case 36.
#[test]
fn a_panic_arrives_at_the_joiner() {
    on_domains(|| {
        let fiber = fiber::Builder::new().name("doomed").spawn(|| quiet_panic("as planned"));
        let error: fiber::JoinError = fiber.join().unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        let text = error.to_string();
        assert!(
            text.contains("'doomed'") && text.contains("fibers.rs") && text.contains("as planned"),
            "{text}"
        );
        assert_eq!(*error.into_panic().unwrap().downcast::<&str>().unwrap(), "as planned");
    });
}

/// Case 36.
#[test]
fn a_join_can_be_chosen_against_a_timeout() {
    on_domains(|| {
        let (tx, rx) = channel::<u32>();
        let fiber = lisle::spawn(move || rx.recv().unwrap());
        let joined =
            choose((fiber.join_evt().wrap(Result::ok), after(Duration::from_millis(3)).wrap(|()| None)));
        assert_eq!(joined.sync(), None);
        assert!(fiber.join_evt().poll().is_none());
        tx.send(4).unwrap();
        let long = after(Duration::from_secs(3_600)).wrap(|()| None);
        assert_eq!(choose((long, fiber.join_evt().wrap(Result::ok))).sync(), Some(4));
        let again = fiber.join_evt().sync().unwrap_err();
        assert!(again.to_string().contains("taken already"), "{again}");
        assert!(!again.is_panic() && again.into_panic().is_err());
    });
}

/// Plain threads and futures can join fibers, too.
#[test]
fn joining_from_outside() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).start().unwrap();
    assert_eq!(runtime.spawn(|| 1).join().unwrap(), 1);
    let fiber = runtime.spawn(|| {
        sleep(Duration::from_millis(2));
        2
    });
    assert_eq!(block_on(fiber.join_evt().future()).unwrap(), 2);
    let executor = Executor::new(2);
    let (tx, rx) = channel::<u32>();
    let fiber = runtime.spawn(|| 3);
    executor.spawn(async move {
        let joined = fiber.join_evt().await.unwrap();
        tx.send_evt(joined).await.unwrap();
    });
    assert_eq!(rx.recv(), Ok(3));
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}

#[test]
fn a_panic_harms_no_neighbour_that_blocks() {
    on_domains(|| {
        let (tx, rx) = channel::<u32>();
        let neighbours: Vec<_> = (0..10)
            .map(|_| {
                let rx = rx.clone();
                lisle::spawn(move || {
                    let got = rx.recv().unwrap();
                    assert!(!std::thread::panicking());
                    got
                })
            })
            .collect();
        for i in 0..10 {
            let failing = lisle::spawn(|| {
                fiber::yield_now();
                quiet_panic("one of ten")
            });
            tx.send(i).unwrap();
            assert!(failing.join().unwrap_err().is_panic());
        }
        let sum: u32 = neighbours.into_iter().map(|fiber| fiber.join().unwrap()).sum();
        assert_eq!(sum, 45);
    });
}

/// While a fiber unwinds, its destructors may use events, and fibers may catch panics. Destructors
/// that wait are tested in `ending.rs`.
#[test]
fn destructors_that_run_in_a_panic_may_poll_and_send() {
    struct Tells(lisle::channel::Sender<bool>);
    impl Drop for Tells {
        fn drop(&mut self) {
            assert!(lisle::always(()).poll().is_some());
            fiber::yield_now();
            self.0.send(std::thread::panicking()).unwrap();
        }
    }
    on_domains(|| {
        let (tx, rx) = lisle::channel::bounded(1);
        let fiber = lisle::spawn(move || {
            let caught = std::panic::catch_unwind(AssertUnwindSafe(|| {
                let _tells = Tells(tx);
                quiet_panic("caught in the fiber")
            }));
            assert!(caught.is_err() && !std::thread::panicking());
            sleep(Duration::from_millis(1));
            5
        });
        assert_eq!(rx.recv(), Ok(true));
        assert_eq!(fiber.join().unwrap(), 5);
    });
}

/// An unclaimed result is dropped once, whether its handle is dropped before or after the end of
/// the fiber.
#[test]
fn an_unclaimed_result_is_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    on_domains(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let count = scaled(2_000, 200);
        for i in 0..count {
            let counted = Counted(drops.clone());
            let fiber = lisle::spawn(move || {
                (0..i % 3).for_each(|_| fiber::yield_now());
                counted
            });
            (0..i % 4).for_each(|_| fiber::yield_now());
            drop(fiber);
        }
        while drops.load(Ordering::SeqCst) < count {
            fiber::yield_now();
        }
        sleep(Duration::from_millis(2));
        assert_eq!(drops.load(Ordering::SeqCst), count);
    });
}

#[test]
fn cancellation_is_asked_for_and_taken_when_it_suits() {
    on_domains(|| {
        let (_tx, rx) = channel::<u32>();
        let (begin, begun) = channel::<()>();
        let fiber = lisle::spawn(move || {
            assert!(!fiber::is_cancelled());
            begin.send(()).unwrap();
            let event =
                choose((rx.recv_evt().wrap(|_| "received"), fiber::cancelled_evt().wrap(|()| "cancelled")));
            let outcome = event.sync();
            assert!(fiber::is_cancelled());
            fiber::cancelled_evt().sync();
            // A cancelled fiber may still wait for the things that it needs to end.
            sleep(Duration::from_millis(1));
            outcome
        });
        begun.recv().unwrap();
        fiber.cancel();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), "cancelled");

        // Case 31: a fiber that does not listen continues, and receives messages that come later.
        let (tx, rx) = channel::<u32>();
        let deaf = lisle::spawn(move || rx.recv().unwrap());
        deaf.cancel();
        tx.send(8).unwrap();
        assert_eq!(deaf.join().unwrap(), 8);
        assert!(!fiber::is_cancelled(), "it was not this fiber that was asked");
    });
}

#[test]
fn a_cancel_event_belongs_to_the_fiber_that_made_it() {
    on_domains(|| {
        let (tx, rx) = channel();
        let asked = lisle::spawn(move || {
            tx.send(fiber::cancelled_evt()).unwrap();
            fiber::cancelled_evt().sync();
        });
        let of_other = rx.recv().unwrap();
        assert!(of_other.poll().is_none());
        asked.cancel();
        of_other.sync();
        asked.join().unwrap();
        of_other.sync();
    });
    assert!(fiber::cancelled_evt().poll().is_none(), "a plain thread is never asked");
}

lisle::fiber_local! {
    static DEPTH: Cell<u32> = Cell::new(100);
    static NOTES: RefCell<Vec<Rc<()>>> = RefCell::default();
}

#[test]
fn each_fiber_has_its_own_locals() {
    on_domains(|| {
        let fibers: Vec<_> = (0..20)
            .map(|i| {
                lisle::spawn(move || {
                    assert_eq!(DEPTH.with(Cell::get), 100);
                    DEPTH.with(|depth| depth.set(i));
                    fiber::yield_now();
                    sleep(Duration::from_micros(200));
                    DEPTH.with(Cell::get)
                })
            })
            .collect();
        for (i, fiber) in (0..).zip(fibers) {
            assert_eq!(fiber.join().unwrap(), i);
        }
        assert_eq!(DEPTH.with(Cell::get), 100);
    });
    DEPTH.with(|depth| depth.set(1));
    assert_eq!(DEPTH.with(Cell::get), 1, "a plain thread has one of its own");
    assert_eq!(std::thread::spawn(|| DEPTH.with(Cell::get)).join().unwrap(), 100);
}

#[test]
fn locals_end_with_their_fiber() {
    on_domains(|| {
        let (alive, dropped) = lisle::channel::bounded::<()>(1);
        let fiber = lisle::spawn(move || {
            let token = Rc::new(());
            NOTES.with(|notes| notes.borrow_mut().push(token.clone()));
            assert_eq!(Rc::strong_count(&token), 2);
            lisle::fiber_local! { static LAST: RefCell<Option<lisle::channel::Sender<()>>> = RefCell::default(); }
            LAST.with(|last| *last.borrow_mut() = Some(alive));
        });
        fiber.join().unwrap();
        assert!(dropped.recv().is_err(), "the sender went with the local");
    });
}

#[test]
fn names_are_kept() {
    on_domains(|| {
        let named = fiber::Builder::new().name("carol").spawn(|| ());
        assert_eq!(named.name(), Some("carol"));
        assert!(format!("{named:?}").contains("carol"));
        named.join().unwrap();
        let nameless = fiber::Builder::new().spawn(|| ());
        assert_eq!(nameless.name(), None);
        assert!(format!("{nameless:?}").contains("fibers.rs"));
        nameless.join().unwrap();
    });
}

/// Fibers of one domain that yield take turns: none gets two turns while another is queued.
#[test]
fn yielding_takes_turns() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let fibers = ["a", "b", "c"].map(|name| {
            let log = log.clone();
            lisle::spawn(move || {
                for _ in 0..50 {
                    log.lock().unwrap().push(name);
                    fiber::yield_now();
                }
            })
        });
        for fiber in fibers {
            fiber.join().unwrap();
        }
        let log = log.lock().unwrap();
        for round in log.chunks(3).skip(1).take(40) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, ["a", "b", "c"], "{log:?}");
        }
    });
}

/// Two fibers that keep waking each other starve neither a third fiber, nor timers, nor wakes from
/// outside.
#[test]
fn a_pair_that_plays_ping_pong_starves_nobody() {
    let _watched = watched();
    let (outside, from_outside) = channel::<()>();
    let thread = std::thread::spawn(move || {
        for _ in 0..20 {
            outside.send(()).unwrap();
        }
    });
    Runtime::builder().domains(1).run(move || {
        let (ping, pings) = channel::<()>();
        let (pong, pongs) = channel::<()>();
        let players = [
            lisle::spawn(move || while ping.send(()).is_ok() && pongs.recv().is_ok() {}),
            lisle::spawn(
                move || while pings.recv().is_ok() && pong.send(()).is_ok() && !fiber::is_cancelled() {},
            ),
        ];
        for _ in 0..100 {
            fiber::yield_now();
        }
        for _ in 0..5 {
            sleep(Duration::from_micros(300));
        }
        for _ in 0..20 {
            from_outside.recv().unwrap();
        }
        players[1].cancel();
        for player in players {
            player.join().unwrap();
        }
    });
    thread.join().unwrap();
}
