//! How a fiber waits: by switching from its stack back to its worker's.
//!
//! The switch is inlined into the code that waits. A return that was called on one side of a switch and
//! happens on the other is mispredicted, and costs as much as the switch itself several times over; with no
//! call between the user's loop and the switch there is none.

use super::context::Unparked;
use super::record::Waker;
use super::recycled::Recycled;
use super::waits::{Description, ParkedEvent};
use crate::panics;
use crate::seam;
use crate::shim::random::Random;
use crate::unwinding::{self, Catches};
use corosensei::Yielder;
use std::cell::Cell;

/// Why a fiber gave its worker back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspend {
    /// It waits to be woken.
    Parked,
    /// It wants to go on after the others.
    Yielded,
    /// It waits although it has been interrupted before, and is to be interrupted again a little later.
    Stubborn,
    /// It is its worker's own, and waits until that has something for it.
    Resting,
}

/// Where a fiber stands, as its own domain sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has not begun.
    New,
    Running,
    Parked,
    /// Parked, and not to be interrupted when its runtime shuts down: others borrow from it until it is woken, or it cannot be
    /// unwound from there.
    ParkedMasked,
    /// In one of its domain's queues.
    Queued,
    /// Its worker keeps it until it is needed.
    Resting,
}

/// The part of a fiber by which it waits and is woken. Its own domain's thread touches it, nobody else.
pub struct Parker {
    yielder: Cell<*const Yielder<(), Suspend>>,
    pub state: Cell<State>,
    /// It has been woken, and its park has not returned yet.
    pub woken: Cell<bool>,
    /// Its runtime wants it to end: it unwinds at its next interruptible park.
    pub interrupted: Cell<bool>,
    /// It has been told so once.
    unwound: Cell<bool>,
    /// How to wake it, from any thread.
    pub waker: Cell<Option<Waker>>,
    /// Its worker's generator, for fair choices.
    random: Cell<*const Random>,
    /// What it waits for; may be null. Of use only while its state says that it is parked.
    parked: Cell<*const ParkedEvent>,
    /// See [`top_task`].
    pub task: Cell<*const Recycled>,
    /// How many frames of the library are on its stack that catch a panic and raise it again.
    raising: Cell<u32>,
    /// How many calls go on in it that are to complete though its runtime ends.
    masked: Cell<u32>,
}

thread_local! {
    /// For code that runs in no fiber.
    static TASK: Cell<*const Recycled> = const { Cell::new(std::ptr::null()) };
}

/// Whose code runs on top of this stack: a task's, or, if null, the stack's own. For use by what runs on that stack, and no
/// longer.
#[inline(always)]
pub fn top_task<'a>() -> &'a Cell<*const Recycled> {
    match running() {
        Some(parker) => &parker.task,
        // SAFETY: the thread's own stays, without a destructor, as long as the thread does.
        None => unsafe { &*TASK.with(std::ptr::from_ref) },
    }
}

thread_local! {
    static RUNNING: Cell<*const Parker> = const { Cell::new(std::ptr::null()) };
}

/// The parker of the fiber that runs on this thread, if one does.
#[inline(always)]
pub fn running<'a>() -> Option<&'a Parker> {
    // SAFETY: a worker sets this when it switches to a fiber and clears it when the fiber switches back, so
    // whoever reads it is that fiber, and alive for as long as it uses the reference.
    unsafe { running_ptr().as_ref() }
}

/// As [`running`], as the pointer that was set; null for none.
#[inline(always)]
pub fn running_ptr() -> *const Parker {
    RUNNING.with(Cell::get)
}

/// Notes whose parker is the running one; null for none. For workers. The pointer may be used for all that the parker is a
/// part of, see [`running_ptr`].
#[inline(always)]
pub fn set_running(parker: *const Parker) {
    RUNNING.with(|running| running.set(parker));
}

impl Parker {
    pub fn new() -> Self {
        Parker {
            yielder: Cell::new(std::ptr::null()),
            state: Cell::new(State::New),
            woken: Cell::new(false),
            interrupted: Cell::new(false),
            unwound: Cell::new(false),
            waker: Cell::new(None),
            random: Cell::new(std::ptr::null()),
            parked: Cell::new(std::ptr::null()),
            task: Cell::new(std::ptr::null()),
            raising: Cell::new(0),
            masked: Cell::new(0),
        }
    }

    /// Notes the way back to the worker, and the worker's generator. Called when the fiber begins.
    #[inline]
    pub fn begin(&self, yielder: &Yielder<(), Suspend>, random: *const Random) {
        self.yielder.set(yielder);
        self.random.set(random);
    }

    #[inline(always)]
    pub(super) fn waker(&self) -> Waker {
        self.waker.get().expect("a fiber that has begun has its waker")
    }

