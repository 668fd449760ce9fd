//! Forks of the process.
//!
//! A child of `fork` has all the memory of its parent and one of its threads. The library has state
//! for the whole process, such as the threads that it has started and the lists that they share. In
//! the child this state is about threads that do not exist. Another thread may have been changing
//! it at that moment, under a lock that it will never release. So the child leaves the inherited
//! values alone and makes its own: they are kept in a [`PerProcess`], which recognises the owner of
//! its value by the [generation](generation()).
//!
//! The library counts generations in a handler of `pthread_atfork`. A child that is made without
//! the C library, by the bare system call, is not noticed. Such a child cannot use the C library
//! either.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// How many forks there were on the way from the first process that used the library to this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

static COUNTS: Handlers = Handlers::in_child(count);

/// Runs in a child, where async-signal-safe code is allowed and nothing else.
extern "C" fn count() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Returns the generation of this process: it differs from the generations of the processes from
/// which it was forked, as far back as [`watch`] had been called there.
#[inline(always)]
pub fn generation() -> u32 {
    // A thread of the child is the one that has counted, or was started by it.
    GENERATION.load(Ordering::Relaxed)
}

/// Makes sure that forks from now on are noticed. Returns the generation of this process.
#[cold]
pub fn watch() -> u32 {
    COUNTS.register();
    generation()
}

/// The functions that each fork is to call.
#[derive(Debug)]
pub struct Handlers {
    before: Option<extern "C" fn()>,
    in_parent: Option<extern "C" fn()>,
    in_child: extern "C" fn(),
    is_registered: AtomicBool,
}

impl Handlers {
    /// Notes a function that the child calls first, and that must be async-signal-safe. It is called once
    /// [`register`](Handlers::register) has been.
    pub const fn in_child(call: extern "C" fn()) -> Self {
        Handlers { before: None, in_parent: None, in_child: call, is_registered: AtomicBool::new(false) }
    }

    /// Notes a function that is called before the fork, and one each that the parent and the child call after it. The
    /// last must do nothing that a lock of another thread can keep it from, unless the first has taken that lock.
    pub const fn around(
        before: extern "C" fn(),
        in_parent: extern "C" fn(),
        in_child: extern "C" fn(),
    ) -> Self {
        Handlers {
            before: Some(before),
            in_parent: Some(in_parent),
            in_child,
            is_registered: AtomicBool::new(false),
        }
    }

    /// Makes sure that forks call the functions. Two threads that do so at once may have them called twice.
    #[inline]
    pub fn register(&self) {
        if !self.is_registered.load(Ordering::Relaxed) {
            self.register_now();
        }
    }

    #[cfg(any(not(unix), miri, lisle_loom))]
    fn register_now(&self) {
        let _ = (self.before, self.in_parent, self.in_child); // There are no forks.
        self.is_registered.store(true, Ordering::Relaxed);
    }

    #[cfg(not(any(not(unix), miri, lisle_loom)))]
    #[cold]
    fn register_now(&self) {
        let plain = |call: extern "C" fn()| call as unsafe extern "C" fn();
        let (before, in_parent) = (self.before.map(plain), self.in_parent.map(plain));
        // SAFETY: the function may run in a forked child, by the promises to `in_child` and `around`. All are functions
        // of this program, which stays.
        let outcome = unsafe { libc::pthread_atfork(before, in_parent, Some(self.in_child)) };
        // It fails for want of memory. Then the next call tries again.
        self.is_registered.store(outcome == 0, Ordering::Relaxed);
    }
}

/// A value of the process, made when it is first asked for. A forked child has another one.
#[derive(Debug)]
pub struct PerProcess<T: 'static> {
    made: AtomicPtr<Made<T>>,
    make: fn() -> T,
}

#[derive(Debug)]
struct Made<T> {
    generation: u32,
    value: T,
    /// The value of the process that this one was forked from, which is kept: code that was in the
    /// middle of using it may go on in the child.
    inherited: *mut Made<T>,
}

impl<T: Send + Sync> PerProcess<T> {
    /// Creates a place for values that `make` makes. Two threads that ask for the first one at once
    /// may call it twice; then one of the values is dropped.
    pub const fn new(make: fn() -> T) -> Self {
        PerProcess { made: AtomicPtr::new(std::ptr::null_mut()), make }
    }

    /// Returns the value of this process.
    #[inline]
    pub fn get(&self) -> &'static T {
        self.made().unwrap_or_else(|| self.make())
    }

    /// Returns the value of this process if it has been made.
    #[inline]
    pub fn made(&self) -> Option<&'static T> {
        // SAFETY: null, or a value that is not freed.
        let made = unsafe { self.made.load(Ordering::Acquire).as_ref() }?;
        (made.generation == generation()).then_some(&made.value)
    }

    /// Returns the values of this process and of the processes from which it was forked, the latest
    /// first. Another thread may have been in the middle of changing one of the earlier values.
    pub fn inherited(&self) -> impl Iterator<Item = &'static T> {
        // SAFETY: null, or a value that is not freed.
        let first = unsafe { self.made.load(Ordering::Acquire).as_ref() };
        // SAFETY: as above.
        std::iter::successors(first, |made| unsafe { made.inherited.as_ref() }).map(|made| &made.value)
    }

    #[cold]
    fn make(&self) -> &'static T {
        let generation = watch();
        let value = (self.make)();
        let mut before = self.made.load(Ordering::Acquire);
        let mut made = Box::new(Made { generation, value, inherited: before });
        loop {
            // SAFETY: null, or a value that is not freed.
            if let Some(other) = unsafe { before.as_ref() }.filter(|other| other.generation == generation) {
                return &other.value;
            }
            made.inherited = before;
            let new = Box::into_raw(made);
            match self.made.compare_exchange(before, new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it is not freed from here on, and nobody changes it.
                Ok(_) => return &unsafe { &*new }.value,
                Err(now) => before = now,
            }
            // SAFETY: it comes from `into_raw`, and no other thread has seen it.
            made = unsafe { Box::from_raw(new) };
        }
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::PerProcess;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn threads_that_ask_at_once_get_the_same_value() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static NUMBER: PerProcess<usize> = PerProcess::new(|| MADE.fetch_add(1, Ordering::Relaxed));
        assert!(NUMBER.made().is_none());
        let start = Barrier::new(4);
        let seen = std::thread::scope(|scope| {
            let ask = || {
                start.wait();
                std::ptr::from_ref(NUMBER.get()).addr()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(seen.iter().all(|address| *address == seen[0]), "{seen:?}");
        assert!(NUMBER.made().is_some_and(|number| *number < MADE.load(Ordering::Relaxed)));
    }
}
