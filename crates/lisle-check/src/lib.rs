//! Runs a concurrent program in every schedule, and shows the schedules that go wrong.
//!
//! The [guide] shows it in ten minutes.
//!
//! - [`check`] runs a program of Lisle's fibers, tasks, channels, choices, locks and timers,
//!   unchanged, in every schedule that could differ; [`atomic`] and [`cell`] have shared memory for
//!   such programs, under a [memory model](Memory).
//! - [`task`]: programs as values, which can be run, and explored in every order of their tasks.
//! - [`litmus`]: tests of memory models, in the format of herd7.
//!
//! # Cargo features
//!
//! - `programs`, on by default: [`check`]. With it the library can report its accesses to a model.
//!   Each operation asks whether there is a model: a load and a branch, or a few. Depend on this
//!   crate in `[dev-dependencies]`.
//! - `litmus`: [`litmus`]. It needs a lexer and a printer of messages that programs do not need.

#![forbid(unsafe_code)]
// Under loom the library has no fibers. `tests/outcomes` compares loom's results.
#![cfg(not(lisle_loom))]

pub mod atomic;
pub mod cell;
#[doc(hidden)]
pub mod explore;
#[cfg(feature = "programs")]
#[doc = include_str!("guide.md")]
pub mod guide {}
#[cfg(feature = "programs")]
pub mod hint;
#[cfg(feature = "litmus")]
pub mod litmus;
#[cfg(feature = "programs")]
mod program;
pub mod task;

pub use explore::{Counts, Ending, TokenError};
#[cfg(feature = "programs")]
pub use program::{
    CellAccess, Checker, DataRace, Difference, Failure, Limit, Memory, Outcome, Outcomes, RaceSide,
    ResumeError, Spin, Trace, Verdict, check, check_same_result,
};
