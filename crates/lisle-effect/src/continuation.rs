//! The continuation that a clause gets, and the value that a clause returns.

use crate::computation::{ComputationState, Header, Order};
use crate::drive::Activation;
use crate::kept::Suspended;
use crate::request::Busy;
use crate::unwind;
use lisle_runtime::internal::this_stack::this_stack;
use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ptr::{NonNull, null_mut};

/// The rest of a computation that has performed an effect. It is the part between the performer and its
/// handler, and waits for an answer of type `A`.
///
/// A clause given to [`Handler::on`](crate::Handler::on) gets the continuation, and has these choices:
///
/// - [`resume`](Continuation::resume): the computation goes on with an answer;
/// - [`resume_then`](Continuation::resume_then): the computation goes on, and a function is applied to the
///   result;
/// - [`resume_unwind`](Continuation::resume_unwind): the computation goes on with a panic;
/// - [`keep`](Continuation::keep): the computation waits, and is resumed at another time;
/// - drop: the computation is unwound, and its destructors run, before the drop returns.
///
/// Each choice consumes the continuation: a computation goes on once. A continuation cannot leave the clause
/// unless it is [kept](Continuation::keep). A clause may also forget it (`mem::forget`). Then the computation
/// is unwound when the clause has returned.
///
/// A continuation stays on its thread, also while the clause runs:
///
/// ```compile_fail,E0277
/// # use lisle_effect::{Effect, finish, handle, perform};
/// # struct Ask;
/// # impl Effect for Ask { type Answer = u32; }
/// handle(|| perform(Ask))
///     .on(|Ask, k| {
///         std::thread::scope(|scope| {
///             scope.spawn(move || drop(k));
///         });
///         finish(0)
///     })
///     .run();
/// ```
///
/// The lifetimes are the clause's, and the lifetime of the computation's borrows.
#[must_use = "dropping a continuation unwinds its computation; to go on, return what `resume` returns"]
pub struct Continuation<'k, 'env, A, R> {
    header: &'k Header,
    activation: &'k Activation<R>,
    room: NonNull<MaybeUninit<A>>,
    /// The mark of the clause.
    busy: &'k Busy,
    /// Invariant in `'env`, because of `keep`, and not `Send`.
    borrows: PhantomData<*mut &'env ()>,
}

/// The value that a clause returns: either the computation goes on, or this is the result of the whole.
///
/// Lifetime `'k` is the lifetime of the call of the clause, so that a clause cannot return the `Next` of
/// another clause.
#[must_use = "a clause returns it"]
pub struct Next<'k, R> {
    value: Option<R>,
    given: Given,
    clause: PhantomData<*mut &'k ()>,
}

/// An answer that the performer has not taken. The performer takes it only if the clause returns this.
struct Given {
    room: *mut (),
    drop: unsafe fn(*mut ()),
}

impl Given {
    const NOTHING: Given = Given { room: null_mut(), drop: drop_answer::<()> };
}

impl Drop for Given {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.room.is_null() {
            // SAFETY: the answer was written there. Its performer waits, and does not take it.
            unsafe { (self.drop)(self.room) };
        }
    }
}

/// # Safety
///
/// An answer of this type lies there, and no other code takes it.
unsafe fn drop_answer<A>(room: *mut ()) {
    // SAFETY: by the caller's promise.
    unsafe { room.cast::<A>().drop_in_place() };
}

/// Makes the value that a clause returns if the computation does not go on. `value` is the result of the
/// whole, that is, of [`run`](crate::Handler::run).
///
/// When the clause returns, its continuation is dropped, and so the computation is unwound, unless it was
/// [kept](Continuation::keep).
///
/// # Examples
///
/// ```
/// # use lisle_effect as effect;
/// use effect::{Effect, finish, handle, perform};
///
/// struct Fail(&'static str);
/// impl Effect for Fail {
///     type Answer = std::convert::Infallible;
/// }
///
/// fn half(n: u32) -> u32 {
///     if n % 2 == 1 {
///         match perform(Fail("odd")) {}
///     }
///     n / 2
/// }
/// let result = handle(|| half(half(6)))
///     .returning(Ok)
///     .on(|Fail(why), _| finish(Err(why)))
///     .run();
/// assert_eq!(result, Err("odd"));
/// ```
pub fn finish<'k, R>(value: R) -> Next<'k, R> {
    Next { value: Some(value), given: Given::NOTHING, clause: PhantomData }
}

