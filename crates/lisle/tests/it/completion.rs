//! The completion of threads and futures as an event. Case 36: a panic arrives at the joiner. Case
//! 42: plain threads, fibers and futures wait for each other.

use crate::support::{Cx, Random, on_domains, scaled, worlds};
use lisle::time::after;
use lisle::{Event, Runtime, choose, future, thread};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

worlds!(
    a_thread_joined_by_an_event,
    panics_arrive,
    results_are_had_once,
    a_future_joined_by_an_event,
    cancelled_futures_are_dropped,
    a_detached_future_goes_on,
    foreign_wakers_race,
    block_on_anywhere,
);

async fn a_thread_joined_by_an_event(cx: Cx) {
    let (tx, rx) = lisle::channel::<u32>();
    let thread = thread::Builder::new().name("adder").spawn(move || rx.recv().unwrap() + 1).unwrap();
    assert_eq!(thread.thread().name(), Some("adder"));
    let late = after(Duration::from_millis(1)).wrap(|()| None);
    assert!(cx.sync(choose((thread.join_evt().wrap(Some), late))).await.is_none());
    assert!(!thread.is_finished());
    cx.sync(tx.send_evt(1)).await.unwrap();
    assert_eq!(cx.sync(thread.join_evt()).await.unwrap(), 2);
    assert!(thread.is_finished());
}

/// Case 36.
async fn panics_arrive(cx: Cx) {
    let thread = thread::Builder::new().name("unlucky").spawn(|| panic!("in a thread")).unwrap();
    let error = cx.sync(thread.join_evt()).await.unwrap_err();
    assert!(error.is_panic());
    let text = error.to_string();
    assert!(text.contains("'unlucky'") && text.contains("in a thread") && text.contains(file!()), "{text}");

    let future = future::spawn(async { panic!("in a future") });
    let error = cx.sync(future.join_evt()).await.unwrap_err();
    assert_eq!(*error.into_panic().unwrap().downcast::<&str>().unwrap(), "in a future");
}

async fn results_are_had_once(cx: Cx) {
    let thread = thread::spawn(|| 1);
    assert_eq!(cx.sync(thread.join_evt()).await.unwrap(), 1);
    assert!(cx.sync(thread.join_evt()).await.unwrap_err().to_string().contains("taken already"));
    let future = future::spawn(async { 2 });
    assert_eq!(cx.sync(future.join_evt()).await.unwrap(), 2);
    assert!(cx.sync(future.join_evt()).await.unwrap_err().to_string().contains("taken already"));
}

async fn a_future_joined_by_an_event(cx: Cx) {
    let (tx, rx) = lisle::channel::<u32>();
    let future = future::spawn(async move {
        let mut sum = 0;
        while let Ok(number) = rx.recv_evt().await {
            sum += number;
        }
        sum
    });
    for number in 0..20 {
        let late = after(Duration::from_micros(50)).wrap(|()| None);
        assert!(cx.sync(choose((future.join_evt().wrap(Some), late))).await.is_none());
        cx.sync(tx.send_evt(number)).await.unwrap();
    }
    drop(tx);
    assert_eq!(cx.sync(future.join_evt()).await.unwrap(), 190);
    assert!(future.is_finished());
}

/// A future that never ends. Its sender is dropped with the future.
async fn for_ever(token: lisle::channel::Sender<()>) {
    std::future::pending::<()>().await;
    drop(token);
}

async fn cancelled_futures_are_dropped(cx: Cx) {
    for by_drop in [true, false] {
        let (token, dropped) = lisle::channel::<()>();
        let future = future::spawn(for_ever(token));
        let late = after(Duration::from_millis(1)).wrap(|()| None);
        assert!(cx.sync(choose((future.join_evt().wrap(Some), late))).await.is_none());
        if by_drop {
            drop(future);
        } else {
            future.cancel();
            let error = cx.sync(future.join_evt()).await.unwrap_err();
            assert!(error.is_cancelled() && !error.is_panic());
            assert!(error.to_string().contains("was cancelled"), "{error}");
        }
        assert!(cx.sync(dropped.recv_evt()).await.is_err());
    }
    // A future that is done keeps its result.
    let future = future::spawn(async { 1 });
    cx.until(|| future.is_finished()).await;
    future.cancel();
    assert_eq!(cx.sync(future.join_evt()).await.unwrap(), 1);
}

async fn a_detached_future_goes_on(cx: Cx) {
    let (tx, rx) = lisle::channel::<u32>();
    let (answer, answered) = lisle::channel::<u32>();
    future::spawn(async move { answer.send_evt(rx.recv_evt().await.unwrap()).await.unwrap() }).detach();
    cx.sync(tx.send_evt(3)).await.unwrap();
    assert_eq!(cx.sync(answered.recv_evt()).await.unwrap(), 3);
}

