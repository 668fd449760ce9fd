//! User code in places where others rely on it: in wakers, and in the functions of a source, under
//! its lock.

use crate::support::child::{Ended, part};
use crate::support::{Cx, World, poll_once, watched, worlds};
use lisle::Event;
use lisle::event::{EventFuture, Source, SourceEvent};
use lisle::time::{At, after, at, sleep};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

worlds!(a_source_within_itself_is_a_panic, what_was_granted_may_be_dropped_under_the_lock);

/// A waker that calls a function.
struct Calls<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn waker(wake: impl Fn() + Send + Sync + 'static) -> Waker {
    Arc::new(Calls(wake)).into()
}

type Take = fn(&mut u32) -> Option<u32>;
type Granted = EventFuture<SourceEvent<'static, u32, u32, Take>>;

fn nothing(_: &mut u32) -> Option<u32> {
    None
}

fn waiting(source: &'static Source<u32, u32>) -> Pin<Box<Granted>> {
    Box::pin(source.event(nothing as Take).future())
}

fn poll_with<F: Future>(future: &mut Pin<Box<F>>, waker: &Waker) {
    assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
}

/// A task with several futures is dropped when one of them is woken. The other futures have been
/// granted values and expect their own wakes, which this thread has to send.
#[test]
fn a_waker_may_drop_what_is_woken_with_it() {
    let _watched = watched();
    for count in [2, 4, 5, 20] {
        let source: &'static Source<u32, u32> = Box::leak(Box::new(Source::new(0)));
        let futures: Vec<_> = (0..count).map(|_| Arc::new(Mutex::new(Some(waiting(source))))).collect();
        let woken = Arc::new(AtomicUsize::new(0));
        for future in &futures {
            let (all, woken) = (futures.clone(), woken.clone());
            let waker = waker(move || {
                woken.fetch_add(1, Ordering::Relaxed);
                all.iter().for_each(|future| drop(future.lock().unwrap().take()));
            });
            poll_with(future.lock().unwrap().as_mut().unwrap(), &waker);
        }
        source.update(|_, waiters| (0..count).for_each(|value| waiters.grant(value).unwrap()));
        assert_eq!(woken.load(Ordering::Relaxed), count as usize);
        assert!(futures.iter().all(|future| future.lock().unwrap().is_none()));
    }
}

/// The same on the thread that keeps time for all threads without a runtime.
#[test]
fn a_waker_may_drop_other_timers() {
    let _watched = watched();
    let dropped = Arc::new(AtomicUsize::new(0));
    // All are due at the same time, so the thread finds several that are due.
    let soon = Instant::now() + Duration::from_millis(5);
    type Shared = Arc<Mutex<Option<Pin<Box<EventFuture<At>>>>>>;
    let timers: Vec<Shared> =
        (0..8).map(|_| Arc::new(Mutex::new(Some(Box::pin(at(soon).future()))))).collect();
    for timer in &timers {
        let (all, dropped) = (timers.clone(), dropped.clone());
        let waker = waker(move || {
            let count = all.iter().filter_map(|timer| timer.lock().unwrap().take()).count();
            dropped.fetch_add(count, Ordering::Release);
        });
        poll_with(timer.lock().unwrap().as_mut().unwrap(), &waker);
    }
    while dropped.load(Ordering::Acquire) < timers.len() {
        sleep(Duration::from_millis(1));
    }
}

/// The timekeeping thread continues, whatever a waker does.
#[test]
fn a_waker_whose_panic_panics_stops_no_timer() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }
    let _watched = watched();
    let called = Arc::new(AtomicUsize::new(0));
    for round in 1..4 {
        let mut timer = Box::pin(after(Duration::from_millis(1)).future());
        let waker = {
            let called = called.clone();
            waker(move || {
                called.fetch_add(1, Ordering::Release);
                std::panic::panic_any(Bomb);
            })
        };
        poll_with(&mut timer, &waker);
        while called.load(Ordering::Acquire) < round {
            std::thread::yield_now();
        }
        // This timer is on the same thread's wheel.
        sleep(Duration::from_millis(1));
        assert!(poll_once(timer.as_mut()).is_ready());
    }
}

