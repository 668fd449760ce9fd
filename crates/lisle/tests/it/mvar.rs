//! Cells that are empty or full: values are neither lost nor doubled, even if performers race, give
//! up or panic.

use crate::support::{Cx, Random, block_on, scaled, worlds};
use lisle::sync::{Lease, MVar};
use lisle::time::after;
use lisle::{Event, Runtime, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

worlds!(
    it_is_empty_or_full,
    an_update_that_panics_keeps_the_old_value,
    an_update_that_is_cancelled_keeps_the_old_value,
    a_put_waits_for_a_take,
    takers_are_served_in_order,
    putters_are_served_in_order,
    a_value_is_shown_to_all_readers_before_it_is_taken,
    readers_do_not_starve_a_taker,
    a_clone_that_panics_changes_nothing,
    a_loser_has_done_nothing,
    a_choice_of_put_and_take_is_always_ready,
    dropped_futures_have_done_nothing,
    a_lease_won_by_a_dropped_future_is_given_back,
    updates_add_up,
    swaps_pass_every_value_on,
    values_are_conserved_in_a_storm,
);

/// Lets other performers run until one is likely to wait. The test is valid whether it does or not.
async fn settle(cx: &Cx) {
    for _ in 0..20 {
        cx.yield_now().await;
    }
}

/// Polls a future with a waker that does nothing.
fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn it_is_empty_or_full(_: Cx) {
    let mut cell = MVar::new().named("cell");
    assert!(cell.is_empty());
    assert_eq!((cell.try_take(), cell.try_read()), (None, None));
    assert_eq!((cell.take_evt().poll(), cell.read_evt().poll()), (None, None));
    cell.put(1);
    assert!(!cell.is_empty());
    assert_eq!(cell.try_put(2), Err(2));
    assert_eq!(cell.put_evt(2).poll(), None);
    assert_eq!((cell.read(), cell.try_read(), cell.read_evt().poll()), (1, Some(1), Some(1)));
    assert_eq!(cell.swap(3), 1);
    *cell.get_mut().unwrap() += 1;
    assert_eq!(cell.update(|value| value * 10), 4);
    assert_eq!(cell.modify(|value| std::mem::replace(value, 5)), 40);
    let lease = cell.lease_evt().poll().unwrap();
    assert_eq!(*lease, 5);
    assert!(cell.is_empty(), "a leased value is not to be had");
    assert_eq!((cell.try_take(), cell.try_read(), cell.try_put(6)), (None, None, Err(6)));
    assert!(cell.lease_evt().poll().is_none());
    drop(lease);
    assert_eq!(cell.take_evt().poll(), Some(5));
    assert_eq!(cell.try_put(6), Ok(()));
    assert_eq!(cell.into_inner(), Some(6));
}

/// Case 34.
async fn an_update_that_panics_keeps_the_old_value(cx: Cx) {
    let cell = Arc::new(MVar::full(vec![1, 2]));
    for _ in 0..3 {
        let updated = catch_unwind(AssertUnwindSafe(|| cell.update(|_| panic!("in an update"))));
        assert!(updated.is_err());
        let modified = catch_unwind(AssertUnwindSafe(|| {
            cell.modify(|list| {
                list.clear();
                panic!("in the middle of a change")
            })
        }));
        assert!(modified.is_err());
        assert_eq!(cell.try_read(), Some(vec![1, 2]));
    }
    // Other performers wait in the meantime, and continue with the old value.
    let (begin, begun) = channel::<()>();
    let updater = {
        let cell = cell.clone();
        cx.spawn(move |cx| async move {
            let lease = cx.sync(cell.lease_evt()).await;
            cx.sync(begin.send_evt(())).await.unwrap();
            settle(&cx).await;
            assert_eq!(*lease, [1, 2]);
            panic!("with a lease");
        })
    };
    cx.sync(begun.recv_evt()).await.unwrap();
    assert_eq!(cx.sync(cell.take_evt()).await, [1, 2]);
    assert!(cx.join_caught(updater).await.is_err());
}

/// A fiber is unwound while its function waits.
async fn an_update_that_is_cancelled_keeps_the_old_value(cx: Cx) {
    let cell = Arc::new(MVar::full(7));
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (begin, begun) = channel::<()>();
    let updater = {
        let cell = cell.clone();
        runtime.spawn(move || {
            cell.update(|_| {
                begin.send(()).unwrap();
                never().sync()
            })
        })
    };
    cx.sync(begun.recv_evt()).await.unwrap();
    assert_eq!(cell.try_read(), None);
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert!(updater.join().unwrap_err().is_cancelled());
    assert_eq!(cell.try_take(), Some(7));
}

async fn a_put_waits_for_a_take(cx: Cx) {
    let cell = Arc::new(MVar::full(0));
    let done = Arc::new(AtomicBool::new(false));
    let putter = {
        let (cell, done) = (cell.clone(), done.clone());
        cx.spawn(move |cx| async move {
            cx.sync(cell.put_evt(1)).await;
            done.store(true, Ordering::SeqCst);
        })
    };
    settle(&cx).await;
    assert!(!done.load(Ordering::SeqCst));
    assert_eq!(cx.sync(cell.take_evt()).await, 0);
    cx.join(putter).await;
    assert_eq!(cx.sync(cell.take_evt()).await, 1);
}

/// Futures are polled by hand, so the order of the waiters is certain.
async fn takers_are_served_in_order(_: Cx) {
    let cell = MVar::new();
    let mut first = pin!(cell.take_evt().future());
    let mut lease = pin!(cell.lease_evt().future());
    let mut last = pin!(cell.take_evt().future());
    assert!(polled(first.as_mut()).is_pending());
    assert!(polled(lease.as_mut()).is_pending());
    assert!(polled(last.as_mut()).is_pending());
    cell.put(1);
    assert!(cell.is_empty(), "it went to the first");
    cell.put(2);
    assert_eq!(cell.try_take(), None, "it is leased");
    assert!(polled(last.as_mut()).is_pending());
    assert_eq!(polled(first.as_mut()), Poll::Ready(1));
    let Poll::Ready(lease) = polled(lease.as_mut()) else { panic!("it has the lease") };
    assert_eq!(lease.put(3), 2);
    assert_eq!(polled(last.as_mut()), Poll::Ready(3));
    assert!(cell.is_empty());
}

async fn putters_are_served_in_order(_: Cx) {
    let cell = MVar::full(0);
    let mut putters: Vec<_> = (1..5).map(|i| Box::pin(cell.put_evt(i).future())).collect();
    for putter in &mut putters {
        assert!(polled(putter.as_mut()).is_pending());
    }
    for i in 0..5 {
        assert_eq!(cell.try_take(), Some(i));
    }
    assert_eq!(cell.try_take(), None);
    assert!(putters.iter_mut().all(|putter| polled(putter.as_mut()).is_ready()));
}

async fn a_value_is_shown_to_all_readers_before_it_is_taken(cx: Cx) {
    let cell = Arc::new(MVar::new());
    let taker = cell.clone();
    let mut taker = pin!(taker.take_evt().future());
    assert!(polled(taker.as_mut()).is_pending());
    let mut readers: Vec<_> = (0..6)
        .map(|i| {
            let read = choose((never(), cell.read_evt()));
            if i % 2 == 0 {
                Box::pin(cell.read_evt().boxed().future())
            } else {
                Box::pin(read.boxed().future())
            }
        })
        .collect();
    for reader in &mut readers {
        assert!(polled(reader.as_mut()).is_pending());
    }
    cx.sync(cell.put_evt(9)).await;
    assert!(polled(taker.as_mut()).is_pending(), "it is being read");
    // One of them is dropped before it has looked.
    drop(readers.pop());
    for mut reader in readers {
        assert_eq!(cell.try_read(), Some(9));
        assert_eq!(polled(reader.as_mut()), Poll::Ready(9));
    }
    assert!(cell.is_empty(), "the taker has it now");
    assert_eq!(polled(taker.as_mut()), Poll::Ready(9));
}

async fn readers_do_not_starve_a_taker(cx: Cx) {
    let cell = Arc::new(MVar::full(1));
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (cell, stop) = (cell.clone(), stop.clone());
            cx.spawn(move |cx| async move {
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(cx.sync(cell.read_evt()).await, 1);
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    for _ in 0..scaled(1_000, 100) {
        let never_in_time = after(Duration::from_secs(3_600)).wrap(|()| panic!("starved"));
        assert_eq!(cx.sync(choose((cell.take_evt(), never_in_time))).await, 1);
        cx.sync(cell.put_evt(1)).await;
    }
    stop.store(true, Ordering::Relaxed);
    cx.join_all(readers).await;
    assert_eq!(cell.try_take(), Some(1));
}

struct Fragile(Arc<AtomicBool>);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!self.0.load(Ordering::Relaxed), "not to be cloned");
        Fragile(self.0.clone())
    }
}

