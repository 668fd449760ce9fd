//! Runs two halves of a computation, in parallel if another domain is idle.

mod by_reference;
mod level;
mod outermost;

use super::heartbeat;
use super::job::{Ancestor, Job};
use super::owner;
use super::pending::{Entry, Inside, Offer, Pending};
use crate::event::{is_interruption, is_modelled};
use crate::panics::forget_panic;
pub(super) use by_reference::join_by_reference;
use by_reference::{modelled, outermost, with_results};
use level::{Level, look};
use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::thread;

/// Runs `a` and `b`, in parallel if another domain is idle, and returns both results.
///
/// `a` runs on the caller's stack. `b` is put off until `a` has ended, and is then called like any
/// function, unless another domain has taken it in the meantime. In that case the caller waits for
/// it. A fiber that waits lets its domain run other fibers.
///
/// Works in fibers, in tasks and on plain threads, and inside joins and loops. The halves of a
/// plain thread are taken by the domains of the default runtime. The depth of a recursion is
/// bounded by the stack of the caller: a fiber that overflows its stack ends the process with a
/// message that says so, see [`Builder::stack_size`](lisle_runtime::Builder::stack_size).
///
/// # Waiting for each other
///
/// The halves must not wait for each other, because nothing guarantees that they run at the same
/// time. A half may wait for any other event. `join` may let other fibers of the domain run before
/// it returns, so do not call it while holding a lock of the standard library that they want, too.
/// Other parts of the same loop do not run on the domain meanwhile, unless they belong to `b`.
///
/// # Panics
///
/// Panics with the panic of `a`, or else with that of `b`, after both have ended: `b` runs even if
/// `a` panics. `b` is not started only if `a` is unwound because its runtime shuts down.
///
/// # Cost
///
/// In the first three levels of joins within a join, `b` is recorded, which takes some nanoseconds;
/// at deeper levels it is recorded if a domain is idle. Otherwise a join is a check of one byte and
/// two calls. A join that is not part of another takes some ten nanoseconds more. Giving `b` away
/// takes some hundred nanoseconds, and happens at most every 50 microseconds unless another domain
/// waits for work. Nothing is allocated.
///
/// The idea to divide only when it pays is from U. Acar, A. Charguéraud, A. Guatto, M. Rainey and
/// F. Sieczkowski, *Heartbeat scheduling: provable efficiency for nested parallelism* (PLDI 2018).
/// The idea that a waiting join helps only with its own descendants is from D. Wagner and B.
/// Calder, *Leapfrogging: a portable technique for implementing efficient futures* (PPoPP 1993).
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
/// fn fibonacci(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = lisle::par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
///     a + b
/// }
/// assert_eq!(lisle::run(|| fibonacci(20)), 6765);
/// ```
///
/// The values that the halves use must be safe to use from two threads at once:
///
/// ```compile_fail,E0277
/// # use lisle_par::facade as lisle;
/// let counter = std::rc::Rc::new(1);
/// lisle::par::join(|| *counter, || *counter);
/// ```
///
/// ```compile_fail,E0499
/// # use lisle_par::facade as lisle;
/// let mut count = 0;
/// lisle::par::join(|| count += 1, || count += 1);
/// ```
#[inline(always)]
#[track_caller]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_at(a, b, Location::caller())
}

/// Does the same as [`join`], on behalf of the call at `site`.
#[doc(hidden)]
#[inline(always)]
pub fn join_at<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if is_modelled() {
        return with_results(modelled, a, b, site);
    }
    if heartbeat::here().is_off() {
        return in_turn(a, b);
    }
    put_off(a, b, site)
}

/// Calls `a` and then `b`; calls `b` even if `a` panics.
#[inline(always)]
fn in_turn<RA, RB>(a: impl FnOnce() -> RA, b: impl FnOnce() -> RB) -> (RA, RB) {
    match catch_unwind(AssertUnwindSafe(a)) {
        Ok(first) => (first, b()),
        Err(panic) => after_panic(panic, b),
    }
}

type Panic = Box<dyn Any + Send>;

