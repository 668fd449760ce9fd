//! Values that belong to a fiber, as thread-locals belong to a thread.
//!
//! Thread-locals keep working in fibers, since a fiber stays on its thread, but all fibers of a domain
//! share them. A fiber-local belongs to one fiber; on a plain OS thread it belongs to the thread.

use super::current;
use crate::panics::forget_panic;
use crate::report;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

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

/// The locals of one fiber: few, so a list is searched.
#[derive(Default)]
pub(crate) struct Locals {
    values: RefCell<Vec<(usize, Rc<dyn Any>)>>,
}

impl Locals {
    pub(crate) const fn new() -> Self {
        Locals { values: RefCell::new(Vec::new()) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.values.borrow().is_empty()
    }

    /// Drops the values, last made first, whatever their destructors do: `told` is given what they panic with. What
    /// is left after many rounds is forgotten, for it must not be dropped elsewhere.
    pub(crate) fn clear_for_good(&self, mut told: impl FnMut(Box<dyn Any + Send>)) {
        // Each round drops at least one, but destructors may make new ones for ever.
        for _ in 0..64 {
            match catch_unwind(AssertUnwindSafe(|| self.clear())) {
                Ok(()) => return,
                Err(panic) => told(panic),
            }
        }
        self.leak();
    }

    /// Drops the values, last made first. Those that a destructor makes anew are dropped as well, up to a
    /// limit.
    fn clear(&self) {
        for _ in 0..10_000 {
            let Some(last) = self.values.borrow_mut().pop() else { return };
            drop(last);
        }
        self.leak();
    }

    fn leak(&self) {
        std::mem::forget(self.values.take());
    }

    fn get<T: 'static>(&self, key: &'static LocalKey<T>) -> Rc<T> {
        let id = std::ptr::from_ref(key) as usize;
        let find = |values: &Vec<(usize, Rc<dyn Any>)>| {
            values.iter().find(|entry| entry.0 == id).map(|entry| entry.1.clone())
        };
        let found = find(&self.values.borrow());
        let value = found.unwrap_or_else(|| {
            // Not borrowed while the user's function runs: it may use other locals.
            let made: Rc<dyn Any> = Rc::new((key.init)());
            self.values.borrow_mut().push((id, made.clone()));
            made
        });
        value.downcast().expect("a key has one type")
    }
}

impl Drop for Locals {
    /// Those of a fiber are gone by then. Those of a thread go with it, and a panic there would end the process.
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        self.clear_for_good(|panic| {
            report::contained("the destructor of a thread's fiber-local has panicked");
            forget_panic(panic);
        });
    }
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
        let value = match current() {
            // SAFETY: the current fiber is alive, and its locals are touched by this thread only.
            Some(fiber) => unsafe { fiber.as_ref() }.locals.get(self),
            None => OF_THREAD.with(|locals| locals.get(self)),
        };
        f(&value)
    }
}
