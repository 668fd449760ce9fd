//! One performance of an event that is polled several times, without ever waiting for it.
//!
//! With [`poll`](Event::poll) each call would be a performance of its own: guards would run anew, a
//! time that counts from the beginning of the performance would never elapse, and each unsuccessful
//! poll would send its negative acknowledgements. Here all polls belong to one performance: guards
//! run when it begins, and losing alternatives are told when it is dropped. It is never published,
//! so no partner holds a pointer to it, and several threads may poll it one after another.

use crate::event::depth;
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::record::{Attempt, Record};
use crate::event::waiting::nowhere::{Nowhere, no_waker};
use crate::event::{Event, Step};
use std::pin::Pin;

#[doc(hidden)]
/// An event that is polled several times in one performance.
pub struct Polled<'b, 'e, E: Event + 'e> {
    event: &'e E,
    branch: Pin<&'b mut E::Branch<'e>>,
    /// The time at which it began, for events that count from there.
    began: u64,
    /// Something has been committed, and must not be tried again.
    over: bool,
    output: Option<E::Output>,
}

impl<'b, 'e, E: Event> Polled<'b, 'e, E> {
    /// Begins the performance on `branch`, a new branch of the event.
    #[doc(hidden)]
    #[inline]
    pub fn new(event: &'e E, mut branch: Pin<&'b mut E::Branch<'e>>) -> Self {
        if E::STAGED {
            depth::from_the_top(|| event.force(branch.as_mut()));
        }
        Polled { event, branch, began: Nowhere.now_to_arm(), over: false, output: None }
    }

    /// Returns `true` if the event has happened or happens now.
    #[doc(hidden)]
    pub fn look(&mut self) -> bool {
        if self.over {
            return true;
        }
        crate::event::in_model()
            .into_iter()
            .for_each(|context| super::sync::announce(self.event, self.branch.as_ref(), context, true));
        let record = Record::new(no_waker(), true);
        record.began.set(self.began);
        let attempt = Attempt::new(&record, &Nowhere);
        // A change that this look misses is found at the next one.
        attempt.evidence().is_in_time();
        while self.event.try_commit(self.branch.as_mut(), &attempt) == Step::Committed {
            // Set before user code runs: if that panics, the event has happened nevertheless.
            self.over = true;
            if !E::STAGED || depth::from_the_top(|| self.event.advance(self.branch.as_mut())) {
                self.output = Some(self.event.complete(self.branch.as_mut()));
                return true;
            }
            self.over = false;
        }
        false
    }

    /// Returns its value, if it has happened.
    #[doc(hidden)]
    pub fn into_output(self) -> Option<E::Output> {
        self.output
    }
}
