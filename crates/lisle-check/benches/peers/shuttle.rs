//! shuttle: every schedule, by depth-first search; schedules drawn at random; and by priorities.

use crate::{Threads, program};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use shuttle::sync::{Condvar, Mutex, MutexGuard};
use shuttle::{Config, FailurePersistence, Runner, thread};

struct Shuttle;

impl Threads for Shuttle {
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

fn explore(scheduler: impl Scheduler + 'static, name: &str) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(program::<Shuttle>(name));
}

pub(crate) fn exhaustive(name: &str) {
    explore(DfsScheduler::new(None, false), name);
}

pub(crate) fn random(name: &str, seed: u64) {
    explore(RandomScheduler::new_from_seed(seed, usize::MAX), name);
}

pub(crate) fn priorities(name: &str, seed: u64) {
    explore(PctScheduler::new_from_seed(seed, 3, usize::MAX), name);
}
