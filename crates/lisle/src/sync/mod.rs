//! Cells and conditions to wait for, from hosts, plain threads and futures alike.

mod condition;
mod condvar;
mod contended;
mod holder;
mod ivar;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
mod mutex;
mod rwlock;

pub use condition::{Condition, WaitEvt};
pub use condvar::{Condvar, NotifiedEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use mutex::{LockEvt, Mutex, MutexGuard};
pub use rwlock::{ReadEvt, RwLock, RwLockReadGuard, RwLockWriteGuard, WriteEvt};
