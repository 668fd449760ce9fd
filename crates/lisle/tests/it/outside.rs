//! Events on plain OS threads, without a runtime.

use crate::support::{scaled, watched};
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose, never};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Case 22: thread-locals of other crates may use events when their thread ends.
#[test]
fn a_choice_in_the_destructor_of_a_thread_local() {
    struct Last(Cell<Option<lisle::channel::Sender<u32>>>);
    impl Drop for Last {
        fn drop(&mut self) {
            let (_tx, rx) = channel::<u32>();
            let event =
                choose((rx.recv_evt().wrap(Result::ok), after(Duration::from_millis(2)).wrap(|()| None)));
            assert_eq!(event.sync(), None);
            let listed = choose(vec![
                rx.recv_evt().wrap(|_| 1).boxed(),
                after(Duration::from_millis(1)).wrap(|()| 2).boxed(),
            ]);
            assert_eq!(listed.sync(), 2);
            self.0.take().unwrap().send(22).unwrap();
        }
    }
    thread_local! { static LAST: Last = const { Last(Cell::new(None)) } }

    let _watched = watched();
    let (tx, rx) = channel();
    let thread = std::thread::spawn(move || {
        LAST.with(|last| last.0.set(Some(tx)));
        // The library's own thread-locals are created after this one, and destroyed before it.
        choose(vec![lisle::always(()).boxed(), never().boxed()]).sync();
    });
    assert_eq!(rx.recv(), Ok(22));
    thread.join().unwrap();
}

/// Case 42.
#[test]
fn a_plain_thread_receives_from_a_fiber_and_sends_to_it() {
    let _watched = watched();
    let count = scaled(20_000, 2_000);
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let (to_fiber, from_thread) = channel::<usize>();
        let (to_thread, from_fiber) = channel::<usize>();
        let fiber = runtime.spawn(move || {
            let mut last = 0;
            for i in 0..count {
                to_thread.send(i).unwrap();
                last = from_thread.recv().unwrap();
            }
            last
        });
        for i in 0..count {
            assert_eq!(from_fiber.recv(), Ok(i));
            to_fiber.send(i * 2).unwrap();
        }
        assert_eq!(fiber.join().unwrap(), 2 * (count - 1));
        assert!(from_fiber.recv().is_err(), "the fiber has gone, and its end with it");
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}

/// Case 42.
#[test]
fn a_plain_thread_sleeps_a_second_by_the_timer_event() {
    let _watched = watched();
    let begun = Instant::now();
    sleep(Duration::from_secs(1));
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

/// A thread that other code unparks for its own reasons continues to wait.
#[test]
fn foreign_unparks_do_not_wake_a_sync() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let receiver = std::thread::spawn(move || rx.recv());
    for _ in 0..100 {
        receiver.thread().unpark();
        std::thread::yield_now();
    }
    tx.send(1).unwrap();
    assert_eq!(receiver.join().unwrap(), Ok(1));
}

/// A wake for an event leaves at most a token for `park`. User code that parks must loop, as the
/// standard library says. A later sync must not return early because of such a token.
#[test]
fn a_token_left_by_unpark_does_not_satisfy_a_later_sync() {
    let _watched = watched();
    std::thread::current().unpark();
    let (_tx, rx) = channel::<u32>();
    let event =
        choose((rx.recv_evt().wrap(|_| "message"), after(Duration::from_millis(3)).wrap(|()| "time")));
    assert_eq!(event.sync(), "time");
}

#[test]
fn iteration_ends_with_the_channel() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    std::thread::scope(|scope| {
        scope.spawn(move || (0..5).for_each(|i| tx.send(i).unwrap()));
        assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    });
    assert_eq!((&rx).into_iter().next(), None);
    assert_eq!(rx.into_iter().next(), None);
}

#[test]
fn errors_say_what_happened() {
    use lisle::channel::*;
    let texts = [
        (SendError(1).to_string(), "sending on a closed channel"),
        (TrySendError::Full(1).to_string(), "sending on a full channel"),
        (SendTimeoutError::Timeout(1).to_string(), "sending took too long"),
        (TryRecvError::Empty.to_string(), "receiving on an empty channel"),
        (RecvTimeoutError::Timeout.to_string(), "receiving took too long"),
        (RecvError.to_string(), "receiving on a channel that is closed and empty"),
    ];
    for (text, expected) in texts {
        assert_eq!(text, expected);
    }
    assert_eq!(SendError("a").into_inner(), "a");
    assert_eq!(TrySendError::Full("a").into_inner(), "a");
    assert_eq!(SendTimeoutError::Closed("a").into_inner(), "a");
}
