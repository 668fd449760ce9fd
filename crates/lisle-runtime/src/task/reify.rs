//! The primitives: a task waits, gets a value, and goes on.

use crate::event::lock::Lock;
use crate::event::recycled::Recycled;
use crate::sched::tasks::life;
use crate::shim::sync::Arc;
use crate::spawned::task_cell::Task;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Makes the awaiting task wait, after calling `f` with a reference to it. The task goes on with
/// the value that it is [prepared](Reified::prepare) with.
///
/// `f` runs at once, as a part of the task, and decides about the wait of the task. New operations
/// that wait are built like this. Prefer events where they suffice, since a choice can be made of
/// them.
///
/// From Multi-MLton's `reify`. The other primitives are [`Reified::prepare`], [`Prepared::attach`]
/// and [`inflate`](super::inflate()).
///
/// # Errors
///
/// If the reference was dropped, since the task can never be prepared then.
///
/// # Cancel safety
///
/// If the future is dropped, attaching gives the value back.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{task, spawn_task};
/// use std::sync::Mutex;
///
/// // Tasks wait here until the loop below gives them a value.
/// static WAITING: Mutex<Vec<task::Reified<u32>>> = Mutex::new(Vec::new());
///
/// let helpers: Vec<_> = (0..3)
///     .map(|_| spawn_task(async { task::reify(|helper| WAITING.lock().unwrap().push(helper)).await }))
///     .collect();
/// for helper in WAITING.lock().unwrap().drain(..) {
///     helper.prepare(7).attach().unwrap();
/// }
/// for helper in helpers {
///     assert_eq!(helper.join().unwrap().unwrap(), 7);
/// }
/// ```
pub fn reify<T, F>(f: F) -> Reify<T, F>
where
    F: FnOnce(Reified<T>),
{
    Reify { f: Some(f), handover: None }
}

/// The future of [`reify`].
#[must_use = "futures do nothing unless awaited"]
pub struct Reify<T, F> {
    f: Option<F>,
    handover: Option<Arc<Handover<T>>>,
}

/// The handover of the value between the code that prepares the task and the task.
struct Handover<T> {
    content: Lock<Content<T>>,
}

enum Content<T> {
    /// Nothing yet. The waker of the task.
    Nothing(Waker),
    Value(T),
    /// Nothing, and a value will never come.
    Unprepared,
    /// The task no longer waits for a value.
    Left,
}

impl<T> Content<T> {
    /// Puts `content` in for the task. Returns it as the error if the task has left.
    fn fill(&mut self, content: Content<T>) -> Result<Waker, Content<T>> {
        match std::mem::replace(self, content) {
            Content::Nothing(waker) => Ok(waker),
            left => Err(std::mem::replace(self, left)),
        }
    }
}

// The closure is only ever moved out, never pinned.
impl<T, F> Unpin for Reify<T, F> {}

impl<T, F: FnOnce(Reified<T>)> Future for Reify<T, F> {
    type Output = Result<T, Unprepared>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(f) = this.f.take() {
            let content = Lock::new(Content::Nothing(context.waker().clone()));
            let handover = this.handover.insert(Arc::new(Handover { content }));
            f(Reified { handover: Some(handover.clone()) });
        }
        let handover = this.handover.as_ref().expect("a future that has given its value is not polled again");
        // To clone or drop a waker may run foreign code, so neither is done under the lock.
        let fresh = context.waker().clone();
        let (polled, _unused) = {
            let mut content = handover.content.lock();
            match std::mem::replace(&mut *content, Content::Left) {
                Content::Nothing(waker) => {
                    *content = Content::Nothing(fresh);
                    (Poll::Pending, Some(waker))
                }
                Content::Value(value) => (Poll::Ready(Ok(value)), None),
                Content::Unprepared | Content::Left => (Poll::Ready(Err(Unprepared)), None),
            }
        };
        if polled.is_ready() {
            this.handover = None;
        }
        polled
    }
}

impl<T, F> Drop for Reify<T, F> {
    fn drop(&mut self) {
        if let Some(handover) = &self.handover {
            let left = std::mem::replace(&mut *handover.content.lock(), Content::Left);
            drop(left);
        }
    }
}

/// A task that waits to be prepared, see [`reify`].
pub struct Reified<T> {
    /// Taken only by `prepare` and by the destructor.
    handover: Option<Arc<Handover<T>>>,
}

