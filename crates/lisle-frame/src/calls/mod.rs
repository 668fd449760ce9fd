//! Foreign functions, and the futures of their calls.

pub(crate) mod call;
pub(crate) mod function;
pub(crate) mod lent;
