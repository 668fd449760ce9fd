//! Performers as threads, fibers, tasks and futures. All do the same, in the order of
//! [`Performer`].

use super::{
    contest::{Contest, Outcome},
    performer::{Performer, Seen},
    turns::{AsyncTurns, BlockingTurns},
};
use crate::{job::Job, peers::Executor};
use lisle::task::inflate;
use std::{
    sync::{Arc, Barrier},
    thread,
};

/// The loop of a performer that waits in place.
fn perform<T: BlockingTurns, const TIMED: bool>(turns: &T, mut performer: Performer<TIMED>) -> Seen {
    performer.begin();
    loop {
        performer.ask();
        if !turns.turn(&mut performer) {
            return performer.end();
        }
        performer.go_on();
    }
}

/// And of one that awaits its turn.
async fn perform_async<T: AsyncTurns, const TIMED: bool>(
    turns: Arc<T>,
    mut performer: Performer<TIMED>,
) -> Seen {
    performer.begin();
    loop {
        performer.ask();
        if !turns.turn(&mut performer).await {
            return performer.end();
        }
        performer.go_on();
    }
}

/// A contest of threads. They take long to start, beside their work, so all are there before it
/// begins.
pub(crate) fn threads<T: BlockingTurns, const TIMED: bool>(job: &Job) -> Outcome {
    let turns = T::new(job);
    let outcome = Contest::hold(job, |contest| {
        let all_there = Barrier::new(contest.performers());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..contest.performers())
                .map(|number| {
                    let (turns, all_there) = (&turns, &all_there);
                    let performer = Performer::<TIMED>::new(contest, number);
                    scope.spawn(move || {
                        performer.part().policy.apply();
                        all_there.wait();
                        perform(turns, performer)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        })
    });
    outcome.check(turns.changes());
    outcome
}

/// A contest of fibers. Called in a fiber.
pub(crate) fn fibers<T: BlockingTurns, const TIMED: bool>(job: &Job) -> Outcome {
    let turns = Arc::new(T::new(job));
    let outcome = Contest::hold(job, |contest| {
        let fibers: Vec<_> = (0..contest.performers())
            .map(|number| {
                let (turns, performer) = (turns.clone(), Performer::<TIMED>::new(contest, number));
                lisle::spawn(move || perform(&*turns, performer))
            })
            .collect();
        fibers.into_iter().map(|fiber| fiber.join().expect("no fiber panics")).collect()
    });
    outcome.check(turns.changes());
    outcome
}

/// A contest of tasks. Called in a fiber.
pub(crate) fn tasks<T: AsyncTurns, const TIMED: bool>(job: &Job) -> Outcome {
    let turns = Arc::new(T::new(job));
    let outcome = Contest::hold(job, |contest| {
        let tasks: Vec<_> = (0..contest.performers())
            .map(|number| {
                let (turns, performer) = (turns.clone(), Performer::<TIMED>::new(contest, number));
                lisle::spawn_task(async move {
                    // They are to run beside each other, and each would run to where it waits
                    // first.
                    inflate().await;
                    perform_async(turns, performer).await
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().expect("no task panics")).collect()
    });
    outcome.check(lisle::spawn_task(async move { turns.changes().await }).join().expect("no task panics"));
    outcome
}

/// A contest of futures.
pub(crate) fn futures<E: Executor, T: AsyncTurns, const TIMED: bool>(executor: &E, job: &Job) -> Outcome {
    let turns = Arc::new(T::new(job));
    let outcome = Contest::hold(job, |contest| {
        let (contest, turns) = (contest.clone(), turns.clone());
        executor.run(async move {
            let tasks: Vec<_> = (0..contest.performers())
                .map(|number| {
                    E::spawn(perform_async(turns.clone(), Performer::<TIMED>::new(&contest, number)))
                })
                .collect();
            let mut seen = Vec::new();
            for task in tasks {
                seen.push(task.await);
            }
            seen
        })
    });
    outcome.check(executor.run(async move { turns.changes().await }));
    outcome
}
