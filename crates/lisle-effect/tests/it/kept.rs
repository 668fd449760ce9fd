//! Continuations that outlive their clause.

use crate::support::{Add, Ask, Counts, Yield, message_of};
use lisle_effect::{Suspended, finish, handle, perform};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

type Queue = Rc<RefCell<VecDeque<Suspended<(), ()>>>>;

/// Begins `f`, which gives way to others by performing `Yield`.
fn begin(queue: &Queue, f: impl FnOnce() + 'static) {
    let queue = queue.clone();
    handle(f)
        .on(move |Yield, k| {
            queue.borrow_mut().push_back(k.keep());
            finish(())
        })
        .run();
}

fn run_all(queue: &Queue) {
    while let Some(next) = { queue.borrow_mut().pop_front() } {
        next.resume(());
    }
}

#[test]
fn round_robin() {
    let (queue, trace) = (Queue::default(), Rc::new(RefCell::new(Vec::new())));
    for name in ["a", "b", "c"] {
        let trace = trace.clone();
        begin(&queue, move || {
            for step in 0..3 {
                trace.borrow_mut().push((name, step));
                perform(Yield);
            }
        });
    }
    run_all(&queue);
    let wanted: Vec<_> = (0..3).flat_map(|step| ["a", "b", "c"].map(|name| (name, step))).collect();
    assert_eq!(*trace.borrow(), wanted);
}

#[test]
fn a_result_of_each_resumption() {
    let kept = Rc::new(RefCell::new(None));
    let keep = kept.clone();
    let first = handle(|| perform(Ask) + perform(Ask))
        .on(move |Ask, k| {
            *keep.borrow_mut() = Some(k.keep());
            finish(0)
        })
        .run();
    let take = || kept.borrow_mut().take();
    assert_eq!(first, 0);
    assert_eq!(take().unwrap().resume(20), 0);
    assert_eq!(take().unwrap().resume(22), 42);
    assert!(take().is_none());
}

#[test]
fn effects_go_to_the_handlers_around_the_resumption() {
    let kept = Rc::new(RefCell::new(None));
    let keep = kept.clone();
    handle(|| {
        perform(Yield);
        assert_eq!(perform(Ask) + perform(Add(1)), 11);
    })
    .on(move |Yield, k| {
        *keep.borrow_mut() = Some(k.keep());
        finish(())
    })
    .run();
    let next: Suspended<(), ()> = kept.borrow_mut().take().unwrap();
    handle(|| handle(|| next.resume(())).answer(|Ask| 1).run()).on(|Add(n), k| k.resume(n * 10)).run();
}

/// A loop that is kept and resumed any number of times runs in constant space.
#[test]
fn a_million_resumptions() {
    const MANY: u32 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let (queue, count) = (Queue::default(), Rc::new(Cell::new(0)));
    for _ in 0..2 {
        let count = count.clone();
        begin(&queue, move || {
            for _ in 0..MANY {
                count.set(count.get() + 1);
                perform(Yield);
            }
        });
    }
    run_all(&queue);
    assert_eq!(count.get(), 2 * MANY);
}

fn keep_one(dropped: &'static Cell<u32>) -> Suspended<u32, u32> {
    let kept = Rc::new(RefCell::new(None));
    let keep = kept.clone();
    handle(move || {
        let _counts = Counts(dropped);
        perform(Ask)
    })
    .on(move |Ask, k| {
        *keep.borrow_mut() = Some(k.keep());
        finish(0)
    })
    .run();
    kept.borrow_mut().take().unwrap()
}

fn counter() -> &'static Cell<u32> {
    Box::leak(Box::new(Cell::new(0)))
}

#[test]
fn dropping_unwinds() {
    let dropped = counter();
    drop(keep_one(dropped));
    assert_eq!(dropped.get(), 1);
    assert_eq!(keep_one(dropped).resume(4), 4);
    assert_eq!(dropped.get(), 2);
    let run = || keep_one(dropped).resume_unwind(Box::new(5_u8));
    assert!(catch_unwind(AssertUnwindSafe(run)).unwrap_err().is::<u8>());
    assert_eq!(dropped.get(), 3);
}

#[test]
fn forgetting_leaks_a_stack_and_nothing_else() {
    let dropped = counter();
    for _ in 0..100 {
        std::mem::forget(keep_one(dropped));
    }
    assert_eq!(dropped.get(), 0);
    assert_eq!(keep_one(dropped).resume(1), 1);
}

#[test]
fn a_thread_ends_with_what_it_has_forgotten_or_kept() {
    thread_local! {
        static KEPT: RefCell<Vec<Suspended<u32, u32>>> = const { RefCell::new(Vec::new()) };
    }
    let thread = || {
        std::mem::forget(keep_one(counter()));
        KEPT.with(|kept| kept.borrow_mut().push(keep_one(counter())));
    };
    for _ in 0..10 {
        std::thread::spawn(thread).join().unwrap();
    }
}

#[test]
fn within_its_clause() {
    let dropped = counter();
    let computation = move || {
        let _counts = Counts(dropped);
        perform(Ask)
    };
    // Dropped there.
    let result = handle(computation)
        .on(|Ask, k| {
            drop(k.keep());
            assert_eq!(dropped.get(), 1);
            finish(2)
        })
        .run();
    assert_eq!(result, 2);
    // Resumed there, which would call the clause within itself.
    let message = message_of(|| handle(computation).on(|Ask, k| finish(k.keep().resume(1))).run());
    assert!(message.contains("within the clause that has kept it"), "{message}");
    assert_eq!(dropped.get(), 2);
    // Kept, and then the clause panics: the computation still belongs to its new owner.
    let kept = Rc::new(RefCell::new(None));
    let keep = kept.clone();
    let message = message_of(move || {
        handle(computation)
            .on(move |Ask, k| {
                *keep.borrow_mut() = Some(k.keep());
                panic!("clause")
            })
            .run()
    });
    assert_eq!((message.as_str(), dropped.get()), ("clause", 2));
    let kept: Option<Suspended<u32, u32>> = kept.borrow_mut().take();
    assert_eq!(kept.unwrap().resume(6), 6);
    assert_eq!(dropped.get(), 3);
}

/// A kept computation that includes others, with their handlers.
#[test]
fn several_stacks_at_once() {
    let kept = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..3 {
        let keep = kept.clone();
        handle(|| {
            let inner = || handle(|| perform(Ask) + perform(Add(2))).on(|Add(n), k| k.resume(n)).run();
            handle(inner).answer(|Yield| ()).run()
        })
        .on(move |Ask, k| {
            keep.borrow_mut().push(k.keep());
            finish(0)
        })
        .run();
    }
    let mut all = kept.borrow_mut();
    assert_eq!(all.remove(1).resume(10), 12);
    assert_eq!(all.remove(1).resume(20), 22);
    drop(all.remove(0));
}

#[test]
fn a_handler_that_has_not_begun_may_move() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let handler = is_send(handle(|| perform(Ask)).on(|Ask, k| k.resume(3)));
    assert_eq!(std::thread::spawn(|| handler.run()).join().unwrap(), 3);
}
