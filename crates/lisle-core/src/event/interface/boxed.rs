//! Events behind a pointer; then events of different types fit into one vector.

use super::storage::{Storage, typed};
use crate::event::depth;
use crate::event::{Attempt, Description, Event, Step, awaitable, debug_by_name, is_modelled};
use std::pin::Pin;

/// The number of words of branch that an erased event keeps without allocating.
const INLINE_WORDS: usize = 16;

/// An event of any type with output `T`, see [`Event::boxed`].
#[must_use = "events do nothing unless performed"]
pub struct BoxEvent<'a, T> {
    event: Box<dyn Erased<T> + Send + Sync + 'a>,
    /// [`Event::STAGED`] of the event inside.
    staged: bool,
    /// The number of boxes, including those inside.
    depth: u8,
}

impl<'a, T> BoxEvent<'a, T> {
    #[track_caller]
    pub(in crate::event) fn new<E: Event<Output = T> + Send + Sync + 'a>(event: E) -> Self {
        let depth = event.depth().saturating_add(1);
        depth::check(depth);
        BoxEvent { event: Box::new(event), staged: E::STAGED, depth: depth as u8 }
    }
}

/// [`Event`] with branches at untyped addresses.
///
/// # Safety
///
/// Every `place` must come from `branch` of the same event, be live and pinned, and have no other
/// references during the call, or, for `describe`, none that change it.
unsafe trait Erased<T> {
    fn is_single(&self) -> bool;
    fn branch(&self, storage: Pin<&mut Storage<INLINE_WORDS>>) -> *mut ();
    unsafe fn try_commit(&self, place: *mut (), attempt: &Attempt<'_>) -> Step;
    unsafe fn publish(&self, place: *mut (), attempt: &Attempt<'_>) -> Step;
    unsafe fn withdraw(&self, place: *mut (), attempt: &Attempt<'_>) -> bool;
    unsafe fn force(&self, place: *mut ());
    unsafe fn advance(&self, place: *mut ()) -> bool;
    unsafe fn lose(&self, place: *mut ());
    unsafe fn complete(&self, place: *mut ()) -> T;
    unsafe fn describe(&self, place: *mut (), waits: &mut Description);
}

// SAFETY: the implementation casts places to the one type that `branch` stores there.
unsafe impl<E: Event> Erased<E::Output> for E {
    fn is_single(&self) -> bool {
        Event::is_single(self)
    }
    fn branch(&self, storage: Pin<&mut Storage<INLINE_WORDS>>) -> *mut () {
        storage.put(Event::branch(self)).cast()
    }
    unsafe fn try_commit(&self, place: *mut (), attempt: &Attempt<'_>) -> Step {
        // SAFETY: by the caller's promise.
        Event::try_commit(self, unsafe { typed(self, place) }, attempt)
    }
    unsafe fn publish(&self, place: *mut (), attempt: &Attempt<'_>) -> Step {
        // SAFETY: by the caller's promise.
        Event::publish(self, unsafe { typed(self, place) }, attempt)
    }
    unsafe fn withdraw(&self, place: *mut (), attempt: &Attempt<'_>) -> bool {
        // SAFETY: by the caller's promise.
        Event::withdraw(self, unsafe { typed(self, place) }, attempt)
    }
    unsafe fn force(&self, place: *mut ()) {
        // SAFETY: by the caller's promise.
        Event::force(self, unsafe { typed(self, place) });
    }
    unsafe fn advance(&self, place: *mut ()) -> bool {
        // SAFETY: by the caller's promise.
        Event::advance(self, unsafe { typed(self, place) })
    }
    unsafe fn lose(&self, place: *mut ()) {
        // SAFETY: by the caller's promise.
        Event::lose(self, unsafe { typed(self, place) });
    }
    unsafe fn describe(&self, place: *mut (), waits: &mut Description) {
        // SAFETY: by the caller's promise.
        Event::describe(self, unsafe { &*place.cast::<E::Branch<'_>>() }, waits);
    }
    unsafe fn complete(&self, place: *mut ()) -> E::Output {
        // SAFETY: by the caller's promise.
        Event::complete(self, unsafe { typed(self, place) })
    }
}

/// The branch of a [`BoxEvent`].
pub struct BoxBranch<'e, T> {
    event: &'e (dyn Erased<T> + Send + Sync + 'e),
    storage: Storage<INLINE_WORDS>,
}

// SAFETY: the storage holds the event's branch, which the trait requires to be `Send`; the event is
// `Sync` by type.
unsafe impl<T> Send for BoxBranch<'_, T> {}

impl<T> BoxBranch<'_, T> {
    /// Returns the place of the branch, which is made on first use, when the storage is pinned.
    fn place(self: Pin<&mut Self>) -> *mut () {
        // SAFETY: nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        match this.storage.get() {
            Some(place) => place,
            // SAFETY: `storage` is structurally pinned.
            None => this.event.branch(unsafe { Pin::new_unchecked(&mut this.storage) }),
        }
    }
}

impl<T> Event for BoxEvent<'_, T> {
    type Output = T;
    type Branch<'e>
        = BoxBranch<'e, T>
    where
        Self: 'e;

    /// Not known for all; each box has its own flag.
    const STAGED: bool = true;

    fn is_single(&self) -> bool {
        self.event.is_single()
    }
    fn depth(&self) -> usize {
        self.depth.into()
    }
    fn branch(&self) -> Self::Branch<'_> {
        BoxBranch { event: &*self.event, storage: Storage::new() }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let event = branch.event;
        // SAFETY: the place comes from that event's `branch`, and the pinned borrow is exclusive.
        unsafe { event.try_commit(branch.place(), attempt) }
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let event = branch.event;
        // SAFETY: as above.
        unsafe { event.publish(branch.place(), attempt) }
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let event = branch.event;
        // A branch that was never made needs no withdrawing, and making it may run a user's
        // `clone`.
        let Some(place) = branch.storage.get() else { return false };
        // SAFETY: as above.
        unsafe { event.withdraw(place, attempt) }
    }
    #[inline]
    fn force<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        // A model learns of the awaited thing before the branch is tried.
        if is_modelled() {
            branch.as_mut().place();
        }
        if self.staged {
            let event = branch.event;
            // SAFETY: as above.
            unsafe { event.force(branch.place()) };
        }
    }
    #[inline]
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let event = branch.event;
        // SAFETY: as above.
        !self.staged || unsafe { event.advance(branch.place()) }
    }
    #[inline]
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        if self.staged {
            let event = branch.event;
            // SAFETY: as above.
            unsafe { event.lose(branch.place()) }
        }
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        if let Some(place) = branch.storage.get() {
            // SAFETY: the place comes from that event's `branch`.
            unsafe { branch.event.describe(place, waits) }
        }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> T {
        let event = branch.event;
        // SAFETY: as above.
        unsafe { event.complete(branch.place()) }
    }
}

debug_by_name!([T] BoxEvent<'_, T>);
debug_by_name!([T] BoxBranch<'_, T>);
awaitable!(['a, T] BoxEvent<'a, T>);
