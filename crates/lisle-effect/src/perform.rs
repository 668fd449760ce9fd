//! Performing an effect: the handler is found, and either answers in place, or the computation that it
//! handles is suspended.
//!
//! The code that suspends is inlined into the user's code, for the reason given in `lisle_core::segment`.
//! The code before it need not be.

use crate::any::{AnyEffect, Slot};
use crate::computation::{Header, Order};
use crate::drive;
use crate::effect::Effect;
use crate::marks::{Barrier, Marks};
use crate::request::{Asked, Call, Clause, Exchange};
use lisle_core::internal::segment::Request;
use lisle_runtime::internal::handled::Link;
use lisle_runtime::internal::this_stack::{ThisStack, this_stack};
use std::any::{TypeId, type_name};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;

/// Performs `effect`, and returns the answer of the nearest handler for it.
///
/// Handlers are looked at from the innermost outwards, within the same fiber, task or thread. A clause for
/// [any effect](crate::Handler::answer_any) sees the effects that no inner handler has taken. Within a
/// clause of a handler, and in code that runs after its computation, only the handlers around that handler
/// count.
///
/// # Examples
///
/// ```
/// # use lisle_effect as effect;
/// use effect::{Effect, handle, perform};
///
/// struct Ask;
/// impl Effect for Ask {
///     type Answer = u32;
/// }
/// assert_eq!(handle(|| perform(Ask) + 1).answer(|Ask| 41).run(), 42);
/// ```
///
/// # Panics
///
/// Panics if no handler for the effect is in place; the message names the effect and the place of the call.
/// Panics if the effect would leave one of these calls to reach the handler:
///
/// - a task, a part of a loop of `par`, or a half of a join, because these may run elsewhere. Handle the
///   effect inside, or perform it before;
/// - [`no_suspend`](lisle_runtime::fiber::no_suspend), or a function that an event calls, because these
///   must not be suspended. A handler that [answers](crate::Handler::answer) does not suspend, and may be
///   outside;
/// - a call with a [deadline](lisle_core::time::with_deadline), because a deadline counts for the code on
///   one stack. An answer in place is part of that call, and may be given from outside.
///
/// Panics if the handler answers with a panic. If the handler drops the continuation, the call does not
/// return: it unwinds the computation.
///
/// # While a computation is unwound
///
/// Its handler stays in place, as in OCaml. Effects that destructors perform are answered, by
/// [`answer`](crate::Handler::answer) or by [`on`](crate::Handler::on), as long as the clause resumes. This
/// is also true if a scheduler drops a continuation that it has [kept](crate::Continuation::keep).
///
/// If the clause does not resume, the unwinding goes on from where the effect was performed. A value that
/// the clause gives is dropped, and the clause of a [`catch`](crate::Handler::catch) is not called. A
/// clause that has dropped the continuation is not called again before it has returned. A destructor that a
/// panic or another unwinding runs cannot be unwound itself: then the process ends, with a message that
/// names the effect and the handler.
#[inline(always)]
#[track_caller]
pub fn perform<E: Effect>(effect: E) -> E::Answer {
    let stack = this_stack();
    perform_from(stack, stack.state().handled.top.get(), effect)
}

