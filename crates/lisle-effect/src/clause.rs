//! The clauses of a handler: how a clause is found by the type of its effect, and how it is called.

use crate::any::AnyEffect;
use crate::computation::Header;
use crate::continuation::{Continuation, Next};
use crate::drive::Activation;
use crate::effect::Effect;
use crate::request::{Asked, Busy, Call, Clause, Exchange, Payload};
use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The clauses of a handler, the last given first.
///
/// # Safety
///
/// The clause that `find` returns can be called for an effect of that type.
pub(crate) unsafe trait Find {
    /// Returns the clause for the effect of this type.
    ///
    /// # Safety
    ///
    /// `this` points to a live value.
    unsafe fn find(this: NonNull<Self>, effect: &TypeId) -> Option<Clause>;

    /// Calls the clause for panics with this panic, and writes the result of the whole. Returns the panic
    /// if there is no such clause.
    ///
    /// # Safety
    ///
    /// `this` points to a live value, whose closures do not run, and `value` points to room for a result.
    unsafe fn catch_panic(this: NonNull<Self>, panic: Payload, value: NonNull<()>) -> Result<(), Payload>;
}

// SAFETY: it returns none.
unsafe impl Find for () {
    #[inline(always)]
    unsafe fn find(_: NonNull<Self>, _: &TypeId) -> Option<Clause> {
        None
    }

    unsafe fn catch_panic(_: NonNull<Self>, panic: Payload, _: NonNull<()>) -> Result<(), Payload> {
        Err(panic)
    }
}

/// A clause of a handler that gets an effect of type `E` and its continuation.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
#[repr(C)]
pub struct On<E, R, K> {
    busy: Busy,
    closure: K,
    types: PhantomData<fn(E) -> R>,
}

/// A clause of a handler that answers effects of type `E`.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub struct Answer<E, K> {
    closure: K,
    types: PhantomData<fn(E)>,
}

/// A clause of a handler that sees the effects for which the handler has no other clause.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub struct AnswerAny<K> {
    closure: K,
}

impl<K> AnswerAny<K> {
    pub(crate) fn new(closure: K) -> Self {
        AnswerAny { closure }
    }
}

/// A clause of a handler that gets the payload of a panic of the computation.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub struct CatchPanic<R, K> {
    closure: K,
    types: PhantomData<fn() -> R>,
}

impl<R, K> CatchPanic<R, K> {
    pub(crate) fn new(closure: K) -> Self {
        CatchPanic { closure, types: PhantomData }
    }
}

impl<E, R, K> On<E, R, K> {
    pub(crate) fn new(closure: K) -> Self {
        On { busy: Busy::new(false), closure, types: PhantomData }
    }
}

impl<E, K> Answer<E, K> {
    pub(crate) fn new(closure: K) -> Self {
        Answer { closure, types: PhantomData }
    }
}

// SAFETY: `take` is called with the types of this clause.
unsafe impl<'env, E, R, K, C> Find for (On<E, (&'env (), R), K>, C)
where
    E: Effect,
    K: for<'k> FnMut(E, Continuation<'k, 'env, E::Answer, R>) -> Next<'k, R>,
    C: Find,
{
    #[inline(always)]
    unsafe fn find(this: NonNull<Self>, effect: &TypeId) -> Option<Clause> {
        if *effect == TypeId::of::<E>() {
            // SAFETY: a field of a live value. It may be in use: no reference is made to it.
            let clause = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).0) };
            return Some(Clause {
                closure: clause.cast(),
                call: const { &Call::Suspended(take::<E, R, K>) },
            });
        }
        // SAFETY: as above.
        unsafe { C::find(others(this), effect) }
    }

    unsafe fn catch_panic(this: NonNull<Self>, panic: Payload, value: NonNull<()>) -> Result<(), Payload> {
        // SAFETY: passed on to the caller.
        unsafe { C::catch_panic(others(this), panic, value) }
    }
}

// SAFETY: `answer` is called with the types of this clause.
unsafe impl<E, K, C> Find for (Answer<E, K>, C)
where
    E: Effect,
    K: FnMut(E) -> E::Answer,
    C: Find,
{
    #[inline(always)]
    unsafe fn find(this: NonNull<Self>, effect: &TypeId) -> Option<Clause> {
        if *effect == TypeId::of::<E>() {
            // SAFETY: a field of a live value.
            let closure = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).0.closure) };
            return Some(Clause { closure: closure.cast(), call: const { &Call::InPlace(answer::<E, K>) } });
        }
        // SAFETY: as above.
        unsafe { C::find(others(this), effect) }
    }

    unsafe fn catch_panic(this: NonNull<Self>, panic: Payload, value: NonNull<()>) -> Result<(), Payload> {
        // SAFETY: passed on to the caller.
        unsafe { C::catch_panic(others(this), panic, value) }
    }
}

