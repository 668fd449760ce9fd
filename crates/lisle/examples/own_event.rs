//! A user-defined event with every method of the trait written out: a count-down latch.
//!
//! Run it with `cargo run -p lisle --example own_event`.
//!
//! [`Source`] does the delicate parts: commits, wakes, and the removal of a waiter from its queue.
//! It is a state under a short lock, and the performers that wait for a change of that state. An
//! event that waits at a source forwards its steps to the branch that [`Source::waiting`] creates.
//! The event itself defines the state, the value that it takes from the state, and the value that a
//! change grants to the waiters.

use lisle::event::{Attempt, Source, Step, Waiting};
use lisle::time::after;
use lisle::{Event, choose, never};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A latch that opens when it has been counted down to zero, and then stays open.
struct Latch {
    /// The remaining counts, and the time of the last one. Waiters are granted that time.
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

    /// Counts down by one. The last count opens the latch for all waiters.
    fn count_down(&self) {
        self.source.update(|count, waiters| {
            count.left = count.left.saturating_sub(1);
            if count.left == 0 && count.opened.is_none() {
                let now = Instant::now();
                count.opened = Some(now);
                // Each grant commits one performer. It is woken after the lock has been released.
                while waiters.grant(now).is_ok() {}
            }
        });
    }

    /// Returns the event that the latch is open, which gives the time at which the latch opened.
    fn open_evt(&self) -> Open<'_> {
        Open { latch: self }
    }
}

/// The event that is returned by [`Latch::open_evt`].
struct Open<'a> {
    latch: &'a Latch,
}

impl Open<'_> {
    /// Takes the event's value from the state. Here it is a copy; a semaphore would take a token
    /// away.
    fn moment(count: &mut Count) -> Option<Instant> {
        count.opened
    }
}

impl Event for Open<'_> {
    type Output = Instant;

    /// The data of one performance: a place in the source's queue, and a slot for the granted
    /// value.
    type Branch<'e>
        = Waiting<'e, Count, Instant>
    where
        Self: 'e;

    /// Returns `true`: the event waits in one queue, under one lock.
    fn is_single(&self) -> bool {
        true
    }

    fn branch(&self) -> Self::Branch<'_> {
        self.latch.source.waiting()
    }

    /// Commits if the latch is open. Otherwise does nothing.
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.try_commit(attempt, Open::moment)
    }

    /// Commits if the latch is open by now. Otherwise enters the queue.
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.publish(attempt, Open::moment)
    }

    /// Leaves the queue. Returns `true` if this event has happened.
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
    }

    /// Returns the value after the event has happened.
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Instant {
        branch.take()
    }
}

fn main() {
    const WORKERS: u64 = 3;
    let begun = Instant::now();
    let latch = Arc::new(Latch::new(WORKERS as usize));

    // The latch's event can be used like any other event: polled, wrapped, chosen and awaited.
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
