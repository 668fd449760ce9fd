//! The handle of a task, which is the event of its end.

use crate::event::lock::Lock;
use crate::event::{Attempt, Description, Label, Unlabelled, awaitable, may_wait_at, turn};
use crate::fiber::JoinError;
use crate::masked;
use crate::sched::tasks::life;
use crate::sched::unclaimed;
use crate::spawned::head::Outcome;
use crate::spawned::scope_state::ScopeState;
use crate::spawned::task_cell::{self, Task};
use lisle_core::Event;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;

/// A handle that gives the right to a task's result, and the event of its end. Dropping it detaches
/// the task, which goes on.
///
/// As an event it yields the result, once: a second performance yields an error that says so. It
/// can be part of a choice, and can be awaited.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{Event, choose, spawn_task, time::after};
/// use std::time::Duration;
///
/// lisle::run(|| {
///     let (tx, rx) = lisle::channel();
///     let task = spawn_task(async move { rx.recv_evt().await.unwrap() });
///     let soon = || choose((task.join_evt().wrap(Result::ok), after(Duration::from_millis(1)).wrap(|()| None)));
///     assert_eq!(soon().sync(), None); // it has lost nothing by losing
///     tx.send(7).unwrap();
///     let sum = spawn_task(async move { task.await.unwrap() + 1 });
///     assert_eq!(sum.join().unwrap(), 8);
/// });
/// ```
///
/// # Errors
///
/// If the task has panicked (the error holds the payload), was [cancelled](TaskHandle::cancel), or
/// if its runtime has ended before it was done.
///
/// # Cancel safety
///
/// Waiting takes nothing: the performance that completes takes the result.
pub struct TaskHandle<T> {
    held: Held<T>,
}

enum Held<T> {
    /// The task ended as it was spawned.
    Ended(Ended<T>),
    /// The task was reified, or queued.
    Living(NonNull<Task>, PhantomData<T>),
}

struct Ended<T> {
    result: Lock<Option<std::thread::Result<T>>>,
    site: &'static Location<'static>,
    scope: Option<NonNull<ScopeState>>,
}

// SAFETY: the handle reads only the synchronized parts of the task, and it moves the result out
// once the task has ended.
unsafe impl<T: Send> Send for TaskHandle<T> {}
// SAFETY: sharing the handle shares the right to take the result. A lock admits one taker at a
// time.
unsafe impl<T: Send> Sync for TaskHandle<T> {}

// No result is pinned where it waits to be taken.
impl<T> Unpin for TaskHandle<T> {}

impl<T> TaskHandle<T> {
    /// # Safety
    ///
    /// The task was made with this output, has been reified or queued, and this is its only handle.
    #[inline]
    pub(super) unsafe fn living(task: NonNull<Task>) -> Self {
        TaskHandle { held: Held::Living(task, PhantomData) }
    }

    #[inline(always)]
    pub(super) fn ended(
        result: std::thread::Result<T>,
        scope: Option<NonNull<ScopeState>>,
        site: &'static Location<'static>,
    ) -> Self {
        TaskHandle { held: Held::Ended(Ended { result: Lock::new(Some(result)), site, scope }) }
    }

    fn task(&self) -> Option<&Task> {
        match &self.held {
            Held::Ended(_) => None,
            // SAFETY: a slot is not vacated before the handle is dropped.
            Held::Living(task, _) => Some(unsafe { task.as_ref() }),
        }
    }

    fn site(&self) -> &'static Location<'static> {
        match &self.held {
            Held::Ended(ended) => ended.site,
            // SAFETY: a slot is not vacated before the handle is dropped.
            Held::Living(task, _) => unsafe { task.as_ref() }.site(),
        }
    }

