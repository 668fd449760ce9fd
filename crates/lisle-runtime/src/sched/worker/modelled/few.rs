//! Lists that are mostly empty.
//!
//! Between two steps a domain looks whether anything waits, asks again, is a timer, was spawned, or
//! is a part that has not begun. Mostly nothing is, and one load shows that.

use std::cell::{Cell, Ref, RefCell};

/// A list that says at once that it is empty.
pub(in crate::sched::worker) struct Few<T> {
    list: RefCell<Vec<T>>,
    /// The length of the list.
    count: Cell<usize>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { list: RefCell::default(), count: Cell::new(0) }
    }
}

impl<T> Few<T> {
    /// Returns `true` if there is nothing.
    #[inline]
    pub(in crate::sched::worker) fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Returns the list, which does not change meanwhile.
    pub(in crate::sched::worker) fn read(&self) -> Ref<'_, Vec<T>> {
        self.list.borrow()
    }

    /// Changes the list.
    pub(in crate::sched::worker) fn change<R>(&self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let mut list = self.list.borrow_mut();
        let result = change(&mut list);
        self.count.set(list.len());
        result
    }

    /// Adds an item at the end.
    pub(in crate::sched::worker) fn push(&self, item: T) {
        self.change(|list| list.push(item));
    }

    /// Keeps only the entries for which `keep` returns `true`.
    #[inline]
    pub(in crate::sched::worker) fn retain(&self, keep: impl FnMut(&T) -> bool) {
        if !self.is_empty() {
            self.change(|list| list.retain(keep));
        }
    }

    /// Forgets all.
    pub(in crate::sched::worker) fn clear(&self) {
        self.change(Vec::clear);
    }
}
