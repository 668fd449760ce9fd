//! Programs of Lisle's, checked.

mod counts;
mod kernels;
mod kinds;
mod outcomes;
mod random;
