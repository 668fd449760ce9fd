//! Tasks whose memory is never freed; then a wake needs no reference count.
//!
//! A [`Waker`] usually owns a share of its task, and cloning it, as every waiting future
//! does, means counting. The memory of a *recycled* task is used again after the task has ended,
//! for another task of the same kind and for nothing else. Its pages may be released meanwhile and
//! then read as zeros, but the address stays valid. Therefore its waker is a mere address. A wake
//! that comes too late wakes the task that lives there by then, which is a spurious wake that every
//! future must tolerate anyway, or it wakes none.
//!
//! An event's future that lies within the memory of the task that polls it (it is awaited, not
//! boxed) needs no waker either: no other task polls it, and it does not outlive the task. It waits
//! *directly*: the committer of its event counts an arrival at the task, in the same instruction
//! that wakes the task, and does not touch the future. Only one future at a time can wait directly;
//! if a task waits for several at once, the others use its waker. Only a future of the innermost
//! task that runs here can do so: a task that waits in place, in a scope, may lend its memory and
//! its waker to others that poll a future there.

#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
mod state;

#[doc(hidden)]
pub use state::{Arrivals, TaskWord};

use super::tick;
use crate::event::telling::parked::ParkedEvent;
use crate::event::waker::PerformerWaker;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::cell::Cell;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// The first field of a recycled task, or one of the first.
///
/// All fields but `state` belong to the owner of the task, as defined in `state`.
#[repr(C)]
pub struct Recycled {
    state: TaskWord,
    /// Queues the task, which was parked and which the caller owns.
    ready: unsafe fn(NonNull<Recycled>),
    /// The size of the task's memory in bytes, from this address on.
    size: usize,
    /// The address of the future that waits directly; 0 if there is none. Set by the code that runs
    /// the task, reset by the code that polls or drops that future.
    direct: AtomicUsize,
    /// The description of the task's wait, if it lies within the task's own memory.
    parked: Cell<Option<ParkedEvent>>,
    /// The tick at which its turn began, see `tick.rs`.
    began: Cell<u32>,
    /// `parked` is not valid any more: the future ended its wait where the task does not run.
    vague: AtomicBool,
    /// It is to continue as a thread that is scheduled by itself, once its poll has returned.
    leaving: Cell<bool>,
}

// SAFETY (of the functions below): only `waker` makes a waker of this table, for recycled memory,
// which is never freed.
static TABLE: RawWakerVTable =
    RawWakerVTable::new(|recycled| RawWaker::new(recycled, &TABLE), wake, wake, |_| {});

/// Returns the recycled task at this address, see `TABLE` and `Recycled::wait_directly`.
fn at(recycled: *const ()) -> NonNull<Recycled> {
    NonNull::new(recycled.cast_mut().cast()).expect("the address of recycled memory")
}

fn wake(recycled: *const ()) {
    let recycled = at(recycled);
    // SAFETY: wakers are made for such places.
    if unsafe { Recycled::state_of(recycled) }.wake() {
        queue(recycled);
    }
}

/// Wakes a task for the event that it waits for directly.
fn arrive(recycled: *const ()) {
    let recycled = at(recycled);
    // SAFETY: wakers are made for such places.
    if unsafe { Recycled::state_of(recycled) }.arrive() {
        queue(recycled);
    }
}

fn queue(recycled: NonNull<Recycled>) {
    // SAFETY: the task was parked, and the caller, which woke it, owns it.
    unsafe { (recycled.as_ref().ready)(recycled) };
}

thread_local! {
    /// The innermost task that runs on the thread's own stack, in no fiber.
    static TOP_OF_THREAD: TopTask = const { TopTask::none() };
}

/// The innermost task that runs on a stack; null if the stack's own code runs.
#[derive(Debug)]
pub struct TopTask(Cell<*const Recycled>);

impl TopTask {
    pub(in crate::event) const fn none() -> Self {
        TopTask(Cell::new(std::ptr::null()))
    }

    #[inline(always)]
    pub fn get(&self) -> *const Recycled {
        self.0.get()
    }

