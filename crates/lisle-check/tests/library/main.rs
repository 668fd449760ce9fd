//! The library under its own checker: what it promises holds in every schedule of small programs.

mod exchange;
mod outcomes;
