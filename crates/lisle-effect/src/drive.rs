//! The loop that runs a computation: it resumes it, calls the clause for what it has performed, and
//! resumes it again, until there is a result.
//!
//! The loop is not inlined into the user's code: the tables of the unwinder describe the innermost
//! `catch_unwind` of a frame only, and the frame that raises a panic of the computation again must
//! not be one that catches.

use crate::computation::{Header, Order, State};
use crate::request::Asked;
use lisle_core::event::parker;
use lisle_core::segment::Request;
use lisle_core::unwinding::is_possible_within;
use lisle_core::{exceptions, panics};
use lisle_runtime::handled::{self, Entry, Home};
use lisle_runtime::spawned::this_stack::this_stack;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::mem::{self, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;

type Then<R> = Box<dyn FnOnce(R) -> R>;

/// What a call keeps that drives a computation with results of type `R`.
pub(crate) struct Activation<R> {
    /// What is to be done with the result, the last first.
    #[allow(clippy::box_collection, reason = "a word, for what most have not")]
    thens: Cell<Option<Box<Vec<Then<R>>>>>,
}

impl<R> Activation<R> {
    /// Notes what is to be done with the result.
    ///
    /// # Safety
    ///
    /// What `then` borrows outlives the activation.
    pub(crate) unsafe fn push<'env>(&self, then: impl FnOnce(R) -> R + 'env)
    where
        R: 'env,
    {
        let then: Box<dyn FnOnce(R) -> R + 'env> = Box::new(then);
        // SAFETY: only the lifetime is changed. The box does not leave the activation, by the
        // caller's promise.
        let then = unsafe { mem::transmute::<Box<dyn FnOnce(R) -> R + 'env>, Then<R>>(then) };
        let mut thens = self.thens.take().unwrap_or_default();
        thens.push(then);
        self.thens.set(Some(thens));
    }

    #[inline(always)]
    fn finish(&self, result: R) -> R {
        match self.thens.take() {
            Some(thens) => thens.into_iter().rev().fold(result, |result, then| then(result)),
            None => result,
        }
    }
}

/// The payload with which a computation is unwound that nobody will resume.
struct Unwound {
    of: NonNull<Header>,
    /// Where it cannot be unwound, it stays.
    may_stay: bool,
}

// SAFETY: the address is only compared.
unsafe impl Send for Unwound {}

/// Goes on with a computation until there is a result of the whole: what its handler makes of its
/// end, or what a clause gives.
///
/// # Safety
///
/// The computation is begun or kept, results of its handler are of type `R`, and the caller, who
/// owns the computation, gives it up.
#[inline(never)]
pub(crate) unsafe fn drive<R>(header: NonNull<Header>) -> R {
    // SAFETY: the owner's.
    let this = unsafe { header.as_ref() };
    let here = this_stack();
    let stack = here.state();
    this.attach(here);
    this.state.set(State::Running);
    let activation = Activation { thens: Cell::new(None) };
    let mut moves = stack.handled.moves.get();
    // SAFETY: it is attached, and suspended or about to begin.
    while let Some(request) = unsafe { this.turn(stack) } {
        this.state.set(State::Suspended);
        let asked = request.0.cast::<Asked<()>>();
        let mut value = MaybeUninit::<R>::uninit();
        let owner = Driven(header);
        // SAFETY: the performer waits, with the code that knows its types.
        let take = unsafe { (*asked.as_ptr()).take };
        // SAFETY: the performer has found the clause in the handler of this computation, whose
        // types are those of the caller.
        let goes_on =
            unsafe { take(asked, this, NonNull::from(&activation).cast(), NonNull::from(&mut value).cast()) };
        if goes_on {
            mem::forget(owner);
            if stack.handled.moves.get() != moves {
                // The clause has been suspended, and may have gone on elsewhere.
                this.attach(here);
                moves = stack.handled.moves.get();
            }
            this.state.set(State::Running);
            continue;
        }
        // SAFETY: the clause has written it.
        let value = unsafe { value.assume_init() };
        drop(owner);
        return activation.finish(value);
    }
    if let Some(panic) = this.payload.take() {
        // SAFETY: it has ended, and this owns it.
        unsafe { (this.table.free)(header) };
        resume_unwind(panic);
    }
    let mut result = MaybeUninit::<R>::uninit();
    // SAFETY: it has ended with a result, and this owns it.
    unsafe { (this.table.finish)(header, NonNull::from(&mut result).cast()) };
    // SAFETY: as above.
    activation.finish(unsafe { result.assume_init() })
}

/// A guard for a computation whose clause runs: ends it if the clause neither goes on nor keeps it.
///
/// The clause, and this with it, may be suspended in its turn, and what it has kept may end first.
/// Therefore the state does not tell who owns a kept computation, but `is_in_clause`: as long as it
/// is set, there are this and the value, and the one that goes later frees it.
struct Driven(NonNull<Header>);

impl Drop for Driven {
    fn drop(&mut self) {
        // SAFETY: who drives a computation owns it, or it waits for this before it is freed.
        let this = unsafe { self.0.as_ref() };
        if this.is_in_clause.replace(false) {
            return;
        }
        if this.state.get() == State::Ending {
            // A destructor of the computation has ended the clause. Whoever unwinds it frees it.
            this.is_left.set(true);
            return;
        }
        // SAFETY: as above, and nobody will resume it.
        unsafe { end(self.0) };
    }
}

/// The owner of a computation that no clause runs for: ends it when this is dropped.
pub(crate) struct Owned(NonNull<Header>);

impl Owned {
    /// # Safety
    ///
    /// The caller owns the computation, and gives it to this.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Owned(header)
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: this owns it.
        unsafe { self.0.as_ref() }
    }

    /// Puts the computation, which has just been suspended or made, among those that wait here. The
    /// end of a fiber unwinds those that wait in it; a thread and a task leave theirs.
    #[inline(always)]
    pub(crate) fn wait_here(header: &Header) {
        // SAFETY: it is taken out before it is freed, and only the code that has taken it out uses it
        // then.
        unsafe { handled::wait(&header.entry, end_in_fiber) };
    }

    /// Ends the computation, which waits or has waited, as far as it can be ended where this runs.
    pub(crate) fn give_up(self) {
        let this = self.header();
        match this.state.get() {
            // The end of its fiber has come before, and what this is called for is a destructor of
            // the computation, or comes after it.
            State::Ending => self.leave(),
            // It waits as a part of another one, which stays as it is.
            State::Running => self.leak(),
            State::Ended => {
                this.lose_stack();
                drop(self);
            }
            // Nothing of it has begun.
            _ if !this.is_begun() => drop(self),
            _ if this.is_at_home() && !Home::is_ending() => drop(self),
            _ if this.entry.is_unwound_at_the_end() => self.leave(),
            _ => self.leak(),
        }
    }

    /// Leaves the computation to its fiber.
    fn leave(self) {
        self.header().is_left.set(true);
        mem::forget(self);
    }

    /// Leaves the computation as it is, for ever, since it cannot be unwound where this runs.
    #[cold]
    fn leak(self) {
        let why = if self.header().state.get() == State::Running {
            "while it waited as a part of another one".to_owned()
        } else if Home::is_ending() {
            "while the locals of its thread are destroyed, to which its frames may refer".to_owned()
        } else {
            format!("in {}, and belongs elsewhere", Home::describe())
        };
        lisle_core::seam::write(&format!(
            "a continuation of the computation begun at {} was dropped {why}: its stack stays for ever, and its destructors \
             do not run",
            self.header().link.site(),
        ));
        mem::forget(self);
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this owns it.
        unsafe { end(self.0) };
    }
}

