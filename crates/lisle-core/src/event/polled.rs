//! One performance of an event that is looked at now and then, without ever waiting for it.
//!
//! To [`poll`](Event::poll) again and again would be a performance each time: guards would run anew, a time that counts
//! from the beginning of the performance would never be over, and each poll that came to nothing would send its negative
//! acknowledgements. Here it is one performance, whoever looks: guards run when it begins, and what has lost is told
//! when it goes. It is never published, so no partner holds a pointer to it, and it may be looked at from one thread
//! after another.

use super::context::Context;
use super::depth;
use super::record::{Attempt, Record};
use super::sync::{Nowhere, no_waker, visible};
use super::{Event, Step};
use std::pin::Pin;

#[doc(hidden)]
/// An event that is polled, step by step.
pub struct Polled<'b, 'e, E: Event + 'e> {
    event: &'e E,
    branch: Pin<&'b mut E::Branch<'e>>,
    /// When it began, for events that count time from there.
    began: u64,
    /// Something has been committed, which is not to be tried again.
    over: bool,
    output: Option<E::Output>,
}

impl<'b, 'e, E: Event> Polled<'b, 'e, E> {
    /// Begins the performance on `branch`, which is one of the event's that nothing has been done with.
    #[doc(hidden)]
    #[inline]
    pub fn new(event: &'e E, mut branch: Pin<&'b mut E::Branch<'e>>) -> Self {
        if E::STAGED {
            depth::from_the_top(|| event.force(branch.as_mut()));
        }
        Polled { event, branch, began: Nowhere.now(), over: false, output: None }
    }

    /// Has the event happened, or does it now?
    #[doc(hidden)]
    pub fn look(&mut self) -> bool {
        if self.over {
            return true;
        }
        visible();
        let record = Record::new(no_waker(), true);
        record.began.set(self.began);
        let attempt = Attempt::new(&record, &Nowhere);
        // What is missed here is found at the next look.
        attempt.evidence().is_in_time();
        while self.event.try_commit(self.branch.as_mut(), &attempt) == Step::Committed {
            // Before anything of the user's runs: if that panics, the event has happened all the same.
            self.over = true;
            if !E::STAGED || depth::from_the_top(|| self.event.advance(self.branch.as_mut())) {
                self.output = Some(self.event.complete(self.branch.as_mut()));
                return true;
            }
            self.over = false;
        }
        false
    }

    /// Its value, if it has happened.
    #[doc(hidden)]
    pub fn into_output(self) -> Option<E::Output> {
        self.output
    }
}
