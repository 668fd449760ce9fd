//! Waiting over frames, and for several things.

mod frames;

pub use frames::{NextFrame, frames, next_frame};