    #[inline(always)]
    pub(crate) fn random(&self) -> u64 {
        // SAFETY: a worker stays while its fibers run.
        unsafe { &*self.random.get() }.next()
    }

    #[inline(always)]
    pub fn suspend(&self, suspend: Suspend) {
        // SAFETY: the running fiber has begun, and its yielder lives as long as its coroutine.
        unsafe { &*self.yielder.get() }.suspend(suspend);
    }

    /// Does it wait?
    #[inline]
    pub fn is_parked(&self) -> bool {
        matches!(self.state.get(), State::Parked | State::ParkedMasked)
    }

    /// What the fiber waits for, if it is parked. For its own domain's worker, between turns or in a turn of another.
    pub fn describe(&self) -> Description {
        let mut waits = Description::default();
        if !self.is_parked() {
            return waits;
        }
        // SAFETY: it belongs to the park that the state tells of, and stays until that returns.
        if let Some(parked) = unsafe { self.parked.get().as_ref() } {
            // SAFETY: it was made for that park, on this thread.
            let describe = || unsafe { parked.describe(&mut waits) };
            panics::told("an event that was to tell what a fiber waits for", describe);
        }
        waits
    }

    /// Waits for ever if the fiber, which is to end with its runtime, cannot be unwound from here.
    #[cold]
    pub fn stay_unless_unwound(&self) {
        if can_be_unwound() {
            return;
        }
        self.parked.set(std::ptr::null());
        loop {
            self.woken.set(false);
            self.state.set(State::ParkedMasked);
            self.suspend(Suspend::Parked);
        }
    }

    /// Waits to be woken, or, if `interruptible`, for the runtime to want the fiber to unwind. `parked` is what it
    /// waits for, for those who ask.
    ///
    /// Code that unwinds may wait, too: its destructors must complete. The thread then counts as panicking for
    /// the other fibers of the domain as well, until it goes on.
    #[inline(always)]
    pub fn park(&self, interruptible: bool, parked: Option<&ParkedEvent>) -> Unparked {
        if self.woken.take() {
            return Unparked::Woken;
        }
        self.parked.set(parked.map_or(std::ptr::null(), std::ptr::from_ref));
        if interruptible && self.interrupted.get() {
            return self.park_to_be_interrupted();
        }
        self.state.set(if interruptible { State::Parked } else { State::ParkedMasked });
        self.suspend(Suspend::Parked);
        if self.woken.take() {
            return Unparked::Woken;
        }
        // Resumed without a wake, it was resumed to be interrupted.
        self.park_to_be_interrupted()
    }

    /// The rest of a park that is to be interrupted: at once, if the fiber has not been told yet. One that has caught the
    /// unwinding gives its worker back all the same, now and then; and one that cannot be unwound from here waits.
    #[cold]
    #[inline(never)]
    fn park_to_be_interrupted(&self) -> Unparked {
        let suspend = if self.masked.get() > 0 || !can_be_unwound() {
            self.state.set(State::ParkedMasked);
            Suspend::Parked
        } else if self.unwound.replace(true) {
            self.state.set(State::Parked);
            Suspend::Stubborn
        } else {
            return Unparked::Interrupted;
        };
        self.suspend(suspend);
        if self.woken.take() { Unparked::Woken } else { Unparked::Interrupted }
    }
}

/// Returns `true` if a panic raised here would end where it is caught for good, and not the process.
pub(crate) fn can_be_unwound() -> bool {
    // Loops, joins and scopes catch a panic and raise it again, and so do those who run tasks.
    let is_raising = running().is_some_and(|parker| parker.raising.get() > 0)
        || seam::is_in_loop()
        || !top_task().get().is_null();
    unwinding::is_possible(if is_raising { Catches::Resume } else { Catches::End })
}

/// Returns `true` if the code that runs here does so because a panic unwinds its stack. `std::thread::panicking` tells of the
/// thread: it is also true if another fiber of the domain waits in a destructor.
#[inline]
pub fn is_unwinding() -> bool {
    std::thread::panicking() && (running().is_none() || !unwinding::is_possible(Catches::Resume))
}

/// Counted, until dropped.
pub struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    fn new(count: &'a Cell<u32>) -> Self {
        count.update(|count| count + 1);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.update(|count| count - 1);
    }
}

/// Notes, until what this gives is dropped, that the code which runs here is to catch a panic and to raise it again. It must not
/// be inlined into its caller, see `Catches::Resume`.
pub fn raising<'a>() -> Option<Counted<'a>> {
    running().map(|parker| Counted::new(&parker.raising))
}

/// Until what this gives is dropped, waits of the fiber that runs here are not given up for the end of its runtime: it runs
/// destructors that are to complete.
#[inline]
pub fn masked<'a>() -> Option<Counted<'a>> {
    running().map(|parker| Counted::new(&parker.masked))
}
