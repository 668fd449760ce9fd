//! The right to the result of a job.

use super::frame::Frame;
use super::spawned::{self, Header, PROMISE_GONE, Rest};
use crate::event::step;
use crate::event::turn;
use crate::job::Job;
use crate::owner;
use crate::pending::Pending;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

/// The future result of a job of a [scope](super::scope()): see
/// [`Scope::spawn`](super::Scope::spawn).
///
/// Dropping a promise changes nothing for the job, which is run by the end of the scope all the
/// same.
#[must_use = "`wait` gives the result; `let _ =` discards it"]
pub struct Promise<'scope, T> {
    spawned: NonNull<Header>,
    scope: PhantomData<&'scope ()>,
    /// A promise gives a `T`.
    result: PhantomData<fn() -> T>,
}

// SAFETY: a promise gives a `T` to its holder, and runs a function that may be sent to any thread.
unsafe impl<T: Send> Send for Promise<'_, T> {}
// SAFETY: a reference to a promise only allows checking whether the job has ended.
unsafe impl<T: Send> Sync for Promise<'_, T> {}

/// The outcome of a look at a job by the holder of its promise.
enum Found<T> {
    /// A job that has not begun, and that the holder now owns.
    Spawned(NonNull<Header>, Rest),
    /// A job that has ended.
    Result(thread::Result<T>),
}

// A result is written when its job has ended, and is taken out whole.
impl<T> UnwindSafe for Promise<'_, T> {}
impl<T> RefUnwindSafe for Promise<'_, T> {}

impl<'scope, T> Promise<'scope, T> {
    /// Creates the promise of `spawned`, whose result type is `T`.
    #[inline]
    pub(super) fn new(spawned: NonNull<Header>) -> Self {
        Promise { spawned, scope: PhantomData, result: PhantomData }
    }

    /// Waits for the job and returns its result. If the job has not begun, it runs here and now, as
    /// a call.
    ///
    /// While a fiber waits for a job that another domain runs, its own domain runs other fibers. Do
    /// not hold a lock of the standard library that other fibers of the domain want, or that jobs
    /// of the same code want. Other jobs do not run on the domain meanwhile.
    ///
    /// # Panics
    ///
    /// Panics with the panic of the job.
    ///
    /// # Cost
    ///
    /// If the job has not begun and was spawned on this stack, the wait costs an indirect call.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// let words = lisle::par::scope(|s| {
    ///     let (first, second) = (s.spawn(|| "par".to_owned()), s.spawn(|| "allel".to_owned()));
    ///     first.wait() + &second.wait()
    /// });
    /// assert_eq!(words, "parallel");
    /// ```
    #[inline]
    pub fn wait(self) -> T {
        match self.find() {
            Found::Spawned(spawned, rest) => {
                let _level = owner::pending().descend();
                // SAFETY: `find` returned the job with this `rest`, and it is the job of this
                // promise.
                unsafe { spawned::call(spawned, rest) }
            }
            Found::Result(result) => result.unwrap_or_else(|panic| owner::raise(panic)),
        }
    }

    /// Waits for the job like [`wait`](Promise::wait), and returns the panic of the job as an
    /// error.
    ///
    /// # Errors
    ///
    /// Returns the payload of the panic if the job has panicked.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// lisle::par::scope(|s| {
    ///     let bad = s.spawn(|| -> u32 { panic!("no") });
    ///     let good = s.spawn(|| 1);
    ///     assert_eq!(bad.join().unwrap_err().downcast_ref(), Some(&"no"));
    ///     assert_eq!(good.join().unwrap(), 1);
    /// });
    /// ```
    pub fn join(self) -> thread::Result<T> {
        match self.find() {
            Found::Spawned(spawned, rest) => {
                let _level = owner::pending().descend();
                // SAFETY: `find` returned the job with this `rest`, and it is the job of this
                // promise.
                catch_unwind(AssertUnwindSafe(|| unsafe { spawned::call(spawned, rest) }))
            }
            Found::Result(result) => result,
        }
    }

