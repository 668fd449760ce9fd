//! Attempts to break effects from safe code: each test is one way in which a reference, a stack or
//! a count could have outlived its owner. In a process of its own, since some leave threads and
//! stacks behind on purpose.

mod again_elsewhere;
mod between;
mod destructors;
mod ends;
mod fibers;
mod foreign;
mod frames;
mod homes;
mod joins;
mod left;
mod nested_runtimes;
mod sizes;
mod support;
