//! Computations that wait when their task or thread ends are left as they are. Their frames may have
//! lent its locals to the threads or fibers of a scope. So these locals stay, too. Locals to which
//! nothing can refer are dropped as ever.

use crate::kept::{Wait, Waiting, begin};
use lisle::Runtime;
use lisle::effect::{Generator, generator};
use lisle::fiber::{self, Hooks, Moment, Switch};
use lisle::task::yield_now;
use std::cell::RefCell;
use std::mem::forget;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A value of a local that tells whether it has been dropped.
struct Lent(&'static AtomicBool);

impl Lent {
    fn new() -> Self {
        Lent(Box::leak(Box::new(AtomicBool::new(true))))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

lisle::fiber_local! {
    static OF_FIBER: Lent = Lent::new();
    static KEPT: RefCell<Vec<Waiting>> = RefCell::new(Vec::new());
}
lisle::task_local! {
    static OF_TASK: Lent = Lent::new();
}

/// A thread of a scope, which lies in the frames of a computation.
struct Borrower {
    /// Tells the thread that the locals ought to have gone.
    go: Sender<bool>,
    told: Receiver<bool>,
}

impl Borrower {
    /// Returns `true` if the value that the thread has borrowed is alive.
    fn still_lent(self) -> bool {
        self.go.send(true).unwrap();
        self.told.recv().unwrap()
    }
}

/// Ends the thread if the computation is unwound.
struct Unwound(Sender<bool>);

impl Drop for Unwound {
    fn drop(&mut self) {
        self.0.send(false).unwrap();
    }
}

/// Suspends a computation with a thread that has borrowed the local of the running code. Passes the
/// computation to `keep`. It drops `within` when it is unwound.
fn lend_and<T: 'static>(is_of_task: bool, keep: impl FnOnce(Waiting), within: T) -> Borrower {
    let ((go, goes), (tell, told)) = (channel(), channel());
    let unwound = Unwound(go.clone());
    let scope = move |lent: &Lent| {
        let _within = within;
        // Not the borrowed value is read when it ought to be gone, but its flag: so a failure is no
        // use of freed memory.
        let flag = lent.0;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _borrowed = lent;
                if goes.recv().unwrap() {
                    tell.send(flag.load(Ordering::SeqCst)).unwrap();
                }
            });
            let _unwound = unwound;
            lisle::effect::perform(Wait);
        });
    };
    keep(begin(move || if is_of_task { OF_TASK.with(scope) } else { OF_FIBER.with(scope) }));
    Borrower { go, told }
}

fn lend(is_of_task: bool, keep: impl FnOnce(Waiting)) -> Borrower {
    lend_and(is_of_task, keep, ())
}

thread_local! {
    static OF_THREAD: RefCell<Vec<Waiting>> = const { RefCell::new(Vec::new()) };
}

/// The ways in which a computation is kept for ever.
const WAYS: [fn(Waiting); 3] = [
    forget,
    |kept| OF_THREAD.with_borrow_mut(|all| all.push(kept)),
    |kept| KEPT.with(|all| all.borrow_mut().push(kept)),
];

#[test]
fn the_locals_of_a_thread_stay() {
    for (is_of_task, keep) in [true, false].into_iter().flat_map(|of| WAYS.map(|way| (of, way))) {
        let borrower = std::thread::spawn(move || lend(is_of_task, keep)).join().unwrap();
        assert!(borrower.still_lent());
    }
}

/// One that ends as a part of its spawner, and one that waits, and ends on a runner. Each on a plain
/// thread, and in a fiber.
#[test]
fn the_locals_of_a_task_stay() {
    let lends = |waits: bool| {
        let task = lisle::spawn_task(async move {
            let borrower = lend(true, forget);
            if waits {
                yield_now().await;
            }
            borrower
        });
        task.join().unwrap().still_lent()
    };
    for waits in [false, true] {
        assert!(lends(waits));
        assert!(Runtime::builder().domains(1).run(move || lends(waits)));
    }
}

/// A task uses the fiber-locals of the fiber on whose stack it is polled.
#[test]
fn the_locals_of_a_fiber_stay_for_a_task() {
    let begins_there = || {
        let fiber = lisle::spawn(|| lisle::spawn_task(async { lend(false, forget) }).join().unwrap());
        fiber.join().unwrap().still_lent()
    };
    assert!(Runtime::builder().domains(1).run(begins_there));
    let goes_on = || {
        let task = async {
            yield_now().await;
            lend(false, forget)
        };
        lisle::spawn_task(task).join().unwrap()
    };
    // The runner ends with the runtime.
    assert!(Runtime::builder().domains(1).run(goes_on).still_lent());
    // And a task on a plain thread uses the locals of the thread.
    let plain = || lisle::spawn_task(async { lend(false, forget) }).join().unwrap();
    assert!(std::thread::spawn(plain).join().unwrap().still_lent());
}