async fn a_clone_that_panics_changes_nothing(_: Cx) {
    let broken = Arc::new(AtomicBool::new(true));
    let cell = MVar::full(Fragile(broken.clone()));
    assert!(catch_unwind(AssertUnwindSafe(|| cell.read())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| cell.try_read())).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| cell.modify(|_| ()))).is_err());
    broken.store(false, Ordering::Relaxed);
    assert!(cell.try_read().is_some());
    assert!(cell.try_take().is_some());
}

async fn a_loser_has_done_nothing(cx: Cx) {
    let (empty, full) = (MVar::new(), MVar::full(1));
    let ready = || always(0);
    for _ in 0..scaled(200, 50) {
        let timeout = || after(Duration::from_micros(50)).wrap(|()| 0);
        assert_eq!(cx.sync(choose((empty.take_evt(), empty.read_evt(), timeout()))).await, 0);
        assert_eq!(cx.sync(choose((full.put_evt(2).wrap(|()| 2), timeout()))).await, 0);
        let won = cx.sync(choose((full.take_evt(), ready()))).await;
        assert_eq!(full.try_take().is_some(), won == 0);
        full.put(1);
        let won = cx.sync(choose((empty.put_evt(3).wrap(|()| 3), ready()))).await;
        assert_eq!(empty.try_take(), (won == 3).then_some(3));
        let won = cx.sync(choose((full.lease_evt().wrap(|lease| *lease), full.read_evt(), ready()))).await;
        assert!(won <= 1 && full.try_read() == Some(1));
    }
}

