//! Partners on other threads write to the branches, records and words of a performer. These tests
//! perform each kind of event in each way, on several threads that meet, so that an interpreter or a
//! sanitizer sees every such write.
//!
//! They are whole programs in safe code, without a runtime, and small enough for Miri, which runs
//! them with many seeds and under both models of borrowing: `.ci/run miri`. Each also asserts the
//! values taken, and that each value was dropped once.

#![forbid(unsafe_code)]

mod calls;
mod cells;
mod channels;
mod executor;
mod locks;
mod message;
mod time;
mod wait_sets;
mod ways;

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Returns how many rounds a test runs: `on_the_machine`, or `in_an_interpreter`.
fn rounds(on_the_machine: usize, in_an_interpreter: usize) -> usize {
    if cfg!(miri) { in_an_interpreter } else { on_the_machine }
}

/// Returns the way to begin with: another one for each seed of an interpreter, which has no time to
/// try all.
fn start() -> usize {
    static START: OnceLock<usize> = OnceLock::new();
    let random = || RandomState::new().hash_one(0) as usize % ways::WAYS;
    *START.get_or_init(|| if cfg!(miri) { random() } else { 0 })
}
