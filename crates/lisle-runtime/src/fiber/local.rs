//! Values that belong to a fiber, as thread-locals belong to a thread.
//!
//! Thread-locals keep working in fibers, since a fiber stays on its thread, but all fibers of a domain
//! share them. A fiber-local belongs to one fiber; on a plain OS thread it belongs to the thread.

use super::current;
use crate::spawned::locals::Locals;

/// A key for a value of which each fiber has its own, made by [`fiber_local!`](crate::fiber_local).
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

impl<T> std::fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalKey")
    }
}

/// Declares values of which each fiber has its own, made on first use.
///
/// ```
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
    static OF_THREAD: Locals = const { Locals::new() };
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        LocalKey { init }
    }

    /// Runs `f` with the current fiber's value (on a plain thread the thread's), making it first if need be.
    ///
    /// The value is dropped when its fiber ends. Costs a search through the few locals a fiber has.
    ///
    /// # Panics
    ///
    /// On a plain thread, if called while the thread's own locals are being destroyed.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let id = std::ptr::from_ref(self) as usize;
        let value = match current() {
            // SAFETY: the current fiber is alive, and its locals are touched by this thread only.
            Some(fiber) => unsafe { fiber.as_ref() }.locals.get(id, self.init),
            None => OF_THREAD.with(|locals| locals.get(id, self.init)),
        };
        f(&value)
    }
}
