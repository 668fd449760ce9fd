//! The exceptions that a fiber handles are its own.

use crate::{cxx, yields};
use lisle::Runtime;

fn on(domains: usize, f: impl FnOnce() + Send) {
    cxx();
    Runtime::builder().domains(domains).run(f);
}

/// Many fibers wait in handlers at the same time, and rethrow in another order.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_handler_throws_on_what_it_has_caught() {
    for domains in [1, 2] {
        on(domains, || {
            let fibers = (1..1_000).map(|n| {
                lisle::spawn(move || {
                    for round in 0..n % 7 {
                        // SAFETY: the functions catch their own exceptions.
                        assert_eq!(unsafe { (cxx().handles)(n + round, yields) }, n + round);
                    }
                    // SAFETY: as above.
                    unsafe { (cxx().handles_two)(n % 100, yields) }
                })
            });
            for (n, fiber) in (1..).zip(fibers.collect::<Vec<_>>()) {
                assert_eq!(fiber.join().unwrap(), 1000 * (n % 100) + n % 100 + 1);
            }
            // SAFETY: it only reads.
            assert_eq!(unsafe { (cxx().on_their_way)() }, 0);
        });
    }
}

#[test]
#[ignore = "needs a C++ compiler"]
fn a_destructor_sees_one_exception_on_its_way() {
    on(1, || {
        let fibers: Vec<_> = (0..100)
            // SAFETY: it catches its own exceptions.
            .map(|_| lisle::spawn(|| unsafe { (cxx().unwinds)(yields) }))
            .collect();
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap() == 1));
        // SAFETY: it only reads.
        assert_eq!(unsafe { (cxx().on_their_way)() }, 0);
    });
}

/// A fiber begins with none, whatever the thread handles that runs it, and the thread has its own
/// afterwards.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_runtime_in_a_handler() {
    extern "C-unwind" fn runs() {
        on(1, || {
            // SAFETY: it catches its own exceptions.
            let inside = lisle::spawn(|| unsafe { (cxx().handles)(7, yields) });
            assert_eq!(inside.join().unwrap(), 7);
        });
    }
    // SAFETY: as above.
    assert_eq!(unsafe { (cxx().handles)(8, runs) }, 8);
}

/// Hooks, too, that exchange the same words, as programs had to do themselves.
#[test]
#[ignore = "needs a C++ compiler"]
fn with_hooks_that_do_the_same() {
    use lisle::fiber::{Hooks, Switch};
    fn swap(words: &mut [usize; 2]) {
        // SAFETY: the two words of the thread.
        std::mem::swap(unsafe { &mut *(cxx().globals)() }, words);
    }
    struct Swaps;
    impl Hooks for Swaps {
        type Local = [usize; 2];
        fn resumed(&self, _: &Switch<'_>, words: &mut [usize; 2]) {
            swap(words);
        }
        fn suspended(&self, _: &Switch<'_>, words: &mut [usize; 2]) {
            swap(words);
        }
    }
    cxx();
    Runtime::builder().domains(1).hooks(Swaps).run(|| {
        let fibers: Vec<_> = (1..100)
            // SAFETY: it catches its own exceptions.
            .map(|n| lisle::spawn(move || unsafe { (cxx().handles)(n, yields) } == n))
            .collect();
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap()));
    });
}

/// An exception of C++ passes through frames of Rust to one of C++, in a fiber as elsewhere.
#[test]
#[ignore = "needs a C++ compiler"]
fn through_frames_of_rust() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            yields();
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    extern "C-unwind" fn throws() {
        let _counts = Counts;
        // SAFETY: its caller's caller catches it.
        unsafe { (cxx().throws)(5) };
    }
    on(1, || {
        // SAFETY: it catches numbers.
        let fibers: Vec<_> = (0..10).map(|_| lisle::spawn(|| unsafe { (cxx().catches)(throws) })).collect();
        assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap() == 5));
    });
    assert_eq!(DROPPED.load(Ordering::SeqCst), 10);
}
