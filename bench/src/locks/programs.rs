//! All locks, in all forms.

mod runs;

use super::{
    algorithms::{
        Adaptive, Clh, Guarded, Hemlock, Lock, Mcs, Normal, Pthread, Reciprocating, TestAndSet,
        TestAndTestAndSet, Ticket, TryExchange,
    },
    turns::{HandingOver, ReadingOrWriting},
    wait::{BackOff, Nothing, Pause, PauseAndYield},
};
use crate::{
    job::{Job, Outcome},
    peers::{
        AsyncCondvar, AsyncLock, AsyncLockRwLock, AsyncLockSemaphore, BlockingCondvar, BlockingMutex,
        BlockingRwLock, Exclusive, LisleCondvar, LisleMutex, LisleRwLock, LisleSemaphore, ParkingLot,
        ParkingLotCondvar, ParkingLotRwLock, Smol, Spin, StdCondvar, StdMutex, StdRwLock, Tokio, TokioMutex,
        TokioNotify, TokioRwLock, TokioSemaphore, Usync, Writing,
    },
    workload::{Case, Program},
};
use runs::{fibers, futures, of_fibers, of_futures, of_tasks, of_threads, tasks, threads};

/// In the order of the systems: locks that sleep, that spin, that stand in line, locks of runtimes,
/// and semaphores and readers-writer locks in the place of a mutex.
pub(super) static PROGRAMS: &[Program] = &[
    library::<StdMutex>("std"),
    library::<ParkingLot>("parking_lot"),
    own::<Pthread<Normal>>("pthread"),
    own::<Pthread<Adaptive>>("pthread-adaptive"),
    library::<Usync>("usync"),
    library::<Spin>("spin"),
    own::<TestAndSet<Nothing>>("test-and-set"),
    own::<TestAndTestAndSet<Pause>>("spin-amd"),
    own::<TryExchange<PauseAndYield>>("spin-yield"),
    own::<TryExchange<BackOff>>("spin-backoff"),
    own::<Ticket<Pause>>("ticket"),
    own::<Ticket<PauseAndYield>>("ticket-yield"),
    own::<Mcs<Pause>>("mcs"),
    own::<Mcs<PauseAndYield>>("mcs-yield"),
    own::<Clh<Pause>>("clh"),
    own::<Clh<PauseAndYield>>("clh-yield"),
    own::<Hemlock<Pause>>("hemlock"),
    own::<Hemlock<PauseAndYield>>("hemlock-yield"),
    own::<Reciprocating<Pause>>("reciprocating"),
    own::<Reciprocating<PauseAndYield>>("reciprocating-yield"),
    library::<LisleMutex>("lisle-threads"),
    runtime("lisle", fibers::<LisleMutex>),
    runtime("lisle-tasks", tasks::<LisleMutex>),
    runtime("tokio-mt", futures::<Tokio, TokioMutex>).note("futures"),
    runtime("smol", futures::<Smol, AsyncLock>).note("futures"),
    library::<LisleSemaphore>("lisle-semaphore-threads"),
    runtime("lisle-semaphore", fibers::<LisleSemaphore>),
    runtime("lisle-semaphore-tasks", tasks::<LisleSemaphore>),
    runtime("tokio-semaphore", futures::<Tokio, TokioSemaphore>).note("futures"),
    runtime("smol-semaphore", futures::<Smol, AsyncLockSemaphore>).note("futures"),
    library::<Writing<StdRwLock>>("std-rwlock"),
    library::<Writing<ParkingLotRwLock>>("parking_lot-rwlock"),
    library::<Writing<LisleRwLock>>("lisle-rwlock-threads"),
    runtime("lisle-rwlock", fibers::<Writing<LisleRwLock>>),
    runtime("lisle-rwlock-tasks", tasks::<Writing<LisleRwLock>>),
    runtime("tokio-rwlock", futures::<Tokio, Writing<TokioRwLock>>).note("futures"),
    runtime("smol-rwlock", futures::<Smol, Writing<AsyncLockRwLock>>).note("futures"),
];

