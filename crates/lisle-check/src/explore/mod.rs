//! The exploration engine: which schedule is run next.
//!
//! The program under test is run from its start for each execution. At each scheduling point it
//! says which processes can run, and a [`Strategy`] answers which one does. While that process's
//! step runs, the program reports what the step does to shared objects. From the reports the
//! strategy finds which orders mattered, and so which ones remain to be tried. The engine knows
//! nothing of fibers, channels or locks but what [`Kind`] says of them.
//!
//! `README.md` beside this file explains the hard parts: why the exhaustive exploration runs each
//! class of equivalent schedules exactly once, the rule for locks, and what choices do.
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
