//! What the scheduler sees of fibers and tasks: the memory of a fiber, and what everything spawned
//! has.
//!
//! - `cell`: the memory of everything spawned, its body above all: what is to run, then the result.
//! - `head`: what fibers and tasks have in common.
//! - `runnable`: the header of everything that lies in a worker's queues.
//! - `fiber_cell`: the control block of a fiber.
//! - `task_cell`, `task_body`: the slot of a task, and what is done with its future.
//! - `stack_state`, `this_stack`: what a stack keeps for the tasks and loops that run on it, and
//!   how they find it.
//! - `locals`, `scope_state`: a fiber's or task's locals, and what a scope knows of the fibers and
//!   tasks that it waits for.
//! - `foreign_calls`: how many functions of `blocking` are under way.

pub mod cell;
#[cfg(not(lisle_loom))]
pub(crate) mod fiber_cell;
#[cfg(not(lisle_loom))]
pub(crate) mod foreign_calls;
#[cfg(not(lisle_loom))]
pub(crate) mod head;
#[cfg(not(lisle_loom))]
pub(crate) mod hooks;
#[cfg(not(lisle_loom))]
pub(crate) mod locals;
#[cfg(not(lisle_loom))]
pub(crate) mod runnable;
#[cfg(not(lisle_loom))]
pub(crate) mod scope_state;
#[cfg(not(lisle_loom))]
pub(crate) mod stack_state;
#[cfg(not(lisle_loom))]
pub(crate) mod task_body;
#[cfg(not(lisle_loom))]
pub(crate) mod task_cell;
#[cfg(not(lisle_loom))]
pub mod this_stack;
