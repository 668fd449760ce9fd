//! Values that nothing asks for any more are dropped where their destructors may wait, also when
//! the runtime ends: results, locals, and futures that are ended.

use super::OnDrop;
use crate::support::watched;
use lisle::channel::{Receiver, Sender, bounded};
use lisle::fiber::spawn_on;
use lisle::sync::{Condition, Mutex};
use lisle::{Event, Report, Runtime, fiber, never, spawn, spawn_task, task};
use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

const COUNT: usize = 10;

/// The things to wait for, and the number of waiters.
struct Desk {
    lock: Mutex<()>,
    tx: Sender<()>,
    rx: Receiver<()>,
    /// The number of fibers that are where the end of the runtime is to find them.
    ready: AtomicUsize,
    completed: AtomicUsize,
}

impl Desk {
    fn new() -> Arc<Self> {
        let (tx, rx) = bounded(COUNT);
        let (ready, completed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Desk { lock: Mutex::new(()), tx, rx, ready, completed })
    }

    fn one_more(&self) {
        self.ready.fetch_add(1, Ordering::SeqCst);
    }

    /// Holds the lock, and answers after it has released it. Both happen while it is unwound, and
    /// not before others had time to be interrupted again.
    fn serve(&self, is_open: &Condition) {
        let _answers = OnDrop(|| (0..COUNT).for_each(|_| self.tx.send(()).unwrap()));
        let _held = self.lock.lock();
        let _lingers = OnDrop(|| (0..100).for_each(|_| fiber::yield_now()));
        is_open.signal();
        never::<()>().sync();
    }
}

/// Waits for a lock and for an answer while it is dropped.
struct Leaving {
    desk: Arc<Desk>,
    /// Whether its destructor is to begin before the runtime ends.
    tells: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.tells {
            self.desk.one_more();
        }
        drop(self.desk.lock.lock());
        self.desk.rx.recv().unwrap();
        self.desk.completed.fetch_add(1, Ordering::SeqCst);
    }
}

/// The code that `leave` starts leaves a value whose destructor waits for an action of a fiber that
/// is unwound.
fn all_complete(leave: fn(&Arc<Desk>)) {
    let _watched = watched();
    for domains in [1, 2, 8] {
        let (desk, is_open) = (Desk::new(), Arc::new(Condition::new()));
        let (reports, told) = std::sync::mpsc::channel();
        let report = move |report: &Report| drop(reports.send(report.to_string()));
        let runtime = Runtime::builder().domains(domains).stall_report(None).on_report(report);
        let runtime = runtime.shutdown_deadline(Duration::from_secs(60));
        runtime.run(|| {
            let (serving, opening) = (desk.clone(), is_open.clone());
            drop(spawn_on(0, move || serving.serve(&opening)));
            is_open.wait();
            (0..COUNT).for_each(|_| leave(&desk));
            while desk.ready.load(Ordering::SeqCst) < COUNT {
                fiber::yield_now();
            }
        });
        assert_eq!(desk.completed.load(Ordering::SeqCst), COUNT, "{domains} domains");
        assert_eq!(told.iter().collect::<Vec<_>>(), [""; 0]);
    }
}

fn leaving(desk: &Arc<Desk>) -> Leaving {
    Leaving { desk: desk.clone(), tells: false }
}

fn telling(desk: &Arc<Desk>) -> Leaving {
    Leaving { desk: desk.clone(), tells: true }
}

/// Waits for the end of the runtime, and continues.
fn until_interrupted(desk: &Desk) {
    desk.one_more();
    catch_unwind(AssertUnwindSafe(|| never::<()>().sync())).unwrap_err();
}

#[test]
fn the_result_of_a_fiber_that_has_ended() {
    all_complete(|desk| {
        let left = telling(desk);
        // On this domain, so it begins when its handle is gone.
        drop(spawn_on(0, move || left));
    });
}

#[test]
fn the_result_of_a_fiber_that_is_interrupted() {
    all_complete(|desk| {
        let (desk, left) = (desk.clone(), leaving(desk));
        drop(spawn(move || {
            until_interrupted(&desk);
            left
        }));
    });
}

#[test]
fn a_result_whose_handle_goes_late() {
    all_complete(|desk| {
        let left = telling(desk);
        let handle = spawn(move || left);
        drop(spawn(move || {
            while !handle.is_finished() {
                fiber::yield_now();
            }
        }));
    });
}

/// The fiber has not begun by the end of the runtime. A fiber that is unwound spawns it.
#[test]
fn the_closure_of_a_fiber() {
    all_complete(|desk| {
        let (desk, mut left) = (desk.clone(), Some(leaving(desk)));
        drop(spawn(move || {
            let _spawns = OnDrop(|| {
                let left = left.take();
                drop(spawn(move || left.is_some()));
            });
            desk.one_more();
            never::<()>().sync();
        }));
    });
}