/// A cell that is filled by a thread that does not know this library.
#[derive(Default)]
struct Foreign {
    value: Mutex<(Option<usize>, Option<Waker>)>,
}

impl Foreign {
    fn fill(&self, value: usize) {
        let mut cell = self.value.lock().unwrap();
        cell.0 = Some(value);
        let waker = cell.1.take();
        drop(cell);
        // The waker is used more often than needed, and after the future is done.
        if let Some(waker) = waker {
            for _ in 0..3 {
                waker.wake_by_ref();
                std::thread::yield_now();
            }
            waker.wake();
        }
    }

    async fn get(&self) -> usize {
        poll_fn(|context| {
            let mut cell = self.value.lock().unwrap();
            cell.1 = Some(context.waker().clone());
            cell.0.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

async fn foreign_wakers_race(cx: Cx) {
    let count = scaled(500, 100);
    let performers: Vec<_> = (0..3)
        .map(|id| {
            cx.spawn(move |cx| async move {
                let cells: Vec<_> = (0..count).map(|_| Arc::new(Foreign::default())).collect();
                let filler = {
                    let (cells, mut random) = (cells.clone(), Random::new(id));
                    thread::spawn(move || {
                        for (index, cell) in cells.iter().enumerate() {
                            cell.fill(index);
                            (0..random.below(200)).for_each(|_| std::hint::spin_loop());
                        }
                    })
                };
                for (index, cell) in cells.into_iter().enumerate() {
                    let future = future::spawn(async move { cell.get().await });
                    assert_eq!(cx.sync(future.join_evt()).await.unwrap(), index);
                }
                cx.sync(filler.join_evt()).await.unwrap();
            })
        })
        .collect();
    cx.join_all(performers).await;
}

async fn block_on_anywhere(cx: Cx) {
    let (tx, rx) = lisle::channel::<u32>();
    let sender = cx.spawn(move |cx| async move {
        for number in 0..100 {
            cx.sync(tx.send_evt(number)).await.unwrap();
        }
    });
    let receiver = cx.spawn(move |_| async move {
        let local = Rc::new(rx);
        future::block_on(async move {
            let mut sum = 0;
            while let Ok(number) = local.recv_evt().await {
                sum += number;
            }
            sum
        })
    });
    assert_eq!(cx.join(receiver).await, 4_950);
    cx.join(sender).await;
}

/// Fibers that drive futures wait for each other on the same domain.
#[test]
fn a_domain_is_not_blocked() {
    on_domains(|| {
        let (tx, rx) = lisle::channel::<u32>();
        let waiting = lisle::spawn(move || future::block_on(async { rx.recv_evt().await.unwrap() }));
        lisle::fiber::yield_now();
        lisle::spawn(move || future::block_on(async { tx.send_evt(1).await.unwrap() })).join().unwrap();
        assert_eq!(waiting.join().unwrap(), 1);
    });
}

#[test]
fn a_future_that_wakes_itself_lets_others_have_a_turn() {
    Runtime::builder().domains(1).run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let busy = {
            let stop = stop.clone();
            future::spawn(poll_fn(move |context| {
                context.waker().wake_by_ref();
                if stop.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
            }))
        };
        lisle::fiber::yield_now();
        stop.store(true, Ordering::Relaxed);
        busy.join().unwrap();

        let endless = future::spawn(poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        lisle::fiber::yield_now();
        endless.cancel();
        assert!(endless.join().unwrap_err().is_cancelled());
    });
}

#[test]
fn a_waker_outlives_its_runtime() {
    let kept = Arc::new(Mutex::new(None));
    Runtime::builder().domains(2).run(|| {
        let kept = kept.clone();
        let future = future::spawn(poll_fn(move |context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        }));
        future.join().unwrap();
    });
    let waker: Waker = kept.lock().unwrap().take().unwrap();
    waker.wake_by_ref();
    let another = waker.clone();
    waker.wake();
    std::thread::spawn(move || another.wake()).join().unwrap();
}

#[test]
fn a_shutdown_drops_futures() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let (begun, beginnings) = lisle::channel::<()>();
    for _ in 0..10 {
        let (token, begun) = (Counted(dropped.clone()), begun.clone());
        drop(runtime.spawn(move || {
            future::spawn(async move {
                let _token = token;
                begun.send_evt(()).await.unwrap();
                std::future::pending::<()>().await
            })
            .detach();
        }));
    }
    for _ in 0..10 {
        beginnings.recv().unwrap();
    }
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}
