//! Choices over events of one type: arrays, vectors, slices.

use super::choose::Alternatives;
use super::one_step::OneStep;
use crate::event::interface::scratch::Scratch;
use crate::event::{Description, Event};
use std::pin::Pin;

/// Returns the largest depth of some events.
pub(in crate::event) fn deepest<E: Event>(events: &[E]) -> usize {
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

/// Implements the trait for a list of events, by the type of its branches, how they are made, the
/// function that returns one of them pinned, and how they are looked at.
macro_rules! list {
    ($(#[$inline:meta])? [$($generics:tt)*] $list:ty, $branches:ty,
     |$this:ident| $make:expr, $pinned:ident, |$all:ident| $look:expr) => {
        impl<$($generics)*> Alternatives for $list {
            type Output = E::Output;
            type Branches<'e> = $branches where Self: 'e;

            const STAGED: bool = E::STAGED;

            $(#[$inline])?
            fn count(&self) -> usize {
                self.len()
            }
            fn depth(&self) -> usize {
                deepest(self)
            }
            $(#[$inline])?
            fn branches(&self) -> Self::Branches<'_> {
                let $this = self;
                $make
            }
            $(#[$inline])?
            fn take<'e, Taken: OneStep<E::Output>>(
                &'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize, step: Taken,
            ) -> Taken::Result {
                step.take(&self[index], $pinned(branches, index))
            }
            fn describe<'e>(&'e self, branches: &Self::Branches<'e>, index: usize, waits: &mut Description) {
                let $all = branches;
                self[index].describe(&$look[index], waits);
            }
        }
    };
}

/// Implements the trait for a type that derefs to a slice of events.
macro_rules! slice {
    ([$($generics:tt)*] $list:ty) => {
        list!(
            [$($generics)*] $list, Scratch<E::Branch<'e>>,
            |this| Scratch::collect(this.len(), this.iter().map(|event| event.branch())), item, |branches| branches.look()
        );
    };
}

list!(
    #[inline] [E: Event, const N: usize] [E; N], [E::Branch<'e>; N],
    |this| std::array::from_fn(|index| this[index].branch()), element, |branches| branches
);
slice!([E: Event] Vec<E>);
slice!([E: Event] Box<[E]>);
slice!(['a, E: Event] &'a [E]);
