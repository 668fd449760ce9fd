//! Joins, loops, jobs and sparks from outside: on runtimes of several sizes, from fibers and from
//! plain threads.

mod allocations;
mod both;
mod bridge;
mod collections;
mod control;
mod dag;
mod early;
mod edges;
mod far;
mod inits;
mod joins;
mod panics;
mod pieces;
mod programs;
mod reductions;
mod scope;
mod sorting;
mod splits;
mod stacks;
mod support;
mod trouble;
mod turns;
#[path = "../it/support/watch.rs"]
mod watch;
