//! Results that outlive what is dropped beside them.

/// Drops `unwanted`, and returns `kept`. If the destructor panics, `kept` is dropped, too.
///
/// A function that returns a value and leaves another to be dropped at its end would lose the
/// first: if a destructor at the end of a function panics, the compiler forgets what the function
/// was about to return (<https://github.com/rust-lang/rust/issues/47949>). Hence all functions here
/// that return something of the user's call this if they have something else of the user's left.
#[inline(always)]
pub(crate) fn without<T, U>(kept: T, unwanted: U) -> T {
    drop(unwanted);
    kept
}
