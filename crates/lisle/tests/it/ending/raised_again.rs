//! Waits within frames of the library that catch a panic and raise it again. A shutdown unwinds
//! them, unless a destructor further out is run by a panic.

use super::{OnDrop, quiet_panic};
use crate::support::watched;
use lisle::event::{guard, with_nack};
use lisle::fiber::spawn_on;
use lisle::future::block_on;
use lisle::par::prelude::*;
use lisle::rpc::rpc;
use lisle::sync::Condition;
use lisle::{Event, PanicPolicy, Runtime, always, channel, fiber, never, par, spawn, spawn_task, task};
use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Wait = Arc<dyn Fn() + Send + Sync>;
type Named<T> = (&'static str, T);

/// The places to wait, by name. A task may be queued instead of begun; then its spawner waits for
/// it.
const WAYS: [Named<fn(Wait)>; 16] = [
    ("wrap", |wait| always(()).wrap(move |()| wait()).wrap_panic(|panic| resume_unwind(panic)).sync()),
    ("handler", |wait| always(()).wrap(|()| quiet_panic()).wrap_panic(move |_| wait()).sync()),
    ("request", |wait| {
        let (caller, entry) = rpc::<(), ()>();
        drop(spawn(move || caller.call(())));
        entry.request_evt().sync().unwrap().serve(|()| wait());
    }),
    ("entry", |wait| {
        let (caller, entry) = rpc::<(), ()>();
        drop(spawn(move || caller.call(())));
        entry.entry_evt(move |()| wait()).sync().unwrap();
    }),
    ("guard", |wait| guarded(wait).sync()),
    ("guard of a future", |wait| drop(spawn_task(guarded(wait).future()).join())),
    ("guard of a future in place", |wait| block_on(guarded(wait).future())),
    ("nack", |wait| {
        let made = with_nack(move |_| {
            wait();
            always(())
        });
        made.sync();
    }),
    ("message", |wait| {
        let (tx, rx) = channel::<()>();
        drop(spawn(move || rx.recv()));
        // The receiver may have been ended in the meantime.
        let _ = tx.send_with_evt(move || wait()).sync();
    }),
    ("task", |wait| drop(spawn_task(async move { wait() }).join())),
    ("scoped task", |wait| fiber::scope(|scope| drop(scope.spawn_task(async move { wait() })))),
    ("race", |wait| drop(task::race((async move { wait() }, pending::<()>())).sync())),
    ("scope", |wait| fiber::scope(|_| wait())),
    ("join", |wait| _ = par::join(|| wait(), || ())),
    ("loop", |wait| (0..1_usize).into_par_iter().for_each(|_| wait())),
    ("scope of jobs", |wait| par::scope(|_| wait())),
];

fn guarded(wait: Wait) -> impl Event<Output = ()> + Send {
    guard(move || {
        wait();
        always(())
    })
}

type Run = Box<dyn FnOnce() + Send>;
type Perform = fn(fiber::Builder, Run);

/// The performers that wait, by name.
const PERFORMERS: [Named<Perform>; 3] = [
    ("a fiber", |builder, run| drop(builder.spawn(run))),
    ("a task", |builder, run| {
        drop(builder.spawn(|| drop(spawn_task(async { run() }).join())));
    }),
    ("a task on its own", |_, run| {
        drop(spawn_task(async {
            task::inflate().await;
            run();
        }));
    }),
];

/// Lets each performer run each way of waiting within each other way. Returns the number of
/// combinations.
fn everywhere(run: impl Fn(Box<dyn FnOnce(Wait) + Send>) -> Run) -> usize {
    let mut count = 0;
    for (who, perform) in PERFORMERS {
        for (outer, outside) in WAYS {
            for (inner, inside) in WAYS {
                let builder = fiber::Builder::new().name(format!("{who}: {inner} in {outer}"));
                let way = move |wait: Wait| outside(Arc::new(move || inside(wait.clone())));
                perform(builder, run(Box::new(way)));
                count += 1;
            }
        }
    }
    count
}

fn start(domains: usize) -> Runtime {
    let builder = Runtime::builder().domains(domains).panic_policy(PanicPolicy::Ignore);
    builder.stall_report(None).start().unwrap()
}

fn until(count: &AtomicUsize, reached: usize) {
    while count.load(Ordering::SeqCst) < reached {
        fiber::yield_now();
    }
}

#[test]
fn all_are_unwound() {
    let _watched = watched();
    for domains in [1, 2] {
        let [begun, inner, outer] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
        let runtime = start(domains);
        let counts = [begun.clone(), inner.clone(), outer.clone()];
        let count = runtime.run(move || {
            let [begun, inner, outer] = counts;
            let began = begun.clone();
            let wait: Wait = Arc::new(move || {
                let _unwound = OnDrop(|| _ = inner.fetch_add(1, Ordering::SeqCst));
                began.fetch_add(1, Ordering::SeqCst);
                never().sync()
            });
            let count = everywhere(|way| {
                let (outer, wait) = (outer.clone(), wait.clone());
                Box::new(move || {
                    let _unwound = OnDrop(|| _ = outer.fetch_add(1, Ordering::SeqCst));
                    way(wait);
                })
            });
            until(&begun, count);
            count
        });
        let shutdown = runtime.shutdown(Duration::from_secs(60));
        assert!(shutdown.is_clean(), "{shutdown}");
        let [inner, outer] = [inner, outer].map(|unwound| unwound.load(Ordering::SeqCst));
        assert_eq!((inner, outer), (count, count));
    }
}

/// A panic that is raised again would end the process. The waits end when another fiber is unwound.
#[test]
fn those_in_destructors_of_a_panic_complete() {
    let _watched = watched();
    for domains in [1, 2] {
        let [begun, completed] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let runtime = start(domains);
        let counts = [begun.clone(), completed.clone()];
        let count = runtime.run(move || {
            let [begun, completed] = counts;
            let answer = Arc::new(Condition::new());
            let answers = answer.clone();
            drop(spawn_on(0, move || {
                let _answers = OnDrop(|| _ = answers.signal());
                never::<()>().sync();
            }));
            let began = begun.clone();
            let wait: Wait = Arc::new(move || {
                began.fetch_add(1, Ordering::SeqCst);
                answer.wait();
            });
            let count = everywhere(|way| {
                let (completed, wait) = (completed.clone(), wait.clone());
                Box::new(move || {
                    let mut way = Some(way);
                    let _waits = OnDrop(|| {
                        way.take().expect("it is dropped once")(wait.clone());
                        completed.fetch_add(1, Ordering::SeqCst);
                    });
                    quiet_panic()
                })
            });
            until(&begun, count);
            count
        });
        let shutdown = runtime.shutdown(Duration::from_secs(60));
        assert!(shutdown.is_clean(), "{shutdown}");
        assert_eq!(completed.load(Ordering::SeqCst), count);
    }
}
