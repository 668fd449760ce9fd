//! Values with which ranges of steps begin.

use lisle_core::sync::Mutex;
use std::fmt;

/// A source of the values with which ranges of steps begin: a function, or a value that is cloned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` makes no values for the participants of a loop",
    note = "a function without arguments that is `Send` and `Sync` does"
)]
pub trait Init: Send + Sync {
    /// The type of the values.
    type Value;

    /// Returns a value.
    fn init(&self) -> Self::Value;
}

impl<T, N: Fn() -> T + Send + Sync> Init for N {
    type Value = T;

    #[inline]
    fn init(&self) -> T {
        self()
    }
}

/// A source of clones of one value.
///
/// The value need not be `Sync`: the participants clone it one after the other. A participant that
/// waits for its turn lets its domain do other work, so cloning may wait for events itself.
pub struct Clones<T>(Mutex<T>);

impl<T> Clones<T> {
    #[track_caller]
    pub(in crate::iter) fn new(value: T) -> Self {
        Clones(Mutex::new(value))
    }
}

impl<T: Clone + Send> Init for Clones<T> {
    type Value = T;

    fn init(&self) -> T {
        self.0.lock().clone()
    }
}

impl<T: Clone> Clone for Clones<T> {
    fn clone(&self) -> Self {
        Clones::new(self.0.lock().clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Clones<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clones").field(&*self.0.lock()).finish()
    }
}