/// A guard that frees a computation that has ended, also if a destructor panics.
struct Free(NonNull<Header>);

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: it has ended, and its owner has given it up.
        unsafe { (self.0.as_ref().table.free)(self.0) };
    }
}

/// Unwinds a computation that waits in a fiber which ends. It is freed if no value owns it. Returns `false`
/// if it stays as it is.
///
/// # Safety
///
/// The entry is that of a computation that waits in the fiber which calls this, and it has just been
/// taken out of the list.
unsafe fn end_in_fiber(entry: NonNull<Entry>) -> bool {
    // SAFETY: the entry is a field of the header.
    let header = unsafe { entry.byte_sub(offset_of!(Header, entry)) }.cast::<Header>();
    // SAFETY: by the caller's promise.
    let this = unsafe { header.as_ref() };
    // A producer that waits as a part of another computation ends with that one.
    if matches!(this.state.get(), State::Kept | State::Suspended) {
        if this.is_begun() {
            // SAFETY: it is suspended. Values that refer to it find that it has ended.
            return unsafe { unwind_owned(header, Order::UnwindOrStay) };
        }
        this.state.set(State::Ended);
    }
    true
}

/// Unwinds a suspended computation that another owns, by this order, and frees it if the owner has left
/// it meanwhile. Returns `false` if it stays as it is.
///
/// # Safety
///
/// The computation is suspended, and nobody else resumes it.
pub(crate) unsafe fn unwind_owned(header: NonNull<Header>, order: Order) -> bool {
    /// A guard that frees what has been left.
    struct FreeLeft(NonNull<Header>);
    impl Drop for FreeLeft {
        fn drop(&mut self) {
            // SAFETY: an owner leaves a computation that is unwound as it is.
            if unsafe { self.0.as_ref() }.is_left.get() {
                drop(Free(self.0));
            }
        }
    }
    let free = FreeLeft(header);
    // SAFETY: by the caller's promise.
    let has_ended = unsafe { unwind_by(order, header.as_ref()) };
    if !has_ended {
        // Its state says for ever that it is being unwound.
        mem::forget(free);
    }
    has_ended
}

