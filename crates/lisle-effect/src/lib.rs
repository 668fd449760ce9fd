//! Effect handlers for [`lisle`](https://docs.rs/lisle).

#![cfg(not(lisle_loom))]

mod clause;
mod computation;
mod continuation;
mod drive;
mod effect;
mod generator;
mod handler;
mod kept;
mod marks;
mod perform;

pub use continuation::{Continuation, Next, finish};
pub use effect::Effect;
pub use generator::{Generator, Items, Values, generate, generator};
pub use handler::{Handler, handle};
pub use kept::Suspended;
pub use perform::perform;
