//! Handlers, as users write them.

use crate::any::AnyEffect;
use crate::clause::{Answer, AnswerAny, CatchPanic, Find, On, Payload};
use crate::computation::{Header, Room, Settled, State, Table};
use crate::continuation::{Continuation, Next, finish};
use crate::drive::{self, caught};
use crate::effect::Effect;
use crate::request::Clause;
use crate::unwind;
use lisle_core::segment::{Place, Request, Segment, Way};
use lisle_runtime::handled::{self, Taken};
use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};
use std::panic::Location;
use std::ptr::NonNull;

/// Begins a handler around `f`: add clauses, then [`run`](Handler::run) it.
///
/// Nothing happens before `run`. A handler that has not begun is a value like others, and may be
/// sent to another thread if what it consists of may.
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
    f: F,
    clauses: C,
    returning: V,
    stack_size: Option<usize>,
    site: &'static Location<'static>,
    #[allow(clippy::type_complexity, reason = "invariant in the lifetime, and `Send`")]
    types: PhantomData<fn(&'env ()) -> (&'env (), T, R)>,
}

/// What is made of the computation's value: nothing else.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Same;

/// What is made of the computation's value: what a function makes of it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct With<V>(V);

/// What is made of the computation's value.
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

impl<'env, F, T> Handler<'env, F, T, T, (), Same> {
    /// Makes the result of the whole of the computation's value. It comes before the clauses, since
    /// it decides the type of the result.
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
    #[inline(always)]
    pub fn returning<R, V: FnOnce(T) -> R + 'env>(self, f: V) -> Handler<'env, F, T, R, (), With<V>> {
        Handler {
            f: self.f,
            clauses: (),
            returning: With(f),
            stack_size: self.stack_size,
            site: self.site,
            types: PhantomData,
        }
    }
}

impl<'env, F, T, R, C, V> Handler<'env, F, T, R, C, V> {
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

    /// Adds a clause that is told an effect of type `E` and its continuation.
    ///
    /// The computation is suspended, and the clause runs where [`run`](Handler::run) was called, or
    /// where the computation was last resumed. It decides how to go on, see [`Continuation`].
    /// Effects that it performs go to the handlers around this one.
    ///
    /// If a handler has several clauses for one effect, it uses the one that was added last.
    ///
    /// # Panics
    ///
    /// A panic of the clause leaves `run`, or what has resumed the computation. The computation is
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
    /// The clause is called like a function, on the stack of the performer: this is the fast way.
    /// Effects that it performs go to the handlers around this one.
    ///
    /// # Panics
    ///
    /// A panic of the clause unwinds from where the effect was performed, as that of a function.
    #[inline(always)]
    pub fn answer<E, K>(self, clause: K) -> Handler<'env, F, T, R, (Answer<E, K>, C), V>
    where
        E: Effect,
        K: FnMut(E) -> E::Answer + 'env,
    {
        self.with(Answer::new(clause))
    }

    /// Adds a clause that ends the computation when it performs an effect of type `E`, and gives
    /// the result of the whole: what other languages call an exception.
    ///
    /// The computation is unwound before `clause` is called. An effect that one of its destructors performs
    /// meanwhile does not end it a second time: see [`perform`](crate::perform).
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

    /// Adds a clause that sees each effect for which this handler has no other clause, whatever its type. It
    /// answers the effect, or leaves it to the handlers around.
    ///
    /// The clause is called like that of [`answer`](Handler::answer), on the stack of the performer. What it
    /// costs is paid by the effects that it sees.
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

    /// Adds a clause that gives the result of the whole if the computation ends with a panic, whose payload
    /// it gets: OCaml's `exnc`.
    ///
    /// `clause` runs when the computation has ended, in the code around the handler, as
    /// [`returning`](Handler::returning) does. It may raise the panic again, by
    /// [`resume_unwind`](std::panic::resume_unwind). It sees the panics of the computation's own code, also one
    /// that [`Continuation::resume_unwind`] has raised there, or a clause given to
    /// [`answer`](Handler::answer). Those of other clauses it does not see, nor what unwinds the computation without
    /// being a panic: a dropped continuation, a [deadline](lisle_core::time::with_deadline), the end of the
    /// runtime.
    ///
    /// If a handler has several, it uses the one that was added last.
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

