//! The locals of a fiber, a task, or a thread.

use super::kept::Kept;
use crate::event::limit;
use crate::panics::forget_panic;
use crate::report;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The number of values that are dropped at the end, and of computations that are unwound.
/// Destructors may make new ones for ever. What is left after the limit is leaked, since it must not
/// be dropped elsewhere.
const DROPPED: usize = 10_000;

type Values = Vec<(usize, NonNull<dyn Any>)>;

/// Values by the addresses of their keys. They are few, so they are in a list that is searched.
/// Most fibers and tasks have none.
#[derive(Default)]
pub(crate) struct Locals {
    values: RefCell<Option<Box<Values>>>,
}

impl Locals {
    pub(crate) const fn new() -> Self {
        Locals { values: RefCell::new(None) }
    }

    /// Drops the values, the last made first, and those that a destructor makes. Before each, it
    /// unwinds the computations that are `kept`, which may refer to that value, or lie in it.
    /// Passes the payloads of panics of the destructors to `told`.
    ///
    /// `home` is that of the owner. It is another before each value is dropped: a suspended
    /// computation that is not among those kept must not go on in the destructors that follow, nor
    /// be unwound.
    #[inline]
    pub(crate) fn clear(&self, home: &Cell<u64>, kept: Option<&Kept>, told: &dyn Fn(Box<dyn Any + Send>)) {
        if self.values.borrow().is_some() || kept.is_some_and(|kept| !kept.is_empty()) {
            self.clear_some(home, kept, told);
        }
    }

    #[cold]
    fn clear_some(&self, home: &Cell<u64>, kept: Option<&Kept>, told: &dyn Fn(Box<dyn Any + Send>)) {
        // The destructors run to their end, even if the runtime ends.
        let _masked = limit::masked();
        for _ in 0..DROPPED {
            match catch_unwind(AssertUnwindSafe(|| kept.is_some_and(Kept::end_one))) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(panic) => {
                    told(panic);
                    continue;
                }
            }
            let last = self.values.borrow_mut().as_mut().and_then(|values| values.pop());
            let Some((_, value)) = last else { break };
            home.set(0);
            // SAFETY: `get` has leaked the value, which has just left the list.
            let value = unsafe { Box::from_raw(value.as_ptr()) };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                told(panic);
            }
        }
        kept.into_iter().for_each(Kept::let_go);
        *self.values.borrow_mut() = None;
    }

    /// Returns the value of the key at `key`, which stays until `clear`. Calls `init` if there is
    /// no such value.
    pub(crate) fn get<T: 'static>(&self, key: usize, init: fn() -> T) -> NonNull<T> {
        let found = self.values.borrow().as_ref().and_then(|values| {
            // Constants that are no statics may share an address, so the type is compared, too.
            // SAFETY: values stay until they have left the list, and no mutable reference to one
            // exists.
            let is_it = |value: &NonNull<dyn Any>| unsafe { value.as_ref() }.is::<T>();
            values.iter().find(|(of, value)| *of == key && is_it(value)).map(|(_, value)| value.cast::<T>())
        });
        found.unwrap_or_else(|| {
            // The list is not borrowed while the user's function runs, which may use other locals.
            let made: Box<dyn Any> = Box::new(init());
            let made = NonNull::from(Box::leak(made));
            self.values.borrow_mut().get_or_insert_default().push((key, made));
            made.cast()
        })
    }
}

/// Reports a panic of the destructor of `what`.
pub(crate) fn contained(what: &str, panic: Box<dyn Any + Send>) {
    report::contained(&format!("the destructor of {what} has panicked"));
    forget_panic(panic);
}
