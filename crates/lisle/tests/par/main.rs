//! Parallel loops from outside: on runtimes of several sizes, from hosts and from plain threads.

mod allocations;
mod collections;
mod early;
mod edges;
mod panics;
mod programs;
mod reductions;
mod support;
