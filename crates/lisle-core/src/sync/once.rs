//! Values that are made once, by the first performer that needs them, while others wait.

use super::{GetEvt, IVar};
use crate::event::{Event, Label, Source};
use crate::shim::const_fn;
use std::fmt;
use std::ops::Deref;

/// A cell whose value is made by the first performer that asks for it. Others wait meanwhile. A
/// fiber that waits does not block its domain, as it would with `std`'s cell.
///
/// The initialiser runs under no lock and may block. If it fails, panics, or is unwound with its
/// fiber, the cell stays empty, and the next waiter tries. An initialiser that asks for the cell
/// that it is filling waits for itself, for ever.
///
/// ```
/// # use lisle_core as lisle;
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
    /// No performer makes the value: one that sees this makes it.
    Free,
    Taken,
    /// The value has been made.
    Over,
}

/// The right to make the value. If it is dropped unused, the next waiter tries.
struct Making<'a> {
    turn: &'a Source<Turn, Turn>,
    made: bool,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.turn.update(|turn, waiters| {
            *turn = if self.made { Turn::Over } else { Turn::Free };
            while self.made && waiters.grant(Turn::Over).is_ok() {}
            // The turn is not granted to one waiter, which might be dropped before it knew.
            waiters.retry_all();
        });
    }
}

impl<T> OnceCell<T> {
    const_fn! {
        /// Creates an empty cell. It may be a `static`.
        #[track_caller]
        pub fn new() -> Self {
            let turn = Source::labelled(Label::new("turn to initialise a cell"), Turn::Free);
            OnceCell { value: IVar::new(), turn }
        }
    }

    /// Returns the value if it has been made.
    pub fn get(&self) -> Option<&T> {
        self.value.try_get()
    }

    /// Returns the event of the value having been made by any performer, which gives the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::OnceCell};
    ///
    /// let config = OnceCell::new();
    /// assert_eq!(config.get_evt().poll(), None); // waiting does not make the value
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| config.get_or_init(|| "from a file"));
    ///     assert_eq!(config.get_evt().sync(), &"from a file");
    /// });
    /// ```
    pub fn get_evt(&self) -> GetEvt<'_, T> {
        self.value.get_evt()
    }

    /// Returns the value. If it has not been made and no other performer is making it, calls
    /// `make`. Waits as [`Event::sync`] does.
    ///
    /// # Panics
    ///
    /// Panics if `make` panics. The cell then stays empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::OnceCell;
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let config = OnceCell::new();
    /// let fails = AssertUnwindSafe(|| *config.get_or_init(|| panic!("there is no file")));
    /// assert!(catch_unwind(fails).is_err());
    /// assert_eq!(*config.get_or_init(|| "the default"), "the default");
    /// assert_eq!(*config.get_or_init(|| unreachable!()), "the default");
    /// ```
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get_or_try_init(|| Ok::<T, std::convert::Infallible>(make())) {
            Ok(value) => value,
        }
    }

    /// Returns the value as [`get_or_init`](OnceCell::get_or_init) does, with a function that may
    /// fail.
    ///
    /// # Errors
    ///
    /// Returns the error of `make`. The cell then stays empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::OnceCell;
    ///
    /// let port = OnceCell::new();
    /// assert!(port.get_or_try_init(|| "none".parse::<u16>()).is_err());
    /// assert_eq!(port.get(), None); // still empty
    /// assert_eq!(port.get_or_try_init(|| "80".parse::<u16>()), Ok(&80));
    /// assert_eq!(port.get_or_try_init(|| "none".parse::<u16>()), Ok(&80)); // not called
    /// ```
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
            assert!(self.value.put(value).is_ok(), "only the holder of the turn fills the cell");
            making.made = true;
        }
        Ok(self.get().expect("it has been made"))
    }

    /// Returns the value if it has been made.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}

/// An action that is done once, by the first performer that comes, while others wait.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, sync::Once};
///
/// let once = Once::new();
/// once.call_once(|| println!("set up"));
/// once.call_once(|| unreachable!());
/// once.done_evt().sync();
/// ```
#[derive(Debug)]
pub struct Once {
    done: OnceCell<()>,
}

impl Default for Once {
    #[track_caller]
    fn default() -> Self {
        Once::new()
    }
}

impl Once {
    const_fn! {
        /// Creates an action that has not been done. It may be a `static`.
        #[track_caller]
        pub fn new() -> Self {
            Once { done: OnceCell::new() }
        }
    }

    /// Runs `f` if the action has not been done. Waits as [`Event::sync`] does if another performer
    /// is doing it.
    ///
    /// # Panics
    ///
    /// Panics if `f` panics. The action then counts as not done.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Once;
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let set_up = Once::new();
    /// let fails = AssertUnwindSafe(|| set_up.call_once(|| panic!("not yet")));
    /// assert!(catch_unwind(fails).is_err());
    /// assert!(!set_up.is_done());
    /// set_up.call_once(|| ()); // tries again
    /// assert!(set_up.is_done());
    /// ```
    pub fn call_once(&self, f: impl FnOnce()) {
        self.done.get_or_init(f);
    }

    /// Returns `true` if the action has been done.
    pub fn is_done(&self) -> bool {
        self.done.get().is_some()
    }

    /// Returns the event of the action having been done.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Once};
    ///
    /// let once = Once::new();
    /// assert!(once.done_evt().poll().is_none()); // waiting does not do it
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| once.call_once(|| println!("set up")));
    ///     once.done_evt().sync();
    /// });
    /// assert!(once.is_done());
    /// ```
    pub fn done_evt(&self) -> GetEvt<'_, ()> {
        self.done.get_evt()
    }
}

/// A value that is made when it is first used.
///
/// If `make` panics the next use tries again, so `make` can be called several times. It is not
/// called again once it has returned.
///
/// ```
/// # use lisle_core as lisle;
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
        /// Creates a value that `make` makes when it is first needed. It may be a `static`.
        ///
        /// ```
        /// # use lisle_core as lisle;
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

    /// Returns the value, and makes it first if it has not been made. Waits as [`Event::sync`]
    /// does.
    ///
    /// # Panics
    ///
    /// Panics if the function that makes the value panics.
    pub fn force(&self) -> &T {
        self.cell.get_or_init(&self.make)
    }
}

impl<T, F> Lazy<T, F> {
    /// Returns the value if it has been made.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Lazy;
    ///
    /// let squares = Lazy::new(|| [1, 4, 9]);
    /// assert_eq!(squares.get(), None); // `get` does not make the value
    /// assert_eq!(squares[1], 4);
    /// assert_eq!(squares.get(), Some(&[1, 4, 9]));
    /// ```
    pub fn get(&self) -> Option<&T> {
        self.cell.get()
    }

    /// Returns the event of the value having been made. Waiting for the event does not make the
    /// value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Lazy};
    ///
    /// let squares = Lazy::new(|| [1, 4, 9]);
    /// assert_eq!(squares.get_evt().poll(), None);
    /// squares.force();
    /// assert_eq!(squares.get_evt().sync(), &[1, 4, 9]);
    /// ```
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
