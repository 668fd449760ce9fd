//! Readers-writer locks: concurrent readers, turns, time limits, and performers that go away.

use crate::support::{Cx, Random, scaled, watched, worlds};
use lisle::sync::{RwLock, RwLockWriteGuard};
use lisle::time::after;
use lisle::{Event, Runtime, choose};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

worlds!(
    readers_see_what_one_writer_left,
    readers_are_in_together,
    readers_do_not_starve_a_writer,
    writers_do_not_starve_a_reader,
    trying_and_waiting_for_a_while,
    a_writer_that_gives_up_lets_readers_in,
    a_writer_goes_on_as_a_reader,
    performers_that_go_away_keep_nothing,
);

/// The two numbers are equal whenever there is no writer. The test also counts the performers
/// inside.
async fn readers_see_what_one_writer_left(cx: Cx) {
    let rounds = scaled(3_000, 400);
    let lock = Arc::new(RwLock::new([0_usize; 2]));
    let (readers, writers) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let all: Vec<_> = (0..8)
        .map(|id| {
            let (lock, readers, writers) = (lock.clone(), readers.clone(), writers.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 1);
                let mut written = 0;
                for _ in 0..rounds {
                    if random.below(4) == 0 {
                        let mut guard = cx.sync(lock.write_evt()).await;
                        assert_eq!(writers.fetch_add(1, Ordering::SeqCst), 0);
                        assert_eq!(readers.load(Ordering::SeqCst), 0);
                        guard[0] += 1;
                        if random.below(4) == 0 {
                            cx.yield_now().await;
                        }
                        guard[1] += 1;
                        writers.fetch_sub(1, Ordering::SeqCst);
                        written += 1;
                    } else {
                        let guard = match random.below(2) {
                            0 => cx.sync(lock.read_evt()).await,
                            _ => cx.sync(choose((lock.read_evt(), lisle::never()))).await,
                        };
                        readers.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(writers.load(Ordering::SeqCst), 0);
                        let first = guard[0];
                        if random.below(4) == 0 {
                            cx.yield_now().await;
                        }
                        assert_eq!(first, guard[1]);
                        readers.fetch_sub(1, Ordering::SeqCst);
                    }
                }
                written
            })
        })
        .collect();
    let written = cx.join_all(all).await.iter().sum();
    assert_eq!(*lock.try_write().expect("all have gone"), [written; 2]);
}

/// No reader leaves before all are inside.
async fn readers_are_in_together(cx: Cx) {
    let lock = Arc::new(RwLock::new(()));
    let inside = Arc::new(AtomicUsize::new(0));
    let writer = cx.sync(lock.write_evt()).await;
    let all: Vec<_> = (0..6)
        .map(|_| {
            let (lock, inside) = (lock.clone(), inside.clone());
            cx.spawn(move |cx| async move {
                let _guard = cx.sync(lock.read_evt()).await;
                inside.fetch_add(1, Ordering::Relaxed);
                cx.until(|| inside.load(Ordering::Relaxed) == 6).await;
            })
        })
        .collect();
    cx.yield_now().await;
    assert_eq!(inside.load(Ordering::Relaxed), 0);
    drop(writer);
    cx.join_all(all).await;
}

