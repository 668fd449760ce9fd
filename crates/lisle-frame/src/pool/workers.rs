//! A pool of threads that only run foreign calls.
//!
//! A thread keeps the work that it was given. While a frame of one of its worlds is under way, the
//! thread looks for batches without sleeping; otherwise it sleeps at its inbox.

use super::inbox::Inbox;
use super::work::{AnyPool, Pool, Progress, Work};
use std::cell::Cell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// How many times a thread that has found no batch looks again before it may sleep.
const LOOKS: u32 = 2_000;

/// A pool of threads that run foreign calls. Several worlds may share it: pass a clone of it to
/// each.
///
/// The threads end when the last clone is dropped that no world holds; a world that has lost its
/// pool runs its calls itself. A world in a forked child does so, too, because the child does not
/// have the threads of its parent.
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
    inboxes: Box<[Inbox<Work>]>,
    ended: AtomicBool,
    /// Whether there are more threads than cores, so that a thread that spins takes the core of
    /// another.
    crowded: bool,
    /// The process that has started the threads.
    process: u32,
}

impl Workers {
    /// Starts `threads` threads. The world's own thread runs calls too, so one less than the number
    /// of cores is usual.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it refuses a thread.
    pub fn new(threads: usize) -> io::Result<Workers> {
        Workers::start(threads, Vec::new())
    }

    /// Starts `threads` threads, and binds each to a core: to the second core that the process may
    /// use, the third, and so on. The first is left to the world. Threads for which there is no
    /// core are not bound. Bind threads only on machines that do nothing else.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it refuses a thread. It is no error if the system cannot bind
    /// threads.
    pub fn pinned(threads: usize) -> io::Result<Workers> {
        let mut cores = core_affinity::get_core_ids().unwrap_or_default();
        cores.drain(..cores.len().min(1));
        Workers::start(threads, cores)
    }

    fn start(threads: usize, cores: Vec<core_affinity::CoreId>) -> io::Result<Workers> {
        let available = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            inboxes: (0..threads).map(|_| Inbox::new()).collect(),
            ended: AtomicBool::new(false),
            crowded: threads >= available,
            process: std::process::id(),
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
        self.0.shared.inboxes.len()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.shared.is_inherited() {
            // The system may use the memory of these threads for others in this process.
            let joins = std::mem::take(self.joins.get_mut().unwrap_or_else(PoisonError::into_inner));
            return joins.into_iter().for_each(std::mem::forget);
        }
        self.shared.ended.store(true, Ordering::SeqCst);
        self.shared.inboxes.iter().for_each(Inbox::wake);
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
    /// Returns `true` if the threads belong to the process from which this one was forked.
    fn is_inherited(&self) -> bool {
        std::process::id() != self.process
    }

    /// The loop of each thread.
    fn work(&self, at: usize) {
        let inbox = &self.inboxes[at];
        inbox.is_for_this_thread();
        let mut kept = Vec::<Work>::new();
        let mut looks = 0;
        while !self.ended.load(Ordering::Relaxed) {
            inbox.take(&mut kept);
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
                    self.sleep(inbox, &kept);
                }
            }
        }
        inbox.clear();
    }

    fn pause(&self) {
        if self.crowded {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }

    fn sleep(&self, inbox: &Inbox<Work>, kept: &[Work]) {
        // Work of a dropped world is dropped at once.
        let concerns = |work: &Work| work.is_ready() || work.has_ended();
        inbox.sleep(|| self.ended.load(Ordering::SeqCst) || kept.iter().any(concerns));
    }
}

fn rank(progress: Progress) -> u8 {
    match progress {
        Progress::Over => 0,
        Progress::Idle => 1,
        Progress::Ran => 2,
    }
}

/// A world's handle of the pool.
pub(crate) struct Handle {
    shared: Arc<Shared>,
    /// The thread that gets the next work. Each world counts by itself, so all threads work for
    /// each world.
    next: Cell<usize>,
}

impl Pool for Handle {
    fn workers(&self) -> usize {
        let has_ended = self.shared.ended.load(Ordering::Relaxed) || self.shared.is_inherited();
        if has_ended { 0 } else { self.shared.inboxes.len() }
    }

    fn submit(&self, work: Work) {
        let at = self.next.get() % self.shared.inboxes.len();
        self.next.set(at + 1);
        self.shared.inboxes[at].submit(work);
    }

    fn wake(&self) {
        self.shared.inboxes.iter().for_each(Inbox::wake);
    }

    fn help(&self) {
        self.shared.pause();
    }
}

impl From<&Workers> for AnyPool {
    fn from(workers: &Workers) -> Self {
        AnyPool::from(Handle { shared: workers.0.shared.clone(), next: Cell::new(0) })
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("threads", &self.threads()).finish_non_exhaustive()
    }
}
