//! Dropping what is the user's, whose destructors may panic.
//!
//! A panic that leaves a destructor while the thread unwinds from another ends the process. So where the library drops
//! several values, each is dropped whatever the others do; the first panic goes on when all are gone, and the others end
//! here: the panic hook has told of them. And a value that is dropped while the thread unwinds anyway keeps its panic to
//! itself.

use crate::panics::forget_panic;
use std::any::Any;
use std::mem::{ManuallyDrop, needs_drop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::panicking;

/// Drops each of `values`, and then goes on with the first panic, if there was one, unless the thread unwinds already.
///
/// # Panics
///
/// As the first destructor that does.
pub(crate) fn each<T>(values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    let mut drops = Drops::new();
    // Once more for each panic.
    while drops.run(|| values.by_ref().for_each(drop)).is_err() {}
    drops.go_on();
}

/// Several drops, of which the first panic goes on in the end.
#[derive(Default)]
pub(crate) struct Drops {
    first: Option<Box<dyn Any + Send>>,
}

impl Drops {
    pub(crate) fn new() -> Self {
        Drops { first: None }
    }

    /// Runs `drop`. `Err`: it has panicked.
    pub(crate) fn run(&mut self, drop: impl FnOnce()) -> Result<(), ()> {
        let outcome = catch_unwind(AssertUnwindSafe(drop));
        outcome.map_err(|panic| match self.first {
            None => self.first = Some(panic),
            Some(_) => forget_panic(panic),
        })
    }

    /// Goes on with the first panic.
    pub(crate) fn go_on(self) {
        match self.first {
            None => {}
            Some(panic) if panicking() => forget_panic(panic),
            Some(panic) => resume_unwind(panic),
        }
    }
}

/// A value that keeps the panic of its destructor to itself if the thread unwinds already: for values of which several
/// are dropped by the compiler, one after the other, the others also when the first has panicked.
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
        // SAFETY: taken once, and not dropped.
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
        // SAFETY: dropped once, here, and not used again.
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
    let _told = drops.run(drop);
    drops.go_on();
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::{Careful, each};
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    /// Counts that it was dropped, and panics with its number, without a word.
    struct Bomb<'a>(usize, &'a Cell<usize>);

    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            self.1.set(self.1.get() + 1);
            resume_unwind(Box::new(self.0));
        }
    }

    /// A payload of a panic that panics when it is dropped, and so on.
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