impl<R> Next<'_, R> {
    #[inline(always)]
    pub(crate) fn value(self) -> Option<R> {
        // The performer takes the answer.
        mem::forget(self.given);
        self.value
    }
}

impl<'k, 'env, A, R> Continuation<'k, 'env, A, R> {
    /// # Safety
    ///
    /// The computation is suspended, driven or unwound with this activation, and its performer waits for the
    /// answer in `room`. `busy` is the mark of the clause that gets this. No other continuation is made of
    /// the computation until it has been resumed.
    #[inline(always)]
    pub(crate) unsafe fn new(
        header: &'k Header,
        activation: &'k Activation<R>,
        room: NonNull<MaybeUninit<A>>,
        busy: &'k Busy,
    ) -> Self {
        Continuation { header, activation, room, busy, borrows: PhantomData }
    }

    #[inline(always)]
    fn go_on(self, given: Given) -> Next<'k, R> {
        mem::forget(self);
        Next { value: None, given, clause: PhantomData }
    }

    /// Goes on with `answer`: [`perform`](crate::perform) returns it.
    ///
    /// The computation goes on when the clause has returned the [`Next`] that this returns. So a clause is
    /// never called within another clause of the same handler, and a loop that performs any number of effects
    /// runs in constant space. The handler stays in place.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Next;
    /// impl Effect for Next {
    ///     type Answer = u32;
    /// }
    /// let mut last = 0;
    /// let sum = handle(|| perform(Next) + perform(Next))
    ///     .on(|Next, k| {
    ///         last += 1;
    ///         k.resume(last)
    ///     })
    ///     .run();
    /// assert_eq!(sum, 3);
    /// ```
    #[inline(always)]
    pub fn resume(self, answer: A) -> Next<'k, R> {
        // SAFETY: the performer waits, and its room is for such an answer.
        unsafe { self.room.as_ptr().write(MaybeUninit::new(answer)) };
        let room = if mem::needs_drop::<A>() { self.room.as_ptr().cast() } else { null_mut() };
        self.go_on(Given { room, drop: drop_answer::<A> })
    }

    /// Goes on with `answer`, and applies `then` to the result of the whole.
    ///
    /// Other languages write this as `then(resume(answer))`: the clause has work left when the computation
    /// has ended. `then` is kept on the heap, and not on the stack, so any number of clauses may do this.
    ///
    /// `then` is not called if the computation ends with a panic. It is called in the code around
    /// the handler, as [`returning`](crate::Handler::returning) is.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Say(&'static str);
    /// impl Effect for Say {
    ///     type Answer = ();
    /// }
    /// let said = handle(|| {
    ///     perform(Say("first"));
    ///     perform(Say("second"));
    /// })
    /// .returning(|()| Vec::new())
    /// .on(|Say(what), k| {
    ///     k.resume_then((), move |mut said| {
    ///         said.push(what);
    ///         said
    ///     })
    /// })
    /// .run();
    /// assert_eq!(said, ["second", "first"]);
    /// ```
    pub fn resume_then(self, answer: A, then: impl FnOnce(R) -> R + 'env) -> Next<'k, R> {
        // SAFETY: borrows for `'env` outlive the call that drives the computation, and `then` is called or
        // dropped in that call.
        unsafe { self.activation.push(then) };
        self.resume(answer)
    }

    /// Goes on with a panic that has this payload. The panic unwinds from where the effect was performed. No
    /// message is printed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// use std::panic::catch_unwind;
    /// struct Ask;
    /// impl Effect for Ask {
    ///     type Answer = u32;
    /// }
    /// let caught = handle(|| catch_unwind(|| perform(Ask)))
    ///     .on(|Ask, k| k.resume_unwind(Box::new("no answer")))
    ///     .run();
    /// assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"no answer"));
    /// ```
    pub fn resume_unwind(self, payload: Box<dyn Any + Send>) -> Next<'k, R> {
        self.header.payload.set(Some(payload));
        self.header.order.set(Order::Raise);
        self.go_on(Given::NOTHING)
    }

    /// Captures a backtrace of the code that has performed the effect and waits, from the performer out to the
    /// handler.
    ///
    /// A backtrace that the clause itself captures has the frames of the clause and the frames around the
    /// handler. A clause given to [`answer`](crate::Handler::answer) runs on the performer's stack: there, an
    /// ordinary [`Backtrace::force_capture`] has the frames of the performer.
    ///
    /// The computation does not go on for this. The backtrace is taken on the computation's stack, which
    /// needs some KiB of room.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Warn(&'static str);
    /// impl Effect for Warn {
    ///     type Answer = ();
    /// }
    /// #[inline(never)]
    /// fn suspicious() {
    ///     perform(Warn("is this right?"));
    /// }
    /// let mut from = String::new();
    /// handle(suspicious)
    ///     .on(|Warn(_), k| {
    ///         from = k.backtrace().to_string();
    ///         k.resume(())
    ///     })
    ///     .run();
    /// assert!(from.contains("suspicious"));
    /// ```
    pub fn backtrace(&self) -> Backtrace {
        let mut backtrace = Backtrace::disabled();
        // SAFETY: the computation is suspended, and this refers to the only right to resume it. The capture
        // performs no effect and does not wait.
        unsafe { self.header.run_in_performer(&mut || backtrace = Backtrace::force_capture()) };
        backtrace
    }

    /// Goes on with the unwinding, if the computation is being unwound.
    pub(crate) fn unwind(self) -> Next<'k, R> {
        self.header.order.set(Order::Unwind);
        self.go_on(Given::NOTHING)
    }
}

