//! Cells that are filled once, and conditions that become true once.

use crate::support::{Cx, block_on, scaled, worlds};
use lisle::sync::{Condition, IVar};
use lisle::time::after;
use lisle::{Event, Runtime, channel, choose, never};
use std::cell::UnsafeCell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

worlds!(
    an_ivar_is_filled_once,
    every_reader_gets_the_one_value,
    of_many_that_fill_one_succeeds,
    a_reader_that_gives_up_can_read_later,
    only_the_first_signal_is_the_first,
    of_many_that_signal_one_is_the_first,
    a_wait_for_a_condition_can_time_out,
    what_happened_before_a_signal_is_seen_after_the_wait,
    a_signal_after_its_waiters_runtime_has_ended,
    a_signal_after_its_waiting_future_was_dropped,
);

/// Case 34.
async fn an_ivar_is_filled_once(cx: Cx) {
    let cell = IVar::new();
    assert_eq!(cell.try_get(), None);
    assert_eq!(cell.get_evt().poll(), None);
    cell.put("first").unwrap();
    for _ in 0..2 {
        assert_eq!(cell.put("second").unwrap_err().0, "second");
        assert_eq!(cell.try_get(), Some(&"first"));
        assert_eq!(cell.get_evt().poll(), Some(&"first"));
        assert_eq!(*cx.sync(cell.get_evt()).await, "first");
    }
    assert_eq!(cell.into_inner(), Some("first"));
}

/// All readers see the same value at the same address, whether they wait for it, alone or in a
/// choice, or come after it has been set. It is dropped once.
async fn every_reader_gets_the_one_value(cx: Cx) {
    let token = Arc::new(());
    let cell = Arc::new(IVar::new());
    let (read, reads) = channel::<usize>();
    let readers: Vec<_> = (0..if cx.is_light() { 200 } else { 24 })
        .map(|i| {
            let (cell, read) = (cell.clone(), read.clone());
            cx.spawn(move |cx| async move {
                let value: &Arc<()> = match i % 3 {
                    0 => cx.sync(cell.get_evt()).await,
                    1 => cx.sync(choose((never(), cell.get_evt()))).await,
                    _ => cx.sync(choose((cell.get_evt(), cell.get_evt()))).await,
                };
                let address = std::ptr::from_ref(value) as usize;
                cx.sync(read.send_evt(address)).await.unwrap();
            })
        })
        .collect();
    cx.yield_now().await;
    cell.put(token.clone()).unwrap();
    let place = std::ptr::from_ref(cell.try_get().unwrap()) as usize;
    for _ in 0..readers.len() {
        assert_eq!(cx.sync(reads.recv_evt()).await, Ok(place));
    }
    cx.join_all(readers).await;
    assert_eq!(Arc::strong_count(&token), 2);
    drop(cell);
    assert_eq!(Arc::strong_count(&token), 1);
}

/// Case 34, in a race.
async fn of_many_that_fill_one_succeeds(cx: Cx) {
    for _ in 0..scaled(300, 50) {
        let cell = Arc::new(IVar::new());
        let fillers = [0, 1, 2, 3].map(|id: usize| {
            let cell = cell.clone();
            cx.spawn(move |_| async move { cell.put(id).is_ok() })
        });
        let winner = *cx.sync(cell.get_evt()).await;
        let filled = cx.join_all(fillers).await;
        assert_eq!(filled.iter().filter(|filled| **filled).count(), 1);
        assert!(filled[winner]);
        assert_eq!(cell.try_get(), Some(&winner));
    }
}

async fn a_reader_that_gives_up_can_read_later(cx: Cx) {
    let cell = IVar::new();
    let timeout = || after(Duration::from_millis(1)).wrap(|()| None);
    for _ in 0..3 {
        assert_eq!(cx.sync(choose((cell.get_evt().wrap(Some), timeout()))).await, None);
    }
    cell.put(5).unwrap();
    assert_eq!(cx.sync(choose((cell.get_evt().wrap(Some), timeout()))).await, Some(&5));
}

/// Case 35.
async fn only_the_first_signal_is_the_first(cx: Cx) {
    let condition = Condition::new();
    assert!(!condition.is_signalled());
    assert_eq!(condition.wait_evt().poll(), None);
    assert!(condition.signal());
    for _ in 0..3 {
        assert!(!condition.signal());
        assert!(condition.is_signalled());
        assert_eq!(condition.wait_evt().poll(), Some(()));
        cx.sync(condition.wait_evt()).await;
    }
}

