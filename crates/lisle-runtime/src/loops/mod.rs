//! The functions of joins and loops for the work that they have put off. Used by `lisle-par`.

pub mod modelled;
pub mod owner;
