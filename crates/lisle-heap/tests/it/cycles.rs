//! Cycles that go on beside the program: nothing that is reachable is lost, whatever the program does with it meanwhile, and what
//! is not is freed without a full collection.

use crate::support::{Random, churn, together, watched};
use lisle_heap::{Array, Bytes, Heap, Kind, Local, Object, Root, Scope, Slot};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// An object that knows its number and counts itself.
#[derive(Object)]
struct Item {
    number: usize,
    next: Slot<Option<Item>>,
    _counted: Counted,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn item<'s>(s: &mut Scope<'s>, number: usize, count: &Arc<AtomicUsize>) -> Local<'s, Item> {
    count.fetch_add(1, Ordering::Relaxed);
    s.alloc::<Item>(Item::init(number, None, Counted(count.clone())))
}

type Items = Array<Option<Item>>;

/// Makes an array of items with these numbers.
fn items<'s>(s: &mut Scope<'s>, len: usize, count: &Arc<AtomicUsize>) -> Local<'s, Items> {
    let all = s.array::<Option<Item>>(len, None);
    for number in 0..len {
        s.scope(|s| {
            let item = item(s, number, count);
            all.get(s).at(number).set(s, item);
        });
    }
    all
}

/// Returns a heap in which a cycle begins now and then, and in an interpreter at once.
fn with_cycles(nursery: usize) -> Heap {
    Heap::builder().nursery(nursery).stress(cfg!(miri)).build()
}

/// Allocates until so many cycles have ended.
fn cycle(s: &mut Scope<'_>, cycles: u64, mut meanwhile: impl FnMut(&mut Scope<'_>)) {
    let enough = s.stats().full_collections + cycles;
    while s.stats().full_collections < enough {
        meanwhile(s);
        churn(s);
        // Lets the old space grow, so that cycles begin.
        s.scope(|s| _ = s.array::<Option<Bytes>>(500, None));
    }
}

const ITEMS: usize = if cfg!(miri) { 10 } else { 20_000 };

/// Makes items with these numbers, each behind two others, which an array refers to.
fn chains<'s>(s: &mut Scope<'s>, count: &Arc<AtomicUsize>) -> Local<'s, Items> {
    let all = items(s, ITEMS, count);
    for number in 0..ITEMS {
        s.scope(|s| {
            let (middle, last) = (item(s, number, count), item(s, number, count));
            middle.get(s).next.set(s, last);
            all.get(s).at(number).get().unwrap().get().next.set(s, middle);
        });
    }
    all
}

/// Checks that nothing is lost of what `chains` has made, and that it is as often there.
fn check_chains(s: &mut Scope<'_>, all: Local<'_, Items>, count: &Arc<AtomicUsize>) {
    assert_eq!(s.verify(), Ok(()));
    let middles = all.get(s).iter().filter_map(|slot| slot.get().unwrap().next());
    let numbers: HashSet<usize> = middles.map(|middle| middle.next().unwrap().number).collect();
    assert_eq!((numbers.len(), count.load(Ordering::Relaxed)), (ITEMS, 3 * ITEMS));
}

/// A mark looks at the items of an array slice by slice. Meanwhile the thread takes references out of items that the mark has not
/// looked at, and hides them in those where it has been. Without a mark of what is overwritten, the objects would be lost.
#[test]
fn what_moves_about_during_a_mark_is_not_lost() {
    let (heap, count) = (with_cycles(1 << 18), Arc::new(AtomicUsize::new(0)));
    heap.enter(|s| {
        let (all, mut random) = (chains(s, &count), Random(7));
        cycle(s, if cfg!(miri) { 1 } else { 10 }, |s| {
            for _ in 0..ITEMS / 20 {
                let (one, other) = (random.below(ITEMS), random.below(ITEMS));
                let (one, other) = (all.get(s).at(one).get().unwrap(), all.get(s).at(other).get().unwrap());
                let (of_one, of_other) = (one.next(), other.next());
                one.get().next.set(s, of_other);
                other.get().next.set(s, of_one);
            }
        });
        check_chains(s, all, &count);
    });
}

