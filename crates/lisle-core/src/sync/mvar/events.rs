//! The events of an [`MVar`].

use super::state::{Slot, Turn};
use super::{Lease, MVar};
use crate::event::{Description, Event, awaitable, copied, debug_by_name, single};
use std::cell::Cell;
use std::pin::Pin;

/// The event of filling an [`MVar`]. See [`MVar::put_evt`].
#[must_use = "events do nothing unless performed"]
pub struct PutEvt<'a, T> {
    pub(super) cell: &'a MVar<T>,
    pub(super) value: T,
}

/// The event of emptying an [`MVar`]. See [`MVar::take_evt`].
#[must_use = "events do nothing unless performed"]
pub struct TakeEvt<'a, T> {
    pub(super) cell: &'a MVar<T>,
}

/// The event of reading an [`MVar`]. See [`MVar::read_evt`].
#[must_use = "events do nothing unless performed"]
pub struct ReadEvt<'a, T> {
    pub(super) cell: &'a MVar<T>,
}

/// The event of leasing an [`MVar`]'s value. See [`MVar::lease_evt`].
#[must_use = "events do nothing unless performed"]
pub struct LeaseEvt<'a, T> {
    pub(super) cell: &'a MVar<T>,
}

/// The event of putting one value once.
pub(super) struct PutOnce<'a, T> {
    pub(super) cell: &'a MVar<T>,
    pub(super) value: Cell<Option<T>>,
}

/// Implements `Event`. The arguments are the output, the name of the operation, the slot to begin
/// with, and the value for the slot's outcome.
macro_rules! event {
    ([$($bounds:tt)*] $event:ident -> $output:ty, $operation:literal, |$this:ident| $slot:expr,
     $outcome:pat => $value:expr) => {
        impl<'a, T: $($bounds)*> Event for $event<'a, T> {
            type Output = $output;
            single! { #[inline] |$this, branch: Turn<'e, T>, attempt|
                branch: $this.cell.turn($slot),
                try_commit: branch.attempt(attempt, false),
                publish: branch.attempt(attempt, true),
                withdraw: branch.withdraw(attempt)
            }

            #[inline]
            fn complete<'e>(&'e self, branch: Pin<&mut Turn<'e, T>>) -> $output {
                let $this = self;
                assert!(std::ptr::eq($this.cell, branch.cell), "a branch of another event");
                match branch.outcome() {
                    $outcome => $value,
                    _ => unreachable!("a committed {} has its outcome", $operation),
                }
            }
            fn describe<'e>(&'e self, branch: &Turn<'e, T>, waits: &mut Description) {
                branch.describe($operation, waits);
            }
        }
    };
}

event!([Send + Clone] PutEvt -> (), "put", |this| Slot::Put(this.value.clone()), Slot::Done => ());
event!([Send] PutOnce -> (), "put", |this| Slot::Put(this.value.take().expect("performed once")), Slot::Done => ());
event!([Send] TakeEvt -> T, "take", |this| Slot::Take, Slot::Taken(value) => value);
event!([Send] LeaseEvt -> Lease<'a, T>, "lease", |this| Slot::Lease, Slot::Leased => Lease::new(this.cell));
event!([Send + Sync + Clone] ReadEvt -> T, "read", |this| Slot::Read, Slot::Reading => this.cell.copy_read());

awaitable!(['a, T: Send + Clone] PutEvt<'a, T>, single);
awaitable!(['a, T: Send] TakeEvt<'a, T>, single);
awaitable!(['a, T: Send] LeaseEvt<'a, T>, single);
awaitable!(['a, T: Send + Sync + Clone] ReadEvt<'a, T>, single);

copied!([T] TakeEvt<'_, T>);
copied!([T] ReadEvt<'_, T>);
copied!([T] LeaseEvt<'_, T>);
debug_by_name!([T] PutEvt<'_, T>);
debug_by_name!([T] TakeEvt<'_, T>);
debug_by_name!([T] ReadEvt<'_, T>);
debug_by_name!([T] LeaseEvt<'_, T>);
