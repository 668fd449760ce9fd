//! Barriers: all parties continue together, once in each round, even if parties come, go, give up
//! or panic.

use crate::support::poll_once;
use crate::support::{Cx, Random, scaled, worlds};
use lisle::sync::{Barrier, Party};
use lisle::time::after;
use lisle::{Event, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

worlds!(
    nobody_goes_on_before_all_have_come,
    parties_come_and_resign,
    a_party_that_gives_up_has_not_arrived,
    the_function_runs_once_a_round_before_anybody_goes_on,
    a_function_that_panics_ends_no_round,
    a_leader_that_is_dropped_wedges_nobody,
    a_held_party_may_leave,
    choices_of_two_barriers,
    a_storm_at_the_barrier,
);

/// Returns `count` parties with their numbers. All of them are enrolled before the first is used.
fn enrol(barrier: &Barrier, count: usize) -> impl Iterator<Item = (usize, Party)> + use<> {
    (0..count).map(|_| barrier.enrol()).collect::<Vec<_>>().into_iter().enumerate()
}

async fn nobody_goes_on_before_all_have_come(cx: Cx) {
    const PARTIES: usize = 5;
    let barrier = Barrier::new();
    let come = Arc::new(AtomicUsize::new(0));
    let leaders = Arc::new(AtomicUsize::new(0));
    let rounds = scaled(1_000, 100);
    let performers: Vec<_> = enrol(&barrier, PARTIES)
        .map(|(id, party)| {
            let (come, leaders) = (come.clone(), leaders.clone());
            cx.spawn(move |cx| async move {
                for number in 0..rounds {
                    come.fetch_add(1, Ordering::Relaxed);
                    let round = match (id + number) % 3 {
                        0 => cx.sync(choose((party.wait_evt(), never()))).await,
                        1 => cx.sync(choose((party.wait_evt(), party.wait_evt()))).await,
                        _ => cx.sync(party.wait_evt()).await,
                    };
                    let come = come.load(Ordering::Relaxed);
                    assert!(come >= PARTIES * (number + 1), "round {number} has ended with {come}");
                    assert_eq!(round.number(), number as u64);
                    leaders.fetch_add(usize::from(round.is_leader()), Ordering::Relaxed);
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
    assert_eq!(leaders.load(Ordering::Relaxed), rounds);
    assert_eq!((barrier.parties(), barrier.arrived()), (0, 0));
}

/// Case 40.
async fn parties_come_and_resign(cx: Cx) {
    for _ in 0..scaled(100, 20) {
        let barrier = Barrier::new();
        // Each party stays for one round longer than the one before.
        let performers: Vec<_> = enrol(&barrier, 6)
            .map(|(stays, party)| {
                let barrier = barrier.clone();
                cx.spawn(move |cx| async move {
                    for number in 0..=stays {
                        assert_eq!(cx.sync(party.wait_evt()).await.number(), number as u64);
                    }
                    // A party that comes late is waited for as well, as long as it exists.
                    drop((barrier.enrol(), party));
                })
            })
            .collect();
        cx.join_all(performers).await;
        assert_eq!((barrier.parties(), barrier.arrived()), (0, 0));
        // Resigning ends the round for the party that waits.
        let (one, other) = (barrier.enrol(), barrier.enrol());
        let waiting = cx.spawn(move |cx| async move { cx.sync(one.wait_evt()).await });
        cx.until(|| barrier.arrived() == 1).await;
        drop(other);
        let round = cx.join(waiting).await;
        assert_eq!((round.number(), round.is_leader()), (6, true));
    }
}

async fn a_party_that_gives_up_has_not_arrived(cx: Cx) {
    let barrier = Barrier::new();
    let (one, other) = (barrier.enrol(), barrier.enrol());
    for number in 0..scaled(100, 20) {
        let timeout = || after(Duration::from_micros(100)).wrap(|()| None);
        assert!(cx.sync(choose((one.wait_evt().wrap(Some), timeout()))).await.is_none());
        assert_eq!(barrier.arrived(), 0);
        let mut dropped = Box::pin(one.wait_evt().future());
        assert!(poll_once(dropped.as_mut()).is_pending());
        assert_eq!(barrier.arrived(), 1);
        drop(dropped);
        assert_eq!(barrier.arrived(), 0);
        assert!(other.wait_evt().poll().is_none());
        // The last party to come need not wait.
        let mut first = Box::pin(choose((one.wait_evt(), never())).future());
        assert!(poll_once(first.as_mut()).is_pending());
        let last = other.wait_evt().poll().expect("both are there");
        assert!(last.is_leader());
        let Poll::Ready(first) = poll_once(first.as_mut()) else { panic!("the round has ended") };
        assert_eq!((first.number(), first.is_leader()), (number as u64, false));
    }
}

async fn the_function_runs_once_a_round_before_anybody_goes_on(cx: Cx) {
    const PARTIES: usize = 4;
    let ran = Arc::new(AtomicUsize::new(0));
    let barrier = {
        let ran = ran.clone();
        Barrier::with(move |number| {
            lisle::fiber::yield_now();
            assert_eq!(ran.fetch_add(1, Ordering::Relaxed), number as usize);
        })
    };
    let rounds = scaled(500, 50);
    let performers: Vec<_> = enrol(&barrier, PARTIES)
        .map(|(id, party)| {
            let ran = ran.clone();
            cx.spawn(move |cx| async move {
                for number in 0..rounds {
                    let round = match id % 2 {
                        0 => cx.sync(party.wait_evt()).await,
                        _ => cx.sync(choose((party.wait_evt(), never()))).await,
                    };
                    assert_eq!(round.number(), number as u64);
                    assert_eq!(ran.load(Ordering::Relaxed), number + 1);
                    // No other round has begun, since this party has not come.
                }
                party
            })
        })
        .collect();
    cx.join_all(performers).await;
    assert_eq!(ran.load(Ordering::Relaxed), rounds);
}

async fn a_function_that_panics_ends_no_round(cx: Cx) {
    for _ in 0..scaled(100, 20) {
        let runs = Arc::new(AtomicUsize::new(0));
        let barrier = {
            let runs = runs.clone();
            Barrier::with(move |_| {
                if runs.fetch_add(1, Ordering::Relaxed) == 0 {
                    std::panic::resume_unwind(Box::new("the first time"));
                }
            })
        };
        let performers: Vec<_> = enrol(&barrier, 3)
            .map(|(_, party)| {
                let party = Arc::new(party);
                let again = party.clone();
                let first = cx.spawn(move |cx| async move { cx.sync(party.wait_evt()).await });
                (first, again)
            })
            .collect();
        let mut panics = 0;
        let mut joins = Vec::new();
        for (first, again) in performers {
            joins.push(cx.spawn(move |cx| async move {
                match cx.join_caught(first).await {
                    Ok(round) => (round, 0),
                    Err(_) => (cx.sync(again.wait_evt()).await, 1),
                }
            }));
        }
        for (round, panicked) in cx.join_all(joins).await {
            assert_eq!(round.number(), 0);
            panics += panicked;
        }
        assert_eq!((panics, runs.load(Ordering::Relaxed)), (1, 2));
    }
}

/// A party becomes the leader when another resigns, and is dropped before it is polled again.
async fn a_leader_that_is_dropped_wedges_nobody(cx: Cx) {
    for function in [false, true] {
        for _ in 0..scaled(100, 20) {
            let barrier = if function { Barrier::with(|_| ()) } else { Barrier::new() };
            let parties = [0; 3].map(|_| barrier.enrol());
            let [one, leader, resigns] = parties;
            let one = Arc::new(one);
            let waits = {
                let one = one.clone();
                cx.spawn(move |cx| async move { cx.sync(one.wait_evt()).await })
            };
            cx.until(|| barrier.arrived() == 1).await;
            let mut leading = Box::pin(choose((leader.wait_evt(), never())).future());
            assert!(poll_once(leading.as_mut()).is_pending());
            drop(resigns);
            drop(leading);
            if function {
                // The round has not ended, and the leader has to come again.
                assert_eq!(cx.sync(leader.wait_evt()).await.number(), 0);
            }
            assert_eq!(cx.join(waits).await.number(), 0);
            drop((one, leader));
        }
    }
}

/// While the function runs, one of the parties that wait for it is dropped.
async fn a_held_party_may_leave(cx: Cx) {
    for _ in 0..scaled(100, 20) {
        let (go, wait) = lisle::channel::bounded::<()>(1);
        let (runs, running) = lisle::channel::bounded::<()>(1);
        let barrier = Barrier::with(move |_| {
            runs.send(()).unwrap();
            wait.recv().unwrap();
        });
        let [leaves, stays, leads] = [0; 3].map(|_| barrier.enrol());
        let mut leaving = Box::pin(leaves.wait_evt().future());
        let mut staying = Box::pin(choose((never(), stays.wait_evt())).future());
        assert!(poll_once(leaving.as_mut()).is_pending());
        assert!(poll_once(staying.as_mut()).is_pending());
        let leader = std::thread::spawn(move || leads.wait());
        cx.sync(running.recv_evt()).await.unwrap();
        assert!(poll_once(leaving.as_mut()).is_pending());
        assert!(poll_once(staying.as_mut()).is_pending());
        drop(leaving);
        go.send(()).unwrap();
        let mut stayed = None;
        cx.until(|| {
            if let Poll::Ready(round) = poll_once(staying.as_mut()) {
                stayed = Some(round.number());
            }
            stayed.is_some()
        })
        .await;
        assert_eq!(stayed, Some(0));
        assert!(leader.join().unwrap().is_leader());
    }
}

/// Performers that choose between two barriers continue at one of them, all at the same one.
async fn choices_of_two_barriers(cx: Cx) {
    const PARTIES: usize = 3;
    let barriers = [Barrier::new(), Barrier::new()];
    let rounds = scaled(500, 60);
    let performers: Vec<_> = enrol(&barriers[0], PARTIES)
        .zip(enrol(&barriers[1], PARTIES))
        .map(|((id, one), (_, other))| {
            let parties = [one, other];
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id as u64);
                let mut passed = Vec::new();
                for _ in 0..rounds {
                    let wait = |at: usize| parties[at].wait_evt().wrap(move |round| (at, round.number()));
                    let first = random.below(2);
                    passed.push(cx.sync(choose((wait(first), wait(1 - first)))).await);
                }
                passed
            })
        })
        .collect();
    let passed = cx.join_all(performers).await;
    assert!(passed.iter().all(|list| *list == passed[0]));
}

/// Parties come for a time, wait alone and in choices with timeouts, and resign.
async fn a_storm_at_the_barrier(cx: Cx) {
    let barrier = Arc::new(Barrier::with(|_| lisle::fiber::yield_now()));
    let leaders = Arc::new(AtomicUsize::new(0));
    let rounds = scaled(300, 60);
    let performers: Vec<_> = (0..6)
        .map(|id| {
            let (barrier, leaders) = (barrier.clone(), leaders.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 40);
                let mut party: Party = barrier.enrol();
                let mut last = None;
                for _ in 0..rounds {
                    let short = after(Duration::from_micros(random.below(200) as u64)).wrap(|()| None);
                    let round = match random.below(5) {
                        0 => {
                            party = barrier.enrol(); // it resigns
                            continue;
                        }
                        1 => party.wait_evt().poll(),
                        // If all others have resigned for good, it waits for no one else.
                        2 => Some(cx.sync(party.wait_evt()).await),
                        _ => cx.sync(choose((party.wait_evt().wrap(Some), short))).await,
                    };
                    if let Some(round) = round {
                        assert!(last < Some(round.number()), "the same round twice");
                        last = Some(round.number());
                        leaders.fetch_add(usize::from(round.is_leader()), Ordering::Relaxed);
                    }
                }
                last.map_or(0, |last| last + 1)
            })
        })
        .collect();
    let ended = cx.join_all(performers).await.into_iter().max().unwrap();
    assert_eq!(leaders.load(Ordering::Relaxed) as u64, ended);
    assert_eq!((barrier.parties(), barrier.arrived()), (0, 0));
}
