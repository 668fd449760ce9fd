//! What a program may do inside of the model: loops over all cores, loops that ask until something
//! is so, and what has no place there.

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
