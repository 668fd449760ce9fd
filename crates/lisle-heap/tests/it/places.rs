//! Cases 13 to 17: many threads in one heap, of which none holds up the others.

use crate::scheme::{Value, numbers, sum};
use crate::support::{LIST, Meeting, SUM, churn, crowded, together, watched};
#[cfg(not(miri))] // there are no processes
use crate::support::{Running, block_until_let_go};
use lisle_heap::{Array, Heap, Kind, Scope};
#[cfg(not(miri))]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// The number of collections that a test waits for.
const MINORS: u64 = if cfg!(miri) { 1 } else { 100 };

/// Waits, inside, by polling: other threads that are inside may collect meanwhile.
fn poll_until(s: &mut Scope<'_>, meeting: &Meeting, condition: impl Fn() -> bool) {
    while !condition() {
        meeting.check();
        s.poll();
        thread::yield_now();
    }
}

#[test]
fn case_13_a_thread_that_sleeps_outside_is_not_waited_for() {
    let _watched = watched();
    let heap = crowded();
    thread::scope(|t| {
        let (asleep, is_asleep) = mpsc::channel();
        let mut sleepers = Vec::new();
        for _ in 0..4 {
            let ((wake, woken), asleep, heap) = (mpsc::channel::<()>(), asleep.clone(), &heap);
            let sleeper = t.spawn(move || {
                heap.enter(|s| {
                    // It is young when the thread falls asleep.
                    let list = numbers(s, LIST);
                    s.outside(|| {
                        asleep.send(()).unwrap();
                        woken.recv().unwrap();
                    });
                    assert_eq!((sum(list.get(s)), s.verify()), (SUM, Ok(())));
                });
            });
            is_asleep.recv().unwrap();
            sleepers.push((wake, sleeper));
        }
        // All of that happens before one of them wakes.
        heap.enter(|s| {
            let list = numbers(s, LIST);
            let before = s.stats().minor_collections;
            while s.stats().minor_collections < before + MINORS {
                churn(s);
            }
            s.collect(Kind::Full);
            // The lists of the sleepers are alive, and nothing else.
            assert_eq!(s.stats().live_bytes, 5 * LIST as usize * 24);
            assert_eq!((sum(list.get(s)), s.verify()), (SUM, Ok(())));
        });
        for (wake, sleeper) in sleepers {
            wake.send(()).unwrap();
            sleeper.join().unwrap();
        }
    });
}

