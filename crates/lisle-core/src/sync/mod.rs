//! Cells, locks and conditions to wait for, from fibers, plain threads and futures alike.

mod barrier;
mod condition;
mod condvar;
mod contended;
mod ivar;
mod latch;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
mod mutex;
mod mvar;
mod once;
mod rwlock;
mod semaphore;
mod watch;

pub use barrier::{Arriving, Barrier, BarrierEvt, Party, Round};
pub use condition::{Condition, WaitEvt};
pub use condvar::{Condvar, NotifiedEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use latch::{Latch, Member, WaitGroup, ZeroEvt};
pub use mutex::{LockEvt, Mutex, MutexGuard};
pub use mvar::{Lease, LeaseEvt, MVar, PutEvt, ReadEvt, TakeEvt, Turn};
pub use once::{Lazy, Once, OnceCell};
pub use rwlock::{ReadLockEvt, RwLock, RwLockReadGuard, RwLockWriteGuard, WriteLockEvt};
pub use semaphore::{Permit, Semaphore, Taking, TokenEvt};
pub use watch::{ChangedEvt, WaitForEvt, WaitingFor, Watch, WatchClosed, Watcher};
