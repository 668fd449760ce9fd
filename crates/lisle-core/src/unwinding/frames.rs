//! The frames of the stack that this code runs on, as the unwinder finds them. Nothing is unwound.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::ControlFlow;

#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

const CONTINUE: c_int = 0;
const STOP: c_int = 4;

// The standard library links the unwinder. These functions do not unwind, but the compiler must
// assume that they do: it leaves calls that cannot unwind out of the tables.
unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(
        visit: extern "C-unwind" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut Context, is_before: *mut c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
    fn _Unwind_GetLanguageSpecificData(context: *mut Context) -> *const u8;
}

/// A frame, for the time of a visit.
pub(crate) struct Frame<'a> {
    context: *mut Context,
    visit: PhantomData<&'a ()>,
}

impl Frame<'_> {
    /// Returns the address at which the function begins.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        // SAFETY: the unwinder has passed the context of a frame, which is valid during the visit.
        unsafe { _Unwind_GetRegionStart(self.context) }
    }

    /// Returns the address at which the frame goes on, and `true` if that is the address of the next
    /// instruction to be executed, and not the one after a call: the frame was interrupted by
    /// something that looks like a signal.
    #[inline]
    pub(crate) fn goes_on_at(&self) -> (usize, bool) {
        let mut is_before = 0;
        // SAFETY: the context is valid as above, and the flag is writable.
        let address = unsafe { _Unwind_GetIPInfo(self.context, &raw mut is_before) };
        (address, is_before != 0)
    }

    /// Returns a place on the stack that the frame is on: where it has made its call.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        // SAFETY: the context is valid as above.
        unsafe { _Unwind_GetCFA(self.context) }
    }

    /// Returns the function's exception table, or null.
    #[inline]
    pub(crate) fn table(&self) -> *const u8 {
        // SAFETY: the context is valid as above.
        unsafe { _Unwind_GetLanguageSpecificData(self.context) }
    }
}

/// Calls `visit` with each frame, the innermost first, until it breaks or none is left. Inlined, so
/// that there are no frames in between that would be visited.
#[inline(always)]
pub(crate) fn walk<F: FnMut(&Frame<'_>) -> ControlFlow<()>>(mut visit: F) {
    extern "C-unwind" fn step<F: FnMut(&Frame<'_>) -> ControlFlow<()>>(
        context: *mut Context,
        argument: *mut c_void,
    ) -> c_int {
        // SAFETY: `argument` points to the `visit` of `walk`, to which no other reference exists
        // during the call.
        let visit = unsafe { &mut *argument.cast::<F>() };
        match visit(&Frame { context, visit: PhantomData }) {
            ControlFlow::Continue(()) => CONTINUE,
            ControlFlow::Break(()) => STOP,
        }
    }
    // SAFETY: `step` has the signature that the unwinder expects, and `visit` outlives the call.
    let _ = unsafe { _Unwind_Backtrace(step::<F>, (&raw mut visit).cast()) };
}
