//! A cell that is filled once.

use crate::event::waiting::turn;
use crate::event::{Event, Label, Source, awaitable, debug_by_name, waits_at};
use crate::shim::const_fn;
use crate::shim::model::is_running;
use std::fmt;
use std::pin::Pin;
use std::sync::OnceLock;

/// A cell that is filled once and read any number of times. Reading waits until it is filled.
///
/// The idea is from Id, by way of Concurrent ML's `SyncVar`. Writing happens before every read of
/// the value.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::IVar;
///
/// let answer = IVar::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| answer.put(42).unwrap());
///     assert_eq!(*answer.get(), 42);
/// });
/// assert_eq!(answer.put(43).unwrap_err().0, 43); // full; the first value stays
/// assert_eq!(answer.try_get(), Some(&42));
/// ```
pub struct IVar<T> {
    /// `true` if the cell is full.
    source: Source<bool, ()>,
    /// The value is beside the state and not in it: updates borrow the state mutably, and by then
    /// there are references to the value.
    value: OnceLock<T>,
}

/// An error: the cell was already full. It contains the rejected value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> IVar<T> {
    const_fn! {
        /// Creates an empty cell.
        #[track_caller]
        pub fn new() -> Self {
            IVar { source: Source::labelled(Label::new("IVar"), false), value: OnceLock::new() }
        }
    }

    /// Gives the cell a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        IVar { source: self.source.named(name), value: self.value }
    }

    /// Fills the cell and wakes all waiters.
    ///
    /// # Errors
    ///
    /// Returns `value` if the cell was already full. The first value stays.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Full, IVar};
    ///
    /// let answer = IVar::new();
    /// assert_eq!(answer.put(42), Ok(()));
    /// assert_eq!(answer.put(43), Err(Full(43)));
    /// assert_eq!(answer.get(), &42);
    /// ```
    pub fn put(&self, value: T) -> Result<(), Full<T>> {
        self.source.update(|full, waiters| {
            // The value is set under the lock only, so this call does not wait for another thread.
            self.value.set(value).map_err(Full)?;
            *full = true;
            while waiters.grant(()).is_ok() {}
            Ok(())
        })
    }

    /// Returns the value if the cell is full.
    pub fn try_get(&self) -> Option<&T> {
        if is_running() {
            self.source.with(|_| ());
        }
        turn::asked(self.value.get())
    }

    /// Returns the event of the cell being full, which gives the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::IVar};
    ///
    /// let answer = IVar::new();
    /// assert_eq!(answer.get_evt().poll(), None);
    /// answer.put(42).unwrap();
    /// assert_eq!(answer.get_evt().sync(), &42);
    /// assert_eq!(answer.get_evt().sync(), &42); // the cell stays full
    /// ```
    pub fn get_evt(&self) -> GetEvt<'_, T> {
        GetEvt { cell: self }
    }

    /// Returns a mutable reference to the value if the cell is full.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Returns the value if the cell is full.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T: Send + Sync> IVar<T> {
    /// Returns the value, and waits for it as [`Event::sync`] does.
    pub fn get(&self) -> &T {
        self.get_evt().sync()
    }
}

impl<T> Default for IVar<T> {
    #[track_caller]
    fn default() -> Self {
        IVar::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for IVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IVar").field(&self.value.get()).finish()
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("filling an IVar that is full")
    }
}

impl<T> std::error::Error for Full<T> {}

/// The event of an [`IVar`] being full. See [`IVar::get_evt`].
#[must_use = "events do nothing unless performed"]
pub struct GetEvt<'a, T> {
    cell: &'a IVar<T>,
}

fn is_full(full: &mut bool) -> Option<()> {
    full.then_some(())
}

impl<'a, T: Send + Sync> Event for GetEvt<'a, T> {
    type Output = &'a T;
    waits_at!(this: bool, (); this.cell.source, is_full);
    waits_at!(describe "read");

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> &'a T {
        self.cell.try_get().expect("a full cell stays full")
    }
}

debug_by_name!([T] GetEvt<'_, T>);
awaitable!(['a, T: Send + Sync] GetEvt<'a, T>, single);
