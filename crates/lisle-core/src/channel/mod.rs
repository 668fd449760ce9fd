//! Channels: rendezvous, bounded and unbounded, for any number of senders and receivers.
//!
//! [`channel`](crate::channel()) creates a rendezvous channel: a message passes from a sender to a
//! receiver when both are there, so a completed send means that the message was taken. [`bounded`]
//! gives the channel room for some messages. [`unbounded`] makes a mailbox, for
//! senders that cannot wait. It can run out of memory, so its ends have other types. A [`Multicast`] gives each message to all of its ports.
//!
//! Both ends work from fibers, plain OS threads and futures alike. Every operation also exists as
//! an [`Event`](crate::Event) that can be part of a choice. A closed end is a value: sending
//! returns the message in the error, and receiving returns the error only when nothing is left to
//! receive. A channel closes when it is closed explicitly ([`Sender::close`]), or when all senders
//! or all receivers are dropped. Closing is [an event](Sender::closed_evt), too, and so is the fact
//! that a message [could be received](Receiver::recv_ready_evt) or [sent](Sender::send_ready_evt).
//!
//! ```
//! # use lisle_core as lisle;
//! let (tx, rx) = lisle::channel::bounded(2);
//! tx.send("a").unwrap();
//! tx.send("b").unwrap();
//! assert!(tx.try_send("c").is_err()); // full
//! drop(tx); // closed, but nothing is lost:
//! assert_eq!(rx.iter().collect::<Vec<_>>(), ["a", "b"]);
//! ```
//!
//! # Cost
//!
//! A channel takes one allocation, plus its buffer. A message takes no allocation and one copy,
//! directly from the sender to the receiver if one of them waits. Between two fibers of one domain
//! a message costs two locked instructions and a switch.

#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, reason = "not for users")]
mod asynchronous;
pub(crate) mod create;
mod deferred_drops;
mod end;
mod error;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod fetch;
#[cfg(not(lisle_loom))]
mod groups;
mod in_model;
mod iter;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_observe;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_pending_send;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
mod mailbox;
mod multicast;
pub(crate) mod observe;
mod owned;
#[cfg_attr(lisle_loom, expect(unreachable_pub, reason = "the events that name its types are not modelled"))]
pub(crate) mod pending_send;
#[cfg_attr(lisle_loom, expect(unreachable_pub, reason = "as above"))]
pub(crate) mod permits;
mod promise;
mod receiver;
mod sender;
mod shared;
mod slot;

#[cfg(not(lisle_loom))]
pub use asynchronous::{AsyncRecvError, AsyncSend, AsyncSendError, SendAsyncEvt};
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use asynchronous::{Begun, Outcome, OutcomeSlot, UnderWay};
pub use create::{bounded, named};
pub use end::ChannelEnd;
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, SendWithError, TryRecvError, TrySendError,
};
#[cfg(not(lisle_loom))]
pub use groups::{gather, scatter};
pub use iter::{IntoIter, Iter, TryIter};
pub use mailbox::{MailEvt, MailIter, MailReceiver, MailSender, unbounded};
pub use multicast::{Multicast, Port, PortEvt, PortIter};
pub use observe::{ClosedEvt, ReadyEvt};
pub use owned::{OwnedRecvEvt, OwnedSendEvt};
pub use promise::{SendWithEvt, SendingWith};
pub use receiver::{Receiver, Receiving, RecvEvt};
pub use sender::{SendEvt, Sender, Sending};