    /// Waits for the task to end and returns its result, as [`Event::sync`] does.
    ///
    /// In a task await the handle instead: this call would block the stack on which the task runs.
    ///
    /// # Errors
    ///
    /// As the [event](TaskHandle).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::spawn_task;
    ///
    /// let sum = spawn_task(async { 1 + 1 });
    /// assert_eq!(sum.join().unwrap(), 2);
    ///
    /// let fails = spawn_task(async { "x".parse::<u32>().unwrap() });
    /// assert!(fails.join().unwrap_err().is_panic());
    /// ```
    // Inlined, so a handle that has ended is never built: to write it in pieces, and move it right
    // after, takes longer than all the rest. Not inlined without optimization, where that would
    // only enlarge the caller's frame.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn join(self) -> Result<T, JoinError> {
        let mut this = ManuallyDrop::new(self);
        // The handle is not shared, so no lock is needed. The rest of the handle has no destructor.
        if let Held::Ended(ended) = &mut this.held
            && let Some(Ok(value)) = ended.result.get_mut().take_if(|result| result.is_ok())
        {
            return Ok(value);
        }
        ManuallyDrop::into_inner(this).wait()
    }

    #[inline(never)]
    fn wait(self) -> Result<T, JoinError> {
        self.sync()
    }

    /// Returns the event of the task's end, which is the handle itself. For code that is to read
    /// like that for [fibers](crate::fiber::JoinHandle::join_evt).
    pub fn join_evt(&self) -> &Self {
        self
    }

    /// Drops the task's future where it waits, or when it next waits. If the task ends first, its
    /// result stays.
    ///
    /// Nothing is forced: a task that does not wait is not stopped. To know when it has ended, wait
    /// for it. A message that reaches it before that is dropped with it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::spawn_task;
    ///
    /// let ended = spawn_task(async { 2 });
    /// ended.cancel(); // too late
    /// assert_eq!(ended.join().unwrap(), 2);
    ///
    /// let (tx, rx) = lisle::channel::<u32>();
    /// let waits = spawn_task(async move { rx.recv_evt().await });
    /// waits.cancel();
    /// assert!(waits.join().unwrap_err().is_cancelled());
    /// assert!(tx.send(1).is_err()); // the receiver was dropped with the future
    /// ```
    pub fn cancel(&self) {
        let Held::Living(task, _) = &self.held else { return };
        // SAFETY: a slot is not vacated before the handle goes.
        let this = unsafe { task.as_ref() };
        crate::event::visible_doing("cancel", const { &Label::anywhere("task") }, this);
        // SAFETY: as above.
        if unsafe { task.as_ref() }.state().cancel() {
            // SAFETY: the task was parked, and this code owns it now.
            unsafe { life::ready(*task) };
        }
    }

    /// Does the same as [`cancel`](TaskHandle::cancel), but drops the future of a task that waits
    /// here, before this returns. For the library's own futures.
    pub(super) fn cancel_here(&self) {
        let Held::Living(task, _) = &self.held else { return };
        // SAFETY: a slot is not vacated before the handle goes.
        if unsafe { task.as_ref() }.state().cancel() {
            // SAFETY: the task was parked, and this code owns it now.
            unsafe { life::end_here(*task) };
        }
    }

    /// Returns `true` if the task has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, spawn_task};
    ///
    /// let (tx, rx) = lisle::channel::<u32>();
    /// let task = spawn_task(async move { rx.recv_evt().await.unwrap() });
    /// assert!(!task.is_finished());
    /// tx.send(7).unwrap();
    /// assert_eq!(task.join_evt().sync().unwrap(), 7); // waits; do not ask in a loop
    /// assert!(task.is_finished());
    /// ```
    pub fn is_finished(&self) -> bool {
        turn::asked_whether(self.has_ended())
    }

    fn has_ended(&self) -> bool {
        self.task().is_none_or(|task| task.finished.with(|finished| *finished))
    }

    /// Returns `true` if the task ended in its first turn, as a part of its spawner, without
    /// waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{spawn_task, task::yield_now};
    ///
    /// let at_once = spawn_task(async { 1 });
    /// assert!(at_once.is_inline());
    /// let later = spawn_task(async { yield_now().await });
    /// assert!(!later.is_inline());
    /// ```
    pub fn is_inline(&self) -> bool {
        matches!(self.held, Held::Ended(_))
    }

    /// Takes the result of a task that has ended.
    fn take(&self) -> Result<T, JoinError> {
        let taken = match &self.held {
            Held::Ended(ended) => ended.result.lock().take().ok_or(Outcome::Taken),
            Held::Living(task, _) => {
                // SAFETY: a slot is not vacated before the handle goes.
                let this = unsafe { task.as_ref() };
                // SAFETY: the task was made with this output.
                unsafe { this.take_result(*task, &this.table().contents) }
            }
        };
        JoinError::or_value(taken, || task_cell::describe(self.site()))
    }
}

impl<T> TaskHandle<T> {
    #[inline(never)]
    fn let_go(&mut self) {
        match &mut self.held {
            Held::Ended(ended) => {
                // The destructor of the result runs to its end, even if the runtime ends.
                masked!(_masked);
                let dropped = match ended.result.get_mut().take() {
                    Some(Ok(value)) => catch_unwind(AssertUnwindSafe(|| drop(value))),
                    Some(Err(panic)) => Err(panic),
                    None => return,
                };
                if let Err(panic) = dropped {
                    unclaimed::of_task(panic, ended.scope, ended.site);
                }
            }
            Held::Living(task, _) => {
                // SAFETY: a slot is not vacated before the handle goes.
                if unsafe { task.as_ref() }.state().detach() {
                    // SAFETY: the task has ended, and its handle is dropped here.
                    unsafe { life::vacate_joinable(*task) };
                }
            }
        }
    }
}

impl<T> Drop for TaskHandle<T> {
    // Inlined as `join` is, and for the same reason.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        let is_done = match &mut self.held {
            Held::Ended(ended) => match ended.result.get_mut() {
                None => true,
                Some(result) => result.is_ok() && !std::mem::needs_drop::<T>(),
            },
            Held::Living(..) => false,
        };
        if !is_done {
            self.let_go();
        }
    }
}

fn finished(finished: &mut bool) -> Option<()> {
    finished.then_some(())
}

impl<T> Event for TaskHandle<T> {
    type Output = Result<T, JoinError>;
    // A task that has ended at once has no source.
    may_wait_at!(this: bool, (), Unlabelled; this.task().map(|task| &task.finished), finished, Attempt::at_once);

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.take()
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        match self.task() {
            Some(task) => {
                waits.on_held("join", &task.label(), std::ptr::from_ref(task).addr(), [task.id()]);
            }
            None => waits.on("join", &Label::anywhere("task").made_at(self.site()), 0),
        }
    }
}

awaitable!([T] TaskHandle<T>, single);
awaitable!(['a, T] &'a TaskHandle<T>, single);

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("task", &task_cell::describe(self.site()))
            .field("finished", &self.has_ended())
            .finish()
    }
}
