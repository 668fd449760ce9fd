//! The loop that runs a computation. It resumes the computation, calls the clause for the effect that the
//! computation has performed, and resumes it again, until there is a result.
//!
//! The loop is not inlined into the user's code. The tables of the unwinder describe only the innermost
//! `catch_unwind` of a frame, and the frame that raises a panic of the computation again must not be a frame
//! that catches.

use crate::computation::{ComputationState, Header, Order};
use crate::request::{Asked, Busy, Payload};
use crate::unwind::{Free, STAYS, end};
use lisle_core::event::is_interruption;
use lisle_core::internal::exceptions;
use lisle_core::internal::unwinding::is_possible_within;
use lisle_runtime::internal::this_stack::this_stack;
use std::cell::Cell;
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;

type Then<R> = Box<dyn FnOnce(R) -> R>;

/// The state of a call that drives a computation with results of type `R`.
pub(crate) struct Activation<R> {
    /// The functions that are applied to the result, the last first.
    #[allow(clippy::box_collection, reason = "a word, for what most have not")]
    thens: Cell<Option<Box<Vec<Then<R>>>>>,
}

impl<R> Activation<R> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Activation { thens: Cell::new(None) }
    }

    /// Notes a function that is applied to the result.
    ///
    /// # Safety
    ///
    /// The borrows of `then` outlive the activation.
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

/// The payload with which a computation is unwound that will not be resumed.
pub(crate) struct Unwound {
    pub(crate) of: NonNull<Header>,
    /// Whether the computation stays if it cannot be unwound.
    may_stay: bool,
}

// SAFETY: the address is only compared.
unsafe impl Send for Unwound {}