impl<A, R> Continuation<'_, '_, A, R> {
    /// Returns `true` if the computation is being unwound. Then no step of a clause has to end it.
    pub(crate) fn is_ending(&self) -> bool {
        self.header.state.get() == ComputationState::Ending
    }
}

impl<A, R> Continuation<'_, 'static, A, R> {
    /// Keeps the computation, to go on with it at another time and place: see [`Suspended`].
    ///
    /// The clause has to give a result nevertheless, with [`finish`]. The call that has run the computation
    /// up to this effect returns this result.
    ///
    /// The computation and its handler may borrow nothing. The owner of a kept computation may forget it, and
    /// then threads for which the computation waits might still use the borrowed data.
    ///
    /// ```compile_fail,E0597
    /// # use lisle_effect::{Effect, finish, handle, perform};
    /// # struct Ask;
    /// # impl Effect for Ask { type Answer = u32; }
    /// let mut kept = None;
    /// {
    ///     let local = 1;
    ///     handle(|| { let _sum = local + perform(Ask); })
    ///         .on(|Ask, k| {
    ///             let _ = k.keep();
    ///             finish(())
    ///         })
    ///         .run();
    /// }
    /// # kept = Some(1);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the effect was performed in a `catch` block of C++, and the computation was begun in another
    /// one: C++ links the exception of the first block to the exception of the second, which may end first.
    /// Panics if the computation is being unwound and one of its destructors has performed the effect: no
    /// code would take the result of the computation.
    #[track_caller]
    pub fn keep(self) -> Suspended<A, R> {
        assert!(
            !self.is_ending(),
            "the computation begun at {} is kept while it is unwound: one of its destructors has performed the effect. \
             Resume the computation in the clause, or do not perform the effect in destructors",
            self.header.link.site(),
        );
        assert!(
            !self.header.exceptions.are_linked(),
            "the computation begun at {} is kept in a `catch` block of C++, and was begun in another one, whose \
             exception may end first. Begin the computation outside of that block, or have the computation leave its \
             own block before it performs the effect",
            self.header.link.site(),
        );
        self.header.state.set(ComputationState::Kept);
        self.header.is_in_clause.set(true);
        self.busy.set(true);
        let (header, room) = (NonNull::from(self.header), self.room);
        mem::forget(self);
        // SAFETY: the computation is suspended, and it borrows nothing. The result of this is its owner: the
        // code that drives the computation finds that it is kept.
        unsafe { Suspended::new(header, room) }
    }
}

impl<A, R> Drop for Continuation<'_, '_, A, R> {
    /// Unwinds the computation. Two drops leave that to the end of the clause: a drop on another stack,
    /// such as a fiber's of a runtime that the clause has started, and a drop while the computation is
    /// being unwound.
    fn drop(&mut self) {
        if self.is_ending() || !self.header.is_on(this_stack().state()) {
            return;
        }
        self.busy.set(true);
        // SAFETY: the computation is suspended, and this is the only right to resume it. Its clause
        // runs on the stack from which it was driven, and is marked.
        unsafe { unwind::unwind(self.header) };
    }
}

impl<A, R> fmt::Debug for Continuation<'_, '_, A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation").field("site", &self.header.link.site()).finish_non_exhaustive()
    }
}

impl<R> fmt::Debug for Next<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.value.is_some() { "Next(finish)" } else { "Next(resume)" })
    }
}
