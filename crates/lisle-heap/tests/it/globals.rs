//! Case 6: handles that belong to no session.

use crate::scheme::{Sym, Value, numbers, sum};
use crate::support::{Pair, PairRef as _, Text, small};
use lisle_heap::{Global, Heap, Kind, Object, Slot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

#[test]
fn a_global_handle_keeps_its_object_until_it_is_dropped() {
    let heap = Heap::builder().nursery(1 << 16).build();
    let global: Global<Value> = heap.enter(|s| {
        let list = numbers(s, 100);
        s.global(list)
    });
    heap.collect(Kind::Full);
    heap.enter(|s| assert_eq!(sum(s.local::<Value>(&global).get(s)), 4_950));
    let sum = thread::spawn({
        let heap = heap.clone();
        move || heap.enter(|s| sum(s.take(global).get(s)))
    });
    assert_eq!(sum.join().unwrap(), 4_950);
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

#[test]
fn case_06_a_global_handle_of_another_heap_is_refused() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    let global = a.enter(|s| {
        let sym = s.alloc::<Sym>(Sym::init("a's".into()));
        s.global::<Sym>(sym)
    });
    let expected =
        "a global handle of the heap `a` was used in the heap `b`. Use it in a session of its own heap";
    let global = b.enter(|s| {
        let local = catch_unwind(AssertUnwindSafe(|| s.local::<Sym>(&global))).map(drop).unwrap_err();
        assert_eq!(local.downcast_ref::<String>().unwrap(), expected);
        let wrong = s.try_take(global).unwrap_err();
        assert_eq!(wrong.to_string(), expected);
        // Nothing is lost.
        wrong.global
    });
    assert_eq!(a.enter(|s| s.local::<Sym>(&global).get(s).name.clone()), "a's");
    drop(a);
    // The handle does not keep its heap, and names it still.
    b.enter(|s| assert_eq!(s.try_take(global).unwrap_err().to_string(), expected));
}

/// The plain fields of dead objects are dropped once, whether they die young, old or with the heap.
#[test]
fn destructors_run_once() {
    #[derive(Object)]
    struct Counted {
        _count: Arc<()>,
    }
    #[derive(Object)]
    struct Wide {
        _count: Arc<()>,
        _words: [u64; 200],
    }
    let count = Arc::new(());
    let heap = Heap::builder().nursery(1 << 16).build();
    let kept = heap.enter(|s| {
        let old = s.alloc::<Counted>(Counted::init(count.clone()));
        s.collect(Kind::Full);
        s.scope(|s| {
            for _ in 0..if cfg!(miri) { 100 } else { 5_000 } {
                s.scope(|s| {
                    s.alloc::<Counted>(Counted::init(count.clone()));
                });
            }
            s.alloc::<Wide>(Wide::init(count.clone(), [0; 200]));
            let grown = s.alloc::<Counted>(Counted::init(count.clone()));
            s.collect(Kind::Minor);
            assert_eq!(Arc::strong_count(&count), 4);
            let _ = grown;
        });
        s.collect(Kind::Full);
        assert_eq!(Arc::strong_count(&count), 2);
        s.alloc::<Counted>(Counted::init(count.clone()));
        s.global::<Counted>(old)
    });
    assert_eq!(Arc::strong_count(&count), 3);
    drop(heap);
    assert_eq!(Arc::strong_count(&count), 1);
    drop(kept);
}

/// Handles of the heap itself, global handles and other heaps are dropped by destructors, which run within
/// collections and when the heap goes.
#[test]
fn destructors_drop_handles_and_heaps() {
    #[derive(Object)]
    struct Owner {
        global: Mutex<Option<Global<Owner>>>,
        _heaps: Vec<Heap>,
        other: Slot<Option<Owner>>,
    }
    let (heap, other) = (small(), small());
    let inner = other.enter(|s| {
        let owner = s.alloc::<Owner>(Owner::init(Mutex::new(None), vec![small()], None));
        s.collect(Kind::Full);
        s.global::<Owner>(owner)
    });
    heap.enter(|s| {
        for round in 0..20 {
            s.scope(|s| {
                let first = s.alloc::<Owner>(Owner::init(Mutex::new(None), vec![heap.clone()], None));
                let global = s.global::<Owner>(first);
                let second = s.alloc::<Owner>(Owner::init(Mutex::new(Some(global)), vec![small()], first));
                first.get(s).other.set(s, second);
                if round % 2 == 0 {
                    s.collect(Kind::Minor);
                }
                // A cycle over a global handle is kept for as long as the handle is.
                if round % 4 < 2 {
                    *second.get(s).global.lock().unwrap() = None;
                }
            });
            s.collect(if round % 3 == 0 { Kind::Full } else { Kind::Minor });
        }
        s.alloc::<Owner>(Owner::init(Mutex::new(Some(inner)), vec![other], None));
        s.collect(Kind::Full);
        assert_eq!(s.verify(), Ok(()));
    });
}

/// Global handles are dropped on other threads while this one collects.
#[test]
fn global_handles_are_dropped_while_others_collect() {
    let heap = small();
    let (tx, rx) = mpsc::channel::<Global<Pair>>();
    let drops = thread::spawn(move || rx.into_iter().map(drop).count());
    let count = if cfg!(miri) { 130 } else { 20_000 };
    heap.enter(|s| {
        for round in 0..count {
            s.scope(|s| {
                let text = s.alloc::<Text>(Text::init(round.to_string()));
                let pair = s.alloc::<Pair>(Pair::init(text, None));
                let (kept, sent) = (s.global::<Pair>(pair), s.global::<Pair>(pair));
                tx.send(sent).unwrap();
                if round % 64 == 0 {
                    s.collect(if round % 128 == 0 { Kind::Full } else { Kind::Minor });
                }
                assert_eq!(s.take(kept).get(s).first().unwrap().text, round.to_string());
            });
        }
        drop(tx);
        assert_eq!(s.outside(|| drops.join().unwrap()), count);
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

#[test]
fn a_clone_keeps_the_object_too() {
    let heap = small();
    let first = heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("cloned".into()));
        s.global::<Text>(text)
    });
    // It is made outside, and outlives the handle that it is a clone of.
    let second = first.clone();
    drop(first);
    heap.collect(Kind::Full);
    let third = second.clone();
    heap.enter(|s| {
        let (second, third) = (s.take(second), s.take(third));
        assert!(second.get(s) == third.get(s) && second.get(s).text == "cloned");
    });
}
