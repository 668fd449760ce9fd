//! Case 8, and fibers of one domain that take turns in a heap.

use crate::scheme::{Value, numbers, sum};
use crate::support::{Pair, PairRef as _, Text, message, small};
use lisle::par::prelude::*;
use lisle::{Event, Runtime, channel, never, spawn};
use lisle_heap::{Bytes, Global, Heap, Kind, Scope};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

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
                message.starts_with("nothing may wait inside a session of a heap, where `Scope::wait` is for waits, entered at ")
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
        assert_eq!(sums, (0..200).map(|n| n * (n - 1) / 2).sum::<i64>());
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

/// A runtime that runs in `outside` has fibers of its own, on this thread's behalf.
#[test]
fn another_heap_is_not_entered_by_a_runtime_within_outside() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    a.enter(|s| {
        let text = s.alloc::<Text>(Text::init("a's".into()));
        let said = message(|| {
            s.outside(|| {
                lisle::Runtime::builder().domains(1).run(|| {
                    b.enter(|s| {
                        let pair = s.alloc::<Pair>(Pair::init(text, None));
                        s.global::<Pair>(pair)
                    })
                });
            });
        });
        assert!(said.starts_with("a session is open in the heap `a`"), "{said}");
    });
    assert_eq!((a.verify(), b.verify()), (Ok(()), Ok(())));
}

/// The same heap may be entered there: handles are good in all of its sessions.
#[test]
fn the_heap_is_entered_by_a_runtime_within_outside() {
    let heap = small();
    heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        let pair = s.outside(|| {
            lisle::Runtime::builder().domains(1).run(|| {
                heap.enter(|s| {
                    s.collect(Kind::Full);
                    let pair = s.alloc::<Pair>(Pair::init(text, None));
                    s.collect(Kind::Full);
                    s.global::<Pair>(pair)
                })
            })
        });
        assert_eq!(s.take(pair).get(s).first().unwrap().text, "x");
    });
}

/// A task runs on the stack of the thread that waits for it, and has none of the thread's handles.
#[test]
fn a_task_enters_another_heap_where_it_is_waited_for() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    let runtime = lisle::Runtime::builder().domains(1).start().unwrap();
    for _ in 0..200 {
        a.enter(|s| {
            let text = s.alloc::<Text>(Text::init("a's".into()));
            let b = b.clone();
            let len = s.outside(|| runtime.spawn(move || b.enter(|s| s.bytes(b"b's!").get(s).len())).join());
            assert_eq!((len.unwrap(), text.get(s).text.as_str()), (4, "a's"));
        });
    }
    lisle::Runtime::builder().domains(1).run(|| {
        for _ in 0..200 {
            a.enter(|s| {
                let text = s.alloc::<Text>(Text::init("a's".into()));
                let b = b.clone();
                let len =
                    s.outside(|| lisle::spawn(move || b.enter(|s| s.bytes(b"b's!").get(s).len())).join());
                assert_eq!((len.unwrap(), text.get(s).text.as_str()), (4, "a's"));
            });
        }
    });
}

/// What runs in place within a session does not wait for the session that it runs in.
#[test]
fn a_loop_in_a_session_does_not_wait_for_its_own_heap() {
    let heap = small();
    lisle::Runtime::builder().domains(1).run(|| {
        for _ in 0..50 {
            heap.enter(|_| {
                let said = message(|| _ = lisle::par::join(|| heap.enter(|_| ()), || heap.enter(|_| ())));
                assert!(said.starts_with("this code is inside the heap `heap` already"), "{said}");
            });
        }
    });
    heap.collect(Kind::Full);
}

/// Computes for at least so long, in joins of joins: other domains look for a part of it.
fn compute(time: Duration) {
    fn halves(depth: u32) -> u64 {
        if depth == 0 {
            return std::hint::black_box(1);
        }
        let (left, right) = lisle::par::join(|| halves(depth - 1), || halves(depth - 1));
        left + right
    }
    let begun = Instant::now();
    while begun.elapsed() < time {
        assert_eq!(halves(6), 64);
    }
}

