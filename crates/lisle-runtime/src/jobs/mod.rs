//! What is put off and given away: the halves of joins, the rests of loops, the jobs of scopes.
//!
//! See the [README](https://docs.rs/crate/lisle-runtime/latest/source/src/jobs/README.md) of this module for the protocol.
//!
//! - `pending`: what a stack has put off, a list that grows and shrinks at its young end.
//! - `job`, `offers`: what is offered to other domains, and where it lies.
//! - `owner`, `within`: what who has put something off does about it; being within a join or a loop.
//! - `heartbeat`, `stacks`: whether somebody could take something; which stacks are looked at from outside.
//! - `sharing`, `helping`: how a worker gives away and takes; what runs while a fiber waits for a part of a loop.

pub mod heartbeat;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod helping;
pub mod job;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
pub mod offers;
#[cfg(not(lisle_loom))]
pub mod owner;
pub mod pending;
#[cfg(not(lisle_loom))]
pub mod sharing;
pub mod stacks;
#[cfg(not(lisle_loom))]
pub mod within;