/// The same where the references move from thread to thread, through slots that all share.
#[test]
fn what_moves_between_threads_during_a_mark_is_not_lost() {
    let _watched = watched();
    const THREADS: usize = 3;
    let (heap, count) = (with_cycles(1 << 18), Arc::new(AtomicUsize::new(0)));
    let all = heap.enter(|s| {
        let all = chains(s, &count);
        s.global::<Items>(all)
    });
    together(THREADS, |me, meeting| {
        heap.enter(|s| {
            let (all, mut random) = (s.local::<Items>(&all), Random(1 + me as u64));
            // Each thread has at most one item in its hand, and exchanges it for another one.
            let mut mine = s.root::<Option<Item>>(None);
            let exchange = |s: &mut Scope<'_>, mine: &mut Root<'_, Option<Item>>, at: usize| {
                s.scope(|s| {
                    let there = all.get(s).at(at).get().unwrap();
                    let old = s.root::<Option<Item>>(there.next());
                    let was_there = there.get().next.compare_exchange(s, &old, &*mine).is_ok();
                    if was_there {
                        mine.set(s, &old);
                    }
                });
            };
            cycle(s, if cfg!(miri) { 1 } else { 5 }, |s| {
                meeting.check();
                for _ in 0..ITEMS / 20 {
                    exchange(s, &mut mine, random.below(ITEMS));
                }
            });
            // In the end the hand is empty.
            while mine.get(s).is_some() {
                exchange(s, &mut mine, random.below(ITEMS));
                s.poll();
            }
        });
    });
    heap.enter(|s| {
        let all = s.take(all);
        check_chains(s, all, &count);
    });
}

/// Dead objects are freed, small and large ones, and their destructors run once.
#[test]
fn what_is_dead_is_freed_without_a_full_collection() {
    let (heap, count) = (with_cycles(1 << 16), Arc::new(AtomicUsize::new(0)));
    heap.enter(|s| {
        let kept = items(s, 10, &count);
        for round in 0..if cfg!(miri) { 1 } else { 3 } {
            s.scope(|s| {
                items(s, ITEMS, &count);
                cycle(s, 1, |_| {});
                assert_eq!(count.load(Ordering::Relaxed), 10 + ITEMS, "{round}");
            });
            // A mark may have begun before the objects died, so the third one has begun and ended since.
            cycle(s, 3, |_| {});
            assert_eq!(count.load(Ordering::Relaxed), 10, "{round}");
            assert_eq!(s.verify(), Ok(()));
        }
        assert_eq!(kept.get(s).len(), 10);
    });
    drop(heap);
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

/// A program that makes large objects and nothing else has cycles, too.
#[test]
fn large_objects_are_freed_without_a_full_collection() {
    let heap = with_cycles(1 << 16);
    heap.enter(|s| {
        let mut largest = 0;
        for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
            s.scope(|s| _ = s.array::<Option<Bytes>>(1_000, None));
            largest = largest.max(s.stats().old_bytes);
        }
        let stats = s.stats();
        assert!(stats.full_collections > 2 && largest < 2 << 20, "{largest}, {stats:?}");
    });
}

#[test]
#[cfg_attr(miri, ignore = "it takes minutes there")]
fn steps_complete_a_cycle() {
    let (heap, count) = (Heap::builder().nursery(1 << 18).build(), Arc::new(AtomicUsize::new(0)));
    assert!(!heap.step(Duration::MAX), "no cycle is due");
    heap.enter(|s| {
        let kept = items(s, ITEMS, &count);
        // Enough for a cycle to be due.
        while s.stats().old_bytes < 2 << 20 {
            s.scope(|s| _ = s.array::<Option<Bytes>>(10_000, None));
            if s.stats().full_collections > 0 {
                break;
            }
        }
        let before = s.stats().full_collections;
        let mut steps = 0;
        while s.step(Duration::ZERO) {
            steps += 1;
        }
        assert!(
            s.stats().full_collections > 0 && !s.step(Duration::MAX),
            "{steps} steps after {before} cycles"
        );
        assert_eq!((s.verify(), kept.get(s).len()), (Ok(()), ITEMS));
    });
    assert_eq!(count.load(Ordering::Relaxed), ITEMS);
}

