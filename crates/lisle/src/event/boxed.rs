//! Events behind a pointer, so that different types fit into one vector.

use super::storage::{Storage, typed};
use super::{Attempt, Event, Step, awaitable};
use std::fmt;
use std::pin::Pin;

/// How many words of branch an erased event keeps without allocating.
const INLINE_WORDS: usize = 16;

/// An event of any type that gives a `T`, see [`Event::boxed`].
pub struct BoxEvent<'a, T> {
    event: Box<dyn Erased<T> + Send + Sync + 'a>,
}

impl<'a, T> BoxEvent<'a, T> {
    pub(super) fn new<E: Event<Output = T> + Send + Sync + 'a>(event: E) -> Self {
        BoxEvent { event: Box::new(event) }
    }
}

/// [`Event`] with branches at untyped addresses.
///
/// # Safety
///
/// Every `place` must come from `branch` of the same event, be live and pinned, and be referred to by
/// nobody else during the call.
unsafe trait Erased<T> {
    fn is_single(&self) -> bool;
    fn branch(&self, storage: Pin<&mut Storage<INLINE_WORDS>>) -> *mut ();
    unsafe fn try_commit(&self, place: *mut (), attempt: &Attempt<'_>) -> Step;
    unsafe fn publish(&self, place: *mut (), attempt: &Attempt<'_>) -> Step;
    unsafe fn withdraw(&self, place: *mut (), attempt: &Attempt<'_>) -> bool;
    unsafe fn complete(&self, place: *mut ()) -> T;
}

// SAFETY: the implementation casts places to the one type that `branch` puts there.
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
    /// The place of the branch, which is made on first use, when the storage is pinned.
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

    fn is_single(&self) -> bool {
        self.event.is_single()
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
        // A branch that was never made needs no withdrawing, and making it may run a user's `clone`.
        let Some(place) = branch.storage.get() else { return false };
        // SAFETY: as above.
        unsafe { event.withdraw(place, attempt) }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> T {
        let event = branch.event;
        // SAFETY: as above.
        unsafe { event.complete(branch.place()) }
    }
}

impl<T> fmt::Debug for BoxEvent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxEvent")
    }
}

impl<T> fmt::Debug for BoxBranch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxBranch")
    }
}

awaitable!(['a, T] BoxEvent<'a, T>);