/// Case 35, in a race. All waiters continue.
async fn of_many_that_signal_one_is_the_first(cx: Cx) {
    for _ in 0..scaled(300, 50) {
        let condition = Arc::new(Condition::new());
        let waiters = [0, 1, 2].map(|_| {
            let condition = condition.clone();
            cx.spawn(move |cx| async move { cx.sync(condition.wait_evt()).await })
        });
        let signallers = [0, 1, 2].map(|_| {
            let condition = condition.clone();
            cx.spawn(move |_| async move { condition.signal() })
        });
        let firsts = cx.join_all(signallers).await;
        assert_eq!(firsts.into_iter().filter(|first| *first).count(), 1);
        cx.join_all(waiters).await;
    }
}

/// Case 35.
async fn a_wait_for_a_condition_can_time_out(cx: Cx) {
    let condition = Condition::new();
    let wait = |millis| {
        let timeout = after(Duration::from_millis(millis)).wrap(|()| false);
        choose((condition.wait_evt().wrap(|()| true), timeout))
    };
    assert!(!cx.sync(wait(50)).await);
    assert!(condition.signal(), "nobody waits, and it is the first all the same");
    assert!(cx.sync(wait(3_600_000)).await);
}

async fn what_happened_before_a_signal_is_seen_after_the_wait(cx: Cx) {
    for i in 0..scaled(500, 100) {
        let shared = Arc::new((Condition::new(), Plain(UnsafeCell::new(0))));
        let waiter = {
            let shared = shared.clone();
            cx.spawn(move |cx| async move {
                cx.sync(shared.0.wait_evt()).await;
                shared.1.read()
            })
        };
        shared.1.write(i + 1);
        shared.0.signal();
        assert_eq!(cx.join(waiter).await, i + 1);
    }
}

/// Memory without any synchronization of its own, for a thread sanitizer to check.
struct Plain(UnsafeCell<usize>);

// SAFETY: the only user writes before a signal and reads after the wait for it. The signal happens
// before the end of that wait.
unsafe impl Sync for Plain {}

impl Plain {
    fn write(&self, value: usize) {
        // SAFETY: the reader still waits for the signal that follows.
        unsafe { *self.0.get() = value };
    }

    fn read(&self) -> usize {
        // SAFETY: the writer is done, since it has signalled.
        unsafe { *self.0.get() }
    }
}

/// Case 35. The waiters were unwound where they waited, and the condition does not refer to them
/// any more.
async fn a_signal_after_its_waiters_runtime_has_ended(cx: Cx) {
    for domains in [1, 2] {
        let condition = Arc::new(Condition::new());
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let (begin, begun) = channel::<()>();
        let waiters: Vec<_> = (0..20)
            .map(|i| {
                let (condition, begin) = (condition.clone(), begin.clone());
                runtime.spawn(move || {
                    begin.send(()).unwrap();
                    match i % 3 {
                        0 => condition.wait(),
                        1 => choose((condition.wait_evt(), never())).sync(),
                        _ => {
                            let hour = after(Duration::from_secs(3_600));
                            choose((hour, condition.wait_evt(), condition.wait_evt())).sync();
                        }
                    }
                })
            })
            .collect();
        for _ in &waiters {
            cx.sync(begun.recv_evt()).await.unwrap();
        }
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert_eq!(Arc::strong_count(&condition), 1, "all have let go of it");
        assert!(condition.signal());
        assert!(!condition.signal());
        for waiter in waiters {
            assert!(waiter.join().unwrap_err().is_cancelled());
        }
        cx.sync(condition.wait_evt()).await;
    }
}

/// Case 35, with a future.
async fn a_signal_after_its_waiting_future_was_dropped(cx: Cx) {
    let condition = Condition::new();
    {
        let mut noop = Context::from_waker(Waker::noop());
        let mut alone = pin!(condition.wait_evt().future());
        let mut chosen = pin!(choose((never(), condition.wait_evt())).future());
        assert!(alone.as_mut().poll(&mut noop).is_pending());
        assert!(chosen.as_mut().poll(&mut noop).is_pending());
    }
    assert!(condition.signal());
    block_on(condition.wait_evt().future());
    cx.sync(condition.wait_evt()).await;
}
