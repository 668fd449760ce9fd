//! All locks, in all forms.

use super::{
    algorithms::{
        Adaptive, Clh, Guarded, Hemlock, Lock, Mcs, Normal, Pthread, Reciprocating, TestAndSet,
        TestAndTestAndSet, Ticket, TryExchange,
    },
    figures::of_contests,
    forms,
    studies::ALONE,
    wait::{BackOff, Nothing, Pause, PauseAndYield},
};
use crate::{
    job::{Job, Outcome, timed},
    peers::{
        self, AsyncLock, AsyncMutex, BlockingMutex, Executor, LisleMutex, ParkingLot, Smol, Spin, StdMutex,
        Tokio, TokioMutex, Usync,
    },
    workload::{Case, Program},
};
use std::{
    sync::{Arc, mpsc},
    thread,
};

/// In the order of the systems: those that sleep, those that spin, those that stand in line, and
/// those of runtimes.
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
    runtime("lisle", fibers),
    runtime("lisle-tasks", tasks),
    runtime("tokio-mt", futures::<Tokio, TokioMutex>).note("futures"),
    runtime("smol", futures::<Smol, AsyncLock>).note("futures"),
];

/// The names of the locks, for the command line.
pub(crate) fn systems() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.system)
}

const fn library<M: BlockingMutex>(system: &'static str) -> Program {
    Program::here(system, threads::<M>)
}

const fn own<L: Lock>(system: &'static str) -> Program {
    library::<Guarded<L>>(system)
}

/// A lock of fibers, tasks or futures. Their threads are not theirs, so nothing is said of them to
/// the kernel.
const fn runtime(system: &'static str, code: fn(&Job) -> Outcome) -> Program {
    const fn has_no_policy(case: &Case) -> bool {
        !matches!(case.variant.as_bytes(), b"other" | b"batch" | b"nice" | b"idle")
    }
    Program::here(system, code).only(has_no_policy)
}

fn threads<M: BlockingMutex>(job: &Job) -> Outcome {
    if job.variant == ALONE {
        return alone::<M>(job);
    }
    of_contests(job, forms::threads::<M, false>, forms::threads::<M, true>)
}

fn fibers(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        if job.variant == ALONE {
            return alone::<LisleMutex>(job);
        }
        of_contests(job, forms::fibers::<false>, forms::fibers::<true>)
    })
}

fn tasks(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        if job.variant == ALONE {
            return alone_async::<LisleMutex>(job, |lock| lisle::spawn_task(lock).join().expect("it ends"));
        }
        of_contests(job, forms::tasks::<false>, forms::tasks::<true>)
    })
}

fn futures<E: Executor, M: AsyncMutex>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    if job.variant == ALONE {
        return alone_async::<M>(job, |lock| executor.run(lock));
    }
    of_contests(
        job,
        |job| forms::futures::<E, M, false>(&executor, job),
        |job| forms::futures::<E, M, true>(&executor, job),
    )
}

/// What a lock costs that nobody else wants. There is another thread, which sleeps: the C library's
/// mutex uses no locked instructions in a process that has only one.
fn alone<M: BlockingMutex>(job: &Job) -> Outcome {
    let mutex = M::new();
    let (end, is_ended) = mpsc::channel::<()>();
    let sleeper = thread::spawn(move || is_ended.recv());
    let measured = job.measure(|n| timed(|| (0..n).for_each(|_| mutex.with(|value| *value += 1))));
    drop(end);
    sleeper.join().expect("it does not panic").expect_err("nothing is sent");
    mutex.with(|value| assert!(*value >= measured.operations));
    measured.nanoseconds()
}

fn alone_async<M: AsyncMutex>(job: &Job, run: impl Fn(LockTimes)) -> Outcome {
    let mutex = Arc::new(M::new());
    let measured = job.measure(|n| {
        let mutex = mutex.clone();
        let lock = async move {
            for _ in 0..n {
                mutex.with(|value| *value += 1).await;
            }
        };
        timed(|| run(Box::pin(lock)))
    });
    measured.nanoseconds()
}

/// A future that locks so often.
type LockTimes = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
