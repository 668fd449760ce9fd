//! Case 8, and fibers of one domain that take turns in a heap.

use crate::scheme::{Value, numbers, sum};
use lisle::{Event, Runtime, channel, never, spawn};
use lisle_heap::{Bytes, Global, Heap, Kind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs `f` on a single domain.
fn on_one<R>(f: impl FnOnce() -> R) -> R {
    Runtime::builder().domains(1).run(f)
}

#[test]
fn case_08_a_wait_inside_panics_and_loses_nothing() {
    let (tx, rx) = channel::<u32>();
    let heap = Heap::new();
    let waits = || {
        heap.enter(|s| {
            let list = numbers(s, 10);
            let panic = catch_unwind(AssertUnwindSafe(|| rx.recv())).unwrap_err();
            let message = panic.downcast_ref::<String>().unwrap();
            assert!(
                message.starts_with("nothing may wait inside a session of a heap, where `Scope::outside` is for waits, entered at ")
                    && message.contains("fibers.rs"),
                "{message}"
            );
            assert_eq!(sum(list.get(s)), 45);
            // A receive that need not wait is allowed.
            assert!(rx.try_recv().is_err());
        });
    };
    waits();
    on_one(waits);
    let sender = std::thread::spawn(move || tx.send(7));
    heap.enter(|s| assert_eq!(s.outside(|| rx.recv()), Ok(7)));
    sender.join().unwrap().unwrap();
}

#[test]
fn fibers_of_one_domain_take_turns_in_a_heap() {
    let heap = Heap::builder().nursery(1 << 16).build();
    on_one(|| {
        let (tx, rx) = channel::<Global<Value>>();
        let producer = spawn({
            let heap = heap.clone();
            move || {
                heap.enter(|s| {
                    for n in 0..200 {
                        s.scope(|s| {
                            let list = numbers(s, n);
                            let list = s.global::<Value>(list);
                            s.outside(|| tx.send(list)).unwrap();
                        });
                    }
                });
            }
        });
        // Its session is open while the other fiber's is: both wait in `outside` in turn.
        let sums = heap.enter(|s| {
            let kept = numbers(s, 100);
            let mut sums = 0;
            while let Ok(list) = s.outside(|| rx.recv()) {
                s.scope(|s| sums += sum(s.take(list).get(s)));
                s.collect(Kind::Minor);
            }
            assert_eq!(sum(kept.get(s)), 4_950);
            sums
        });
        producer.join().unwrap();
        assert_eq!(sums, (0..200).map(|n| n * (n - 1) / 2).sum());
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Each fiber has a session of its own: one in `outside` does not keep another from a second heap.
#[test]
fn fibers_of_one_domain_use_several_heaps() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    on_one(|| {
        let (tx, rx) = channel::<usize>();
        let waits = spawn({
            let a = a.clone();
            move || {
                a.enter(|s| {
                    let text = s.bytes(b"a's");
                    let got = s.outside(|| rx.recv()).unwrap();
                    got + text.get(s).len()
                })
            }
        });
        lisle::fiber::yield_now();
        let len = b.enter(|s| s.bytes(b"b's!").get(s).len());
        let also = a.enter(|s| {
            let text = s.bytes(b"a, too");
            let global = s.global::<Bytes>(text);
            s.collect(Kind::Full);
            s.take(global).get(s).len()
        });
        tx.send(len + also).unwrap();
        assert_eq!(waits.join().unwrap(), 13);
    });
}

/// A fiber that is unwound while it waits in `outside` ends its session.
#[test]
fn case_19_a_session_ends_with_its_fiber() {
    let heap = Heap::builder().nursery(1 << 16).build();
    let (runtime, (tx, rx)) = (Runtime::builder().domains(1).start().unwrap(), channel::<()>());
    let waits = runtime.spawn({
        let heap = heap.clone();
        move || {
            heap.enter(|s| {
                numbers(s, 100);
                s.outside(|| tx.send(())).unwrap();
                s.outside(|| never::<()>().sync());
            });
        }
    });
    rx.recv().unwrap();
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 2_400);
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert!(waits.join().is_err());
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Loops and joins of Lisle inside a session run where they are, or panic; they never wait.
#[test]
fn a_join_inside_a_session_does_not_wait() {
    let heap = Heap::new();
    Runtime::builder().domains(2).run(|| {
        for _ in 0..100 {
            heap.enter(|s| {
                let list = numbers(s, 10);
                let (a, b) = lisle::par::join(|| 1, || 2);
                assert_eq!(a + b + sum(list.get(s)), 48);
            });
        }
    });
}
