//! Hosts: light threads in direct style, each with a stack of its own.
//!
//! A host runs like a thread and costs like an object: a control block of some hundred bytes and, from
//! when it begins, a stack of which it touches a page or two. It blocks by giving its worker away, so a
//! hundred thousand of them may wait at once. It never changes its OS thread once it has begun;
//! before that it may be taken over by an idle domain.
//!
//! ```
//! lisle::run(|| {
//!     let hosts: Vec<_> = (0..100).map(|i| lisle::spawn(move || i * i)).collect();
//!     let sum: u64 = hosts.into_iter().map(|host| host.join().unwrap()).sum();
//!     assert_eq!(sum, 328_350);
//! });
//! ```
//!
//! # Caveats
//!
//! - A host that computes for long without blocking keeps its domain to itself. Put a [`yield_now`] into
//!   the loop. Calls that block the OS thread go through [`blocking`].
//! - A blocking call in a destructor that runs while a host unwinds from a panic cannot park: if it cannot
//!   complete at once the process ends with a message.
//! - Values on a stack are touched by one thread only, but a thread-local is shared by all hosts of its
//!   domain: one that is set, kept across a blocking call and reset works for threads, not here. Use
//!   [`fiber_local!`](crate::fiber_local).
//! - Stacks are 256 KiB of address space unless [`Builder::stack_size`](crate::Builder::stack_size) says
//!   otherwise. Overflow ends the process with a message that names the host.

mod blocking;
mod cancel;
pub(crate) mod host;
mod join;
mod local;
pub(crate) mod report;
mod scope;
pub(crate) mod slots;
mod spawn;
pub(crate) mod stack;

pub use blocking::blocking;
pub use cancel::{CancelledEvt, cancelled_evt, is_cancelled};
pub use join::{JoinError, JoinEvt, JoinHandle};
pub use local::LocalKey;
pub use report::PanicPolicy;
pub use scope::{Scope, ScopedJoinHandle, ScopedParasiteHandle, scope};
pub use spawn::{Builder, spawn, spawn_on, yield_now};

pub(crate) use blocking::stillness;
pub(crate) use scope::ScopeState;
pub(crate) use spawn::spawn_unchecked;

use host::Host;
use std::ptr::NonNull;

/// The host that runs this, if it is one.
pub(crate) fn current() -> Option<NonNull<Host>> {
    crate::domain::worker::with_current(|worker| worker.and_then(|worker| worker.current_host()))
}