/// Two readers overlap: at any time at least one of them reads.
async fn readers_do_not_starve_a_writer(cx: Cx) {
    let lock = Arc::new(RwLock::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (lock, stop) = (lock.clone(), stop.clone());
            cx.spawn(move |cx| async move {
                let mut guard = cx.sync(lock.read_evt()).await;
                while !stop.load(Ordering::Relaxed) {
                    cx.yield_now().await;
                    drop(guard);
                    guard = cx.sync(lock.read_evt()).await;
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    for round in 0..scaled(500, 100) {
        let mut guard = cx.sync(lock.write_evt()).await;
        *guard += 1;
        assert_eq!(*guard, round + 1);
        drop(guard);
        cx.yield_now().await;
    }
    stop.store(true, Ordering::Relaxed);
    cx.join_all(readers).await;
}

async fn writers_do_not_starve_a_reader(cx: Cx) {
    let lock = Arc::new(RwLock::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let (lock, stop) = (lock.clone(), stop.clone());
            cx.spawn(move |cx| async move {
                while !stop.load(Ordering::Relaxed) {
                    let mut guard = cx.sync(lock.write_evt()).await;
                    *guard += 1;
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    let mut last = 0;
    for _ in 0..scaled(500, 100) {
        let now = *cx.sync(lock.read_evt()).await;
        assert!(now >= last);
        last = now;
    }
    stop.store(true, Ordering::Relaxed);
    cx.join_all(writers).await;
}

async fn trying_and_waiting_for_a_while(cx: Cx) {
    let lock = RwLock::new(1);
    let short = Duration::from_millis(1);
    let reader = lock.try_read().expect("nobody has it");
    let second = lock.try_read().expect("readers only");
    assert!(lock.try_write().is_none());
    assert!(lock.write_evt().poll().is_none());
    let limit = || after(short).wrap(|()| true);
    assert!(cx.sync(choose((lock.write_evt().wrap(|_| false), limit()))).await);
    assert!(lock.try_read().is_some(), "the writer has given up");
    drop((reader, second));
    let writer = lock.try_write().expect("nobody has it");
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    assert!(cx.sync(choose((lock.read_evt().wrap(|_| false), limit()))).await);
    if !cx.is_future() {
        assert!(lock.read_timeout(short).is_none());
        assert!(lock.write_timeout(short).is_none());
    }
    drop(writer);
    *lock.write_timeout(Duration::ZERO).expect("nobody has it") += 1;
    assert_eq!(lock.read_timeout(Duration::ZERO).map(|value| *value), Some(2));
    assert_eq!(*lock.read_evt().poll().expect("nobody has it"), 2);
    assert_eq!(lock.into_inner(), 2);
}

/// A reader stays. A writer waits for it, and a second reader waits for the writer. When the writer
/// gives up, the second reader gets in, although the first is still there.
async fn a_writer_that_gives_up_lets_readers_in(cx: Cx) {
    for round in 0..scaled(200, 40) {
        let lock = Arc::new(RwLock::new(()));
        let first = cx.sync(lock.read_evt()).await;
        let gave_up = Arc::new(lisle::sync::Condition::new());
        let writer = {
            let (lock, gave_up) = (lock.clone(), gave_up.clone());
            cx.spawn(move |cx| async move {
                let limit = gave_up.wait_evt().wrap(|()| false);
                assert!(!cx.sync(choose((lock.write_evt().wrap(|_| true), limit))).await);
            })
        };
        cx.until(|| lock.try_read().is_none()).await;
        let second = {
            let lock = lock.clone();
            cx.spawn(move |cx| async move { drop(cx.sync(lock.read_evt()).await) })
        };
        if round % 2 == 0 {
            cx.yield_now().await;
        }
        gave_up.signal();
        cx.join(second).await;
        cx.join(writer).await;
        assert!(lock.try_read().is_some());
        drop(first);
        assert!(lock.try_write().is_some());
    }
}

async fn a_writer_goes_on_as_a_reader(cx: Cx) {
    let rounds = scaled(1_000, 200);
    let lock = Arc::new(RwLock::new(0));
    let all: Vec<_> = (0..4)
        .map(|_| {
            let lock = lock.clone();
            cx.spawn(move |cx| async move {
                for _ in 0..rounds {
                    let mut writer = cx.sync(lock.write_evt()).await;
                    *writer += 1;
                    let written = *writer;
                    let reader = RwLockWriteGuard::downgrade(writer);
                    cx.yield_now().await;
                    assert_eq!(*reader, written, "a writer came between");
                }
            })
        })
        .collect();
    cx.join_all(all).await;
    assert_eq!(*lock.try_read().expect("all have gone"), 4 * rounds);
}

/// Futures are dropped, and holders panic.
async fn performers_that_go_away_keep_nothing(cx: Cx) {
    let rounds = scaled(3_000, 300);
    let lock = Arc::new(RwLock::new(0));
    let all: Vec<_> = (0..4)
        .map(|id| {
            let lock = lock.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 1);
                for _ in 0..rounds {
                    let mut reading = Box::pin(lock.read_evt().future());
                    let mut writing = Box::pin(lock.write_evt().future());
                    if random.below(2) == 0 {
                        drop(reading.as_mut().poll(&mut Context::from_waker(Waker::noop())));
                    }
                    if random.below(2) == 0 {
                        drop(writing.as_mut().poll(&mut Context::from_waker(Waker::noop())));
                    }
                    if random.below(4) == 0 {
                        cx.yield_now().await;
                    }
                    drop((reading, writing));
                    *cx.sync(lock.write_evt()).await += 1;
                }
                let _guard = cx.sync(lock.read_evt()).await;
                panic!("while it reads");
            })
        })
        .collect();
    for performer in all {
        assert!(cx.join_caught::<()>(performer).await.is_err());
    }
    assert_eq!(*lock.try_write().expect("all have gone"), 4 * rounds);
}

#[test]
fn interrupted_fibers_keep_nothing() {
    let _watched = watched();
    for _ in 0..scaled(30, 8) {
        let lock = Arc::new(RwLock::new(()));
        let runtime = Runtime::builder().domains(2).start().unwrap();
        let begun = Arc::new(AtomicUsize::new(0));
        for fiber in 0..20 {
            let (lock, begun) = (lock.clone(), begun.clone());
            drop(runtime.spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                loop {
                    if fiber % 3 == 0 {
                        let _guard = lock.write();
                        lisle::time::sleep(Duration::from_micros(20));
                    } else {
                        let _guard = lock.read();
                        lisle::time::sleep(Duration::from_micros(50));
                    }
                }
            }));
        }
        while begun.load(Ordering::Relaxed) < 20 {
            drop(lock.read());
            std::thread::yield_now();
        }
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(lock.try_write().is_some(), "a fiber took the lock with it");
    }
}

#[test]
fn a_lock_may_be_static_named_and_shown() {
    static LOCK: RwLock<u32> = RwLock::new(3);
    assert_eq!(format!("{LOCK:?}"), "RwLock { value: 3, .. }");
    let guard = LOCK.write();
    assert_eq!(format!("{LOCK:?} {guard:?}"), "RwLock { .. } 3");
    let unsized_value: Box<RwLock<[u8]>> = Box::new(RwLock::new([1, 2, 3]).named("bytes"));
    unsized_value.write()[1] = 5;
    assert_eq!(*unsized_value.read(), [1, 5, 3]);
}

/// Threads that read, always some of them, do not keep a writer out.
#[test]
fn threads_that_read_without_end_let_a_writer_in() {
    let _watched = watched();
    let lock = RwLock::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let value = lock.read();
                    (0..50).for_each(|_| std::hint::spin_loop());
                    drop(value);
                }
            });
        }
        (0..scaled(200, 20)).for_each(|_| *lock.write() += 1);
        is_over.store(true, Ordering::Relaxed);
    });
}
