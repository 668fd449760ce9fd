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

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::null;

thread_local! {
    /// What is lent to the batch that runs on this thread, or null.
    static IN_CALL: Cell<*const Loans> = const { Cell::new(null()) };
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
    /// No frame of this world is under way. The data stays until the list is cleared, which is before
    /// the next frame that it is not lent to.
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
    // SAFETY: the world keeps the list for as long as the batch runs, which is called by `in_call`, and calls
    // the code that asks.
    unsafe { IN_CALL.get().as_ref() }
}

/// Runs a batch, to which this is lent.
///
/// # Safety
///
/// Null, or what stays in place, and is not changed, until this returns.
pub(crate) unsafe fn in_call<R>(loans: *const Loans, f: impl FnOnce() -> R) -> R {
    struct Back(*const Loans);
    impl Drop for Back {
        fn drop(&mut self) {
            IN_CALL.set(self.0);
        }
    }
    let _back = Back(IN_CALL.replace(loans));
    // Another fiber of the thread would find it, too, and might keep it.
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    if !loans.is_null() {
        return lisle_runtime::fiber::no_suspend(f);
    }
    f()
}
