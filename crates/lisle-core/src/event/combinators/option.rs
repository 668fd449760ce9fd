//! An event that may be absent: an alternative that is switched off.

use crate::event::{Attempt, Description, Event, Step};
use std::pin::Pin;

type OptionalBranch<'p, B> = Option<Pin<&'p mut B>>;

fn place<B>(branch: Pin<&mut Option<B>>) -> OptionalBranch<'_, B> {
    branch.as_pin_mut()
}

/// `Some(event)` is the event and `None` is never ready. In a choice `None` is an alternative that
/// is switched off, like a `nil` channel in Go.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, always, choose};
/// let enabled = false;
/// let event = choose((enabled.then(|| always(1)), Some(always(2))));
/// assert_eq!(event.sync(), 2);
/// ```
impl<E: Event> Event for Option<E> {
    type Output = E::Output;
    type Branch<'e>
        = Option<E::Branch<'e>>
    where
        Self: 'e;

    const STAGED: bool = E::STAGED;

    fn is_single(&self) -> bool {
        self.as_ref().is_none_or(Event::is_single)
    }
    fn depth(&self) -> usize {
        self.as_ref().map_or(0, Event::depth)
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.as_ref().map(|event| event.branch())
    }
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        if let (Some(event), Some(branch)) = (self, place(branch)) {
            event.force(branch);
        }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        match (self, place(branch)) {
            (Some(event), Some(branch)) => event.try_commit(branch, attempt),
            _ => {
                attempt.evidence().never_was();
                Step::Waiting
            }
        }
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        match (self, place(branch)) {
            (Some(event), Some(branch)) => event.publish(branch, attempt),
            _ => Step::Waiting,
        }
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        match (self, place(branch)) {
            (Some(event), Some(branch)) => event.withdraw(branch, attempt),
            _ => false,
        }
    }
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        match (self, place(branch)) {
            (Some(event), Some(branch)) => event.advance(branch),
            _ => true,
        }
    }
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        if let (Some(event), Some(branch)) = (self, place(branch)) {
            event.lose(branch);
        }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
        match (self, place(branch)) {
            (Some(event), Some(branch)) => event.complete(branch),
            _ => unreachable!("an absent event does not happen"),
        }
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        if let (Some(event), Some(branch)) = (self, branch) {
            event.describe(branch, waits);
        }
    }
}
