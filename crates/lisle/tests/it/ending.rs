//! The end of fibers, and the things that must not end with them: destructors that wait, frames
//! that cannot be unwound, and values that others still borrow.

mod leavings;
mod payloads;
mod plain_threads;
mod raised_again;

use crate::support::{Cx, watched, worlds};
use lisle::sync::{Condition, Mutex};
use lisle::{Event, Report, Runtime, channel, fiber, never, par};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

worlds!(a_destructor_waits_while_a_panic_unwinds, destructors_wait_for_each_other_in_panics);

/// Calls its function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics without a message on standard error.
fn quiet_panic() -> ! {
    resume_unwind(Box::new("on purpose"))
}

fn set(flag: &AtomicBool) {
    flag.store(true, Ordering::SeqCst);
}

fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::SeqCst)
}

/// The lock that the destructor wants is held by a performer that waits for a message.
async fn a_destructor_waits_while_a_panic_unwinds(cx: Cx) {
    let (lock, (tx, rx)) = (Arc::new(Mutex::new(0)), channel::<()>());
    let (held, is_held) = channel::<()>();
    let holder = {
        let lock = lock.clone();
        cx.spawn(move |cx| async move {
            // In place, since a guard is not `Send`.
            cx.go_apart().await;
            let mut guard = lock.lock();
            held.send(()).unwrap();
            rx.recv().unwrap();
            *guard += 1;
        })
    };
    cx.sync(is_held.recv_evt()).await.unwrap();
    let failing = {
        let lock = lock.clone();
        cx.spawn(move |cx| async move {
            cx.go_apart().await;
            let _locks = OnDrop(|| *lock.lock() *= 10);
            quiet_panic()
        })
    };
    // Most likely the destructor waits by now. If it does not, it has less to wait for.
    for _ in 0..10 {
        cx.yield_now().await;
    }
    cx.sync(tx.send_evt(())).await.unwrap();
    cx.join(holder).await;
    assert!(cx.join_caught::<()>(failing).await.is_err());
    assert_eq!(*lock.lock(), 10);
}

/// Each one waits while it unwinds until the next has begun to unwind, and panics and catches that
/// in between.
async fn destructors_wait_for_each_other_in_panics(cx: Cx) {
    const COUNT: usize = 8;
    let begun: Arc<[Condition]> = (0..COUNT).map(|_| Condition::new()).collect();
    let failing: Vec<_> = (0..COUNT)
        .map(|i| {
            let begun = begun.clone();
            cx.spawn(move |cx| async move {
                cx.go_apart().await;
                let _waits = OnDrop(|| {
                    begun[i].signal();
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        begun[(i + 1) % COUNT].wait();
                        quiet_panic()
                    }));
                    assert!(caught.is_err());
                });
                quiet_panic()
            })
        })
        .collect();
    for fiber in failing {
        assert!(cx.join_caught::<()>(fiber).await.is_err());
    }
}

/// Correct code whose runtime ends regularly: fibers have to lock while they unwind.
#[test]
fn destructors_lock_when_the_runtime_ends() {
    const COUNT: usize = 50;
    let _watched = watched();
    for domains in [1, 2, 8] {
        let (registry, left) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (registered, leaving) = (registry.clone(), left.clone());
        let runtime = Runtime::builder().domains(domains).shutdown_deadline(Duration::from_secs(60));
        runtime.run(move || {
            let ((go, gone), (locks, locked)) = (channel::<()>(), channel::<()>());
            let lock = registered.clone();
            // The oldest fiber is unwound last, so all others wait for its lock.
            drop(lisle::spawn(move || {
                gone.recv().unwrap();
                let _registry = lock.lock();
                locks.send(()).unwrap();
                never::<()>().sync()
            }));
            for i in 0..COUNT {
                let (registry, left) = (registered.clone(), leaving.clone());
                drop(lisle::spawn(move || {
                    registry.lock().push(i);
                    let _leaves = OnDrop(|| {
                        registry.lock().retain(|there| *there != i);
                        left.fetch_add(1, Ordering::SeqCst);
                    });
                    never::<()>().sync()
                }));
            }
            while registered.lock().len() < COUNT {
                fiber::yield_now();
            }
            go.send(()).unwrap();
            locked.recv().unwrap();
        });
        assert_eq!(left.load(Ordering::SeqCst), COUNT);
        assert!(registry.lock().is_empty());
    }
}

