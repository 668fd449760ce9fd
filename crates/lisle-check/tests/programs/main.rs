//! Programs of Lisle's, checked.

mod counts;
mod kernels;
mod kinds;
mod observed;
mod outcomes;
mod pages;
mod random;
mod reports;
mod results;
mod saved;
mod several;
