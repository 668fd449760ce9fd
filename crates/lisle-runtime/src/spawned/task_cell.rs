//! A task's cell: the head of its slot. `task_body.rs` has the part after the head,
//! `sched/tasks/life.rs` the life of a task.
//!
//! In its first turn a task's head is little more than the place of its future, which `task/spawn.rs`
//! polls as a part of the spawner. Only when the task waits does it become a thread that others know:
//! it is *reified*. From then on everything in it belongs to its owner, in the sense of
//! `event/performer/recycled/state.rs`. The handle may look at `finished`, which has a lock.

use super::fiber_cell::Fiber;
use super::head::Head;
use super::locals::{Owner, contained};
use super::runnable::Kind;
use super::task_body::Table;
use crate::event::recycled::{Recycled, TaskWord};
use crate::event::{Description, Label};
use crate::shim::atomic::{AtomicPtr, Ordering};
use std::cell::Cell;
use std::mem::offset_of;
use std::ops::Deref;
use std::panic::Location;
use std::ptr::NonNull;

/// The head of a slot.
#[repr(C)]
pub(crate) struct Task {
    head: Head,
    pub(crate) recycled: Recycled,
    /// `true` once the task is scheduled by itself.
    pub(crate) inflated: Cell<bool>,
    /// How many computations were suspended in the task and wait; at the most one tells that more do.
    kept: Cell<u16>,
    /// How many of the next tasks that this one spawns do not begin on its stack.
    pub(crate) penalty: Cell<u32>,
    /// The number that distinguishes the task from others, see `handled::Home`; 0 until it is
    /// needed. A task that ends without having waited leaves it to the next task in its slot,
    /// unless it leaves a suspended computation.
    pub(crate) number: Cell<u64>,
    /// The domain of the last turn.
    pub(crate) domain: Cell<usize>,
    pub(crate) table: Cell<Option<&'static Table>>,
    /// The runtime of the task, which the scheduler sets when the task is reified. The runtime does
    /// not end before the task.
    pub(crate) home: AtomicPtr<()>,
}

impl Deref for Task {
    type Target = Head;

    #[inline(always)]
    fn deref(&self) -> &Head {
        &self.head
    }
}

impl Task {
    /// Returns the task that runs on the stack of `fiber`, if that is a domain's runner.
    pub(crate) fn borne_by(fiber: &Fiber) -> Option<&Task> {
        Task::on_top_of(fiber).filter(|_| fiber.is_runner())
    }

    /// Returns the innermost task that runs on the stack of `fiber`, if there is one.
    pub(crate) fn on_top_of(fiber: &Fiber) -> Option<&Task> {
        let top = NonNull::new(fiber.parker.task.get().cast_mut())?;
        // SAFETY: a task that runs on the stack of a fiber is alive.
        Some(unsafe { Task::of(top).as_ref() })
    }

    /// Makes memory the head of a vacant slot of `size` bytes.
    ///
    /// # Safety
    ///
    /// `ready` is as `Recycled::make_vacant` wants it. The memory is of zeros, or was a vacant
    /// slot, or parts of it are of either kind. It is never used for anything but a slot of this
    /// size, and it is the caller's. Meanwhile late wakes, and code that looks at all slots, may
    /// read its state and its home.
    pub(crate) unsafe fn make_vacant(slot: *mut Task, size: usize, ready: unsafe fn(NonNull<Recycled>)) {
        let size = size - offset_of!(Task, recycled);
        // SAFETY: by the caller's promise. The two words that others may read already have the
        // values of a vacant slot and are not written. Nothing in the rest needs to be dropped.
        unsafe {
            (&raw mut (*slot).head).write(Head::new(Kind::Task, None, Location::caller()));
            // By the same promise.
            Recycled::make_vacant(&raw mut (*slot).recycled, ready, size);
            (&raw mut (*slot).inflated).write(Cell::new(false));
            (&raw mut (*slot).kept).write(Cell::new(0));
            (&raw mut (*slot).penalty).write(Cell::new(0));
            (&raw mut (*slot).number).write(Cell::new(0));
            (&raw mut (*slot).domain).write(Cell::new(usize::MAX));
            (&raw mut (*slot).table).write(Cell::new(None));
        }
    }