    /// Notes that the code of `task` runs on the stack from now on, or again the stack's own code
    /// if that is null. Returns the task before.
    ///
    /// # Safety
    ///
    /// This code runs on that stack, and the task runs until the next call.
    #[inline(always)]
    pub unsafe fn replace(&self, task: *const Recycled) -> *const Recycled {
        self.0.replace(task)
    }
}

impl Recycled {
    /// Returns the place of the innermost task that runs on the thread's own stack. To be used only
    /// by code on that stack.
    #[inline(always)]
    pub fn top_of_thread<'a>() -> &'a TopTask {
        // SAFETY: the cell has no destructor and stays as long as the thread.
        unsafe { &*TOP_OF_THREAD.with(std::ptr::from_ref) }
    }

    /// Prepares `size` bytes of memory from here on as a place for recycled tasks. No task lives
    /// there now.
    ///
    /// # Safety
    ///
    /// The memory is the caller's, and is never used for anything but recycled tasks. It reads as
    /// zeros, or a recycled task has lived there, or both; whenever no task lives there, the caller
    /// may make it read as zeros. Late wakes may use its state meanwhile, which this function does
    /// not write. It must be sound to call `ready` whenever the caller of it has become the owner
    /// of the task by waking it.
    pub unsafe fn make_vacant(recycled: *mut Recycled, ready: unsafe fn(NonNull<Recycled>), size: usize) {
        // SAFETY: by the caller's promise; nothing there would have to be dropped.
        unsafe {
            (&raw mut (*recycled).ready).write(ready);
            (&raw mut (*recycled).size).write(size);
            (&raw mut (*recycled).direct).write(AtomicUsize::new(0));
            (&raw mut (*recycled).parked).write(Cell::new(None));
            (&raw mut (*recycled).vague).write(AtomicBool::new(false));
            (&raw mut (*recycled).began).write(Cell::new(0));
            (&raw mut (*recycled).leaving).write(Cell::new(false));
        }
    }

    /// Creates a place for a model, which ensures that the place stays.
    ///
    /// # Safety
    ///
    /// The place stays at its final address for as long as a wake of a task there may come. It must
    /// be sound to call `ready` as for [`make_vacant`](Recycled::make_vacant).
    #[cfg(all(test, any(lisle_loom, miri)))]
    pub(in crate::event) unsafe fn new(ready: unsafe fn(NonNull<Recycled>), size: usize) -> Self {
        Recycled {
            state: TaskWord::vacant(),
            ready,
            size,
            direct: AtomicUsize::new(0),
            parked: Cell::new(None),
            vague: AtomicBool::new(false),
            began: Cell::new(0),
            leaving: Cell::new(false),
        }
    }

    /// Returns the state of the task that lives at `recycled`, or of the vacant place.
    ///
    /// # Safety
    ///
    /// The place has been prepared for recycled tasks, or holds zeros.
    #[inline(always)]
    pub unsafe fn state_of<'a>(recycled: NonNull<Recycled>) -> &'a TaskWord {
        // SAFETY: recycled memory is never freed, and zeros are the state of a vacant place. The
        // other fields may be emptied or written at this moment, and no reference to them is made.
        unsafe { &(*recycled.as_ptr()).state }
    }

    #[inline(always)]
    pub fn state(&self) -> &TaskWord {
        &self.state
    }

    /// Returns a waker for the task that lives at `recycled`. It may be forgotten or dropped.
    ///
    /// # Safety
    ///
    /// The place has been prepared for recycled tasks.
    #[inline(always)]
    pub unsafe fn waker(recycled: NonNull<Recycled>) -> Waker {
        // SAFETY: the functions of the table need only the address, which is valid forever.
        unsafe { Waker::from_raw(RawWaker::new(recycled.as_ptr().cast(), &TABLE)) }
    }

    /// Returns the recycled task that `waker` wakes, if it wakes one.
    #[inline(always)]
    pub fn of(waker: &Waker) -> Option<NonNull<Recycled>> {
        if std::ptr::eq(waker.vtable(), &TABLE) { NonNull::new(waker.data().cast_mut().cast()) } else { None }
    }