/// Calls `f` from foreign code, through which a panic cannot unwind.
fn from_foreign_code(mut f: impl FnMut()) {
    type Call<'a> = &'a mut dyn FnMut();
    thread_local! {
        static CALL: RefCell<Vec<*mut c_void>> = const { RefCell::new(Vec::new()) };
    }
    extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
        let call = CALL.with_borrow_mut(Vec::pop);
        if let Some(call) = call {
            // SAFETY: the caller of `qsort` has just pushed the pointer. It owns the closure and
            // waits for this call.
            let call = unsafe { &mut *call.cast::<Call<'_>>() };
            call();
        }
        0
    }
    let mut call: Call<'_> = &mut f;
    CALL.with_borrow_mut(|calls| calls.push((&raw mut call).cast()));
    let mut numbers = [2_u32, 1];
    // SAFETY: there are two elements of this size, and the comparison reads none of them.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(compare)) };
}

/// A fiber waits in a callback, and another fiber that ends wakes it.
#[test]
fn a_fiber_in_a_callback_waits_though_the_runtime_ends() {
    let _watched = watched();
    for domains in [1, 2] {
        let completed = Arc::new(AtomicBool::new(false));
        let complete = completed.clone();
        Runtime::builder().domains(domains).shutdown_deadline(Duration::from_secs(60)).run(move || {
            let (tx, rx) = channel::<()>();
            let (waits, is_waiting) = channel::<()>();
            // Its end closes the channel. It is the older one, and would be unwound after the
            // other.
            let waits_first = waits.clone();
            drop(lisle::fiber::spawn_on(0, move || {
                let _tx = tx;
                waits_first.send(()).unwrap();
                never::<()>().sync()
            }));
            is_waiting.recv().unwrap();
            drop(lisle::fiber::spawn_on(domains - 1, move || {
                from_foreign_code(|| {
                    waits.send(()).unwrap();
                    rx.recv().unwrap_err();
                });
                set(&complete);
            }));
            is_waiting.recv().unwrap();
            fiber::yield_now();
        });
        assert!(is_set(&completed));
    }
}

/// Nothing wakes the fiber: it is left where it is, and named in the report.
#[test]
fn a_fiber_that_cannot_be_unwound_is_left_and_named() {
    let _watched = watched();
    for in_destructor in [false, true] {
        let runtime = Runtime::builder().domains(2).start().unwrap();
        let (tx, rx) = channel::<()>();
        let (waits, is_waiting) = channel::<()>();
        let fiber = runtime.run(move || {
            fiber::Builder::new().name("unmovable").spawn(move || {
                let wait = || {
                    waits.send(()).unwrap();
                    let _ = rx.recv();
                };
                if in_destructor {
                    let _waits = OnDrop(wait);
                    quiet_panic()
                }
                from_foreign_code(wait);
            })
        });
        is_waiting.recv().unwrap();
        let shutdown = runtime.shutdown(Duration::from_millis(200));
        assert_eq!(shutdown.unfinished, 1, "{shutdown}");
        let [straggler] = &shutdown.stragglers[..] else { panic!("{shutdown}") };
        assert_eq!(straggler.name.as_deref(), Some("unmovable"));
        let waits = straggler.waits.as_ref().expect("it waits");
        assert_eq!(waits[0].operation, "receive from");
        let text = shutdown.to_string();
        assert!(text.starts_with("1 fiber has not ended in time; fiber 'unmovable' (spawned at "), "{text}");
        assert!(text.contains("to receive from a channel (made at "), "{text}");
        // A later wake finds all memory intact.
        drop(tx);
        drop(fiber);
    }
}

/// A part of a join that foreign code has called is interrupted elsewhere. Its owner is left and
/// not unwound.
#[test]
fn a_join_in_a_callback_is_not_unwound_for_its_part() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let (waits, is_waiting) = channel::<()>();
    let fiber = runtime.run(move || {
        lisle::fiber::spawn_on(0, move || {
            from_foreign_code(|| {
                let begun = AtomicBool::new(false);
                let compute_until_it_is_taken = || {
                    while !is_set(&begun) {
                        par::join(|| (), || ());
                    }
                };
                let part = || {
                    set(&begun);
                    waits.send(()).unwrap();
                    never::<()>().sync();
                };
                par::join(compute_until_it_is_taken, part);
            });
        })
    });
    is_waiting.recv().unwrap();
    let shutdown = runtime.shutdown(Duration::from_millis(200));
    assert_eq!(shutdown.unfinished, 1, "{shutdown}");
    drop(fiber);
}

/// A task that has not begun when the time is over is dropped, and must not wait then.
#[test]
fn what_has_not_begun_in_time_may_not_wait_as_it_is_dropped() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let released = Arc::new(AtomicBool::new(false));
    let (told, learned) = std::sync::mpsc::channel();
    let release = released.clone();
    let (begins, has_begun) = channel::<()>();
    let computes = runtime.spawn(move || {
        begins.send(()).unwrap();
        while !is_set(&release) {
            std::hint::spin_loop();
        }
    });
    has_begun.recv().unwrap();
    let (tx, rx) = channel::<()>();
    let waits = OnDrop(move || {
        told.send(()).unwrap();
        let _ = rx.recv();
    });
    let never_begins = runtime.spawn(move || drop(waits));
    let shutdown = runtime.shutdown(Duration::ZERO);
    assert_eq!(shutdown.unfinished, 2, "{shutdown}");
    set(&released);
    learned.recv().unwrap();
    let panic = never_begins.join().unwrap_err().into_panic().unwrap();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("had no time left for a fiber spawned at"), "{text}");
    drop((computes, tx));
}

