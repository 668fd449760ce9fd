//! First-class events: values that describe a synchronous operation which may happen later.
//!
//! An event can be performed any number of times, or never. [`Event::sync`] performs it and waits:
//! it parks the fiber, or on a plain OS thread the thread. [`Event::poll`] performs it only if that
//! needs no waiting. `.await` performs it on any executor. [`choose`] is an event that becomes
//! exactly one of several; the losing alternatives have taken nothing and leave nothing behind.
//! [`Event::wrap`] post-processes the value.
//!
//! ```
//! # use lisle_core as lisle;
//! use lisle::{Event, channel, choose, time::after};
//! use std::time::Duration;
//!
//! let (tx, rx) = lisle::channel::bounded::<u32>(1);
//! let next = choose((
//!     rx.recv_evt().wrap(|received| received.ok()),
//!     after(Duration::from_millis(5)).wrap(|()| None),
//! ));
//! assert_eq!(next.sync(), None); // no message for 5 ms
//! tx.send(7).unwrap();
//! assert_eq!(next.sync(), Some(7)); // the same event, performed again
//! ```
//!
//! # Events of your own
//!
//! Most are functions that return a `choose` or a `wrap` of other events. For a new kind of waiting
//! use [`Source`], a state with a queue of waiting performers. The trait itself can also be
//! implemented; see [`Event`] and the example `own_event.rs`.
//!
//! # Sources of the ideas
//!
//! The events come from Reppy's Concurrent ML (PLDI 1991; *Concurrent Programming in ML*, 1999).
//! The parallel protocol follows Reppy, Russo and Xiao, *Parallel Concurrent ML* (ICFP 2009), which
//! Guile Fibers made known. The README beside this file explains the differences.
//!
//! # Rooms
//!
//! Each uses only the rooms before it, and the files beside them.
//!
//! - `telling`: the answers for reports.
//! - `performer`: the state of a stack about the performer that runs on it.
//! - `protocol`: the steps by which performers agree on an event.
//! - `waiting`: the ways in which a performer waits.
//! - `interface`: the trait, and the code behind its methods.
//! - `sources`: objects at which performers wait.
//! - `combinators`: events of other events.

pub(crate) mod combinators;
mod depth;
mod ends;
pub(crate) mod interface;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod lock;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_recycled;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_wait_set;
mod macros;
pub(crate) mod performer;
pub(crate) mod protocol;
mod sources;
#[doc(hidden)]
pub mod tally;
pub(crate) mod telling;
#[cfg(all(test, not(lisle_loom)))]
mod tests;
pub(crate) mod waiting;
pub(crate) mod waker;

pub use combinators::basic::{Always, Never};
pub use combinators::choose::{Alternatives, Choose, choose_biased};
pub use combinators::choose_all::{ChooseAll, Every, Stride, choose_all};
pub use combinators::guard::{Guard, guard};
pub use combinators::nack::{Nack, WithNack, with_nack};
pub use ends::Unparked;
pub use interface::boxed::BoxEvent;
pub use interface::future::EventFuture;
pub use interface::replace::Replace;
pub use interface::wrap::{Wrap, WrapPanic};
pub use protocol::context::PerformerContext;
pub use protocol::record::Attempt;
pub use protocol::step::Step;
pub use protocol::timer::Timer;
pub use sources::source::{Source, SourceEvent, Waiters, Waiting};
pub use sources::wait_set::{Key, Taking, WaitSet, WaitSetEvt};
pub use telling::parked::ParkedEvent;
pub use telling::waits::{BlockedOn, Description, Label};
pub use waker::PerformerWaker;

// Users find these at the root of the crate, and nowhere else.
pub(crate) use combinators::choose::choose;
pub(crate) use interface::event::Event;

// For the crates above this one.
#[doc(hidden)]
pub use combinators::select;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use combinators::until;
#[doc(hidden)]
pub use ends::{Ends, Interrupted};
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use interface::polled::Polled;
#[doc(hidden)]
pub use interface::{
    future::{SINGLE_WORDS, awaitable},
    sync::{Passed, sync_masked, sync_or_passed},
    wrap::described,
};
pub use macros::{forwarded, may_wait_at, single, waits_at};
#[doc(hidden)]
pub use performer::{
    id::performer_id,
    limits::{Mask, is_interruption},
    parker, recycled, tick,
};
pub(crate) use protocol::context::in_model;
#[doc(hidden)]
pub use protocol::visible::MODEL_ERA;
#[doc(hidden)]
pub use protocol::{
    context::{Doing, install, installed, now},
    step::{self, suspend},
    visible::{
        add_to, cannot_be_checked, declare, declare_made, gone, is_modelled, visible, visible_doing,
        visible_on,
    },
};
#[doc(hidden)]
pub use sources::source::{Hidden, Unlabelled};
#[doc(hidden)]
pub use telling::awaited;
#[doc(hidden)]
pub use telling::waits::Said;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use waiting::{adaptive_spin, calls, sleepers};
#[doc(hidden)]
pub use waiting::{limit, nowhere::Nowhere, turn};

pub(crate) use interface::sync::wait_for;
pub(crate) use macros::{copied, debug_by_name};
pub(crate) use performer::parker::raising;
pub(crate) use protocol::context::now_to_tell;
