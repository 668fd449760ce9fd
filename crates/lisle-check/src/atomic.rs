//! The atomics of `std`, for programs that are to be checked.
//!
//! They have the names and functions of [`std::sync::atomic`], and do the same. In a checked program
//! each operation is a step that others may come before. What is shared by atomics of `std` itself is
//! not seen: a checked program behaves as if such an operation came together with the one before it.
//!
//! All orders are taken for sequentially consistent so far: what goes wrong only because of a weaker
//! order is not found in a program. The weaker models are explored for litmus tests.
//!
//! ```
//! use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
//! use std::sync::Arc;
//!
//! let verdict = lisle_check::Checker::new().explore(|| {
//!     let count = Arc::new(AtomicU32::new(0));
//!     let of_other = count.clone();
//!     let other = lisle::spawn(move || of_other.store(of_other.load(SeqCst) + 1, SeqCst));
//!     count.store(count.load(SeqCst) + 1, SeqCst);
//!     other.join().unwrap();
//!     assert_eq!(count.load(SeqCst), 2);
//! });
//! assert!(verdict.failure().unwrap().panicked().unwrap().contains("left: 1"));
//! ```

use crate::program::read_at;
use lisle_core::event::{is_modelled, visible_on};
use lisle_core::shim::model::{Touch, touched};
use std::fmt;
use std::panic::Location;
pub use std::sync::atomic::{Ordering, compiler_fence, fence};

/// Lets others run before an operation on an object.
#[track_caller]
fn before<T>(object: &T) {
    visible_on(object);
    if is_modelled() {
        read_at(Location::caller());
    }
}

macro_rules! common {
    ($name:ident, $value:ty $(, $t:ident)?) => {
        impl$(<$t>)? $name$(<$t>)? {
            /// Creates an atomic with this value.
            pub const fn new(value: $value) -> Self {
                $name(std::sync::atomic::$name::new(value))
            }

            /// Returns the value.
            pub fn into_inner(mut self) -> $value {
                *self.0.get_mut()
            }

            /// Returns the place of the value, which nobody else can use meanwhile.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            #[track_caller]
            fn step<R>(&self, touch: Touch, step: impl FnOnce(&std::sync::atomic::$name$(<$t>)?) -> R) -> R {
                before(self);
                touched(std::ptr::from_ref(self).addr(), touch);
                step(&self.0)
            }

            /// Loads the value.
            ///
            /// # Panics
            ///
            /// As the function of `std`, if the order is none for loads.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.step(Touch::Read, |value| value.load(order))
            }

            /// Stores a value.
            ///
            /// # Panics
            ///
            /// As the function of `std`, if the order is none for stores.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.step(Touch::Store, |place| place.store(value, order));
            }

            /// Stores a value, and returns the one before.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.update(|place| place.swap(value, order))
            }

            /// An update that leaves the value as it is has only read it.
            #[track_caller]
            fn update(&self, update: impl FnOnce(&std::sync::atomic::$name$(<$t>)?) -> $value) -> $value {
                before(self);
                let value = update(&self.0);
                let is_same = value == self.0.load(Ordering::Relaxed);
                touched(std::ptr::from_ref(self).addr(), if is_same { Touch::Read } else { Touch::Write });
                value
            }

            /// Stores `new` if the value is `current`. Returns the value before, as an error if it was
            /// another one.
            ///
            /// # Errors
            ///
            /// Returns the value if it is not `current`.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                before(self);
                let result = self.0.compare_exchange(current, new, success, failure);
                let touch = if result.is_ok() { Touch::Write } else { Touch::Read };
                touched(std::ptr::from_ref(self).addr(), touch);
                result
            }

            /// Does the same as [`compare_exchange`](Self::compare_exchange).
            ///
            /// # Errors
            ///
            /// As there.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value by what `f` makes of it, until nobody else has changed it meanwhile.
            /// Returns the value before.
            ///
            /// # Errors
            ///
            /// Returns the value if `f` returns `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut before = self.load(fetch);
                while let Some(next) = f(before) {
                    match self.compare_exchange_weak(before, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }
        }

        /// Another one may come to the same place.
        impl$(<$t>)? Drop for $name$(<$t>)? {
            fn drop(&mut self) {
                touched(std::ptr::from_ref(self).addr(), Touch::Gone);
            }
        }

        impl$(<$t>)? fmt::Debug for $name$(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl$(<$t>)? From<$value> for $name$(<$t>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! changes {
    ($name:ident, $value:ty, $($change:ident: $what:literal)*) => {
        impl $name {
            $(
                #[doc = $what]
                #[doc = " Returns the value before."]
                #[track_caller]
                pub fn $change(&self, value: $value, order: Ordering) -> $value {
                    self.update(|place| place.$change(value, order))
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($name:ident: $value:ty)*) => { $(
        #[doc = concat!("An integer as [`std::sync::atomic::", stringify!($name), "`].")]
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);
        common!($name, $value);
        changes! {
            $name, $value,
            fetch_add: "Adds to the value, and wraps around."
            fetch_sub: "Subtracts from the value, and wraps around."
            fetch_and: "Sets the value to its bits that `value` has, too."
            fetch_nand: "Sets the value to its bits that it and `value` do not both have."
            fetch_or: "Sets the bits of `value`."
            fetch_xor: "Turns the bits of `value`."
            fetch_max: "Sets the value to the larger of both."
            fetch_min: "Sets the value to the smaller of both."
        }
    )* };
}

integers! {
    AtomicU8: u8
    AtomicU16: u16
    AtomicU32: u32
    AtomicU64: u64
    AtomicUsize: usize
    AtomicI8: i8
    AtomicI16: i16
    AtomicI32: i32
    AtomicI64: i64
    AtomicIsize: isize
}

/// A flag as [`std::sync::atomic::AtomicBool`].
#[derive(Default)]
#[repr(transparent)]
pub struct AtomicBool(std::sync::atomic::AtomicBool);
common!(AtomicBool, bool);
changes! {
    AtomicBool, bool,
    fetch_and: "Sets the value to whether both are true."
    fetch_nand: "Sets the value to whether not both are true."
    fetch_or: "Sets the value to whether any of both is true."
    fetch_xor: "Sets the value to whether they differ."
}

/// A pointer as [`std::sync::atomic::AtomicPtr`].
#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);
common!(AtomicPtr, *mut T, T);

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}
