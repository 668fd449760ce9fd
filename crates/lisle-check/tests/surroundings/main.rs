//! Programs inside of the model: loops over all cores, loops that ask until a condition holds, and
//! operations that have no place there.

mod after;
mod fairness;
#[path = "../support/found.rs"]
mod found;
mod loops;
mod no_suspend;
mod outside;
mod random;
mod sorts;
mod spins;
mod support;
