//! Loom models of a recycled task's state word: the life of a task.
//!
//! A thread that is told to queue the task runs it at once, as a domain does. Only the word orders
//! the threads' steps: the body is a cell that loom watches, and the task waits for relaxed marks.

use super::super::recycled::TaskWord;
use crate::loom_models::{explore, join_all, spawn_with};
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::sync::Notify;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The content of the slot.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Body {
    Future,
    Result,
    Dropped,
    Freed,
}

/// A task that waits for some marks.
struct Model {
    state: TaskWord,
    body: UnsafeCell<Body>,
    marks: Vec<AtomicBool>,
    /// The number of times it has ended.
    ends: AtomicUsize,
    /// It has been handed over to another thread, in order, as by a queue.
    handed_over: AtomicBool,
    elsewhere: Notify,
}

/// The result of a turn.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Parked,
    /// The flag is `true` if the memory belongs to the caller.
    Ended(bool),
    Left,
}

impl Model {
    fn new(marks: usize) -> Arc<Self> {
        let model = Model {
            state: TaskWord::vacant(),
            body: UnsafeCell::new(Body::Future),
            marks: (0..marks).map(|_| AtomicBool::new(false)).collect(),
            ends: AtomicUsize::new(0),
            handed_over: AtomicBool::new(false),
            elsewhere: Notify::new(),
        };
        model.state.begin();
        Arc::new(model)
    }

    /// Exclusive access, as loom sees it.
    fn put(&self, body: Body) {
        // SAFETY: loom checks that there is no other access.
        self.body.with_mut(|place| unsafe { *place = body });
    }

    fn body(&self) -> Body {
        // SAFETY: loom checks that there is no writer.
        self.body.with(|place| unsafe { *place })
    }

    /// Runs a turn of the task here. If it `leaves`, its first poll returns to continue elsewhere,
    /// without a look at the awaited state.
    fn turn(&self, mut leaves: bool) -> Turn {
        loop {
            assert_eq!(self.body(), Body::Future);
            if self.state.is_cancelled() {
                return self.end(Body::Dropped);
            }
            self.put(Body::Future);
            if std::mem::take(&mut leaves) {
                self.state.absorb();
                return Turn::Left;
            }
            if self.marks.iter().all(|mark| mark.load(Ordering::Relaxed)) {
                return self.end(Body::Result);
            }
            if self.state.park() {
                return Turn::Parked;
            }
            self.state.absorb();
        }
    }

    fn end(&self, body: Body) -> Turn {
        self.put(body);
        self.ends.fetch_add(1, Ordering::Relaxed);
        let is_ours = self.state.finish();
        if is_ours {
            self.put(Body::Freed);
        }
        Turn::Ended(is_ours)
    }

    /// Runs it, if `is_ours` to queue.
    fn resume(&self, is_ours: bool) {
        if is_ours {
            self.turn(false);
        }
    }

    fn mark_and_wake(&self, mark: usize) {
        self.marks[mark].store(true, Ordering::Relaxed);
        self.resume(self.state.wake());
    }

    fn hand_over(&self) {
        self.handed_over.store(true, Ordering::Release);
        self.elsewhere.notify();
    }

    fn take_over(&self) {
        while !self.handed_over.load(Ordering::Acquire) {
            self.elsewhere.wait();
        }
    }

    /// Checks the end state. All other threads are done.
    fn ends_with(&self, bodies: &[Body]) {
        assert_eq!(self.ends.load(Ordering::Relaxed), 1, "it ends once");
        let body = self.body();
        assert!(bodies.contains(&body), "{body:?}");
    }
}

/// Runs each of `others` on a thread of its own, and `here` beside them.
fn beside(model: &Arc<Model>, others: &[fn(&Model)], here: impl FnOnce()) {
    let others: Vec<_> = others.iter().map(|&other| spawn_with(model, other)).collect();
    here();
    join_all(others);
}

#[test]
fn a_wake_beside_the_reification_is_not_lost() {
    explore(3, || {
        let model = Model::new(1);
        beside(&model, &[|model| model.mark_and_wake(0)], || drop(model.turn(false)));
        model.ends_with(&[Body::Result]);
    });
}

/// The task has seen the steps before each of the wakes, whichever of them has made it run.
#[test]
fn of_two_wakes_one_runs_it_and_both_count() {
    explore(3, || {
        let model = Model::new(2);
        let wakes: [fn(&Model); 2] = [|model| model.mark_and_wake(0), |model| model.mark_and_wake(1)];
        beside(&model, &wakes, || drop(model.turn(false)));
        model.ends_with(&[Body::Result]);
    });
}

