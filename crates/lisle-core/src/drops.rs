//! Dropping values of the user, whose destructors may panic.
//!
//! A panic that leaves a destructor while the thread already unwinds ends the process. Where the
//! library drops several values, it therefore drops each of them even if others panic. The first
//! panic continues when all are dropped. The others are discarded: the panic hook has already
//! reported them. If the thread was already unwinding, the first panic is discarded too. In a fiber
//! that may be the unwinding of another fiber, which waits in a destructor on this thread: this
//! module does not distinguish the two.

use crate::panics::forget_panic;
use std::any::Any;
use std::mem::{ManuallyDrop, needs_drop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::panicking;

/// Drops each of `values` and then resumes the first panic, if there was one and the thread does
/// not already unwind. The iterator itself must not panic, and must be usable after a panic of the
/// function that it calls.
///
/// # Panics
///
/// Panics with the payload of the first destructor that panics.
pub(crate) fn each<T>(values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    let mut drops = Drops::new();
    // Each panic ends one `for_each`, so this runs once more for each panic.
    while drops.run(|| values.by_ref().for_each(drop)).is_err() {}
    drops.resume_first();
}

/// A sequence of drops that keeps its first panic. It must end with
/// [`resume_first`](Drops::resume_first): a panic that is left in it is lost, and the destructor of
/// its payload may panic.
#[must_use = "a panic that is left in it is lost"]
#[derive(Default)]
pub(crate) struct Drops {
    first: Option<Box<dyn Any + Send>>,
}

impl Drops {
    pub(crate) fn new() -> Self {
        Drops { first: None }
    }

    /// Runs `drop`. Returns `Err` if it panicked.
    pub(crate) fn run(&mut self, drop: impl FnOnce()) -> Result<(), ()> {
        let outcome = catch_unwind(AssertUnwindSafe(drop));
        outcome.map_err(|panic| match self.first {
            None => self.first = Some(panic),
            Some(_) => forget_panic(panic),
        })
    }

    /// Resumes the first panic, or discards it if the thread already unwinds.
    pub(crate) fn resume_first(self) {
        match self.first {
            None => {}
            Some(panic) if panicking() => forget_panic(panic),
            Some(panic) => resume_unwind(panic),
        }
    }
}

/// A value for places where the compiler drops several values one after the other. If the
/// destructor of one panics, the compiler drops the rest while it unwinds, and a second panic would
/// end the process. This wrapper catches and discards such a second panic.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Careful<T>(ManuallyDrop<T>);

impl<T> Careful<T> {
    #[inline(always)]
    pub(crate) const fn new(value: T) -> Self {
        Careful(ManuallyDrop::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &T {
        &self.0
    }

    #[inline(always)]
    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again and, being a `ManuallyDrop`, is not dropped, so the
        // value is taken only once.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Careful<T> {
    #[inline]
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        // SAFETY: `drop` of this type runs once and is the only place that drops the value, which
        // is not used afterwards.
        let mut drop = || unsafe { ManuallyDrop::drop(&mut self.0) };
        if panicking() {
            quietly(drop);
        } else {
            drop();
        }
    }
}

#[cold]
fn quietly(drop: impl FnOnce()) {
    let mut drops = Drops::new();
    // A panic is kept in `drops`, and discarded below.
    let _ = drops.run(drop);
    drops.resume_first();
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::{Careful, each};
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    /// Counts that it was dropped and then panics with its number, without calling the panic hook.
    struct Bomb<'a>(usize, &'a Cell<usize>);

    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            self.1.set(self.1.get() + 1);
            resume_unwind(Box::new(self.0));
        }
    }

    /// A panic payload that panics when it is dropped, with a payload of the same kind.
    struct Deep(usize);

    impl Drop for Deep {
        fn drop(&mut self) {
            resume_unwind(Box::new(Deep(self.0 + 1)));
        }
    }

    struct Deeper;

    impl Drop for Deeper {
        fn drop(&mut self) {
            resume_unwind(Box::new(Deep(0)));
        }
    }

    #[test]
    fn each_is_dropped_and_the_first_panic_goes_on() {
        let dropped = Cell::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| each((0..5).map(|n| Bomb(n, &dropped))))).unwrap_err();
        assert_eq!((panic.downcast_ref(), dropped.get()), (Some(&0_usize), 5));
        let panic = catch_unwind(|| each([Deeper, Deeper])).unwrap_err();
        std::mem::forget(panic);
    }

    #[test]
    fn while_the_thread_unwinds_none_goes_on() {
        struct Each<'a>(&'a Cell<usize>);
        impl Drop for Each<'_> {
            fn drop(&mut self) {
                each([Bomb(1, self.0), Bomb(2, self.0)]);
            }
        }
        let dropped = Cell::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _each = Each(&dropped);
            resume_unwind(Box::new("the first"));
        }));
        assert_eq!((*panic.unwrap_err().downcast::<&str>().unwrap(), dropped.get()), ("the first", 2));
    }

    #[test]
    fn careful_values_are_dropped_one_after_the_other() {
        let dropped = Cell::new(0);
        let bombs = (Careful::new(Bomb(1, &dropped)), [2, 3].map(|n| Careful::new(Bomb(n, &dropped))));
        let panic = catch_unwind(AssertUnwindSafe(|| drop(bombs))).unwrap_err();
        assert_eq!((panic.downcast_ref(), dropped.get()), (Some(&1_usize), 3));
    }
}
