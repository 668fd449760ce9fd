//! Fibers and tasks as the scheduler sees them: their memory, and the parts that all of them have.
//!
//! - `cell`: the memory of everything spawned, above all its body: the closure or future, and later
//!   the result.
//! - `head`: the parts that fibers and tasks share.
//! - `runnable`: the header of everything that lies in a domain's queues.
//! - `fiber_cell`: the control block of a fiber.
//! - `task_cell`, `task_body`: the slot of a task, and the functions for its future.
//! - `stack_state`, `this_stack`: the state that a stack keeps for its tasks and loops, and the way
//!   to it; `handled`: the same for handled computations; `kept`: suspended computations.
//! - `locals`, `local_key`, `scope_state`: a fiber's or task's locals, the common half of their keys, and
//!   the state of a scope about its fibers and tasks.
//! - `hooks`, `apart`: the functions that are called around the turns of a fiber, and the
//!   computations that they suspend.
//! - `kin`: the spawner of a fiber, and the fibers that wake it.
//! - `foreign_calls`: the number of functions of `blocking` that are under way.

pub(crate) mod apart;
pub mod cell;
pub(crate) mod fiber_cell;
pub(crate) mod foreign_calls;
pub(crate) mod handled;
pub(crate) mod head;
pub(crate) mod hooks;
pub(crate) mod kept;
pub(crate) mod kin;
pub(crate) mod local_key;
pub(crate) mod locals;
pub(crate) mod runnable;
pub(crate) mod scope_state;
pub mod stack_state;
pub(crate) mod task_body;
pub(crate) mod task_cell;
pub mod this_stack;
pub(crate) mod thread_locals;
