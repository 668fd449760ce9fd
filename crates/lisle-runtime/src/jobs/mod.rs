//! What is put off and given away: the second halves of joins, the rests of loops, the jobs of
//! scopes.
//!
//! See the [README](https://docs.rs/crate/lisle-runtime/latest/source/src/jobs/README.md) of this
//! module for the protocol.
//!
//! - `pending`: what a stack has put off, a list that grows and shrinks at its young end.
//! - `job`, `offers`: what is offered to other domains, and where the offers are.
//! - `heartbeat`, `stacks`: whether a domain could take something, and which stacks are looked at
//!   from outside.
//!
//! `sched/worker/jobs.rs` holds how a worker gives jobs away and takes them,
//! `sched/worker/helping.rs` what runs while a fiber waits for a part of a loop, and `loops` what
//! the owner does.

pub mod heartbeat;
pub mod job;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
pub mod offers;
pub mod pending;
pub mod stacks;
