//! How a fiber waits: it switches from its stack back to its domain's stack.
//!
//! The switch is inlined into the code that waits. The processor predicts a return from the call
//! that it saw last. A function that is called before a switch and returns after it is therefore
//! mispredicted, which costs several times as much as the switch. With no call between the user's
//! loop and the switch there is no such return.

use super::limits::{Limits, Node, Surroundings};
use super::recycled::{Recycled, TopTask};
use crate::event::ends::{Ends, Unparked};
use crate::event::telling::parked::ParkedEvent;
use crate::event::telling::waits::Description;
use crate::event::waker::PerformerWaker;
use crate::panics;
use crate::seam;
use crate::segment::{Request, ResumerLink};
use crate::shim::random::Random;
use crate::unwinding::{self, Catches};
use std::cell::Cell;
use std::num::NonZero;
use std::ptr::NonNull;

/// The reason why a fiber gave its domain back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspend {
    /// It waits to be woken.
    Parked,
    /// It wants to continue after the others.
    Yielded,
    /// It waits although it has been interrupted before, and is to be interrupted again a little
    /// later.
    Stubborn,
    /// It is a runner, and waits until its domain has something to run on its stack.
    Resting,
}

impl Suspend {
    /// All reasons, in the order of their numbers.
    const ALL: [Suspend; 4] = [Suspend::Parked, Suspend::Yielded, Suspend::Stubborn, Suspend::Resting];

    #[inline(always)]
    fn request(self) -> Request {
        // No place, but a number that is not 0.
        Request(NonNull::dangling().with_addr(NonZero::<usize>::MIN.saturating_add(self as usize)))
    }

    /// Returns the reason that a fiber has passed to its domain.
    #[inline(always)]
    pub fn of(request: Request) -> Self {
        Suspend::ALL[(request.0.addr().get() - 1) & 3]
    }
}

/// The state of a fiber, as its own domain sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParkState {
    /// It has not begun.
    New,
    Running,
    Parked,
    /// Parked until it is woken: others borrow from it, or it stays for as long as its process lives.
    ParkedMasked,
    /// Parked, and not to be interrupted by its runtime, which shuts down: it must complete, or cannot
    /// be unwound from there. A limit within its mask or its destructor may end its wait.
    ParkedLimited,
    /// In one of its domain's queues.
    Queued,
    /// It is a runner that its domain keeps until it is needed.
    Resting,
}

/// The reasons, as bits, why a park may end although the fiber has not been woken.
mod disturbed {
    /// One of its limits has passed.
    pub(in crate::event) const PASSED: u8 = 1;
    /// Its runtime wants it to end: it unwinds at its next interruptible park.
    pub(in crate::event) const INTERRUPTED: u8 = 2;
    /// Its park has returned [`Unparked::Interrupted`] before. A fiber that waits again after that has
    /// caught the unwinding. This alone is no reason to look.
    pub(in crate::event) const BEFORE: u8 = 4;
}

/// The part of a fiber by which it waits and is woken. Only its own domain's thread uses it.
pub struct Parker {
    link: Cell<*const ResumerLink>,
    pub state: Cell<ParkState>,
    /// It has been woken, and its park has not returned yet.
    pub woken: Cell<bool>,
    /// Why an interruptible park is to look first whether it may wait: see [`disturbed`].
    disturbed: Cell<u8>,
    /// The points in time at which its waits end.
    limits: Limits,
    /// The handle that wakes it, from any thread.
    pub waker: Cell<Option<PerformerWaker>>,
    /// Its domain's random number generator, for fair choices.
    random: Cell<*const Random>,
    /// The description of its wait; may be null. Valid only while its state says that it is parked.
    parked: Cell<*const ParkedEvent>,
    /// See [`top_task`].
    pub task: TopTask,
    /// The number of the library's frames on its stack that catch a panic and raise it again.
    raising: Cell<u32>,
}

/// Returns the place of the innermost task that runs on this stack. To be used only by code on that
/// stack.
#[inline(always)]
pub fn top_task<'a>() -> &'a TopTask {
    match running() {
        Some(parker) => &parker.task,
        None => Recycled::top_of_thread(),
    }
}

thread_local! {
    static RUNNING: Cell<*const Parker> = const { Cell::new(std::ptr::null()) };
}