    /// Returns `true` if the job has ended, and its result is there without waiting or running the
    /// job.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par;
    ///
    /// par::scope(|s| {
    ///     let (first, second) = (s.spawn(|| 6 * 7), s.spawn(|| 6 * 8));
    ///     // The job may never begin before `wait` runs it, so do not wait for this in a loop.
    ///     let next = if second.is_finished() { second.wait() } else { first.wait() };
    ///     assert!(next == 42 || next == 48);
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        // SAFETY: a promise has an interest in its job, so the job is in place.
        unsafe { self.spawned.as_ref() }.before_looking();
        turn::asked_whether(self.has_ended())
    }

    fn has_ended(&self) -> bool {
        // SAFETY: a promise has an interest in its job, so the job is in place.
        unsafe { self.spawned.as_ref() }.is_done()
    }

    #[inline]
    fn find(self) -> Found<T> {
        let pending = owner::pending();
        let spawned = ManuallyDrop::new(self).spawned;
        // SAFETY: a promise has an interest in its job, so the job is in place.
        let this = unsafe { spawned.as_ref() };
        // SAFETY: a scope stays in place until all code that might hold its promises has ended.
        let core = unsafe { this.core.as_ref() };
        match Frame::here(core, pending).filter(|frame| this.is_at_home(*frame)) {
            Some(frame) => {
                let held = pending.hold();
                if this.is_offered.get() {
                    drop(held);
                    return Self::find_offered(spawned, frame, pending);
                }
                // SAFETY: the job is at home, so it is in the list.
                unsafe { frame.remove(spawned) };
                drop(held);
                // A domain that wants a job gets another one: this one is about to be run.
                Frame::look(pending);
                Found::Spawned(spawned, Rest::Free)
            }
            None => Self::find_elsewhere(spawned),
        }
    }

    /// Finds a job that was spawned on this stack and has been offered.
    #[cold]
    fn find_offered(spawned: NonNull<Header>, frame: &Frame, pending: &Pending) -> Found<T> {
        // SAFETY: a promise has an interest in its job, so the job is in place.
        let this = unsafe { spawned.as_ref() };
        // SAFETY: the `Job` was initialized when it was offered.
        let job = unsafe { this.job() };
        let is_ours = if step::forbidden().is_none() {
            frame.settle_offered(pending, job, frame.descendants(pending, job))
        } else {
            owner::take_back(job) || Self::is_over(spawned, job)
        };
        let held = pending.hold();
        // SAFETY: the job is still in the list, because only the frame's stack removes it, and that
        // runs here.
        unsafe { frame.remove(spawned) };
        drop(held);
        if is_ours {
            return Found::Spawned(spawned, Rest::Free);
        }
        // SAFETY: the job is done, because it was offered and not taken back, and no other party
        // could have begun it.
        let result = unsafe { spawned::take(spawned) };
        // SAFETY: the frame's interest is given up, too, and the result was taken out.
        unsafe { spawned::free(spawned) };
        Found::Result(result)
    }

    /// Waits for the end of a job that another domain has taken, and returns `false`. Panics if the
    /// job is not done: waiting is forbidden here.
    fn is_over(spawned: NonNull<Header>, job: &Job) -> bool {
        if !job.is_done() {
            Self::refuse(spawned);
        }
        // Until `wait` returns, the thread that ends the job may still access it.
        job.wait();
        false
    }

    /// Drops the promise and panics.
    fn refuse(spawned: NonNull<Header>) -> ! {
        drop(Self::new(spawned));
        step::refuse("wait for another domain to end a job");
    }

    /// Finds a job that was spawned on another stack.
    #[cold]
    fn find_elsewhere(spawned: NonNull<Header>) -> Found<T> {
        // SAFETY: a promise has an interest in its job, so the job is in place.
        let this = unsafe { spawned.as_ref() };
        // SAFETY: as in `find`.
        if unsafe { this.core.as_ref() }.take_back(spawned) {
            return Found::Spawned(spawned, Rest::Free);
        }
        if this.claim() {
            return Found::Spawned(spawned, Rest::Release);
        }
        if step::forbidden().is_some() && !this.is_done() {
            Self::refuse(spawned);
        }
        // SAFETY: another party has claimed the job, and the promise is not used any more.
        let result = unsafe { spawned::fetch(spawned, |job| owner::wait_for(job, job.descendants())) };
        Found::Result(result)
    }
}

impl<T> Drop for Promise<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the interest is the promise's.
        unsafe { spawned::release(self.spawned, PROMISE_GONE) };
    }
}

impl<T> fmt::Debug for Promise<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("is_finished", &self.has_ended()).finish_non_exhaustive()
    }
}
