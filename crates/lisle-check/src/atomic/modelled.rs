//! The types of atomics, for programs that may be checked.
//!
//! Outside of a check each function does the same as the function of `std`. In a check it asks the
//! model. The atomic itself holds the newest value, for code that reads it without the model.

use crate::program::Access;
use crate::program::shared::{self, Asked, is_checking};
use std::fmt;
use std::panic::Location;
pub use std::sync::atomic::{Ordering, compiler_fence};

/// A value that fits into a word.
trait Word: Copy {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! words {
    ($($value:ty)*) => { $(
        impl Word for $value {
            fn to_bits(self) -> u64 {
                self as u64
            }
            fn from_bits(bits: u64) -> Self {
                bits as $value
            }
        }
    )* };
}

words! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl Word for bool {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

impl<T> Word for *mut T {
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_bits(bits: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

fn asked(order: Ordering, site: &'static Location<'static>) -> Asked {
    Asked { order, otherwise: order, may_fail: false, site }
}

/// An atomic fence, as [`std::sync::atomic::fence`].
///
/// # Panics
///
/// As the function of `std`, if the order is [`Relaxed`](Ordering::Relaxed).
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    if is_checking() {
        shared::fence(order, Location::caller());
    }
}

/// The exchanges of a type with this value, and whether each may fail without a reason.
macro_rules! exchanges {
    ($value:ty, $($(#[$what:meta])* $exchange:ident: $may_fail:literal)*) => { $(
        $(#[$what])*
        ///
        /// # Panics
        ///
        /// As the function of `std`, if `failure` is no order for loads.
        #[inline]
        #[track_caller]
        pub fn $exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            if is_checking() {
                let site = Location::caller();
                let asked = Asked { order: success, otherwise: failure, may_fail: $may_fail, site };
                if let Some(result) = self.exchange(current, new, asked) {
                    return result;
                }
            }
            self.0.$exchange(current, new, success, failure)
        }
    )* };
}

macro_rules! common {
    ($name:ident, $value:ty $(, $t:ident)?) => {
        impl$(<$t>)? $name$(<$t>)? {
            /// Creates an atomic with this value.
            #[inline]
            pub const fn new(value: $value) -> Self {
                $name(std::sync::atomic::$name::new(value))
            }

            /// Returns the value.
            #[inline]
            pub fn into_inner(mut self) -> $value {
                *self.0.get_mut()
            }

            /// Returns a reference to the value. No other code can use the value meanwhile.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Performs an operation in the model. Returns the value that it has read, and whether
            /// it has written; `None` outside of a check.
            #[cold]
            fn perform(&self, asked: Asked, access: Access<'_>) -> Option<($value, bool)> {
                let value = || self.0.load(Ordering::Relaxed).to_bits();
                let done = shared::perform(self, value, asked, access)?;
                self.0.store(Word::from_bits(done.newest), Ordering::Relaxed);
                Some((Word::from_bits(done.read), done.has_written))
            }

            /// Performs an operation that replaces the value by the result of `change`.
            #[cold]
            fn change(
                &self,
                asked: Asked,
                change: impl Fn(&std::sync::atomic::$name$(<$t>)?) -> bool,
            ) -> Option<($value, bool)> {
                let mut of_bits = |bits: u64| {
                    let value = std::sync::atomic::$name::new(Word::from_bits(bits));
                    change(&value).then(|| value.into_inner().to_bits())
                };
                self.perform(asked, Access::Update(&mut of_bits))
            }

            /// Loads the value.
            ///
            /// # Panics
            ///
            /// As the function of `std`, if it is no order for loads.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                let value = self.0.load(order);
                if is_checking()
                    && let Some((value, _)) = self.perform(asked(order, Location::caller()), Access::Load)
                {
                    return value;
                }
                value
            }

            /// Stores a value.
            ///
            /// # Panics
            ///
            /// As the function of `std`, if it is no order for stores.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                if is_checking() && !matches!(order, Ordering::Acquire | Ordering::AcqRel) {
                    let asked = asked(order, Location::caller());
                    if self.perform(asked, Access::Store(value.to_bits())).is_some() {
                        return;
                    }
                }
                self.0.store(value, order);
            }

            /// Stores a value, and returns the one before.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                if is_checking() {
                    let done = self.change(asked(order, Location::caller()), |place| {
                        place.store(value, Ordering::Relaxed);
                        true
                    });
                    if let Some((before, _)) = done {
                        return before;
                    }
                }
                self.0.swap(value, order)
            }

            exchanges! {
                $value,
                /// Stores `new` if the value is `current`. Returns the value before, as an error if
                /// it was not `current`.
                ///
                /// # Errors
                ///
                /// Returns the value if it is not `current`.
                compare_exchange: false
                /// Does the same as [`compare_exchange`](Self::compare_exchange), but may fail
                /// although the value is `current`.
                ///
                /// # Errors
                ///
                /// Returns the value if nothing was stored.
                compare_exchange_weak: true
            }

            #[cold]
            fn exchange(
                &self,
                current: $value,
                new: $value,
                asked: Asked,
            ) -> Option<Result<$value, $value>> {
                // `std` panics if it is no order for loads.
                std::sync::atomic::AtomicBool::new(false).load(asked.otherwise);
                let (before, has_written) = self.change(asked, |place| {
                    place.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
                })?;
                Some(if has_written { Ok(before) } else { Err(before) })
            }

            /// Replaces the value by the result of `f`, and begins again if the value has changed
            /// meanwhile. Returns the value before.
            ///
            /// # Errors
            ///
            /// Returns the value if `f` returns `None`.
            ///
            /// # Panics
            ///
            /// As the function of `std`, if `fetch` is no order for loads.
            #[inline]
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                if !is_checking() {
                    return self.0.fetch_update(set, fetch, f);
                }
                let mut before = self.load(fetch);
                while let Some(next) = f(before) {
                    // `compare_exchange_weak` would only add rounds that do the same again.
                    match self.compare_exchange(before, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }
        }

        /// Another atomic may come to the same address.
        impl$(<$t>)? Drop for $name$(<$t>)? {
            #[inline]
            fn drop(&mut self) {
                if is_checking() {
                    shared::is_gone(self);
                }
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
                #[inline]
                #[track_caller]
                pub fn $change(&self, value: $value, order: Ordering) -> $value {
                    if is_checking() {
                        let done = self.change(asked(order, Location::caller()), |place| {
                            place.$change(value, Ordering::Relaxed);
                            true
                        });
                        if let Some((before, _)) = done {
                            return before;
                        }
                    }
                    self.0.$change(value, order)
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

impl AtomicBool {
    /// Negates the value. Returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
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
