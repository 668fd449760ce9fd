//! Values that are made once, by whoever needs them first, while the others wait.

use super::{GetEvt, IVar};
use crate::event::{Event, Label, Source};
use crate::shim::const_fn;
use std::fmt;
use std::ops::Deref;

/// A cell whose value is made by the first who asks for it. Others wait meanwhile, fibers without holding up their
/// domain, as they would with `std`'s.
///
/// The initialiser runs under no lock, and may block. If it fails, panics, or is unwound with its fiber, the cell is as
/// empty as before, and the next of those who wait tries. An initialiser that asks for the cell it is to fill waits for
/// itself, for ever.
///
/// ```
/// use lisle::sync::OnceCell;
///
/// let config = OnceCell::new();
/// assert_eq!(config.get(), None);
/// assert_eq!(*config.get_or_init(|| "read from a file"), "read from a file");
/// assert_eq!(*config.get_or_init(|| unreachable!()), "read from a file");
/// ```
pub struct OnceCell<T> {
    value: IVar<T>,
    turn: Source<Turn, Turn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nobody makes the value: who sees this does.
    Free,
    Taken,
    /// The value is there.
    Over,
}

/// The right to make the value. If it goes unused the next one tries.
struct Making<'a> {
    turn: &'a Source<Turn, Turn>,
    made: bool,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.turn.update(|turn, waiters| {
            *turn = if self.made { Turn::Over } else { Turn::Free };
            while self.made && waiters.grant(Turn::Over).is_ok() {}
            // Not granted to one of them: it might be dropped before it knew.
            waiters.retry_all();
        });
    }
}

impl<T> OnceCell<T> {
    const_fn! {
        /// An empty cell. It may be a `static`.
        #[track_caller]
        pub fn new() -> Self {
            let turn = Source::labelled(Label::new("turn to initialise a cell"), Turn::Free);
            OnceCell { value: IVar::new(), turn }
        }
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        self.value.try_get()
    }

    /// The event of the value being there, whoever makes it; it gives the value.
    pub fn get_evt(&self) -> GetEvt<'_, T> {
        self.value.get_evt()
    }

    /// The value; if it is not there, and nobody is making it, `make` does. Waits as [`Event::sync`] does.
    ///
    /// # Panics
    ///
    /// With the panic of `make`; the cell stays empty.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get_or_try_init(|| Ok::<T, std::convert::Infallible>(make())) {
            Ok(value) => value,
        }
    }

    /// As [`get_or_init`](OnceCell::get_or_init), with a function that may fail.
    ///
    /// # Errors
    ///
    /// The error of `make`; the cell stays empty.
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        let turn = self.turn.event(|turn| match *turn {
            Turn::Free => Some(std::mem::replace(turn, Turn::Taken)),
            Turn::Taken => None,
            Turn::Over => Some(Turn::Over),
        });
        if turn.sync() == Turn::Free {
            let mut making = Making { turn: &self.turn, made: false };
            let value = make()?;
            assert!(self.value.put(value).is_ok(), "only whoever has the turn fills the cell");
            making.made = true;
        }
        Ok(self.get().expect("it has been made"))
    }

    /// The value, if it is there.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}

/// Something that is to be done once, by whoever comes first, while the others wait.
///
/// ```
/// use lisle::{Event, sync::Once};
///
/// let once = Once::new();
/// once.call_once(|| println!("set up"));
/// once.call_once(|| unreachable!());
/// once.done_evt().sync();
/// ```
#[derive(Debug, Default)]
pub struct Once {
    done: OnceCell<()>,
}

impl Once {
    const_fn! {
        /// Nothing is done yet. It may be a `static`.
        #[track_caller]
        pub fn new() -> Self {
            Once { done: OnceCell::new() }
        }
    }

    /// Runs `f` if it has not been done; waits for whoever is doing it, as [`Event::sync`] does.
    ///
    /// # Panics
    ///
    /// With the panic of `f`; then it has not been done.
    pub fn call_once(&self, f: impl FnOnce()) {
        self.done.get_or_init(f);
    }

    /// Has it been done?
    pub fn is_done(&self) -> bool {
        self.done.get().is_some()
    }

    /// The event of its having been done.
    pub fn done_evt(&self) -> GetEvt<'_, ()> {
        self.done.get_evt()
    }
}

/// A value that is made when it is first used.
///
/// If making it panics the next use tries again, so `make` can be called several times; it is not called again once it has
/// returned.
///
/// ```
/// use lisle::sync::Lazy;
///
/// let squares = Lazy::new(|| (0..10).map(|n| n * n).collect::<Vec<u32>>());
/// assert_eq!(squares[4], 16);
/// ```
pub struct Lazy<T, F = fn() -> T> {
    cell: OnceCell<T>,
    make: F,
}

impl<T, F: Fn() -> T> Lazy<T, F> {
    const_fn! {
        /// A value that `make` makes when it is needed. It may be a `static`.
        ///
        /// ```
        /// use lisle::sync::Lazy;
        ///
        /// static SQUARES: Lazy<Vec<u32>> = Lazy::new(|| (0..4).map(|n| n * n).collect());
        /// assert_eq!(*SQUARES.force(), [0, 1, 4, 9]);
        /// ```
        #[track_caller]
        pub fn new(make: F) -> Self {
            Lazy { cell: OnceCell::new(), make }
        }
    }

    /// The value, made now if it has not been. Waits as [`Event::sync`] does.
    ///
    /// # Panics
    ///
    /// With the panic of the function that makes it.
    pub fn force(&self) -> &T {
        self.cell.get_or_init(&self.make)
    }
}

impl<T, F> Lazy<T, F> {
    /// The value, if it has been made.
    pub fn get(&self) -> Option<&T> {
        self.cell.get()
    }

    /// The event of the value having been made, by somebody else: to wait for it makes nothing.
    pub fn get_evt(&self) -> GetEvt<'_, T> {
        self.cell.get_evt()
    }
}

impl<T, F: Fn() -> T> Deref for Lazy<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        self.force()
    }
}

impl<T: fmt::Debug, F> fmt::Debug for Lazy<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lazy").field(&self.get()).finish()
    }
}
