//! Segments by a switch that jumps in both directions, see the module above.
//!
//! # The protocol
//!
//! At the top of a segment's stack lies its [`ResumerLink`]: two stack pointers, the resumer's while
//! the segment runs, and the segment's while it does not. Below it is the segment's closure. A stack
//! that is not running has at its stack pointer, from there upwards, the frame pointer and the
//! address where it goes on: a frame record, as frames have it. A switch pushes these two (and the
//! registers that the compiler does not release), writes the stack pointer to one of the two
//! places, takes the pointer from the other, and jumps.
//!
//! The link is at the root of the segment's chain of frame pointers, since its first word points to
//! the frame record of the resumer. By the same word the unwinder comes from the root to the
//! resumer.

use super::{Request, StackSpan};
use crate::exceptions::Suspended;
use std::cell::Cell;
use std::ptr::NonNull;

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod arch;
#[cfg_attr(not(feature = "sanitizer"), path = "unwatched.rs")]
#[cfg_attr(feature = "sanitizer", path = "watched.rs")]
mod watch;

use watch::Bounds;

/// The link between a segment and its resumer, over which both switch.
#[repr(C)]
#[derive(Debug)]
pub struct ResumerLink {
    /// The stack pointer of the resumer. The first field: the root's frame refers to it.
    resumer: Cell<*mut u8>,
    /// The stack pointer of the segment, or of the innermost one within it that was suspended with
    /// it.
    segment: Cell<*mut u8>,
    /// The stacks on which these go on.
    resumer_on: Cell<Bounds>,
    segment_on: Cell<Bounds>,
}

/// A stack with code on it, that is suspended or has not begun.
#[derive(Debug)]
pub struct Segment {
    link: NonNull<ResumerLink>,
}

impl Segment {
    /// Puts `root` on a stack. It runs when the segment is resumed for the first time.
    ///
    /// # Safety
    ///
    /// The borrows of `root` outlive the segment. It does not panic. If it is never called, it is
    /// not dropped.
    #[inline(always)]
    pub unsafe fn new<F: FnOnce(&ResumerLink)>(span: StackSpan, root: F) -> Self {
        const { assert!(align_of::<F>() <= 16) };
        let link = (span.base - size_of::<ResumerLink>()) & !15;
        let closure = (link - size_of::<F>()) & !15;
        let link = std::ptr::with_exposed_provenance_mut::<ResumerLink>(link);
        let closure = std::ptr::with_exposed_provenance_mut::<F>(closure);
        // SAFETY: the stack is ours, and has room for it.
        unsafe { closure.write(root) };
        // SAFETY: as above.
        let top = unsafe { arch::prepare(closure.cast(), begin::<F> as *const ()) };
        let begun = ResumerLink {
            resumer: Cell::new(std::ptr::null_mut()),
            segment: Cell::new(top),
            resumer_on: Cell::new(Bounds::NONE),
            segment_on: Cell::new(Bounds::of(span.limit, span.base)),
        };
        // SAFETY: as above.
        unsafe { link.write(begun) };
        Segment { link: NonNull::new(link).expect("a stack is not at address 0") }
    }

    /// Goes on with the segment until it is left again or ends. Returns its request, if it was
    /// left.
    ///
    /// # Safety
    ///
    /// It has not ended, and does not run.
    #[inline(always)]
    pub unsafe fn resume(&mut self) -> Option<Request> {
        // SAFETY: it lies on the segment's stack, which stays.
        let link = unsafe { self.link.as_ref() };
        let left = link.segment_on.get().about_to_enter();
        // SAFETY: by the caller's promise, something waits there.
        let asked = unsafe { arch::switch(&link.resumer, &link.segment, std::ptr::null_mut()) };
        link.segment_on.set(Bounds::entered(left));
        NonNull::new(asked.cast()).map(Request)
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

impl Drop for Segment {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: it lies on the segment's stack, which stays.
        unsafe { self.link.as_ref() }.segment_on.get().left_for_good();
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
        let left = self.resumer_on.get().about_to_enter();
        // SAFETY: by the caller's promise, the resumer waits there.
        unsafe { arch::switch(&self.segment, &self.resumer, request.0.as_ptr().cast()) };
        self.resumer_on.set(Bounds::entered(left));
    }
}

/// The first function of a segment. It is jumped to, and does not return.
unsafe extern "C" fn begin<F: FnOnce(&ResumerLink)>(link: &ResumerLink, root: *mut F) -> ! {
    link.resumer_on.set(Bounds::entered(std::ptr::null_mut()));
    // SAFETY: it was put there, and is taken once.
    let root = unsafe { root.read() };
    root(link);
    link.resumer_on.get().about_to_enter();
    // SAFETY: the resumer waits.
    unsafe { arch::switch(&link.segment, &link.resumer, std::ptr::null_mut()) };
    crate::abort::process(format_args!("a segment that has ended was resumed"));
}

/// Returns `true` if the function at `_start`, whose frame is beyond the root of a segment, has
/// resumed the segment. The switch is in that function itself.
#[inline]
pub(crate) fn is_resumer(_start: usize) -> bool {
    true
}