/// Readers-writer locks, and mutexes in their place.
pub(super) static RWLOCKS: &[Program] = &[
    mutex::<StdMutex>("std"),
    mutex::<ParkingLot>("parking_lot"),
    mutex::<LisleMutex>("lisle-threads"),
    Program::here("std-rwlock", readers::<StdRwLock>),
    Program::here("parking_lot-rwlock", readers::<ParkingLotRwLock>),
    Program::here("lisle-rwlock-threads", readers::<LisleRwLock>),
    Program::here("lisle-rwlock", of_fibers::<ReadingOrWriting<LisleRwLock>>),
    Program::here("lisle-rwlock-tasks", of_tasks::<ReadingOrWriting<LisleRwLock>>),
    Program::here("tokio-rwlock", of_futures::<Tokio, ReadingOrWriting<TokioRwLock>>).note("futures"),
    Program::here("smol-rwlock", of_futures::<Smol, ReadingOrWriting<AsyncLockRwLock>>).note("futures"),
];

/// Condition variables.
pub(super) static CONDVARS: &[Program] = &[
    Program::here("std-condvar", hand_over::<StdCondvar>),
    Program::here("parking_lot-condvar", hand_over::<ParkingLotCondvar>),
    Program::here("lisle-condvar-threads", hand_over::<LisleCondvar>),
    Program::here("lisle-condvar", of_fibers::<BlockingHandOver<LisleCondvar>>),
    Program::here("lisle-condvar-tasks", of_tasks::<AsyncHandOver<LisleCondvar>>),
    Program::here("tokio-notify", of_futures::<Tokio, AsyncHandOver<TokioNotify>>).note("futures"),
];

type BlockingHandOver<C> = HandingOver<C, <C as BlockingCondvar>::Mutex>;
type AsyncHandOver<C> = HandingOver<C, <C as AsyncCondvar>::Mutex>;

/// The names of the locks, for the command line.
pub(crate) fn systems() -> impl Iterator<Item = &'static str> {
    let beside_mutexes = RWLOCKS.iter().filter(|program| !has(PROGRAMS, program.system));
    PROGRAMS.iter().chain(beside_mutexes).chain(CONDVARS).map(|program| program.system)
}

fn has(programs: &[Program], system: &str) -> bool {
    programs.iter().any(|program| program.system == system)
}

const fn library<M: BlockingMutex>(system: &'static str) -> Program {
    Program::here(system, threads::<M>)
}

const fn own<L: Lock>(system: &'static str) -> Program {
    library::<Guarded<L>>(system)
}

/// A lock of fibers, tasks or futures. The threads are the runtime's, so the kernel is told nothing
/// about them.
const fn runtime(system: &'static str, code: fn(&Job) -> Outcome) -> Program {
    const fn has_no_policy(case: &Case) -> bool {
        !matches!(case.variant.as_bytes(), b"other" | b"batch" | b"nice" | b"idle")
    }
    Program::here(system, code).only(has_no_policy)
}

const fn mutex<M: BlockingMutex>(system: &'static str) -> Program {
    Program::here(system, readers::<Exclusive<M>>).beside(|_| true).note("a mutex")
}

fn readers<L: BlockingRwLock>(job: &Job) -> Outcome {
    of_threads::<ReadingOrWriting<L>>(job)
}

fn hand_over<C: BlockingCondvar>(job: &Job) -> Outcome {
    of_threads::<BlockingHandOver<C>>(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems;
    use std::collections::BTreeSet;

    #[test]
    fn each_lock_is_named_once_and_is_a_system() {
        let names: Vec<&str> = systems().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for program in [PROGRAMS, RWLOCKS, CONDVARS].into_iter().flatten() {
            assert!(names.contains(&program.system), "{}", program.system);
        }
        for name in names {
            assert!(systems::find(name).is_some(), "{name}");
        }
    }
}
