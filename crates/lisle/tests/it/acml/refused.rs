//! Messages that a closed channel refuses after all handles to them are gone. Their destructors run
//! after all waiters have been woken.

use crate::support::watched;
use lisle::channel;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

type Job = Box<dyn FnOnce() + Send>;

/// A message that runs a closure when it is dropped, once.
#[derive(Clone, Default)]
struct Last(Arc<Mutex<Option<Job>>>);

impl Last {
    fn set(&self, last: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(last));
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        let last = self.0.lock().unwrap().take();
        if let Some(last) = last {
            last();
        }
    }
}

#[test]
fn its_destructor_may_drop_a_future_that_waits_in_the_channel() {
    let _watched = watched();
    let (tx, rx) = channel();
    let last = Last::default();
    drop(tx.send_async(Last(last.0.clone())));
    let mut waits: Pin<Box<dyn Future<Output = ()> + Send>> =
        Box::pin(async move { drop(tx.send_evt(Last::default()).await) });
    assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    last.set(move || drop(waits));
    std::mem::forget(last);
    drop(rx);
}

#[test]
fn its_destructor_may_wait_for_a_sender_that_waits_in_the_channel() {
    let _watched = watched();
    let (tx, rx) = channel();
    let last = Last::default();
    drop(tx.send_async(Last(last.0.clone())));
    let refused = Arc::new(AtomicBool::new(false));
    let seen = refused.clone();
    // The test does not depend on whether the sender already waits when the channel is closed.
    let sender =
        std::thread::spawn(move || refused.store(tx.send(Last::default()).is_err(), Ordering::SeqCst));
    last.set(move || sender.join().unwrap());
    std::mem::forget(last);
    drop(rx);
    assert!(seen.load(Ordering::SeqCst));
}

#[test]
fn its_destructor_may_wait_for_the_end_of_the_next() {
    let _watched = watched();
    let (tx, rx) = channel();
    let last = Last::default();
    drop(tx.send_async(Last(last.0.clone())));
    let second = tx.send_async(Last::default());
    let ended = Arc::new(AtomicBool::new(false));
    let seen = ended.clone();
    last.set(move || ended.store(second.join().is_err(), Ordering::SeqCst));
    std::mem::forget(last);
    drop(rx);
    assert!(seen.load(Ordering::SeqCst));
}

#[test]
fn a_destructor_that_panics_keeps_nobody_from_being_woken() {
    let _watched = watched();
    let (tx, rx) = channel();
    let dropped = Arc::new(AtomicUsize::new(0));
    for n in 0..3 {
        let (last, dropped) = (Last::default(), dropped.clone());
        last.set(move || {
            dropped.fetch_add(1, Ordering::SeqCst);
            assert!(n != 1, "its destructor panics");
        });
        drop(tx.send_async(last));
    }
    let asked = tx.send_async(Last::default());
    let closed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rx.close()));
    assert!(closed.is_err(), "the panic reaches who closes");
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
    assert!(asked.has_ended());
}