/// One thread allocates until there were so many collections and until the other one has entered so often.
fn beside_one_that_enters_and_leaves(stays_inside: bool) {
    let heap = crowded();
    let (entered, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let enough = MINORS as usize * 3;
    together(2, |me, meeting| {
        meeting.wait();
        if me == 0 {
            while !done.load(Ordering::Relaxed) {
                meeting.check();
                heap.enter(|s| {
                    let list = numbers(s, 10);
                    assert_eq!(sum(list.get(s)), 45);
                });
                entered.fetch_add(1, Ordering::Relaxed);
                // Some microseconds, in which it is outside.
                (0..200).for_each(|_| std::hint::spin_loop());
            }
            return;
        }
        let entered = || entered.load(Ordering::Relaxed);
        if stays_inside {
            heap.enter(|s| {
                let (before, list) = (entered(), numbers(s, LIST));
                let minors = s.stats().minor_collections;
                while s.stats().minor_collections < minors + MINORS || entered() < before + enough {
                    meeting.check();
                    churn(s);
                }
                assert_eq!(sum(list.get(s)), SUM);
            });
        } else {
            let mut before = 0;
            while heap.stats().minor_collections < MINORS || entered() < enough {
                meeting.check();
                heap.enter(churn);
                if entered() == before {
                    thread::yield_now();
                }
                before = entered();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(heap.verify(), Ok(()));
}

#[test]
fn case_14_collections_go_on_beside_a_thread_that_enters_and_leaves() {
    let _watched = watched();
    beside_one_that_enters_and_leaves(false);
}

#[test]
fn case_14_a_thread_enters_and_leaves_beside_one_that_stays_inside() {
    let _watched = watched();
    beside_one_that_enters_and_leaves(true);
}

/// Makes so many lists on so many threads, and returns the number of collections. If the threads meet inside, each one
/// begins when all are inside.
fn share_work(threads: usize, lists: usize, meet_inside: bool) -> u64 {
    let heap = Heap::builder().nursery(1 << 21).build();
    let inside = AtomicUsize::new(0);
    together(threads, |_, meeting| {
        meeting.wait();
        heap.enter(|s| {
            let list = numbers(s, LIST);
            inside.fetch_add(1, Ordering::SeqCst);
            if meet_inside {
                poll_until(s, meeting, || inside.load(Ordering::SeqCst) >= threads);
            }
            for _ in 0..lists / threads {
                churn(s);
            }
            assert_eq!((sum(list.get(s)), s.verify()), (SUM, Ok(())));
            // Nobody leaves before all have done their work, or the places would not be in use at once.
            inside.fetch_add(1, Ordering::SeqCst);
            if meet_inside {
                poll_until(s, meeting, || inside.load(Ordering::SeqCst) >= 2 * threads);
            }
        });
    });
    let stats = heap.stats();
    let allocated = (lists / threads * threads + threads) as i64 * LIST * 24;
    assert_eq!(stats.allocated_bytes, allocated as u64);
    stats.minor_collections
}

/// More places do not make more collections: they share the nursery.
fn eight_as_two(meet_inside: bool) {
    let _watched = watched();
    let lists = if cfg!(miri) { 8 } else { 2_000 };
    let (two, eight) = (share_work(2, lists, meet_inside), share_work(8, lists, meet_inside));
    assert!(eight <= 2 * two + 8, "{eight} collections for 8 threads, and {two} for 2");
}

#[test]
fn case_15_eight_threads_collect_as_often_as_two() {
    eight_as_two(false);
}

#[test]
fn case_15_eight_threads_that_are_inside_at_once_collect_as_often_as_two() {
    eight_as_two(true);
}

/// Each thread reads what the others have just written, while all are inside.
#[test]
fn case_15_threads_that_are_inside_pass_on_new_objects() {
    const THREADS: usize = 4;
    let _watched = watched();
    let heap = crowded();
    let board = heap.enter(|s| {
        let board = s.array::<Value>(THREADS, Value::nil());
        s.global::<Array<Value>>(board)
    });
    let round_of: Vec<_> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
    together(THREADS, |me, meeting| {
        heap.enter(|s| {
            let board = s.local::<Array<Value>>(&board);
            for round in 1..=if cfg!(miri) { 5 } else { 200 } {
                s.scope(|s| {
                    let list = numbers(s, 1 + (me + round) as i64 % 100);
                    board.get(s).at(me).set(s, list);
                });
                round_of[me].store(round, Ordering::Release);
                // The others have stored their lists of this round, or of the next one.
                poll_until(s, meeting, || {
                    round_of.iter().all(|other| other.load(Ordering::Acquire) >= round)
                });
                for (other, slot) in board.get(s).iter().enumerate() {
                    let found = sum(slot.get());
                    let [this, later] = [round, round + 1].map(|round| 1 + (other + round) as i64 % 100);
                    let expected = [this * (this - 1) / 2, later * (later - 1) / 2];
                    assert!(expected.contains(&found), "{found}, and not {expected:?}");
                }
                if round % 50 == me {
                    s.collect(Kind::Full);
                }
            }
        });
    });
    assert_eq!(heap.verify(), Ok(()));
}

/// The line of the `enter` below.
#[cfg(not(miri))]
const ENTERS_AT: u32 = line!() + 3;
#[cfg(not(miri))]
fn enter_and_block(heap: &Heap, block: impl FnOnce()) {
    heap.enter(|s| {
        let list = numbers(s, LIST);
        block();
        assert_eq!(sum(list.get(s)), SUM);
    });
}

/// Says what the library prints of a thread with this name in `enter_and_block`.
#[cfg(not(miri))]
fn named(thread: &str) -> [String; 2] {
    [thread.to_owned(), format!("places.rs:{ENTERS_AT}:")]
}

#[test]
#[cfg(not(miri))]
fn case_16_a_thread_that_blocks_inside_is_named_and_goes_on_when_released() {
    let _watched = watched();
    let child = Running::new(|| {
        let (heap, mutex) = (crowded(), Mutex::new(()));
        let (blocks, is_blocked) = mpsc::channel();
        let held = mutex.lock().unwrap();
        thread::scope(|t| {
            let blocked = thread::Builder::new().name("blocked-by-a-mutex".into());
            blocked
                .spawn_scoped(t, || {
                    enter_and_block(&heap, || {
                        blocks.send(()).unwrap();
                        drop(mutex.lock().unwrap());
                    });
                })
                .unwrap();
            is_blocked.recv().unwrap();
            let collects = t.spawn(|| {
                heap.enter(|s| {
                    let list = numbers(s, LIST);
                    s.collect(Kind::Full);
                    assert_eq!(sum(list.get(s)), SUM);
                });
            });
            block_until_let_go();
            assert!(!collects.is_finished(), "it has collected while the other thread was inside");
            drop(held);
            collects.join().unwrap();
        });
        heap.collect(Kind::Full);
        assert_eq!((heap.verify(), heap.stats().live_bytes), (Ok(()), 0));
    });
    if let Some(mut child) = child {
        let named = named("blocked-by-a-mutex");
        child.until_said(&named.each_ref().map(String::as_str));
        child.succeeds();
    }
}

/// A thread joins, inside, one that waits for its stop: they wait for each other, and the message says so.
#[test]
#[cfg(not(miri))]
fn case_16_a_thread_that_joins_another_one_inside_is_named() {
    let _watched = watched();
    let child = Running::new(|| {
        let heap = crowded();
        let joins = thread::Builder::new().name("joins-inside".into()).spawn(move || {
            enter_and_block(&heap, || {
                thread::scope(|t| t.spawn(|| heap.collect(Kind::Minor)).join().unwrap());
            });
        });
        joins.unwrap().join().unwrap();
    });
    if let Some(mut child) = child {
        let named = named("joins-inside");
        child.until_said(&named.each_ref().map(String::as_str));
        // It would hang for ever. The drop ends it.
    }
}

/// One thread stops the others in a loop. Another one, which wakes again and again, gets in after few stops each time.
fn gets_in_between_stops(stays_inside: bool) {
    let rounds = if cfg!(miri) { 5 } else { 200 };
    let heap = crowded();
    let (stops, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let stops_until_entry = together(2, |me, meeting| {
        meeting.wait();
        if me == 0 {
            let stop = |s: &mut Scope<'_>| {
                s.collect(Kind::Minor);
                stops.fetch_add(1, Ordering::SeqCst);
            };
            if stays_inside {
                heap.enter(|s| {
                    while !done.load(Ordering::SeqCst) {
                        meeting.check();
                        stop(s);
                    }
                });
            } else {
                while !done.load(Ordering::SeqCst) {
                    meeting.check();
                    heap.enter(stop);
                }
            }
            return Vec::new();
        }
        let stops = || stops.load(Ordering::SeqCst);
        let mut waited = Vec::new();
        for _ in 0..rounds {
            // The other one goes on meanwhile.
            let last = stops();
            while stops() == last {
                meeting.check();
                thread::yield_now();
            }
            let before = stops();
            heap.enter(|s| {
                waited.push(stops() - before);
                churn(s);
            });
        }
        done.store(true, Ordering::SeqCst);
        waited
    });
    let mut waited = stops_until_entry.concat();
    waited.sort_unstable();
    assert_eq!(waited.len(), rounds);
    // The system may suspend the thread before it asks to enter, so this is not asserted of each time.
    assert!(waited[rounds * 9 / 10] <= 4, "stops until it got in: {waited:?}");
}

#[test]
fn case_17_a_thread_gets_in_between_the_stops_of_one_that_stays_inside() {
    let _watched = watched();
    gets_in_between_stops(true);
}

#[test]
fn case_17_a_thread_gets_in_between_the_stops_of_one_that_leaves() {
    let _watched = watched();
    gets_in_between_stops(false);
}
