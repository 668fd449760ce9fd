//! Panics of a scope's fibers and tasks that are not joined. Their payloads have destructors of
//! their own.

use super::{OnDrop, quiet_panic};
use crate::support::{Cx, worlds};
use lisle::channel::unbounded;
use lisle::fiber::{self, Scope};
use lisle::{Event, PanicPolicy, Runtime, channel, never, task};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(a_payload_that_panics, a_payload_that_panics_with_such_a_payload, a_payload_that_waits);

type Payload = Box<dyn Any + Send>;

/// The ways to panic in a scope: the handle is dropped before the panic, or after it.
const WAYS: [for<'s> fn(&'s Scope<'s, '_>, Payload); 5] = [
    |scope, payload| drop(scope.spawn(|| resume_unwind(payload))),
    |scope, payload| {
        let fiber = scope.spawn(|| resume_unwind(payload));
        until(|| fiber.is_finished());
    },
    |scope, payload| drop(scope.spawn_task(async { resume_unwind(payload) })),
    |scope, payload| drop(scope.spawn_task(panics_later(payload))),
    |scope, payload| {
        let task = scope.spawn_task(panics_later(payload));
        until(|| task.is_finished());
    },
];

async fn panics_later(payload: Payload) {
    task::yield_now().await;
    resume_unwind(payload)
}

/// Lets other fibers run until `condition` holds.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        fiber::yield_now();
    }
}

/// Each scope ends with a panic of its own after the payload's destructor has been called once.
/// `beside` runs in another fiber of the scope.
async fn ends_with_a_panic<P, M, B>(cx: Cx, make: M, beside: B)
where
    P: Send + 'static,
    M: Fn(Arc<AtomicUsize>) -> P,
    B: Fn() + Sync,
{
    cx.go_apart().await;
    for (number, way) in WAYS.iter().enumerate() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let payload = Box::new(make(dropped.clone()));
        let scope = || {
            fiber::scope(|scope| {
                scope.spawn(&beside);
                way(scope, payload);
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
        let said = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(said.contains("was not joined"), "{number}: {said:?}");
        assert_eq!(dropped.load(Ordering::SeqCst), 1, "{number}");
    }
}

async fn a_payload_that_panics(cx: Cx) {
    let make = |dropped: Arc<AtomicUsize>| {
        OnDrop(move || {
            dropped.fetch_add(1, Ordering::SeqCst);
            quiet_panic()
        })
    };
    ends_with_a_panic(cx, make, || ()).await;
}

/// Its destructor panics with a payload of the same kind.
struct Deep(usize);

impl Drop for Deep {
    fn drop(&mut self) {
        resume_unwind(Box::new(Deep(self.0 + 1)));
    }
}

async fn a_payload_that_panics_with_such_a_payload(cx: Cx) {
    let make = |dropped: Arc<AtomicUsize>| {
        OnDrop(move || {
            dropped.fetch_add(1, Ordering::SeqCst);
            drop(Deep(0));
        })
    };
    ends_with_a_panic(cx, make, || ()).await;
}

async fn a_payload_that_waits(cx: Cx) {
    let (tx, rx) = channel::<()>();
    let make = move |dropped: Arc<AtomicUsize>| {
        let rx = rx.clone();
        OnDrop(move || {
            rx.recv().unwrap();
            dropped.fetch_add(1, Ordering::SeqCst);
        })
    };
    ends_with_a_panic(cx, make, move || tx.send(()).unwrap()).await;
}

/// The runtime is shut down while the payload of a fiber that is not joined is dropped.
#[test]
fn a_payload_that_waits_outlives_a_shutdown() {
    let (tx, rx) = channel();
    let (dropping, dropped) = unbounded();
    let (answer, answers) = unbounded();
    let payload = OnDrop(move || {
        dropping.send(()).unwrap();
        answer.send(rx.recv()).unwrap();
    });
    let builder = Runtime::builder().domains(1).panic_policy(PanicPolicy::Ignore);
    let runtime = builder.start().unwrap();
    // The shutdown interrupts it, and only then the payload's wait ends.
    let (beginning, begun) = unbounded();
    drop(runtime.spawn(move || {
        let _sends = OnDrop(move || tx.send(7).unwrap());
        beginning.send(()).unwrap();
        never::<()>().sync();
    }));
    begun.recv().unwrap();
    // It panics when its handle is gone. Otherwise the handle would drop the payload.
    let (let_go, goes) = channel();
    drop(runtime.spawn(move || {
        goes.recv().unwrap();
        resume_unwind(Box::new(payload))
    }));
    let_go.send(()).unwrap();
    dropped.recv().unwrap();
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert_eq!(answers.recv(), Ok(Ok(7)));
}