/// Ends a join whose first half has panicked.
#[cold]
#[inline(never)]
fn after_panic<R>(panic: Panic, b: impl FnOnce() -> R) -> ! {
    if is_interruption(&*panic) {
        // Code that is unwound from where it waits starts nothing new.
        forget_panic(b);
    } else {
        forget_panic(catch_unwind(AssertUnwindSafe(b)));
    }
    resume_unwind(panic)
}

/// A piece of work that is put off, and that its owner or another thread runs later.
pub(super) trait PutOff {
    /// The result if another thread runs it.
    type Out;

    fn run(self) -> Self::Out;
}

impl<F: FnOnce() -> R, R> PutOff for F {
    type Out = R;

    fn run(self) -> R {
        self()
    }
}

/// The outcome of work that was put off.
pub(super) enum Second<B, R> {
    /// Its owner has taken it back.
    Back(B),
    /// Another thread has run it.
    Done(thread::Result<R>),
}

/// A half that has been put off.
#[repr(C)]
struct Half<B, R> {
    entry: Entry,
    /// Initialized when the half is offered.
    job: UnsafeCell<MaybeUninit<Job>>,
    half: UnsafeCell<ManuallyDrop<B>>,
    /// The result that the thread that has taken the half writes.
    result: UnsafeCell<MaybeUninit<thread::Result<R>>>,
    site: &'static Location<'static>,
}

#[inline(never)]
fn put_off<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let pending = owner::pending();
    let Inside::One(levels) = pending.inside.get() else {
        return with_results(outermost, a, b, site);
    };
    let _level = Level::enter(pending, levels);
    let first = || {
        look(pending);
        a()
    };
    let (first, second) = beside(first, b, site, pending);
    both(first, second)
}

/// Does the same as [`join`], and returns `combine` of both results.
///
/// This is the faster form for a recursion that does little at each step. The compiler sees the
/// calls of both halves and the combination in one place, as if they were written without `join`.
/// It can optimize the recursion in the same way: most often it makes a loop over the second
/// halves.
///
/// Give each half its own code. A helper that both halves call has several callers and is not
/// inlined into either. Adding up a tree in that way took 3.3 ns a node instead of 2.2 (1.7 without
/// `join`).
///
/// ```
/// # use lisle_par::facade as lisle;
/// fn fibonacci(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     lisle::par::join_with(move || fibonacci(n - 1), move || fibonacci(n - 2), |a, b| a + b)
/// }
/// assert_eq!(lisle::run(|| fibonacci(20)), 6765);
/// ```
#[inline(always)]
#[track_caller]
pub fn join_with<A, B, C, RA, RB, R>(a: A, b: B, combine: C) -> R
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    C: FnOnce(RA, RB) -> R,
    RA: Send,
    RB: Send,
{
    let (first, second) = join_at(a, b, Location::caller());
    combine(first, second)
}

/// Ends a join: runs the second half if it was taken back, and returns both results.
#[inline(always)]
fn both<RA, B: FnOnce() -> RB, RB>(first: thread::Result<RA>, second: Second<B, RB>) -> (RA, RB) {
    match (first, second) {
        (Ok(first), Second::Back(b)) => (first, b()),
        (Err(panic), Second::Back(b)) => after_panic(panic, b),
        (first, Second::Done(second)) => merge(first, second),
    }
}

/// Returns both results, or resumes the panic of the first half that has panicked. The other result
/// is dropped.
#[cold]
pub(super) fn merge<RA, RB>(first: thread::Result<RA>, second: thread::Result<RB>) -> (RA, RB) {
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), second) => {
            forget_panic(second);
            owner::raise(panic)
        }
        (Ok(first), Err(panic)) => {
            forget_panic(first);
            owner::raise(panic)
        }
    }
}

