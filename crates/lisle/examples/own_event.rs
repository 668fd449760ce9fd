//! An event of one's own, with every method of the trait written out: a count-down latch.
//!
//! Run it with `cargo run --example own_event`.
//!
//! The delicate parts (who commits whom, who wakes whom, how a waiter leaves its queue) are done by
//! [`Source`]: a state under a short lock, and the performers that wait for it to change. An event that
//! waits at a source forwards its steps to the branch that [`Source::waiting`] makes. What is one's
//! own is the state, what an event takes from it, and what a change grants to those who wait.

use lisle::event::{Attempt, Event, Source, Step, Waiting};
use lisle::time::after;
use lisle::{choose, never};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Opens once it has been counted down to zero, and then stays open.
struct Latch {
    /// How many counts are left, and when the last one came. Waiters are granted that moment.
    source: Source<Count, Instant>,
}

struct Count {
    left: usize,
    opened: Option<Instant>,
}

impl Latch {
    fn new(count: usize) -> Self {
        let opened = (count == 0).then(Instant::now);
        Latch { source: Source::new(Count { left: count, opened }) }
    }

    /// Counts down by one. The last count opens the latch for all who wait.
    fn count_down(&self) {
        self.source.update(|count, waiters| {
            count.left = count.left.saturating_sub(1);
            if count.left == 0 && count.opened.is_none() {
                let now = Instant::now();
                count.opened = Some(now);
                // Each grant commits one performer, which is woken when the lock has been let go.
                while waiters.grant(now).is_ok() {}
            }
        });
    }

    /// The event of the latch being open; gives the moment when it opened.
    fn open_evt(&self) -> Open<'_> {
        Open { latch: self }
    }
}

/// See [`Latch::open_evt`].
struct Open<'a> {
    latch: &'a Latch,
}

impl Open<'_> {
    /// What the event takes from the state: here a copy; a semaphore would take a token away.
    fn moment(count: &mut Count) -> Option<Instant> {
        count.opened
    }
}

impl Event for Open<'_> {
    type Output = Instant;

    /// What one performance keeps: a place in the source's queue, and a slot for what is granted.
    type Branch<'e>
        = Waiting<'e, Count, Instant>
    where
        Self: 'e;

    /// It waits in one queue, under one lock.
    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Self::Branch<'_> {
        self.latch.source.waiting()
    }

    /// Is it there already? If not, nothing has happened.
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.try_commit(attempt, Open::moment)
    }

    /// Is it there by now? If not, wait in the queue.
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.publish(attempt, Open::moment)
    }

    /// Leave the queue, and tell whether it was this event that happened.
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
    }

    /// The value, once it has happened.
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Instant {
        branch.take()
    }
}

fn main() {
    const WORKERS: u64 = 3;
    let begun = Instant::now();
    let latch = Arc::new(Latch::new(WORKERS as usize));

    // From here on it is an event like any other: it can be polled, wrapped, chosen, and awaited.
    let in_time = |limit: Duration| {
        choose((latch.open_evt().wrap(|moment| Some(moment - begun)), after(limit).wrap(|()| None), never()))
    };
    assert!(latch.open_evt().poll().is_none());
    println!("within 5 ms: {:?}", in_time(Duration::from_millis(5)).sync());

    let workers: Vec<_> = (1..=WORKERS)
        .map(|worker| {
            let latch = latch.clone();
            std::thread::spawn(move || {
                lisle::time::sleep(Duration::from_millis(10 * worker));
                println!("worker {worker} is done");
                latch.count_down();
            })
        })
        .collect();
    let opened = in_time(Duration::from_secs(60)).sync().expect("the workers take 30 ms");
    println!("all are done, the last after {} ms or so", opened.as_millis());
    for worker in workers {
        worker.join().expect("a worker does not panic");
    }
    assert_eq!(latch.open_evt().poll(), Some(begun + opened), "it stays open");
}