/// Performs the effect, for the handler of the computation with this link, and the handlers around
/// it.
#[inline(always)]
#[track_caller]
fn perform_from<E: Effect>(stack: ThisStack<'_>, innermost: *const Link, effect: E) -> E::Answer {
    // SAFETY: the computations of the chain stay as long as code runs on them, and this code does.
    match unsafe { look_up(innermost, &TypeId::of::<E>()) } {
        Some((header, Clause { closure, call: &Call::Suspended(take) })) => {
            let exchange = Exchange { answer: MaybeUninit::uninit(), effect: ManuallyDrop::new(effect) };
            let mut asked = Asked::<Exchange<E>> { take, closure, what: exchange };
            // Both sides use the place through this pointer from now on.
            let place = NonNull::from(&mut asked);
            // SAFETY: a field of it.
            let effect =
                unsafe { NonNull::new_unchecked(&raw mut (*place.as_ptr()).what.effect) }.cast::<E>();
            // SAFETY: the handler's computation is in the chain of this stack, and its clause moves
            // the effect out.
            unsafe { suspend_for::<E, E>(stack, header, place.cast(), effect) };
            // SAFETY: code that resumes a performer without an order has written the answer.
            unsafe { (*place.as_ptr()).what.answer.assume_init_read() }
        }
        Some((header, Clause { closure, call: &Call::InPlace(answer) })) => {
            if let Some(barrier) = header.barrier_to_answer(stack) {
                barred_at(barrier, header, type_name::<E>(), Location::caller());
            }
            let mut effect = ManuallyDrop::new(effect);
            let mut room = MaybeUninit::<E::Answer>::uninit();
            let handled = &stack.state().handled;
            let answering = handled.performer(header.link.outer.get());
            let _answers = handled.answer(&answering);
            // SAFETY: the clause is for this effect, which it moves out, and writes the answer.
            unsafe { answer(closure, NonNull::from(&mut effect).cast(), NonNull::from(&mut room).cast()) };
            // SAFETY: as above.
            unsafe { room.assume_init() }
        }
        Some((header, Clause { closure, call: &Call::OfAny(see) })) => {
            // SAFETY: the clause is this one, and the handler's computation is in the chain.
            unsafe { offer(header, closure, see, effect) }
        }
        None => unhandled(type_name::<E>()),
    }
}

/// Offers an effect to a clause for effects of any type, and then to the handlers around if the clause does
/// not answer it.
///
/// # Safety
///
/// The computation is in the chain of this stack, and `see` calls the closure of a clause of its handler.
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn offer<E: Effect>(
    header: &Header,
    closure: NonNull<()>,
    see: unsafe fn(NonNull<()>, &mut AnyEffect<'_>),
    effect: E,
) -> E::Answer {
    let (stack, site) = (this_stack(), Location::caller());
    if let Some(barrier) = header.barrier_to_answer(stack) {
        barred_at(barrier, header, type_name::<E>(), site);
    }
    let mut slot = Slot { effect: Some(effect), answer: None };
    {
        let handled = &stack.state().handled;
        let answering = handled.performer(header.link.outer.get());
        let _answers = handled.answer(&answering);
        // SAFETY: a handler is not reached from its own clauses, so the closure does not run.
        unsafe { see(closure, &mut AnyEffect::new(&mut slot, site)) };
    }
    match slot {
        Slot { answer: Some(answer), .. } => answer,
        Slot { effect: Some(effect), .. } => perform_from(stack, header.link.outer.get(), effect),
        Slot { effect: None, answer: None } => panic!(
            "the `answer_any` clause of the handler at {} has caught the panic with which it answers the effect {}, and \
             gives no answer",
            header.link.site(),
            type_name::<E>(),
        ),
    }
}

/// Suspends a computation with the request at `place`. Messages name the request by the type `W`. If the
/// request is refused, `item` is dropped. Returns when the computation is resumed with an answer.
///
/// # Safety
///
/// The computation is in the chain of this stack. The code that resumes it expects the request at `place`,
/// and moves the item out. The item has no other owner.
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn suspend_for<W, T>(
    stack: ThisStack<'_>,
    header: &Header,
    place: NonNull<()>,
    item: NonNull<T>,
) {
    let site = Location::caller();
    let goes_on = if header.marks.get().are(Marks::of(stack)) {
        // SAFETY: passed on to the caller.
        unsafe { header.suspend(Request(place)) }
    } else {
        // SAFETY: passed on to the caller.
        let refused = |barrier| unsafe { refuse::<W, T>(item, barrier, header, site) };
        // SAFETY: passed on to the caller.
        unsafe { suspend_within(stack, header, Request(place), &refused) }
    };
    if !goes_on {
        // SAFETY: if a request is refused, its item is not moved out.
        unsafe { obey::<W, T>(item, header, site) };
    }
}

/// Returns the nearest clause for an effect, from the computation with this link outwards, and the
/// computation whose handler has it.
///
/// # Safety
///
/// The computation is in the chain of this stack, and stays in it as long as the result is used.
#[inline]
unsafe fn look_up<'a>(mut link: *const Link, effect: &TypeId) -> Option<(&'a Header, Clause)> {
    // SAFETY: by the caller's promise.
    while let Some(header) = unsafe { Header::of(link) } {
        // SAFETY: as above.
        if let Some(clause) = unsafe { (header.table.find)(NonNull::from(header), effect) } {
            return Some((header, clause));
        }
        link = header.link.outer.get();
    }
    None
}

