//! Recycled memory for branches that are too many or too large to lie inline. With it, performing
//! choices over vectors, and boxed events, allocates nothing once warm.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Blocks are powers of two from 2^9 bytes. A thread keeps 256 KiB of each size, but at least eight
/// blocks.
const SMALLEST: u32 = 9;
const CLASSES: usize = 16;
const KEPT_BYTES: usize = 256 * 1024;
const KEPT_LEAST: usize = 8;
const ALIGN: usize = 64;

#[derive(Default)]
struct Cache {
    free: [Vec<NonNull<u8>>; CLASSES],
}

impl Drop for Cache {
    fn drop(&mut self) {
        for (class, blocks) in self.free.iter_mut().enumerate() {
            for block in blocks.drain(..) {
                // SAFETY: blocks in the cache were allocated with this layout and are in use
                // nowhere.
                unsafe { dealloc(block.as_ptr(), layout(class)) };
            }
        }
    }
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

const fn size(class: usize) -> usize {
    1 << (class as u32 + SMALLEST)
}

fn layout(class: usize) -> Layout {
    Layout::from_size_align(size(class), ALIGN).expect("a small power of two")
}

/// Returns a block of a class.
#[inline]
fn block(class: usize) -> NonNull<u8> {
    let recycled = CACHE.try_with(|cache| cache.borrow_mut().free[class].pop()).ok().flatten();
    recycled.unwrap_or_else(|| {
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { alloc(layout(class)) }).unwrap_or_else(|| handle_alloc_error(layout(class)))
    })
}

/// Gives a block of a class back.
///
/// # Safety
///
/// The block came from [`block`], for this class, and is not used again.
#[inline]
unsafe fn give_back(block: NonNull<u8>, class: usize) {
    let kept = CACHE.try_with(|cache| {
        let free = &mut cache.borrow_mut().free[class];
        let keep = free.len() < KEPT_LEAST.max(KEPT_BYTES / size(class));
        if keep {
            free.push(block);
        }
        keep
    });
    if kept != Ok(true) {
        // SAFETY: allocated with this layout, in use nowhere.
        unsafe { dealloc(block.as_ptr(), layout(class)) };
    }
}

/// A block that is given back when dropped, also if the destructor of its content panics.
struct Room(NonNull<u8>, usize);

impl Drop for Room {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a `Room` is made only for a block of this class, which holds nothing any more.
        unsafe { give_back(self.0, self.1) };
    }
}

/// A boxed slice in recycled memory. Its elements do not move until it is dropped.
#[derive(Debug)]
pub struct Scratch<T> {
    items: NonNull<T>,
    len: usize,
    /// `None` for a slice that is too large or too strictly aligned for the cache and is a plain
    /// boxed slice.
    class: Option<usize>,
}

// SAFETY: the scratch owns its items; the memory itself may be freed on any thread.
unsafe impl<T: Send> Send for Scratch<T> {}

impl<T> Scratch<T> {
    /// Collects `count` items.
    pub(super) fn collect(count: usize, items: impl Iterator<Item = T>) -> Self {
        let Some(class) = Self::class(count) else {
            let mut boxed = ManuallyDrop::new(items.take(count).collect::<Box<[T]>>());
            return Scratch { items: NonNull::from(&mut **boxed).cast(), len: boxed.len(), class: None };
        };
        let mut scratch = Scratch { items: block(class).cast::<T>(), len: 0, class: Some(class) };
        for item in items.take(count) {
            // SAFETY: `len < count`, and the block has room for `count` items.
            let place = unsafe { scratch.items.add(scratch.len) };
            // SAFETY: as above; the place holds no item yet.
            unsafe { place.write(item) };
            scratch.len += 1;
        }
        scratch
    }

    /// Returns the class of block for `count` items, if they fit into one.
    fn class(count: usize) -> Option<usize> {
        // A vector of zero-sized events may be longer than any memory; the boxed slice reports
        // that.
        count
            .checked_mul(size_of::<T>())
            .and_then(usize::checked_next_power_of_two)
            .map(|size| size.trailing_zeros().saturating_sub(SMALLEST) as usize)
            .filter(|&class| class < CLASSES && align_of::<T>() <= ALIGN)
    }

    /// Returns memory for one item. It is leaked if no item is stored there.
    #[inline]
    pub(crate) fn room() -> NonNull<T> {
        match Self::class(1) {
            Some(class) => block(class).cast::<T>(),
            None => NonNull::from(Box::leak(Box::<T>::new_uninit())).cast::<T>(),
        }
    }

    /// Drops an item in memory from [`Scratch::room`], and the memory.
    ///
    /// # Safety
    ///
    /// The memory came from `room`, and the item is not used again.
    #[inline]
    pub(crate) unsafe fn drop_one(item: NonNull<T>) {
        let Some(class) = Self::class(1) else {
            // SAFETY: leaked by `room`, and an item has been stored there.
            drop(unsafe { Box::from_raw(item.as_ptr()) });
            return;
        };
        let _room = Room(item.cast(), class);
        // SAFETY: the item belongs to the caller, which gives it up.
        unsafe { item.drop_in_place() };
    }

    /// Returns the items. They may be pinned: they stay in place until the scratch is dropped.
    pub(super) fn items(&mut self) -> &mut [T] {
        // SAFETY: `len` items have been written, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.items.as_ptr(), self.len) }
    }
}

impl<T> Scratch<T> {
    /// Returns the items as a shared slice.
    pub(super) fn look(&self) -> &[T] {
        // SAFETY: `len` items have been written, and `&self` allows shared access to them.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr(), self.len) }
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let Some(class) = self.class else {
            // SAFETY: the items came from a box of this length.
            drop(unsafe { Box::from_raw(NonNull::slice_from_raw_parts(self.items, self.len).as_ptr()) });
            return;
        };
        let _room = Room(self.items.cast(), class);
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
