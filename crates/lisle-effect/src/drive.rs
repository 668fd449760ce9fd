//! The loop that runs a computation: it resumes it, calls the clause for what it has performed, and
//! resumes it again, until there is a result.
//!
//! The loop is not inlined into the user's code: the tables of the unwinder describe the innermost
//! `catch_unwind` of a frame only, and the frame that raises a panic of the computation again must
//! not be one that catches.

use crate::computation::{Header, Order, State};
use crate::request::{Asked, Busy, Payload};
use crate::unwind::{Free, STAYS, end};
use lisle_core::event::is_interruption;
use lisle_core::exceptions;
use lisle_core::unwinding::is_possible_within;
use lisle_runtime::spawned::this_stack::this_stack;
use std::cell::Cell;
use std::fmt;
use std::mem::{self, MaybeUninit};
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
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Activation { thens: Cell::new(None) }
    }

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
pub(crate) struct Unwound {
    pub(crate) of: NonNull<Header>,
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
    let activation = Activation::new();
    // SAFETY: it is attached, and suspended or about to begin.
    while let Some(request) = unsafe { this.turn(stack) } {
        this.state.set(State::Suspended);
        let asked = request.0.cast::<Asked<()>>();
        let mut value = MaybeUninit::<R>::uninit();
        // SAFETY: the performer waits, with the code that knows its types.
        let (take, clause) = unsafe { ((*asked.as_ptr()).take, (*asked.as_ptr()).closure) };
        let owner = Driven { header, busy: clause.cast() };
        let moves = stack.handled.moves.get();
        // SAFETY: the performer has found the clause in the handler of this computation, whose
        // types are those of the caller.
        let goes_on = unsafe {
            this.call(take, asked, NonNull::from(&activation).cast(), NonNull::from(&mut value).cast())
        };
        if goes_on {
            mem::forget(owner);
            if stack.handled.moves.get() != moves {
                // The clause has been suspended, and may have gone on elsewhere.
                this.attach(here);
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
        // SAFETY: it has ended, with results of this type, and this owns it.
        return activation.finish(unsafe { end_with_panic(header, panic) });
    }
    let mut result = MaybeUninit::<R>::uninit();
    // SAFETY: it has ended with a result, and this owns it.
    unsafe { (this.table.finish)(header, NonNull::from(&mut result).cast()) };
    // SAFETY: as above.
    activation.finish(unsafe { result.assume_init() })
}

/// Frees a computation that has ended with a panic, and returns what its handler makes of that. If it
/// makes nothing of it, or if it is none but an unwinding for others, this goes on with it.
///
/// # Safety
///
/// The computation has ended, the caller owns it and gives it up, and results of its handler are of type `R`.
#[cold]
unsafe fn end_with_panic<R>(header: NonNull<Header>, panic: Payload) -> R {
    // SAFETY: the caller's.
    let this = unsafe { header.as_ref() };
    let free = Free(header);
    let mut value = MaybeUninit::<R>::uninit();
    let panic = if is_interruption(&*panic) || panic.is::<Unwound>() {
        panic
    } else {
        // SAFETY: by the caller's promise.
        match unsafe { (this.table.catch_panic)(header, panic, NonNull::from(&mut value).cast()) } {
            // SAFETY: it has written it.
            Ok(()) => return unsafe { value.assume_init() },
            Err(panic) => panic,
        }
    };
    drop(free);
    resume_unwind(panic)
}

/// A guard for a computation whose clause runs: ends it if the clause neither goes on nor keeps it.
///
/// The clause, and this with it, may be suspended in its turn, and what it has kept may end first.
/// Therefore the state does not tell who owns a kept computation, but `is_in_clause`: as long as it
/// is set, there are this and the value, and the one that goes later frees it.
struct Driven {
    header: NonNull<Header>,
    /// That of the clause.
    busy: NonNull<Busy>,
}

impl Drop for Driven {
    fn drop(&mut self) {
        // SAFETY: who drives a computation owns it, or it waits for this before it is freed.
        let this = unsafe { self.header.as_ref() };
        // SAFETY: as above. The closure does not run any more.
        unsafe { self.busy.as_ref() }.set(false);
        if this.is_in_clause.replace(false) {
            return;
        }
        if this.state.get() == State::Ending {
            // A destructor of the computation has ended the clause. Whoever unwinds it frees it.
            this.is_left.set(true);
            return;
        }
        // SAFETY: as above, and nobody will resume it.
        unsafe { end(self.header) };
    }
}

/// Returns the payload with which the performer is to be unwound, as its handler has ordered instead of giving
/// an answer. It ends the process if that cannot be. The caller raises it: a frame less is to be unwound.
#[cold]
#[inline(never)]
pub(crate) fn payload_of(
    this: &Header,
    order: Order,
    refusal: Option<&str>,
    what: &str,
    site: &Location<'_>,
) -> Payload {
    let why = match (refusal, order) {
        (Some(why), _) => why,
        (None, Order::Raise) => "the handler answers with a panic",
        (None, _) => "the clause does not resume the computation",
    };
    let may_stay = order == Order::UnwindOrStay;
    let payload: Payload = match (order, this.payload.take()) {
        (Order::Raise, Some(panic)) => panic,
        _ => Box::new(Unwound { of: NonNull::from(this), may_stay }),
    };
    if may_stay || std::thread::panicking() || exceptions::are_possible() {
        look(this, may_stay, why, format_args!("the effect {what} was performed at {site}"));
    }
    payload
}

/// Goes on in a consumer with the panic that has ended its producer. If that is part of a computation
/// that is unwound when its fiber ends, this looks again: the first look has not seen what the consumer's
/// frame would do.
#[cold]
pub(crate) fn raise(panic: Payload) -> ! {
    if let Some(&Unwound { of, may_stay: true }) = panic.downcast_ref() {
        let mut link = this_stack().state().handled.top.get();
        // SAFETY: the computations of a chain stay as long as code runs on them, and this code does.
        while let Some(header) = unsafe { Header::of(link) } {
            if NonNull::from(header) == of && header.state.get() == State::Ending {
                look(header, true, "its fiber ends", format_args!("a generator was asked for an item"));
                break;
            }
            link = header.link.outer.get();
        }
    }
    lisle_runtime::loops::owner::raise(panic)
}

/// Returns if the code that runs here can be unwound, up to the root of the computation.
fn look(this: &Header, may_stay: bool, why: &str, what: fmt::Arguments<'_>) {
    if is_possible_within(this.stack()) {
        return;
    }
    // A thread on which a destructor stays that a panic runs would count as panicking for ever.
    if std::thread::panicking() {
        lisle_core::abort::process(format_args!(
            "{what} by a destructor that runs because of a panic, or because its computation is dropped. The handler \
             begun at {} has not answered: {why}. Such a destructor cannot be unwound. Handle the effect in the \
             destructor, or do not perform it there",
            this.link.site(),
        ));
    }
    if may_stay {
        stay(this, what);
    }
    lisle_core::abort::process(format_args!(
        "{what}. The call went through a function of another language, which would catch a panic, or which a panic must \
         not leave, and the handler has not answered. Answer the effect (`answer`, `resume`), or do not perform it \
         below such a function"
    ));
}

/// Leaves the computation in which this runs as it is, for ever, since a frame of it cannot be unwound.
fn stay(this: &Header, what: fmt::Arguments<'_>) -> ! {
    lisle_core::seam::write(&format!(
        "the computation begun at {} was not resumed before its fiber ended, and cannot be unwound: {what}. The call \
         went through a function of another language, which would catch a panic, or which a panic must not leave. \
         The stack of the computation stays for ever, and its destructors do not run",
        this.link.site(),
    ));
    let outer = this.marks.get();
    outer.noted.set();
    // SAFETY: this code runs in what gives the answers between it and the computation, and they are not
    // gone on with.
    unsafe { this_stack().state().handled.put_aside(outer.answering) };
    // SAFETY: it runs, and this is on its stack, or on that of one within it.
    unsafe { this.suspend(STAYS) };
    lisle_core::abort::process(format_args!(
        "a computation was resumed that had been left suspended for ever"
    ));
}

/// Calls `f`, and returns the payload of its panic, if it panics.
#[inline(always)]
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Payload> {
    let (mut f, mut result) = (Some(f), None);
    catching(&mut || result = f.take().map(|f| f()))?;
    let Some(result) = result else { unreachable!("it has returned") };
    Ok(result)
}

/// Calls `f`, in a frame of its own: if the code of `f` were inlined into the frame that catches, the table
/// of the unwinder would not say of a destructor in it that nothing catches within that.
#[inline(never)]
fn catching(f: &mut dyn FnMut()) -> Result<(), Payload> {
    let result = catch_unwind(AssertUnwindSafe(&mut *f));
    // This keeps the call from being a tail call, which would leave no frame.
    std::hint::black_box(f);
    result
}
