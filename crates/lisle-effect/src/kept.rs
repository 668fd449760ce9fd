//! Continuations that are kept.

use crate::computation::{Header, Order, State};
use crate::drive;
use crate::unwind::{self, Owned};
use lisle_runtime::handled::{self, Home};
use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;

/// A continuation that was [kept](crate::Continuation::keep): a suspended computation with its
/// handler, that waits for an answer of type `A` and comes to a result of type `R`.
///
/// It is resumed by a call that returns the next result: that of the whole if the computation ends,
/// or what a clause gives that [keeps](crate::Continuation::keep) or drops the continuation again.
/// A scheduler has a queue of these.
///
/// # Where it may go on
///
/// In the fiber in which it was kept, or, if that was none, on the thread, outside of fibers and
/// tasks. It is not [`Send`]: its frames hold whatever they hold. And it does not go on in another
/// fiber of the same thread: frames may refer to what belongs to their fiber, such as the values of a
/// [`fiber_local!`](lisle_runtime::fiber_local).
///
/// What was kept in a task goes on in that task, as long as it runs on the same stack: its frames
/// may refer to the locals of the task, and to those of the fiber or thread that polls it. A task
/// that has waited may go on on another stack.
///
/// What was kept in a [hook](lisle_runtime::fiber::Hooks) goes on in the same call of the hook.
///
/// ```compile_fail,E0277
/// # use lisle_effect::Suspended;
/// fn elsewhere(kept: Suspended<(), ()>) {
///     std::thread::spawn(move || kept.resume(()));
/// }
/// ```
///
/// # When it is dropped
///
/// The computation is unwound, and its destructors run. Its handler stays in place meanwhile: effects that
/// they perform are [answered](crate::perform#while-a-computation-is-unwound).
///
/// One that was kept in a fiber is unwound when that fiber ends, before the fiber's locals are
/// dropped, if it has not been resumed or dropped by then. So it may lie in a `fiber_local!`, and
/// frames of it may refer to others. It may also lie elsewhere, be forgotten, or be dropped in
/// another fiber of the thread: its computation is unwound with its own fiber nevertheless.
///
/// Where it cannot be unwound with its fiber, since it waits in what foreign code has called (an
/// `extern "C"` function, or one of C++ with `catch (...)`), it is left as it is: its stack is lost to the
/// process, its destructors do not run, and a line on standard error says so.
///
/// One that was kept in a task, on a plain thread, or in a hook, and that is dropped where it must
/// not be resumed, is left in the same way. So is one that is forgotten there, without the line.
///
/// Frames that are left may have lent what they refer to: to the threads of a
/// [`std::thread::scope`], for example, which go on. Therefore, if one is left, the values of
/// `fiber_local!` and `task_local!` stay, too, that it may refer to, and a line says so: those of the
/// task when that ends, and those of the fiber or thread on which it was kept. So drop or resume
/// what is kept before its task or thread ends.
///
/// # At the end of a thread
///
/// The values of a `thread_local!` are destroyed one after another, and frames of a computation may
/// refer to one that is gone. Therefore one that a `thread_local!` keeps until then is not unwound,
/// but left as above: take it out before the thread ends, or keep it in a local of a function. In
/// the destructor of a thread-local, nothing that was kept before is resumed: that panics.
///
/// The library cannot make the values of a `thread_local!` stay. So there are limits, which are the
/// program's to respect:
///
/// - A computation that borrows from a `thread_local!` and lends that to others, as to the threads of
///   a scope, must end before its thread does, and must not be forgotten.
/// - That a thread ends is only known everywhere with the C library of GNU. And a destructor that
///   *resumes* a computation whose frames refer to a thread-local that was first used very lately
///   may still reach it after its end. Do not resume in such destructors.
#[must_use = "dropping it unwinds the computation"]
pub struct Suspended<A, R> {
    header: NonNull<Header>,
    room: NonNull<MaybeUninit<A>>,
    types: PhantomData<fn(A) -> R>,
}

impl<A, R> Suspended<A, R> {
    /// # Safety
    ///
    /// The computation is suspended and borrows nothing. Its performer waits for what is put into
    /// `room`, and its handler's results are of type `R`. The result of this owns it.
    pub(crate) unsafe fn new(header: NonNull<Header>, room: NonNull<MaybeUninit<A>>) -> Self {
        // SAFETY: by the caller's promise.
        Owned::wait_here(unsafe { header.as_ref() });
        Suspended { header, room, types: PhantomData }
    }

    fn header(&self) -> &Header {
        // SAFETY: this owns the computation.
        unsafe { self.header.as_ref() }
    }