/// Unwinds a suspended computation, if it has not ended, and gives its stack back.
///
/// # Safety
///
/// The caller owns the computation and gives it up.
unsafe fn end(header: NonNull<Header>) {
    // SAFETY: by the caller's promise.
    let this = unsafe { header.as_ref() };
    handled::wait_no_more(&this.entry);
    let _free = Free(header);
    // A producer may not have begun.
    if this.state.get() != State::Ended && this.is_begun() {
        // SAFETY: as above.
        unsafe { unwind(this) };
    }
}

/// Unwinds a suspended computation. If that ends with a panic, it goes on with it, unless this is
/// called because of a panic.
///
/// # Safety
///
/// The computation is suspended, and nobody else resumes it.
pub(crate) unsafe fn unwind(this: &Header) {
    // SAFETY: by the caller's promise.
    let has_ended = unsafe { unwind_by(Order::Unwind, this) };
    debug_assert!(has_ended, "a computation that is unwound has been suspended");
}

/// Does the same by this order. Returns `false` if the computation stays as it is.
///
/// # Safety
///
/// As for [`unwind`].
#[cold]
#[inline(never)]
unsafe fn unwind_by(order: Order, this: &Header) -> bool {
    let here = this_stack();
    let stack = here.state();
    this.attach(here);
    // Effects do not suspend it any more: see `perform`.
    this.marks.set(this.marks.get().never());
    this.state.set(State::Ending);
    this.payload.set(None);
    this.order.set(order);
    // SAFETY: by the caller's promise, and it has just been attached.
    if unsafe { this.turn(stack) }.is_some() {
        return false;
    }
    this.state.set(State::Ended);
    match this.payload.take() {
        Some(panic) if panic.downcast_ref().is_none_or(|Unwound { of, .. }| *of != NonNull::from(this)) => {
            if parker::is_unwinding() {
                // Whoever drops this would otherwise end the process.
                panics::told("a handled computation that was dropped", || resume_unwind(panic));
            } else {
                resume_unwind(panic);
            }
        }
        _ => {}
    }
    true
}