/// Returns the parker of the fiber that runs on this thread, if there is one. The caller must not
/// keep the reference beyond that fiber's end, nor hand it to another fiber or thread.
#[inline(always)]
pub fn running<'a>() -> Option<&'a Parker> {
    // SAFETY: a domain sets this when it switches to a fiber and clears it when the fiber switches
    // back. Therefore the code that reads it is that fiber, and the fiber is alive for as long as
    // it uses the reference.
    unsafe { running_ptr().as_ref() }
}

/// Returns the pointer that [`set_running`] was given; null for none. It may be used to reach the
/// whole fiber of which the parker is a field.
#[inline(always)]
pub fn running_ptr() -> *const Parker {
    RUNNING.with(Cell::get)
}

/// Sets the running parker; null for none. Only the scheduler calls this. The parker is a field of
/// a fiber that stays alive until the next call, and the pointer must be valid for all of that
/// fiber, since [`running_ptr`] is used to reach it.
#[inline(always)]
///
/// # Safety
///
/// Null, or the parker of a live fiber that this thread is about to run or runs, until the next
/// call.
pub unsafe fn set_running(parker: *const Parker) {
    RUNNING.with(|running| running.set(parker));
}

impl Parker {
    pub fn new() -> Self {
        Parker {
            link: Cell::new(std::ptr::null()),
            state: Cell::new(ParkState::New),
            woken: Cell::new(false),
            disturbed: Cell::new(0),
            limits: Limits::none(),
            waker: Cell::new(None),
            random: Cell::new(std::ptr::null()),
            parked: Cell::new(std::ptr::null()),
            task: TopTask::none(),
            raising: Cell::new(0),
        }
    }

    /// Stores the link to the resumer, and the domain's generator. Called when the fiber begins.
    ///
    /// # Safety
    ///
    /// Both stay for as long as the fiber, to whose segment the link belongs.
    #[inline]
    pub unsafe fn begin(&self, link: &ResumerLink, random: *const Random) {
        self.link.set(link);
        self.random.set(random);
    }

    #[inline(always)]
    pub(in crate::event) fn waker(&self) -> PerformerWaker {
        self.waker.get().expect("a fiber that has begun has its waker")
    }

    #[inline(always)]
    pub(crate) fn random(&self) -> u64 {
        // SAFETY: the generator of a domain stays while the domain's fibers run.
        unsafe { &*self.random.get() }.next()
    }

    /// Switches to the domain, and returns when the domain resumes the fiber. For
    /// [`Suspend::Parked`] and [`Suspend::Stubborn`] the caller has set `state` before; for the
    /// others the domain sets it.
    ///
    /// # Safety
    ///
    /// The fiber is the one that runs this code, within [`suspend`](crate::event::protocol::step::suspend) if the
    /// user's code may run in a step.
    #[inline(always)]
    pub unsafe fn suspend(&self, suspend: Suspend) {
        // SAFETY: a running fiber has begun, and its link lives as long as its segment. This runs
        // there.
        unsafe { (*self.link.get()).suspend(suspend.request()) };
    }

    /// Makes the fiber unwind at its next interruptible park, or lets it wait again.
    #[inline]
    pub fn set_interrupted(&self, interrupted: bool) {
        let others = self.disturbed.get() & !disturbed::INTERRUPTED;
        self.disturbed.set(if interrupted { others | disturbed::INTERRUPTED } else { others });
    }

