//! Segments by `corosensei`, for the platforms for which there is no switch of our own.
//!
//! The switch to a segment is in one function, [`resume`], by whose address `unwinding` knows it.

use super::{Request, StackSpan};
use crate::exceptions::Suspended;
use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::fmt;

/// The link from a segment to its resumer.
#[repr(transparent)]
pub struct ResumerLink(Yielder<(), Request>);

/// A stack with code on it, that is suspended or has not begun.
pub struct Segment(Coroutine<(), Request, (), StackSpan>);

// SAFETY: by the promise of the caller of `StackSpan::new`.
unsafe impl Stack for StackSpan {
    #[inline(always)]
    fn base(&self) -> StackPointer {
        StackPointer::new(self.base).expect("a stack is not at address 0")
    }

    #[inline(always)]
    fn limit(&self) -> StackPointer {
        StackPointer::new(self.limit).expect("a stack is not at address 0")
    }
}

impl Segment {
    /// Puts `root` on a stack. It runs when the segment is resumed for the first time.
    ///
    /// # Safety
    ///
    /// The borrows of `root` outlive the segment. It does not panic.
    #[inline(always)]
    pub unsafe fn new<F: FnOnce(&ResumerLink)>(span: StackSpan, root: F) -> Self {
        let root = move |yielder: &Yielder<(), Request>, ()| {
            // SAFETY: a link is nothing else.
            root(unsafe { &*std::ptr::from_ref(yielder).cast::<ResumerLink>() });
        };
        // SAFETY: passed on to the caller.
        Segment(unsafe { Coroutine::with_stack_unchecked(span, root) })
    }

    /// Goes on with the segment until it is left again or ends. Returns its request, if it was
    /// left.
    ///
    /// # Safety
    ///
    /// It has not ended, and does not run.
    #[inline(always)]
    pub unsafe fn resume(&mut self) -> Option<Request> {
        match resume(&mut self.0) {
            CoroutineResult::Yield(request) => Some(request),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Does the same in a process that has C++ in it. `exceptions` belong to the segment's code.
    ///
    /// # Safety
    ///
    /// As for [`resume`](Segment::resume).
    #[inline(always)]
    pub unsafe fn resume_with(&mut self, exceptions: &Suspended) -> Option<Request> {
        let around = exceptions.begin_turn();
        // SAFETY: passed on to the caller.
        let request = unsafe { self.resume() };
        if let Some(around) = around {
            exceptions.end_turn(around);
        }
        request
    }
}

impl ResumerLink {
    /// Leaves the segment, and returns when it is resumed.
    ///
    /// # Safety
    ///
    /// This runs on the segment's stack, or on the stack of a segment within it.
    #[inline(always)]
    pub unsafe fn suspend(&self, request: Request) {
        self.0.suspend(request);
    }
}

#[inline(never)]
fn resume(coroutine: &mut Coroutine<(), Request, (), StackSpan>) -> CoroutineResult<Request, ()> {
    coroutine.resume(())
}

/// Returns `true` if the function at `start`, whose frame is beyond the root of a segment, is the
/// one that its resumer has called to resume it. Others of the switch come before.
#[inline]
pub(crate) fn is_resumer(start: usize) -> bool {
    start == resume as *const () as usize
}

impl fmt::Debug for ResumerLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumerLink").finish_non_exhaustive()
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").finish_non_exhaustive()
    }
}
