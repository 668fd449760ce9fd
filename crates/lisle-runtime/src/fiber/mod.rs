//! Fibers: light threads with a stack of their own.
//!
//! A fiber runs like a thread and costs about as much as an object: a control block of some hundred
//! bytes and, from its beginning, a stack of which it touches a page or two. A fiber that blocks
//! hands its domain to other fibers, so a hundred thousand of them may wait at once. A fiber that
//! has begun never changes its OS thread. Before that, an idle domain may take it over.
//!
//! ```
//! # use lisle_runtime::facade as lisle;
//! lisle::run(|| {
//!     let fibers: Vec<_> = (0..100).map(|i| lisle::spawn(move || i * i)).collect();
//!     let sum: u64 = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
//!     assert_eq!(sum, 328_350);
//! });
//! ```
//!
//! # Soundness
//!
//! The fibers of a domain take turns on one thread. While one fiber waits, another runs, in the
//! middle of the first one's calls. Code that relies on the calls of a thread ending in the reverse
//! order of their beginning is wrong here. It is *unsound* if `unsafe` code relies on that order,
//! even if the program contains only safe code.
//!
//! The first example is the standard library's own: **a [`std::thread_local!`] that is made on
//! first use, by an initializer that waits.** While it waits, another fiber of the domain finds the
//! thread-local still empty, makes the value, and borrows it. When the first initializer returns,
//! the standard library puts its value in place of the other and drops that, which is still
//! borrowed: a use after free. Lisle cannot see it. There are three remedies:
//!
//! ```
//! # use lisle_runtime::facade as lisle;
//! use std::cell::RefCell;
//!
//! thread_local! {
//!     // The value is there from the beginning.
//!     static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
//!     // The initializer cannot wait: it would panic, and nothing would have been made.
//!     static TABLE: Vec<u64> = lisle::fiber::no_suspend(|| vec![42; 4096]);
//! }
//! lisle::fiber_local! {
//!     // Each fiber makes its own.
//!     static CONNECTION: String = String::from("made by code that may wait");
//! }
//! # NAMES.with_borrow_mut(|names| names.push("a".into()));
//! # assert_eq!(TABLE.with(|table| table[0]), 42);
//! # lisle::run(|| CONNECTION.with(|made| assert!(!made.is_empty())));
//! ```
//!
//! `guide::pitfalls` has a lint that finds thread-locals which are made on first use. Other
//! examples are the crate `scoped-tls`, which lends a reference to the thread for the duration of a
//! call; a thread-local that is set and reset; a guard of a `tracing` span or of tokio's
//! `Handle::enter`; a `std` `MutexGuard`. The same is true of every coroutine that has a stack of
//! its own.
//!
//! The rule: **do not wait between the beginning and the end of such a call.** Inside
//! [`no_suspend`](no_suspend()) waiting is a panic that names both places. Values of the fiber may
//! be held across a wait: a [`fiber_local!`](crate::fiber_local), or a lock of
//! [`sync`](crate::sync). [`Hooks`], which are called when a fiber is suspended and resumed, attach
//! other things to the fiber.
//!
//! These calls may suspend a fiber: everything that can wait (where it need not, this happens if
//! the fiber has had its domain for 10 to 20 ms), [`yield_now`](yield_now()),
//! [`checkpoint`](checkpoint()), and, now and then, a question whether something has happened
//! ([`Event::poll`](lisle_core::Event::poll)) whose answer is no.
//!
//! # Caveats
//!
//! - Fibers are not preempted, unlike fibers of Guile, since that would be unsound in Rust. A fiber
//!   that computes for long without blocking keeps its domain from others. Put a
//!   [`checkpoint`](checkpoint()) into the loop: it lets other fibers pass when it is time. Put
//!   calls that block the OS thread into [`blocking`](crate::blocking()).
//! - The standard library counts panics by thread. While a destructor that a panic runs waits,
//!   `std::thread::panicking` therefore returns `true` for all fibers of the domain. See
//!   *Destructors* in `guide::cancellation`.
//! - Only one thread touches the values on a stack, but all fibers of a domain share its
//!   thread-locals. To set a thread-local, keep it across a blocking call and reset it works for
//!   threads, but not here; and one whose initializer waits is unsound. Use
//!   [`fiber_local!`](crate::fiber_local). See *Soundness*.
//! - Frames of C++ may lie on a fiber's stack, and wait. An exception that a fiber has caught is its
//!   own, if the C++ runtime is in the process when the Lisle runtime starts. An exception of C++ that
//!   leaves the fiber's closure ends the process, as it does in a thread. When a runtime ends, frames
//!   that destroy something are unwound. A fiber that waits below `catch (...)` or `noexcept` is not
//!   unwound, and a report names it: C++ must not swallow a panic, and no table tells whether it
//!   would.
//! - Stacks are 1 MiB of address space unless [`Builder::stack_size`](crate::Builder::stack_size)
//!   says otherwise. A stack overflow ends the process with a message that names the fiber.

pub(crate) mod blocking;
mod builder;
pub(crate) mod cancel;
mod checkpoint;
mod domain;
mod join;
mod local;
pub(crate) mod no_suspend;
mod payload;
mod scope;
pub(crate) mod spawn;

pub use crate::sched::worker::way::yield_now;
pub use crate::spawned::hooks::{Hooks, Moment, Switch, add_hooks};
pub use builder::Builder;
pub use cancel::{Cancelled, CancelledEvt, cancelled_evt, is_cancelled};
pub use checkpoint::checkpoint;
pub use domain::{domain, domains};
pub use join::{JoinError, JoinEvt, JoinHandle};
pub use local::LocalKey;
pub use no_suspend::no_suspend;
pub use scope::{Scope, ScopedJoinHandle, ScopedTaskHandle, scope};
pub use spawn::spawn_on;

pub(crate) use spawn::{placed, spawn_unchecked};

use crate::sched::worker::{Worker, with_current};
use crate::spawned::fiber_cell::Fiber;
use std::ptr::NonNull;

/// Returns the fiber that runs this code, if a fiber runs it, or if it is a hook that is called for
/// one.
pub(crate) fn current() -> Option<NonNull<Fiber>> {
    Fiber::running().or_else(|| with_current(|worker| worker.and_then(Worker::hooked_fiber)))
}