impl<T> Reified<T> {
    /// Gives the task the value that it will go on with.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, spawn_task, task};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// let waits = spawn_task(async move { task::reify(|it| tx.send(it).unwrap()).await });
    ///
    /// let prepared = rx.recv().unwrap().prepare(7);
    /// drop(prepared); // neither attached nor made ready, so it never will be
    /// assert_eq!(waits.join().unwrap(), Err(task::Unprepared));
    /// ```
    pub fn prepare(mut self, value: T) -> Prepared<T> {
        Prepared { handover: self.handover.take(), value: Some(value) }
    }
}

impl<T> Drop for Reified<T> {
    fn drop(&mut self) {
        abandon(self.handover.take());
    }
}

/// Tells a task that it will never be prepared.
fn abandon<T>(handover: Option<Arc<Handover<T>>>) {
    let Some(handover) = handover else { return };
    let woken = handover.content.lock().fill(Content::Unprepared);
    if let Ok(waker) = woken {
        waker.wake();
    }
}

/// A task that can go on, see [`Reified::prepare`].
pub struct Prepared<T> {
    handover: Option<Arc<Handover<T>>>,
    value: Option<T>,
}

impl<T> Prepared<T> {
    /// Runs the task here, as a part of the caller, until it ends or waits again.
    ///
    /// Makes it [`ready`](Prepared::ready) instead if it belongs to another runtime, if this thread
    /// runs no domain, if most of the stack is used, or if the task does not wait yet.
    ///
    /// # Errors
    ///
    /// Returns the value if the task's future has been dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, spawn_task, task};
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = channel::bounded(1);
    ///     let waits = spawn_task(async move { task::reify(|it| tx.send(it).unwrap()).await });
    ///     rx.recv().unwrap().prepare(7).attach().unwrap();
    ///     assert!(waits.is_finished()); // it has run here
    ///     assert_eq!(waits.join().unwrap(), Ok(7));
    /// });
    /// ```
    pub fn attach(self) -> Result<(), T> {
        self.hand_over(|waker| match Recycled::of(&waker).map(Task::of) {
            Some(task) if life::attach(task) => {}
            _ => waker.wake(),
        })
    }

    /// Queues the task: to run next here, if this thread runs a domain of its runtime.
    ///
    /// # Errors
    ///
    /// As [`attach`](Prepared::attach).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, spawn_task, task};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// let spawn = || {
    ///     let tx = tx.clone();
    ///     spawn_task(async move { task::reify(|it| tx.send(it).unwrap()).await })
    /// };
    /// let waits = spawn();
    /// rx.recv().unwrap().prepare(7).ready().unwrap();
    /// assert_eq!(waits.join().unwrap(), Ok(7));
    ///
    /// let cancelled = spawn();
    /// let reified = rx.recv().unwrap();
    /// cancelled.cancel();
    /// assert!(cancelled.join().is_err());
    /// assert_eq!(reified.prepare(8).ready(), Err(8)); // there is no task to take it
    /// ```
    pub fn ready(self) -> Result<(), T> {
        self.hand_over(Waker::wake)
    }

    /// Makes the task a thread that is scheduled by itself, on the first domain that takes it.
    ///
    /// # Errors
    ///
    /// As [`attach`](Prepared::attach).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, spawn_task, task};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// let sum = spawn_task(async move {
    ///     let count = task::reify(|it| tx.send(it).unwrap()).await.unwrap();
    ///     (0..count).sum::<u64>() // much to do: beside the code that prepares it
    /// });
    /// rx.recv().unwrap().prepare(1_000_000).inflate().unwrap();
    /// assert_eq!(sum.join().unwrap(), 499_999_500_000);
    /// ```
    pub fn inflate(self) -> Result<(), T> {
        self.hand_over(|waker| match Recycled::of(&waker).map(Task::of) {
            Some(task) if life::inflate_parked(task) => {}
            _ => waker.wake(),
        })
    }

    fn hand_over(mut self, resume: impl FnOnce(Waker)) -> Result<(), T> {
        let handover = self.handover.take().expect("prepared once");
        let value = self.value.take().expect("prepared once");
        let filled = handover.content.lock().fill(Content::Value(value));
        match filled {
            Ok(waker) => {
                resume(waker);
                Ok(())
            }
            Err(Content::Value(value)) => Err(value),
            Err(_) => unreachable!("a value was put in"),
        }
    }
}

impl<T> Drop for Prepared<T> {
    fn drop(&mut self) {
        abandon(self.handover.take());
    }
}

impl<T> fmt::Debug for Reified<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reified").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Prepared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl<T, F> fmt::Debug for Reify<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reify").field("begun", &self.f.is_none()).finish_non_exhaustive()
    }
}

/// The error of [`reify`]: the reference to the task is gone, so the task can never be prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unprepared;

impl fmt::Display for Unprepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reference to the task is gone, so it cannot be prepared")
    }
}

impl std::error::Error for Unprepared {}