/// The live set drops, and memory goes back to the system while the program goes on.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes there")]
fn case_24_memory_goes_back_within_three_cycles() {
    let heap = Heap::builder().nursery(1 << 18).build();
    let count = Arc::new(AtomicUsize::new(0));
    heap.enter(|s| {
        let many = 500_000;
        let before = s.scope(|s| {
            items(s, many, &count);
            s.stats().reserved_bytes
        });
        let few = items(s, many / 100, &count);
        cycle(s, 3, |_| {});
        while s.step(Duration::from_millis(1)) {}
        let stats = s.stats();
        assert_eq!((few.get(s).len(), count.load(Ordering::Relaxed)), (many / 100, many / 100));
        assert!(
            cfg!(miri) || stats.reserved_bytes < before / 3,
            "{} of {before}: {stats:?}",
            stats.reserved_bytes
        );
    });
}

/// A cycle that was going on, and that ends in the stop of another thread, knows nothing of what has died since it began.
#[test]
fn a_full_collection_frees_what_has_died_before_it() {
    let _watched = watched();
    let heap = Heap::builder().nursery(1 << 16).stress(true).build();
    let (count, done) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
    together(4, |me, meeting| {
        meeting.wait();
        if me > 0 {
            // Marks begin and end in its collections.
            heap.enter(|s| {
                while !done.load(Ordering::Relaxed) {
                    meeting.check();
                    s.scope(|s| _ = s.bytes(b"text"));
                }
            });
            return;
        }
        heap.enter(|s| {
            for round in 0..if cfg!(miri) { 3 } else { 300 } {
                s.scope(|s| {
                    item(s, round, &count);
                    // It is old when it dies.
                    s.collect(Kind::Minor);
                });
                s.collect(Kind::Full);
                assert_eq!(count.load(Ordering::Relaxed), 0, "{round}");
            }
        });
        done.store(true, Ordering::Relaxed);
    });
}

/// A long step has safe points: another thread collects several times meanwhile.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes there")]
fn a_step_lets_others_collect() {
    let _watched = watched();
    const ENOUGH: usize = 8;
    let (heap, count) = (Heap::builder().nursery(1 << 18).build(), Arc::new(AtomicUsize::new(0)));
    // The number is odd during a step.
    let (number, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    together(2, |me, meeting| {
        if me == 0 {
            heap.enter(|s| {
                let kept = items(s, 4 * ITEMS, &count);
                while !done.load(Ordering::Relaxed) {
                    meeting.check();
                    // Until a mark has begun.
                    while !s.step(Duration::ZERO) {
                        s.scope(|s| _ = s.array::<Option<Bytes>>(10_000, None));
                    }
                    number.fetch_add(1, Ordering::Relaxed);
                    s.step(Duration::MAX);
                    number.fetch_add(1, Ordering::Relaxed);
                }
                assert_eq!(kept.get(s).len(), 4 * ITEMS);
            });
            return;
        }
        let (mut step, mut collections) = (0, 0);
        while collections < ENOUGH {
            meeting.check();
            let now = number.load(Ordering::Relaxed);
            if now % 2 == 0 || now != step {
                (step, collections) = (now, 0);
            }
            heap.collect(Kind::Minor);
            if number.load(Ordering::Relaxed) == step {
                collections += step % 2;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// With the smallest ratio a cycle is due as soon as one ends, and with the largest one never.
#[test]
fn all_ratios_are_allowed() {
    for ratio in [1.0 + f64::EPSILON, f64::MAX] {
        let heap = Heap::builder().nursery(1 << 16).ratio(ratio).build();
        heap.enter(|s| {
            // More than the old space has to have for a cycle.
            let kept = s.array::<Option<Bytes>>(33_000, None);
            s.collect(Kind::Full);
            let before = s.stats().full_collections;
            s.step(Duration::MAX);
            churn(s);
            let cycles = s.stats().full_collections - before;
            assert_eq!((cycles > 0, kept.get(s).len()), (ratio < 2.0, 33_000), "{ratio}");
        });
    }
}