/// Does in the performer what its handler has ordered instead of giving an answer.
#[cold]
#[inline(never)]
pub(crate) fn obey(this: &Header, what: &str, site: &Location<'_>) -> ! {
    let order = this.order.replace(Order::GoOn);
    let may_stay = order == Order::UnwindOrStay;
    let payload: Box<dyn Any + Send> = match (order, this.payload.take()) {
        (Order::Raise, Some(panic)) => panic,
        _ => Box::new(Unwound { of: NonNull::from(this), may_stay }),
    };
    if may_stay || std::thread::panicking() || exceptions::are_possible() {
        look(this, may_stay, format_args!("the effect {what} was performed at {site}"));
    }
    resume_unwind(payload)
}

/// Goes on in a consumer with the panic that has ended its producer. If that is part of a computation
/// that is unwound when its fiber ends, this looks again: the first look has not seen what the consumer's
/// frame would do.
#[cold]
pub(crate) fn raise(panic: Box<dyn Any + Send>) -> ! {
    if let Some(&Unwound { of, may_stay: true }) = panic.downcast_ref() {
        let mut link = this_stack().state().handled.top.get();
        // SAFETY: the computations of a chain stay as long as code runs on them, and this code does.
        while let Some(header) = unsafe { Header::of(link) } {
            if NonNull::from(header) == of && header.state.get() == State::Ending {
                look(header, true, format_args!("a generator was asked for an item"));
                break;
            }
            link = header.link.outer.get();
        }
    }
    lisle_runtime::loops::owner::raise(panic)
}

/// Returns if the code that runs here can be unwound, up to the root of the computation.
fn look(this: &Header, may_stay: bool, what: fmt::Arguments<'_>) {
    if is_possible_within(this.stack()) {
        return;
    }
    // A thread on which a destructor stays that a panic runs would count as panicking for ever.
    if std::thread::panicking() {
        lisle_core::abort::process(format_args!(
            "{what} by a destructor that runs because of a panic, and its handler has not answered it. A destructor \
             cannot be unwound then. Answer the effect (`answer`, `resume`), or do not perform it in destructors"
        ));
    }
    if may_stay {
        stay(this, what);
    }
    lisle_core::abort::process(format_args!(
        "{what}, called through a function of another language that would catch a panic, or must not be left by one, and \
         its handler has not answered it. Answer the effect (`answer`, `resume`), or do not perform it in what such \
         functions call"
    ));
}

/// Leaves the computation in which this runs as it is, for ever, since a frame of it cannot be unwound.
fn stay(this: &Header, what: fmt::Arguments<'_>) -> ! {
    lisle_core::seam::write(&format!(
        "the computation begun at {} was not resumed before its fiber ended, and cannot be unwound: {what}, called \
         through a function of another language that would catch a panic, or must not be left by one. Its stack stays \
         for ever, and its destructors do not run",
        this.link.site(),
    ));
    let outer = this.marks.get();
    outer.noted.set();
    // SAFETY: this code runs in what gives the answers between it and the computation, and they are not
    // gone on with.
    unsafe { this_stack().state().handled.put_aside(outer.answering) };
    // SAFETY: it runs, and this is on its stack, or on that of one within it. Of a request whoever unwinds
    // it only looks whether there is one.
    unsafe { this.suspend(Request(NonNull::dangling())) };
    lisle_core::abort::process(format_args!("a computation that stays as it is was resumed"));
}

/// Calls `f`, and returns the payload of its panic, if it panics.
#[inline(always)]
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let (mut f, mut result) = (Some(f), None);
    catching(&mut || result = f.take().map(|f| f()))?;
    let Some(result) = result else { unreachable!("it has returned") };
    Ok(result)
}

/// Calls `f`, in a frame of its own: if the code of `f` were inlined into the frame that catches, the table
/// of the unwinder would not say of a destructor in it that nothing catches within that.
#[inline(never)]
fn catching(f: &mut dyn FnMut()) -> Result<(), Box<dyn Any + Send>> {
    let result = catch_unwind(AssertUnwindSafe(&mut *f));
    // This keeps the call from being a tail call, which would leave no frame.
    std::hint::black_box(f);
    result
}
