//! Cells and conditions to wait for, from hosts, plain threads and futures alike.

mod condition;
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
