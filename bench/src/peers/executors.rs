//! Executors of futures.

use futures::FutureExt;
use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

/// Where futures run. Tasks are spawned from inside, through the function the executor has for
/// that.
pub(crate) trait Executor: Sized + 'static {
    /// The handle of a task, to be awaited.
    type Task<T: Send + 'static>: IntoFuture<Output = T, IntoFuture: Send> + Send + 'static;

    fn start(workers: usize) -> Self;

    /// Runs `main` as a task, on a worker like the others, and waits for it.
    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T;

    /// Called within a task.
    fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Self::Task<T>;

    /// Starts a task that nobody waits for.
    fn detach(future: impl Future<Output = ()> + Send + 'static);

    fn yield_now() -> impl Future<Output = ()> + Send;

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;
}

/// tokio with one worker: the calling thread. No synchronization between workers, hence its fastest
/// form.
pub(crate) struct TokioCurrentThread(tokio::runtime::Runtime);

/// tokio's default runtime.
pub(crate) struct TokioMultiThread(tokio::runtime::Runtime);

/// tokio as somebody would choose it for the number of workers; for channels that bring no
/// executor.
pub(crate) enum Tokio {
    One(TokioCurrentThread),
    Several(TokioMultiThread),
}

/// A task handle that yields the value itself: a panic in a task ends the sample anyway.
pub(crate) struct Joined<T>(tokio::task::JoinHandle<T>);

impl<T> Future for Joined<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|joined| joined.expect("no task panics"))
    }
}

/// Within its runtimes all of tokio is the same.
macro_rules! tokio_tasks {
    () => {
        type Task<T: Send + 'static> = Joined<T>;

        fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Joined<T> {
            Joined(tokio::spawn(future))
        }

        fn detach(future: impl Future<Output = ()> + Send + 'static) {
            drop(tokio::spawn(future));
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            tokio::task::yield_now()
        }

        fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
            tokio::time::sleep(duration)
        }
    };
}

impl Executor for TokioCurrentThread {
    fn start(workers: usize) -> Self {
        assert_eq!(workers, 1, "a current-thread runtime has one worker");
        TokioCurrentThread(tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap())
    }

    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T {
        self.0.block_on(async { Self::spawn(main).await })
    }

    tokio_tasks!();
}

impl Executor for TokioMultiThread {
    fn start(workers: usize) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        TokioMultiThread(builder.worker_threads(workers).enable_time().build().unwrap())
    }

    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T {
        // As a task, since the future given to `block_on` runs outside of the workers.
        self.0.block_on(async { Self::spawn(main).await })
    }

    tokio_tasks!();
}

impl Executor for Tokio {
    fn start(workers: usize) -> Self {
        match workers {
            1 => Tokio::One(TokioCurrentThread::start(1)),
            several => Tokio::Several(TokioMultiThread::start(several)),
        }
    }

    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T {
        match self {
            Tokio::One(runtime) => runtime.run(main),
            Tokio::Several(runtime) => runtime.run(main),
        }
    }

    tokio_tasks!();
}

/// Lisle's tasks, on domains that are pinned as for its fibers.
pub(crate) struct LisleTasks(lisle::Runtime);

/// The handle of a task, which is awaited for the task's result.
pub(crate) struct LisleJoined<T>(lisle::task::TaskHandle<T>);

impl<T> IntoFuture for LisleJoined<T> {
    type Output = T;
    type IntoFuture = futures::future::Map<
        <lisle::task::TaskHandle<T> as IntoFuture>::IntoFuture,
        fn(Result<T, lisle::fiber::JoinError>) -> T,
    >;

    fn into_future(self) -> Self::IntoFuture {
        self.0.into_future().map(Result::unwrap)
    }
}

impl Executor for LisleTasks {
    type Task<T: Send + 'static> = LisleJoined<T>;

    fn start(workers: usize) -> Self {
        LisleTasks(super::runtime(workers).start().expect("a process may have threads"))
    }

    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T {
        self.0.run(move || lisle::spawn_task(main).join().expect("no task panics"))
    }

    fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> LisleJoined<T> {
        LisleJoined(lisle::spawn_task(future))
    }

    fn detach(future: impl Future<Output = ()> + Send + 'static) {
        drop(lisle::spawn_task(future));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        lisle::task::yield_now()
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        lisle::time::after(duration).into_future()
    }
}

/// smol's global executor, which is what `smol::spawn` uses; it has as many threads as its variable
/// says.
pub(crate) struct Smol;

impl Executor for Smol {
    type Task<T: Send + 'static> = smol::Task<T>;

    fn start(workers: usize) -> Self {
        // SAFETY: called first thing in the sample's process, which has one thread.
        unsafe { std::env::set_var("SMOL_THREADS", workers.to_string()) };
        Smol
    }

    fn run<T: Send + 'static>(&self, main: impl Future<Output = T> + Send + 'static) -> T {
        // The calling thread only waits: `smol::block_on` would also drive timers and sockets.
        futures::executor::block_on(smol::spawn(main))
    }

    fn spawn<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> smol::Task<T> {
        smol::spawn(future)
    }

    fn detach(future: impl Future<Output = ()> + Send + 'static) {
        smol::spawn(future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        smol::future::yield_now()
    }

    async fn sleep(duration: Duration) {
        smol::Timer::after(duration).await;
    }
}
