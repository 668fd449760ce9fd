//! The frames, or the batches of calls, that are under way on a thread, one within the other.
//!
//! The frame or batch whose code runs is the current one. Code of a fiber, or of a generator, may go on
//! after the frame around it is over. Then there is no current one, because it may be gone.

use std::cell::Cell;
use std::ptr::null;
use std::thread::LocalKey;

/// A list of a thread, whose nodes are on the stack. It has no destructor, so it exists also while a thread
/// ends.
pub(crate) struct UnderWay<T> {
    innermost: Cell<*const Node<T>>,
    /// The last number that was given.
    last: Cell<u64>,
    current: Cell<Current<T>>,
}

/// The number of the current one, or 0, and its value.
struct Current<T> {
    number: u64,
    value: *const T,
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Current<T> {}

impl<T> Current<T> {
    const NONE: Current<T> = Current { number: 0, value: null() };
}

struct Node<T> {
    number: u64,
    /// The node that was innermost before. Nodes may end in another order than they have begun.
    around: Cell<*const Node<T>>,
}

impl<T> UnderWay<T> {
    pub(crate) const fn new() -> UnderWay<T> {
        UnderWay { innermost: Cell::new(null()), last: Cell::new(0), current: Cell::new(Current::NONE) }
    }

    /// Returns all, the innermost first.
    fn all(&self) -> impl Iterator<Item = &Node<T>> {
        let mut next = self.innermost.get();
        std::iter::from_fn(move || {
            // SAFETY: a node stays until it is taken out of the list, which only this thread changes, and
            // no caller keeps the reference.
            let node = unsafe { next.as_ref() }?;
            next = node.around.get();
            Some(node)
        })
    }

    fn take_out(&self, node: &Node<T>) {
        match self.all().take_while(|other| !std::ptr::eq(*other, node)).last() {
            Some(within) => within.around.set(node.around.get()),
            None => self.innermost.set(node.around.get()),
        }
    }

    /// Makes this one the current one again, unless it is over.
    fn go_back_to(&self, before: Current<T>) {
        let is_there = self.all().any(|node| node.number == before.number);
        self.current.set(if is_there { before } else { Current::NONE });
    }
}

/// Returns the value of the current one, or null.
#[inline(always)]
pub(crate) fn current<T>(list: &'static LocalKey<UnderWay<T>>) -> *const T {
    list.with(|list| list.current.get().value)
}

/// Notes while `f` runs that this value is under way, and current.
pub(crate) fn enter<T, R>(list: &'static LocalKey<UnderWay<T>>, value: *const T, f: impl FnOnce() -> R) -> R {
    struct Leaves<'a, T: 'static> {
        list: &'static LocalKey<UnderWay<T>>,
        node: &'a Node<T>,
        before: Current<T>,
    }
    impl<T> Drop for Leaves<'_, T> {
        fn drop(&mut self) {
            self.list.with(|list| {
                list.take_out(self.node);
                list.go_back_to(self.before);
            });
        }
    }
    let number = list.with(|list| list.last.get() + 1);
    let node = Node { number, around: Cell::new(null()) };
    let before = list.with(|list| {
        list.last.set(number);
        node.around.set(list.innermost.replace(&raw const node));
        list.current.replace(Current { number, value })
    });
    let _leaves = Leaves { list, node: &node, before };
    f()
}

/// Notes that none is current while `f` runs.
pub(crate) fn outside<T, R>(list: &'static LocalKey<UnderWay<T>>, f: impl FnOnce() -> R) -> R {
    struct Back<T: 'static>(&'static LocalKey<UnderWay<T>>, Current<T>);
    impl<T> Drop for Back<T> {
        fn drop(&mut self) {
            self.0.with(|list| list.go_back_to(self.1));
        }
    }
    let _back = Back(list, list.with(|list| list.current.replace(Current::NONE)));
    f()
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static LIST: UnderWay<u8> = const { UnderWay::new() };
    }

    #[test]
    fn the_one_around_is_current_again_after_it_or_a_panic() {
        let (a, b) = (1, 2);
        enter(&LIST, &a, || {
            assert_eq!(current(&LIST), &raw const a);
            let panics = || enter(&LIST, &b, || -> () { panic!("within") });
            std::panic::catch_unwind(panics).unwrap_err();
            assert_eq!(current(&LIST), &raw const a);
            outside(&LIST, || {
                assert!(current(&LIST).is_null());
                enter(&LIST, &b, || assert_eq!(current(&LIST), &raw const b));
                assert!(current(&LIST).is_null());
            });
            assert_eq!(current(&LIST), &raw const a);
        });
        assert!(current(&LIST).is_null());
    }
}