/// Runs a computation until there is a result of the whole. The handler makes the result of the computation's
/// end, or a clause gives it.
///
/// # Safety
///
/// The computation is begun or kept, and the results of its handler are of type `R`. The caller owns the
/// computation, and gives it up.
#[inline(never)]
pub(crate) unsafe fn drive<R>(header: NonNull<Header>) -> R {
    // SAFETY: the caller's computation.
    let this = unsafe { header.as_ref() };
    let here = this_stack();
    let stack = here.state();
    this.attach(here);
    this.state.set(ComputationState::Running);
    let activation = Activation::new();
    // SAFETY: it is attached, and suspended or about to begin.
    while let Some(request) = unsafe { this.turn(stack) } {
        this.state.set(ComputationState::Suspended);
        let asked = request.0.cast::<Asked<()>>();
        let mut value = MaybeUninit::<R>::uninit();
        // SAFETY: the performer waits, with the code that knows its types.
        let (take, clause) = unsafe { ((*asked.as_ptr()).take, (*asked.as_ptr()).closure) };
        let owner = Driven { header, busy: clause.cast() };
        let moves = stack.handled.moves.get();
        // SAFETY: the performer has found the clause in the handler of this computation, which has the types
        // of the caller.
        let goes_on = unsafe {
            this.call(take, asked, NonNull::from(&activation).cast(), NonNull::from(&mut value).cast())
        };
        if goes_on {
            mem::forget(owner);
            if stack.handled.moves.get() != moves {
                // The clause has been suspended, and may have gone on elsewhere.
                this.attach(here);
            }
            this.state.set(ComputationState::Running);
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

/// Frees a computation that has ended with a panic, and returns the result that its handler makes of the
/// panic. If the handler has no clause for panics, or if this is not a panic but an unwinding that began
/// further out, this raises the payload again.
///
/// # Safety
///
/// The computation has ended, the caller owns it and gives it up, and the results of its handler are of type
/// `R`.
#[cold]
unsafe fn end_with_panic<R>(header: NonNull<Header>, panic: Payload) -> R {
    // SAFETY: the caller's computation.
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

/// A guard for a computation whose clause runs. It ends the computation if the clause neither resumes nor
/// keeps it.
///
/// The clause, and this guard with it, may itself be suspended, and the computation that it has kept may end
/// first. Therefore `is_in_clause` tells the owner of a kept computation, and the state does not. As long as
/// the mark is set, this guard and the value both exist, and the later of the two frees the computation.
struct Driven {
    header: NonNull<Header>,
    /// The mark of the clause.
    busy: NonNull<Busy>,
}

impl Drop for Driven {
    fn drop(&mut self) {
        // SAFETY: the code that drives a computation owns it, or the computation waits for this before it is
        // freed.
        let this = unsafe { self.header.as_ref() };
        // SAFETY: as above. The closure does not run any more.
        unsafe { self.busy.as_ref() }.set(false);
        if this.is_in_clause.replace(false) {
            return;
        }
        if this.state.get() == ComputationState::Ending {
            // A destructor of the computation has ended the clause. The code that unwinds the computation
            // frees it.
            this.is_left.set(true);
            return;
        }
        // SAFETY: as above, and it will not be resumed.
        unsafe { end(self.header) };
    }
}

/// Returns the payload with which the performer is unwound, because its handler has ordered this instead of
/// giving an answer. Ends the process if the performer cannot be unwound. The caller raises the payload, so
/// that one frame less has to be unwound.
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

/// Raises in a consumer the panic that has ended its producer. If the panic unwinds a computation because its
/// fiber ends, this looks again whether the code can be unwound: the first look has not seen the consumer's
/// frame.
#[cold]
pub(crate) fn raise(panic: Payload) -> ! {
    if let Some(&Unwound { of, may_stay: true }) = panic.downcast_ref() {
        let mut link = this_stack().state().handled.top.get();
        // SAFETY: the computations of a chain stay as long as code runs on them, and this code does.
        while let Some(header) = unsafe { Header::of(link) } {
            if NonNull::from(header) == of && header.state.get() == ComputationState::Ending {
                look(header, true, "its fiber ends", format_args!("a generator was asked for an item"));
                break;
            }
            link = header.link.outer.get();
        }
    }
    lisle_runtime::internal::owner::raise(panic)
}

/// Returns if the code that runs here can be unwound up to the root of the computation. Otherwise it does not
/// return.
fn look(this: &Header, may_stay: bool, why: &str, what: fmt::Arguments<'_>) {
    if is_possible_within(this.stack()) {
        return;
    }
    // If a destructor that a panic runs stayed on a thread, the thread would count as panicking for ever.
    if std::thread::panicking() {
        lisle_core::internal::abort::process(format_args!(
            "{what} by a destructor that runs because of a panic, or because its computation is dropped. The handler \
             begun at {} has not answered: {why}. Such a destructor cannot be unwound. Handle the effect in the \
             destructor, or do not perform it there",
            this.link.site(),
        ));
    }
    if may_stay {
        stay(this, what);
    }
    lisle_core::internal::abort::process(format_args!(
        "{what}. The call went through a function of another language, which would catch a panic, or which a panic must \
         not leave, and the handler has not answered. Answer the effect (`answer`, `resume`), or do not perform it \
         below such a function"
    ));
}

/// Leaves the computation in which this runs as it is, for ever, because one of its frames cannot be unwound.
fn stay(this: &Header, what: fmt::Arguments<'_>) -> ! {
    lisle_core::internal::seam::write(&format!(
        "the computation begun at {} was not resumed before its fiber ended, and cannot be unwound: {what}. The call \
         went through a function of another language, which would catch a panic, or which a panic must not leave. \
         The stack of the computation stays for ever, and its destructors do not run",
        this.link.site(),
    ));
    let outer = this.marks.get();
    outer.noted.set();
    // SAFETY: this code runs within the answers between it and the computation, and these do not go on.
    unsafe { this_stack().state().handled.put_aside(outer.answering) };
    // SAFETY: the computation runs, and this is on its stack, or on the stack of a computation within it.
    unsafe { this.suspend(STAYS) };
    lisle_core::internal::abort::process(format_args!(
        "a computation was resumed that had been left suspended for ever"
    ));
}

/// Calls `f`, and returns the payload if it panics.
#[inline(always)]
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Payload> {
    let (mut f, mut result) = (Some(f), None);
    catching(&mut || result = f.take().map(|f| f()))?;
    let Some(result) = result else { unreachable!("it has returned") };
    Ok(result)
}

/// Calls `f` in a frame of its own. If `f` were inlined into the frame that catches, the table of the
/// unwinder would not say that no frame catches a panic within a destructor of `f`.
#[inline(never)]
fn catching(f: &mut dyn FnMut()) -> Result<(), Payload> {
    let result = catch_unwind(AssertUnwindSafe(&mut *f));
    // This keeps the call from being a tail call, which would leave no frame.
    std::hint::black_box(f);
    result
}
