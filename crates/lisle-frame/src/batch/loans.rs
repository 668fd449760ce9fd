//! What is lent to the calls of a frame.
//!
//! The host borrows its data to the world for one frame. The world has a list of such *loans*, which it
//! changes only between frames. A batch of calls refers to the list, and its runner notes this on its
//! thread while it runs the batch. So a call finds what is lent to it without a count of references,
//! and without an atomic. The frame ends when all batches that refer to the list are complete, also
//! those whose results nobody wants.
//!
//! A batch that the frame does not wait for, since its calls have a deadline or go over frames, refers
//! to no list.
//!
//! Code that reads what is lent must have returned before the frame ends. Only code that is suspended in
//! the middle, in a generator or another stack, could go on later. With a Lisle runtime it may not be
//! suspended; otherwise each thread counts who reads, and the process ends where a batch or a frame is
//! left by one that still does.

use crate::under_way::{self, UnderWay};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::null;

thread_local! {
    /// The batches that run on this thread, each with what is lent to it, or null.
    static BATCHES: UnderWay<Loans> = const { UnderWay::new() };
    /// How many functions on this thread read what is lent.
    static READING: Cell<usize> = const { Cell::new(0) };
}

/// Something that is lent.
struct Loan {
    id: u32,
    /// A pointer to it, which may be a wide one.
    data: MaybeUninit<[*const (); 2]>,
}

/// What is lent to the frame under way.
#[derive(Default)]
pub(crate) struct Loans {
    /// Changed between frames only, by the world's thread.
    all: UnsafeCell<Vec<Loan>>,
}

impl Loans {
    /// Returns where a batch finds them, or null if there are none.
    pub(crate) fn place(&self) -> *const Loans {
        // SAFETY: this is the world's thread, which alone changes the list.
        if unsafe { &*self.all.get() }.is_empty() { null() } else { self }
    }

    /// Returns what is lent under this number, which stands for this type.
    ///
    /// # Safety
    ///
    /// Nothing was lent under it as another type.
    pub(crate) unsafe fn find<T: ?Sized>(&self, id: u32) -> Option<*const T> {
        // SAFETY: nobody changes the list while a frame is under way; and a batch that refers to it ends
        // with the frame.
        let all = unsafe { &*self.all.get() };
        let loan = all.iter().find(|loan| loan.id == id)?;
        // SAFETY: `lend` has written a pointer of this type, by the caller's promise.
        Some(unsafe { loan.data.as_ptr().cast::<*const T>().read() })
    }

    /// Lends something to the next frame.
    ///
    /// # Safety
    ///
    /// No frame of this world is under way. The data stays until the list is cleared.
    pub(crate) unsafe fn lend<T: ?Sized>(&self, id: u32, data: *const T) {
        const { assert!(size_of::<*const T>() <= size_of::<[*const (); 2]>()) };
        let mut place = MaybeUninit::<[*const (); 2]>::uninit();
        // SAFETY: there is room, as asserted.
        unsafe { place.as_mut_ptr().cast::<*const T>().write(data) };
        // SAFETY: by the caller's promise nobody looks at the list.
        unsafe { &mut *self.all.get() }.push(Loan { id, data: place });
    }

    /// Takes everything back.
    ///
    /// # Safety
    ///
    /// No frame of this world is under way, and no batch that refers to the list runs.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: by the caller's promise.
        unsafe { &mut *self.all.get() }.clear();
    }
}

/// Returns what is lent to the batch that runs on this thread.
pub(crate) fn of_call<'a>() -> Option<&'a Loans> {
    // SAFETY: the world keeps the list until the batch is complete; the batch is not the current one after that.
    unsafe { under_way::current(&BATCHES).as_ref() }
}

/// Calls a function that reads what is lent.
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

/// Calls what something is lent to: a batch, or a frame. What reads it has returned when this returns.
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

/// Runs a batch, to which this is lent.
///
/// # Safety
///
/// Null, or what stays in place, and is not changed, until this returns.
pub(crate) unsafe fn in_call<R>(loans: *const Loans, f: impl FnOnce() -> R) -> R {
    // Another fiber of the thread would find what is lent, and so would one that is begun by a batch within.
    let is_lent = !loans.is_null() || !under_way::current(&BATCHES).is_null();
    under_way::enter(&BATCHES, loans, || if is_lent { all_read(|| unsuspended(f)) } else { f() })
}

/// Calls code that must not be suspended, where that can be told.
fn unsuspended<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    return lisle_runtime::fiber::no_suspend(f);
    #[cfg(not(all(feature = "runtime", not(lisle_loom))))]
    f()
}
