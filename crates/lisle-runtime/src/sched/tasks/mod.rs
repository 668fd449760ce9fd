//! Tasks that have had to wait, as the scheduler runs them. (The module `task` has the interface,
//! and tasks that have not had to wait.)
//!
//! - `life`: how such a task is queued, runs, parks and ends.
//! - `slots`: the recycled memory of tasks.
//! - `snapshot`: looks at all tasks of a runtime.

pub(crate) mod life;
pub(crate) mod slots;
pub(crate) mod snapshot;
