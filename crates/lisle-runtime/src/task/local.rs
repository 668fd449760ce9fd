//! Values that belong to a task, wherever it runs.

use super::current;
use crate::spawned::local_key::Key;
use crate::spawned::thread_locals::ThreadLocals;

/// A key for a value of which each task has its own, made by [`task_local!`](crate::task_local).
pub struct LocalKey<T: 'static>(Key<T>);

impl<T> std::fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalKey")
    }
}

/// Declares values of which each task has its own, made on first use.
///
/// They move with the task from domain to domain, so they must be `Send`. Code that runs in no task
/// uses the values of its thread.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use std::cell::Cell;
///
/// lisle::task_local! {
///     static DEPTH: Cell<u32> = Cell::new(0);
/// }
///
/// DEPTH.with(|depth| depth.set(7));
/// let inside = lisle::spawn_task(async {
///     DEPTH.with(|depth| depth.set(depth.get() + 1));
///     lisle::task::yield_now().await; // it may go on on another thread
///     DEPTH.with(Cell::get)
/// });
/// assert_eq!((inside.join().unwrap(), DEPTH.with(Cell::get)), (1, 7));
/// ```
///
/// ```compile_fail,E0277
/// # use lisle_runtime::facade as lisle;
/// lisle::task_local! {
///     static NAME: std::rc::Rc<str> = "no".into();
/// }
/// NAME.with(|name| name.len());
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr;)+) => {
        $($(#[$attribute])* $visibility static $name: $crate::task::LocalKey<$type> =
            $crate::task::LocalKey::new(|| $init);)+
    };
}

thread_local! {
    static OF_THREAD: ThreadLocals = const { ThreadLocals::new() };
}

impl<T: Send + 'static> LocalKey<T> {
    /// Runs `f` with the value of the current task, or outside of tasks with the thread's value.
    /// Makes the value first if there is none.
    ///
    /// The value is dropped when its task ends, unless a suspended computation (`lisle::effect`) is
    /// left then that may refer to it. The call searches through the few locals that a
    /// task has.
    ///
    /// # Panics
    ///
    /// Outside of tasks, if called while the thread's own locals are being destroyed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::cell::RefCell;
    ///
    /// lisle::task_local! {
    ///     static SEEN: RefCell<Vec<u32>> = RefCell::new(Vec::new());
    /// }
    ///
    /// let task = lisle::spawn_task(async {
    ///     SEEN.with(|seen| seen.borrow_mut().push(1));
    ///     lisle::task::yield_now().await; // between two calls, not in one
    ///     SEEN.with(RefCell::take) // take the value out, so that it outlives the task
    /// });
    /// assert_eq!(task.join().unwrap(), [1]);
    /// assert!(SEEN.with(RefCell::take).is_empty()); // the thread has its own
    /// ```
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the current task is alive.
        let own = current().map(|task| unsafe { &task.as_ref().locals });
        // SAFETY: these are the locals of the current task, of which the call is a part. Only the thread
        // that runs it touches them. The values may move with it: `T` is `Send`.
        unsafe { self.0.with(own, &OF_THREAD, f) }
    }
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        LocalKey(Key::new(init))
    }
}
