//! What a join or a loop does about the work that it has put off. Used by `lisle-par`.

pub mod modelled;
pub mod owner;
