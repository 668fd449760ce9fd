//! Joins, loops, tasks and sparks from outside: on runtimes of several sizes, from hosts and from plain threads.

mod allocations;
mod collections;
mod control;
mod dag;
mod early;
mod edges;
mod joins;
mod panics;
mod programs;
mod reductions;
mod scope;
mod sorting;
mod support;
mod trouble;
