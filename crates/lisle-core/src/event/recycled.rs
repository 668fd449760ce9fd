//! Tasks whose memory never goes, so that a wake needs no reference to be counted.
//!
//! A [`Waker`](StdWaker) usually owns a share of its task, and to clone it, as every future does that waits, is to count. The
//! memory of a *recycled* task is used again when the task has ended, for another of the same kind, and for nothing else. It
//! may be emptied meanwhile, so that it reads as zeros, but stays where it is. So its waker is a mere address. A wake that
//! comes too late wakes whoever lives there by then, for nothing, which every future has to stand anyway; or nobody.
//!
//! An event's future that lies within the memory of the task that polls it (it has been awaited, not put into a box) can do
//! without a waker, too: it is polled by nobody else, and does not outlive the task. It waits *directly*: whoever
//! commits its event counts an arrival at the task, in the same instruction that wakes it, and touches nothing of the
//! future. One future at a time can do so; if a task waits for several at once, the others use its waker. And only while the
//! task itself runs here: a task that waits in place, in a scope, may lend its memory, and its waker, to others that poll a
//! future there.

#[cfg(all(test, lisle_loom))]
mod loom_tests;
mod state;

#[doc(hidden)]
pub use state::{Arrivals, State};

use super::record::Waker;
use super::tick;
use super::waits::ParkedEvent;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::cell::Cell;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker as StdWaker};

/// The first field of a recycled task, or one of the first.
///
/// All but `state` belongs to who owns the task, as `state` says.
#[repr(C)]
pub struct Recycled {
    state: State,
    /// Queues the task, which was parked, and which the caller owns.
    ready: unsafe fn(NonNull<Recycled>),
    /// How many bytes of memory the task has, from here on.
    size: usize,
    /// The address of the future that waits directly; 0 if none does. Taken by who runs the task, given back by who
    /// polls or drops that future.
    direct: AtomicUsize,
    /// What the task waits for, if that lies within its own memory.
    parked: Cell<Option<ParkedEvent>>,
    /// That is not known any more: the future was done where the task does not run.
    vague: AtomicBool,
    /// When its turn began, see `tick.rs`.
    began: Cell<u32>,
    /// It is to go on as a thread that is scheduled by itself, once it has come out of its poll.
    leaving: Cell<bool>,
}

// SAFETY (of the functions below): a waker of this table is made by `waker` only, of a recycled, whose memory stays.
static TABLE: RawWakerVTable =
    RawWakerVTable::new(|recycled| RawWaker::new(recycled, &TABLE), wake, wake, |_| {});

/// It is the address of a recycled, see `TABLE` and `Recycled::wait_directly`.
fn at(recycled: *const ()) -> NonNull<Recycled> {
    NonNull::new(recycled.cast_mut().cast()).expect("a recycled's address")
}

fn wake(recycled: *const ()) {
    let recycled = at(recycled);
    if Recycled::state_of(recycled).wake() {
        queue(recycled);
    }
}

/// Wakes a task for the event that it waits for directly.
fn arrive(recycled: *const ()) {
    let recycled = at(recycled);
    if Recycled::state_of(recycled).arrive() {
        queue(recycled);
    }
}

fn queue(recycled: NonNull<Recycled>) {
    // SAFETY: it was parked, and its waker owns it.
    unsafe { (recycled.as_ref().ready)(recycled) };
}

impl Recycled {
    /// Makes memory a place for recycled tasks, of so many bytes from here on, in which none lives now.
    ///
    /// # Safety
    ///
    /// It is the caller's, and is never used for anything but recycled. It reads as zeros, or a recycled has lived there, or
    /// both; and whenever nobody lives there it may be made to read as zeros. Late wakes may look at its state meanwhile, which
    /// is not written. `ready` may be called whenever somebody has become the owner of the task by waking it.
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

    /// A place of which a model knows that it stays.
    ///
    /// # Safety
    ///
    /// It stays where it comes to lie for as long as anybody may wake who lives there; and `ready` may be called as for
    /// [`make_vacant`](Recycled::make_vacant).
    #[cfg(all(test, lisle_loom))]
    pub(super) unsafe fn new(ready: unsafe fn(NonNull<Recycled>), size: usize) -> Self {
        Recycled {
            state: State::vacant(),
            ready,
            size,
            direct: AtomicUsize::new(0),
            parked: Cell::new(None),
            vague: AtomicBool::new(false),
            began: Cell::new(0),
            leaving: Cell::new(false),
        }
    }

