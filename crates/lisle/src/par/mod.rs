//! Work for all cores: joins, loops, tasks and promises, sparks.

pub(crate) mod beat;
#[cfg(not(lisle_loom))]
mod consumer;
#[cfg(not(lisle_loom))]
pub mod dag;
#[cfg(not(lisle_loom))]
mod drive;
#[cfg(not(lisle_loom))]
mod experience;
#[cfg(not(lisle_loom))]
pub mod iter;
pub(crate) mod job;
#[cfg(not(lisle_loom))]
mod join;
pub(crate) mod offers;
#[cfg(not(lisle_loom))]
mod owner;
#[cfg(not(lisle_loom))]
mod part;
pub(crate) mod pending;
#[cfg(not(lisle_loom))]
mod plan;
#[cfg(not(lisle_loom))]
pub mod prelude;
#[cfg(not(lisle_loom))]
mod scope;

#[cfg(not(lisle_loom))]
pub use dag::Dag;
#[cfg(not(lisle_loom))]
pub use join::{join, join_with};
#[cfg(not(lisle_loom))]
pub use scope::{Promise, Scope, scope};
