//! Searching for an item.

use super::stop::Found;
use crate::at::{First, Last};
use crate::iter::{At, Consumer};
use crate::kept::without;
use std::marker::PhantomData;

/// Returns the first `Some` that `op` returns for an item.
#[inline]
fn find<I: Iterator, R>(mut items: I, op: impl FnMut(I::Item) -> Option<R>) -> Option<R> {
    let found = items.find_map(op);
    without(found, items)
}

/// Returns the first of two, or else the second.
fn earlier<R>(left: Option<R>, right: Option<R>) -> Option<R> {
    if left.is_some() { without(left, right) } else { right }
}

/// Returns the last of two, or else the first.
fn later<R>(left: Option<R>, right: Option<R>) -> Option<R> {
    if right.is_some() { without(right, left) } else { left }
}

macro_rules! finder {
    ($(#[$doc:meta])* $Find:ident, $Stop:ident) => {
        $(#[$doc])*
        pub(in crate::iter) struct $Find<T, F> {
            /// Returns `Some` for an item that is searched for.
            op: F,
            stop: $Stop,
            takes: PhantomData<fn(T)>,
        }

        impl<T, R, F: Fn(T) -> Option<R> + Sync> $Find<T, F> {
            pub(in crate::iter) fn new(op: F) -> Self {
                $Find { op, stop: $Stop::new(), takes: PhantomData }
            }
        }
    };
}

finder! {
    /// Searches for any item.
    FindAny, Found
}
finder! {
    /// Searches for the first item.
    FindFirst, First
}
finder! {
    /// Searches for the last item.
    FindLast, Last
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer for FindAny<T, F> {
    type Item = T;
    type Acc = Option<R>;

    fn begin(&self) -> Option<R> {
        None
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: Option<R>, at: At<'_>, items: I) -> Option<R> {
        if self.is_done(&acc, at) {
            return without(acc, items);
        }
        let found = find(items, &self.op);
        if found.is_some() {
            self.stop.set();
        }
        found
    }

    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        earlier(left, right)
    }

    fn is_done(&self, _: &Option<R>, _: At<'_>) -> bool {
        self.stop.is_set()
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer for FindFirst<T, F> {
    type Item = T;
    type Acc = Option<R>;

    fn begin(&self) -> Option<R> {
        None
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: Option<R>, at: At<'_>, items: I) -> Option<R> {
        if self.is_done(&acc, at) {
            return without(acc, items);
        }
        let found = find(items, &self.op);
        if found.is_some() {
            self.stop.found_at(at);
        }
        found
    }

    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        earlier(left, right)
    }

    fn is_done(&self, acc: &Option<R>, at: At<'_>) -> bool {
        acc.is_some() || self.stop.is_before(at)
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer for FindLast<T, F> {
    type Item = T;
    type Acc = Option<R>;

    fn begin(&self) -> Option<R> {
        None
    }

    /// The steps come from the front, and this range may extend beyond the block in which another
    /// participant has found an item. A block before that one is left out, but the range goes on.
    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: Option<R>, at: At<'_>, items: I) -> Option<R> {
        if self.stop.is_after(at) {
            return without(acc, items);
        }
        let found = items.filter_map(&self.op).fold(None, |before, found| without(Some(found), before));
        if found.is_some() {
            self.stop.found_at(at);
        }
        later(acc, found)
    }

    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        later(left, right)
    }

    fn is_done(&self, _: &Option<R>, at: At<'_>) -> bool {
        self.stop.is_after_loop(at)
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.stop.steps_before(at)
    }
}
