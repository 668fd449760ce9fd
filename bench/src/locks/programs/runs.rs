//! The code of a sample: a contest of threads, fibers, tasks or futures, or a lock that nobody else
//! wants.

use crate::{
    job::{Job, Outcome, timed},
    locks::{
        figures::of_contests,
        forms,
        studies::ALONE,
        turns::{AsyncTurns, BlockingTurns, Locking},
    },
    peers::{self, AsyncMutex, BlockingMutex, Executor},
};
use std::{
    sync::{Arc, mpsc},
    thread,
};

pub(super) fn of_threads<T: BlockingTurns>(job: &Job) -> Outcome {
    of_contests(job, forms::threads::<T, false>, forms::threads::<T, true>)
}

pub(super) fn of_fibers<T: BlockingTurns>(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| of_contests(job, forms::fibers::<T, false>, forms::fibers::<T, true>))
}

pub(super) fn of_tasks<T: AsyncTurns>(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| of_contests(job, forms::tasks::<T, false>, forms::tasks::<T, true>))
}

pub(super) fn of_futures<E: Executor, T: AsyncTurns>(job: &Job) -> Outcome {
    let executor = E::start(job.workers);
    of_contests(
        job,
        |job| forms::futures::<E, T, false>(&executor, job),
        |job| forms::futures::<E, T, true>(&executor, job),
    )
}

pub(super) fn threads<M: BlockingMutex>(job: &Job) -> Outcome {
    if job.variant == ALONE { alone::<M>(job) } else { of_threads::<Locking<M>>(job) }
}

pub(super) fn fibers<M: BlockingMutex>(job: &Job) -> Outcome {
    if job.variant == ALONE {
        return peers::runtime(job.workers).run(|| alone::<M>(job));
    }
    of_fibers::<Locking<M>>(job)
}

pub(super) fn tasks<M: AsyncMutex>(job: &Job) -> Outcome {
    if job.variant == ALONE {
        let run = |lock| lisle::spawn_task(lock).join().expect("it ends");
        return peers::runtime(job.workers).run(|| alone_async::<M>(job, run));
    }
    of_tasks::<Locking<M>>(job)
}

pub(super) fn futures<E: Executor, M: AsyncMutex>(job: &Job) -> Outcome {
    if job.variant == ALONE {
        let executor = E::start(job.workers);
        return alone_async::<M>(job, |lock| executor.run(lock));
    }
    of_futures::<E, Locking<M>>(job)
}

/// Measures a lock that nobody else wants. Another thread sleeps meanwhile: in a process with one
/// thread the C library's mutex uses no locked instructions.
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

/// A future that locks a number of times.
type LockTimes = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
