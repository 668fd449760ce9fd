//! Values that belong to a fiber, as thread-locals belong to a thread.
//!
//! A fiber stays on its thread and may use thread-locals. But all fibers of a domain share them,
//! and one that is made on first use by code that waits is unsound: see *Soundness* in the module
//! above. A fiber-local belongs to one fiber, and its initializer may wait. On a plain OS thread it
//! belongs to the thread.

use super::current;
use crate::spawned::local_key::Key;
use crate::spawned::thread_locals::ThreadLocals;

/// A key for a value that each fiber has its own of, made by [`fiber_local!`](crate::fiber_local).
pub struct LocalKey<T: 'static>(Key<T>);

impl<T> std::fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalKey")
    }
}

/// Declares values that each fiber has its own of, made on first use.
///
/// The initializer may wait, unlike the initializer of a [`std::thread_local!`]: see
/// [*Soundness*](crate::fiber#soundness).
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use std::cell::Cell;
///
/// lisle::fiber_local! {
///     static DEPTH: Cell<u32> = Cell::new(0);
/// }
///
/// lisle::run(|| {
///     DEPTH.with(|depth| depth.set(7));
///     let other = lisle::spawn(|| DEPTH.with(Cell::get)).join().unwrap();
///     assert_eq!((DEPTH.with(Cell::get), other), (7, 0));
/// });
/// ```
#[macro_export]
macro_rules! fiber_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr;)+) => {
        $($(#[$attribute])* $visibility static $name: $crate::fiber::LocalKey<$type> =
            $crate::fiber::LocalKey::new(|| $init);)+
    };
}

thread_local! {
    static OF_THREAD: ThreadLocals = const { ThreadLocals::new() };
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        LocalKey(Key::new(init))
    }

    /// Runs `f` with the value of the current fiber, or on a plain thread with the thread's value.
    /// Makes the value first if there is none.
    ///
    /// The value is dropped when its fiber ends, unless a suspended computation (`lisle::effect`) is
    /// left then that may refer to it. The call searches through the few locals that a
    /// fiber has.
    ///
    /// # Panics
    ///
    /// On a plain thread, if called while the thread's own locals are being destroyed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::cell::RefCell;
    ///
    /// lisle::fiber_local! {
    ///     static SEEN: RefCell<Vec<u32>> = RefCell::new(Vec::new());
    /// }
    ///
    /// lisle::run(|| {
    ///     let fiber = lisle::spawn(|| {
    ///         SEEN.with(|seen| seen.borrow_mut().push(1));
    ///         lisle::fiber::yield_now();
    ///         SEEN.with(RefCell::take) // take the value out, so that it outlives the fiber
    ///     });
    ///     assert_eq!(fiber.join().unwrap(), [1]);
    ///     assert!(SEEN.with(RefCell::take).is_empty()); // this fiber has its own
    /// });
    /// ```
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the current fiber is alive.
        let own = current().map(|fiber| unsafe { &fiber.as_ref().locals });
        // SAFETY: these are the locals of the current fiber, of which the call is a part. Only its thread
        // touches them.
        unsafe { self.0.with(own, &OF_THREAD, f) }
    }
}
