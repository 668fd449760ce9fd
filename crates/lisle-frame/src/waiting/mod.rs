//! Waiting over frames, and for several things at once.
//!
//! The four ways of waiting for several futures are those of Verse, a language for games: *sync*
//! (here [`all`]), *race*, *rush* and *branch*.

mod all;
mod branch;
mod frames;
mod race;
mod slice;

pub use all::{All, all};
pub use branch::{Rush, branch, rush};
pub use frames::{NextFrame, frames, next_frame};
pub use race::{Race, race};
