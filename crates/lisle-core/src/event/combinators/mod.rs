//! Events of other events, and the two that need none.

pub(crate) mod basic;
pub(crate) mod choose;
pub(crate) mod choose_all;
pub(crate) mod guard;
mod list;
pub(crate) mod nack;
mod one_step;
mod option;
#[doc(hidden)]
pub mod select;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod until;
