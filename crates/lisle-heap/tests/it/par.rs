//! Joins and loops over all domains within a session.

use crate::scheme::{Value, ValueView, cons, numbers, sum};
use crate::support::{LIST, SUM, churn, crowded, message, small};
use lisle::channel::unbounded;
use lisle::{Runtime, never, spawn};
use lisle_heap::{Array, Full, Gc, Heap, Kind, Local, Object, Scope};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

#[derive(Object)]
struct Tree {
    left: Gc<Option<Tree>>,
    right: Gc<Option<Tree>>,
    number: u64,
}

fn on<R>(domains: usize, f: impl FnOnce() -> R) -> R {
    Runtime::builder().domains(domains).run(f)
}

fn build<'s>(s: &mut Scope<'s>, depth: u32, number: u64) -> Local<'s, Tree> {
    s.escape(|s| {
        if depth == 0 {
            return s.alloc::<Tree>(Tree::init(None, None, number));
        }
        let half = |number: u64| {
            move |s: &mut Scope<'_>, ()| {
                let half = build(s, depth - 1, number);
                s.global::<Tree>(half)
            }
        };
        let (left, right) = s.join((), half(2 * number), (), half(2 * number + 1));
        let (left, right) = (s.take(left), s.take(right));
        s.alloc::<Tree>(Tree::init(left, right, number))
    })
}

/// Returns the sum of the numbers. Each half makes garbage meanwhile.
fn total(s: &mut Scope<'_>, tree: Local<'_, Tree>) -> u64 {
    let (left, right) = (s.local(tree.get(s).left()), s.local(tree.get(s).right()));
    let part = |s: &mut Scope<'_>, part: Local<'_, Option<Tree>>| {
        let Some(tree) = part.get(s) else { return 0 };
        let tree = s.local(tree);
        s.alloc::<Tree>(Tree::init(None, tree, 0));
        total(s, tree)
    };
    let (left, right) = s.join(left, part, right, part);
    left + right + tree.get(s).number
}

#[test]
fn joins_build_and_read_one_tree() {
    for (heap, depth) in [(small(), 9), (Heap::builder().nursery(1 << 17).stress(true).build(), 5)] {
        for domains in [1, 2, 4] {
            on(domains, || {
                heap.enter(|s| {
                    let tree = build(s, depth, 1);
                    let last = (1_u64 << (depth + 1)) - 1;
                    assert_eq!(total(s, tree), last * (last + 1) / 2);
                    assert_eq!(s.verify(), Ok(()));
                });
            });
        }
        heap.collect(Kind::Full);
        assert_eq!(heap.stats().live_bytes, 0);
    }
}

/// The domains of the default runtime take both functions.
#[test]
fn a_join_on_a_plain_thread_waits_for_domains() {
    let heap = small();
    heap.enter(|s| {
        let list = numbers(s, LIST);
        let (left, right) = s.join(list, |s, list| sum(list.get(s)), list, |s, list| sum(list.get(s)));
        assert_eq!((left, right), (SUM, SUM));
    });
}

#[test]
fn a_join_passes_several_handles() {
    on(2, || {
        small().enter(|s| {
            let (a, b) = (numbers(s, 10), numbers(s, 20));
            let array = s.array::<Value>(3, b);
            let (left, right) = s.join(
                (a, b, array),
                |s, (a, b, array)| {
                    churn(s);
                    (sum(a.get(s)), sum(b.get(s)), array.get(s).len())
                },
                [a, b, b],
                |s, lists| lists.map(|list| sum(list.get(s))),
            );
            assert_eq!((left, right), ((45, 190, 3), [45, 190, 190]));
        });
    });
}

/// Case 4: the root stack is as before, and the other function has run to its end.
#[test]
fn case_04_a_panic_in_a_join_ends_its_scopes() {
    for domains in [1, 2] {
        on(domains, || {
            small().enter(|s| {
                let list = numbers(s, 100);
                for round in 0..100 {
                    let ran = AtomicUsize::new(0);
                    let panics = |s: &mut Scope<'_>, list: Local<'_, Value>| -> i64 {
                        churn(s);
                        panic!("{} of {round}", sum(list.get(s)));
                    };
                    let counts = |s: &mut Scope<'_>, list: Local<'_, Value>| {
                        ran.fetch_add(1, Relaxed);
                        sum(list.get(s))
                    };
                    let said = message(|| {
                        if round % 2 == 0 {
                            s.join(list, panics, list, counts);
                        } else {
                            s.join(list, counts, list, panics);
                        }
                    });
                    assert_eq!((said, ran.into_inner()), (format!("4950 of {round}"), 1));
                }
                churn(s);
                assert_eq!((sum(list.get(s)), s.verify()), (4_950, Ok(())));
            });
        });
    }
}

