//! Performers as threads, fibers, tasks and futures. All do the same, in the order of
//! [`Performer`].

use super::{
    contest::{Contest, Outcome},
    performer::{Performer, Seen},
};
use crate::{
    job::Job,
    peers::{AsyncMutex, BlockingMutex, Executor, LisleMutex},
};
use lisle::task::inflate;
use std::{
    sync::{Arc, Barrier},
    thread,
};

/// The loop of a performer that waits in place.
fn perform<M: BlockingMutex, const TIMED: bool>(mutex: &M, mut performer: Performer<TIMED>) -> Seen {
    performer.begin();
    loop {
        performer.ask();
        if !mutex.with(|value| performer.hold(value)) {
            return performer.end();
        }
        performer.go_on();
    }
}

/// And of one that awaits the lock.
async fn perform_async<M: AsyncMutex, const TIMED: bool>(
    mutex: Arc<M>,
    mut performer: Performer<TIMED>,
) -> Seen {
    performer.begin();
    loop {
        performer.ask();
        if !mutex.with(|value| performer.hold(value)).await {
            return performer.end();
        }
        performer.go_on();
    }
}

/// A contest of threads. They take long to start, beside what they are to do, so all are there
/// before it begins.
pub(crate) fn threads<M: BlockingMutex, const TIMED: bool>(job: &Job) -> Outcome {
    let mutex = M::new();
    let outcome = Contest::hold(job, |contest| {
        let all_there = Barrier::new(contest.performers());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..contest.performers())
                .map(|number| {
                    let (mutex, all_there) = (&mutex, &all_there);
                    let performer = Performer::<TIMED>::new(contest, number);
                    scope.spawn(move || {
                        performer.part().policy.apply();
                        all_there.wait();
                        perform(mutex, performer)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        })
    });
    mutex.with(|value| outcome.check(*value));
    outcome
}

/// A contest of fibers. Called in a fiber.
pub(crate) fn fibers<const TIMED: bool>(job: &Job) -> Outcome {
    let mutex = Arc::new(<LisleMutex as BlockingMutex>::new());
    let outcome = Contest::hold(job, |contest| {
        let fibers: Vec<_> = (0..contest.performers())
            .map(|number| {
                let (mutex, performer) = (mutex.clone(), Performer::<TIMED>::new(contest, number));
                lisle::spawn(move || perform(&*mutex, performer))
            })
            .collect();
        fibers.into_iter().map(|fiber| fiber.join().expect("no fiber panics")).collect()
    });
    outcome.check(*mutex.lock());
    outcome
}

/// A contest of tasks. Called in a fiber.
pub(crate) fn tasks<const TIMED: bool>(job: &Job) -> Outcome {
    let mutex = Arc::new(<LisleMutex as AsyncMutex>::new());
    let outcome = Contest::hold(job, |contest| {
        let tasks: Vec<_> = (0..contest.performers())
            .map(|number| {
                let (mutex, performer) = (mutex.clone(), Performer::<TIMED>::new(contest, number));
                lisle::spawn_task(async move {
                    // They are to run beside each other, and each would run to where it waits
                    // first.
                    inflate().await;
                    perform_async(mutex, performer).await
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().expect("no task panics")).collect()
    });
    outcome.check(*mutex.lock());
    outcome
}

/// A contest of futures.
pub(crate) fn futures<E: Executor, M: AsyncMutex, const TIMED: bool>(executor: &E, job: &Job) -> Outcome {
    let mutex = Arc::new(M::new());
    let outcome = Contest::hold(job, |contest| {
        let (contest, mutex) = (contest.clone(), mutex.clone());
        executor.run(async move {
            let tasks: Vec<_> = (0..contest.performers())
                .map(|number| {
                    E::spawn(perform_async(mutex.clone(), Performer::<TIMED>::new(&contest, number)))
                })
                .collect();
            let mut seen = Vec::new();
            for task in tasks {
                seen.push(task.await);
            }
            seen
        })
    });
    let value = executor.run(async move { mutex.with(|value| *value).await });
    outcome.check(value);
    outcome
}
