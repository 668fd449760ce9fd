//! Performing an effect: the handler is found, and either it answers in place, or the computation
//! that it handles is suspended.
//!
//! What suspends is inlined into the user's code, for the reason given in `lisle_core::segment`.
//! What comes before need not be.

use crate::any::{AnyEffect, Slot};
use crate::computation::{Header, Order};
use crate::drive;
use crate::effect::Effect;
use crate::marks::{Barrier, Marks};
use crate::request::{Asked, Call, Clause, Exchange};
use lisle_core::segment::Request;
use lisle_runtime::handled::Link;
use lisle_runtime::spawned::this_stack::{ThisStack, this_stack};
use std::any::{TypeId, type_name};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;

/// Asks the nearest handler for what `effect` stands for, and returns its answer.
///
/// Handlers are looked at from the innermost outwards, among those that run in the same fiber, task
/// or thread. A clause that [takes any](crate::Handler::answer_any) effect sees those that come by. Within
/// a clause of a handler, and in what follows its computation, they are those around that handler.
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
/// If no handler for the effect is in place; the message names the effect and the place of the
/// call. Also if the handler is around something that an effect must not leave:
///
/// - a task, a part of a loop of `par`, or a half of a join: these may run elsewhere. Handle the
///   effect inside of it, or perform it before;
/// - [`no_suspend`](lisle_runtime::fiber::no_suspend), a function that an event calls: these are
///   not to be suspended. A handler that [answers](crate::Handler::answer) does not suspend, and
///   may;
/// - a call with a [deadline](lisle_core::time::with_deadline), which counts for the code on one stack.
///   An answer in place is part of that call.
///
/// The handler may answer with a panic. If it drops the continuation, the call does not return: it
/// unwinds the computation.
///
/// # While a computation is unwound
///
/// Its handler stays in place, as in OCaml. Effects that destructors perform are answered, be it by
/// [`answer`](crate::Handler::answer) or by [`on`](crate::Handler::on), as long as the clause resumes. So
/// it is if a scheduler drops what it has [kept](crate::Continuation::keep).
///
/// If the clause does not resume, the unwinding goes on from where the effect was performed. A value that
/// the clause gives is dropped, and the clause of a [`catch`](crate::Handler::catch) is not called. Nor is
/// the clause called that has dropped the continuation, before it has returned. A destructor cannot be
/// unwound, if a panic or another unwinding runs it: then the process ends, with a message that names the
/// effect and the handler.
#[inline(always)]
#[track_caller]
pub fn perform<E: Effect>(effect: E) -> E::Answer {
    let stack = this_stack();
    perform_from(stack, stack.state().handled.top.get(), effect)
}

/// Does the same, for the handlers from that of the computation with this link.
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
            // SAFETY: whoever resumes a performer without an order has written the answer.
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

/// Offers an effect to a clause that takes any, and to the handlers around if that does not answer it.
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
            "the clause for any effect of the handler at {} has caught a panic of its answer to the effect {}",
            header.link.site(),
            type_name::<E>(),
        ),
    }
}

/// Suspends a computation for what is at `place`. `W` is the type by which messages name it, and
/// `item` is what is lost if that is refused. Returns when the computation is resumed with an
/// answer.
///
/// # Safety
///
/// The computation is in the chain of this stack. Whoever resumes it is to take what is at `place`,
/// and moves the item out, of which there is no other owner.
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
        // SAFETY: of what is refused, nobody moves the item out.
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

/// Suspends a computation from within frames that have noted something on the stack of the fiber:
/// puts that aside meanwhile, or calls `refused`. Returns `true` if it is resumed with an answer.
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
    // SAFETY: this code runs in what gives those answers.
    let aside = unsafe { handled.put_aside(outer.answering) };
    // SAFETY: by the caller's promise, and nothing is left to what surrounds the computation.
    let goes_on = unsafe { header.suspend(request) };
    let now = Marks::of(stack);
    here.noted.set_moved(outer.noted, now.noted);
    // SAFETY: these links are those of headers.
    let moved = |link| unsafe { Header::moved(link, outer, now) };
    // SAFETY: those that were put aside.
    unsafe { handled.put_back(aside, outer.answering, &moved) };
    goes_on
}

/// Drops what would have been asked and panics, since the performer is not suspended.
///
/// # Safety
///
/// Nobody has moved the item out, nor will.
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

/// Does what the handler has ordered instead of giving an answer. If it has refused what was asked, that is
/// dropped before.
///
/// # Safety
///
/// The performer was resumed with an order. If that is a refusal, nobody has moved the item out, nor will.
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

/// Panics, because `effect` would leave what it must not leave.
#[cold]
fn barred_at(barrier: Barrier, header: &Header, effect: &str, site: &Location<'_>) -> ! {
    let handler = header.link.site();
    match barrier {
        Barrier::Task => panic!(
            "the effect {effect}, performed at {site} in a task, does not reach the handler at {handler} around it: a task \
             may run elsewhere. Handle the effect in the task, or perform it before the task is spawned"
        ),
        Barrier::Loop => panic!(
            "the effect {effect}, performed at {site} in a part of a loop or join, does not reach the handler at {handler} \
             around it: a part may run on another domain. Handle the effect in the part, or perform it before the loop"
        ),
        Barrier::Step => panic!(
            "the effect {effect}, performed at {site}, would suspend `no_suspend`, or a function that an event calls, for \
             the handler at {handler}. Have the handler answer it in place (`answer`), or perform it outside"
        ),
        Barrier::Deadline => panic!(
            "the effect {effect}, performed at {site}, would suspend `with_deadline` or `without_deadline`, for the \
             handler at {handler}. Have the handler answer it in place (`answer`), perform it outside, or put the \
             deadline around the handler"
        ),
    }
}
