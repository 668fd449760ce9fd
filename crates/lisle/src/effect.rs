//! Effects.

#[doc(inline)]
pub use lisle_effect::*;