    /// Where whoever lives at `recycled` stands, if anybody does.
    #[inline(always)]
    pub fn state_of<'a>(recycled: NonNull<Recycled>) -> &'a State {
        // SAFETY: the memory of a recycled stays, and zeros are the state of a vacant place. The rest of it may just be
        // emptied or written, and is not referred to.
        unsafe { &(*recycled.as_ptr()).state }
    }

    #[inline(always)]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A waker for the task that lives at `recycled`. To be forgotten or dropped, it does not matter.
    #[inline(always)]
    pub fn waker(recycled: NonNull<Recycled>) -> StdWaker {
        // SAFETY: the functions of the table ask for no more than the address, which is good for ever.
        unsafe { StdWaker::from_raw(RawWaker::new(recycled.as_ptr().cast(), &TABLE)) }
    }

    /// The recycled that `waker` wakes, if it wakes one.
    #[inline(always)]
    pub fn of(waker: &StdWaker) -> Option<NonNull<Recycled>> {
        if std::ptr::eq(waker.vtable(), &TABLE) { NonNull::new(waker.data().cast_mut().cast()) } else { None }
    }

    /// Does the task own what lies at this address?
    #[inline(always)]
    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(std::ptr::from_ref(self).addr()) < self.size
    }

    /// Has the future at this address, which the task polls, wait directly, if it lies in the task and no other does:
    /// the task that wakes it, and the arrivals so far.
    #[inline(always)]
    pub(super) fn wait_directly(recycled: NonNull<Recycled>, future: usize) -> Option<(Waker, Arrivals)> {
        if !Recycled::is_running(recycled.as_ptr()) {
            return None;
        }
        // SAFETY: it lives, as it runs here.
        let this = unsafe { recycled.as_ref() };
        if this.direct.load(Ordering::Relaxed) != 0 || !this.contains(future) {
            return None;
        }
        this.direct.store(future, Ordering::Relaxed);
        // SAFETY: its memory stays, so this may be called at any time, from any thread.
        Some((unsafe { Waker::new(recycled.as_ptr().cast(), arrive) }, this.state.arrivals()))
    }

    /// The future that waited directly does so no more.
    #[inline(always)]
    pub(super) fn wait_no_more(&self) {
        if self.runs_here() {
            self.parked.set(None);
        } else {
            self.vague.store(true, Ordering::Relaxed);
        }
        self.direct.store(0, Ordering::Relaxed);
    }

    /// Is it the innermost task that runs on this stack? Then what belongs to its owner is the caller's.
    #[inline(always)]
    fn runs_here(&self) -> bool {
        Recycled::is_running(self)
    }

    #[inline(always)]
    fn is_running(recycled: *const Recycled) -> bool {
        #[cfg(not(lisle_loom))]
        return std::ptr::eq(super::parker::top_task().get(), recycled);
        #[cfg(lisle_loom)]
        !recycled.is_null()
    }

    /// Notes what the task waits for, if that lies in the task itself: then it stays as long as the task waits, and
    /// nobody else has it. Called within a poll of the task, for the future that waits directly.
    #[inline(always)]
    pub(super) fn note(&self, parked: ParkedEvent) {
        self.parked.set(Some(parked));
    }

    /// A task begins to live here.
    #[inline(always)]
    pub fn move_in(&self) {
        self.leaving.set(false);
    }

    /// A turn of the task begins.
    #[inline(always)]
    pub fn begin_turn(&self) {
        self.began.set(tick::now());
        if self.vague.load(Ordering::Relaxed) {
            self.vague.store(false, Ordering::Relaxed);
            self.parked.set(None);
        }
    }

    /// When its turn began.
    #[inline(always)]
    pub fn began(&self) -> u32 {
        self.began.get()
    }

    /// The task is to leave the stack that it runs on, once it has come out of its poll.
    #[inline]
    pub fn leave(&self) {
        self.leaving.set(true);
    }

    /// Is it to leave? Asked once.
    #[inline]
    pub fn is_leaving(&self) -> bool {
        self.leaving.take()
    }

    /// Has the task's turn lasted for so long that it has to leave? Then it is to come out of its poll, having had
    /// itself woken. Called within the poll.
    #[inline(always)]
    pub(super) fn overstays(&self) -> bool {
        let overstays = self.runs_here() && self.began.get() != tick::now();
        if overstays {
            self.leave();
        }
        overstays
    }

    /// What the task waits for, as far as it is known. For who has claimed it.
    #[inline]
    pub fn parked(&self) -> Option<ParkedEvent> {
        // What others have marked happens before the task goes on, and so before it is claimed.
        if self.vague.load(Ordering::Relaxed) { None } else { self.parked.get() }
    }
}