/// A domain that waits for its own join takes no part in another heap's.
#[test]
fn joins_of_two_heaps_share_the_domains() {
    let heaps = [Heap::builder().name("a").build(), Heap::builder().name("b").build()];
    on(2, || {
        let fibers: Vec<_> = (0..6)
            .map(|index| {
                let heap = heaps[index % 2].clone();
                spawn(move || {
                    heap.enter(|s| {
                        for _ in 0..5 {
                            s.scope(|s| {
                                let tree = build(s, 8, 1);
                                assert_eq!(total(s, tree), 511 * 512 / 2);
                            });
                        }
                    });
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert!(heaps.iter().all(|heap| heap.verify().is_ok()));
}

/// Returns the array of the numbers below `len`.
fn array<'s>(s: &mut Scope<'s>, len: usize) -> Local<'s, Array<Value>> {
    let array = s.array::<Value>(len, Value::int(0));
    for (number, slot) in (0..).zip(array.get(s)) {
        slot.set(s, Value::int(number));
    }
    array
}

#[test]
fn par_map_maps_all_elements_in_order() {
    for heap in [crowded(), Heap::builder().stress(true).nursery(1 << 17).build()] {
        for domains in [1, 2, 4] {
            on(domains, || {
                heap.enter(|s| {
                    for len in [0, 1, 7, 100, 700] {
                        s.scope(|s| {
                            let numbers = array(s, len);
                            let pairs = s.par_map(numbers, |s, number| {
                                let rest = cons(s, number, Value::nil());
                                cons(s, number, rest)
                            });
                            let are = pairs.get(s).iter().map(|pair| sum(pair.get()));
                            assert!(are.eq((0..len as i64).map(|n| 2 * n)));
                        });
                    }
                    assert_eq!(s.verify(), Ok(()));
                });
            });
        }
    }
}

#[test]
fn par_map_is_nested() {
    let heap = crowded();
    on(3, || {
        heap.enter(|s| {
            let rows = array(s, 30);
            let lens = s.par_map(rows, |s, row| {
                let ValueView::Int(len) = row.get(s) else { panic!("{:?} is a number", row) };
                s.escape(|s| {
                    let numbers = array(s, len as usize);
                    let lists = s.par_map(numbers, |s, _| {
                        churn(s);
                        s.local::<Value>(Value::int(1))
                    });
                    let len = lists.get(s).iter().map(|one| matches!(one.get(), ValueView::Int(1)) as i64);
                    let len = len.sum();
                    s.local::<Value>(Value::int(len))
                })
            });
            assert!(
                (0..).zip(lens.get(s)).all(|(n, len)| matches!(len.get(), ValueView::Int(len) if len == n))
            );
        });
    });
}

/// The results that were made before are garbage.
#[test]
fn a_panic_in_par_map_is_passed_on() {
    let heap = crowded();
    on(2, || {
        heap.enter(|s| {
            let numbers = array(s, 1_000);
            let said = message(|| {
                s.par_map(numbers, |s, number| {
                    if matches!(number.get(s), ValueView::Int(700)) {
                        panic!("not 700");
                    }
                    cons(s, number, Value::nil())
                });
            });
            assert_eq!(said, "not 700");
            assert_eq!(s.verify(), Ok(()));
            s.collect(Kind::Full);
            let seen = AtomicUsize::new(0);
            s.par_for_each(numbers, |s, number| {
                let ValueView::Int(number) = number.get(s) else { return };
                seen.fetch_add(number as usize, Relaxed);
            });
            assert_eq!(seen.into_inner(), 999 * 1_000 / 2);
        });
    });
}

/// The error is that of a loop, whichever domain comes first, and also where the heap is full.
#[test]
fn try_par_map_returns_the_first_error() {
    let heap = Heap::builder().nursery(1 << 16).limit(4 << 20).build();
    on(3, || {
        heap.enter(|s| {
            let (numbers, list) = (array(s, 500), numbers(s, 3));
            for failing in [0, 100, 499, 10_000] {
                let mapped = s.try_par_map(numbers, (list, list), |s, number, (list, _)| {
                    let ValueView::Int(n) = number.get(s) else { panic!("a number") };
                    assert_eq!(sum(list.get(s)), 3);
                    if n >= failing { Err(Wrong::Number(n)) } else { Ok(cons(s, number, list)) }
                });
                match mapped {
                    Err(error) => assert_eq!(error, Wrong::Number(failing)),
                    Ok(mapped) => {
                        assert_eq!(failing, 10_000);
                        assert!((3..).zip(mapped.get(s)).all(|(n, list)| sum(list.get()) == n));
                    }
                }
            }
            let full = s.try_par_map(numbers, (), |s, _, ()| Ok::<_, Wrong>(s.try_bytes(&[0; 1 << 16])?));
            assert!(matches!(full, Err(Wrong::Full)));
            assert_eq!(s.verify(), Ok(()));
        });
    });
}

#[derive(Debug, PartialEq)]
enum Wrong {
    Number(i64),
    Full,
}

impl From<Full> for Wrong {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// A fiber that is cancelled within a join ends its sessions.
#[test]
fn case_19_a_cancelled_join_ends_its_sessions() {
    let heap = small();
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let (tx, rx) = unbounded();
    let waits = runtime.spawn({
        let heap = heap.clone();
        move || {
            heap.enter(|s| {
                let list = numbers(s, 100);
                let wait = |s: &mut Scope<'_>, list: Local<'_, Value>| {
                    let sum = sum(list.get(s));
                    tx.send(sum).unwrap();
                    s.wait(&never::<()>());
                };
                s.join(list, wait, list, |s, list| sum(list.get(s)));
            });
        }
    });
    assert_eq!(rx.recv(), Ok(4_950));
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert!(waits.join().is_err());
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}