/// Calls `first`, while other threads can take `second`.
#[inline(always)]
pub(super) fn beside<RA, B: PutOff>(
    first: impl FnOnce() -> RA,
    second: B,
    site: &'static Location<'static>,
    pending: &Pending,
) -> (thread::Result<RA>, Second<B, B::Out>) {
    if !owner::may_wait() {
        return (catch_unwind(AssertUnwindSafe(first)), Second::Back(second));
    }
    let half = Half::<B, B::Out> {
        entry: Entry::open(offer::<B>),
        job: UnsafeCell::new(MaybeUninit::uninit()),
        half: UnsafeCell::new(ManuallyDrop::new(second)),
        result: UnsafeCell::new(MaybeUninit::uninit()),
        site,
    };
    // SAFETY: `half` stays in place until `first` has ended and `half` has been popped, below.
    // `first` pops all entries that it pushes before it ends.
    let older = unsafe { pending.push(NonNull::from(&half).cast()) };
    let first = catch_unwind(AssertUnwindSafe(first));
    if !pending.pop(&half.entry, older) {
        return (first, half.settle());
    }
    // SAFETY: the half has not been offered, so no other thread knows of it.
    let second = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    (first, Second::Back(second))
}

impl<B, R> Half<B, R> {
    /// Takes back the half that has been offered, or waits until another thread has run it.
    #[cold]
    fn settle(&self) -> Second<B, R> {
        // SAFETY: the job was initialized when it was offered, and since then it has been changed
        // only by its own methods.
        let job = unsafe { (*self.job.get()).assume_init_ref() };
        if owner::settle(job) {
            // SAFETY: the half was taken back, so no other thread has it.
            return Second::Back(ManuallyDrop::into_inner(unsafe { self.half.get().read() }));
        }
        // SAFETY: the job is done, so its result has been written.
        Second::Done(unsafe { (*self.result.get()).assume_init_read() })
    }
}

/// Makes the job of a half that will be offered.
///
/// # Safety
///
/// `entry` is the entry of a `Half<B, B::Out>` and is pending. The caller runs on the thread of its
/// list, or has disturbed the list.
unsafe fn offer<B: PutOff>(entry: NonNull<Entry>, within: *const Ancestor) -> Offer {
    // SAFETY: the entry is the first field of the half.
    let half = unsafe { entry.cast::<Half<B, B::Out>>().as_ref() };
    let job = entry.cast::<u8>();
    // SAFETY: `job` is a field of the half.
    let job = unsafe { job.byte_add(offset_of!(Half<B, B::Out>, job)) }.cast::<Job>();
    // SAFETY: the job has not been offered before, so no other thread reads it.
    unsafe { job.write(Job::new(run::<B>, Ancestor::new(within, 0), half.site)) };
    Offer::Last(job)
}

/// Runs the half of a job, and stores its result.
///
/// # Safety
///
/// `job` is the job of a `Half<B, B::Out>`, and the caller has taken it.
unsafe fn run<B: PutOff>(job: NonNull<Job>) {
    // SAFETY: the job is this field of a half, which stays in place until the job is done.
    let half = unsafe { job.byte_sub(offset_of!(Half<B, B::Out>, job)).cast::<Half<B, B::Out>>().as_ref() };
    // SAFETY: only the thread that has taken the job takes the half, once.
    let second = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    let result = catch_unwind(AssertUnwindSafe(|| second.run()));
    // SAFETY: the owner reads the result only after the job is done.
    unsafe { (*half.result.get()).write(result) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Interrupted;

    fn begin_none() {
        for noted in [false, true] {
            let mut began = false;
            let interrupted = || resume_unwind(Box::new(Interrupted));
            let second = || began = true;
            let unwound = catch_unwind(AssertUnwindSafe(|| match noted {
                true => join(interrupted, second),
                false => in_turn(interrupted, second),
            }));
            assert!(unwound.is_err_and(|panic| panic.is::<Interrupted>()));
            assert!(!began);
        }
    }

    /// The test has one domain, since another one could take the second half before the end of the
    /// first. Miri runs no domains.
    #[test]
    fn what_is_to_end_begins_no_second_half() {
        if cfg!(miri) { begin_none() } else { lisle_runtime::Builder::default().domains(1).run(begin_none) }
    }
}