/// The progress of a fiber that lends and of one that borrows.
#[derive(Default)]
struct Loan {
    begun: AtomicBool,
    released: AtomicBool,
    ended: AtomicBool,
    interrupts: AtomicUsize,
}

impl Loan {
    /// Refuses to be unwound as long as another fiber borrows.
    fn lend(&self) {
        while !is_set(&self.ended) {
            assert!(catch_unwind(AssertUnwindSafe(|| never::<()>().sync())).is_err());
            self.interrupts.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn borrow(&self) {
        set(&self.begun);
        while !is_set(&self.released) {
            fiber::yield_now();
        }
        set(&self.ended);
    }

    /// Lends inside a half of a join or the like, after another domain has taken the other half.
    fn compute_and_lend(&self) {
        fn halves(depth: u32) {
            if depth > 0 {
                par::join(|| halves(depth - 1), || halves(depth - 1));
            }
        }
        while !is_set(&self.begun) {
            halves(8);
        }
        self.lend();
    }
}

/// A value that a fiber lends must stay until its borrowers have ended, however that fiber reacts
/// to being unwound. The lender is not the function's own fiber, but one that is left when the
/// function returns.
fn lends_until_it_is_given_back(domains: usize, transact: fn(&Loan)) {
    let _watched = watched();
    let loan = Arc::new(Loan::default());
    let releaser = loan.clone();
    let releaser = std::thread::spawn(move || {
        // The runtime has no time for its end, so that time is over when a fiber is interrupted for
        // the second time.
        while releaser.interrupts.load(Ordering::SeqCst) < 100 {
            std::thread::yield_now();
        }
        set(&releaser.released);
    });
    let lenders = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = lenders.clone();
    let runtime =
        Runtime::builder().domains(domains).shutdown_deadline(Duration::ZERO).on_report(move |report| {
            if let Report::Staying(fibers) = report {
                told.lock().unwrap().extend_from_slice(fibers);
            }
        });
    let inner = loan.clone();
    runtime.run(move || {
        let transacting = inner.clone();
        drop(lisle::fiber::spawn_on(0, move || transact(&transacting)));
        while !is_set(&inner.begun) {
            fiber::yield_now();
        }
    });
    assert!(is_set(&loan.ended), "the runtime has ended under those that borrow");
    let lenders = lenders.lock().unwrap();
    assert!(lenders.iter().any(|lender| lender.contains("ending.rs:")), "{lenders:?}");
    releaser.join().unwrap();
}

#[test]
fn a_runtime_does_not_end_while_a_scope_is_open() {
    for domains in [1, 2] {
        lends_until_it_is_given_back(domains, |loan| {
            fiber::scope(|scope| {
                scope.spawn(|| loan.borrow());
                loan.lend();
            });
        });
    }
}

#[test]
fn a_runtime_does_not_end_while_a_join_is_open() {
    lends_until_it_is_given_back(2, |loan| {
        par::join(|| loan.compute_and_lend(), || loan.borrow());
    });
}

#[test]
fn a_runtime_does_not_end_while_a_scope_of_tasks_is_open() {
    lends_until_it_is_given_back(2, |loan| {
        par::scope(|scope| {
            let borrower = scope.spawn(|| loan.borrow());
            loan.compute_and_lend();
            borrower.wait();
        });
    });
}

#[test]
fn a_runtime_does_not_end_while_a_loop_is_open() {
    use lisle::par::prelude::*;
    lends_until_it_is_given_back(2, |loan| {
        (0..2_usize).into_par_iter().grain(1).for_each(|i| match i {
            0 => loan.compute_and_lend(),
            _ => loan.borrow(),
        });
    });
}

/// A server catches every panic of a request, and lends a value that belongs to its thread.
#[test]
fn a_server_that_catches_everything_is_not_left_with_open_scopes() {
    thread_local! {
        static LOG: std::sync::Mutex<Vec<u32>> = const { std::sync::Mutex::new(Vec::new()) };
    }
    lends_until_it_is_given_back(2, |loan| {
        LOG.with(|log| {
            fiber::scope(|scope| {
                scope.spawn(|| {
                    log.lock().unwrap().push(1);
                    loan.borrow();
                    log.lock().unwrap().push(2);
                });
                loan.lend();
            });
            assert_eq!(*log.lock().unwrap(), [1, 2]);
        });
    });
}
