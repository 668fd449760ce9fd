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
//! Events are those of Reppy's Concurrent ML (PLDI 1991; *Concurrent Programming in ML*, 1999). The
//! parallel protocol follows Reppy, Russo and Xiao, *Parallel Concurrent ML* (ICFP 2009), which
//! Guile Fibers made known. The README beside this file says what is different here and why.

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod adaptive_spin;
#[cfg(feature = "model")]
#[doc(hidden)]
pub mod awaited;
pub(crate) mod basic;
mod boxed;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod calls;
pub(crate) mod choose;
mod choose_all;
mod context;
pub(crate) mod depth;
mod ends;
pub(crate) mod evidence;
mod forward;
mod future;
mod glimpse;
mod guard;
mod inline_event;
pub(crate) mod interface;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod limit;
mod limits;
mod list;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod lock;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_recycled;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_wait_set;
mod nack;
mod nowhere;
mod option;
mod os_thread;
#[cfg_attr(not(all(feature = "fibers", not(lisle_loom))), path = "no_parker.rs")]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod parker;
mod performer;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, reason = "not for users")]
mod polled;
pub(crate) mod queue;
pub(crate) mod record;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod recycled;
mod replace;
pub(crate) mod scratch;
#[doc(hidden)]
pub mod select;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod sleepers;
mod source;
mod standing;
#[doc(hidden)]
pub mod step;
mod storage;
mod sync;
#[doc(hidden)]
pub mod tally;
#[cfg(all(test, not(lisle_loom)))]
mod tests;
#[doc(hidden)]
pub mod tick;
pub(crate) mod timer;
#[doc(hidden)]
pub mod turn;
mod unchecked;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod until;
mod wait_set;
mod waits;
pub(crate) mod woken;
#[allow(missing_debug_implementations, reason = "not for users")]
mod wrap;

pub use basic::{Always, Never};
pub use boxed::BoxEvent;
pub use choose::{Alternatives, Choose, choose_biased};
pub use choose_all::{ChooseAll, Every, Stride, choose_all};
pub use context::Context;
pub use future::EventFuture;
#[doc(hidden)]
pub use future::SINGLE_WORDS;
pub use guard::{Guard, guard};
pub use interface::Step;
pub use nack::{Nack, WithNack, with_nack};
#[doc(hidden)]
pub use performer::performer_id;
pub use record::{Attempt, Waker};
pub use replace::Replace;
#[doc(hidden)]
pub use source::{Hidden, Unlabelled};
pub use source::{Source, SourceEvent, Waiters, Waiting};
pub use timer::Timer;
pub use wait_set::{Key, Taking, WaitSet, WaitSetEvt};
#[doc(hidden)]
pub use waits::Said;
pub use waits::{BlockedOn, Description, Label, ParkedEvent};
pub use wrap::{Wrap, WrapPanic};

pub(crate) use context::now_to_tell;
#[doc(hidden)]
pub use context::{Doing, install, installed, now};
pub use ends::Unparked;
#[doc(hidden)]
pub use ends::{Ends, Interrupted};
#[doc(hidden)]
pub(crate) use forward::{copied, debug_by_name};
pub use forward::{forwarded, may_wait_at, single, waits_at};
#[doc(hidden)]
pub use future::awaitable;
#[doc(hidden)]
pub use limits::{Mask, is_interruption};
#[doc(hidden)]
pub use nowhere::Nowhere;
pub(crate) use parker::raising;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use polled::Polled;
#[doc(hidden)]
pub use step::suspend;
#[doc(hidden)]
pub use sync::{
    Passed, add_to, declare, declare_made, gone, is_modelled, sync_masked, sync_or_passed, visible,
    visible_doing, visible_on,
};
#[doc(hidden)]
#[cfg(feature = "model")]
#[doc(hidden)]
pub use unchecked::MODEL_ERA;
pub use unchecked::cannot_be_checked;
#[doc(hidden)]
pub use wrap::described;

pub(crate) use sync::wait_for;

// Users find these at the root of the crate, and nowhere else.
pub(crate) use choose::choose;
pub(crate) use interface::Event;
