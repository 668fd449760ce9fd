//! Handlers, as users write them.

use crate::any::AnyEffect;
use crate::clause::{Answer, AnswerAny, CatchPanic, Find, On};
use crate::continuation::{Continuation, Next, finish};
use crate::drive;
use crate::effect::Effect;
use crate::placed::Computation;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

/// Begins a handler around `f`: add clauses, then [`run`](Handler::run) it.
///
/// Nothing happens before `run`. A handler that has not begun is an ordinary value, and is `Send` if its
/// closures are.
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
///
/// let sum = handle(|| perform(Ask) + perform(Ask))
///     .on(|Ask, k| k.resume(21)) // sees the effect and its continuation
///     .run();
/// assert_eq!(sum, 42);
/// ```
#[inline(always)]
#[track_caller]
pub fn handle<'env, F, T>(f: F) -> Handler<'env, F, T, T, (), Same>
where
    F: FnOnce() -> T,
{
    Handler {
        f,
        clauses: (),
        returning: Same,
        stack_size: None,
        site: Location::caller(),
        types: PhantomData,
    }
}

/// A computation and its handler, not begun: see [`handle`].
#[must_use = "nothing happens before `run`"]
pub struct Handler<'env, F, T, R, C, V> {
    pub(crate) f: F,
    pub(crate) clauses: C,
    pub(crate) returning: V,
    pub(crate) stack_size: Option<usize>,
    pub(crate) site: &'static Location<'static>,
    #[allow(clippy::type_complexity, reason = "invariant in the lifetime, and `Send`")]
    types: PhantomData<fn(&'env ()) -> (&'env (), T, R)>,
}

/// A handler's result is the computation's value.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Same;

/// A function makes the handler's result of the computation's value.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct With<V>(V);

/// The clauses of a handler that has none yet.
#[diagnostic::on_unimplemented(
    message = "`returning` comes before the clauses",
    label = "`returning` is called after a clause was given",
    note = "`returning` decides the type of the result, and the clauses give a result of that type: write \
            `handle(...).returning(...).on(...)`"
)]
trait NoClauses {}
impl NoClauses for () {}

/// A handler on which `returning` has not been called yet.
#[diagnostic::on_unimplemented(
    message = "`returning` is given twice",
    label = "this handler has a function for the computation's value already",
    note = "have the first one make the final result"
)]
trait NoReturning {}
impl NoReturning for Same {}

/// The function that makes the handler's result of the computation's value.
#[doc(hidden)]
pub trait Returning<T, R> {
    fn apply(self, value: T) -> R;
}

impl<T> Returning<T, T> for Same {
    #[inline(always)]
    fn apply(self, value: T) -> T {
        value
    }
}

impl<T, R, V: FnOnce(T) -> R> Returning<T, R> for With<V> {
    #[inline(always)]
    fn apply(self, value: T) -> R {
        (self.0)(value)
    }
}

impl<'env, F, T, R, C, V> Handler<'env, F, T, R, C, V> {
    /// Sets the function that makes the result of the whole from the computation's value. It comes before the
    /// clauses, because it decides the type of the result.
    ///
    /// `f` runs when the computation has ended, in the code around the handler. It is not called if
    /// a clause gives the result.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Fail(&'static str);
    /// impl Effect for Fail {
    ///     type Answer = ();
    /// }
    /// let result: Result<u32, &str> = handle(|| { perform(Fail("no")); 1 })
    ///     .returning(Ok)
    ///     .catch(|Fail(why)| Err(why))
    ///     .run();
    /// assert_eq!(result, Err("no"));
    /// ```
    ///
    /// After a clause, `returning` does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use lisle_effect::{Effect, handle, perform};
    /// # struct Fail(&'static str);
    /// # impl Effect for Fail { type Answer = (); }
    /// let result: Option<u32> = handle(|| 1).catch(|Fail(_)| 0).returning(Some).run();
    /// ```
    #[inline(always)]
    #[allow(private_bounds, reason = "one type has each of them")]
    pub fn returning<U, W>(self, f: W) -> Handler<'env, F, T, U, (), With<W>>
    where
        W: FnOnce(T) -> U + 'env,
        C: NoClauses,
        V: NoReturning,
    {
        Handler {
            f: self.f,
            clauses: (),
            returning: With(f),
            stack_size: self.stack_size,
            site: self.site,
            types: PhantomData,
        }
    }

