//! Programs of Lisle's, checked.

mod counts;
mod kernels;
mod kinds;
mod outcomes;
mod pages;
mod random;
mod reports;
mod results;
