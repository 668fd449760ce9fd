//! An event and its branch in one place: in the branch of an event that made it for its own
//! performance, or in a wait set.

use crate::drops::Careful;
use crate::event::{Event, depth};
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;

/// A place for an event and its branch, which borrows it.
pub struct InlineEvent<'e, E: Event + 'e> {
    // Declared before the event that it borrows, and therefore dropped before it.
    branch: Option<E::Branch<'e>>,
    event: Careful<Option<E>>,
    _pinned: PhantomPinned,
}

/// An event and its branch.
pub(in crate::event) struct Parts<'e, 'b, E: Event + 'e> {
    pub(in crate::event) event: &'e E,
    pub(in crate::event) branch: Pin<&'b mut E::Branch<'e>>,
}

impl<'e, E: Event> InlineEvent<'e, E> {
    pub(in crate::event) fn new() -> Self {
        InlineEvent { branch: None, event: Careful::new(None), _pinned: PhantomPinned }
    }

    pub(in crate::event) fn is_made(&self) -> bool {
        self.branch.is_some()
    }

    /// Creates a place with `event` in it, whose performance has not begun.
    pub(in crate::event) fn of(event: E) -> Self {
        InlineEvent { branch: None, event: Careful::new(Some(event)), _pinned: PhantomPinned }
    }

    /// Stores `event` and begins its performance.
    pub(in crate::event) fn put(mut self: Pin<&mut Self>, event: E) {
        // SAFETY: nothing pinned is moved: the place is empty, which is checked next.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        assert!(this.event.get().is_none(), "an event was made twice in one performance");
        *this.event.get_mut() = Some(event);
        self.begin();
    }

    /// Begins a performance of the event: makes its branch and runs its guards.
    pub(in crate::event) fn begin(mut self: Pin<&mut Self>) {
        // SAFETY: nothing pinned is moved: the branch is made where there was none.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        assert!(this.branch.is_none(), "a performance was begun twice");
        let event = std::ptr::from_ref(this.event.get().as_ref().expect("put in before"));
        // SAFETY: the event stays in its place, pinned and untouched by `&mut`, until its branch
        // has been dropped.
        let event: &'e E = unsafe { &*event };
        this.branch = Some(event.branch());
        let parts = self.parts();
        depth::deeper(parts.event.depth(), || parts.event.force(parts.branch));
    }

    /// Ends a performance of the event: drops its branch, which is not published.
    pub(in crate::event) fn end(mut self: Pin<&mut Self>) {
        // SAFETY: the branch is structurally pinned, and is dropped in place.
        let mut branch = unsafe { Pin::new_unchecked(&mut self.as_mut().get_unchecked_mut().branch) };
        branch.set(None);
    }

    /// Returns the event and its branch.
    ///
    /// # Panics
    ///
    /// Panics if the place is empty, because the combinator that performs the event has not called
    /// `force`.
    pub(in crate::event) fn parts(self: Pin<&mut Self>) -> Parts<'e, '_, E> {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        let (Some(event), Some(branch)) = (this.event.get(), &mut this.branch) else {
            panic!("an event with a guard is performed by a combinator that does not forward `force`")
        };
        // SAFETY: as in `put`.
        let event: &'e E = unsafe { &*std::ptr::from_ref(event) };
        // SAFETY: the branch is structurally pinned.
        Parts { event, branch: unsafe { Pin::new_unchecked(branch) } }
    }

    /// Returns the event and its branch, if they are there, as shared references.
    pub(in crate::event) fn look(&self) -> Option<(&'e E, &E::Branch<'e>)> {
        let event = std::ptr::from_ref(self.event.get().as_ref()?);
        // SAFETY: as in `put`.
        Some((unsafe { &*event }, self.branch.as_ref()?))
    }
}

impl<'e, E: Event + 'e> fmt::Debug for InlineEvent<'e, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InlineEvent").field("is_made", &self.is_made()).finish()
    }
}
