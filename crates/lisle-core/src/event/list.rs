//! Choices over events of one type: arrays, vectors, slices.

use super::choose::Alternatives;
use super::scratch::Scratch;
use super::{Attempt, Description, Event, Step};
use std::pin::Pin;

impl<E: Event, const N: usize> Alternatives for [E; N] {
    type Output = E::Output;
    type Branches<'e>
        = [E::Branch<'e>; N]
    where
        Self: 'e;

    const STAGED: bool = E::STAGED;

    #[inline]
    fn count(&self) -> usize {
        N
    }
    fn depth(&self) -> usize {
        deepest(self)
    }
    #[inline]
    fn branches(&self) -> Self::Branches<'_> {
        std::array::from_fn(|index| self[index].branch())
    }
    #[inline]
    fn try_commit<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> Step {
        self[index].try_commit(element(branches, index), attempt)
    }
    #[inline]
    fn publish<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> Step {
        self[index].publish(element(branches, index), attempt)
    }
    #[inline]
    fn withdraw<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> bool {
        self[index].withdraw(element(branches, index), attempt)
    }
    #[inline]
    fn force<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
        self[index].force(element(branches, index));
    }
    #[inline]
    fn advance<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> bool {
        self[index].advance(element(branches, index))
    }
    #[inline]
    fn lose<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
        self[index].lose(element(branches, index));
    }
    #[inline]
    fn complete<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> E::Output {
        self[index].complete(element(branches, index))
    }
    fn describe<'e>(&'e self, branches: &Self::Branches<'e>, index: usize, waits: &mut Description) {
        self[index].describe(&branches[index], waits);
    }
}

/// Returns the largest depth of some events.
pub(super) fn deepest<E: Event>(events: &[E]) -> usize {
    events.iter().map(Event::depth).max().unwrap_or(0)
}

/// Returns the pinned element of a pinned array.
fn element<B, const N: usize>(branches: Pin<&mut [B; N]>, index: usize) -> Pin<&mut B> {
    // SAFETY: the elements are structurally pinned: none is ever moved out.
    unsafe { branches.map_unchecked_mut(|branches| &mut branches[index]) }
}

/// Returns the pinned element of a scratch, which does not move its items.
fn item<B>(branches: Pin<&mut Scratch<B>>, index: usize) -> Pin<&mut B> {
    // SAFETY: nothing is moved out, and the scratch keeps its items in place until it is dropped.
    unsafe { branches.map_unchecked_mut(|branches| &mut branches.items()[index]) }
}

/// Implements the trait for a type that derefs to a slice of events.
macro_rules! slice {
    ([$($generics:tt)*] $list:ty) => {
        impl<$($generics)* E: Event> Alternatives for $list {
            type Output = E::Output;
            type Branches<'e> = Scratch<E::Branch<'e>> where Self: 'e;

            const STAGED: bool = E::STAGED;

            fn count(&self) -> usize {
                self.len()
            }
            fn depth(&self) -> usize {
                deepest(self)
            }
            fn branches(&self) -> Self::Branches<'_> {
                Scratch::collect(self.len(), self.iter().map(Event::branch))
            }
            fn try_commit<'e>(
                &'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize, attempt: &Attempt<'_>,
            ) -> Step {
                self[index].try_commit(item(branches, index), attempt)
            }
            fn publish<'e>(
                &'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize, attempt: &Attempt<'_>,
            ) -> Step {
                self[index].publish(item(branches, index), attempt)
            }
            fn withdraw<'e>(
                &'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize, attempt: &Attempt<'_>,
            ) -> bool {
                self[index].withdraw(item(branches, index), attempt)
            }
            fn force<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
                self[index].force(item(branches, index));
            }
            fn advance<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> bool {
                self[index].advance(item(branches, index))
            }
            fn lose<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
                self[index].lose(item(branches, index));
            }
            fn complete<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> E::Output {
                self[index].complete(item(branches, index))
            }
            fn describe<'e>(&'e self, branches: &Self::Branches<'e>, index: usize, waits: &mut Description) {
                self[index].describe(&branches.look()[index], waits);
            }
        }
    };
}

slice!([] Vec<E>);
slice!([] Box<[E]>);
slice!(['a,] &'a [E]);
