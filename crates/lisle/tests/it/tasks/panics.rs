//! A panic stays in its task, and continues in the joiner.

use super::{Then, come_back, everywhere, until};
use crate::support::on_domains;
use lisle::{PanicPolicy, Runtime, channel, spawn_task};
use std::any::Any;
use std::panic::{catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn text(panic: Box<dyn Any + Send>) -> String {
    *panic
        .downcast::<&'static str>()
        .map(|text| Box::new((*text).to_owned()))
        .or_else(|panic| panic.downcast())
        .expect("text")
}

/// Panics without a message on standard error.
fn throw(what: &'static str) -> ! {
    resume_unwind(Box::new(what))
}

/// Runs `future` as a task, and returns its panic.
fn of<T: Send + std::fmt::Debug + 'static>(future: impl Future<Output = T> + Send + 'static) -> String {
    let error = spawn_task(future).join().unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled());
    text(error.into_panic().unwrap())
}

#[test]
fn a_panic_reaches_the_joiner() {
    everywhere(|| {
        assert_eq!(of(async { throw("at once") as () }), "at once");
        let later = async {
            come_back().await;
            throw("later")
        };
        assert_eq!(of::<()>(later), "later");
        let (tx, rx) = channel::<()>();
        let elsewhere = spawn_task(async move {
            rx.recv_evt().await.unwrap();
            throw("elsewhere") as ()
        });
        // It continues independently, and the sender does not notice its panic.
        lisle::spawn(move || tx.send(()).unwrap()).join().unwrap();
        assert_eq!(text(elsewhere.join().unwrap_err().into_panic().unwrap()), "elsewhere");
        let nested = async {
            let inner = spawn_task(async { throw("inner") as () });
            text(inner.await.unwrap_err().into_panic().unwrap())
        };
        assert_eq!(spawn_task(nested).join().unwrap(), "inner");
    });
}

#[test]
fn a_panic_that_nobody_joins_harms_nobody() {
    let ignores = || Runtime::builder().panic_policy(PanicPolicy::Ignore).stall_report(None);
    for domains in [1, 2, 8] {
        ignores().domains(domains).run(|| {
            for round in 0..100 {
                drop(spawn_task(async { throw("at once") as () }));
                drop(spawn_task(async {
                    come_back().await;
                    throw("later") as ()
                }));
                assert_eq!(spawn_task(async move { round }).join().unwrap(), round);
            }
        });
    }
}

/// The future's destructor panics: after the future has ended, after it has panicked, and when it
/// is cancelled.
#[test]
fn a_panic_of_the_futures_destructor() {
    everywhere(|| {
        for waits in [false, true] {
            // A future whose destructor runs after it has returned its value.
            struct Ends(bool);
            impl Future for Ends {
                type Output = u32;
                fn poll(
                    mut self: std::pin::Pin<&mut Self>,
                    context: &mut std::task::Context<'_>,
                ) -> std::task::Poll<u32> {
                    if std::mem::take(&mut self.0) {
                        context.waker().wake_by_ref();
                        return std::task::Poll::Pending;
                    }
                    std::task::Poll::Ready(1)
                }
            }
            impl Drop for Ends {
                fn drop(&mut self) {
                    throw("in its destructor");
                }
            }
            assert_eq!(of(Ends(waits)), "in its destructor");
            // While a body unwinds, a second panic would end the process. Therefore the first panic
            // here is one of the poll.
            struct Both(Ends);
            impl Future for Both {
                type Output = ();
                fn poll(
                    mut self: std::pin::Pin<&mut Self>,
                    context: &mut std::task::Context<'_>,
                ) -> std::task::Poll<()> {
                    match std::pin::Pin::new(&mut self.0).poll(context) {
                        std::task::Poll::Pending => std::task::Poll::Pending,
                        std::task::Poll::Ready(_) => throw("in its poll"),
                    }
                }
            }
            assert_eq!(of(Both(Ends(waits))), "in its poll");
        }
    });
}

