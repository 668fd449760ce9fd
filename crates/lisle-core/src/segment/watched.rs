//! Tells AddressSanitizer of a switch: the bounds of the entered stack. It returns the bounds of
//! the left stack, which are kept for the way back.

use std::ptr::{null, null_mut};

unsafe extern "C" {
    fn __sanitizer_start_switch_fiber(left: *mut *mut u8, lowest: *const u8, size: usize);
    fn __sanitizer_finish_switch_fiber(left: *mut u8, lowest: *mut *const u8, size: *mut usize);
    fn __asan_unpoison_memory_region(lowest: *const u8, size: usize);
}

/// A stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    lowest: *const u8,
    size: usize,
}

impl Bounds {
    pub(super) const NONE: Bounds = Bounds { lowest: null(), size: 0 };

    pub(super) fn of(limit: usize, base: usize) -> Self {
        Bounds { lowest: std::ptr::with_exposed_provenance(limit), size: base - limit }
    }

    /// Tells that this stack will be switched to, and returns the argument for `entered` on the way
    /// back.
    #[inline(always)]
    pub(super) fn about_to_enter(self) -> *mut u8 {
        let mut left = null_mut();
        // SAFETY: this only notes down the numbers, and writes to the place.
        unsafe { __sanitizer_start_switch_fiber(&raw mut left, self.lowest, self.size) };
        left
    }

    /// Tells that the stack that was named has been entered, and returns the one that was left.
    #[inline(always)]
    pub(super) fn entered(left: *mut u8) -> Self {
        let mut from = Bounds::NONE;
        // SAFETY: as above.
        unsafe { __sanitizer_finish_switch_fiber(left, &raw mut from.lowest, &raw mut from.size) };
        from
    }

    /// Tells that no frames are left on the stack.
    pub(super) fn left_for_good(self) {
        // SAFETY: as above.
        unsafe { __asan_unpoison_memory_region(self.lowest, self.size) };
    }
}