    /// # Panics
    ///
    /// If the computation must not be resumed here and now, for what `what` says.
    #[inline]
    #[track_caller]
    fn check(&self, what: &str) {
        assert!(
            !self.header().is_in_clause.get(),
            "a continuation is {what} within the clause that has kept it: wait until the clause has returned, or do not \
             keep the continuation, and return the result of its `resume`"
        );
        assert!(
            self.header().is_at_home(),
            "a continuation of the computation begun at {} is {what} in {} to which it does not belong: use the \
             continuation in the fiber, task or thread in which it was kept",
            self.header().link.site(),
            Home::describe(),
        );
        assert!(
            self.header().state.get() == State::Kept,
            "a continuation of the computation begun at {} is {what} while its fiber ends: the end of the fiber unwinds \
             the computation, before the fiber's locals are dropped",
            self.header().link.site(),
        );
    }

    fn go_on(self) -> R {
        let header = self.header;
        handled::wait_no_more(&self.header().entry);
        mem::forget(self);
        // SAFETY: this owned the computation, and has given it up.
        unsafe { drive::drive(header) }
    }

    /// Goes on with `answer`, and returns the next result.
    ///
    /// # Panics
    ///
    /// With the panic of the computation or of a clause. Also if this is called in another fiber,
    /// task or thread than that in which it was kept, or within the clause that has kept it; the
    /// computation is then unwound, or, elsewhere, left.
    #[inline]
    #[track_caller]
    pub fn resume(self, answer: A) -> R {
        self.check("resumed");
        // SAFETY: the performer waits, and its room is for such an answer.
        unsafe { self.room.as_ptr().write(MaybeUninit::new(answer)) };
        self.go_on()
    }

    /// Goes on with a panic that has this payload, and returns the next result: see
    /// [`Continuation::resume_unwind`](crate::Continuation::resume_unwind).
    ///
    /// # Panics
    ///
    /// As for [`resume`](Suspended::resume).
    #[track_caller]
    pub fn resume_unwind(self, payload: Box<dyn Any + Send>) -> R {
        self.check("resumed");
        self.header().payload.set(Some(payload));
        self.header().order.set(Order::Raise);
        self.go_on()
    }

    /// Captures a backtrace of the code that waits, from the performer out to the handler, like
    /// [`Continuation::backtrace`](crate::Continuation::backtrace). A scheduler can show with it
    /// where each of its computations stands.
    ///
    /// # Panics
    ///
    /// As [`resume`](Suspended::resume) does: the computation's stack is used for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_effect as effect;
    /// # use effect::{Effect, Suspended, finish, handle, perform};
    /// struct Wait;
    /// impl Effect for Wait {
    ///     type Answer = u32;
    /// }
    /// #[inline(never)]
    /// fn dinner() -> u32 {
    ///     perform(Wait) + 1
    /// }
    /// enum Dinner {
    ///     Waits(Suspended<u32, Dinner>),
    ///     Eaten(u32),
    /// }
    /// let begun = handle(dinner).returning(Dinner::Eaten).on(|Wait, k| finish(Dinner::Waits(k.keep()))).run();
    /// let Dinner::Waits(kept) = begun else { panic!("it waits") };
    /// assert!(kept.backtrace().to_string().contains("dinner"));
    /// assert!(matches!(kept.resume(1), Dinner::Eaten(2)));
    /// ```
    #[track_caller]
    pub fn backtrace(&self) -> Backtrace {
        self.check("asked for a backtrace");
        let mut backtrace = Backtrace::disabled();
        // SAFETY: the computation is suspended, and this refers to the only right to resume it. To capture
        // performs no effect and does not wait.
        unsafe { self.header().run_in_performer(&mut || backtrace = Backtrace::force_capture()) };
        backtrace
    }
}

impl<A, R> Drop for Suspended<A, R> {
    fn drop(&mut self) {
        if self.header().is_in_clause.replace(false) {
            // Whoever has called the clause owns it again, and frees it. The clause may be suspended,
            // and the end of its fiber may have come to this computation first.
            if self.header().state.get() == State::Kept && self.header().is_at_home() && !Home::is_ending() {
                handled::wait_no_more(&self.header().entry);
                // SAFETY: it is suspended, and this was the right to resume it. Its clause is marked.
                unsafe { unwind::unwind_owned(self.header, Order::Unwind) };
            }
            return;
        }
        // SAFETY: this owns the computation, and is gone.
        unsafe { Owned::new(self.header) }.give_up();
    }
}

impl<A, R> fmt::Debug for Suspended<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspended").field("site", &self.header().link.site()).finish_non_exhaustive()
    }
}
