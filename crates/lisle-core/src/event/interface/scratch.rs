//! Recycled memory for branches that are too many or too large to lie inline. With it, performing
//! choices over vectors, and boxed events, allocates nothing once warm.

use crate::memory;
use std::alloc::Layout;
use std::ptr::NonNull;

/// A block that is given back when dropped, also if the destructor of its content panics.
struct Room(NonNull<u8>, Layout);

impl Drop for Room {
    #[inline]
    fn drop(&mut self) {
        if self.1.size() > 0 {
            // SAFETY: a `Room` is made only for a block of this layout, which holds nothing any
            // more.
            unsafe { memory::give(self.0, self.1) };
        }
    }
}

/// Returns a block of this layout, or a place for items without a size.
#[inline]
fn place<T>(layout: Layout) -> NonNull<T> {
    if layout.size() > 0 { memory::take(layout).cast() } else { NonNull::dangling() }
}

/// A boxed slice in recycled memory. Its elements do not move until it is dropped.
#[derive(Debug)]
pub struct Scratch<T> {
    items: NonNull<T>,
    len: usize,
    layout: Layout,
}

// SAFETY: the scratch owns its items; the memory itself may be freed on any thread.
unsafe impl<T: Send> Send for Scratch<T> {}

impl<T> Scratch<T> {
    /// Collects `count` items.
    pub(in crate::event) fn collect(count: usize, items: impl Iterator<Item = T>) -> Self {
        let layout = Layout::array::<T>(count).expect("the items fit into memory");
        let mut scratch = Scratch { items: place(layout), len: 0, layout };
        for item in items.take(count) {
            // SAFETY: `len < count`, and the block has room for `count` items.
            let place = unsafe { scratch.items.add(scratch.len) };
            // SAFETY: as above; the place holds no item yet.
            unsafe { place.write(item) };
            scratch.len += 1;
        }
        scratch
    }

    /// Returns memory for one item. It is leaked if no item is stored there.
    #[inline]
    pub(crate) fn room() -> NonNull<T> {
        place(Layout::new::<T>())
    }

    /// Drops an item in memory from [`Scratch::room`], and the memory.
    ///
    /// # Safety
    ///
    /// The memory came from `room`, and the item is not used again.
    #[inline]
    pub(crate) unsafe fn drop_one(item: NonNull<T>) {
        let _room = Room(item.cast(), Layout::new::<T>());
        // SAFETY: the item belongs to the caller, which gives it up.
        unsafe { item.drop_in_place() };
    }

    /// Returns the items. They may be pinned: they stay in place until the scratch is dropped.
    pub(in crate::event) fn items(&mut self) -> &mut [T] {
        // SAFETY: `len` items have been written, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.items.as_ptr(), self.len) }
    }
}

impl<T> Scratch<T> {
    /// Returns the items as a shared slice.
    pub(in crate::event) fn look(&self) -> &[T] {
        // SAFETY: `len` items have been written, and `&self` allows shared access to them.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr(), self.len) }
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let _room = Room(self.items.cast(), self.layout);
        // SAFETY: the items are owned and not used again.
        unsafe { std::ptr::drop_in_place(self.items()) };
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::Scratch;
    use std::rc::Rc;

    #[test]
    fn items_are_kept_and_dropped_once_at_every_size() {
        let token = Rc::new(());
        let counts = [0, 1, 7, 64, 1_000, 100_000, 3_000_000];
        for count in counts.into_iter().take(if cfg!(miri) { 4 } else { counts.len() }) {
            for _ in 0..2 {
                let mut scratch = Scratch::collect(count, (0..).map(|i: usize| (i, token.clone())));
                assert_eq!(scratch.items().len(), count);
                assert!(scratch.items().iter().enumerate().all(|(i, item)| i == item.0));
                assert_eq!(Rc::strong_count(&token), count + 1);
                drop(scratch);
                assert_eq!(Rc::strong_count(&token), 1);
            }
        }
    }
}
