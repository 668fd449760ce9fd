//! The locals of a fiber, a task, or a thread.

use super::kept::{Ended, Kept, Left};
use crate::masked;
use crate::panics::forget_panic;
use crate::report;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The number of values that are dropped at the end, and of computations that are unwound.
/// Destructors may make new ones for ever. Values beyond the limit are leaked, since they must not
/// be dropped elsewhere.
const DROPPED: usize = 10_000;

type Values = Vec<(usize, NonNull<dyn Any>)>;

/// Values by the addresses of their keys. They are few, so they are in a list that is searched.
/// Most fibers and tasks have none.
#[derive(Default)]
pub(crate) struct Locals {
    values: RefCell<Option<Box<Values>>>,
}

/// Whose locals are dropped.
pub(crate) trait Owner {
    /// Describes it, for a message.
    fn describe(&self) -> String;

    /// Returns its home, which is made another before each value is dropped: a computation that is
    /// left must not go on in the destructors that follow, nor be unwound.
    fn home(&self) -> &Cell<u64>;

    /// Returns the list of the computations that are to be unwound first.
    fn kept(&self) -> Option<&Kept> {
        None
    }

    /// Notes that a computation is left that has been in the list.
    fn leaves(&self, _: Left) {}

    /// Returns `true` if a computation is left whose frames may refer to the values. Then others may
    /// use these through the frames, such as the threads of a scope, although it never goes on.
    fn is_referred_to(&self) -> bool;
}

impl Locals {
    pub(crate) const fn new() -> Self {
        Locals { values: RefCell::new(None) }
    }

    /// Drops the values, the last made first, and also values that a destructor makes. Before each,
    /// it unwinds the computations that may be unwound, since they may refer to that value, or lie
    /// in it. If one is left, it leaks the remaining values. Passes the payloads of panics of the
    /// destructors to `told`.
    #[inline]
    pub(crate) fn clear(&self, owner: &dyn Owner, told: &dyn Fn(Box<dyn Any + Send>)) {
        if self.values.borrow().is_some() || owner.kept().is_some_and(|kept| !kept.is_empty()) {
            self.clear_some(owner, told);
        }
    }

    #[cold]
    fn clear_some(&self, owner: &dyn Owner, told: &dyn Fn(Box<dyn Any + Send>)) {
        // The destructors run to their end, even if the runtime ends.
        masked!(_masked);
        for _ in 0..DROPPED {
            match catch_unwind(AssertUnwindSafe(|| owner.kept().map_or(Ended::None, Kept::end_one))) {
                Ok(Ended::None) => {}
                Ok(Ended::One) => continue,
                Ok(Ended::Left(left)) => {
                    owner.leaves(left);
                    continue;
                }
                Err(panic) => {
                    told(panic);
                    continue;
                }
            }
            if owner.is_referred_to() {
                self.tell_of_leak(owner);
                break;
            }
            let last = self.values.borrow_mut().as_mut().and_then(|values| values.pop());
            let Some((_, value)) = last else { break };
            owner.home().set(0);
            // SAFETY: `get` has leaked the value, which has just left the list.
            let value = unsafe { Box::from_raw(value.as_ptr()) };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                told(panic);
            }
        }
        if owner.kept().is_some_and(Kept::let_go) {
            owner.leaves(Left::OfStack);
        }
        *self.values.borrow_mut() = None;
    }

    fn tell_of_leak(&self, owner: &dyn Owner) {
        if self.values.borrow().as_ref().is_some_and(|values| !values.is_empty()) {
            lisle_core::internal::seam::write(&format!(
                "locals of {} stay for ever, and their destructors do not run: a computation that was kept there has not \
                 ended, and may refer to them",
                owner.describe(),
            ));
        }
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
