//! The forms of worlds in which the same tests are run, and common parts of the tests.

use lisle_frame::{Stream, World};
use std::cell::Cell;
use std::rc::Rc;

/// Makes a world of the form that is tested.
pub(crate) type Make<'a> = &'a dyn Fn() -> World;

/// Runs functions that take a [`Make`] as tests, one for each form of worlds.
macro_rules! in_all_worlds {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn alone() {
                crate::worlds::alone(super::$test);
            }
            #[cfg(feature = "threads")]
            #[test]
            fn workers() {
                crate::worlds::workers(super::$test);
            }
            #[cfg(feature = "threads")]
            #[test]
            fn one_place() {
                crate::worlds::one_place(super::$test);
            }
            #[cfg(feature = "threads")]
            #[test]
            fn host() {
                crate::worlds::host(super::$test);
            }
            #[cfg(feature = "threads")]
            #[test]
            fn idle_host() {
                crate::worlds::idle_host(super::$test);
            }
            #[cfg(all(feature = "runtime", not(miri)))]
            #[test]
            fn domains() {
                crate::worlds::domains(super::$test);
            }
        }
    )*};
}

/// Runs a test where there are no workers at all.
pub(crate) fn alone(test: impl Fn(Make<'_>)) {
    test(&World::new);
}

/// Runs a test with a pool of two threads.
#[cfg(feature = "threads")]
pub(crate) fn workers(test: impl Fn(Make<'_>)) {
    let workers = lisle_frame::Workers::new(2).unwrap();
    test(&|| World::builder().pool(&workers).build());
}

/// Runs a test with more threads than places for batches, so that most calls run in place.
#[cfg(feature = "threads")]
pub(crate) fn one_place(test: impl Fn(Make<'_>)) {
    let workers = lisle_frame::Workers::new(4).unwrap();
    test(&|| World::builder().pool(&workers).places(1).build());
}

/// Runs a test with the job system of a host program, of two threads.
#[cfg(feature = "threads")]
pub(crate) fn host(test: impl Fn(Make<'_>)) {
    let jobs = crate::hosts::Jobs::start(2);
    test(&|| World::builder().pool(jobs.pool()).build());
}

/// Runs a test with a host program whose job system takes work and never runs it.
#[cfg(feature = "threads")]
pub(crate) fn idle_host(test: impl Fn(Make<'_>)) {
    test(&|| World::builder().pool(crate::hosts::Idle::default()).build());
}

/// Runs a test in a fiber of a runtime with three domains.
#[cfg(all(feature = "runtime", not(miri)))]
pub(crate) fn domains(test: impl Fn(Make<'_>)) {
    use lisle_frame::Domains;
    let runtime = lisle_runtime::Runtime::builder().domains(3);
    runtime.run(|| test(&|| World::builder().pool(Domains::current()).build()));
}

/// Returns how much of something a test takes: less under Miri, which is a thousand times slower.
pub(crate) fn count(usual: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { usual }
}

/// Counts how often something has happened, in the bodies of streams.
#[derive(Clone, Default)]
pub(crate) struct Counter(Rc<Cell<usize>>);

impl Counter {
    pub(crate) fn add(&self) -> usize {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
    pub(crate) fn get(&self) -> usize {
        self.0.get()
    }
}

/// Calls a function when it is dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A value that is counted as long as it is there. A second drop of it would be seen.
pub(crate) struct Token(Rc<Cell<isize>>, Box<u64>);

/// Counts tokens.
#[derive(Clone, Default)]
pub(crate) struct Tokens(Rc<Cell<isize>>);

impl Tokens {
    pub(crate) fn make(&self) -> Token {
        self.0.set(self.0.get() + 1);
        Token(self.0.clone(), Box::new(7))
    }
    pub(crate) fn alive(&self) -> isize {
        self.0.get()
    }
}

impl Clone for Token {
    fn clone(&self) -> Self {
        Tokens(self.0.clone()).make()
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        assert_eq!(*self.1, 7, "a token was dropped twice");
        *self.1 = 0;
        self.0.set(self.0.get() - 1);
    }
}

/// The handle of a stream that is made after its readers, and so is run after them unless it is
/// read.
pub(crate) struct Later<T>(Rc<Cell<Option<Stream<T>>>>);

impl<T> Later<T> {
    pub(crate) fn new() -> Self {
        Later(Rc::default())
    }
    pub(crate) fn is(&self, stream: Stream<T>) {
        self.0.set(Some(stream));
    }
    pub(crate) fn stream(&self) -> Stream<T> {
        self.0.get().expect("set before the first frame")
    }
}

impl<T> Clone for Later<T> {
    fn clone(&self) -> Self {
        Later(self.0.clone())
    }
}