    #[inline(always)]
    fn with<N>(self, clause: N) -> Handler<'env, F, T, R, (N, C), V> {
        Handler {
            f: self.f,
            clauses: (clause, self.clauses),
            returning: self.returning,
            stack_size: self.stack_size,
            site: self.site,
            types: PhantomData,
        }
    }

    /// Adds a clause that gets an effect of type `E` and its continuation.
    ///
    /// The computation is suspended, and the clause runs where [`run`](Handler::run) was called, or where the
    /// computation was last resumed. The clause decides how the computation goes on, see [`Continuation`].
    /// Effects that the clause performs go to the handlers around this one.
    ///
    /// If a handler has several clauses for one effect, it uses the one that was added last.
    ///
    /// # Panics
    ///
    /// A panic of the clause leaves `run`, or the call that has resumed the computation. The computation is
    /// unwound before, unless it was kept.
    #[inline(always)]
    #[allow(clippy::type_complexity, reason = "a handler is one value, with the types of its parts")]
    pub fn on<E, K>(self, clause: K) -> Handler<'env, F, T, R, (On<E, (&'env (), R), K>, C), V>
    where
        E: Effect,
        K: for<'k> FnMut(E, Continuation<'k, 'env, E::Answer, R>) -> Next<'k, R> + 'env,
    {
        self.with(On::new(clause))
    }

    /// Adds a clause that answers effects of type `E`, at once and always.
    ///
    /// The clause is called like a function, on the stack of the performer. This is the fastest kind of
    /// clause. Effects that it performs go to the handlers around this one.
    ///
    /// # Panics
    ///
    /// A panic of the clause unwinds from where the effect was performed, like a panic of a function.
    #[inline(always)]
    pub fn answer<E, K>(self, clause: K) -> Handler<'env, F, T, R, (Answer<E, K>, C), V>
    where
        E: Effect,
        K: FnMut(E) -> E::Answer + 'env,
    {
        self.with(Answer::new(clause))
    }

    /// Adds a clause that ends the computation when it performs an effect of type `E`, and gives the result
    /// of the whole. Other languages call such an effect an exception.
    ///
    /// The computation is unwound before `clause` is called. An effect of a destructor that runs meanwhile
    /// does not end the computation a second time: see [`perform`](crate::perform).
    #[inline(always)]
    #[allow(clippy::type_complexity, reason = "likewise, and with a closure of its own")]
    pub fn catch<E, K>(
        self,
        mut clause: K,
    ) -> Handler<
        'env,
        F,
        T,
        R,
        (
            On<
                E,
                (&'env (), R),
                impl for<'k> FnMut(E, Continuation<'k, 'env, E::Answer, R>) -> Next<'k, R> + 'env,
            >,
            C,
        ),
        V,
    >
    where
        E: Effect,
        K: FnMut(E) -> R + 'env,
    {
        self.on(move |effect: E, continuation| {
            if continuation.is_ending() {
                return continuation.unwind();
            }
            drop(continuation);
            finish(clause(effect))
        })
    }

    /// Adds a clause that sees each effect for which this handler has no other clause, whatever its type. The
    /// clause answers the effect, or leaves it to the handlers around.
    ///
    /// The clause is called on the stack of the performer, as a clause of [`answer`](Handler::answer) is.
    /// Only the effects that it sees cost more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Ask;
    /// impl Effect for Ask {
    ///     type Answer = u32;
    /// }
    /// struct Log(&'static str);
    /// impl Effect for Log {
    ///     type Answer = ();
    /// }
    /// let (mut trace, mut log) = (Vec::new(), Vec::new());
    /// let computation = || {
    ///     perform(Log("begun"));
    ///     perform(Ask)
    /// };
    /// let traced = || {
    ///     handle(computation)
    ///         .answer_any(|effect| {
    ///             trace.push(effect.site().line());
    ///             effect.answer(|Log(line)| log.push(line)); // `Ask` goes on
    ///         })
    ///         .run()
    /// };
    /// assert_eq!(handle(traced).answer(|Ask| 7).run(), 7);
    /// assert_eq!((trace.len(), log), (2, vec!["begun"]));
    /// ```
    ///
    /// # Panics
    ///
    /// A panic of the clause unwinds from where the effect was performed.
    #[inline(always)]
    pub fn answer_any<K>(self, clause: K) -> Handler<'env, F, T, R, (AnswerAny<K>, C), V>
    where
        K: FnMut(&mut AnyEffect<'_>) + 'env,
    {
        self.with(AnswerAny::new(clause))
    }

    /// Adds a clause that gives the result of the whole if the computation ends with a panic. The clause gets
    /// the payload. In OCaml it is called `exnc`.
    ///
    /// `clause` runs when the computation has ended, in the code around the handler, as
    /// [`returning`](Handler::returning) does. It may raise the panic again, by
    /// [`resume_unwind`](std::panic::resume_unwind). The clause sees the panics of the computation's own
    /// code, and also panics that [`Continuation::resume_unwind`] or a clause given to
    /// [`answer`](Handler::answer) has raised there. It does not see the panics of other clauses. It does not
    /// see an unwinding that is not a panic: of a dropped continuation, of a
    /// [deadline](lisle_core::time::with_deadline), or of the end of the runtime.
    ///
    /// If a handler has several such clauses, it uses the one that was added last.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, handle, perform};
    /// struct Ask;
    /// impl Effect for Ask {
    ///     type Answer = u32;
    /// }
    /// let parse = |text: &'static str| {
    ///     handle(move || text.parse::<u32>().unwrap() + perform(Ask))
    ///         .returning(Some)
    ///         .on(|Ask, k| k.resume(1))
    ///         .catch_panic(|_payload| None)
    ///         .run()
    /// };
    /// assert_eq!((parse("1"), parse("one")), (Some(2), None));
    /// ```
    #[inline(always)]
    pub fn catch_panic<K>(self, clause: K) -> Handler<'env, F, T, R, (CatchPanic<R, K>, C), V>
    where
        K: FnMut(Box<dyn Any + Send>) -> R + 'env,
    {
        self.with(CatchPanic::new(clause))
    }

    /// Sets the size of the computation's stack in bytes. The size is rounded up to whole pages, and to 16
    /// KiB. By default the stack is as large as the stacks of the domain's fibers, or 1 MiB on a plain
    /// thread.
    ///
    /// The size is address space. Only the pages that were used take memory.
    #[inline(always)]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Runs the computation with the handler in place, and returns its result.
    ///
    /// # Panics
    ///
    /// Panics if the computation or a clause panics; the payload is kept. Panics if there is no memory for a
    /// stack, or if the closures are too large for the stack.
    #[inline(always)]
    #[allow(private_bounds, reason = "clauses are made by the methods above")]
    pub fn run(self) -> R
    where
        F: FnOnce() -> T + 'env,
        V: Returning<T, R> + 'env,
        C: Find + 'env,
    {
        let header = Computation::create(self);
        // SAFETY: it was just begun, with results of this type, and is given up here.
        unsafe { drive::drive::<R>(header) }
    }
}

impl<F, T, R, C, V> fmt::Debug for Handler<'_, F, T, R, C, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("site", &self.site).finish_non_exhaustive()
    }
}
