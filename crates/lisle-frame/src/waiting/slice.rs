//! Futures side by side, pinned as a whole.

use super::scope::Scoped;
use std::fmt;
use std::pin::Pin;

/// Pinned futures of one type, each of which is an async scope.
pub(super) struct Slice<F>(Pin<Box<[Scoped<F>]>>);

impl<F> Slice<F> {
    pub(super) fn new(futures: Vec<F>) -> Self {
        Slice(Box::into_pin(futures.into_iter().map(Scoped::new).collect()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns one of them.
    pub(super) fn get(&mut self, at: usize) -> Pin<&mut Scoped<F>> {
        // SAFETY: the slice is pinned, and so is each of its elements: none is moved out of it.
        unsafe { self.0.as_mut().map_unchecked_mut(|futures| &mut futures[at]) }
    }
}

impl<F> fmt::Debug for Slice<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slice").field("len", &self.len()).finish()
    }
}
