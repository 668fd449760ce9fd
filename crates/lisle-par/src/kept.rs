//! Results that are kept while other values are dropped.

/// Drops `unwanted`, and returns `kept`. If the destructor panics, `kept` is dropped, too.
///
/// If a destructor at the end of a function panics, the compiler forgets the value that the
/// function was about to return (<https://github.com/rust-lang/rust/issues/47949>). Hence a
/// function here that returns a value of the user calls this if it has another value of the user to
/// drop.
#[inline(always)]
pub(crate) fn without<T, U>(kept: T, unwanted: U) -> T {
    drop(unwanted);
    kept
}
