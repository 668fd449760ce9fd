//! The interpreter that performs a program on a runtime of Lisle.
//!
//! Each task is a fiber, so tasks run in parallel on all cores, and a task that waits costs
//! nothing. *Invariant:* an exit is final. Each effect is performed under a gate that the exit
//! closes, so none comes after it, and an outcome shows the memory at one moment.

mod cells;
mod machine;
mod world;

pub use world::{InMemory, Outside, Record, World};

use super::outcome::Outcome;
use super::program::{OpV, Task, ending_in_answer};
use super::value::Value;
use machine::Machine;

/// Performs the program, with the standard input, standard output and files of this process.
///
/// It starts a runtime with a domain for each processor, and returns when a task has exited, when
/// all have died, when one broke a rule, or when all that are left wait for ever. The exit code is
/// returned; ending the process with it is left to the caller.
///
/// # Blocking
///
/// Blocks the thread until the program has ended. A task that computes without end is not stopped
/// by the exit of another; neither is one that waits for standard input.
///
/// # Panics
///
/// If the system provides no threads. A panic in the program is a [fault](super::End::Fault) in the
/// outcome.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{exit, print, run};
///
/// let hello = print("Hello World").then(exit(0));
/// assert_eq!(run(hello).exit_code(), Some(0));
/// ```
pub fn run(task: Task) -> Outcome {
    run_in(Outside, task)
}

/// Performs the program in a world of the caller's. See [`run`].
///
/// # Examples
///
/// ```
/// use lisle_check::task::{InMemory, append, exit, run_in};
///
/// let world = InMemory::new().with_file("log", "one\n");
/// let outcome = run_in(world, append("log", "two\n").then(exit(0)));
/// assert_eq!(outcome.files["log"], "one\ntwo\n");
/// ```
pub fn run_in<W: World>(world: W, task: Task) -> Outcome {
    Machine::start(world, task)
}

/// Performs `operation`, and gives its value as the answer. See [`run`].
#[track_caller]
pub fn run_value<T: Value>(operation: OpV<T>) -> Outcome {
    run(ending_in_answer(operation))
}
