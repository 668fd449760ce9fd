//! The effect handlers of [`lisle`](https://docs.rs/lisle). Programs depend on `lisle`, whose
//! module `effect` has all of this crate and explains it.
//!
//! - [`perform`], [`Effect`]: the code that performs effects.
//! - [`handle`], [`Handler`], [`Continuation`], [`Suspended`]: the handlers, and the rest of
//!   a computation.
//! - [`generator`], [`generate`]: iterators whose items are given by code in direct style.
//!
//! The examples use the names of the facade: read `lisle::effect` as `lisle_effect`.

// Under loom only the protocols of the layers below are built.
#![cfg(not(lisle_loom))]

mod any;
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
mod placed;
mod request;
mod room;
mod stays;
mod unwind;

pub use any::AnyEffect;
pub use continuation::{Continuation, Next, finish};
pub use effect::Effect;
pub use generator::{Generator, Items, Values, generate, generator};
pub use handler::{Handler, handle};
pub use kept::Suspended;
pub use perform::perform;
