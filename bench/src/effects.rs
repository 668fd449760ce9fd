//! Effects and their handlers: the command `effects`, and the common parts of its workloads.
//!
//! A computation *performs* an effect, and its *handler* answers. That takes two switches between
//! the stacks of the two. So the peers are of two kinds. Some have effects (OCaml, libmpeff). With
//! the others one would write the same by a coroutine that asks and is answered (corosensei,
//! genawaiter, Boost.Context, Go's `iter.Pull`), or by a thread and two channels (Go, Java).

mod command;
mod search;
pub(crate) mod suite;
mod tree;

pub(crate) use command::measure;
pub(crate) use search::Path;
pub(crate) use tree::{Node, Tree, balanced};

/// With which the names of these workloads begin.
pub(crate) const PREFIX: &str = "effect-";

/// The form of a program in systems without effects.
pub(crate) const ASKS: &str = "a coroutine that asks and is answered";
