//! Lisle's checker, with fibers.

use crate::sample::{answer, begun};
use crate::{Threads, program};
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};

struct Fibers;

impl Threads for Fibers {
    type Thread = lisle::fiber::JoinHandle<()>;
    type Mutex = lisle::sync::Mutex<u32>;
    type Guard<'a> = lisle::sync::MutexGuard<'a, u32>;
    type Condvar = lisle::sync::Condvar;
    type Atomic = AtomicU32;

    fn spawn(body: impl FnOnce() + Send + 'static) -> Self::Thread {
        lisle::spawn(body)
    }
    fn join(thread: Self::Thread) {
        thread.join().unwrap();
    }
    fn mutex(value: u32) -> Self::Mutex {
        lisle::sync::Mutex::new(value)
    }
    fn lock(mutex: &Self::Mutex) -> Self::Guard<'_> {
        mutex.lock()
    }
    fn condvar() -> Self::Condvar {
        lisle::sync::Condvar::new()
    }
    fn wait<'a>(condvar: &Self::Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard)
    }
    fn notify(condvar: &Self::Condvar) {
        condvar.notify_one();
    }
    fn atomic(value: u32) -> AtomicU32 {
        AtomicU32::new(value)
    }
    fn load(atomic: &AtomicU32) -> u32 {
        atomic.load(SeqCst)
    }
    fn store(atomic: &AtomicU32, value: u32) {
        atomic.store(value, SeqCst);
    }
    fn exchange(atomic: &AtomicU32, current: u32, new: u32) -> bool {
        atomic.compare_exchange(current, new, SeqCst, SeqCst).is_ok()
    }
}

/// Explores without a bound. What is done to make the schedule of a failure shorter takes time, and is
/// not counted as executions before it was found.
fn explore(checker: &Checker, name: &str) {
    // The panics of a program are the checker's.
    let _ = std::panic::take_hook();
    let verdict = checker.clone().executions(u64::MAX).explore(program::<Fibers>(name));
    let found = verdict.failure().map(ToString::to_string);
    let executions = if found.is_some() { verdict.counts().all() } else { begun() };
    answer(found.as_deref(), true, executions);
}

pub(crate) fn exhaustive(name: &str) {
    explore(&Checker::new(), name);
}

pub(crate) fn random(name: &str, seed: u64) {
    explore(&Checker::new().random(seed), name);
}

pub(crate) fn priorities(name: &str, seed: u64) {
    explore(&Checker::new().priorities(seed, 3), name);
}
