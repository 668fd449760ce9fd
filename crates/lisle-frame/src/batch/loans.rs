//! Loans: the data that is lent to the calls of a frame.
//!
//! The host lends its data to the world for one frame. The world has a list of such *loans*, which it changes
//! only between frames. A batch of calls refers to the list, and the thread that runs the batch notes the
//! list meanwhile. So a call finds its loans without a count of references, and without an atomic. The frame
//! ends when all batches that refer to the list are complete, also batches whose results no stream wants.
//!
//! If the calls of a batch have a deadline or go over frames, the frame does not wait for the batch. Such a
//! batch refers to no list.
//!
//! Code that reads a loan must have returned before the frame ends. Only code that is suspended while it
//! reads, in a generator or on another stack, could go on later. With a Lisle runtime such code must not be
//! suspended. Without it, each thread counts the functions that read loans, and the process ends if one of
//! them still reads at the end of its batch or frame.

use crate::under_way::{self, UnderWay};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::null;

thread_local! {
    /// The batches that run on this thread, each with its list of loans, or null.
    static BATCHES: UnderWay<Loans> = const { UnderWay::new() };
    /// How many functions on this thread read loans.
    static READING: Cell<usize> = const { Cell::new(0) };
}

/// Data that is lent, with its number.
struct Loan {
    id: u32,
    /// A pointer to the data, which may be a wide pointer.
    data: MaybeUninit<[*const (); 2]>,
}

/// The loans of the frame under way.
#[derive(Default)]
pub(crate) struct Loans {
    /// The list is changed only between frames, by the world's thread.
    all: UnsafeCell<Vec<Loan>>,
}

impl Loans {
    /// Returns a pointer to the list for a batch, or null if there are no loans.
    pub(crate) fn place(&self) -> *const Loans {
        // SAFETY: this is the world's thread, which alone changes the list.
        if unsafe { &*self.all.get() }.is_empty() { null() } else { self }
    }

    /// Returns the data that is lent under this number, which stands for this type.
    ///
    /// # Safety
    ///
    /// No data of another type was lent under this number.
    pub(crate) unsafe fn find<T: ?Sized>(&self, id: u32) -> Option<*const T> {
        // SAFETY: the list is not changed while a frame is under way, and a batch that refers to it ends with
        // the frame.
        let all = unsafe { &*self.all.get() };
        let loan = all.iter().find(|loan| loan.id == id)?;
        // SAFETY: `lend` has written a pointer of this type, by the caller's promise.
        Some(unsafe { loan.data.as_ptr().cast::<*const T>().read() })
    }

    /// Lends data to the next frame.
    ///
    /// # Safety
    ///
    /// No frame of this world is under way. The data stays until the list is cleared.
    pub(crate) unsafe fn lend<T: ?Sized>(&self, id: u32, data: *const T) {
        const { assert!(size_of::<*const T>() <= size_of::<[*const (); 2]>()) };
        let mut place = MaybeUninit::<[*const (); 2]>::uninit();
        // SAFETY: there is room, as asserted.
        unsafe { place.as_mut_ptr().cast::<*const T>().write(data) };
        // SAFETY: by the caller's promise no code looks at the list.
        unsafe { &mut *self.all.get() }.push(Loan { id, data: place });
    }

    /// Takes all loans back.
    ///
    /// # Safety
    ///
    /// No frame of this world is under way, and no batch that refers to the list runs.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.all.get() }.clear();
    }
}

/// Returns the loans of the batch that runs on this thread.
pub(crate) fn of_call<'a>() -> Option<&'a Loans> {
    // SAFETY: the world keeps the list until the batch is complete; the batch is not the current one after that.
    unsafe { under_way::current(&BATCHES).as_ref() }
}

/// Calls a function that reads a loan.
pub(crate) fn reading<R>(f: impl FnOnce() -> R) -> R {
    struct Reads;
    impl Drop for Reads {
        fn drop(&mut self) {
            READING.set(READING.get() - 1);
        }
    }
    READING.set(READING.get() + 1);
    let _reads = Reads;
    unsuspended(f)
}

/// Runs a batch or a frame that has loans. All functions that read the loans have returned when this returns.
pub(crate) fn all_read<R>(f: impl FnOnce() -> R) -> R {
    struct Leaves(usize);
    impl Drop for Leaves {
        fn drop(&mut self) {
            if READING.get() > self.0 {
                eprintln!(
                    "lisle-frame: a computation was suspended while it read data that is lent to a frame"
                );
                std::process::abort();
            }
        }
    }
    let _leaves = Leaves(READING.get());
    f()
}

/// Runs a batch with these loans.
///
/// # Safety
///
/// `loans` is null, or the list stays in place, and is not changed, until this returns.
pub(crate) unsafe fn in_call<R>(loans: *const Loans, f: impl FnOnce() -> R) -> R {
    // Another fiber of the thread would find the loans, and so would a fiber that a batch within begins.
    let is_lent = !loans.is_null() || !under_way::current(&BATCHES).is_null();
    under_way::enter(&BATCHES, loans, || if is_lent { all_read(|| unsuspended(f)) } else { f() })
}

/// Calls code that must not be suspended. With a Lisle runtime a suspension is a panic.
fn unsuspended<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    return lisle_runtime::fiber::no_suspend(f);
    #[cfg(not(all(feature = "runtime", not(lisle_loom))))]
    f()
}