/// Hooks have the locals of the fiber, and keep the computations that they suspend on the thread.
#[test]
fn the_locals_of_a_fiber_stay_for_hooks() {
    struct Lends(Sender<Borrower>, Moment);
    impl Hooks for Lends {
        type Local = ();
        fn resumed(&self, switch: &Switch<'_>, (): &mut ()) {
            self.suspended(switch, &mut ());
        }
        fn suspended(&self, switch: &Switch<'_>, (): &mut ()) {
            if switch.name().is_some() && switch.moment() == self.1 {
                self.0.send(lend(false, forget)).unwrap();
            }
        }
    }
    for moment in [Moment::Begins, Moment::GoesOn, Moment::Waits, Moment::Ends] {
        let (tx, rx) = channel();
        Runtime::builder().domains(1).hooks(Lends(tx, moment)).run(|| {
            let fiber = fiber::Builder::new().name("lends").spawn(fiber::yield_now);
            fiber.join().unwrap();
            assert!(rx.recv().unwrap().still_lent(), "{moment:?}");
        });
    }
}

/// A fiber unwinds the computations that it has kept, and those that the destructors keep, but not for
/// ever. Outside of tasks it uses the task-locals of its thread.
#[test]
fn the_locals_of_a_thread_stay_for_a_fiber() {
    const MANY: u32 = 9_950;
    struct Again(u32, bool, Sender<Borrower>);
    impl Drop for Again {
        fn drop(&mut self) {
            let again = Again(self.0 + 1, self.1, self.2.clone());
            if self.0 < MANY {
                forget(begin(move || {
                    let _again = again;
                    lisle::effect::perform(Wait);
                }));
            } else {
                self.2.send(lend_and(self.1, forget, again)).unwrap();
            }
        }
    }
    for is_of_task in [false, true] {
        let (tx, rx) = channel();
        std::thread::spawn(move || {
            Runtime::builder().domains(1).run(move || {
                lisle::spawn(move || drop(Again(0, is_of_task, tx))).join().unwrap();
            });
        })
        .join()
        .unwrap();
        let all: Vec<_> = rx.try_iter().collect();
        assert!(all.len() > 1);
        // The others were unwound.
        assert!(all.into_iter().next_back().unwrap().still_lent());
    }
}

static MADE: AtomicU32 = AtomicU32::new(0);
static DROPPED: AtomicU32 = AtomicU32::new(0);

struct Counts;

impl Counts {
    fn new() -> Self {
        MADE.fetch_add(1, Ordering::SeqCst);
        Counts
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

lisle::fiber_local! {
    static COUNTED_OF_FIBER: Counts = Counts::new();
}
lisle::task_local! {
    static COUNTED_OF_TASK: Counts = Counts::new();
}

/// Uses a local of each kind, and keeps computations that end before their home does.
fn keep_and_end(count: usize) {
    COUNTED_OF_FIBER.with(|_| ());
    COUNTED_OF_TASK.with(|_| ());
    let all: Vec<Waiting> = (0..count).map(|_| begin(|| lisle::effect::perform(Wait))).collect();
    for (n, kept) in all.into_iter().enumerate() {
        match n % 3 {
            0 => kept.resume(()),
            1 => drop(kept),
            _ => drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                kept.resume_unwind(Box::new("enough"));
            }))),
        }
    }
    let mut items: Vec<Generator<u32>> = (0..3).map(|_| generator(|items| items.give(1))).collect();
    assert_eq!((items[0].next(), items[1].by_ref().count()), (Some(1), 1));
}

/// No computation is left, so all locals are dropped. So are the locals of a task in whose slot
/// another task has left one.
#[test]
fn what_ends_in_time_leaves_nothing() {
    let check = |least: u32, f: &dyn Fn()| {
        let counts = || [&MADE, &DROPPED].map(|count| count.load(Ordering::SeqCst));
        let before = counts();
        f();
        let [made, dropped] = counts();
        assert_eq!(made - before[0], dropped - before[1]);
        assert!(dropped - before[1] >= least);
    };
    let plain = || std::thread::spawn(|| keep_and_end(10)).join().unwrap();
    check(2, &plain);
    let task = |waits: bool| {
        lisle::spawn_task(async move {
            keep_and_end(10);
            if waits {
                yield_now().await;
                keep_and_end(10);
            }
        })
        .join()
        .unwrap();
    };
    for waits in [false, true] {
        let in_thread = move || {
            std::thread::spawn(move || {
                Runtime::builder().domains(1).run(move || {
                    keep_and_end(10);
                    (0..5).for_each(|_| task(waits));
                });
            })
            .join()
            .unwrap();
        };
        // Of the fiber, the thread, and each task; a runner has its own.
        check(7, &in_thread);
    }
    // Tasks have the same slot, one after another.
    let in_slots = || {
        Runtime::builder().domains(1).run(|| {
            for n in 0..10 {
                let task = lisle::spawn_task(async move {
                    if n % 2 == 0 {
                        OF_TASK.with(|_| ());
                        forget(begin(|| lisle::effect::perform(Wait)));
                    } else {
                        COUNTED_OF_TASK.with(|_| ());
                    }
                });
                task.join().unwrap();
            }
        });
    };
    check(5, &in_slots);
}
