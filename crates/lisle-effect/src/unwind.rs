//! How a computation is unwound that will not be resumed, and which code unwinds it.
//!
//! The handler stays in place meanwhile, as in OCaml: a destructor may perform effects, and the clauses
//! answer. But a clause that has begun is not called within itself, because it is `FnMut`. And if a clause
//! does anything but resume, the unwinding goes on.

use crate::computation::{ComputationState, Header, Order, Settled};
use crate::drive::{Activation, Unwound, caught};
use crate::request::{Asked, Busy};
use lisle_core::event::parker;
use lisle_core::internal::panics::{self, forget_panic};
use lisle_core::internal::segment::Request;
use lisle_runtime::internal::handled::{self, Entry, Home};
use lisle_runtime::internal::this_stack::this_stack;
use std::any::Any;
use std::mem::{self, MaybeUninit, offset_of};
use std::panic::resume_unwind;
use std::ptr::NonNull;

/// The owner of a computation for which no clause runs. It ends the computation when it is dropped.
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

    /// Adds the computation, which was just suspended or made, to the list of the computations that wait
    /// here. The end of a fiber unwinds the computations that wait in it; a thread and a task leave theirs.
    #[inline(always)]
    pub(crate) fn wait_here(header: &Header) {
        // SAFETY: the computation is taken out of the list before it is freed, and only the code that has
        // taken it out uses it then.
        unsafe { handled::wait(&header.entry, end_in_fiber) };
    }

    /// Ends the computation, which waits or has waited, as far as it can be ended here.
    pub(crate) fn give_up(self) {
        let this = self.header();
        match this.state.get() {
            // The end of its fiber has come before. A destructor of the computation calls this, or this is
            // called after it.
            ComputationState::Ending => self.leave(),
            // It waits as a part of another computation, which stays as it is.
            ComputationState::Running => self.leak(),
            ComputationState::Ended => {
                this.lose_stack();
                drop(self);
            }
            // The code of the computation has not begun.
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

    /// Leaves the computation as it is, for ever, because it cannot be unwound here.
    #[cold]
    fn leak(self) {
        let why = if self.header().state.get() == ComputationState::Running {
            "while it was suspended as a part of another computation".to_owned()
        } else if Home::is_ending() {
            "while the locals of its thread are destroyed, and its frames may refer to these".to_owned()
        } else {
            format!("in {} to which it does not belong", Home::describe())
        };
        lisle_core::internal::seam::write(&format!(
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

/// A guard that frees a computation that has ended, even if a destructor panics.
pub(crate) struct Free(pub(crate) NonNull<Header>);

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: it has ended, and its owner has given it up.
        unsafe { (self.0.as_ref().table.free)(self.0) };
    }
}

/// Unwinds a computation that waits in a fiber which ends, and frees the computation if no value owns it.
/// Returns `false` if the computation stays as it is.
///
/// # Safety
///
/// The entry belongs to a computation that waits in the fiber which calls this, and it was just taken out
/// of the list.
unsafe fn end_in_fiber(entry: NonNull<Entry>) -> bool {
    // SAFETY: the entry is a field of the header.
    let header = unsafe { entry.byte_sub(offset_of!(Header, entry)) }.cast::<Header>();
    // SAFETY: by the caller's promise.
    let this = unsafe { header.as_ref() };
    // A producer that waits as a part of another computation ends with that computation.
    if matches!(this.state.get(), ComputationState::Kept | ComputationState::Suspended) {
        if this.is_begun() {
            // SAFETY: it is suspended. Values that refer to it find that it has ended.
            return unsafe { unwind_owned(header, Order::UnwindOrStay) };
        }
        this.state.set(ComputationState::Ended);
    }
    true
}

/// Unwinds a suspended computation that other code owns, by this order, and frees it if the owner has left
/// it meanwhile. Returns `false` if the computation stays as it is.
///
/// # Safety
///
/// The computation is suspended, and nobody else resumes it.
pub(crate) unsafe fn unwind_owned(header: NonNull<Header>, order: Order) -> bool {
    /// A guard that frees a computation that was left.
    struct FreeLeft(NonNull<Header>);
    impl Drop for FreeLeft {
        fn drop(&mut self) {
            // SAFETY: an owner does not touch a computation while it is unwound.
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
pub(crate) unsafe fn end(header: NonNull<Header>) {
    // SAFETY: by the caller's promise.
    let this = unsafe { header.as_ref() };
    handled::wait_no_more(&this.entry);
    let _free = Free(header);
    // A producer may not have begun.
    if this.state.get() != ComputationState::Ended && this.is_begun() {
        // SAFETY: as above.
        unsafe { unwind(this) };
    }
}

/// Unwinds a suspended computation. If the unwinding ends with a panic, this raises the panic, unless this
/// is called because of another panic.
///
/// # Safety
///
/// The computation is suspended, and no other code resumes it. If a closure of a clause of its handler
/// runs, that clause is marked as busy.
pub(crate) unsafe fn unwind(this: &Header) {
    // SAFETY: by the caller's promise.
    let has_ended = unsafe { unwind_by(Order::Unwind, this) };
    debug_assert!(has_ended, "a computation that is unwound has been suspended");
}

/// The request of a performer that stays as it is. It is not an address of a request: addresses are even.
pub(crate) const STAYS: Request = Request(NonNull::dangling());

/// Does the same as [`unwind`], by this order. Returns `false` if the computation stays as it is.
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
    this.state.set(ComputationState::Ending);
    this.payload.set(None);
    this.order.set(order);
    let mut of_clause = None;
    // SAFETY: by the caller's promise, and the computation has been attached.
    while let Some(request) = unsafe { this.turn(stack) } {
        if request.0 == STAYS.0 {
            return false;
        }
        let moves = stack.handled.moves.get();
        // SAFETY: it is suspended by `perform` or `give`, for this handler or generator. Clauses that
        // run are marked.
        match caught(|| unsafe { (this.table.settle)(NonNull::from(this), request) }) {
            Ok(Settled::GoesOn) => {}
            Ok(Settled::NotResumed) => this.order.set(order),
            Ok(Settled::Refused(why)) => {
                this.refusal.set(Some(why));
                this.order.set(order);
            }
            Err(panic) => {
                this.order.set(order);
                forget_panic(of_clause.replace(panic));
            }
        }
        if stack.handled.moves.get() != moves {
            // The clause has been suspended, and may have gone on elsewhere.
            this.attach(here);
        }
    }
    this.state.set(ComputationState::Ended);
    let of_computation = this.payload.take().filter(|panic| !is_of(panic.as_ref(), this));
    let panic = match (of_clause, of_computation) {
        (Some(panic), of_computation) => {
            forget_panic(of_computation);
            panic
        }
        (None, Some(panic)) => panic,
        (None, None) => return true,
    };
    if parker::is_unwinding() {
        // A panic out of this drop would end the process.
        panics::told("a handled computation that was dropped", || resume_unwind(panic));
    } else {
        resume_unwind(panic);
    }
    true
}

/// Returns `true` if this is the payload with which this computation is unwound.
fn is_of(payload: &(dyn Any + Send), this: &Header) -> bool {
    payload.downcast_ref().is_some_and(|Unwound { of, .. }| *of == NonNull::from(this))
}

/// Calls the clause for an effect that was performed while its computation is unwound.
///
/// # Safety
///
/// `perform` has suspended the computation with this request, for a clause of its handler, whose results
/// are of type `R`. If the closure of the clause runs, it is marked as busy.
pub(crate) unsafe fn settle<R>(header: NonNull<Header>, request: Request) -> Settled {
    let asked = request.0.cast::<Asked<()>>();
    // SAFETY: the performer waits, with the clause that it has found.
    let (take, clause) = unsafe { ((*asked.as_ptr()).take, (*asked.as_ptr()).closure) };
    // SAFETY: a clause begins with this.
    if unsafe { clause.cast::<Busy>().as_ref() }.get() {
        return Settled::Refused("the clause for the effect has dropped the continuation, and still runs");
    }
    // SAFETY: it stays while it is unwound.
    let this = unsafe { header.as_ref() };
    let activation = Activation::<R>::new();
    let mut value = MaybeUninit::<R>::uninit();
    // SAFETY: the types belong to the handler in which the performer has found the clause. The clause does
    // not run: it is not marked, and only this calls clauses for a computation that is unwound, one at a
    // time.
    let goes_on = unsafe {
        this.call(take, asked, NonNull::from(&activation).cast(), NonNull::from(&mut value).cast())
    };
    if !goes_on {
        // SAFETY: the clause has written it.
        unsafe { value.assume_init_drop() };
    }
    if goes_on && this.order.get() != Order::Unwind { Settled::GoesOn } else { Settled::NotResumed }
}