    /// Returns `true` if the fiber is to unwind at its next interruptible park.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.is_disturbed(disturbed::INTERRUPTED)
    }

    #[inline(always)]
    fn is_disturbed(&self, reasons: u8) -> bool {
        self.disturbed.get() & reasons != 0
    }

    #[inline]
    pub(in crate::event) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes the fiber look whether it may wait, before it next does. Returns `true` if it is to be
    /// resumed for that.
    #[inline]
    pub(in crate::event) fn disturb(&self) -> bool {
        self.disturbed.update(|reasons| reasons | disturbed::PASSED);
        self.may_be_disturbed()
    }

    /// Returns `true` if the fiber waits, and limits may end its wait.
    #[inline]
    pub fn may_be_disturbed(&self) -> bool {
        matches!(self.state.get(), ParkState::Parked | ParkState::ParkedLimited)
    }

    /// Returns `true` if the fiber waits.
    #[inline]
    pub fn is_parked(&self) -> bool {
        matches!(self.state.get(), ParkState::Parked | ParkState::ParkedMasked | ParkState::ParkedLimited)
    }

    /// Returns the description of the fiber's wait, if it is parked. Called by its own domain's
    /// domain, between turns or in a turn of another fiber.
    pub fn describe(&self) -> Description {
        let mut waits = Description::default();
        if !self.is_parked() {
            return waits;
        }
        // SAFETY: the pointer belongs to the park that the state reports, and stays valid until
        // that park returns.
        if let Some(parked) = unsafe { self.parked.get().as_ref() } {
            // SAFETY: it was made for that park, on this thread.
            let describe = || unsafe { parked.describe(&mut waits) };
            panics::told("an event that was to tell what a fiber waits for", describe);
        }
        waits
    }

    /// Does nothing if the fiber can be unwound from here; otherwise never returns, and the fiber
    /// waits for as long as its process lives. For a fiber whose runtime ends, and that has
    /// published nothing.
    ///
    /// # Safety
    ///
    /// As for [`suspend`](Parker::suspend).
    #[cold]
    pub unsafe fn stay_unless_unwound(&self) {
        if can_be_unwound() {
            return;
        }
        self.parked.set(std::ptr::null());
        loop {
            self.woken.set(false);
            self.state.set(ParkState::ParkedMasked);
            // SAFETY: passed on to the caller.
            unsafe { self.suspend(Suspend::Parked) };
        }
    }

    /// Waits to be woken, or, unless it `ends` never, until the runtime wants the fiber to unwind or one of
    /// its limits has passed. Only the running fiber calls this, within
    /// [`suspend`](crate::event::protocol::step::suspend). Its waker is called at most once for each park,
    /// and once for a park that never ends. `parked` describes the wait, for the wait graph.
    ///
    /// Code that unwinds may wait, too, because its destructors must complete. Until it continues,
    /// the thread then counts as panicking for the other fibers of the domain as well.
    ///
    /// # Safety
    ///
    /// As for [`suspend`](Parker::suspend). `parked` stays until this returns.
    #[inline(always)]
    pub unsafe fn park(&self, ends: Ends, parked: Option<&ParkedEvent>) -> Unparked {
        if self.woken.take() {
            return Unparked::Woken;
        }
        self.parked.set(parked.map_or(std::ptr::null(), std::ptr::from_ref));
        if ends != Ends::Never && self.is_disturbed(disturbed::INTERRUPTED | disturbed::PASSED) {
            // SAFETY: passed on to the caller.
            return unsafe { self.park_disturbed(ends) };
        }
        self.state.set(if ends == Ends::Never { ParkState::ParkedMasked } else { ParkState::Parked });
        // SAFETY: passed on to the caller.
        unsafe { self.suspend(Suspend::Parked) };
        if self.woken.take() {
            return Unparked::Woken;
        }
        // It was resumed without a wake. A domain does that only to a fiber that is not
        // `ParkedMasked`, in order to interrupt it, or when a limit has passed.
        // SAFETY: passed on to the caller.
        unsafe { self.park_disturbed(ends) }
    }

    /// Parks, or goes on parking, where the runtime wants the fiber to unwind or a limit has passed.
    ///
    /// # Safety
    ///
    /// As for [`suspend`](Parker::suspend).
    #[cold]
    #[inline(never)]
    unsafe fn park_disturbed(&self, ends: Ends) -> Unparked {
        loop {
            if self.is_interrupted() {
                // SAFETY: passed on to the caller.
                return unsafe { self.park_to_be_interrupted(ends) };
            }
            if self.limits.end_a_wait(ends, &SURROUNDINGS) {
                return Unparked::Passed;
            }
            // The limits that have passed are not for the code that runs here.
            if !self.limits.any_has_passed() {
                self.disturbed.update(|reasons| reasons & !disturbed::PASSED);
            }
            self.state.set(ParkState::Parked);
            // SAFETY: passed on to the caller.
            unsafe { self.suspend(Suspend::Parked) };
            if self.woken.take() {
                return Unparked::Woken;
            }
        }
    }

    /// Ends a park that is to be interrupted. The first interruption returns at once. A fiber that
    /// has caught the unwinding still gives its domain back now and then. A fiber that must complete, or
    /// cannot be unwound from here, waits, unless a limit within its mask or its destructor ends the wait.
    ///
    /// # Safety
    ///
    /// As for [`suspend`](Parker::suspend).
    unsafe fn park_to_be_interrupted(&self, ends: Ends) -> Unparked {
        if self.limits.is_masked() || !can_be_unwound() {
            loop {
                if self.limits.end_a_wait(ends, &SURROUNDINGS) {
                    return Unparked::Passed;
                }
                self.state.set(ParkState::ParkedLimited);
                // SAFETY: passed on to the caller.
                unsafe { self.suspend(Suspend::Parked) };
                if self.woken.take() {
                    return Unparked::Woken;
                }
            }
        }
        if !self.is_disturbed(disturbed::BEFORE) {
            self.disturbed.update(|reasons| reasons | disturbed::BEFORE);
            return Unparked::Interrupted;
        }
        self.state.set(ParkState::Parked);
        // SAFETY: passed on to the caller.
        unsafe { self.suspend(Suspend::Stubborn) };
        if self.woken.take() { Unparked::Woken } else { Unparked::Interrupted }
    }
}

