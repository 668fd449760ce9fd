//! Cells and conditions to wait for, from hosts, plain threads and futures alike.

mod condition;
mod contended;
mod holder;
mod ivar;
mod mvar;
mod watch;

pub use condition::{Condition, WaitEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use mvar::{Lease, LeaseEvt, MVar, PutEvt, ReadEvt, TakeEvt, Turn};
pub use watch::{ChangedEvt, WaitForEvt, WaitingFor, Watch, WatchClosed, Watcher};
mod semaphore;

pub use condition::{Condition, WaitEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use semaphore::{Permit, Semaphore, Taking, TokenEvt};
#[cfg(all(test, lisle_loom))]
mod loom_tests;
mod mutex;

pub use condition::{Condition, WaitEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use mutex::{LockEvt, Mutex, MutexGuard};
