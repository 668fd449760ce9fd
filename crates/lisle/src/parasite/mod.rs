//! Parasites: light threads without a stack, which cost a call unless they wait.
//!
//! A parasite is an `async` block that begins at once, on the stack of whoever [spawns](spawn_parasite) it. If it does
//! not wait, that was all: a call and a few instructions. If it waits, it is *reified*: it stays where it lies, in
//! recycled memory, and its spawner goes on. Whoever has what it waits for has it go on next, on the same domain, so
//! that those who talk to each other come together.
//!
//! ```
//! use lisle::{channel, spawn_parasite};
//!
//! lisle::run(|| {
//!     let (tx, rx) = channel::<u64>();
//!     // Each sends when somebody receives; none has a stack, and none holds up the loop.
//!     for i in 0..100 {
//!         let tx = tx.clone();
//!         spawn_parasite(async move { tx.send_evt(i).await });
//!     }
//!     drop(tx);
//!     assert_eq!(rx.iter().sum::<u64>(), 4_950);
//! });
//! ```
//!
//! # Hosts or parasites?
//!
//! They are interchangeable: both perform the same events, join each other, and are run by the same domains. A
//! [host](crate::fiber) is a function that waits wherever it calls something that does; it has a stack, and stays on its
//! domain. A parasite is a future: it waits at an `.await`, takes as many bytes as it keeps across one, and goes where
//! what it waits for is. So: parasites for what is short, or many, or most often does not wait: to send without
//! waiting, to gather from many, to watch over something. Hosts for what is deep, or calls code that blocks in place.
//!
//! On top of them are *asynchronous events* ([`acml`]): sends and receives that begin and go on by themselves, all of
//! several events, the first of several futures.
//!
//! # Caveats
//!
//! - `.sync()`, `recv()` and the like work in a parasite, but stop the stack on which it runs: at first its spawner's. Await
//!   the event instead.
//! - A parasite that computes for long without awaiting keeps its spawner waiting: see [`inflate`](inflate()).
//! - [`fiber::is_cancelled`](crate::fiber::is_cancelled) and a [`fiber_local!`](crate::fiber_local) are those of the host on
//!   whose stack a parasite runs. A parasite is [cancelled](ParasiteHandle::cancel) by dropping its future; for values of its
//!   own there is [`parasite_local!`](crate::parasite_local).
//! - A host that unblocks many and never waits itself, nor yields, keeps them from going on, and their memory in use. So
//!   does a host that keeps its domain from other hosts.
//! - Timers in parasites belong to a thread that serves the whole process. One costs more than in a host.
//!
//! # Where it comes from
//!
//! Sivaramakrishnan, Ziarek and Jagannathan: *Featherweight Threads for Communication* (Purdue 2011). There a parasite is
//! a piece of its host's stack that is copied away when it waits; here it is what the compiler makes of an `async` block.

pub mod acml;
mod body;
mod census;
mod handle;
mod inflate;
mod life;
mod local;
mod pieces;
mod record;
mod reify;
mod slots;
mod spawn;

pub use acml::{
    AsyncRecv, AsyncRecvError, AsyncSend, AsyncSendError, ChooseAll, Contenders, Race, RecvAsyncEvt,
    SendAsyncEvt, Start, Timeout, TimeoutError, choose_all, gather, race, rush, scatter, timeout,
};
pub use handle::ParasiteHandle;
pub use inflate::{Inflate, YieldNow, inflate, yield_now};
pub use local::LocalKey;
pub use reify::{Prepared, Reified, Reify, Unprepared, reify};
pub use spawn::spawn_parasite;

pub(crate) use census::{waiting, wake_all};
pub(crate) use life::run;
pub(crate) use pieces::{give_back, give_back_all};
pub(crate) use record::Parasite;
pub(crate) use spawn::{has_room, spawn_unchecked};

use crate::event::parker::bearing;
use std::ptr::NonNull;

/// The parasite that runs this, if it is one.
fn current() -> Option<NonNull<Parasite>> {
    NonNull::new(bearing().parasite.get().cast_mut()).map(Parasite::of)
}
