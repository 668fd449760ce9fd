//! Tasks whose memory never goes, so that a wake needs no reference to be counted.
//!
//! A [`Waker`] usually owns a share of its task, and to clone it, as every future does that waits, is to count. The
//! memory of a *resident* task is used again when the task has ended, for another of the same kind, but is never given
//! back. So its waker is a mere address. A wake that comes too late wakes whoever lives there by then, for nothing,
//! which every future has to stand anyway.

use super::tick;
use super::waits::Parked;
use std::cell::Cell;
use std::ptr::NonNull;
// Not the shim's: a resident is made at compile time, and no protocol rests on these.
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

/// The first field of a resident task.
#[repr(C)]
pub(crate) struct Resident {
    wake: unsafe fn(NonNull<Resident>),
    /// What the task waits for, if the event that it waits for lies within its own memory. It belongs to who runs
    /// the task, or has claimed it.
    parked: Cell<Option<Parked>>,
    /// How many bytes of memory the task has, from here on.
    size: usize,
    /// When its turn began, see `tick.rs`. Atomic, as others may poll futures with its waker.
    began: AtomicU32,
    /// What has been found out about it in this turn.
    marks: AtomicU8,
}

/// It is to go on as a thread that is scheduled by itself, once it has come out of its poll.
const LEAVING: u8 = 1;
/// What it waits for is not known: somebody to whom it has lent a part of its memory has dropped an event there.
const VAGUE: u8 = 2;

// SAFETY (of the functions below): a waker of this table is made by `waker` only, of a resident, whose memory stays.
static TABLE: RawWakerVTable = RawWakerVTable::new(
    |resident| RawWaker::new(resident, &TABLE),
    wake,
    wake,
    |_| {},
);

fn wake(resident: *const ()) {
    let resident = NonNull::new(resident.cast_mut().cast::<Resident>()).expect("a resident's address");
    // SAFETY: see `TABLE`.
    unsafe { Resident::wake(resident) };
}

impl Resident {
    /// # Safety
    ///
    /// `wake` may be called with the address of this resident at any time, from any thread, for ever.
    pub(crate) const unsafe fn new(wake: unsafe fn(NonNull<Resident>), size: usize) -> Self {
        Resident { wake, parked: Cell::new(None), size, began: AtomicU32::new(0), marks: AtomicU8::new(0) }
    }

    /// A waker for the task that lives at `resident`. To be forgotten or dropped, it does not matter.
    pub(crate) fn waker(resident: NonNull<Resident>) -> Waker {
        // SAFETY: the functions of the table ask for no more than the address, which is good for ever.
        unsafe { Waker::from_raw(RawWaker::new(resident.as_ptr().cast(), &TABLE)) }
    }

    /// The resident that `waker` wakes, if it wakes one.
    #[inline]
    pub(crate) fn of(waker: &Waker) -> Option<NonNull<Resident>> {
        if std::ptr::eq(waker.vtable(), &TABLE) { NonNull::new(waker.data().cast_mut().cast()) } else { None }
    }

    /// Wakes the task that lives there.
    ///
    /// # Safety
    ///
    /// It is the address of a resident.
    #[inline]
    pub(super) unsafe fn wake(resident: NonNull<Resident>) {
        // SAFETY: its memory stays.
        let wake = unsafe { (*resident.as_ptr()).wake };
        // SAFETY: by the promise given to `new`.
        unsafe { wake(resident) };
    }

    /// Does the task own what lies at this address?
    fn contains(&self, address: usize) -> bool {
        let start = std::ptr::from_ref(self).addr();
        (start..start + self.size).contains(&address)
    }

    /// Notes what the task waits for, if that lies in the task itself, and the task is what runs here: then it stays as
    /// long as the task waits, and nobody else has it. True: noted, and to be [forgotten](Resident::forget_event).
    #[inline]
    pub(super) fn note(&self, parked: Parked) -> bool {
        let is_own = self.contains(parked.event_address()) && self.runs_here();
        if is_own {
            self.parked.set(Some(parked));
        }
        is_own
    }

    /// Is it the innermost task that runs on this stack?
    fn runs_here(&self) -> bool {
        #[cfg(not(lisle_loom))]
        return super::parker::with_bearing(|bearing| std::ptr::eq(bearing.parasite.get(), self));
        #[cfg(lisle_loom)]
        false
    }

    /// The task is polled again: what it waited for may go. Called by who runs it.
    #[inline(always)]
    pub(crate) fn begin_turn(&self) {
        self.forget();
        self.began.store(tick::now(), Ordering::Relaxed);
        self.marks.store(0, Ordering::Relaxed);
    }

    /// When its turn began.
    #[inline(always)]
    pub(crate) fn began(&self) -> u32 {
        self.began.load(Ordering::Relaxed)
    }

    /// The task is to leave the stack that it runs on, once it has come out of its poll.
    pub(crate) fn leave(&self) {
        self.marks.fetch_or(LEAVING, Ordering::Relaxed);
    }

    /// Is it to leave?
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        self.marks.load(Ordering::Relaxed) & LEAVING != 0
    }

    /// Has the task's turn lasted for so long that it has to leave? Then it is to come out of its poll, having had
    /// itself woken. Called within the poll.
    #[inline]
    pub(super) fn overstays(&self) -> bool {
        let overstays = self.began() != tick::now();
        if overstays {
            self.leave();
        }
        overstays
    }

    /// Nothing is known of what the task waits for.
    #[inline]
    pub(crate) fn forget(&self) {
        self.parked.set(None);
    }

    /// The event at this address is done, or goes, which [was noted](Resident::note).
    ///
    /// An event within a task's own memory goes only while that task runs. Most often it is the task that has it go;
    /// but it may have lent that memory to others, whom it waits for in place.
    #[inline]
    pub(super) fn forget_event(&self, address: usize) {
        if !self.runs_here() {
            self.marks.fetch_or(VAGUE, Ordering::Relaxed);
        } else if self.parked.get().is_some_and(|parked| parked.event_address() == address) {
            self.forget();
        }
    }

    /// What the task waits for, as far as it is known. For who has claimed it.
    pub(crate) fn parked(&self) -> Option<Parked> {
        // What others have marked happens before the task goes on, and so before it is claimed.
        if self.marks.load(Ordering::Relaxed) & VAGUE == 0 { self.parked.get() } else { None }
    }
}
