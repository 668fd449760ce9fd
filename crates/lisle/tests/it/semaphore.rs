//! User-defined semaphores, built from `Source`: tokens are neither lost nor doubled in races.

use crate::support::{Cx, Random, Semaphore, scaled, worlds};
use lisle::event::BoxEvent;
use lisle::time::{after, at};
use lisle::{Event, choose};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

worlds!(
    a_waiter_wins_against_a_hammer,
    a_post_at_the_moment_of_a_timeout_is_not_lost,
    one_post_wakes_one_of_many,
    tokens_are_conserved,
);

/// The operations that both kinds have.
pub(crate) trait Tokens: Send + Sync + 'static {
    fn of(tokens: usize) -> Self;
    fn post_one(&self);
    fn take_one(&self) -> BoxEvent<'_, ()>;
}

impl Tokens for Semaphore {
    fn of(tokens: usize) -> Self {
        Semaphore::new(tokens)
    }
    fn post_one(&self) {
        self.post();
    }
    fn take_one(&self) -> BoxEvent<'_, ()> {
        self.take_evt().boxed()
    }
}

async fn a_waiter_wins_against_a_hammer(cx: Cx) {
    hammered::<Semaphore>(cx).await;
}

async fn a_post_at_the_moment_of_a_timeout_is_not_lost(cx: Cx) {
    posted_at_a_timeout::<Semaphore>(cx).await;
}

/// Case 15.
pub(crate) async fn hammered<S: Tokens>(cx: Cx) {
    let semaphore = Arc::new(S::of(1));
    let stop = Arc::new(AtomicBool::new(false));
    let hammer = {
        let (semaphore, stop) = (semaphore.clone(), stop.clone());
        cx.spawn(move |cx| async move {
            while !stop.load(Ordering::Relaxed) {
                cx.sync(semaphore.take_one()).await;
                semaphore.post_one();
                cx.yield_now().await;
            }
        })
    };
    for _ in 0..scaled(1_000, 100) {
        cx.sync(semaphore.take_one()).await;
        semaphore.post_one();
        let never_in_time = after(Duration::from_secs(3_600)).wrap(|()| panic!("starved"));
        cx.sync(choose((semaphore.take_one(), never_in_time))).await;
        semaphore.post_one();
    }
    stop.store(true, Ordering::Relaxed);
    cx.join(hammer).await;
}

/// Case 16.
pub(crate) async fn posted_at_a_timeout<S: Tokens>(cx: Cx) {
    let mut random = Random::new(16);
    for _ in 0..scaled(2_000, 300) {
        let semaphore = Arc::new(S::of(0));
        let moment = Instant::now() + Duration::from_micros(random.below(1_500) as u64);
        let poster = {
            let semaphore = semaphore.clone();
            cx.spawn(move |cx| async move {
                cx.sync(at(moment)).await;
                semaphore.post_one();
            })
        };
        let event = choose((semaphore.take_one().wrap(|()| true), at(moment).wrap(|()| false)));
        let took = cx.sync(event).await;
        cx.join(poster).await;
        assert_eq!(semaphore.take_one().poll().is_some(), !took, "the token was lost");
        assert!(semaphore.take_one().poll().is_none(), "the token was doubled");
    }
}

async fn one_post_wakes_one_of_many(cx: Cx) {
    let waiters = 8;
    let semaphore = Arc::new(Semaphore::new(0));
    let (done, finished) = lisle::channel::bounded::<()>(waiters);
    let performers: Vec<_> = (0..waiters)
        .map(|_| {
            let (semaphore, done) = (semaphore.clone(), done.clone());
            cx.spawn(move |cx| async move {
                cx.sync(semaphore.take_evt()).await;
                cx.sync(done.send_evt(())).await.unwrap();
            })
        })
        .collect();
    for _ in 0..waiters {
        semaphore.post();
        cx.sync(finished.recv_evt()).await.unwrap();
        assert!(finished.is_empty(), "one post, two takers");
    }
    cx.join_all(performers).await;
    assert_eq!(semaphore.take_evt().poll(), None);
}

/// Takers by sync, poll and timed choice, and posters. In the end every token is accounted for.
async fn tokens_are_conserved(cx: Cx) {
    let count = scaled(5_000, 500);
    let semaphores = Arc::new([0; 2].map(Semaphore::new));
    let performers: Vec<_> = (0..6)
        .map(|id| {
            let semaphores = semaphores.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 100);
                let mut balance = 0_isize;
                for _ in 0..count {
                    let [one, other] = &*semaphores;
                    balance += match random.below(6) {
                        0 | 1 => {
                            semaphores[random.below(2)].post();
                            1
                        }
                        2 => -isize::from(one.take_evt().poll().is_some()),
                        3 => {
                            let short = after(Duration::from_micros(random.below(300) as u64)).wrap(|()| 0);
                            cx.sync(choose((one.take_evt().wrap(|()| -1), short))).await
                        }
                        _ => {
                            let (one, other) = (one.take_evt().wrap(|()| -1), other.take_evt().wrap(|()| -1));
                            let short = after(Duration::from_micros(random.below(300) as u64)).wrap(|()| 0);
                            cx.sync(choose((one, short, other))).await
                        }
                    };
                }
                balance
            })
        })
        .collect();
    let posted_minus_taken = cx.join_all(performers).await.iter().sum::<isize>();
    let mut left = 0;
    for semaphore in &*semaphores {
        while semaphore.take_evt().poll().is_some() {
            left += 1;
        }
    }
    assert_eq!(left, posted_minus_taken);
}
