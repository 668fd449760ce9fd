//! The cell of a fiber, a task, or a job of a scope.
//!
//! A cell is a head and a body. The head is the scheduler's part, and differs between the three.
//! The body holds the closure or the future, and after its end the result. Code that has only the
//! head, and not the types, uses the body through its [`Contents`].

#[cfg(not(lisle_loom))]
#[cfg(not(lisle_loom))]
use crate::masked;
use crate::memory;
use crate::shim::cell::UnsafeCell;
use std::alloc::Layout;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

/// A cell: a head `H`, and a body that holds an `S`, which is to run, or its result of type `T`.
#[repr(C)]
pub struct Block<H, S, T> {
    head: H,
    body: UnsafeCell<Body<S, T>>,
}

#[repr(C)]
union Body<S, T> {
    start: ManuallyDrop<S>,
    result: ManuallyDrop<thread::Result<T>>,
}

/// The functions for the result in a body, for code that does not know the types.
pub struct Contents {
    take: unsafe fn(NonNull<()>, *mut ()),
    drop_result: unsafe fn(NonNull<()>) -> thread::Result<()>,
    layout: Layout,
}

/// All functions want the head of a cell of these types, and a pointer that may be used for the
/// whole cell.
impl<H, S, T> Block<H, S, T> {
    pub const LAYOUT: Layout = Layout::new::<Self>();
    pub const CONTENTS: Contents =
        Contents { take: Self::take, drop_result: Self::drop_result, layout: Self::LAYOUT };

    /// Returns recycled memory for a cell, to be given back by [`Contents::free`]. The caller
    /// writes the head in place, since a head that is passed by value is copied, and then
    /// [fills](Block::fill) the body.
    #[inline(always)]
    pub fn room() -> NonNull<H> {
        memory::take(Self::LAYOUT).cast()
    }

    #[inline(always)]
    unsafe fn body<'a>(head: NonNull<H>) -> &'a UnsafeCell<Body<S, T>> {
        // SAFETY: `head` belongs to such a cell. The reference is to the body alone.
        unsafe { &(*head.cast::<Self>().as_ptr()).body }
    }

    /// Fills the body of a cell in memory of [`room`](Block::room).
    ///
    /// # Safety
    ///
    /// The body has not been filled, and no other code refers to it.
    #[inline(always)]
    pub unsafe fn fill(head: NonNull<H>, start: S) {
        let body = UnsafeCell::new(Body { start: ManuallyDrop::new(start) });
        // SAFETY: by the caller's promise.
        unsafe { (&raw mut (*head.cast::<Self>().as_ptr()).body).write(body) };
    }

    /// Puts `start` into an empty body, in place.
    ///
    /// # Safety
    ///
    /// The body is empty, and no other code refers to it.
    #[inline(always)]
    pub unsafe fn put(head: NonNull<H>, start: S) {
        // SAFETY: by the caller's promise.
        let body = unsafe { Self::body(head) };
        // SAFETY: as above.
        body.with_mut(|body| unsafe { (&raw mut (*body).start).write(ManuallyDrop::new(start)) });
    }

    /// Returns a pointer to the closure or future.
    ///
    /// # Safety
    ///
    /// The cell is alive.
    #[inline(always)]
    pub unsafe fn start(head: NonNull<H>) -> *mut S {
        // SAFETY: by the caller's promise.
        unsafe { Self::body(head) }.with_mut(|body| body.cast())
    }

    /// Moves the closure or future out.
    ///
    /// # Safety
    ///
    /// The body holds it, no other code refers to it, and it is not used again.
    #[inline(always)]
    pub unsafe fn take_start(head: NonNull<H>) -> S {
        // SAFETY: by the caller's promise.
        let body = unsafe { Self::body(head) };
        // SAFETY: as above.
        ManuallyDrop::into_inner(body.with_mut(|body| unsafe { (&raw mut (*body).start).read() }))
    }

    /// Puts the result into a body out of which everything has been moved.
    ///
    /// # Safety
    ///
    /// The body is empty, and no other code refers to it.
    #[inline(always)]
    pub unsafe fn put_result(head: NonNull<H>, result: thread::Result<T>) {
        // SAFETY: by the caller's promise.
        let body = unsafe { Self::body(head) };
        // SAFETY: as above.
        body.with_mut(|body| unsafe { (&raw mut (*body).result).write(ManuallyDrop::new(result)) });
    }

    /// # Safety
    ///
    /// The body holds a result, which no other code refers to, and which is not used again.
    #[inline]
    unsafe fn take_result(head: NonNull<()>) -> thread::Result<T> {
        // SAFETY: by the caller's promise.
        let body = unsafe { Self::body(head.cast()) };
        // SAFETY: as above.
        ManuallyDrop::into_inner(body.with_mut(|body| unsafe { (&raw mut (*body).result).read() }))
    }

    unsafe fn take(head: NonNull<()>, place: *mut ()) {
        // SAFETY: passed on to the caller.
        let result = unsafe { Self::take_result(head) };
        // SAFETY: the caller's place is of this type.
        unsafe { place.cast::<thread::Result<T>>().write(result) };
    }

    unsafe fn drop_result(head: NonNull<()>) -> thread::Result<()> {
        // SAFETY: passed on to the caller.
        Self::discard(unsafe { Self::take_result(head) })
    }

    /// Drops a result. Returns its panic, or its destructor's, as the error.
    #[inline]
    pub fn discard(result: thread::Result<T>) -> thread::Result<()> {
        // The destructor of the result runs to its end, even if the runtime ends.
        #[cfg(not(lisle_loom))]
        masked!(_masked if std::mem::needs_drop::<T>());
        result.and_then(|value| catch_unwind(AssertUnwindSafe(|| drop(value))))
    }
}

impl Contents {
    /// Returns the size of the cell.
    pub(crate) fn size(&self) -> usize {
        self.layout.size()
    }

    /// Moves the result into `place`.
    ///
    /// # Safety
    ///
    /// These are the contents of the cell with this head, whose result is of type `T`. The body
    /// holds the result, no other code refers to it, and it is not used again.
    #[inline]
    pub unsafe fn take<H, T>(&self, head: NonNull<H>, place: &mut MaybeUninit<thread::Result<T>>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.take)(head.cast(), place.as_mut_ptr().cast()) };
    }

    /// Drops the result. Returns its panic, or its destructor's, as the error.
    ///
    /// # Safety
    ///
    /// As for [`take`](Contents::take), for any `T`.
    #[inline]
    pub unsafe fn drop_result<H>(&self, head: NonNull<H>) -> thread::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { (self.drop_result)(head.cast()) }
    }

    /// Gives back the memory of a cell.
    ///
    /// # Safety
    ///
    /// The cell is in memory of [`Block::room`], with these contents. Nothing is left in it, and it
    /// is not used again.
    #[inline]
    pub unsafe fn free<H>(&self, head: NonNull<H>) {
        // SAFETY: passed on to the caller.
        unsafe { memory::give(head.cast(), self.layout) };
    }
}
