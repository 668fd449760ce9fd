//! Programs of Lisle's, checked.

mod counts;
mod either;
#[path = "../support/found.rs"]
mod found;
mod kept_locks;
mod kernels;
mod kinds;
mod leaving;
mod observed;
mod outcomes;
mod pages;
mod random;
mod reports;
mod results;
mod sampling;
mod saved;
mod several;
mod timers;