    /// Returns the task whose `recycled` this is.
    pub(crate) fn of(recycled: NonNull<Recycled>) -> NonNull<Task> {
        // SAFETY: every `Recycled` is in a slot.
        unsafe { recycled.byte_sub(offset_of!(Task, recycled)) }.cast()
    }

    #[inline(always)]
    pub(crate) fn recycled(task: NonNull<Task>) -> NonNull<Recycled> {
        // SAFETY: the field is within the slot.
        unsafe { task.byte_add(offset_of!(Task, recycled)) }.cast()
    }

    /// Returns the task's number as a performer, see `event/telling/waits.rs`.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(&self.recycled).addr()
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> &TaskWord {
        self.recycled.state()
    }

    pub(crate) fn label(&self) -> Label {
        Label::anywhere("task").made_at(self.site())
    }

    /// Drops the values of the task's locals, or leaks them if a computation is left that may refer
    /// to them. The computation does not go on in the next task of the slot.
    #[inline]
    pub(crate) fn clear_locals(&self) {
        self.locals.clear(self, &|panic| contained("a task-local", panic));
        if self.is_referred_to() {
            self.number.set(0);
            self.kept.set(0);
        }
    }

    /// Counts a computation that has been suspended in the task, which runs here.
    pub(crate) fn keeps_one_more(&self) {
        self.kept.update(|kept| kept.saturating_add(1));
    }

    /// Counts one of them that goes on, or has ended.
    pub(crate) fn keeps_one_less(&self) {
        self.kept.update(|kept| if kept == u16::MAX { kept } else { kept.saturating_sub(1) });
    }

    pub(crate) fn table(&self) -> &'static Table {
        self.table.get().expect("a task has a future")
    }

    /// Returns `true` if the slot holds a task of this runtime. The caller need not know whether
    /// the slot is vacant.
    pub(crate) fn is_of(slot: NonNull<Task>, runtime: *const ()) -> bool {
        // SAFETY: the memory of a slot stays, and so does this word, where zeros are no runtime's
        // address. The rest of the slot may be given back or written at the same time, and is not
        // referred to.
        let home = unsafe { &(*slot.as_ptr()).home };
        std::ptr::eq(home.load(Ordering::Relaxed), runtime)
    }

    /// Returns the state of the slot, which may be vacant.
    pub(crate) fn state_of<'a>(slot: NonNull<Task>) -> &'a TaskWord {
        // SAFETY: slots are prepared, or are of zeros.
        unsafe { Recycled::state_of(Task::recycled(slot)) }
    }

    /// Describes the wait of the task.
    ///
    /// # Safety
    ///
    /// The caller has claimed the task.
    pub(crate) unsafe fn describe(&self, waits: &mut Description) {
        if let Some(parked) = self.recycled.parked() {
            // SAFETY: the task is parked and claimed. Its future owns the awaited event, and only
            // the caller has the future.
            unsafe { parked.describe(waits) };
        }
    }
}

impl Owner for Task {
    fn describe(&self) -> String {
        describe(self.site())
    }

    fn home(&self) -> &Cell<u64> {
        &self.number
    }

    #[inline(always)]
    fn is_referred_to(&self) -> bool {
        self.kept.get() != 0
    }
}

/// Returns `a task`, and where it was spawned, for messages.
pub(crate) fn describe(site: &Location<'_>) -> String {
    format!("a task (spawned at {site})")
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::channel::Receiver;
    use crate::spawned::cell::Block;

    /// As for fibers: a task that has a channel and a reference, and waits for a message, is to fit
    /// into seven steps.
    #[test]
    fn a_task_that_waits_for_a_message_takes_seven_steps() {
        fn room<F: Future>(_: fn(Receiver<()>, Box<()>) -> F) -> usize {
            Block::<Task, F, ()>::LAYOUT.size()
        }
        let waits = |receiver: Receiver<()>, kept: Box<()>| async move {
            assert!(receiver.recv_evt().await.is_err());
            drop(kept);
        };
        assert_eq!(room(waits).div_ceil(64), 7);
        assert_eq!(size_of::<Task>(), 192);
    }
}
