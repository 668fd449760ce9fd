//! Waiting over frames, and for several futures at once.
//!
//! The four ways of waiting for several futures come from Verse, a language for games: *sync* (here
//! [`all`]), *race*, *rush* and *branch*. As in Verse, a future that goes on beside a body belongs
//! to the async scope that has started it, and ends with the scope. A future that *spawn* starts
//! does not.

mod all;
mod branch;
mod frames;
mod race;
mod scope;
mod slice;
mod time;

pub use all::{All, all};
pub use branch::{Rush, branch, rush, spawn};
pub use frames::{NextFrame, frames, next_frame};
pub use race::{Race, race};
pub use scope::async_scope;
pub use time::{Elapsed, seconds, timeout, until};
