//! What the scheduler sees of fibers and tasks: the memory of a fiber, and what everything spawned
//! has.
//!
//! - `cell`: the memory of everything spawned, its body above all: what is to run, then the result.
//! - `head`: what fibers and tasks have in common.
//! - `runnable`: the header of everything that lies in a worker's queues.
//! - `fiber_cell`: the control block of a fiber.
//! - `task_cell`, `task_body`: the slot of a task, and what is done with its future.
//! - `stack_state`, `this_stack`: what a stack keeps for the tasks and loops that run on it, and
//!   how they find it; `handled`: likewise for handled computations; `kept`: those that wait.
//! - `locals`, `scope_state`: a fiber's or task's locals, and what a scope knows of the fibers and
//!   tasks that it waits for.
//! - `hooks`, `apart`: what is called around the turns of a fiber, and what that suspends.
//! - `kin`: who spawned a fiber, and who wakes it.
//! - `foreign_calls`: how many functions of `blocking` are under way.

pub(crate) mod apart;
pub mod cell;
pub(crate) mod fiber_cell;
pub(crate) mod foreign_calls;
pub mod handled;
pub(crate) mod head;
pub(crate) mod hooks;
pub mod kept;
pub(crate) mod kin;
pub(crate) mod locals;
pub(crate) mod runnable;
pub(crate) mod scope_state;
pub mod stack_state;
pub(crate) mod task_body;
pub(crate) mod task_cell;
pub mod this_stack;
pub(crate) mod thread_locals;
