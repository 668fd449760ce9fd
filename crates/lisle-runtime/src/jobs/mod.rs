//! The work that is put off and given away: the second halves of joins, the rests of loops, the
//! jobs of scopes.
//!
//! See the [README](https://docs.rs/crate/lisle-runtime/latest/source/src/jobs/README.md) of this
//! module for the protocol.
//!
//! - `pending`: the work that a stack has put off, a list that grows and shrinks at its young end.
//! - `job`, `offers`: the jobs that are offered to other domains, and the places of the offers.
//! - `heartbeat`, `stacks`: whether a domain could take something, and the stacks at which other
//!   threads look.
//!
//! In `sched/worker/jobs.rs` a domain gives jobs away and takes them; `sched/worker/helping.rs`
//! runs jobs while a fiber waits for a part of a loop; `loops` is the owner's side.

pub mod heartbeat;
pub mod job;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
pub mod offers;
pub mod pending;
pub mod stacks;
