//! Case 18: sessions that are parked cost a collection nothing, and lose nothing.

use crate::scheme::{Value, ValueView, numbers, sum};
use crate::support::{Random, churn, small};
use lisle::channel::unbounded;
use lisle::{Runtime, spawn};
use lisle_heap::{Global, Heap, Kind, Scope};
use std::time::{Duration, Instant};

/// Calls `f` on a domain with so many fibers whose sessions are parked, each with 20 lists of two pairs. Then each checks its own.
fn with_parked(heap: &Heap, count: usize, f: impl FnOnce() + Send) {
    Runtime::builder().domains(1).stack_size(1 << 15).run(|| {
        let (ready, is_ready) = unbounded();
        let (go_on, goes_on) = unbounded::<()>();
        let fibers: Vec<_> = (0..count)
            .map(|_| {
                let (heap, ready, goes_on) = (heap.clone(), ready.clone(), goes_on.clone());
                spawn(move || {
                    heap.enter(|s| {
                        let lists: Vec<_> = (0..20).map(|_| numbers(s, 2)).collect();
                        ready.send(()).unwrap();
                        assert!(s.wait(&goes_on.recv_evt()).is_err());
                        assert!(lists.iter().all(|list| sum(list.get(s)) == 1));
                    });
                })
            })
            .collect();
        (0..count).for_each(|_| is_ready.recv().unwrap());
        f();
        drop(go_on);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// Returns the shortest time of a minor collection, with few objects, and of an entry.
fn shortest(heap: &Heap) -> (Duration, Duration) {
    let shortest = |f: &dyn Fn()| {
        let time = |_| {
            let begun = Instant::now();
            f();
            begun.elapsed()
        };
        (0..50).map(time).min().unwrap()
    };
    heap.collect(Kind::Minor);
    (shortest(&|| heap.collect(Kind::Minor)), shortest(&|| heap.enter(|_| ())))
}

#[test]
fn case_18_parked_sessions_cost_a_minor_collection_and_an_entry_nothing() {
    let heap = Heap::new();
    let (minor, entry) = shortest(&heap);
    with_parked(&heap, 10_000, || {
        let (with_parked, entry_beside) = shortest(&heap);
        let more = |a: Duration, b: Duration| a.saturating_sub(b);
        println!("a minor collection {minor:?}, {with_parked:?}; an entry {entry:?}, {entry_beside:?}");
        assert!(more(with_parked, minor) < Duration::from_micros(100), "{minor:?} {with_parked:?}");
        assert!(more(entry_beside, entry) < Duration::from_micros(10), "{entry:?} {entry_beside:?}");
        assert_eq!(heap.verify(), Ok(()));
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Several cycles begin and end while all are parked.
#[test]
fn case_18_parked_sessions_are_marked_little_by_little() {
    let heap = Heap::builder().nursery(1 << 16).build();
    with_parked(&heap, 1_000, || {
        let before = heap.stats().full_collections;
        heap.enter(|s| {
            let mut table = s.regs::<Value>(100, ValueView::Nil);
            let mut random = Random(88_172_645_463_325_252);
            while s.stats().full_collections < before + 4 {
                s.scope(|s| {
                    let list = numbers(s, 20);
                    table.set(s, random.below(100), list);
                });
            }
            assert_eq!(s.verify(), Ok(()));
        });
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Fibers park in the middle of marks and go on in the middle of others, and let go of what only their roots keep alive.
#[test]
fn sessions_that_come_and_go_during_marks_lose_nothing() {
    let heap = small();
    // More fibers than are marked at once, on each of two domains.
    let (rounds, fibers) = (10, 600);
    Runtime::builder().domains(2).run(|| {
        let fiber = |seed: u64| {
            let heap = heap.clone();
            move || {
                let mut random = Random(seed);
                heap.enter(|s| {
                    for round in 0..rounds {
                        s.scope(|s| {
                            let len = random.below(60) as i64;
                            let list = numbers(s, len);
                            let mut kept = s.root::<Value>(list);
                            // From here on the session may have old roots that no slot refers to.
                            for _ in 0..random.below(4) {
                                s.outside(lisle::fiber::yield_now);
                                if random.below(3) == 0 {
                                    // The only reference moves into a new object, and back.
                                    let global = s.global::<Value>(&kept);
                                    kept.set(s, ValueView::Nil);
                                    s.outside(lisle::fiber::yield_now);
                                    let back = s.take(global);
                                    kept.set(s, back);
                                }
                            }
                            churn(s);
                            assert_eq!(sum(kept.get(s)), len * (len - 1) / 2);
                            if round % 5 == 0 && seed.is_multiple_of(50) {
                                assert_eq!(s.verify(), Ok(()));
                            }
                        });
                    }
                });
            }
        };
        let fibers: Vec<_> = (1..=fibers).map(|seed| spawn(fiber(seed * 7_919))).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert!(heap.stats().full_collections > 3, "{:?}", heap.stats());
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Global handles are marked little by little, too. Meanwhile what only they refer to goes over to a running session, whose
/// roots the mark has looked at.
#[test]
fn global_handles_that_come_and_go_during_marks_lose_nothing() {
    const MANY: usize = 20_000;
    let (heap, mut random) = (small(), Random(1));
    let list = |s: &mut Scope<'_>, len: i64| {
        s.scope(|s| {
            let list = numbers(s, len);
            s.global::<Value>(list)
        })
    };
    let is_list = |list: ValueView<'_>, len: i64| sum(list) == len * (len - 1) / 2;
    heap.enter(|s| {
        let mut globals: Vec<(i64, Global<Value>)> =
            (0..MANY).map(|n| (n as i64 % 9, list(s, n as i64 % 9))).collect();
        let (mut taken, mut lens) = (s.regs::<Value>(1_000, ValueView::Nil), vec![0; 1_000]);
        let begun = s.stats().full_collections;
        while s.stats().full_collections < begun + 4 {
            for _ in 0..20 {
                let (at, index) = (random.below(globals.len()), random.below(lens.len()));
                match random.below(4) {
                    0 => drop(globals.swap_remove(at)),
                    1 => {
                        let (len, global) = &globals[at];
                        let copy = (*len, global.clone());
                        globals.push(copy);
                    }
                    _ => {
                        let (len, global) = globals.swap_remove(at);
                        s.scope(|s| {
                            let list = s.take(global);
                            taken.set(s, index, list);
                        });
                        lens[index] = len;
                    }
                }
            }
            while globals.len() < MANY {
                let len = random.below(9) as i64;
                globals.push((len, list(s, len)));
            }
            churn(s);
            assert!((0..lens.len()).all(|index| is_list(taken.get(s, index), lens[index])));
        }
        assert_eq!(s.verify(), Ok(()));
        for (len, global) in globals {
            s.scope(|s| assert!(is_list(s.take(global).get(s), len)));
        }
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// A variable of a session on the thread's own stack is set in another session, by a runtime in `outside`.
#[test]
fn a_variable_is_set_by_a_runtime_within_outside() {
    let heap = small();
    heap.enter(|s| {
        let mut list = s.root::<Value>(ValueView::Nil);
        s.outside(|| {
            heap.collect(Kind::Full);
            Runtime::builder().domains(1).run(|| {
                heap.enter(|s| {
                    s.collect(Kind::Minor);
                    let young = numbers(s, 100);
                    list.set(s, young);
                });
                heap.enter(|s| s.collect(Kind::Minor));
            });
        });
        // Other objects lie where the list was.
        s.bytes(&[0; 20]);
        churn(s);
        assert_eq!((sum(list.get(s)), s.verify()), (4_950, Ok(())));
    });
}
