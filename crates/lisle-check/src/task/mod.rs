#![doc = include_str!("README.md")]

mod check;
pub mod conflict;
mod guarded;
mod names;
mod outcome;
mod program;
mod run;
mod value;

pub use check::{
    Asked, Checker, Clock, Conflict, Coverage, Memory, Possible, Schedule, Step, Turns, Verdict, check,
    check_value,
};
pub use names::{CellName, Path, TaskName};
pub use outcome::{End, Fault, Outcome, Waiting, Wants};
pub use program::{
    Continuation, IVar, Joined, MemoryCell, Mutex, Op, OpV, Sequel, Task, answer, append, die, exit, fork,
    fork_on, fork_value, give, ivar, join, mem, mutex, print, read_file, read_line, repeat, sequence,
    set_timeout, sleep,
};
pub use run::{InMemory, Outside, Record, World, run, run_in, run_value};
pub use value::{Datum, Value};
