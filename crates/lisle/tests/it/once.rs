//! Values that are made once: by one performer, visible to all, and tried again if the first
//! attempt failed.

use crate::support::{Cx, on_domains, scaled, worlds};
use lisle::sync::{Lazy, Once, OnceCell};
use lisle::{Event, Runtime, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(the_waiters_for_the_value_get_it);

/// The wait is an event, so it works in futures, too.
async fn the_waiters_for_the_value_get_it(cx: Cx) {
    for _ in 0..scaled(200, 30) {
        let cell = Arc::new(OnceCell::new());
        let readers = [false, true].map(|chooses| {
            let cell = cell.clone();
            cx.spawn(move |cx| async move {
                match chooses {
                    true => *cx.sync(choose((never(), cell.get_evt()))).await,
                    false => *cx.sync(cell.get_evt()).await,
                }
            })
        });
        assert_eq!(cell.get_evt().poll(), None);
        assert_eq!(cell.get_or_try_init(|| Err::<u32, _>("not yet")), Err("not yet"));
        assert_eq!(cell.get_or_init(|| 7), &7);
        assert_eq!(cx.join_all(readers).await, [7, 7]);
        assert_eq!(cell.get_or_init(|| 8), &7);
    }
}

/// Many fibers need the value at once, and making it blocks. On one domain the others must be
/// parked in the meantime.
#[test]
fn one_makes_the_value_and_the_others_wait() {
    on_domains(|| {
        for _ in 0..scaled(200, 30) {
            let made = Arc::new(AtomicUsize::new(0));
            let cell = Arc::new(OnceCell::new());
            let fibers = [0; 6].map(|_| {
                let (cell, made) = (cell.clone(), made.clone());
                lisle::spawn(move || {
                    *cell.get_or_init(|| {
                        lisle::fiber::yield_now();
                        made.fetch_add(1, Ordering::Relaxed)
                    })
                })
            });
            for fiber in fibers {
                assert_eq!(fiber.join().unwrap(), 0);
            }
            assert_eq!(made.load(Ordering::Relaxed), 1);
        }
    });
}

#[test]
fn an_initializer_that_panics_lets_the_next_one_try() {
    on_domains(|| {
        for _ in 0..scaled(200, 30) {
            let once = Arc::new(Once::new());
            let tried = Arc::new(AtomicUsize::new(0));
            let fibers = [0; 5].map(|_| {
                let (once, tried) = (once.clone(), tried.clone());
                lisle::spawn(move || {
                    once.call_once(|| {
                        lisle::fiber::yield_now();
                        if tried.fetch_add(1, Ordering::Relaxed) < 2 {
                            std::panic::resume_unwind(Box::new("not yet"));
                        }
                    });
                })
            });
            once.done_evt().sync();
            assert!(once.is_done());
            assert_eq!(fibers.into_iter().filter_map(|fiber| fiber.join().err()).count(), 2);
            assert_eq!(tried.load(Ordering::Relaxed), 3);
        }
    });
}

/// The fiber that makes the value is unwound with its runtime, and a thread that waits for the
/// value takes over.
#[test]
fn an_initializer_that_is_unwound_lets_the_next_one_try() {
    let lazy = Arc::new(Lazy::new(|| 5));
    let cell = Arc::new(OnceCell::new());
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (begun, began) = lisle::channel::bounded(1);
    let stuck = {
        let cell = cell.clone();
        runtime.spawn(move || {
            *cell.get_or_init(|| {
                begun.send(()).unwrap();
                never::<u32>().sync()
            })
        })
    };
    began.recv().unwrap();
    let next = {
        let (cell, lazy) = (cell.clone(), lazy.clone());
        std::thread::spawn(move || *cell.get_or_init(|| **lazy))
    };
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert!(stuck.join().is_err());
    assert_eq!(next.join().unwrap(), 5);
    assert_eq!((lazy.get(), **lazy), (Some(&5), 5));
}
