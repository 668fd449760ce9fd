//! A kept computation refers to the locals of its fiber, task or thread. It must not run any more
//! when those are dropped.

use crate::support::{Canary, Looks, Yield, begin};
use lisle::effect::{Suspended, perform};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

fn note(dead: &AtomicU32, is_alive: bool) {
    dead.fetch_add(u32::from(!is_alive), Ordering::SeqCst);
}

type Kept = RefCell<Option<Suspended<(), ()>>>;

mod of_a_fiber {
    use super::*;

    lisle::fiber_local! {
        static KEPT: Kept = RefCell::new(None);
        static CANARY: Canary = Canary::new();
    }
    static DEAD: AtomicU32 = AtomicU32::new(0);

    /// The locals of a fiber are dropped one after another: a computation that one keeps may refer
    /// to another.
    #[test]
    fn a_local_that_keeps_what_refers_to_another() {
        lisle::run(|| {
            let fiber = lisle::spawn(|| {
                KEPT.with(|_| ()); // made first, so dropped last
                let kept = begin(|| {
                    CANARY.with(|canary| {
                        let _looks = Looks(canary, |is_alive| note(&DEAD, is_alive));
                        perform(Yield);
                    });
                });
                KEPT.with(|slot| *slot.borrow_mut() = kept);
            });
            fiber.join().unwrap();
        });
        assert_eq!(DEAD.load(Ordering::SeqCst), 0);
    }
}

mod of_a_thread {
    use super::*;

    thread_local! {
        static KEPT: Kept = const { RefCell::new(None) };
        static CANARY: Box<Canary> = Box::new(Canary::new());
    }
    static DEAD: AtomicU32 = AtomicU32::new(0);

    /// The same for the values of `thread_local!`.
    #[test]
    fn a_local_that_keeps_what_refers_to_another() {
        for keeps_first in [true, false] {
            let thread = std::thread::spawn(move || {
                KEPT.with(|_| ()); // made first, so dropped last
                if !keeps_first {
                    drop(begin(|| perform(Yield)));
                }
                let kept = begin(|| {
                    CANARY.with(|canary| {
                        let _looks = Looks(canary, |is_alive| note(&DEAD, is_alive));
                        perform(Yield);
                    });
                });
                KEPT.with(|slot| *slot.borrow_mut() = kept);
            });
            thread.join().unwrap();
            assert_eq!(DEAD.load(Ordering::SeqCst), 0, "keeps first: {keeps_first}");
        }
    }
}

mod of_a_task {
    use super::*;
    use crate::support::message_of;
    use lisle::Runtime;
    use std::collections::HashSet;

    thread_local! {
        static KEPT: RefCell<Vec<Suspended<(), ()>>> = const { RefCell::new(Vec::new()) };
    }
    lisle::fiber_local! {
        static CANARY: Canary = Canary::new();
    }
    static DEAD: AtomicU32 = AtomicU32::new(0);
    static RESUMED: AtomicU32 = AtomicU32::new(0);

    /// Leaves computations of many fibers that have ended on this thread.
    fn leave_some(domain: usize) {
        for _ in 0..200 {
            lisle::fiber::spawn_on(domain, || {
                let kept = begin(|| {
                    CANARY.with(|canary| {
                        perform(Yield);
                        DEAD.fetch_add(u32::from(!canary.is_alive()), Ordering::SeqCst);
                    });
                });
                KEPT.with(|all| all.borrow_mut().extend(kept));
            })
            .join()
            .unwrap();
        }
    }

    /// A task comes to another thread, where fibers have been that are counted likewise.
    #[test]
    fn a_task_that_moves_is_not_taken_for_a_fiber() {
        Runtime::builder().domains(2).run(|| {
            // The task begins here, on the domain 0, where there has been none.
            lisle::fiber::spawn_on(1, || leave_some(1)).join().unwrap();
            let (tx, rx) = lisle::channel::<()>();
            let task = lisle::spawn_task(async move {
                drop(begin(|| perform(Yield))); // has a home from now on
                let mut seen = HashSet::new();
                while seen.len() < 2 {
                    seen.insert(std::thread::current().id());
                    for kept in KEPT.take() {
                        let message = message_of(|| {
                            kept.resume(());
                            RESUMED.fetch_add(1, Ordering::SeqCst);
                            panic!("resumed");
                        });
                        assert!(message.contains("does not belong") || message == "resumed", "{message}");
                    }
                    rx.recv_evt().await.unwrap();
                }
            });
            for domain in [0, 1].into_iter().cycle() {
                let tx = tx.clone();
                if lisle::fiber::spawn_on(domain, move || tx.send(())).join().unwrap().is_err() {
                    break;
                }
            }
            task.join().unwrap();
        });
        assert_eq!((RESUMED.load(Ordering::SeqCst), DEAD.load(Ordering::SeqCst)), (0, 0));
    }
    /// A task that waits goes on on another stack. A computation that it has kept may refer to the
    /// locals of the fiber in which it was polled before, and does not go on.
    #[test]
    fn a_task_that_goes_on_elsewhere_leaves_what_it_has_kept() {
        let message = Runtime::builder().domains(1).run(|| {
            let begins_here = lisle::spawn(|| {
                lisle::spawn_task(async {
                    KEPT.with_borrow_mut(|all| all.extend(begin(|| CANARY.with(|_| perform(Yield)))));
                    let own = begin(|| perform(Yield)).unwrap();
                    own.resume(());
                    lisle::task::yield_now().await;
                    message_of(|| KEPT.take().remove(0).resume(()))
                })
            });
            begins_here.join().unwrap().join().unwrap()
        });
        assert!(message.contains("is resumed in a task to which it does not belong"), "{message}");
    }
}
