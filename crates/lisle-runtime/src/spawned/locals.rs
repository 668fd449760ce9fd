//! The locals of a fiber.

use crate::panics::forget_panic;
use crate::report;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// The locals of one fiber. They are few, so they are in a list that is searched.
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

    /// Drops the values, the last made first, whatever their destructors do. Passes the payloads of
    /// their panics to `told`. Forgets what is left after many rounds, since it must not be dropped
    /// elsewhere.
    pub(crate) fn clear_for_good(&self, mut told: impl FnMut(Box<dyn Any + Send>)) {
        // Each round drops at least one value, but destructors may make new ones for ever.
        for _ in 0..64 {
            match catch_unwind(AssertUnwindSafe(|| self.clear())) {
                Ok(()) => return,
                Err(panic) => told(panic),
            }
        }
        self.leak();
    }

    /// Drops the values, the last made first, and up to a limit also those that a destructor makes.
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

    /// Returns the value with this number. Calls `init` if there is no such value.
    pub(crate) fn get<T: 'static>(&self, id: usize, init: fn() -> T) -> Rc<T> {
        let find = |values: &Vec<(usize, Rc<dyn Any>)>| {
            values.iter().find(|entry| entry.0 == id).map(|entry| entry.1.clone())
        };
        let found = find(&self.values.borrow());
        let value = found.unwrap_or_else(|| {
            // The list is not borrowed while the user's function runs, which may use other locals.
            let made: Rc<dyn Any> = Rc::new(init());
            self.values.borrow_mut().push((id, made.clone()));
            made
        });
        value.downcast().expect("a key has one type")
    }
}

impl Drop for Locals {
    /// Those of a fiber are gone by then. Those of a thread are dropped with it, and a panic of
    /// their destructors there would end the process.
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
