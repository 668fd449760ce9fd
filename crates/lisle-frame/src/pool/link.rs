//! The world's side of the table.

use super::table::Table;
use super::work::{Pool, Work};
use crate::batch::Batch;
use crate::current::outside_of_frames;
use crate::panics::forget_panic;
use crate::shim::sync::Arc;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// A world's pool and its table.
#[derive(Default)]
pub(crate) struct Link(Option<Linked>);

struct Linked {
    pool: Box<dyn Pool>,
    table: Arc<Table<Batch>>,
    sent_in_frame: Cell<usize>,
    /// The first panic of the pool in this frame, which is raised again when the frame is over.
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

impl Link {
    pub(crate) fn new(pool: Box<dyn Pool>, places: usize) -> Link {
        let workers = pool.workers();
        if workers == 0 {
            return Link(None);
        }
        let table = Arc::new(Table::new(workers, places.next_power_of_two()));
        Link(Some(Linked { pool, table, sent_in_frame: Cell::new(0), panic: Cell::new(None) }))
    }

    /// Returns how many homes streams may have.
    pub(crate) fn homes(&self) -> usize {
        self.0.as_ref().map_or(1, |linked| linked.table.homes())
    }

    /// Sends a batch to the workers. Returns `false` if there are none, or all places are taken.
    pub(crate) fn send(&self, batch: NonNull<Batch>, home: Option<usize>) -> bool {
        let Some(linked) = &self.0 else { return false };
        // SAFETY: this is the world's thread.
        let is_sent = unsafe { linked.table.publish(batch, home) };
        is_sent && linked.has_sent()
    }

    /// Sends a batch that the world itself must not run.
    pub(crate) fn send_long(&self, batch: NonNull<Batch>) -> bool {
        let Some(linked) = &self.0 else { return false };
        // SAFETY: this is the world's thread.
        linked.workers() > 0 && unsafe { linked.table.publish_long(batch) } && linked.has_sent()
    }

    /// Takes a batch for the world's thread.
    pub(crate) fn take_as_world(&self) -> Option<NonNull<Batch>> {
        let linked = self.0.as_ref()?;
        linked.table.take_as_world().or_else(|| self.take_abandoned())
    }

    /// Takes a batch for the world's thread that has waited in vain for the worker at its home.
    pub(crate) fn take_left(&self) -> Option<NonNull<Batch>> {
        self.0.as_ref()?.table.take_left()
    }

    /// Takes any batch if the pool has ended.
    pub(crate) fn take_abandoned(&self) -> Option<NonNull<Batch>> {
        let linked = self.0.as_ref()?;
        if linked.workers() == 0 { linked.table.take_any() } else { None }
    }

    /// Takes any batch: for the end of the world.
    pub(crate) fn take_any(&self) -> Option<NonNull<Batch>> {
        self.0.as_ref()?.table.take_any()
    }

    /// Passes a moment in which the world has nothing to do.
    pub(crate) fn relax(&self) {
        match &self.0 {
            Some(linked) => _ = linked.calls(|pool| pool.help()),
            None => std::hint::spin_loop(),
        }
    }

    /// Takes the panic that the pool has had since this was last asked, if any.
    pub(crate) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.0.as_ref()?.panic.take()
    }

    /// Begins a frame. If the last frame had work for the workers, they are woken now.
    pub(crate) fn begin_frame(&self) {
        let Some(linked) = &self.0 else { return };
        linked.table.set_open(true);
        if linked.sent_in_frame.replace(0) > 0 || linked.table.has_batches() {
            linked.arm();
        }
    }

    pub(crate) fn end_frame(&self) {
        if let Some(linked) = &self.0 {
            linked.table.set_open(false);
        }
    }

    /// Leaves the table, at the end of the world.
    pub(crate) fn leave(&self) {
        if let Some(linked) = &self.0 {
            linked.table.close();
            linked.calls(|pool| pool.wake());
        }
    }
}

impl Linked {
    /// Calls the pool, which is in no frame. A panic of the pool must not keep the frame from its
    /// next steps.
    fn calls<R>(&self, f: impl FnOnce(&dyn Pool) -> R) -> Option<R> {
        let call = || outside_of_frames(|| f(&*self.pool));
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => Some(result),
            Err(panic) => {
                match self.panic.take() {
                    None => self.panic.set(Some(panic)),
                    first => {
                        self.panic.set(first);
                        forget_panic(panic);
                    }
                }
                None
            }
        }
    }

    /// Returns how many workers there are; none if the pool panics.
    fn workers(&self) -> usize {
        self.calls(|pool| pool.workers()).unwrap_or(0)
    }

    fn has_sent(&self) -> bool {
        let first = self.sent_in_frame.replace(self.sent_in_frame.get() + 1) == 0;
        if self.table.may_have_free_seats() {
            self.arm();
        } else if first {
            self.calls(|pool| pool.wake());
        }
        true
    }

    #[cold]
    fn arm(&self) {
        // The loop does not run until no seat is free: a pool may drop submitted work.
        for _ in 0..self.workers() {
            let Some(work) = Work::at(&self.table) else { break };
            // A pool that drops the work runs the waiting batches here.
            self.calls(|pool| pool.submit(work));
        }
        self.calls(|pool| pool.wake());
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("homes", &self.homes()).finish()
    }
}
