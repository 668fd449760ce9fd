//! The library's semaphore: tokens are neither lost nor doubled, and no waiter is skipped, for any
//! number of tokens.

use crate::semaphore::{Tokens, hammered, posted_at_a_timeout};
use crate::support::{Cx, Random, poll_once, scaled, worlds};
use lisle::event::BoxEvent;
use lisle::sync::Semaphore;
use lisle::time::after;
use lisle::{Event, choose, never};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

worlds!(
    nested_choices_over_three_semaphores,
    a_guard_of_choices_over_semaphores,
    one_semaphore_twice_in_a_choice,
    a_waiter_wins_against_a_hammer,
    a_post_at_the_moment_of_a_timeout_is_not_lost,
    a_waiter_that_gives_up_lets_the_next_come_forward,
    philosophers_all_eat,
    many_tokens_are_not_starved_by_few,
    peeking_takes_nothing,
    permits_are_never_more_than_there_are,
    tokens_are_conserved,
    a_future_that_is_dropped_takes_nothing,
);

/// Case 7.
async fn nested_choices_over_three_semaphores(cx: Cx) {
    let semaphores = [0; 3].map(Semaphore::new);
    let [a, b, c] = &semaphores;
    let flat = choose((a.wait_evt(), b.wait_evt(), c.wait_evt()));
    let left = choose((choose((a.wait_evt(), b.wait_evt())), c.wait_evt()));
    let right = choose((a.wait_evt(), choose((b.wait_evt(), choose([c.wait_evt()])))));
    for event in [flat.boxed(), left.boxed(), right.boxed()] {
        assert_eq!(event.poll(), None);
        c.post();
        cx.sync(&event).await;
        assert_eq!(event.poll(), None);
        assert!(semaphores.iter().all(|semaphore| semaphore.tokens() == 0));
    }
}

/// Case 10.
async fn a_guard_of_choices_over_semaphores(cx: Cx) {
    let leaves: [Semaphore; 9] = std::array::from_fn(|_| Semaphore::new(0));
    let mut random = Random::new(10);
    let event = lisle::event::guard(|| {
        let row = |from: usize| {
            choose([from, from + 1, from + 2].map(|leaf| leaves[leaf].wait_evt().wrap(move |()| leaf)))
        };
        choose([row(0), row(3), row(6)])
    });
    for _ in 0..scaled(1_000, 100) {
        let leaf = random.below(leaves.len());
        leaves[leaf].post();
        assert_eq!(cx.sync(&event).await, leaf);
        assert_eq!(event.poll(), None);
    }
}

/// Case 11.
async fn one_semaphore_twice_in_a_choice(cx: Cx) {
    let semaphore = Arc::new(Semaphore::new(0));
    for round in 0..scaled(300, 50) {
        let poster = {
            let semaphore = semaphore.clone();
            cx.spawn(move |cx| async move {
                if round % 2 == 0 {
                    cx.yield_now().await;
                }
                semaphore.post();
            })
        };
        let ran = AtomicUsize::new(0);
        let count = |()| ran.fetch_add(1, Ordering::Relaxed);
        let event = choose((semaphore.wait_evt().wrap(count), semaphore.wait_evt().wrap(count)));
        assert_eq!(cx.sync(event).await, 0);
        cx.join(poster).await;
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        assert_eq!(semaphore.tokens(), 0);
    }
}

impl Tokens for Semaphore {
    fn of(tokens: usize) -> Self {
        Semaphore::new(tokens)
    }
    fn post_one(&self) {
        self.post();
    }
    fn take_one(&self) -> BoxEvent<'_, ()> {
        self.wait_evt().boxed()
    }
}

async fn a_waiter_wins_against_a_hammer(cx: Cx) {
    hammered::<Semaphore>(cx).await;
}

async fn a_post_at_the_moment_of_a_timeout_is_not_lost(cx: Cx) {
    posted_at_a_timeout::<Semaphore>(cx).await;
}

/// Case 33, with the semaphore as the lock, and one waiter in the queue that wants more than there
/// will be.
async fn a_waiter_that_gives_up_lets_the_next_come_forward(cx: Cx) {
    for _ in 0..scaled(100, 10) {
        let lock = Arc::new(Semaphore::new(2));
        let held = cx.sync(lock.acquire_evt()).await;
        let greedy = {
            let lock = lock.clone();
            cx.spawn(move |cx| async move {
                let timeout = after(Duration::from_micros(500)).wrap(|()| false);
                cx.sync(choose((lock.acquire_many_evt(3).wrap(|_| true), timeout))).await
            })
        };
        let modest = {
            let lock = lock.clone();
            cx.spawn(move |cx| async move { cx.sync(lock.acquire_evt()).await.count() })
        };
        assert!(!cx.join(greedy).await);
        assert_eq!(cx.join(modest).await, 1);
        drop(held);
        assert_eq!(lock.tokens(), 2);
    }
}

