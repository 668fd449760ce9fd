//! Values that may be failures: the part of the standard `Try` that loops need, which cannot be
//! named on a stable compiler.

use std::ops::ControlFlow;
use std::task::Poll;

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for Option<T> {}
    impl<T, E> Sealed for Result<T, E> {}
    impl<B, C> Sealed for std::ops::ControlFlow<B, C> {}
    impl<T, E> Sealed for std::task::Poll<Result<T, E>> {}
    impl<T, E> Sealed for std::task::Poll<Option<Result<T, E>>> {}
}

/// An [`Option`], a [`Result`] or a [`ControlFlow`]. The operation of a loop may return one of
/// these to end the loop. As in the standard library, a [`Poll`] of a result is one, too.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
/// use std::ops::ControlFlow;
///
/// let even = [2, 4, 5, 6].par_iter().try_for_each(|&n| match n % 2 {
///     0 => ControlFlow::Continue(()),
///     _ => ControlFlow::Break(n),
/// });
/// assert_eq!(even, ControlFlow::Break(5));
/// ```
pub trait Try: Sized + sealed::Sealed {
    /// The type of the value with which the loop goes on.
    type Output;
    /// The type of the value with which the loop ends.
    type Residual;

    /// Creates a value with which the loop goes on.
    fn from_output(output: Self::Output) -> Self;
    /// Creates a value with which the loop ends.
    fn from_residual(residual: Self::Residual) -> Self;
    /// Splits the value into one with which the loop goes on, or one with which it ends.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
    /// Returns `true` if the loop ends.
    fn is_over(&self) -> bool;

    /// Does the inverse of [`branch`](Try::branch).
    fn from_branch(branch: ControlFlow<Self::Residual, Self::Output>) -> Self {
        match branch {
            ControlFlow::Continue(output) => Self::from_output(output),
            ControlFlow::Break(residual) => Self::from_residual(residual),
        }
    }
}

impl<T> Try for Option<T> {
    type Output = T;
    type Residual = ();

    fn from_output(output: T) -> Self {
        Some(output)
    }

    fn from_residual((): ()) -> Self {
        None
    }

    fn branch(self) -> ControlFlow<(), T> {
        self.map_or(ControlFlow::Break(()), ControlFlow::Continue)
    }

    fn is_over(&self) -> bool {
        self.is_none()
    }
}

impl<T, E> Try for Result<T, E> {
    type Output = T;
    type Residual = E;

    fn from_output(output: T) -> Self {
        Ok(output)
    }

    fn from_residual(residual: E) -> Self {
        Err(residual)
    }

    fn branch(self) -> ControlFlow<E, T> {
        self.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }

    fn is_over(&self) -> bool {
        self.is_err()
    }
}

impl<B, C> Try for ControlFlow<B, C> {
    type Output = C;
    type Residual = B;

    fn from_output(output: C) -> Self {
        ControlFlow::Continue(output)
    }

    fn from_residual(residual: B) -> Self {
        ControlFlow::Break(residual)
    }

    fn branch(self) -> ControlFlow<B, C> {
        self
    }

    fn is_over(&self) -> bool {
        self.is_break()
    }
}

impl<T, E> Try for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = E;

    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }

    fn from_residual(residual: E) -> Self {
        Poll::Ready(Err(residual))
    }

    fn branch(self) -> ControlFlow<E, Poll<T>> {
        match self {
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
            Poll::Ready(Ok(output)) => ControlFlow::Continue(Poll::Ready(output)),
            Poll::Ready(Err(residual)) => ControlFlow::Break(residual),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Poll::Ready(Err(_)))
    }
}

impl<T, E> Try for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;
    type Residual = E;

    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|output| output.map(Ok))
    }

    fn from_residual(residual: E) -> Self {
        Poll::Ready(Some(Err(residual)))
    }

    fn branch(self) -> ControlFlow<E, Poll<Option<T>>> {
        match self {
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
            Poll::Ready(None) => ControlFlow::Continue(Poll::Ready(None)),
            Poll::Ready(Some(Ok(output))) => ControlFlow::Continue(Poll::Ready(Some(output))),
            Poll::Ready(Some(Err(residual))) => ControlFlow::Break(residual),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Poll::Ready(Some(Err(_))))
    }
}
