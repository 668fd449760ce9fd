//! A small thread-pool executor that does not know this library: the foreign executor of the tests.
//!
//! A task may be polled on another thread each time, so the values that futures hold between polls
//! must be movable between threads.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::JoinHandle;

/// A pool of threads that poll futures. Dropping it drops futures that have not finished.
pub(crate) struct Executor {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

struct Queue {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Task>>,
    /// Every task, until it is found to be gone. A waiting future keeps itself alive, since it
    /// holds its own waker.
    all: Vec<Weak<Task>>,
    closed: bool,
}

struct Task {
    queue: Arc<Queue>,
    progress: Mutex<Progress>,
}

struct Progress {
    /// `None` while it is being polled, and after it has finished.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Whether it has been woken since its last poll began.
    woken: bool,
    running: bool,
}

impl Executor {
    pub(crate) fn new(threads: usize) -> Self {
        let queue = Arc::new(Queue { state: Mutex::default(), more: Condvar::new() });
        let work = |queue: Arc<Queue>| move || queue.work();
        let threads = (0..threads).map(|_| std::thread::spawn(work(queue.clone()))).collect();
        Executor { queue, threads }
    }

    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let progress = Progress { future: Some(Box::pin(future)), woken: false, running: false };
        let task = Arc::new(Task { queue: self.queue.clone(), progress: Mutex::new(progress) });
        let mut state = self.queue.state.lock().unwrap();
        if state.all.len() == state.all.capacity() {
            state.all.retain(|task| task.strong_count() > 0);
            let live = state.all.len();
            state.all.reserve(live.max(64));
        }
        state.all.push(Arc::downgrade(&task));
        drop(state);
        Waker::from(task).wake();
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.queue.state.lock().unwrap().closed = true;
        self.queue.more.notify_all();
        for thread in self.threads.drain(..) {
            thread.join().expect("a pool thread does not panic");
        }
        let State { ready, all, .. } = std::mem::take(&mut *self.queue.state.lock().unwrap());
        for task in all.iter().filter_map(Weak::upgrade) {
            let future = task.progress.lock().unwrap().future.take();
            drop(future);
        }
        drop(ready);
    }
}

impl Queue {
    fn work(&self) {
        let mut state = self.state.lock().unwrap();
        while !state.closed {
            match state.ready.pop_front() {
                Some(task) => {
                    drop(state);
                    task.poll();
                    state = self.state.lock().unwrap();
                }
                None => state = self.more.wait(state).unwrap(),
            }
        }
    }
}

impl Task {
    fn poll(self: Arc<Self>) {
        let mut progress = self.progress.lock().unwrap();
        let Some(mut future) = progress.future.take() else { return };
        progress.woken = false;
        progress.running = true;
        drop(progress);
        let waker = Waker::from(self.clone());
        let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
        let mut progress = self.progress.lock().unwrap();
        progress.running = false;
        if poll == Poll::Pending {
            progress.future = Some(future);
            if progress.woken {
                drop(progress);
                self.enqueue();
            }
        }
    }

    fn enqueue(self: Arc<Self>) {
        let queue = self.queue.clone();
        let mut state = queue.state.lock().unwrap();
        state.ready.push_back(self);
        queue.more.notify_one();
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let mut progress = self.progress.lock().unwrap();
        let idle = !progress.woken && !progress.running;
        progress.woken = true;
        drop(progress);
        if idle {
            self.enqueue();
        }
    }
}

/// Polls `future` on the calling thread until it is ready.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Polls a future with a waker that does nothing.
pub(crate) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