// SAFETY: `answer_any` is called with the closure, and takes effects of any type.
unsafe impl<K, C> Find for (AnswerAny<K>, C)
where
    K: FnMut(&mut AnyEffect<'_>),
    C: Find,
{
    #[inline(always)]
    unsafe fn find(this: NonNull<Self>, effect: &TypeId) -> Option<Clause> {
        // SAFETY: passed on to the caller.
        let of_type = unsafe { C::find(others(this), effect) };
        if let Some(Clause { call: Call::InPlace(_) | Call::Suspended(_), .. }) = of_type {
            return of_type;
        }
        // SAFETY: a field of a live value.
        let closure = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).0.closure) };
        Some(Clause { closure: closure.cast(), call: const { &Call::OfAny(answer_any::<K>) } })
    }

    unsafe fn catch_panic(this: NonNull<Self>, panic: Payload, value: NonNull<()>) -> Result<(), Payload> {
        // SAFETY: passed on to the caller.
        unsafe { C::catch_panic(others(this), panic, value) }
    }
}

/// Calls the closure of an [`AnswerAny`].
///
/// # Safety
///
/// The first argument is the closure, which does not run.
unsafe fn answer_any<K: FnMut(&mut AnyEffect<'_>)>(closure: NonNull<()>, effect: &mut AnyEffect<'_>) {
    // SAFETY: by the caller's promise.
    let closure = unsafe { closure.cast::<K>().as_mut() };
    closure(effect);
}

// SAFETY: it finds only clauses of `C`.
unsafe impl<R, K, C> Find for (CatchPanic<R, K>, C)
where
    K: FnMut(Payload) -> R,
    C: Find,
{
    #[inline(always)]
    unsafe fn find(this: NonNull<Self>, effect: &TypeId) -> Option<Clause> {
        // SAFETY: passed on to the caller.
        unsafe { C::find(others(this), effect) }
    }

    unsafe fn catch_panic(this: NonNull<Self>, panic: Payload, value: NonNull<()>) -> Result<(), Payload> {
        // SAFETY: a field of a live value, which does not run.
        let closure = unsafe { &mut (*this.as_ptr()).0.closure };
        let result = closure(panic);
        // SAFETY: by the caller's promise.
        unsafe { value.cast::<R>().write(result) };
        Ok(())
    }
}

/// Returns the place of the clauses that were given before the last.
///
/// # Safety
///
/// `this` points to a live value.
#[inline(always)]
unsafe fn others<N, C>(this: NonNull<(N, C)>) -> NonNull<C> {
    // SAFETY: a field of it.
    unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).1) }
}

/// Calls the closure of an [`Answer`].
///
/// # Safety
///
/// The first argument is the closure, which does not run. The second is an effect, which is moved
/// out. The third is the room for its answer.
unsafe fn answer<E: Effect, K: FnMut(E) -> E::Answer>(
    closure: NonNull<()>,
    effect: NonNull<()>,
    room: NonNull<()>,
) {
    // SAFETY: by the caller's promise.
    let effect = unsafe { effect.cast::<E>().read() };
    // SAFETY: as above. A handler is not reached from its own clauses, so the closure does not run.
    let closure = unsafe { closure.cast::<K>().as_mut() };
    let answer = closure(effect);
    // SAFETY: as above.
    unsafe { room.cast::<E::Answer>().write(answer) };
}

/// Calls the closure of an [`On`].
///
/// # Safety
///
/// `asked` lies on the stack of a performer of such an effect, which is suspended with the computation
/// `header`; the closure of its clause does not run. `activation` is an [`Activation`] for results of
/// type `R`, and `value` is room for such a result.
unsafe fn take<'env, E, R, K>(
    asked: NonNull<Asked<()>>,
    header: &Header,
    activation: NonNull<()>,
    value: NonNull<()>,
) -> bool
where
    E: Effect,
    K: for<'k> FnMut(E, Continuation<'k, 'env, E::Answer, R>) -> Next<'k, R>,
{
    let asked = asked.cast::<Asked<Exchange<E>>>();
    // SAFETY: by the caller's promise. The effect is moved out once, here.
    let effect = unsafe { (&raw const (*asked.as_ptr()).what.effect).cast::<E>().read() };
    // SAFETY: as above.
    let room = unsafe { NonNull::new_unchecked((&raw mut (*asked.as_ptr()).what.answer).cast()) };
    // SAFETY: as above.
    let clause = unsafe { (*asked.as_ptr()).closure.cast::<On<E, (&'env (), R), K>>() };
    // SAFETY: as above.
    let activation = unsafe { activation.cast::<Activation<R>>().as_ref() };
    // SAFETY: the clause begins with this field, and stays until the clause has returned.
    let busy = unsafe { clause.cast::<Busy>().as_ref() };
    // SAFETY: the computation is suspended, and its performer waits for this answer. The clause is this
    // one.
    let continuation = unsafe { Continuation::new(header, activation, room, busy) };
    // SAFETY: as above.
    let closure = unsafe { &mut (*clause.as_ptr()).closure };
    match closure(effect, continuation).value() {
        None => true,
        Some(result) => {
            // SAFETY: as above.
            unsafe { value.cast::<R>().write(result) };
            false
        }
    }
}
