#![doc = include_str!("../README.md")]

mod entered;
mod inherit;
mod layer;

pub use inherit::in_current_span;
pub use layer::{FiberSpans, layer};
