//! A queue of fibers and tasks linked through themselves, for one thread at a time. It is first in,
//! first out, except for entries that are added with `push_first`.

use super::inbox::Linked;
use std::cell::Cell;
use std::ptr::NonNull;

pub(crate) struct Fifo<T> {
    head: Cell<*mut T>,
    tail: Cell<*mut T>,
}

// SAFETY: the queue is a pair of pointers to items that may be handed to any thread.
unsafe impl<T> Send for Fifo<T> {}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo { head: Cell::new(std::ptr::null_mut()), tail: Cell::new(std::ptr::null_mut()) }
    }
}

impl<T: Linked> Fifo<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.get().is_null()
    }

    /// Adds an item at the end.
    ///
    /// # Safety
    ///
    /// The item is in no list and stays alive until it is popped.
    #[inline]
    pub(crate) unsafe fn push(&self, item: NonNull<T>) {
        // SAFETY: alive, by the caller's promise.
        unsafe { item.as_ref() }.set_link(std::ptr::null_mut());
        match NonNull::new(self.tail.replace(item.as_ptr())) {
            // SAFETY: queued items are alive.
            Some(last) => unsafe { last.as_ref() }.set_link(item.as_ptr()),
            None => self.head.set(item.as_ptr()),
        }
    }

    /// Adds an item before all others.
    ///
    /// # Safety
    ///
    /// As for [`Fifo::push`].
    pub(crate) unsafe fn push_first(&self, item: NonNull<T>) {
        let next = self.head.replace(item.as_ptr());
        if next.is_null() {
            self.tail.set(item.as_ptr());
        }
        // SAFETY: alive, by the caller's promise.
        unsafe { item.as_ref() }.set_link(next);
    }

    /// Takes all items of `others`, in their order, and puts them before its own. Takes constant
    /// time.
    pub(crate) fn prepend(&self, others: &Fifo<T>) {
        let Some(last) = NonNull::new(others.tail.replace(std::ptr::null_mut())) else { return };
        // SAFETY: queued items are alive.
        unsafe { last.as_ref() }.set_link(self.head.replace(others.head.replace(std::ptr::null_mut())));
        if self.tail.get().is_null() {
            self.tail.set(last.as_ptr());
        }
    }

    /// Calls `look` with each item, from the first to the last. `look` does not change the list.
    pub(crate) fn for_each(&self, mut look: impl FnMut(NonNull<T>)) {
        let mut next = NonNull::new(self.head.get());
        while let Some(item) = next {
            look(item);
            // SAFETY: queued items are alive.
            next = NonNull::new(unsafe { item.as_ref() }.link());
        }
    }

    /// Takes the first item.
    #[inline]
    pub(crate) fn pop(&self) -> Option<NonNull<T>> {
        let first = NonNull::new(self.head.get())?;
        // SAFETY: queued items are alive.
        let next = unsafe { first.as_ref() }.link();
        self.head.set(next);
        if next.is_null() {
            self.tail.set(next);
        }
        Some(first)
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    struct Item(Cell<*mut Item>);

    // SAFETY: the link is a cell that nothing else uses.
    unsafe impl Linked for Item {
        fn link(&self) -> *mut Item {
            self.0.get()
        }
        fn set_link(&self, link: *mut Item) {
            self.0.set(link);
        }
    }

    #[test]
    fn what_is_put_before_others_keeps_its_order() {
        let mut items: Vec<Item> = (0..6).map(|_| Item(Cell::new(std::ptr::null_mut()))).collect();
        let items: Vec<NonNull<Item>> = items.iter_mut().map(NonNull::from).collect();
        let (queue, others) = (Fifo::default(), Fifo::default());
        queue.prepend(&others);
        assert!(queue.is_empty());
        // SAFETY: here and below, each item is put into one queue, and outlives it.
        items[2..4].iter().for_each(|&item| unsafe { others.push(item) });
        queue.prepend(&others);
        assert!(others.is_empty());
        // SAFETY: as above.
        unsafe { queue.push(items[4]) };
        // SAFETY: as above.
        items[..2].iter().for_each(|&item| unsafe { others.push(item) });
        queue.prepend(&others);
        // SAFETY: as above.
        unsafe { others.push(items[5]) };
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), items[..5]);
        assert_eq!(others.pop(), Some(items[5]));
    }
}
