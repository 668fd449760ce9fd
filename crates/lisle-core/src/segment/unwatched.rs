//! In place of `watched.rs` where no sanitizer looks on: nothing.

use std::ptr::null_mut;

/// A stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds;

impl Bounds {
    pub(super) const NONE: Bounds = Bounds;

    #[inline(always)]
    pub(super) fn of(_limit: usize, _base: usize) -> Self {
        Bounds
    }

    #[inline(always)]
    pub(super) fn about_to_enter(self) -> *mut u8 {
        null_mut()
    }

    #[inline(always)]
    pub(super) fn entered(_left: *mut u8) -> Self {
        Bounds
    }

    #[inline(always)]
    pub(super) fn left_for_good(self) {}
}