/// Suspends a computation from within frames that have made notes on the stack of the fiber. Puts the notes
/// aside meanwhile, or calls `refused`. Returns `true` if the computation is resumed with an answer.
///
/// # Safety
///
/// The computation is in the chain of this stack, and the request is as for its clause.
#[cold]
#[inline(never)]
unsafe fn suspend_within(
    stack: ThisStack<'_>,
    header: &Header,
    request: Request,
    refused: &dyn Fn(Barrier),
) -> bool {
    let (here, outer) = (Marks::of(stack), header.marks.get());
    if let Some(barrier) = here.barrier(outer, false) {
        refused(barrier);
    }
    outer.noted.set();
    let handled = &stack.state().handled;
    // SAFETY: this code runs within these answers.
    let aside = unsafe { handled.put_aside(outer.answering) };
    // SAFETY: by the caller's promise, and no note is left in the surroundings of the computation.
    let goes_on = unsafe { header.suspend(request) };
    let now = Marks::of(stack);
    here.noted.set_moved(outer.noted, now.noted);
    // SAFETY: these links are first fields of headers.
    let moved = |link| unsafe { Header::moved(link, outer, now) };
    // SAFETY: these answers were put aside.
    unsafe { handled.put_back(aside, outer.answering, &moved) };
    goes_on
}

/// Drops the request and panics, because the performer is not suspended.
///
/// # Safety
///
/// The item was not moved out, and will not be.
#[cold]
unsafe fn refuse<W, T>(
    item: NonNull<T>,
    barrier: Barrier,
    header: &Header,
    site: &'static Location<'static>,
) -> ! {
    // SAFETY: by the caller's promise.
    unsafe { item.drop_in_place() };
    barred_at(barrier, header, type_name::<W>(), site)
}

/// Obeys the order that the handler has given instead of an answer. If the request was refused, it is
/// dropped before.
///
/// # Safety
///
/// The performer was resumed with an order. If the order is a refusal, the item was not moved out, and will
/// not be.
#[cold]
unsafe fn obey<W, T>(item: NonNull<T>, header: &Header, site: &'static Location<'static>) -> ! {
    let (order, refusal) = (header.order.replace(Order::GoOn), header.refusal.take());
    if refusal.is_some() {
        // SAFETY: by the caller's promise.
        unsafe { item.drop_in_place() };
    }
    resume_unwind(drive::payload_of(header, order, refusal, type_name::<W>(), site))
}

#[cold]
#[track_caller]
fn unhandled(effect: &str) -> ! {
    panic!(
        "no handler for the effect {effect} is in place here: call this within `handle(|| ...)` with a clause for it, in \
         the same fiber, task or part of a loop"
    )
}

/// Panics, because `effect` would leave a call that it must not leave.
#[cold]
fn barred_at(barrier: Barrier, header: &Header, effect: &str, site: &Location<'_>) -> ! {
    let handler = header.link.site();
    match barrier {
        Barrier::Task => panic!(
            "the effect {effect}, performed at {site} in a task, does not reach the handler at {handler} around the task: a \
             task may run on another domain. Handle the effect in the task, or perform it before the task is spawned"
        ),
        Barrier::Loop => panic!(
            "the effect {effect}, performed at {site} in a part of a loop or join, does not reach the handler at {handler} \
             around the loop: a part may run on another domain. Handle the effect in the part, or perform it before \
             the loop"
        ),
        Barrier::Step => panic!(
            "the effect {effect}, performed at {site}, would suspend `no_suspend`, or a function that an event calls: the \
             handler at {handler} is outside of it. Have the handler answer the effect in place (`answer`), or perform \
             the effect outside"
        ),
        Barrier::Deadline => panic!(
            "the effect {effect}, performed at {site}, would suspend `with_deadline` or `without_deadline`: the handler at \
             {handler} is outside of it. Have the handler answer the effect in place (`answer`), perform the effect \
             outside, or put the deadline around the handler"
        ),
    }
}
