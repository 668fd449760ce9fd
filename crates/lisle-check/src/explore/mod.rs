//! The exploration engine, which chooses the next schedule.
//!
//! For each execution the program under test runs from its start. At each scheduling point the
//! program names the processes that can run, and a [`Strategy`] chooses one of them. While this
//! process runs its step, the program reports the step's accesses to shared objects. From the
//! reports the strategy finds the orders that mattered, and so the orders that it still has to try.
//! Of fibers, channels and locks the engine knows only the kinds of accesses ([`Kind`]).
//!
//! `README.md` beside this file explains the hard parts: why the exhaustive exploration runs each
//! class of equivalent schedules exactly once, the rule for locks, and choices.
//!
//! ```
//! use lisle_check::explore::{Decision, Ending, Exhaustive, Kind, Object, Process, Strategy};
//!
//! // Two processes write one variable, each in one step: there are two orders.
//! let mut strategy = Exhaustive::new();
//! while strategy.begin() {
//!     let mut left = vec![Process(0), Process(1)];
//!     let mut ending = Ending::Complete;
//!     while !left.is_empty() {
//!         let Decision::Run(process) = strategy.next(None, &left) else {
//!             ending = Ending::Stopped;
//!             break;
//!         };
//!         left.retain(|&other| other != process);
//!         strategy.access(Object(0), Kind::Write);
//!     }
//!     strategy.end(ending);
//! }
//! assert_eq!(strategy.counts().complete, 2);
//! ```

mod access;
mod bounded;
mod divergence;
mod divided;
mod exhaustive;
mod follow;
mod observed;
mod process;
mod races;
mod sampled;
mod save;
mod schedule;
mod shared;
mod shrink;
mod sleep;
mod strategy;
mod token;
mod trace;
mod tree;

pub use access::{Access, Kind, Object};
pub use bounded::Bounded;
pub use divergence::Divergence;
pub use divided::{Divided, Drawn};
pub use exhaustive::{Exhaustive, Reduction};
pub use follow::{Follow, Planned, Planning};
#[cfg(feature = "programs")]
pub(crate) use observed::mix;
pub use observed::{Classes, Observed};
pub use process::{Family, Process};
pub use sampled::{Priorities, Random};
pub use save::ResumeError;
pub use schedule::{Codes, Recorded, Replay, Schedule};
pub use shrink::shrink;
pub use strategy::{Counts, Decision, Ending, Mark, Strategy};
pub use token::TokenError;