/// Returns `true` if a panic raised here, and raised again by each of the library's frames that
/// catch it, would be caught for good before it reaches a frame that ends the process.
#[inline]
pub fn can_be_unwound() -> bool {
    // Loops, joins, scopes, handled computations and the code that runs tasks catch a panic and
    // raise it again.
    let is_raising = running().is_some_and(|parker| parker.raising.get() > 0)
        || seam::is_raised_again()
        || !top_task().get().is_null();
    // Code that catches the unwinding in a destructor that a panic runs does not let the destructor
    // complete.
    let is_raising = is_raising || std::thread::panicking();
    unwinding::is_possible(if is_raising { Catches::Resume } else { Catches::End })
}

/// The answers to limits about the code that runs here.
pub(in crate::event) static SURROUNDINGS: Surroundings = Surroundings {
    task: || top_task().get().addr(),
    is_unwinding,
    can_be_unwound,
    can_be_unwound_to: unwinding::is_possible_to,
};

/// Returns `true` if the code that runs here does so because a panic unwinds its stack.
/// `std::thread::panicking` reports on the thread: it is also true if another fiber of the domain
/// waits in a destructor. While one does, this returns `true` as well for code that runs above a
/// frame which no panic may pass.
#[inline]
pub fn is_unwinding() -> bool {
    std::thread::panicking() && (running().is_none() || !unwinding::is_possible(Catches::Resume))
}

/// The notes of a stack: how many of its frames raise panics again, and its limits and masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    raising: u32,
    innermost: *const Node,
}

impl Noted {
    /// The notes of an empty stack.
    pub const NONE: Noted = Noted { raising: 0, innermost: std::ptr::null() };

    /// Returns the notes of the current stack.
    #[inline(always)]
    pub fn here() -> Self {
        let (raising, limits) = match running() {
            Some(parker) => (parker.raising.get(), &parker.limits),
            None => (0, Limits::of_thread()),
        };
        Noted { raising, innermost: limits.innermost() }
    }

    /// Returns 0 if this is the same as `other`.
    #[must_use]
    #[inline(always)]
    pub fn difference(self, other: Noted) -> u64 {
        u64::from(self.raising ^ other.raising) | (self.innermost.addr() ^ other.innermost.addr()) as u64
    }

    /// Returns `true` if a limit, a mask or a shield is around the frame with these notes.
    #[inline(always)]
    pub fn has_limits(self) -> bool {
        !self.innermost.is_null()
    }

    /// Returns `true` if a limit is between that frame and the frame with the notes `outer`.
    #[inline]
    pub fn is_beyond_a_limit(self, outer: Noted) -> bool {
        self.innermost != outer.innermost && !Node::masks_only(self.innermost, outer.innermost)
    }

    /// Makes these the notes of the current stack.
    #[cold]
    pub fn set(self) {
        let limits = match running() {
            Some(parker) => {
                parker.raising.set(self.raising);
                &parker.limits
            }
            None => Limits::of_thread(),
        };
        limits.set_innermost(self.innermost);
    }

    /// Does the same for code that goes on on this stack, in surroundings that were `before` and are `now`.
    /// No limit but masks is between the two.
    #[cold]
    pub fn set_moved(self, before: Noted, now: Noted) {
        let innermost = Node::moved(self.innermost, before.innermost, now.innermost);
        Noted { innermost, ..self.moved(before, now) }.set();
    }

    /// Returns the notes of an inner frame after such a move.
    #[must_use]
    pub fn moved(self, before: Noted, now: Noted) -> Self {
        let innermost = if self.innermost == before.innermost { now.innermost } else { self.innermost };
        Noted { raising: self.raising - before.raising + now.raising, innermost }
    }
}

/// A guard that counts in its cell until it is dropped.
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

/// Notes, until the returned guard is dropped, that the caller will catch a panic and raise it
/// again. The function that calls this must be `#[inline(never)]`, see `Catches::Resume`.
pub fn raising<'a>() -> Option<Counted<'a>> {
    running().map(|parker| Counted::new(&parker.raising))
}
