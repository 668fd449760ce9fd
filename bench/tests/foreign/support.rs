//! The executors, and the operations that the cases need of them.

use crate::watch::watched;
use futures::FutureExt;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Where a case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Executor {
    /// tokio's current-thread runtime.
    TokioCurrent,
    /// tokio's multi-thread runtime with this many workers.
    Tokio(usize),
    /// smol, on two threads.
    Smol,
}

/// The spawns and sleeps of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cx(Executor);

/// A task that somebody waits for, or cancels.
#[must_use = "a task that nobody waits for may be cut off"]
pub(crate) enum Task<T> {
    Tokio(tokio::task::JoinHandle<T>),
    Smol(smol::Task<T>),
}

static SMOL: LazyLock<smol::Executor<'static>> = LazyLock::new(|| {
    for _ in 0..2 {
        thread::spawn(|| smol::block_on(SMOL.run(pending::<()>())));
    }
    smol::Executor::new()
});

impl Executor {
    /// Runs `case` as a task, and waits for it.
    pub(crate) fn run<F: Future<Output = ()> + Send + 'static>(self, case: fn(Cx) -> F) {
        let _watched = watched();
        let cx = Cx(self);
        let main = async move { cx.spawn(case(cx)).join().await };
        match self {
            Executor::TokioCurrent => {
                tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(main)
            }
            Executor::Tokio(workers) => runtime(workers).block_on(main),
            Executor::Smol => smol::block_on(main),
        }
    }
}

/// tokio's multi-thread runtime.
pub(crate) fn runtime(workers: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_time().build().unwrap()
}

impl Cx {
    pub(crate) fn spawn<T: Send + 'static>(
        self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        match self.0 {
            Executor::TokioCurrent | Executor::Tokio(_) => Task::Tokio(tokio::spawn(future)),
            Executor::Smol => {
                // A panic is for the joiner, not for the thread that happens to run the task.
                let caught = AssertUnwindSafe(future).catch_unwind();
                Task::Smol(
                    SMOL.spawn(async move { caught.await.unwrap_or_else(|panic| resume_unwind(panic)) }),
                )
            }
        }
    }

    /// Does only one thread poll tasks?
    pub(crate) fn is_single_threaded(self) -> bool {
        matches!(self.0, Executor::TokioCurrent | Executor::Tokio(1))
    }

    /// Sleeps by the executor's own timer.
    pub(crate) async fn sleep(self, duration: Duration) {
        match self.0 {
            Executor::TokioCurrent | Executor::Tokio(_) => tokio::time::sleep(duration).await,
            Executor::Smol => drop(smol::Timer::after(duration).await),
        }
    }

    pub(crate) async fn yield_now(self) {
        match self.0 {
            Executor::TokioCurrent | Executor::Tokio(_) => tokio::task::yield_now().await,
            Executor::Smol => smol::future::yield_now().await,
        }
    }

    /// Lets others run until `condition` holds.
    pub(crate) async fn until(self, mut condition: impl FnMut() -> bool) {
        for round in 1.. {
            if condition() {
                return;
            }
            match round % 256 {
                0 => self.sleep(Duration::from_millis(1)).await,
                _ => self.yield_now().await,
            }
        }
    }

    /// Joins all, and gives their values in order.
    pub(crate) async fn join_all<T>(self, tasks: impl IntoIterator<Item = Task<T>>) -> Vec<T> {
        let mut values = Vec::new();
        for task in tasks {
            values.push(task.join().await);
        }
        values
    }
}

impl<T> Task<T> {
    pub(crate) async fn join(self) -> T {
        match self {
            Task::Tokio(task) => task.await.unwrap_or_else(|error| resume_unwind(error.into_panic())),
            Task::Smol(task) => task.await,
        }
    }

    /// Cancels the task, and waits until its future has been dropped: tokio's `abort`, smol's
    /// `cancel`. Gives its value if it was faster.
    pub(crate) async fn cancel(self) -> Option<T> {
        match self {
            Task::Tokio(task) => {
                task.abort();
                task.await.ok()
            }
            Task::Smol(task) => task.cancel().await,
        }
    }
}

/// How often to repeat: fewer times without optimization.
pub(crate) fn scaled(optimized: usize, debug: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { optimized }
}

/// A different number below `bound` each time, in no order that matters.
pub(crate) fn vary(bound: usize) -> usize {
    static STATE: AtomicUsize = AtomicUsize::new(0);
    let state = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    ((state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % bound
}

/// Makes one test of each case on each executor.
macro_rules! executors {
    ($($case:ident),* $(,)?) => {
        $crate::support::executors!(@ tokio_current TokioCurrent, $($case)*);
        $crate::support::executors!(@ tokio_one_worker Tokio(1), $($case)*);
        $crate::support::executors!(@ tokio_two_workers Tokio(2), $($case)*);
        $crate::support::executors!(@ smol Smol, $($case)*);
    };
    (@ $name:ident $executor:expr, $($case:ident)*) => {
        mod $name {
            use crate::support::Executor::*;
            $(
                #[test]
                fn $case() {
                    $executor.run(super::$case);
                }
            )*
        }
    };
}
pub(crate) use executors;
