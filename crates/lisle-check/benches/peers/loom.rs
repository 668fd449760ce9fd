//! loom: every execution, without a bound on preemptions. It explores the weak orders of C11 as well, of
//! sequentially consistent accesses some, so that it has more to look at where there are atomics.

use crate::{Threads, program};
use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread;

struct Loom;

impl Threads for Loom {
    type Thread = thread::JoinHandle<()>;
    type Mutex = Mutex<u32>;
    type Guard<'a> = MutexGuard<'a, u32>;
    type Condvar = Condvar;
    type Atomic = AtomicU32;

    fn spawn(body: impl FnOnce() + Send + 'static) -> Self::Thread {
        thread::spawn(body)
    }
    fn join(thread: Self::Thread) {
        thread.join().unwrap();
    }
    fn mutex(value: u32) -> Mutex<u32> {
        Mutex::new(value)
    }
    fn lock(mutex: &Mutex<u32>) -> MutexGuard<'_, u32> {
        mutex.lock().unwrap()
    }
    fn condvar() -> Condvar {
        Condvar::new()
    }
    fn wait<'a>(condvar: &Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard).unwrap()
    }
    fn notify(condvar: &Condvar) {
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

pub(crate) fn exhaustive(name: &str) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = None;
    builder.max_permutations = None;
    builder.max_duration = None;
    // As many as it has room for.
    builder.max_threads = 5;
    builder.max_branches = 100_000;
    builder.check(program::<Loom>(name));
}
