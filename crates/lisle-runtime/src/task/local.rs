//! Values that belong to a task, wherever it runs.

use super::current;
use crate::event::parker;
use crate::panics;
use std::any::Any;
use std::cell::RefCell;
use std::ptr::NonNull;

/// A key for a value that each task has its own of, made by [`task_local!`](crate::task_local).
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

impl<T> std::fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalKey")
    }
}

/// Declares values that each task has its own of, made on first use.
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

type Values = Vec<(usize, NonNull<dyn Any + Send>)>;

/// The locals of one task. They are few, so they are in a list that is searched. Most tasks have
/// none.
#[derive(Default)]
pub(super) struct Locals {
    values: RefCell<Option<Box<Values>>>,
}

impl Locals {
    pub(super) const fn new() -> Self {
        Locals { values: RefCell::new(None) }
    }

    /// Drops the values, the last made first. Those that a destructor makes are dropped as well.
    #[inline]
    pub(super) fn clear(&self) {
        if self.values.borrow().is_some() {
            self.clear_some();
        }
    }

    #[cold]
    fn clear_some(&self) {
        // The destructors run to their end, even if the runtime ends.
        let _masked = parker::masked();
        // Destructors may make new values for ever. What is left after the limit is leaked.
        for _ in 0..10_000 {
            let last = self.values.borrow_mut().as_mut().and_then(|values| values.pop());
            let Some((_, value)) = last else { break };
            // SAFETY: `get` has leaked the value, which has just left the list.
            let value = unsafe { Box::from_raw(value.as_ptr()) };
            panics::told("the destructor of a task-local", || drop(value));
        }
        *self.values.borrow_mut() = None;
    }

    /// Returns the value of `key`, which stays until `clear`.
    fn get<T: Send + 'static>(&self, key: &'static LocalKey<T>) -> NonNull<T> {
        let id = std::ptr::from_ref(key).addr();
        let found = self.values.borrow().as_ref().and_then(|values| {
            // Constants that are no statics may share an address, so the type is compared, too.
            // SAFETY: values stay until they have left the list, and no mutable reference to one
            // exists.
            let is_it = |value: &NonNull<dyn Any + Send>| unsafe { value.as_ref() }.is::<T>();
            values.iter().find(|(of, value)| *of == id && is_it(value)).map(|(_, value)| value.cast::<T>())
        });
        found.unwrap_or_else(|| {
            // The list is not borrowed while the user's function runs, which may use other locals.
            let made: Box<dyn Any + Send> = Box::new((key.init)());
            let made = NonNull::from(Box::leak(made));
            self.values.borrow_mut().get_or_insert_default().push((id, made));
            made.cast()
        })
    }
}

impl Drop for Locals {
    fn drop(&mut self) {
        self.clear();
    }
}

thread_local! {
    static OF_THREAD: Locals = const { Locals::new() };
}

impl<T: Send + 'static> LocalKey<T> {
    /// Runs `f` with the value of the current task, or outside of tasks with that of the thread.
    /// Makes the value first if there is none.
    ///
    /// The value is dropped when its task ends. The call searches through the few locals that a
    /// task has.
    ///
    /// # Panics
    ///
    /// Outside of tasks, if called while the thread's own locals are being destroyed.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let value = match current() {
            // SAFETY: the current task is alive, and only the thread that runs it touches its
            // locals.
            Some(task) => unsafe { task.as_ref() }.locals.get(self),
            None => OF_THREAD.with(|locals| locals.get(self)),
        };
        // SAFETY: the value is dropped only when the task has ended, and this call is a part of the
        // task. The calls of this function that are under way share it, all on this thread.
        f(unsafe { value.as_ref() })
    }
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        LocalKey { init }
    }
}
