//! Computations that are suspended within handlers of C++.

use crate::cxx;
use lisle::Runtime;
use lisle::effect::{Effect, Generator, Items, Suspended, finish, generator, handle, perform};
use std::cell::{Cell, RefCell};
use std::panic::catch_unwind;
use std::rc::Rc;

struct Wait;
impl Effect for Wait {
    type Answer = ();
}

extern "C-unwind" fn performs() {
    perform(Wait);
}

type Queue = Rc<RefCell<Vec<Suspended<(), i32>>>>;

/// Begins computations that wait in a handler, each of another number, and resumes them in another
/// order.
fn interleaved() {
    let queue = Queue::default();
    for n in 1..100 {
        let kept = queue.clone();
        let waits = handle(move || {
            // SAFETY: it catches its own exceptions.
            let got = unsafe { (cxx().handles_two)(n, performs) };
            assert_eq!(got, 1000 * n + n + 1);
            n
        });
        let result = waits
            .on(move |Wait, k| {
                kept.borrow_mut().push(k.keep());
                finish(0)
            })
            .run();
        assert_eq!(result, 0);
    }
    // SAFETY: it only reads.
    assert_eq!(unsafe { (cxx().on_their_way)() }, 0);
    let (even, odd): (Vec<_>, Vec<_>) = queue.take().into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    for (at, kept) in even.into_iter().chain(odd) {
        assert_eq!(kept.resume(()), at as i32 + 1);
    }
}

#[test]
#[ignore = "needs a C++ compiler"]
fn what_a_kept_computation_handles_is_its_own() {
    cxx();
    interleaved();
    Runtime::builder().domains(1).run(|| {
        let fibers: Vec<_> = (0..3).map(|_| lisle::spawn(interleaved)).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// Two generators, that give their items within handlers of their own.
#[test]
#[ignore = "needs a C++ compiler"]
fn generators_in_turn() {
    std::thread_local! {
        static ITEMS: Cell<*const Items<i32>> = const { Cell::new(std::ptr::null()) };
        static NEXT: Cell<i32> = const { Cell::new(0) };
    }
    extern "C-unwind" fn gives() {
        // SAFETY: set by the producer, which runs.
        unsafe { &*ITEMS.get() }.give(NEXT.get());
    }
    cxx();
    let numbers = |from: i32| {
        generator(move |items| {
            for n in from..from + 10 {
                ITEMS.set(items);
                NEXT.set(-n);
                // SAFETY: it catches its own exceptions.
                items.give(unsafe { (cxx().handles)(n, gives) });
            }
        })
    };
    let twice = |from: i32| (from..from + 10).flat_map(|n| [-n, n]);
    assert!(numbers(1).zip(numbers(100)).eq(twice(1).zip(twice(100))));
}

/// A function called within a C++ handler may rethrow the handler's exception, also in a
/// computation.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_computation_in_a_handler() {
    extern "C-unwind" fn computes() {
        let answered = handle(|| {
            perform(Wait);
            // SAFETY: it catches its own exceptions.
            unsafe { (cxx().handles)(3, performs) }
        });
        assert_eq!(answered.on(|Wait, k| k.resume(())).run(), 3);
    }
    // SAFETY: it catches its own exceptions.
    assert_eq!(unsafe { (cxx().handles)(4, computes) }, 4);
}

/// The exception that a producer has caught is not linked to its consumer's, which may end first.
#[test]
#[ignore = "needs a C++ compiler"]
fn an_item_that_is_asked_for_in_a_handler() {
    std::thread_local! {
        static ITEMS: Cell<*const Items<i32>> = const { Cell::new(std::ptr::null()) };
        static VALUES: RefCell<Option<Generator<i32>>> = const { RefCell::new(None) };
    }
    extern "C-unwind" fn gives() {
        // SAFETY: set by the producer, which runs.
        unsafe { &*ITEMS.get() }.give(1);
    }
    extern "C-unwind" fn takes() {
        assert_eq!(VALUES.with_borrow_mut(|values| values.as_mut().unwrap().next()), Some(1));
    }
    cxx();
    VALUES.set(Some(generator(|items| {
        ITEMS.set(items);
        // SAFETY: it only reads.
        assert_eq!(unsafe { (cxx().has_current)() }, 0);
        // SAFETY: it catches its own exceptions.
        assert_eq!(unsafe { (cxx().handles)(5, gives) }, 5);
        // SAFETY: as above.
        items.give(unsafe { (cxx().has_current)() });
    })));
    // SAFETY: as above.
    assert_eq!(unsafe { (cxx().handles)(6, takes) }, 6);
    assert_eq!(VALUES.take().unwrap().collect::<Vec<_>>(), [0]);
}

/// A computation that may outlive the handler in which it was begun is not kept in another.
#[test]
#[ignore = "needs a C++ compiler"]
fn kept_in_a_handler_and_begun_in_another() {
    std::thread_local! {
        static KEPT: RefCell<Option<Suspended<(), i32>>> = const { RefCell::new(None) };
    }
    fn begin(f: impl FnOnce() -> i32 + 'static) -> i32 {
        handle(f)
            .on(|Wait, k| {
                KEPT.set(Some(k.keep()));
                finish(0)
            })
            .run()
    }
    extern "C-unwind" fn begins() {
        assert_eq!(
            begin(|| {
                perform(Wait);
                3
            }),
            0
        );
        assert_eq!(KEPT.take().unwrap().resume(()), 3);
        let refused = catch_unwind(|| {
            begin(|| {
                // SAFETY: it catches its own exceptions.
                unsafe { (cxx().handles_one)(7, performs) }
            })
        });
        let message = refused.expect_err("it panics").downcast::<String>().unwrap();
        assert!(message.contains("`catch` block of C++"), "{message}");
        // SAFETY: it only reads.
        assert_eq!(unsafe { (cxx().has_current)() }, 1);
    }
    // SAFETY: it catches its own exceptions.
    assert_eq!(unsafe { (cxx().handles)(8, begins) }, 8);
}

/// A fiber that waits in a computation is unwound when its runtime ends, through the frames that
/// have resumed the computation.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_shutdown_unwinds_computations() {
    cxx();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (tell, told) = lisle::channel::<()>();
    drop(runtime.spawn(move || {
        let items = generator(move |items| {
            handle(|| {
                perform(Wait);
                tell.send(()).unwrap();
                crate::waits_for_ever();
            })
            .on(|Wait, k| k.resume(()))
            .run();
            items.give(1);
        });
        items.sum::<u32>()
    }));
    told.recv().unwrap();
    let shutdown = runtime.shutdown(std::time::Duration::from_secs(60));
    assert!(shutdown.is_clean(), "{shutdown}");
}
