//! Cells, locks and conditions to wait for, from hosts, plain threads and futures alike.

mod condition;
mod contended;
mod holder;
mod ivar;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
mod mutex;
mod mvar;
mod semaphore;
mod watch;

pub use condition::{Condition, WaitEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use mutex::{LockEvt, Mutex, MutexGuard};
pub use mvar::{Lease, LeaseEvt, MVar, PutEvt, ReadEvt, TakeEvt, Turn};
pub use semaphore::{Permit, Semaphore, Taking, TokenEvt};
pub use watch::{ChangedEvt, WaitForEvt, WaitingFor, Watch, WatchClosed, Watcher};