    /// Returns `true` if the address lies in the task's memory.
    #[inline(always)]
    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(std::ptr::from_ref(self).addr()) < self.size
    }

    /// Makes the future at this address, which the task polls, wait directly, if it lies in the
    /// task and no other future waits directly. Returns the waker of the task, and its arrivals so
    /// far.
    #[inline(always)]
    pub(in crate::event) fn wait_directly(
        recycled: NonNull<Recycled>,
        future: usize,
    ) -> Option<(PerformerWaker, Arrivals)> {
        if !Recycled::is_running(recycled.as_ptr()) {
            return None;
        }
        // SAFETY: the task is alive, since it runs here.
        let this = unsafe { recycled.as_ref() };
        if this.direct.load(Ordering::Relaxed) != 0 || !this.contains(future) {
            return None;
        }
        this.direct.store(future, Ordering::Relaxed);
        // SAFETY: its memory is never freed, so `arrive` may be called at any time, from any
        // thread.
        Some((unsafe { PerformerWaker::new(recycled.as_ptr().cast(), arrive) }, this.state.arrivals()))
    }

    /// Ends the wait of the future that waited directly.
    #[inline(always)]
    pub(in crate::event) fn wait_no_more(&self) {
        if self.runs_here() {
            self.parked.set(None);
        } else {
            self.vague.store(true, Ordering::Relaxed);
        }
        self.direct.store(0, Ordering::Relaxed);
    }

    /// Returns `true` if it is the innermost task that runs on this stack. Then the caller is its
    /// owner and may use the owner's fields.
    #[inline(always)]
    fn runs_here(&self) -> bool {
        Recycled::is_running(self)
    }

    /// Returns `true` if that is the innermost task that runs on this stack.
    #[inline(always)]
    pub(crate) fn is_running(recycled: *const Recycled) -> bool {
        #[cfg(not(lisle_loom))]
        return std::ptr::eq(super::parker::top_task().get(), recycled);
        #[cfg(lisle_loom)]
        !recycled.is_null()
    }

    /// Stores the description of the task's wait, if it lies in the task itself: then it stays
    /// valid as long as the task waits, and no other thread uses it. Called within a poll of the
    /// task, for the future that waits directly.
    #[inline(always)]
    pub(in crate::event) fn note(&self, parked: ParkedEvent) {
        self.parked.set(Some(parked));
    }

    /// Called when a task begins to live here.
    #[inline(always)]
    pub fn move_in(&self) {
        self.leaving.set(false);
    }

    /// Called when a turn of the task begins.
    #[inline(always)]
    pub fn begin_turn(&self) {
        self.began.set(tick::now());
        if self.vague.load(Ordering::Relaxed) {
            self.vague.store(false, Ordering::Relaxed);
            self.parked.set(None);
        }
    }

    /// Makes its turn a long one.
    #[cold]
    pub(in crate::event) fn has_begun_earlier(&self) {
        self.began.set(tick::now().wrapping_sub(1));
    }

    /// Returns the tick at which its turn began.
    #[inline(always)]
    pub fn began(&self) -> u32 {
        self.began.get()
    }

    /// Tells the task to leave the stack that it runs on, once its poll has returned.
    #[inline]
    pub fn leave(&self) {
        self.leaving.set(true);
    }

    /// Returns `true` if the task is to leave, and resets that.
    #[inline]
    pub fn is_leaving(&self) -> bool {
        self.leaving.take()
    }

    /// Returns `true` if the task's turn has lasted so long that it must leave. Its future then
    /// wakes the task and returns from its poll. Called within the poll.
    #[inline(always)]
    pub(in crate::event) fn overstays(&self) -> bool {
        let overstays = self.runs_here() && self.began.get() != tick::now();
        if overstays {
            self.leave();
        }
        overstays
    }

    /// Returns the description of the task's wait, if it is known. The caller has claimed the task.
    #[inline]
    pub fn parked(&self) -> Option<ParkedEvent> {
        // A mark set by another thread happens before the task continues, and therefore before it
        // is claimed.
        if self.vague.load(Ordering::Relaxed) { None } else { self.parked.get() }
    }
}
