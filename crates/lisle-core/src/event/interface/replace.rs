//! Two stages: an event whose value makes the event that takes its place.

use super::inline_event::InlineEvent;
use crate::event::depth;
use crate::event::{Attempt, Description, Event, Step, awaitable};
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

/// An event in two stages, see [`Event::replace`].
#[must_use = "events do nothing unless performed"]
pub struct Replace<E, F, G> {
    first: E,
    make: F,
    _second: PhantomData<fn() -> G>,
}

impl<E, F, G> Replace<E, F, G> {
    pub(in crate::event) fn new(first: E, make: F) -> Self {
        Replace { first, make, _second: PhantomData }
    }
}

/// The branch of a [`Replace`].
pub struct Stages<'e, E: Event + 'e, G: Event + 'e> {
    first: E::Branch<'e>,
    /// Filled once the first stage has happened.
    second: InlineEvent<'e, G>,
}

impl<'e, E: Event, G: Event> Stages<'e, E, G> {
    fn first(self: Pin<&mut Self>) -> Pin<&mut E::Branch<'e>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.first) }
    }
    fn second(self: Pin<&mut Self>) -> Pin<&mut InlineEvent<'e, G>> {
        // SAFETY: structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.second) }
    }
}

/// Applies a step to the current stage of the performance.
macro_rules! stage {
    ($this:ident, $branch:ident, $step:ident($($argument:expr)?)) => {
        if $branch.second.is_made() {
            let second = $branch.second().parts();
            second.event.$step(second.branch $(, $argument)?)
        } else {
            $this.first.$step($branch.first() $(, $argument)?)
        }
    };
}

impl<E, F, G> Event for Replace<E, F, G>
where
    E: Event,
    F: Fn(E::Output) -> G,
    G: Event + Send,
{
    type Output = G::Output;
    type Branch<'e>
        = Stages<'e, E, G>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn depth(&self) -> usize {
        self.first.depth()
    }
    fn branch(&self) -> Self::Branch<'_> {
        Stages { first: self.first.branch(), second: InlineEvent::new() }
    }
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.first.force(branch.first());
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        stage!(self, branch, try_commit(attempt))
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        stage!(self, branch, publish(attempt))
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        stage!(self, branch, withdraw(attempt))
    }
    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        if branch.second.is_made() {
            let second = branch.second().parts();
            return depth::deeper(second.event.depth(), || second.event.advance(second.branch));
        }
        if self.first.advance(branch.as_mut().first()) {
            let second = depth::aside(|| (self.make)(self.first.complete(branch.as_mut().first())));
            branch.second().put(second);
        }
        false
    }
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        stage!(self, branch, lose());
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> G::Output {
        let second = branch.second().parts();
        second.event.complete(second.branch)
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        match branch.second.look() {
            Some((event, branch)) => event.describe(branch, waits),
            None => self.first.describe(&branch.first, waits),
        }
    }
}

impl<E: fmt::Debug, F, G> fmt::Debug for Replace<E, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Replace").field(&self.first).finish()
    }
}

impl<'e, E: Event + 'e, G: Event + 'e> fmt::Debug for Stages<'e, E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stages").field("second", &self.second).finish_non_exhaustive()
    }
}

awaitable!([E: Event, F: Fn(E::Output) -> G, G: Event + Send] Replace<E, F, G>);
