//! Case 25: compaction.

use crate::scheme::{Value, numbers, sum};
#[cfg(all(target_os = "linux", not(miri)))]
use crate::support::Running;
use crate::support::{Pair, PairRef as _, Random, Text, small};
use lisle_heap::{Array, Global, Kind, Local, Scope};
#[cfg(all(target_os = "linux", not(miri)))]
use lisle_heap::{Bytes, Heap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Returns the resident memory of this process in bytes.
#[cfg(all(target_os = "linux", not(miri)))]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Each fiftieth of a million objects of random sizes is left, and then objects of another size are allocated.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn case_25_compaction_gives_memory_back() {
    let alone = Running::new(|| {
        let (heap, mut random) = (Heap::new(), Random(1));
        heap.enter(|s| {
            let before = resident();
            let kept = s.array::<Option<Bytes>>(20_000, None);
            s.scope(|s| {
                let all = s.array::<Option<Bytes>>(1_000_000, None);
                for index in 0..1_000_000 {
                    s.scope(|s| {
                        let bytes = s.bytes(&[index as u8; 200][..random.below(200)]);
                        all.get(s).at(index).set(s, bytes);
                        if index % 50 == 0 {
                            kept.get(s).at(index / 50).set(s, bytes);
                        }
                    });
                }
                s.collect(Kind::Minor);
            });
            s.collect(Kind::Full);
            let (live, sparse) = (s.stats().live_bytes, resident() - before);
            s.collect(Kind::Compact);
            let dense = resident() - before;
            eprintln!(
                "{live} bytes alive: {sparse} resident after a full collection, {dense} after compaction"
            );
            // The nursery, and the blocks for what moves out of it, are as large as before.
            let fixed = 2 * (4 << 20) + (4 << 20);
            assert!(sparse > 4 * live + fixed, "{live} {sparse}");
            assert!(dense < 2 * live + fixed, "{live} {dense}");
            let more = s.array::<Option<Bytes>>(20_000, None);
            for index in 0..20_000 {
                s.scope(|s| {
                    let bytes = s.bytes(&[1; 300]);
                    more.get(s).at(index).set(s, bytes);
                });
            }
            s.collect(Kind::Compact);
            let (live, dense) = (s.stats().live_bytes, resident() - before);
            assert!(dense < 2 * live + fixed, "{live} {dense}");
            assert_eq!(s.verify(), Ok(()));
            for (index, bytes) in kept.get(s).iter().enumerate() {
                assert!(bytes.get().unwrap().as_slice().iter().all(|&byte| byte == (50 * index) as u8));
            }
        });
    });
    if let Some(alone) = alone {
        alone.succeeds();
    }
}

fn fill(s: &mut Scope<'_>, table: Local<'_, Array<Value>>, random: &mut Random) {
    for _ in 0..if cfg!(miri) { 10 } else { 500 } {
        s.scope(|s| {
            let len = random.below(20) as i64;
            let list = numbers(s, len);
            let at = random.below(table.get(s).len());
            table.get(s).at(at).set(s, list);
        });
    }
}

/// What refers to an object, from wherever, finds it after it has moved.
#[test]
fn all_words_are_corrected() {
    let (heap, mut random) = (small(), Random(7));
    let rounds = if cfg!(miri) { 2 } else { 30 };
    let (tx, rx) = lisle_core::channel::unbounded::<Global<Text>>();
    heap.enter(|s| {
        let table = s.array::<Value>(if cfg!(miri) { 10 } else { 200 }, Value::nil());
        let text = s.alloc::<Text>(Text::init("text".into()));
        let pair = s.alloc::<Pair>(Pair::init(text, None));
        pair.get(s).second.set(s, pair);
        let (weak, gone) =
            (s.weak::<Text>(text), s.scope(|s| s.alloc::<Text>(Text::init("gone".into())).get(s).text.len()));
        let ephemeron = s.ephemeron::<Pair, Text>(pair, text);
        let global = s.global::<Pair>(pair);
        let guarded = s.alloc::<Text>(Text::init("guarded".into()));
        s.guard(guarded, &tx);
        for _ in 0..rounds {
            fill(s, table, &mut random);
            let sums: Vec<i64> = table.get(s).iter().map(|list| sum(list.get())).collect();
            s.collect(Kind::Compact);
            assert_eq!(s.verify(), Ok(()));
            assert!(table.get(s).iter().map(|list| sum(list.get())).eq(sums));
            let same = s.local::<Pair>(&global);
            assert_eq!(same.get(s).second().unwrap().first().unwrap().text, "text");
            assert_eq!(weak.get(s).upgrade(s).unwrap().text, "text");
            let (key, value) = ephemeron.get(s).entry(s).unwrap();
            assert_eq!((key.first().unwrap().text.as_str(), value.text.as_str()), ("text", "text"));
            assert_eq!(guarded.get(s).text, "guarded");
        }
        assert_eq!(gone, 4);
    });
    heap.collect(Kind::Compact);
    let guarded = rx.recv().unwrap();
    heap.enter(|s| assert_eq!(s.take(guarded).get(s).text, "guarded"));
}

/// Other threads go on between compactions, and stop all themselves.
#[test]
fn threads_go_on_beside_compactions() {
    let (heap, over) = (small(), AtomicBool::new(false));
    thread::scope(|threads| {
        for seed in 1..=if cfg!(miri) { 1 } else { 3 } {
            let (heap, over) = (&heap, &over);
            threads.spawn(move || {
                let mut random = Random(seed);
                heap.enter(|s| {
                    let table = s.array::<Value>(100, Value::nil());
                    while !over.load(Relaxed) {
                        fill(s, table, &mut random);
                        if random.below(20) == 0 {
                            s.collect(Kind::Full);
                        }
                    }
                });
            });
        }
        for _ in 0..if cfg!(miri) { 2 } else { 100 } {
            heap.collect(Kind::Compact);
        }
        over.store(true, Relaxed);
    });
    assert_eq!(heap.verify(), Ok(()));
    heap.collect(Kind::Compact);
    assert_eq!(heap.stats().old_bytes, 0);
}
