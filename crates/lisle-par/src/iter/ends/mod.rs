//! The consumers behind the methods that run a loop.

pub(super) mod each;
pub(super) mod find;
pub(super) mod reduce;
pub(super) mod stop;
pub(super) mod sum;
pub(super) mod tries;
