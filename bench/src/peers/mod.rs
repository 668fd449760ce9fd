//! The common parts of the programs of several workloads: each system's spawns, and the calls of
//! its channels.
//!
//! A system in Rust is an executor of futures with a channel of futures, or plain threads with a
//! blocking channel. The traits here are resolved when this is compiled; a program written against
//! them becomes the code that one would write by hand for each system.

mod blocking;
mod channels;
mod condvars;
mod executors;
mod lisle;
pub(crate) mod may;
mod mutexes;
mod pools;
mod rwlocks;
mod semaphores;

pub(crate) use self::lisle::runtime;
pub(crate) use blocking::{BlockingChannel, Crossbeam, Std};
pub(crate) use channels::{AsyncChannel, Channel, Flume, Kanal, LisleChannel, SharedChannel, TokioMpsc};
pub(crate) use condvars::{
    AsyncCondvar, BlockingCondvar, LisleCondvar, ParkingLotCondvar, StdCondvar, TokioNotify,
};
pub(crate) use executors::{Executor, LisleTasks, Smol, Tokio, TokioCurrentThread, TokioMultiThread};
pub(crate) use mutexes::{
    AsyncLock, AsyncMutex, BlockingMutex, LisleMutex, ParkingLot, Spin, StdMutex, TokioMutex, Usync,
};
pub(crate) use pools::{Chili, Lisle, Number, Pool, Rayon, Serial};
pub(crate) use rwlocks::{
    AsyncLockRwLock, AsyncRwLock, BlockingRwLock, Exclusive, LisleRwLock, ParkingLotRwLock, StdRwLock,
    TokioRwLock, Writing,
};
pub(crate) use semaphores::{AsyncLockSemaphore, LisleSemaphore, TokioSemaphore};

/// Ends the sample since the system cannot do it, for this reason.
pub(crate) fn cannot(why: &str) -> ! {
    eprintln!("{why}");
    // The runner takes this status for a limit rather than a failure.
    std::process::exit(3)
}