/// It is parked; one thread wakes it and runs it, another cancels it.
#[test]
fn it_migrates_or_is_cancelled() {
    explore(4, || {
        let model = Model::new(2);
        model.marks[1].store(true, Ordering::Relaxed);
        assert_eq!(model.turn(false), Turn::Parked);
        let others: [fn(&Model); 2] =
            [|model| model.mark_and_wake(0), |model| model.resume(model.state.cancel())];
        beside(&model, &others, || ());
        model.ends_with(&[Body::Result, Body::Dropped]);
    });
}

/// It is cancelled while it runs, parks, and is woken spuriously.
#[test]
fn a_cancellation_reaches_it_wherever_it_is() {
    explore(3, || {
        let model = Model::new(1);
        let others: [fn(&Model); 2] =
            [|model| model.resume(model.state.cancel()), |model| model.resume(model.state.wake())];
        beside(&model, &others, || drop(model.turn(false)));
        model.ends_with(&[Body::Dropped]);
    });
}

/// It leaves the stack on which it runs, woken or not at that moment, and continues elsewhere.
#[test]
fn one_that_leaves_is_run_once() {
    explore(3, || {
        let model = Model::new(1);
        let others: [fn(&Model); 2] = [
            |model| model.mark_and_wake(0),
            |model| {
                model.take_over();
                model.resume(true);
            },
        ];
        beside(&model, &others, || {
            assert_eq!(model.turn(true), Turn::Left);
            model.hand_over();
        });
        model.ends_with(&[Body::Result]);
    });
}

/// It is parked; one thread claims it to queue it, another wakes it.
#[test]
fn one_that_is_inflated_while_parked_is_run_once() {
    explore(4, || {
        let model = Model::new(1);
        assert_eq!(model.turn(false), Turn::Parked);
        let inflates = |model: &Model| {
            if model.state.claim() {
                model.put(Body::Future);
                model.state.absorb();
                model.resume(true);
            }
        };
        let others: [fn(&Model); 2] = [|model| model.mark_and_wake(0), inflates];
        beside(&model, &others, || ());
        model.ends_with(&[Body::Result]);
    });
}

/// A thread that inspects the task's wait owns the task for that time.
#[test]
fn nobody_runs_it_while_it_is_looked_at() {
    explore(3, || {
        let model = Model::new(1);
        let looks = |model: &Model| {
            if model.state.claim() {
                assert_eq!(model.body(), Body::Future);
                if !model.state.park() {
                    model.state.absorb();
                    model.resume(true);
                }
            }
        };
        let others: [fn(&Model); 2] = [|model| model.mark_and_wake(0), looks];
        beside(&model, &others, || drop(model.turn(false)));
        model.ends_with(&[Body::Result]);
    });
}

/// The handle is dropped as the task ends, before or after a look at the result.
#[test]
fn its_memory_is_freed_once() {
    explore(4, || {
        let model = Model::new(1);
        assert_eq!(model.turn(false), Turn::Parked);
        beside(&model, &[|model| model.mark_and_wake(0)], || {
            if model.state.detach() {
                assert_eq!(model.body(), Body::Result);
                model.put(Body::Freed);
            }
        });
        model.ends_with(&[Body::Freed]);
    });
}

/// A claim of a parked task does not fail because its handle is dropped at the same time.
#[test]
fn one_that_is_detached_beside_it_is_claimed() {
    explore(4, || {
        let model = Model::new(1);
        model.marks[0].store(true, Ordering::Relaxed);
        assert!(model.state.park());
        let claims = |model: &Model| {
            assert!(model.state.claim(), "it was parked");
            model.resume(true);
        };
        beside(&model, &[claims], || {
            if model.state.detach() {
                model.put(Body::Freed);
            }
        });
        model.ends_with(&[Body::Freed]);
    });
}

/// A late wake finds a vacant place, or another task, which it wakes spuriously. The pages of the
/// place may have been released meanwhile, which leaves zeros.
#[test]
fn a_late_wake_finds_nobody_or_another() {
    explore(3, || {
        let model = Model::new(1);
        let others: [fn(&Model); 2] = [
            |model| model.resume(model.state.wake()),
            |model| {
                model.take_over();
                model.mark_and_wake(0);
            },
        ];
        beside(&model, &others, || {
            model.put(Body::Result);
            model.state.vacate();
            model.state.vacate();
            model.put(Body::Future);
            model.state.begin();
            model.hand_over();
            model.turn(false);
        });
        model.ends_with(&[Body::Result]);
    });
}
