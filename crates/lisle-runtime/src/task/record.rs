//! A task's record: the head of its slot. What comes behind it is in `body.rs`, what it goes through in `life.rs`.
//!
//! While a task runs for the first time its record is little more than the place of its future; `spawn.rs` polls that
//! as part of the spawner. Only when it waits does it become a thread that others know of: it is *reified*. From then on
//! everything in it belongs to whoever owns it in the sense of `event/recycled/state.rs`; the handle may look at
//! `finished`, which has a lock.

use super::body::Table;
use super::life::ready_recycled;
use super::local::Locals;
use crate::event::recycled::{Recycled, State};
use crate::event::{Description, Label, Source, parker};
use crate::fiber::report;
use crate::panics::forget_panic;
use crate::sched::Domain;
use crate::sched::shared::Shared;
use crate::shim::atomic::{AtomicPtr, Ordering};
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::spawned::scope_state::ScopeState;
use std::any::Any;
use std::cell::Cell;
use std::mem::offset_of;
use std::panic::Location;
use std::ptr::NonNull;

/// The head of a slot.
#[repr(C)]
pub(crate) struct Task {
    runnable: Runnable,
    pub(super) recycled: Recycled,
    pub(super) outcome: Cell<Outcome>,
    /// It has become a thread that is scheduled by itself.
    pub(super) inflated: Cell<bool>,
    /// How many of the next tasks that it spawns are not to begin on its stack.
    pub(super) penalty: Cell<u32>,
    /// Where it had its last turn.
    pub(super) domain: Cell<usize>,
    pub(super) table: Cell<Option<&'static Table>>,
    pub(super) site: Cell<Option<&'static Location<'static>>>,
    /// The runtime it belongs to, from when it is reified. That does not end before it.
    pub(super) home: AtomicPtr<Shared>,
    pub(super) locals: Locals,
    pub(super) scope: Cell<Option<NonNull<ScopeState>>>,
    /// True once it has ended, if it was reified.
    pub(super) finished: Source<bool, ()>,
}

/// What the body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The future.
    Future,
    /// A value or a panic.
    Done,
    /// Nothing: whoever has the handle did not want it to go on.
    Cancelled,
    /// Nothing: its runtime has ended before.
    ShutDown,
    /// Nothing: the result has been taken.
    Taken,
}

impl Task {
    /// The task that runs on the stack of `fiber`, if that is a worker's runner.
    pub(crate) fn borne_by(fiber: &Fiber) -> Option<&Task> {
        let borne = NonNull::new(fiber.parker.task.get().cast_mut());
        let borne = borne.filter(|_| fiber.is_runner())?;
        // SAFETY: what runs on the stack of a fiber is alive.
        Some(unsafe { Task::of(borne).as_ref() })
    }

    /// Makes memory the head of a slot of so many bytes in which nobody lives.
    ///
    /// # Safety
    ///
    /// The memory is of zeros, or has been a slot which is vacant, or of both; it is never used for anything but a slot of
    /// this size; and the caller has it. Late wakes, and those who look at all slots, may look at its state and its home
    /// meanwhile.
    pub(super) unsafe fn make_vacant(slot: *mut Task, size: usize) {
        let size = size - offset_of!(Task, recycled);
        // SAFETY: by the caller's promise. The two words that others may look at are those of a vacant slot and are not
        // written; there is nothing in the rest that would have to be dropped.
        unsafe {
            (&raw mut (*slot).runnable).write(Runnable::new(Kind::Task));
            // As there, and `ready_recycled` asks for what is promised.
            Recycled::make_vacant(&raw mut (*slot).recycled, ready_recycled, size);
            (&raw mut (*slot).outcome).write(Cell::new(Outcome::Taken));
            (&raw mut (*slot).inflated).write(Cell::new(false));
            (&raw mut (*slot).penalty).write(Cell::new(0));
            (&raw mut (*slot).domain).write(Cell::new(usize::MAX));
            (&raw mut (*slot).table).write(Cell::new(None));
            (&raw mut (*slot).site).write(Cell::new(None));
            (&raw mut (*slot).locals).write(Locals::new());
            (&raw mut (*slot).scope).write(Cell::new(None));
            (&raw mut (*slot).finished).write(Source::labelled(Label::anywhere("task"), false));
        }
    }

