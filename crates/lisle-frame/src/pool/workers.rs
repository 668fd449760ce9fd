//! A pool of threads that only run foreign calls.
//!
//! A thread keeps the work that it was given. While a frame of one of its worlds is under way it
//! looks for batches without sleeping; otherwise it sleeps. Who is about to sleep says so, and looks
//! once more; who has begun a frame looks who sleeps. Both are sequentially consistent.

use super::work::{AnyPool, Pool, Progress, Work};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// So many times a thread that has found nothing looks again before it may sleep.
const LOOKS: u32 = 2_000;

/// A pool of threads that run foreign calls. Several worlds may share it: pass a clone of it to each.
///
/// The threads end when the last clone is dropped that is not a world's; a world that has lost its
/// pool runs its calls itself.
///
/// ```
/// use lisle_frame::{Foreign, Workers, World};
///
/// let workers = Workers::new(2)?;
/// let mut world = World::builder().pool(&workers).build();
/// let work = Foreign::new("work", |n: u64| (0..n).sum::<u64>());
/// let sums = (0..100).map(|n| world.stream(async move || work.call(n).await)).collect::<Vec<_>>();
/// world.frame();
/// assert_eq!(world.get(sums[99])?, 4851);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Workers(Arc<Threads>);

struct Threads {
    shared: Arc<Shared>,
    joins: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    seats: Box<[Seat]>,
    ended: AtomicBool,
    next: AtomicUsize,
    /// There are more threads than cores, so that one that spins takes the place of another.
    crowded: bool,
}

#[derive(Default)]
struct Seat {
    /// Work that the thread has not looked at yet. A world submits once for each thread.
    submitted: Mutex<Vec<Work>>,
    has_submitted: AtomicBool,
    asleep: AtomicBool,
    thread: std::sync::OnceLock<Thread>,
}

impl Seat {
    fn submitted(&self) -> MutexGuard<'_, Vec<Work>> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

impl Workers {
    /// Starts so many threads. The world's own thread runs calls too, so that one less than there are
    /// cores is usual.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it refuses a thread.
    pub fn new(threads: usize) -> io::Result<Workers> {
        Workers::start(threads, Vec::new())
    }

    /// Starts so many threads, each bound to a core: the second one that the process may use, the
    /// third, and so on, so that the first is left to the world. Threads for which there is no core
    /// are not bound. Do so on machines that do nothing else.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it refuses a thread. A system that cannot bind threads is no
    /// error.
    pub fn pinned(threads: usize) -> io::Result<Workers> {
        let mut cores = core_affinity::get_core_ids().unwrap_or_default();
        cores.drain(..cores.len().min(1));
        Workers::start(threads, cores)
    }

    fn start(threads: usize, cores: Vec<core_affinity::CoreId>) -> io::Result<Workers> {
        let available = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            seats: (0..threads).map(|_| Seat::default()).collect(),
            ended: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            crowded: threads >= available,
        });
        let workers = Workers(Arc::new(Threads { shared: shared.clone(), joins: Mutex::default() }));
        for at in 0..threads {
            let (shared, core) = (shared.clone(), cores.get(at).copied());
            let thread = thread::Builder::new().name(format!("frame worker {at}")).spawn(move || {
                if let Some(core) = core {
                    core_affinity::set_for_current(core);
                }
                shared.work(at);
            })?;
            workers.0.joins.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(workers)
    }

    /// Returns how many threads there are.
    pub fn threads(&self) -> usize {
        self.0.shared.seats.len()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.shared.seats.iter().for_each(Seat::wake);
        let joins = std::mem::take(&mut *self.joins.lock().unwrap_or_else(PoisonError::into_inner));
        for join in joins {
            // The last clone may be dropped by a call that runs here.
            if join.thread().id() != thread::current().id() {
                let _ = join.join();
            }
        }
    }
}

impl Shared {
    /// What each thread does.
    fn work(&self, at: usize) {
        let seat = &self.seats[at];
        let _ = seat.thread.set(thread::current());
        let mut kept = Vec::<Work>::new();
        let mut looks = 0;
        while !self.ended.load(Ordering::Relaxed) {
            if seat.has_submitted.load(Ordering::Acquire) {
                seat.has_submitted.store(false, Ordering::Relaxed);
                kept.append(&mut seat.submitted());
            }
            kept.retain(|work| !work.has_ended());
            match kept.iter().map(Work::run).max_by_key(|progress| rank(*progress)) {
                Some(Progress::Ran) => looks = 0,
                Some(Progress::Idle) => self.pause(),
                _ if looks < LOOKS => {
                    looks += 1;
                    self.pause();
                }
                _ => {
                    looks = 0;
                    self.sleep(seat, &kept);
                }
            }
        }
        seat.submitted().clear();
    }

    fn pause(&self) {
        if self.crowded {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }

    fn sleep(&self, seat: &Seat, kept: &[Work]) {
        seat.asleep.store(true, Ordering::SeqCst);
        let awake = || {
            self.ended.load(Ordering::SeqCst)
                || seat.has_submitted.load(Ordering::SeqCst)
                || kept.iter().any(Work::is_ready)
        };
        while seat.asleep.load(Ordering::SeqCst) && !awake() {
            thread::park();
        }
        seat.asleep.store(false, Ordering::SeqCst);
    }
}

fn rank(progress: Progress) -> u8 {
    match progress {
        Progress::Over => 0,
        Progress::Idle => 1,
        Progress::Ran => 2,
    }
}

/// What a world has of the pool.
pub(crate) struct Handle(Arc<Shared>);

impl Pool for Handle {
    fn workers(&self) -> usize {
        if self.0.ended.load(Ordering::Relaxed) { 0 } else { self.0.seats.len() }
    }

    fn submit(&self, work: Work) {
        let at = self.0.next.fetch_add(1, Ordering::Relaxed) % self.0.seats.len();
        let seat = &self.0.seats[at];
        seat.submitted().push(work);
        seat.has_submitted.store(true, Ordering::SeqCst);
        seat.wake();
    }

    fn wake(&self) {
        self.0.seats.iter().for_each(Seat::wake);
    }

    fn help(&self) {
        if self.0.crowded {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

impl From<&Workers> for AnyPool {
    fn from(workers: &Workers) -> Self {
        AnyPool::from(Handle(workers.0.shared.clone()))
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("threads", &self.threads()).finish_non_exhaustive()
    }
}
