//! Cells and conditions to wait for, from hosts, plain threads and futures alike.

mod barrier;
mod condition;
mod ivar;
mod latch;
mod once;
mod semaphore;

pub use barrier::{Arriving, Barrier, BarrierEvt, Party, Round};
pub use condition::{Condition, WaitEvt};
pub use ivar::{Full, GetEvt, IVar};
pub use latch::{Latch, Member, WaitGroup, ZeroEvt};
pub use once::{Lazy, Once, OnceCell};
pub use semaphore::{Permit, Semaphore, Taking, TokenEvt};
