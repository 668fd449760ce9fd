//! Recycled memory. Once warm, spawning, performing and sending allocate nothing.
//!
//! Memory is recycled in *slots* of fixed sizes. Each thread keeps the slots that become vacant on
//! it, and takes the last one first, which is still in its cache. A thread that has more than it
//! uses moves half of them back to the *pieces* that they were cut from, where others find them. A
//! piece that is unused for a while gives its memory back, and keeps its address.
//!
//! There are several *kinds* of slots, each with threads' lists and pieces of its own:
//!
//! - [`Blocks`]: plain memory, for the branches of events, pending sends, fibers and jobs.
//! - the slots of tasks (`sched/tasks/slots.rs` of the runtime), in which something stays after a
//!   task's end.
//!
//! Files: `classes` has the sizes, `threads` the slots of each thread, `pieces` the slots of no
//! thread, `blocks` the plain kind, and `pages` the system's calls.
//!
//! Under loom blocks are allocated one by one, which lets the models find leaks.

#[cfg(not(lisle_loom))]
mod blocks;
#[cfg(lisle_loom)]
#[path = "blocks_loom.rs"]
mod blocks;
#[cfg(not(lisle_loom))]
mod classes;
#[cfg(not(lisle_loom))]
pub mod pages;
#[cfg(not(lisle_loom))]
mod pieces;
#[cfg(not(lisle_loom))]
mod threads;

pub use blocks::{give, take};
#[cfg(not(lisle_loom))]
pub use {
    blocks::Blocks,
    classes::{LARGEST_STEP, class_of},
    pieces::{Memory, for_each, give_back, give_back_all},
    threads::{Guard, Kind, Local, give_slot, take_slot},
};