lisle::fiber_local! {
    static OF_FIBER: RefCell<Option<Leaving>> = RefCell::default();
}

lisle::task_local! {
    static OF_TASK: RefCell<Option<Leaving>> = RefCell::default();
}

#[test]
fn the_locals_of_a_fiber_that_has_ended() {
    all_complete(|desk| {
        let left = telling(desk);
        drop(spawn(move || OF_FIBER.with(|local| local.replace(Some(left))).is_none()));
    });
}

#[test]
fn the_locals_of_a_fiber_that_is_unwound() {
    all_complete(|desk| {
        let (desk, left) = (desk.clone(), leaving(desk));
        drop(spawn(move || {
            OF_FIBER.with(|local| local.replace(Some(left)));
            desk.one_more();
            never::<()>().sync();
        }));
    });
}

#[test]
fn the_future_of_a_task() {
    all_complete(|desk| {
        let (desk, left) = (desk.clone(), leaving(desk));
        drop(spawn_task(async move {
            let _left = left;
            desk.one_more();
            pending::<()>().await;
        }));
    });
}

/// The future is dropped after the code that it called has been unwound, in its first turn and in
/// its second.
#[test]
fn the_future_of_a_task_that_blocks_in_place() {
    all_complete(|desk| {
        let blocks = blocks(desk, 1);
        drop(spawn(|| drop(spawn_task(blocks))));
    });
    all_complete(|desk| drop(spawn_task(blocks(desk, 2))));
}

fn blocks(desk: &Arc<Desk>, in_turn: usize) -> impl Future<Output = ()> + Send + use<> {
    let (desk, left, mut turns) = (desk.clone(), leaving(desk), 0);
    poll_fn(move |context| {
        let _left = &left;
        turns += 1;
        if turns < in_turn {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        desk.one_more();
        never().sync()
    })
}

#[test]
fn the_future_of_a_task_that_is_cancelled() {
    all_complete(|desk| {
        let (left, begun) = (telling(desk), Arc::new(Condition::new()));
        let begins = begun.clone();
        let task = spawn_task(async move {
            let _left = left;
            begins.signal();
            pending::<()>().await;
        });
        drop(spawn(move || {
            begun.wait();
            task.cancel();
        }));
    });
}

#[test]
fn the_result_of_a_task() {
    all_complete(|desk| {
        let left = telling(desk);
        drop(spawn_on(0, move || {
            drop(spawn_task(async move {
                task::inflate().await;
                left
            }));
        }));
    });
}

/// The task has waited or not. After that the handle owns the result.
#[test]
fn the_result_of_a_task_whose_handle_goes_late() {
    fn goes_late(result: impl Future<Output = Leaving> + Send + 'static) {
        drop(spawn(move || {
            let task = spawn_task(result);
            while !task.is_finished() {
                fiber::yield_now();
            }
        }));
    }
    all_complete(|desk| {
        let left = telling(desk);
        goes_late(async { left });
    });
    all_complete(|desk| {
        let left = telling(desk);
        goes_late(async {
            task::yield_now().await;
            left
        });
    });
}

#[test]
fn the_locals_of_a_task_that_has_ended() {
    all_complete(|desk| {
        let left = telling(desk);
        drop(spawn_task(async move {
            task::inflate().await;
            OF_TASK.with(|local| local.replace(Some(left)));
        }));
    });
}

/// The locals of a task that is unwound, and of one that is dropped.
#[test]
fn the_locals_of_a_task_that_is_ended() {
    all_complete(|desk| {
        let (desk, left) = (desk.clone(), leaving(desk));
        drop(spawn(move || {
            drop(spawn_task(async move {
                OF_TASK.with(|local| local.replace(Some(left)));
                desk.one_more();
                never::<()>().sync();
            }));
        }));
    });
    all_complete(|desk| {
        let (desk, left) = (desk.clone(), leaving(desk));
        drop(spawn_task(async move {
            OF_TASK.with(|local| local.replace(Some(left)));
            desk.one_more();
            pending::<()>().await;
        }));
    });
}

/// The payload of a scoped fiber's panic, and of a scoped task's.
#[test]
fn the_payload_of_a_panic() {
    fn fails(scope: impl FnOnce() + Send + 'static) {
        drop(spawn(|| catch_unwind(AssertUnwindSafe(scope)).is_err()));
    }
    all_complete(|desk| {
        let left = telling(desk);
        fails(|| fiber::scope(|scope| drop(scope.spawn(|| resume_unwind(Box::new(left))))));
    });
    all_complete(|desk| {
        let left = telling(desk);
        let task = async { resume_unwind(Box::new(left)) };
        fails(|| fiber::scope(|scope| drop(scope.spawn_task(task))));
    });
    all_complete(|desk| {
        let left = telling(desk);
        let task = async {
            task::yield_now().await;
            resume_unwind(Box::new(left))
        };
        fails(|| fiber::scope(|scope| drop(scope.spawn_task(task))));
    });
}
