//! Continuations that are kept.

use crate::computation::{ComputationState, Header, Order};
use crate::drive;
use crate::unwind::{self, Owned};
use lisle_runtime::internal::handled::{self, Home};
use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;

/// A continuation that was [kept](crate::Continuation::keep). It is a suspended computation with its handler,
/// which waits for an answer of type `A` and has a result of type `R`.
///
/// A call of [`resume`](Suspended::resume) returns the next result. This is the result of the whole if the
/// computation ends, or the result of a clause that [keeps](crate::Continuation::keep) or drops the
/// continuation again. A scheduler has a queue of `Suspended` values.
///
/// # Where it may go on
///
/// It goes on in the fiber in which it was kept. If it was kept outside of fibers and tasks, it goes on
/// outside of them, on the same thread. It is not [`Send`], because its frames may hold values of any type.
/// And it does not go on in another fiber of the same thread, because its frames may refer to values of their
/// fiber, such as the value of a [`fiber_local!`](lisle_runtime::fiber_local).
///
/// A continuation that was kept in a task goes on in that task, as long as the task runs on the same stack.
/// Its frames may refer to the locals of the task, and to the locals of the fiber or thread that polls the
/// task. A task that has waited may go on on another stack.
///
/// A continuation that was kept in a [hook](lisle_runtime::fiber::Hooks) goes on in the same call of the
/// hook.
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
/// The computation is unwound, and its destructors run. Its handler stays in place meanwhile: effects of the
/// destructors are [answered](crate::perform#while-a-computation-is-unwound).
///
/// If a continuation that was kept in a fiber has not been resumed or dropped when the fiber ends, it is
/// unwound then, before the fiber's locals are dropped. So it may lie in a `fiber_local!`, and its frames may
/// refer to other fiber-locals. It may also lie elsewhere, be forgotten, or be dropped in another fiber of
/// the thread: its computation is unwound with its own fiber nevertheless.
///
/// A computation that waits below foreign code (in an `extern "C"` function, or below C++ with `catch (...)`)
/// cannot be unwound with its fiber. It is left as it is: its stack is lost to the process, its destructors
/// do not run, and a line on standard error says so.
///
/// A continuation that was kept in a task, on a plain thread, or in a hook, and that is dropped where it must
/// not be resumed, is left in the same way. So is a continuation that is forgotten there, but no line says
/// so.
///
/// Frames that are left may have lent values to other threads, such as the threads of a
/// [`std::thread::scope`], which go on. Therefore, if a computation is left, the values of `fiber_local!` and
/// `task_local!` to which its frames may refer stay, too, and a line says so. These are the values of the
/// task when it ends, and the values of the fiber or thread on which the computation was kept. So drop or
/// resume a kept continuation before its task or thread ends.
///
/// # At the end of a thread
///
/// The values of a `thread_local!` are destroyed one after another, and frames of a computation may refer to
/// a value that is gone. Therefore a continuation that a `thread_local!` holds until then is not unwound, but
/// left as above. Take it out before the thread ends, or hold it in a local variable of a function. In the
/// destructor of a thread-local, resuming a continuation that was kept before is a panic.
///
/// The library cannot make the values of a `thread_local!` stay. So the program has to respect these limits:
///
/// - A computation that borrows from a `thread_local!` and lends that to others, as to the threads of
///   a scope, must end before its thread does, and must not be forgotten.
/// - Only with the C library of GNU does the library always know that a thread ends. And a destructor that
///   *resumes* a computation may reach a thread-local after its end, if the frames refer to a thread-local
///   that was first used very late. Do not resume in such destructors.
#[must_use = "dropping it unwinds the computation"]
pub struct Suspended<A, R> {
    header: NonNull<Header>,
    room: NonNull<MaybeUninit<A>>,
    types: PhantomData<fn(A) -> R>,
}

impl<A, R> Suspended<A, R> {
    /// # Safety
    ///
    /// The computation is suspended and borrows nothing. Its performer waits for the answer in `room`, and
    /// its handler's results are of type `R`. The result of this owns the computation.
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
    /// Panics if the computation must not be resumed here and now. `what` names the operation.
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
            self.header().state.get() == ComputationState::Kept,
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
    /// Panics if the computation or a clause panics. Panics within the clause that has kept the continuation;
    /// the computation is then unwound. Panics in another fiber, task or thread than that in which the
    /// continuation was kept; the computation is then left.
    #[inline]
    #[track_caller]
    pub fn resume(self, answer: A) -> R {
        self.check("resumed");
        // SAFETY: the performer waits, and its room is for such an answer.
        unsafe { self.room.as_ptr().write(MaybeUninit::new(answer)) };
        self.go_on()
    }

    /// Goes on with a panic that has this payload, and returns the next result. See
    /// [`Continuation::resume_unwind`](crate::Continuation::resume_unwind).
    ///
    /// # Panics
    ///
    /// Panics as [`resume`](Suspended::resume) does.
    #[track_caller]
    pub fn resume_unwind(self, payload: Box<dyn Any + Send>) -> R {
        self.check("resumed");
        self.header().payload.set(Some(payload));
        self.header().order.set(Order::Raise);
        self.go_on()
    }

    /// Captures a backtrace of the code that waits, from the performer out to the handler, like
    /// [`Continuation::backtrace`](crate::Continuation::backtrace). With it a scheduler can show where each
    /// of its computations waits.
    ///
    /// # Panics
    ///
    /// Panics where [`resume`](Suspended::resume) does: the backtrace is taken on the computation's stack.
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
        // SAFETY: the computation is suspended, and this refers to the only right to resume it. The capture
        // performs no effect and does not wait.
        unsafe { self.header().run_in_performer(&mut || backtrace = Backtrace::force_capture()) };
        backtrace
    }
}

impl<A, R> Drop for Suspended<A, R> {
    fn drop(&mut self) {
        if self.header().is_in_clause.replace(false) {
            // The call that runs the clause owns the computation again, and frees it. The clause may be
            // suspended, and the end of its fiber may have come to this computation first.
            if self.header().state.get() == ComputationState::Kept
                && self.header().is_at_home()
                && !Home::is_ending()
            {
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