    pub(super) fn next_vacant(&self) -> *mut Task {
        self.runnable.next().cast()
    }

    pub(super) fn set_next_vacant(&self, next: *mut Task) {
        self.runnable.set_next(next.cast());
    }

    /// The task whose `recycled` this is.
    pub(crate) fn of(recycled: NonNull<Recycled>) -> NonNull<Task> {
        // SAFETY: the only recycled are those in slots.
        unsafe { recycled.byte_sub(offset_of!(Task, recycled)) }.cast()
    }

    #[inline(always)]
    pub(super) fn recycled(task: NonNull<Task>) -> NonNull<Recycled> {
        // SAFETY: within the slot.
        unsafe { task.byte_add(offset_of!(Task, recycled)) }.cast()
    }

    /// Its number as a performer, see `event/waits.rs`.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(&self.recycled).addr()
    }

    #[inline(always)]
    pub(super) fn state(&self) -> &State {
        self.recycled.state()
    }

    /// Where it was spawned.
    pub(crate) fn site(&self) -> &'static Location<'static> {
        self.site.get().expect("a task has been spawned somewhere")
    }

    pub(super) fn label(&self) -> Label {
        Label::anywhere("task").made_at(self.site())
    }

    pub(super) fn table(&self) -> &'static Table {
        self.table.get().expect("a task has a future")
    }

    /// The runtime it belongs to.
    ///
    /// # Safety
    ///
    /// It has been reified and has not been counted out.
    pub(super) unsafe fn home(&self) -> &Shared {
        // SAFETY: a runtime does not go before its tasks.
        unsafe { &*self.home.load(Ordering::Relaxed) }
    }

    /// Does a task of this runtime live in the slot? For those who do not know whether anybody does.
    pub(super) fn is_of(slot: NonNull<Task>, shared: &Shared) -> bool {
        // SAFETY: the memory of a slot stays, and so does this word's: zeros are the home of nobody. The rest of the slot may
        // just be given back or written, and is not referred to.
        let home = unsafe { &(*slot.as_ptr()).home };
        std::ptr::eq(home.load(Ordering::Relaxed), shared)
    }

    /// Where whoever lives in the slot stands. Likewise.
    pub(super) fn state_of<'a>(slot: NonNull<Task>) -> &'a State {
        Recycled::state_of(Task::recycled(slot))
    }

    /// It has a turn on this domain.
    #[inline]
    pub(super) fn note_domain(&self, domain: &Domain) {
        domain.running_task(self.site());
        let before = self.domain.replace(domain.index);
        if before != domain.index && before != usize::MAX {
            domain.counts.tally.migrations.add(1);
        }
    }

    /// What it waits for.
    ///
    /// # Safety
    ///
    /// It has been claimed.
    pub(super) unsafe fn describe(&self, waits: &mut Description) {
        if let Some(parked) = self.recycled.parked() {
            // SAFETY: it is parked and claimed: its future has what it waits for, and only we have the future.
            unsafe { parked.describe(waits) };
        }
    }
}

/// Deals with a panic that nobody has asked for.
#[cold]
pub(super) fn unclaimed(
    panic: Box<dyn Any + Send>,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    // What it was raised with may have a destructor that waits.
    let _masked = parker::masked();
    match scope {
        Some(scope) => {
            // SAFETY: neither a scoped task nor its handle outlives the scope.
            unsafe { scope.as_ref() }.note_panic();
            forget_panic(panic);
        }
        None => report::unclaimed(describe(site), site, panic),
    }
}

/// For messages: what it is, and where it was spawned.
pub(super) fn describe(site: &Location<'_>) -> String {
    format!("a task (spawned at {site})")
}
