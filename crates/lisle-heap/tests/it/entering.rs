//! Cases 5, 7 and 8 of a single place: who may enter when.

use crate::scheme::{Cons, Sym, Value, numbers, sum};
use crate::support::{Text, ends, message, small};
use lisle_heap::{Global, Heap, Kind};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

/// Miri takes its time.
const MANY: i64 = if cfg!(miri) { 500 } else { 10_000 };
const ROUNDS: usize = if cfg!(miri) { 10 } else { 1_000 };

#[test]
fn case_05_another_heap_is_not_entered_inside() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    a.enter(|s| {
        let expected = "a session is open in the heap `a`, and its fiber or thread cannot enter the heap `b`";
        assert!(message(|| b.enter(|_| ())).starts_with(expected));
        assert!(message(|| s.outside(|| b.enter(|_| ()))).starts_with(expected));
        let again = message(|| a.enter(|_| ()));
        assert_eq!(
            again,
            "this code is inside the heap `a` already. Pass `&mut Scope` to the code that needs it"
        );
        // All of that changed nothing.
        let pair = s.alloc::<Cons>(Cons::init(1, 2));
        assert_eq!(sum(s.local::<Value>(pair).get(s)), 1);
    });
    b.enter(|_| ());
}

#[test]
fn case_05_the_session_goes_on_within_outside() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let list = numbers(s, 100);
        let inner = s.outside(|| {
            heap.enter(|s| {
                s.collect(Kind::Full);
                // The handle of the outer scope is one of the same session.
                sum(list.get(s))
            })
        });
        assert_eq!(inner, sum(list.get(s)));
    });
}

#[test]
fn a_thread_waits_until_another_leaves_or_is_outside() {
    let heap = Heap::builder().nursery(1 << 16).build();
    let (go, gone) = mpsc::channel();
    heap.enter(|s| {
        let list = numbers(s, 100);
        let other = thread::spawn({
            let heap = heap.clone();
            move || {
                heap.enter(|s| {
                    gone.recv().unwrap();
                    let other = numbers(s, MANY);
                    s.collect(Kind::Full);
                    sum(other.get(s))
                })
            }
        });
        go.send(()).unwrap();
        // The other thread moves and frees objects meanwhile.
        assert_eq!(s.outside(|| other.join().unwrap()), MANY * (MANY - 1) / 2);
        assert_eq!(sum(list.get(s)), 4_950);
    });
}

#[test]
fn case_04_a_panic_leaves_the_roots_as_they_were() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let list = numbers(s, 10);
        for round in 0..ROUNDS {
            assert!(
                message(|| s.scope(|s| {
                    numbers(s, 10);
                    panic!("{round}")
                })) == round.to_string()
            );
            message(|| {
                s.escape::<Value>(|s| {
                    numbers(s, 10);
                    panic!("{round}")
                });
            });
            message(|| s.outside(|| panic!("{round}")));
            message(|| {
                s.alloc::<Cons>(Cons::init(i64::MAX, 0));
            });
        }
        s.collect(Kind::Full);
        assert_eq!(sum(list.get(s)), 45);
        // Nothing but the ten pairs is alive.
        assert_eq!(s.stats().live_bytes, 10 * 24);
    });
    // A panic that leaves the heap lets others in.
    message(|| heap.enter(|_| panic!("out")));
    thread::scope(|t| t.spawn(|| heap.enter(|_| ())).join().unwrap());
}

/// A destructor of a plain field may panic only at the price of the process, and says whose it was.
#[test]
fn a_destructor_that_panics_ends_the_process() {
    #[derive(lisle_heap::Object)]
    struct Bomb {
        _field: Panics,
    }
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("no");
        }
    }
    ends(
        "destructor",
        "the destructor of a heap object of type `it::entering::a_destructor_that_panics_ends_the_process::Bomb` has panicked",
        || {
            Heap::new().enter(|s| {
                s.scope(|s| {
                    s.alloc::<Bomb>(Bomb::init(Panics));
                });
                s.collect(Kind::Minor);
            });
        },
    );
}

/// A destructor cannot enter a heap: it runs within a collection.
#[test]
fn a_destructor_that_enters_ends_the_process() {
    #[derive(lisle_heap::Object)]
    struct Enters {
        heap: Heap,
    }
    impl Drop for Enters {
        fn drop(&mut self) {
            self.heap.enter(|_| ());
        }
    }
    ends(
        "enters",
        "the destructor of a heap object of type `it::entering::a_destructor_that_enters_ends_the_process::Enters` has panicked",
        || {
            let heap = Heap::new();
            heap.enter(|s| {
                s.scope(|s| {
                    s.alloc::<Enters>(Enters::init(heap.clone()));
                });
                s.collect(Kind::Minor);
            });
        },
    );
}

#[test]
fn case_03_what_is_forgotten_is_only_leaked() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let list = numbers(s, 10);
        std::mem::forget(s.global::<Value>(list));
        std::mem::forget(vec![s.root::<Value>(list)]);
        std::mem::forget(Sym::init("never allocated".into()));
        s.collect(Kind::Full);
        assert_eq!(sum(list.get(s)), 45);
    });
    std::mem::forget(heap.clone());
    heap.collect(Kind::Full);
    assert_eq!((heap.verify(), heap.stats().live_bytes), (Ok(()), 240));
}

/// A thread-local destructor enters a heap when its thread ends.
#[test]
fn a_thread_that_ends_may_enter() {
    struct Enters(RefCell<Option<(Heap, Global<Text>)>>);
    impl Drop for Enters {
        fn drop(&mut self) {
            let (heap, text) = self.0.take().unwrap();
            heap.enter(|s| {
                let text = s.take(text);
                s.collect(Kind::Full);
                assert_eq!(text.get(s).text, "x");
                s.outside(|| heap.collect(Kind::Full));
            });
            drop(heap);
        }
    }
    thread_local! { static LAST: Enters = const { Enters(RefCell::new(None)) }; }
    let heap = small();
    let text = heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        s.global::<Text>(text)
    });
    let other = heap.clone();
    thread::spawn(move || LAST.with(|last| *last.0.borrow_mut() = Some((other, text)))).join().unwrap();
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Panics that unwind through `outside`, nested sessions, scopes and `escape`, which are caught within.
#[test]
fn panics_are_caught_anywhere() {
    let heap = small();
    let count = Rc::new(Cell::new(0));
    struct Counts(Rc<Cell<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        for round in 0..50 {
            let said = message(|| {
                s.scope(|s| {
                    let _counts = Counts(count.clone());
                    s.escape::<Text>(|s| {
                        s.regs::<Option<Text>>(200, None);
                        s.outside(|| {
                            let _counts = Counts(count.clone());
                            heap.enter(|s| {
                                s.scope(|s| {
                                    s.collect(Kind::Full);
                                    s.outside(|| panic!("{round}"))
                                })
                            })
                        })
                    });
                });
            });
            assert_eq!(said, round.to_string());
            assert_eq!((s.verify(), text.get(s).text.as_str()), (Ok(()), "x"));
        }
    });
    assert_eq!(count.get(), 100);
    assert_eq!(Rc::strong_count(&count), 1);
    thread::scope(|t| t.spawn(|| heap.collect(Kind::Full)).join().unwrap());
    assert_eq!(heap.stats().live_bytes, 0);
}
