//! Foreign calls: batches, order, faults, homes, chains, pools and their ends, reports.
#![cfg(feature = "threads")]

mod batches;
mod ends;
mod faults;
mod homes;
mod lending;
mod order;
mod over_frames;
mod places;
mod reports;
mod support;
