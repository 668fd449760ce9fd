//! The steps of an event as values. Tuples of events say once how they find one of their events, and not
//! once for each step: a compiler takes long for each function that is generic over twelve events.

use crate::event::{Attempt, Event, Step};
use std::pin::Pin;

/// A method of [`Event`] with its arguments, to be called for one of several events of any types.
pub trait OneStep<Output> {
    /// The result of the method.
    type Result;

    /// Calls the method.
    fn take<'e, E: Event<Output = Output>>(
        self,
        event: &'e E,
        branch: Pin<&mut E::Branch<'e>>,
    ) -> Self::Result;
}

/// Defines the value of a method.
macro_rules! step {
    ($method:ident, $name:ident $(<$life:lifetime>($attempt:ty))?, $output:ident, $result:ty) => {
        #[doc = concat!("[`Event::", stringify!($method), "`].")]
        #[derive(Debug)]
        pub(super) struct $name $(<$life>(pub(super) $attempt))?;

        impl<$($life,)? $output> OneStep<$output> for $name $(<$life>)? {
            type Result = $result;

            #[inline]
            fn take<'e, E: Event<Output = $output>>(
                self,
                event: &'e E,
                branch: Pin<&mut E::Branch<'e>>,
            ) -> $result {
                step!(call event.$method(branch) self $($attempt)?)
            }
        }
    };
    (call $event:ident.$method:ident($branch:ident) $this:ident) => {
        $event.$method($branch)
    };
    (call $event:ident.$method:ident($branch:ident) $this:ident $attempt:ty) => {
        $event.$method($branch, $this.0)
    };
}

step!(try_commit, TryCommit<'a>(&'a Attempt<'a>), Output, Step);
step!(publish, Publish<'a>(&'a Attempt<'a>), Output, Step);
step!(withdraw, Withdraw<'a>(&'a Attempt<'a>), Output, bool);
step!(force, Force, Output, ());
step!(advance, Advance, Output, bool);
step!(lose, Lose, Output, ());
step!(complete, Complete, Output, Output);
