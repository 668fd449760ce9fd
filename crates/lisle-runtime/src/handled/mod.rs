//! The parts of the runtime for `lisle-effect`: the chain of the computations that run on a stack,
//! stacks for them, and the home of a suspended one.

mod home;
mod supply;

pub use crate::spawned::handled::{Answering, Link};
pub use crate::spawned::kept::{Entry, Home};
pub use crate::stack::taken::Taken;
pub use home::{wait, wait_no_more};
pub use supply::{can_give, give, take};
