//! Support of these tests: a watchdog, gates that hold calls back, pools that do as they are told.

use lisle_frame::{Pool, Work, Workers, World};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Much longer than any test takes, also with sanitizers.
const LIMIT: Duration = Duration::from_secs(600);

static RUNNING: LazyLock<Mutex<HashMap<ThreadId, (String, Instant)>>> = LazyLock::new(|| {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            for (name, since) in RUNNING.lock().unwrap().values() {
                if since.elapsed() > LIMIT {
                    // Not by `eprintln`: the test that began the thread would capture it.
                    let _ = writeln!(std::io::stderr(), "{name} hangs");
                    std::process::abort();
                }
            }
        }
    });
    Mutex::default()
});

/// The calling test is watched until this is dropped: one that hangs ends the process, by name.
pub(crate) struct Watched(ThreadId);

pub(crate) fn watched() -> Watched {
    let thread = std::thread::current();
    // Miri waits for threads that are left.
    if !cfg!(miri) {
        let name = thread.name().unwrap_or("a test").to_owned();
        RUNNING.lock().unwrap().insert(thread.id(), (name, Instant::now()));
    }
    Watched(thread.id())
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !cfg!(miri) {
            RUNNING.lock().unwrap().remove(&self.0);
        }
    }
}

/// Returns a number of repetitions: fewer without optimization, fewest in an interpreter, and fewer
/// still by the divisor `LISLE_TEST_SCALE` (sanitizers make everything slow).
pub(crate) fn scaled(optimized: usize, debug: usize, interpreted: usize) -> usize {
    if cfg!(miri) {
        return interpreted;
    }
    let count = if cfg!(debug_assertions) { debug } else { optimized };
    let divisor = std::env::var("LISLE_TEST_SCALE").ok().and_then(|divisor| divisor.parse().ok());
    (count / divisor.unwrap_or(1_usize).max(1)).max(interpreted)
}

/// Waits until something holds.
pub(crate) fn until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::yield_now();
    }
}

/// Makes a world with `workers` workers.
pub(crate) fn world_with(workers: usize) -> (World, Option<Workers>) {
    if workers == 0 {
        return (World::new(), None);
    }
    let workers = Workers::new(workers).expect("the system gives threads");
    (World::builder().pool(&workers).build(), Some(workers))
}

/// Holds calls back until it is opened, and knows how many have come.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar, AtomicUsize)>);

impl Gate {
    pub(crate) fn pass(&self) {
        let (open, changed, entered) = &*self.0;
        entered.fetch_add(1, Ordering::SeqCst);
        let mut open = open.lock().unwrap();
        while !*open {
            open = changed.wait(open).unwrap();
        }
    }
    pub(crate) fn open(&self) {
        let (open, changed, _) = &*self.0;
        *open.lock().unwrap() = true;
        changed.notify_all();
    }
    pub(crate) fn entered(&self) -> usize {
        self.0.2.load(Ordering::SeqCst)
    }
}

/// Counts how many of its kind are there.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // One that is dropped twice takes the number below zero.
        assert_ne!(self.0.fetch_sub(1, Ordering::SeqCst), 0);
    }
}

/// A pool that keeps all work, and runs none of it by itself.
#[derive(Clone)]
pub(crate) struct Idle {
    pub(crate) workers: usize,
    pub(crate) kept: Rc<RefCell<Vec<Work>>>,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Idle {
        Idle { workers, kept: Rc::default() }
    }

    /// Runs the submitted work on another thread.
    pub(crate) fn run_elsewhere(&self) {
        let kept = std::mem::take(&mut *self.kept.borrow_mut());
        let kept = std::thread::spawn(move || {
            kept.iter().for_each(|work| {
                work.run();
            });
            kept
        });
        *self.kept.borrow_mut() = kept.join().expect("panics of calls are caught");
    }
}

impl Pool for Idle {
    fn workers(&self) -> usize {
        self.workers
    }
    fn submit(&self, work: Work) {
        self.kept.borrow_mut().push(work);
    }
    fn help(&self) {
        std::thread::yield_now();
    }
}

/// Random numbers that are the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a generator with a seed that is another one each time.
    pub(crate) fn unknown() -> Random {
        Random(RandomState::new().build_hasher().finish())
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Takes a time that nobody knows: mostly short, at times long enough for others to get ahead.
pub(crate) fn take_a_while() {
    let mut random = Random::unknown();
    match random.below(64) {
        0 => std::thread::yield_now(),
        1..8 => (0..random.below(2_000)).for_each(|_| std::hint::spin_loop()),
        _ => (0..random.below(50)).for_each(|_| std::hint::spin_loop()),
    }
}

/// Folds a number into a hash.
pub(crate) fn mix(hash: u64, number: u64) -> u64 {
    Random(hash ^ number.wrapping_mul(0x0100_0000_01b3)).next()
}
