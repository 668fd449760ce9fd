//! Fibers that end before computations that were kept in them, and that cannot be unwound: these are left
//! as they are, and the rest goes on.

use crate::support::{Yield, begin, message_of};
use lisle::effect::{Generator, Suspended, generator, handle, perform};
use lisle::{Runtime, fiber_local};
use std::cell::RefCell;
use std::mem;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts its drops.
struct Counts<'a>(&'a AtomicU32);

impl Drop for Counts<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Calls `f` as foreign code would.
fn called_back(f: extern "C" fn()) {
    std::hint::black_box(f)();
}

static DROPPED: AtomicU32 = AtomicU32::new(0);

extern "C" fn performs() {
    let _counts = Counts(&DROPPED);
    perform(Yield);
}

extern "C" fn computes() {
    let _counts = Counts(&DROPPED);
    handle(|| {
        let _counts = Counts(&DROPPED);
        perform(Yield);
    })
    .run();
}

extern "C" fn takes() {
    let _counts = Counts(&DROPPED);
    for () in generator(|_| perform(Yield)) {}
}

/// Runs `f` in a fiber of a runtime of its own, and another fiber after it.
fn in_a_fiber(f: impl FnOnce() + Send + 'static) {
    Runtime::builder().domains(1).run(|| {
        lisle::spawn(f).join().expect("it has not panicked");
        assert_eq!(lisle::spawn(|| generator(|items| items.give(7)).sum::<u32>()).join().unwrap(), 7);
    });
}

type Kept = RefCell<Option<Suspended<(), ()>>>;

fiber_local! {
    static OF_FIBER: Kept = RefCell::new(None);
    static ITEMS: RefCell<Option<Generator<()>>> = RefCell::new(None);
}

thread_local! {
    static OF_THREAD: Kept = const { RefCell::new(None) };
}

/// Where the value is when the fiber ends.
const WAYS: [fn(Suspended<(), ()>); 3] = [
    |kept| mem::forget(kept),
    |kept| OF_FIBER.with(|slot| *slot.borrow_mut() = Some(kept)),
    |kept| OF_THREAD.set(Some(kept)),
];

#[test]
fn what_cannot_be_unwound_is_left() {
    static UNWOUND: AtomicU32 = AtomicU32::new(0);
    // Elsewhere the others are not seen to be such functions, since they copy much.
    let are_seen = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let functions = [performs, computes, takes].into_iter().take(if are_seen { 3 } else { 1 });
    for f in functions {
        for keep in WAYS {
            UNWOUND.store(0, Ordering::SeqCst);
            in_a_fiber(move || {
                let perform_twice = || {
                    let _counts = Counts(&UNWOUND);
                    perform(Yield);
                };
                let before = begin(perform_twice);
                let kept = begin(move || called_back(f)).expect("it was kept");
                mem::forget((before, begin(perform_twice)));
                keep(kept);
            });
            assert_eq!((DROPPED.load(Ordering::SeqCst), UNWOUND.load(Ordering::SeqCst)), (0, 2));
        }
    }
}

/// A generator that waits inside a computation that is left is left with it.
#[test]
fn a_generator_in_what_is_left() {
    in_a_fiber(|| {
        ITEMS.with(|items| *items.borrow_mut() = Some(generator(|_| called_back(performs))));
        let kept = begin(|| ITEMS.with(|items| items.borrow_mut().as_mut().unwrap().next().unwrap()));
        mem::forget(kept);
    });
    assert_eq!(DROPPED.load(Ordering::SeqCst), 0);
}

/// Code that catches the unwinding below such a function, or within a computation below it, is
/// unwound.
#[test]
fn what_catches_is_unwound() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn catches() {
        let _counts = Counts(&CAUGHT);
        assert!(catch_unwind(|| handle(|| perform(Yield)).run()).is_err());
        assert!(catch_unwind(|| perform(Yield)).is_err());
    }
    in_a_fiber(|| mem::forget(begin(|| called_back(catches))));
    assert_eq!(CAUGHT.load(Ordering::SeqCst), 1);
}

/// A panic of a destructor is not lost because another fiber of the domain waits in one.
#[test]
fn a_panic_beside_a_destructor_that_waits() {
    struct Waits(lisle::channel::Sender<()>, lisle::channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
    }
    Runtime::builder().domains(1).run(|| {
        let ((tell, told), (end, ended)) = (lisle::channel(), lisle::channel());
        let waits = lisle::spawn(move || {
            let _waits = Waits(tell, ended);
            resume_unwind(Box::new(()));
        });
        told.recv().unwrap();
        assert!(std::thread::panicking(), "the other fiber is on this thread");
        let kept = begin(|| {
            let _ = catch_unwind(|| perform(Yield));
            panic!("of the computation");
        });
        assert_eq!(message_of(|| drop(kept)), "of the computation");
        end.send(()).unwrap();
        assert!(waits.join().is_err());
    });
}
