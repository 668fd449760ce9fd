//! The commit protocol, by which performers agree on events. The README of the folder above says
//! why it is right.

pub(crate) mod context;
pub(crate) mod evidence;
pub(crate) mod queue;
pub(crate) mod record;
pub(crate) mod standing;
#[doc(hidden)]
pub mod step;
pub(crate) mod timer;
pub(crate) mod visible;
pub(crate) mod woken;