/// It would want the lock that it already holds.
async fn a_source_within_itself_is_a_panic(cx: Cx) {
    let source = Arc::new(Source::<u32, u32>::new(1));
    let within = |f: &dyn Fn()| {
        let caught = catch_unwind(AssertUnwindSafe(|| source.update(|_, _| f())));
        let panic = caught.unwrap_err();
        let text = panic.downcast_ref::<&str>().unwrap();
        assert!(text.contains("uses the same source"), "{text}");
    };
    within(&|| source.update(|_, _| ()));
    within(&|| source.with(|_| ()));
    within(&|| assert!(source.event(|_| None).poll().is_none()));
    within(&|| assert_eq!(source.event(|_| Some(1)).sync(), 0));
    // Another source is not affected, and the first one is free afterwards.
    let other = Source::<u32, ()>::new(2);
    assert_eq!(source.update(|one, _| *one + other.with(|two| *two)), 3);
    assert_eq!(cx.sync(source.event(|one| Some(*one))).await, 1);
}

/// A granted performer is woken only after the function has returned.
async fn what_was_granted_may_be_dropped_under_the_lock(cx: Cx) {
    let source: &'static Source<u32, u32> = Box::leak(Box::new(Source::new(0)));
    for kept in [0_u32, 1, 3, 6] {
        let mut futures: Vec<_> = (0..8).map(|_| waiting(source)).collect();
        let woken = Arc::new(AtomicUsize::new(0));
        for future in &mut futures {
            let woken = woken.clone();
            let count = move || {
                woken.fetch_add(1, Ordering::Relaxed);
            };
            poll_with(future, &waker(count));
        }
        let futures = source.update(|_, waiters| {
            (0..8).for_each(|value| waiters.grant(value).unwrap());
            futures.truncate(kept as usize);
            futures
        });
        assert_eq!(woken.load(Ordering::Relaxed), kept as usize);
        for (value, future) in futures.into_iter().enumerate() {
            assert_eq!(future.await, value as u32);
        }
    }
    // A task's future is dropped where it waits, if the task is cancelled there.
    let race = lisle::task::race((async { source.event(nothing as Take).await }, async {
        source.event(nothing as Take).await
    }));
    cx.until(|| source.update(|_, waiters| !waiters.is_empty())).await;
    source.update(|_, waiters| {
        while waiters.grant(9).is_ok() {}
        drop(race);
    });
}

/// Other threads would spin for as long as the wait takes, also the thread that is to wake it.
#[test]
fn waiting_under_the_lock_of_a_source_ends_the_process() {
    let name = "waiting_under_the_lock_of_a_source_ends_the_process";
    let worlds = [World::ONE_DOMAIN, World::TWO_DOMAINS, World::TASKS, World::Threads, World::Futures];
    let ways: [fn(&Source<u32, u32>); 3] = [
        |source| source.update(|_, _| sleep(Duration::from_millis(1))),
        |source| source.with(|_| assert!(lisle::never::<bool>().sync())),
        |source| assert_eq!(source.event(|_| Some(7).inspect(|_| sleep(Duration::from_millis(1)))).sync(), 7),
    ];
    match part() {
        None => {
            for part in 0..worlds.len() * ways.len() {
                Ended::of(&format!("under_lock::{name}"), &part.to_string())
                    .aborted()
                    .says("lisle: a function given to a `Source` waits, under the source's lock")
                    .says("wait after `update`");
            }
        }
        Some(part) => {
            let part: usize = part.parse().unwrap();
            let way = ways[part % ways.len()];
            worlds[part / ways.len()].run(move |cx| async move {
                cx.go_apart().await;
                way(&Source::new(0));
            });
        }
    }
}
