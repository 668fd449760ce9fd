//! What is put off and given away: the halves of joins, the rests of loops, the jobs of scopes.
//!
//! See the [README](https://docs.rs/crate/lisle-runtime/latest/source/src/jobs/README.md) of this module for the protocol.
//!
//! - `pending`: what a stack has put off, a list that grows and shrinks at its young end.
//! - `job`, `offers`: what is offered to other domains, and where it lies.
//! - `heartbeat`, `stacks`: whether somebody could take something; which stacks are looked at from outside.
//!
//! How a worker gives away and takes is in `sched/sharing.rs`, what runs while a fiber waits for a part of a loop in
//! `sched/helping.rs`, and what the owner does in `loops`.

pub mod heartbeat;
pub mod job;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
pub mod offers;
pub mod pending;
pub mod stacks;