/// Both the future and its value have destructors that panic.
#[test]
fn a_panic_of_a_value_that_is_lost_to_a_panic() {
    struct Value;
    impl Drop for Value {
        fn drop(&mut self) {
            throw("the value's");
        }
    }
    struct Gives(bool);
    impl Future for Gives {
        type Output = Value;
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Value> {
            if std::mem::take(&mut self.0) {
                context.waker().wake_by_ref();
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(Value)
        }
    }
    impl Drop for Gives {
        fn drop(&mut self) {
            throw("the future's");
        }
    }
    everywhere(|| {
        for waits in [false, true] {
            let error = spawn_task(Gives(waits)).join().map(std::mem::forget).unwrap_err();
            assert_eq!(text(error.into_panic().unwrap()), "the future's");
        }
    });
}

/// The panic of the result's destructor goes to the code that drops the result: the joiner, or
/// nothing if the task is detached.
#[test]
fn a_panic_of_the_results_destructor() {
    let case = || {
        for waits in [false, true] {
            let dropped = Arc::new(AtomicBool::new(false));
            let spawn = || {
                let dropped = dropped.clone();
                spawn_task(async move {
                    if waits {
                        come_back().await;
                    }
                    Then(move || {
                        dropped.store(true, Ordering::SeqCst);
                        throw("the result's")
                    })
                })
            };
            let result = spawn().join().unwrap();
            assert_eq!(
                text(catch_unwind(std::panic::AssertUnwindSafe(|| drop(result))).unwrap_err()),
                "the result's"
            );
            assert!(dropped.swap(false, Ordering::SeqCst));
            // The result is dropped where the task ends, or with its handle.
            drop(spawn());
            until(|| dropped.swap(false, Ordering::SeqCst));
            let task = spawn();
            until(|| task.is_finished());
            drop(task);
            until(|| dropped.swap(false, Ordering::SeqCst));
        }
    };
    for domains in [1, 2, 8] {
        Runtime::builder().domains(domains).panic_policy(PanicPolicy::Ignore).run(case);
    }
}

/// A task that is not joined panics with a payload whose destructor panics.
#[test]
fn a_panic_whose_payload_panics() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            throw("the payload's");
        }
    }
    for domains in [1, 3] {
        Runtime::builder().domains(domains).panic_policy(PanicPolicy::Ignore).run(|| {
            drop(spawn_task(async { resume_unwind(Box::new(Payload)) as () }));
            drop(spawn_task(async {
                come_back().await;
                resume_unwind(Box::new(Payload)) as ()
            }));
            let outcome = catch_unwind(|| {
                lisle::fiber::scope(|scope| {
                    scope.spawn_task(async {
                        come_back().await;
                        resume_unwind(Box::new(Payload)) as ()
                    });
                });
            });
            assert!(outcome.is_err());
            assert_eq!(spawn_task(async { 1 }).join().unwrap(), 1);
        });
    }
}

/// The task is spawned by code that unwinds.
#[test]
fn one_that_is_spawned_while_unwinding() {
    everywhere(|| {
        let sum = Arc::new(std::sync::Mutex::new(0));
        let sums = sum.clone();
        let outcome = catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _then = Then(move || *sums.lock().unwrap() += spawn_task(async { 5 }).join().unwrap());
            throw("outside")
        }));
        assert_eq!(text(outcome.map(|(): ()| ()).unwrap_err()), "outside");
        assert_eq!(*sum.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), 5);
    });
}

#[test]
fn any_payload_arrives() {
    on_domains(|| {
        let error = spawn_task(async {
            come_back().await;
            if true {
                resume_unwind(Box::new(vec![1, 2, 3]));
            }
            panic_any(1)
        });
        let error: Result<(), _> = error.join();
        let payload = error.unwrap_err().into_panic().unwrap();
        assert_eq!(*payload.downcast::<Vec<i32>>().unwrap(), [1, 2, 3]);
    });
}