async fn a_choice_of_put_and_take_is_always_ready(cx: Cx) {
    let cell = Arc::new(MVar::new());
    let performers = [1, 2, 3].map(|id| {
        let cell = cell.clone();
        cx.spawn(move |cx| async move {
            let mut balance = 0_i64;
            for _ in 0..scaled(2_000, 300) {
                let put = cell.put_evt(id).wrap(|()| 1);
                balance += cx.sync(choose((put, cell.take_evt().wrap(|_| -1)))).await;
            }
            balance
        })
    });
    let balance: i64 = cx.join_all(performers).await.iter().sum();
    assert_eq!(balance, i64::from(cell.try_take().is_some()));
}

async fn dropped_futures_have_done_nothing(cx: Cx) {
    let cell = MVar::new();
    {
        let mut take = pin!(cell.take_evt().future());
        let mut read = pin!(choose((never(), cell.read_evt())).future());
        let mut lease = pin!(cell.lease_evt().wrap(|lease| *lease).future());
        assert!(polled(take.as_mut()).is_pending());
        assert!(polled(read.as_mut()).is_pending());
        assert!(polled(lease.as_mut()).is_pending());
    }
    cell.put(1);
    {
        let mut put = pin!(cell.put_evt(2).future());
        let mut chosen = pin!(choose((never(), cell.put_evt(3))).future());
        assert!(polled(put.as_mut()).is_pending());
        assert!(polled(chosen.as_mut()).is_pending());
    }
    assert_eq!(cx.sync(cell.take_evt()).await, 1);
    assert_eq!(cell.try_take(), None);
    block_on(cell.put_evt(4).future());
    assert_eq!(block_on(async { (cell.read_evt().await, cell.take_evt().await) }), (4, 4));
}

