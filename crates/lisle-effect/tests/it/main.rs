//! Tests of effects, without the crates above this one.

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
