//! Computations that are suspended within handlers of C++.

use crate::cxx;
use lisle::Runtime;
use lisle::effect::{Effect, Items, Suspended, finish, generator, handle, perform};
use std::cell::{Cell, RefCell};
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
            // SAFETY: it catches what it throws.
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
                // SAFETY: it catches what it throws.
                items.give(unsafe { (cxx().handles)(n, gives) });
            }
        })
    };
    let twice = |from: i32| (from..from + 10).flat_map(|n| [-n, n]);
    assert!(numbers(1).zip(numbers(100)).eq(twice(1).zip(twice(100))));
}

/// What is called within a handler may throw on what that has caught, also in a computation.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_computation_in_a_handler() {
    extern "C-unwind" fn computes() {
        let answered = handle(|| {
            perform(Wait);
            // SAFETY: it catches what it throws.
            unsafe { (cxx().handles)(3, performs) }
        });
        assert_eq!(answered.on(|Wait, k| k.resume(())).run(), 3);
    }
    // SAFETY: it catches what it throws.
    assert_eq!(unsafe { (cxx().handles)(4, computes) }, 4);
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
