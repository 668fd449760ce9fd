//! Fibers: light threads in direct style, each with a stack of its own.
//!
//! A fiber runs like a thread and costs like an object: a control block of some hundred bytes and, from
//! when it begins, a stack of which it touches a page or two. It blocks by giving its worker away, so a
//! hundred thousand of them may wait at once. It never changes its OS thread once it has begun;
//! before that it may be taken over by an idle domain.
//!
//! ```
//! lisle::run(|| {
//!     let fibers: Vec<_> = (0..100).map(|i| lisle::spawn(move || i * i)).collect();
//!     let sum: u64 = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
//!     assert_eq!(sum, 328_350);
//! });
//! ```
//!
//! # Soundness
//!
//! The fibers of a domain take turns on one thread: while one waits another runs, in the midst of the first one's calls.
//! Code that trusts that the calls on a thread end in the reverse order of their beginning is wrong here, and *unsound*
//! where `unsafe` relies on it, although only safe code is written: the crate `scoped-tls`, whose reference is lent
//! to the thread for the time of a call, a thread-local that is set and reset, a guard of a `tracing` span or of tokio's
//! `Handle::enter`, a `std` `MutexGuard`. The same is so with any coroutine that has a stack of its own.
//!
//! The rule: **do not wait between the beginning and the end of such a call.** Inside [`no_suspend`](no_suspend()) waiting is a panic
//! that names both places. What may be held across a wait is what belongs to the fiber: a
//! [`fiber_local!`](crate::fiber_local), a lock of [`sync`](crate::sync); [`Hooks`], which are called when a fiber
//! is suspended and resumed, make other things the fiber's.
//!
//! What may suspend a fiber: all that waits, [`yield_now`](yield_now()), [`checkpoint`](checkpoint()), and, now and then, what asks in vain whether
//! something has happened ([`Event::poll`](lisle_core::Event::poll)).
//!
//! # Caveats
//!
//! - Fibers are not preempted, as fibers of Guile are: in Rust that would not be sound. One that computes for long without
//!   blocking keeps its domain to itself. Put a [`checkpoint`](checkpoint()) into the loop, which lets others pass when it is time.
//!   Calls that block the OS thread go through [`blocking`].
//! - While a destructor waits that a panic runs, `std::thread::panicking` returns `true` for all fibers of the domain,
//!   since the standard library counts panics by thread. See *Destructors* in `guide::cancellation`.
//! - Values on a stack are touched by one thread only, but a thread-local is shared by all fibers of its
//!   domain: one that is set, kept across a blocking call and reset works for threads, not here. Use
//!   [`fiber_local!`](crate::fiber_local). See *Soundness*.
//! - Stacks are 1 MiB of address space unless [`Builder::stack_size`](crate::Builder::stack_size) says
//!   otherwise. Overflow ends the process with a message that names the fiber.

mod blocking;
mod cancel;
mod checkpoint;
pub(crate) mod hooks;
mod join;
mod local;
pub(crate) mod no_suspend;
pub(crate) mod report;
mod scope;
mod spawn;

pub use crate::report::PanicPolicy;
pub use crate::sched::way::yield_now;
pub use blocking::blocking;
pub use cancel::{CancelledEvt, cancelled_evt, is_cancelled};
pub use checkpoint::checkpoint;
pub use hooks::{Hooks, Moment, Switch, add_hooks};
pub use join::{JoinError, JoinEvt, JoinHandle};
pub use local::LocalKey;
pub use no_suspend::no_suspend;
pub use scope::{Scope, ScopedJoinHandle, ScopedTaskHandle, scope};
pub use spawn::{Builder, spawn, spawn_on};

pub(crate) use spawn::spawn_unchecked;

use crate::spawned::fiber_cell::Fiber;
use std::ptr::NonNull;

/// The fiber that runs this, if it is one.
#[doc(hidden)]
pub(crate) fn current() -> Option<NonNull<Fiber>> {
    crate::sched::worker::with_current(|worker| worker.and_then(|worker| worker.current_fiber()))
}
