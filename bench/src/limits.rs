//! Limits that no system can beat: the command `limit`, and the rows of a system of that name
//! beside workloads whose messages cross between cores.
//!
//! A message between two cores is at least the transfer of a cache line: one core writes a word,
//! the other waits until it sees that. So the limit of a round trip is the time of two threads that
//! alternate on one word, and the limit of a message is half of it. It is measured in the same run,
//! since it differs by a factor of four between pairs of cores of one machine, and between
//! machines.
//!
//! It is a limit for messages that cross, one after the other. A system that keeps partners on one
//! core, or puts several messages into one line, is faster; its row has a ratio below 1.

mod command;
mod cores;
mod kernel;
mod lines;
mod memory;
mod rows;

pub(crate) use command::measure;
pub(crate) use kernel::{Bell, events, futexes, system_calls};
pub(crate) use lines::{Words, alternate, locked_operations};
pub(crate) use memory::{Pages, first_touches};
pub(crate) use rows::{each_message, messages, round_trips};

/// The name of the system, and of the workload that has the limits alone.
pub(crate) const NAME: &str = "limit";

/// For the notes of those rows.
pub(crate) const EACH_CROSSES: &str = "a line from core to core for each message, one after the other";
