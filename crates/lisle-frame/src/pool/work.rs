//! A seat at a world's table, and the trait for pools.

use super::table::Table;
use crate::batch::Batch;
use crate::shim::sync::Arc;
use std::fmt;
use std::ptr::NonNull;

/// A pool of threads that run the foreign calls of worlds. A host program implements it for its own
/// job system; this crate implements it for [`Workers`](crate::Workers).
///
/// A world submits a [`Work`] for each worker. The pool runs it on any of its threads, for as long
/// as it wants. A simple pool calls [`Work::run`] once and drops the work: the world submits it
/// again when there are more calls. A pool whose threads have nothing else to do keeps the work,
/// and runs it again until the frame is over.
///
/// A frame does not depend on the pool being fast, or running work at all: a world itself runs the
/// calls that no worker takes.
///
/// ```
/// use lisle_frame::{Foreign, Pool, Work, World};
/// use std::sync::mpsc;
///
/// /// The job system of the host program.
/// struct Jobs(mpsc::Sender<Work>);
///
/// impl Pool for Jobs {
///     fn workers(&self) -> usize {
///         1
///     }
///     fn submit(&self, work: Work) {
///         let _ = self.0.send(work);
///     }
/// }
///
/// let (jobs, queue) = mpsc::channel::<Work>();
/// let thread = std::thread::spawn(move || queue.iter().for_each(|work| { work.run(); }));
///
/// let mut world = World::builder().pool(Jobs(jobs)).build();
/// let work = Foreign::new("work", |n: u32| n + 1).batch(1);
/// let stream = world.stream(async move || work.call(1).await);
/// world.frame();
/// assert_eq!(world.get(stream)?, 2);
/// drop(world);
/// thread.join().unwrap();
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub trait Pool: 'static {
    /// Returns how many threads may work for one world at a time, not counting the world's own. It
    /// may shrink; 0 means that the pool has ended.
    fn workers(&self) -> usize;

    /// Has a thread of the pool run this work soon. It is called on the world's thread, and must
    /// return at once.
    fn submit(&self, work: Work);

    /// Wakes threads that keep work: a frame has begun, or a batch was sent.
    fn wake(&self) {}

    /// Does something useful for a moment, on the world's thread, which waits for workers and has
    /// nothing to do. A pool may run other work of the host program here. The default tells the
    /// processor that this is a spin loop.
    fn help(&self) {
        std::hint::spin_loop();
    }
}

/// The outcome of a [`Work::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Calls were run.
    Ran,
    /// There were no calls, but the frame goes on: there may be calls soon.
    Idle,
    /// There were no calls, and no frame is under way.
    Over,
}

/// The right to work at a world's table, for one thread at a time. It may be sent to any thread,
/// and may outlive the world.
pub struct Work {
    table: Arc<Table<Batch>>,
    seat: usize,
}

// SAFETY: a batch that was taken out of the table belongs to the taker, and its contents are
// `Send`.
unsafe impl Send for Work {}

impl Work {
    /// Takes a free seat.
    pub(crate) fn at(table: &Arc<Table<Batch>>) -> Option<Work> {
        table.take_seat().map(|seat| Work { table: table.clone(), seat })
    }

    /// Runs the calls at the table, until there are none. A panic of a call is caught, and given to
    /// the stream that has made the call.
    pub fn run(&self) -> Progress {
        let mut progress = Progress::Idle;
        while let Some(batch) = self.table.take(self.seat) {
            self.run_batch(batch);
            progress = Progress::Ran;
        }
        if progress == Progress::Idle && !self.table.is_open() { Progress::Over } else { progress }
    }

    fn run_batch(&self, batch: NonNull<Batch>) {
        self.table.set_busy(self.seat, true);
        // SAFETY: taken out of the table, it is ours.
        unsafe { Batch::run(batch) };
        self.table.set_busy(self.seat, false);
    }

    /// Returns `true` if the world was dropped.
    pub fn has_ended(&self) -> bool {
        self.table.is_closed()
    }

    /// Returns `true` if there may be calls to run. A thread looks at this last before it sleeps.
    pub fn is_ready(&self) -> bool {
        self.table.is_open() || self.table.has_batches()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.table.leave(self.seat);
        // The world may have sent a batch while the seat was still taken, and so has submitted no
        // work. Such a batch is run here, whatever its home. This is necessary each time a seat is
        // left.
        while self.table.has_batches() && self.table.sit(self.seat) {
            while let Some(batch) = self.table.take(self.seat).or_else(|| self.table.take_any()) {
                self.run_batch(batch);
            }
            self.table.leave(self.seat);
        }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("seat", &self.seat).finish_non_exhaustive()
    }
}

/// A pool of any type; see [`Builder::pool`](crate::Builder::pool).
pub struct AnyPool(pub(crate) Box<dyn Pool>);

impl<P: Pool> From<P> for AnyPool {
    fn from(pool: P) -> Self {
        AnyPool(Box::new(pool))
    }
}

impl fmt::Debug for AnyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyPool").finish()
    }
}