/// No other domain takes a part of a session: it would wait for the session, which waits for the part.
#[test]
fn joins_in_a_session_are_not_shared() {
    let heap = small();
    let here = || std::thread::current().id();
    Runtime::builder().domains(2).run(|| {
        for _ in 0..5 {
            heap.enter(|s| {
                let list = numbers(s, 10);
                let short = || compute(Duration::from_millis(50));
                assert_eq!(lisle::par::join(short, here).1, here());
                let me = here();
                assert!((0..100).into_par_iter().all(|_| {
                    compute(Duration::from_micros(500));
                    here() == me
                }));
                let said = message(|| _ = lisle::par::join(short, || heap.collect(Kind::Full)));
                assert!(said.starts_with("this code is inside the heap `heap` already"), "{said}");
                assert_eq!(sum(list.get(s)), 45);
            });
            // A part of a loop in which a session opens.
            (0..4).into_par_iter().for_each(|_| {
                heap.enter(|s| {
                    s.bytes(&[1]);
                    assert_eq!(lisle::par::join(|| compute(Duration::from_millis(20)), here).1, here());
                });
            });
        }
    });
    heap.enter(|_| assert_eq!(lisle::par::join(|| compute(Duration::from_millis(2)), here).1, here()));
}

/// Makes lists on both sides of joins within `outside`: a side that stays here continues the session, one that is stolen opens
/// its own.
fn halves(s: &mut Scope<'_>, heap: &Heap, depth: u32) -> i64 {
    if depth == 0 {
        return s.scope(|s| sum(numbers(s, 100).get(s)));
    }
    let kept = numbers(s, 10);
    let half = || heap.enter(|s| halves(s, heap, depth - 1));
    let (left, right) = s.outside(|| lisle::par::join(half, half));
    assert_eq!(sum(kept.get(s)), 45);
    left + right
}

#[test]
fn joins_within_outside_share_a_heap() {
    let heap = Heap::builder().nursery(1 << 18).build();
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).run(|| {
            for _ in 0..10 {
                assert_eq!(heap.enter(|s| s.scope(|s| halves(s, &heap, 6))), 64 * 4_950);
            }
        });
        assert_eq!(heap.verify(), Ok(()));
    }
}

/// A loop over all domains makes one list in each of its steps, and all are there in the end.
#[test]
fn a_parallel_loop_within_outside_shares_a_heap() {
    let heap = Heap::builder().nursery(1 << 18).build();
    Runtime::builder().domains(3).run(|| {
        heap.enter(|s| {
            let lists: Vec<Global<Value>> = s.outside(|| {
                let list = |n: i64| {
                    heap.enter(|s| {
                        let list = numbers(s, n);
                        s.global::<Value>(list)
                    })
                };
                (0..500_i64).into_par_iter().map(list).collect()
            });
            for (n, list) in (0..).zip(lists) {
                assert_eq!(s.scope(|s| sum(s.take(list).get(s))), n * (n - 1) / 2);
            }
        });
    });
    assert_eq!(heap.verify(), Ok(()));
}

/// A fiber that waits for an event inside lets the others of its domain run, and they collect.
#[test]
fn case_08_a_fiber_waits_inside_while_others_collect() {
    let heap = Heap::builder().nursery(1 << 16).build();
    let (tx, rx) = channel::<Global<Value>>();
    on_one(|| {
        let waits = spawn({
            let heap = heap.clone();
            move || {
                heap.enter(|s| {
                    let mine = numbers(s, 100);
                    let list = s.wait(&rx.recv_evt()).unwrap();
                    let list = s.take(list);
                    sum(list.get(s)) + sum(mine.get(s))
                })
            }
        });
        heap.enter(|s| {
            for _ in 0..20 {
                s.scope(|s| _ = numbers(s, 1_000));
                s.collect(Kind::Full);
            }
            let list = numbers(s, 10);
            let list = s.global::<Value>(list);
            s.wait(&tx.send_evt(list)).unwrap();
        });
        assert_eq!(waits.join().unwrap(), 45 + 4_950);
    });
}
