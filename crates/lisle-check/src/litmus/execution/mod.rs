//! Candidate executions: reads-from, and the order of writes.
//!
//! An execution is a set of events with two choices: for each read the write that it reads from
//! (*reads-from*), and for each location an order of its writes (*coherence*). A memory model
//! decides which of them are possible. [`search`] builds them choice by choice, and asks the model
//! after each, so it drops impossible executions early.

pub(crate) mod cells;
pub(crate) mod relation;
pub(crate) mod search;
pub(crate) mod skeleton;