    /// Sets the size of the computation's stack in bytes. It is rounded up to whole pages, and to
    /// 16 KiB. Otherwise it is that of the fibers of the domain, or 1 MiB on a plain thread.
    ///
    /// The size is address space. Of that, as much is memory as has been used.
    #[inline(always)]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Runs the computation with the handler in place, and returns its result.
    ///
    /// # Panics
    ///
    /// With a panic of the computation, whose payload is kept, or of a clause. Also if there is no
    /// memory for a stack, or if the closures are too large for it.
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

/// Puts a computation on a stack of its own. `make` makes it around its header, and `root` is its
/// code.
///
/// # Safety
///
/// The header is the first field of a `C`, whose functions are in the table. What the computation
/// borrows outlives it. The caller owns it.
#[inline(always)]
pub(crate) unsafe fn place_computation<C>(
    table: &'static Table,
    stack_size: Option<usize>,
    site: &'static Location<'static>,
    make: impl FnOnce(Header) -> C,
    root: impl FnOnce(*mut C, &Way),
) -> NonNull<Header> {
    let stack = handled::take(stack_size).unwrap_or_else(|error| no_stack(&error, site));
    let alignment = const { if align_of::<C>() > 16 { align_of::<C>() } else { 16 } };
    let (base, limit) = (stack.base(), stack.limit());
    if size_of::<C>() + alignment + LEAST > stack.usable() {
        too_small(stack, size_of::<C>(), site);
    }
    let place = (base - size_of::<C>()) & !(alignment - 1);
    let this = std::ptr::with_exposed_provenance_mut::<C>(place);
    // SAFETY: the stack is ours, and this is the uppermost part of it.
    unsafe { this.write(make(Header::new(table, stack, site))) };
    let header = NonNull::new(this).expect("a stack is not at address 0").cast::<Header>();
    // SAFETY: what is below belongs to the segment until it has ended, and then only is the stack
    // given back. The place is a multiple of 16, and so is the limit.
    let below = unsafe { Place::new(place, limit) };
    // SAFETY: what the code borrows outlives it. A computation that is forgotten keeps its stack.
    let segment = unsafe { Segment::new(below, move |way: &Way| root(this, way)) };
    // SAFETY: it is in place, and nobody else has it.
    unsafe { header.as_ref().begin(segment) };
    header
}

/// A computation with all its types.
#[repr(C)]
struct Computation<F, T, R, C, V> {
    header: Header,
    clauses: C,
    returning: ManuallyDrop<V>,
    body: UnsafeCell<Body<F, T>>,
    types: PhantomData<fn() -> R>,
}

/// The closure until the computation begins, and its value when it has ended without a panic.
union Body<F, T> {
    closure: ManuallyDrop<F>,
    value: ManuallyDrop<T>,
}

/// What a stack has at least for the frames of a computation.
const LEAST: usize = 12 * 1024;

impl<F, T, R, C, V> Computation<F, T, R, C, V>
where
    F: FnOnce() -> T,
    V: Returning<T, R>,
    C: Find,
{
    const TABLE: Table = Table {
        find: Self::find,
        finish: Self::finish,
        catch_panic: Self::catch_panic,
        settle: Self::settle,
        free: Self::free,
    };

    /// Puts the parts of a handler on a stack of their own.
    #[inline(always)]
    fn create(handler: Handler<'_, F, T, R, C, V>) -> NonNull<Header> {
        let make = |header| Computation {
            header,
            clauses: handler.clauses,
            returning: ManuallyDrop::new(handler.returning),
            body: UnsafeCell::new(Body { closure: ManuallyDrop::new(handler.f) }),
            types: PhantomData,
        };
        // SAFETY: whatever the parts of the handler borrow outlives the owner of the computation:
        // the call of `run`, which ends it before it returns; if it is kept, nothing is borrowed.
        unsafe {
            place_computation(const { &Self::TABLE }, handler.stack_size, handler.site, make, Self::root)
        }
    }

    /// The code of the computation. Inlined, since a call would have to return after the first
    /// switch.
    #[inline(always)]
    fn root(this: *mut Self, way: &Way) {
        // SAFETY: the computation stays while it runs.
        let header = unsafe { &(*this).header };
        header.has_begun(way);
        // SAFETY: it begins here, once, and nothing else uses the body before it has ended.
        let body = unsafe { &mut *(*this).body.get() };
        // SAFETY: the closure has not been taken.
        let closure = unsafe { ManuallyDrop::take(&mut body.closure) };
        match caught(closure) {
            Ok(value) => body.value = ManuallyDrop::new(value),
            Err(panic) => header.payload.set(Some(panic)),
        }
        if header.state.get() == State::Ending && header.has_no_payload() {
            // SAFETY: the value was just put there, and nobody wants it.
            if let Err(panic) = caught(|| unsafe { ManuallyDrop::drop(&mut body.value) }) {
                header.payload.set(Some(panic));
            }
        }
    }

    /// # Safety
    ///
    /// The header is that of such a computation. This holds for all functions of the table.
    unsafe fn find(header: NonNull<Header>, effect: TypeId) -> Option<Clause> {
        let this = header.cast::<Self>();
        // SAFETY: a field of a live computation.
        let clauses = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).clauses) };
        // SAFETY: as above.
        unsafe { C::find(clauses, effect) }
    }

    unsafe fn finish(header: NonNull<Header>, result: NonNull<()>) {
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: it has ended with a value, which is taken once.
        let value = unsafe { ManuallyDrop::take(&mut (*(*this).body.get()).value) };
        // SAFETY: taken once.
        let returning = unsafe { ManuallyDrop::take(&mut (*this).returning) };
        // SAFETY: its owner gives it up.
        drop(unsafe { Self::clear(this) });
        // SAFETY: the room is for a result.
        unsafe { result.cast::<R>().write(returning.apply(value)) };
    }

    unsafe fn catch_panic(
        header: NonNull<Header>,
        panic: Payload,
        value: NonNull<()>,
    ) -> Result<(), Payload> {
        let this = header.cast::<Self>();
        // SAFETY: a field of a live computation.
        let clauses = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).clauses) };
        // SAFETY: the computation has ended, so no clause runs. The room is for a result.
        unsafe { C::catch_panic(clauses, panic, value) }
    }

    unsafe fn settle(header: NonNull<Header>, request: Request) -> Settled {
        // SAFETY: it is suspended by `perform` for a clause of this handler.
        unsafe { unwind::settle::<R>(header, request) }
    }

    unsafe fn free(header: NonNull<Header>) {
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: its owner gives it up.
        let _room = unsafe { Self::clear(this) };
        // SAFETY: it has not been taken. The room is kept until it has been dropped.
        unsafe { ManuallyDrop::drop(&mut (*this).returning) };
    }

    /// Drops the clauses, and returns the stack.
    ///
    /// # Safety
    ///
    /// The computation has ended, and this is called once.
    #[inline(always)]
    unsafe fn clear(this: *mut Self) -> Room {
        // SAFETY: by the caller's promise.
        let room = unsafe { (*this).header.end() };
        // SAFETY: as above.
        unsafe { (&raw mut (*this).clauses).drop_in_place() };
        room
    }
}

#[cold]
fn no_stack(error: &std::io::Error, site: &Location<'_>) -> ! {
    panic!("no stack for the handled computation begun at {site}: {error}")
}

#[cold]
fn too_small(stack: Taken, size: usize, site: &Location<'_>) -> ! {
    let usable = stack.usable();
    handled::give(stack);
    panic!(
        "the handled computation begun at {site} and its clauses hold {size} bytes, too much for a stack of {usable} bytes: \
         give it a larger one (`stack_size`), or keep large values on the heap"
    )
}

impl<F, T, R, C, V> fmt::Debug for Handler<'_, F, T, R, C, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("site", &self.site).finish_non_exhaustive()
    }
}

const _: () = assert!(offset_of!(Header, link) == 0, "links are cast to headers");
