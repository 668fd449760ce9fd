//! Lisle's events on executors of others, with no Lisle runtime started: tokio with one thread,
//! with one worker and with two, and smol. The numbers in the comments refer to the list of
//! behaviours that the library's own tests follow; here are the cases that a future can meet.

mod channel;
mod choice;
mod conservation;
mod nacks;
mod pairing;
mod support;
mod tokio_only;
#[path = "../../../crates/lisle/tests/it/support/watch.rs"]
mod watch;
mod worlds;