/// Case 23: each philosopher takes any free fork first, and waits for the other for a limited time.
async fn philosophers_all_eat(cx: Cx) {
    const COUNT: usize = 10;
    let meals = scaled(300, 30);
    let forks: Arc<[Semaphore; COUNT]> = Arc::new(std::array::from_fn(|_| Semaphore::new(1)));
    let philosophers: Vec<_> = (0..COUNT)
        .map(|seat| {
            let forks = forks.clone();
            cx.spawn(move |cx| async move {
                let pair = [&forks[seat], &forks[(seat + 1) % COUNT]];
                let mut eaten = 0;
                while eaten < meals {
                    let take = |fork: usize| pair[fork].acquire_evt().wrap(move |permit| (permit, 1 - fork));
                    let (_first, other) = cx.sync(choose([take(0), take(1)])).await;
                    let patience = after(Duration::from_micros(100)).wrap(|()| None);
                    let second = cx.sync(choose((pair[other].acquire_evt().wrap(Some), patience))).await;
                    eaten += usize::from(second.is_some());
                }
            })
        })
        .collect();
    cx.join_all(philosophers).await;
    assert!(forks.iter().all(|fork| fork.tokens() == 1));
}

/// Performers that want one token come again and again, so there would never be enough for
/// performers that want all tokens.
async fn many_tokens_are_not_starved_by_few(cx: Cx) {
    const TOKENS: usize = 4;
    let semaphore = Arc::new(Semaphore::new(TOKENS));
    let stop = Arc::new(AtomicBool::new(false));
    let few: Vec<_> = (0..8)
        .map(|_| {
            let (semaphore, stop) = (semaphore.clone(), stop.clone());
            cx.spawn(move |cx| async move {
                while !stop.load(Ordering::Relaxed) {
                    let _permit = cx.sync(semaphore.acquire_evt()).await;
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    for round in 0..scaled(300, 50) {
        let permit = match round % 2 {
            0 => cx.sync(semaphore.acquire_many_evt(TOKENS)).await,
            _ => cx.sync(choose((semaphore.acquire_many_evt(TOKENS), never()))).await,
        };
        assert_eq!((permit.count(), semaphore.tokens()), (TOKENS, 0));
        assert!(semaphore.try_acquire().is_none());
    }
    stop.store(true, Ordering::Relaxed);
    cx.join_all(few).await;
    assert_eq!(semaphore.tokens(), TOKENS);
}

async fn peeking_takes_nothing(cx: Cx) {
    for _ in 0..scaled(200, 30) {
        let semaphore = Arc::new(Semaphore::new(0));
        let peekers = [0, 1, 2].map(|_| {
            let semaphore = semaphore.clone();
            cx.spawn(move |cx| async move { cx.sync(choose((semaphore.peek_evt(), never()))).await })
        });
        assert_eq!(semaphore.peek_evt().poll(), None);
        cx.yield_now().await;
        semaphore.post();
        cx.join_all(peekers).await;
        cx.sync(semaphore.peek_evt()).await;
        assert_eq!(semaphore.tokens(), 1);
        // A performer that wants the token and came earlier gets it before a peek sees it.
        semaphore.wait();
        let mut taker = pin!(semaphore.wait_evt().future());
        assert!(poll_once(taker.as_mut()).is_pending());
        semaphore.post();
        assert_eq!(semaphore.peek_evt().poll(), None);
        assert!(poll_once(taker.as_mut()).is_ready());
    }
}

async fn permits_are_never_more_than_there_are(cx: Cx) {
    const TOKENS: usize = 5;
    let count = scaled(2_000, 200);
    let semaphore = Arc::new(Semaphore::new(TOKENS));
    let held = Arc::new(AtomicUsize::new(0));
    let performers: Vec<_> = (0..8)
        .map(|id| {
            let (semaphore, held) = (semaphore.clone(), held.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id);
                for _ in 0..count {
                    let wants = 1 + random.below(TOKENS);
                    let permit = match random.below(3) {
                        0 => semaphore.try_acquire_many(wants),
                        1 => Some(cx.sync(semaphore.acquire_many_evt(wants)).await),
                        _ => {
                            let short =
                                after(Duration::from_micros(random.below(300) as u64)).wrap(|()| None);
                            let few = semaphore.acquire_evt().wrap(Some);
                            let many = semaphore.acquire_many_evt(wants).wrap(Some);
                            cx.sync(choose((few, short, many))).await
                        }
                    };
                    if let Some(permit) = permit {
                        let now = held.fetch_add(permit.count(), Ordering::Relaxed) + permit.count();
                        assert!(now <= TOKENS, "{now} of {TOKENS} tokens are held");
                        cx.yield_now().await;
                        held.fetch_sub(permit.count(), Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
    assert_eq!(semaphore.tokens(), TOKENS);
}

/// Takers by sync, poll and timed choice, of few and of many tokens, and posters. Every token is
/// accounted for.
async fn tokens_are_conserved(cx: Cx) {
    let count = scaled(5_000, 300);
    let semaphores = Arc::new([0; 2].map(Semaphore::new));
    let performers: Vec<_> = (0..6)
        .map(|id| {
            let semaphores = semaphores.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 100);
                let mut balance = 0_isize;
                for _ in 0..count {
                    let [one, other] = &*semaphores;
                    let short = after(Duration::from_micros(random.below(300) as u64)).wrap(|()| 0);
                    balance += match random.below(6) {
                        0 | 1 => {
                            let posted = 1 + random.below(3);
                            semaphores[random.below(2)].post_many(posted);
                            posted as isize
                        }
                        2 => -isize::from(one.try_wait()),
                        3 => cx.sync(choose((one.wait_many_evt(3).wrap(|()| -3), short))).await,
                        _ => {
                            let one =
                                choose((one.wait_evt().wrap(|()| -1), one.wait_many_evt(2).wrap(|()| -2)));
                            cx.sync(choose((one, short, other.wait_evt().wrap(|()| -1)))).await
                        }
                    };
                }
                balance
            })
        })
        .collect();
    let posted_minus_taken = cx.join_all(performers).await.iter().sum::<isize>();
    let left: usize = semaphores.iter().map(Semaphore::tokens).sum();
    assert_eq!(left as isize, posted_minus_taken);
}

/// This also holds if the token has been granted to it already.
async fn a_future_that_is_dropped_takes_nothing(cx: Cx) {
    for round in 0..scaled(300, 50) {
        let semaphore = Arc::new(Semaphore::new(0));
        let mut first = Box::pin(semaphore.wait_evt().future());
        let mut second = Box::pin(choose((semaphore.acquire_many_evt(2), never())).future());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        let poster = {
            let semaphore = semaphore.clone();
            cx.spawn(move |_| async move { semaphore.post_many(3) })
        };
        if round % 2 == 0 {
            cx.join(poster).await;
            drop((first, second));
        } else {
            drop((first, second));
            cx.join(poster).await;
        }
        assert_eq!(semaphore.tokens(), 3);
        cx.sync(semaphore.wait_many_evt(3)).await;
    }
}

/// In one choice, a request for few tokens does not wait for one for many, in either order in the
/// queue.
#[test]
fn requests_of_one_choice_do_not_hold_each_other_back() {
    for _ in 0..100 {
        let semaphore = Semaphore::new(0);
        let event = choose((semaphore.acquire_many_evt(5), semaphore.acquire_evt()));
        let mut future = pin!(event.future());
        assert!(poll_once(future.as_mut()).is_pending());
        semaphore.post_many(2);
        match poll_once(future.as_mut()) {
            Poll::Ready(permit) => assert_eq!(permit.count(), 1),
            Poll::Pending => panic!("held back by itself"),
        }
        assert_eq!(semaphore.tokens(), 2);
    }
}

#[test]
fn a_permit_that_is_forgotten_keeps_its_tokens() {
    let semaphore = Semaphore::new(3).named("memory");
    semaphore.acquire_many(2).forget();
    assert_eq!(semaphore.tokens(), 1);
}

#[test]
fn too_many_tokens_are_refused() {
    let semaphore = Semaphore::new(usize::MAX);
    let posting = std::panic::AssertUnwindSafe(|| semaphore.post());
    assert!(std::panic::catch_unwind(posting).is_err());
    assert_eq!(semaphore.tokens(), usize::MAX);
}