async fn a_lease_won_by_a_dropped_future_is_given_back(_: Cx) {
    let cell = MVar::full(1);
    let lease = cell.lease_evt().sync();
    {
        let mut next = pin!(cell.lease_evt().future());
        let mut read = pin!(cell.read_evt().future());
        assert!(polled(next.as_mut()).is_pending());
        assert!(polled(read.as_mut()).is_pending());
        drop(lease);
    }
    assert_eq!(cell.try_take(), Some(1));
}

async fn updates_add_up(cx: Cx) {
    let cell = Arc::new(MVar::full(0));
    let rounds = scaled(2_000, 300);
    let performers: Vec<_> = (0..6)
        .map(|id| {
            let cell = cell.clone();
            cx.spawn(move |cx| async move {
                for _ in 0..rounds {
                    match id % 3 {
                        0 => {
                            let value = cx.sync(cell.take_evt()).await;
                            cx.sync(cell.put_evt(value + 1)).await;
                        }
                        1 => {
                            let lease = cx.sync(cell.lease_evt()).await;
                            let next = *lease + 1;
                            lease.put(next);
                        }
                        _ => {
                            let lease = cx.sync(choose((never(), cell.lease_evt()))).await;
                            let next = *lease + 1;
                            cx.yield_now().await;
                            lease.put(next);
                        }
                    }
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
    assert_eq!(cell.try_take(), Some(6 * rounds));
}

/// Each performer puts its own value in and gets another for it. In the end all values are there.
async fn swaps_pass_every_value_on(cx: Cx) {
    let cell = Arc::new(MVar::full(0));
    let performers: Vec<_> = (1..6)
        .map(|id| {
            let cell = cell.clone();
            cx.spawn(move |cx| async move {
                let mut mine = id;
                for _ in 0..scaled(1_000, 200) {
                    let lease = cx.sync(cell.lease_evt()).await;
                    mine = lease.put(mine);
                }
                mine
            })
        })
        .collect();
    let mut values = cx.join_all(performers).await;
    values.extend(cell.try_take());
    values.sort_unstable();
    assert_eq!(values, [0, 1, 2, 3, 4, 5]);
}

struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All operations run on a few cells, alone, in choices with timeouts, and polled. Values that were
/// put and not taken are there in the end, and every clone was dropped once.
async fn values_are_conserved_in_a_storm(cx: Cx) {
    let count = Arc::new(AtomicUsize::new(0));
    let cells: Arc<[MVar<Counted>]> = [(); 3].map(|()| MVar::new()).into();
    let performers: Vec<_> = (0..8)
        .map(|id| {
            let (cells, count) = (cells.clone(), count.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 34);
                let mut balance = 0_isize;
                for _ in 0..scaled(5_000, 500) {
                    let arms: Vec<_> = (0..1 + random.below(3))
                        .map(|_| {
                            let cell = &cells[random.below(3)];
                            match random.below(6) {
                                0 | 1 => cell.put_evt(Counted::new(&count)).wrap(|()| 1).boxed(),
                                2 | 3 => cell.take_evt().wrap(|_| -1).boxed(),
                                4 => cell.read_evt().wrap(|_| 0).boxed(),
                                _ => {
                                    let value = Counted::new(&count);
                                    let put = move |lease: Lease<'_, Counted>| {
                                        drop(lease.put(value.clone()));
                                        0
                                    };
                                    cell.lease_evt().wrap(put).boxed()
                                }
                            }
                        })
                        .chain([after(Duration::from_micros(200)).wrap(|()| 0).boxed()])
                        .collect();
                    balance += match random.below(4) {
                        0 => choose(arms).poll().unwrap_or(0),
                        _ => cx.sync(choose(arms)).await,
                    };
                }
                balance
            })
        })
        .collect();
    let balance: isize = cx.join_all(performers).await.iter().sum();
    let left = cells.iter().filter(|cell| !cell.is_empty()).count();
    assert_eq!(balance, left as isize);
    assert_eq!(count.load(Ordering::Relaxed), left, "every clone but those in the cells is gone");
    assert_eq!(cells.iter().filter_map(MVar::try_take).count(), left);
    assert_eq!(count.load(Ordering::Relaxed), 0);
}
