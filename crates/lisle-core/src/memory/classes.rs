//! The sizes of slots: multiples of 64 bytes up to a kilobyte, then powers of two.

use std::alloc::Layout;

/// The step of the sizes, and the alignment of slots.
pub(super) const STEP: usize = 64;
/// The number of sizes that are multiples of the step.
pub(super) const STEPS: usize = 16;
pub const LARGEST_STEP: usize = STEP * STEPS;
/// The number of sizes that follow, which are powers of two.
const POWERS: usize = 40;
pub(super) const CLASSES: usize = STEPS + POWERS;

/// Returns the class of slots for a layout.
#[inline]
pub const fn class_of(layout: Layout) -> usize {
    if layout.size() <= LARGEST_STEP && layout.align() <= STEP {
        return layout.size().saturating_sub(1) / STEP;
    }
    let size = if layout.size() > layout.align() { layout.size() } else { layout.align() };
    let size = if size > LARGEST_STEP { size.next_power_of_two() } else { LARGEST_STEP };
    let power = size.ilog2() - LARGEST_STEP.ilog2();
    STEPS + power as usize
}

/// Returns the size of the slots of a class.
pub(super) const fn size_of(class: usize) -> usize {
    if class < STEPS { (class + 1) * STEP } else { LARGEST_STEP << (class - STEPS) }
}

/// Returns the layout of the slots of a class above a kilobyte. If `is_strict`, they are aligned to
/// their sizes.
pub(super) fn layout_of(class: usize, is_strict: bool) -> Layout {
    let size = size_of(class);
    Layout::from_size_align(size, if is_strict { size } else { STEP }).expect("a size of memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_has_the_smallest_class_that_holds_it() {
        let class = |size, align| class_of(Layout::from_size_align(size, align).unwrap());
        assert_eq!([class(1, 1), class(64, 8), class(65, 8)].map(size_of), [64, 64, 128]);
        assert_eq!([class(1024, 64), class(1025, 8)].map(size_of), [1024, 2048]);
        assert_eq!([class(5000, 8), class(100, 128), class(1, 4096)].map(size_of), [8192, 1024, 4096]);
    }
}
