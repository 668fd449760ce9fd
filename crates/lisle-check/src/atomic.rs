//! The atomics of `std`, for programs that are to be checked.
//!
//! They have the names and functions of [`std::sync::atomic`], and do the same. In a checked
//! program each operation is a step of its own, and a load returns each value that the [memory
//! model](crate::Memory) allows: under RC11, the model of Rust, an unordered load may return an old
//! value. The checker does not see the atomics of `std`: an operation on them counts as a part of
//! the step before it.
//!
//! ```
//! use lisle_check::atomic::{AtomicU32, Ordering::{Acquire, Relaxed, Release}};
//! use std::sync::Arc;
//!
//! let publish = |order| move || {
//!     let (data, ready) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
//!     let (of_other, for_other) = (data.clone(), ready.clone());
//!     let other = lisle::spawn(move || {
//!         of_other.store(42, Relaxed);
//!         for_other.store(1, order);
//!     });
//!     if ready.load(Acquire) == 1 {
//!         assert_eq!(data.load(Relaxed), 42);
//!     }
//!     other.join().unwrap();
//! };
//! lisle_check::check(publish(Release));
//! let verdict = lisle_check::Checker::new().explore(publish(Relaxed));
//! assert!(verdict.failure().unwrap().panicked().unwrap().contains("left: 0"));
//! ```
//!
//! # The model
//!
//! All orders, fences, release sequences, and
//! [`compare_exchange_weak`](AtomicU32::compare_exchange_weak) that fails without a reason: once in
//! a row for each atomic and fiber, so that a loop ends. The checker knows an atomic by its
//! address: an atomic that moves after a use begins anew with its last value. To make an atomic is
//! no access; [cells](crate::cell) check that other fibers reach the atomic after it was made.
//! There is no `as_ptr`, since the checker would not see accesses through the pointer.
//!
//! # Cost
//!
//! Without the feature `programs` these *are* the types of `std`. With it, outside of a check an
//! operation costs one look at a count that does not change then. The example `memory_cost`
//! measures it: where a load of `std` takes 0.26 ns, this one takes 0.41 ns, and a `fetch_add` 5.5
//! ns in place of 5.2 ns.

#[cfg(not(feature = "programs"))]
pub use std::sync::atomic::*;

#[cfg(feature = "programs")]
pub use modelled::*;

#[cfg(feature = "programs")]
mod modelled;
