//! Candidate executions: who reads from whom, and which write comes after which.
//!
//! An execution is a set of events with two choices: for each read the write that it reads from
//! (*reads-from*), and for each location an order of its writes (*coherence*). A memory model says
//! which of them are possible. [`search`] builds them choice by choice, and asks the model after
//! each, so that what is impossible is left early.

pub(crate) mod cells;
pub(crate) mod relation;
pub(crate) mod search;
pub(crate) mod skeleton;
