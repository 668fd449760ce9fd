//! Cells whose accesses are checked for data races.
//!
//! `unsafe` code shares plain memory, and orders the accesses by atomics. These cells have the
//! functions of loom's cells: [`UnsafeCell::with`] for reading and [`UnsafeCell::with_mut`] for
//! writing, with a pointer that is used within the call. A checked program fails if nothing orders
//! two accesses of which one writes, in whichever order they ran. The report has the lines of both.
//! Outside of a check these are the cells of `std`.
//!
//! ```
//! use lisle_check::atomic::{AtomicBool, Ordering::{Acquire, Relaxed, Release}};
//! use lisle_check::cell::UnsafeCell;
//! use std::sync::Arc;
//!
//! struct Slot {
//!     message: UnsafeCell<u32>,
//!     is_full: AtomicBool,
//! }
//! // SAFETY: a fiber that sees the flag comes after the fiber that has filled the slot. (Does it?)
//! unsafe impl Sync for Slot {}
//!
//! let program = |order| move || {
//!     let slot = Arc::new(Slot { message: UnsafeCell::new(0), is_full: AtomicBool::new(false) });
//!     let of_sender = slot.clone();
//!     let sender = lisle::spawn(move || {
//!         // SAFETY: nobody looks before it is full.
//!         of_sender.message.with_mut(|message| unsafe { *message = 42 });
//!         of_sender.is_full.store(true, order);
//!     });
//!     if slot.is_full.load(Acquire) {
//!         // SAFETY: nobody writes after it is full.
//!         assert_eq!(slot.message.with(|message| unsafe { *message }), 42);
//!     }
//!     sender.join().unwrap();
//! };
//! lisle_check::check(program(Release));
//!
//! let verdict = lisle_check::Checker::new().explore(program(Relaxed));
//! let race = verdict.failure().unwrap().race().expect("nothing orders the write and the read");
//! assert!(race.to_string().contains("the store does not release the first access"));
//! ```
//!
//! In a checked program [`new`](UnsafeCell::new) counts as a write: if the cell reaches another
//! fiber without an order, that fiber's access races with it. So `new` is not `const`; for statics
//! there is [`UnsafeCell::const_new`].

use std::fmt;
use trace::Trace;

/// The checker's record of a cell.
#[cfg(feature = "programs")]
mod trace {
    use crate::program::CellAccess;
    use crate::program::shared::{self, is_checking};
    use std::panic::Location;

    /// The name of the cell that it is part of, or zero.
    pub(super) struct Trace(u64);

    impl Trace {
        pub(super) const NONE: Trace = Trace(0);

        #[inline]
        #[track_caller]
        pub(super) fn new() -> Self {
            Trace(if is_checking() { shared::make_cell(Location::caller()) } else { 0 })
        }

        #[inline]
        #[track_caller]
        pub(super) fn is_read(&self) {
            self.access(CellAccess::Read, Some(Location::caller()));
        }

        #[inline]
        #[track_caller]
        pub(super) fn is_written(&self) {
            self.access(CellAccess::Written, Some(Location::caller()));
        }

        #[inline]
        fn access(&self, access: CellAccess, site: Option<&'static Location<'static>>) {
            if is_checking() {
                shared::access_cell(self.0, std::ptr::from_ref(self).addr(), access, site);
            }
        }
    }

    impl Default for Trace {
        #[track_caller]
        fn default() -> Self {
            Trace::new()
        }
    }

    impl Drop for Trace {
        #[inline]
        fn drop(&mut self) {
            self.access(CellAccess::Dropped, None);
        }
    }
}

/// Without programs there is no record.
#[cfg(not(feature = "programs"))]
mod trace {
    #[derive(Default)]
    pub(super) struct Trace;

    impl Trace {
        pub(super) const NONE: Trace = Trace;

        pub(super) const fn new() -> Self {
            Trace
        }

        #[inline(always)]
        pub(super) const fn is_read(&self) {}

        #[inline(always)]
        pub(super) const fn is_written(&self) {}
    }
}

/// A cell that `unsafe` code changes through shared references.
///
/// As [`std::cell::UnsafeCell`] it is not `Sync`: the type that shares it argues why that is sound.
#[derive(Default)]
pub struct UnsafeCell<T: ?Sized> {
    trace: Trace,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Creates a cell with this value. In a checked program that counts as a write.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        UnsafeCell { trace: Trace::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// Creates a cell with this value, in a constant. It counts as made before the checked program
    /// begins.
    #[inline]
    pub const fn const_new(value: T) -> Self {
        UnsafeCell { trace: Trace::NONE, value: std::cell::UnsafeCell::new(value) }
    }

    /// Returns the value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.trace.is_written();
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` with a pointer for reading. The cell counts as being read until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.trace.is_read();
        let result = f(self.value.get());
        self.trace.is_read();
        result
    }

    /// Calls `f` with a pointer for writing. The cell counts as being written until `f` returns.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.trace.is_written();
        let result = f(self.value.get());
        self.trace.is_written();
        result
    }

    /// Returns the value. No other code can use it meanwhile. In a checked program that counts as a
    /// write: all other pointers to the value must be gone.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.trace.is_written();
        self.value.get_mut()
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

/// A cell whose value is copied or moved in and out.
///
/// It is not `Sync`, as [`std::cell::Cell`]. If a structure with such a cell has an
/// `unsafe impl Sync`, a check shows whether this is sound.
#[derive(Default)]
pub struct Cell<T: ?Sized> {
    trace: Trace,
    value: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    /// Creates a cell with this value. In a checked program that counts as a write.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Cell { trace: Trace::new(), value: std::cell::Cell::new(value) }
    }

    /// Creates a cell with this value, in a constant. It counts as made before the checked program
    /// begins.
    #[inline]
    pub const fn const_new(value: T) -> Self {
        Cell { trace: Trace::NONE, value: std::cell::Cell::new(value) }
    }

    /// Replaces the value.
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        self.trace.is_written();
        self.value.set(value);
    }

    /// Replaces the value, and returns the one before.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.trace.is_written();
        self.value.replace(value)
    }

    /// Takes the value, and leaves the default.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.trace.is_written();
        self.value.take()
    }

    /// Returns a copy of the value.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.trace.is_read();
        self.value.get()
    }

    /// Returns the value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.trace.is_written();
        self.value.into_inner()
    }
}

impl<T: ?Sized> Cell<T> {
    /// Returns the value. No other code can use it meanwhile. In a checked program that counts as a
    /// write.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.trace.is_written();
        self.value.get_mut()
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cell").field(&self.get()).finish()
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Cell::new(value)
    }
}
