//! Tests of effects, without what is above this crate.

mod any;
mod backtraces;
mod cleanup;
mod ending;
mod fibers;
mod generators;
mod handling;
mod kept;
mod panics;
mod stacks;
mod support;
