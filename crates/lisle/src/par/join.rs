//! Two halves.

use super::beat;
use super::experience::{self, Known};
use super::job::{Course, Job};
use super::owner;
use super::pending::{Entry, Offer, Pending};
use crate::shim::ticks;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::thread;

/// Runs `a` and `b`, at the same time if another domain has nothing better to do than `b`, and returns both results.
///
/// `a` runs on the caller's stack. `b` is put off until `a` is done, and then called like any function, unless it was given
/// away in the meantime. If so, the caller waits for it, giving its worker away if it is a host.
///
/// Works in hosts, in parasites and on plain threads, whose halves are taken by the domains of the default runtime; in
/// joins and loops, too. The depth of a recursion is bounded by the stack of the caller: a host that overflows ends
/// the process with a message that says so, see [`Builder::stack_size`](crate::Builder::stack_size).
///
/// # Waiting for each other
///
/// The halves must not wait for each other: nobody promises that they run at the same time. In a half one may wait for
/// anything else. `join` may let other hosts of the domain run before it returns, so do not call it while holding a lock
/// of the standard library that they want, too; parts of the same loop do not run meanwhile, unless they belong to `b`.
///
/// # Panics
///
/// With the panic of `a`, or else that of `b`, once both have ended. If `a` panics, `b` may not run at all.
///
/// # Cost
///
/// If no domain is idle, a look at one byte and two calls. Otherwise `b` is noted down, too, which takes about a nanosecond;
/// giving it away takes some hundred, at most every 50 microseconds unless another domain waits for it. Nothing is allocated.
///
/// The idea to divide only when it pays is from U. Acar, A. Charguéraud, A. Guatto, M. Rainey and F. Sieczkowski,
/// *Heartbeat scheduling: provable efficiency for nested parallelism* (PLDI 2018); that joiners help only themselves, from
/// D. Wagner and B. Calder, *Leapfrogging: a portable technique for implementing efficient futures* (PPoPP 1993).
///
/// # Examples
///
/// ```
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
/// What the halves use must be safe to use from two threads at once:
///
/// ```compile_fail,E0277
/// let counter = std::rc::Rc::new(1);
/// lisle::par::join(|| *counter, || *counter);
/// ```
///
/// ```compile_fail,E0499
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
    if beat::here().is_off() {
        return (a(), b());
    }
    put_off(a, b, Location::caller())
}

/// A half that has been put off.
#[repr(C)]
struct Half<B, R> {
    entry: Entry,
    /// Made when it is offered.
    job: UnsafeCell<MaybeUninit<Job>>,
    half: UnsafeCell<ManuallyDrop<B>>,
    /// What whoever has taken it has made of it.
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
    if !pending.inside.get() {
        return outermost(a, b, site, pending);
    }
    put_off_inside(a, b, site, pending)
}

/// As [`join`], and gives what `combine` makes of both results.
///
/// It is the faster form for a recursion that does little at each step. The compiler sees a call of each half and the
/// combination in one place, as if they were written without `join`, and can make of a recursion what it makes of that:
/// a loop over the second halves, most often.
///
/// Give each half its own code. A helper that both call is not inlined into either, since it has several callers: to add
/// up a tree in that way took 3.3 ns a node instead of 2.2 (1.7 without `join`).
///
/// ```
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
    if beat::here().is_off() {
        return combine(a(), b());
    }
    let (a, b) = put_off(a, b, Location::caller());
    combine(a, b)
}

/// So short a join is left undivided, in ticks: to divide it takes longer.
const SHORT: u64 = 10 * ticks::A_MICROSECOND;
/// So long a one is divided at once, as far as there is anybody.
pub(super) const LONG: u64 = 1_000 * ticks::A_MICROSECOND;

/// A join that is not part of another or of a loop. If the likes of it were over in no time, nothing is put off in it,
/// as far as this is up to its domain: the monitor ends that within 10 ms, and so does another domain that begins to
/// look for work.
#[inline(never)]
fn outermost<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>, pending: &Pending) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    struct Outside<'a>(&'a Pending);
    impl Drop for Outside<'_> {
        fn drop(&mut self) {
            self.0.inside.set(false);
            beat::here().turn_on();
        }
    }
    let code = offer::<B, RB> as *const () as usize;
    pending.inside.set(true);
    let outside = Outside(pending);
    let is_short = |known: Known| known.cost < SHORT && owner::in_domain();
    let known = experience::recall(code);
    if known.is_some_and(is_short) {
        beat::here().silence();
        if known.is_some_and(|known| known.is_fresh) {
            return (a(), b());
        }
    } else {
        // To wait for the next beat could be to wait for one that never comes: the halves may look at nothing.
        owner::hurry(pending, known.is_none_or(|known| known.cost >= LONG));
    }
    let start = ticks::now();
    let results = if beat::here().is_off() { (a(), b()) } else { put_off_inside(a, b, site, pending) };
    experience::learn(code, ticks::now().wrapping_sub(start));
    drop(outside);
    results
}

#[inline(always)]
fn put_off_inside<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>, pending: &Pending) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let half = Half::<B, RB> {
        entry: Entry::new(offer::<B, RB>),
        job: UnsafeCell::new(MaybeUninit::uninit()),
        half: UnsafeCell::new(ManuallyDrop::new(b)),
        result: UnsafeCell::new(MaybeUninit::uninit()),
        site,
    };
    // SAFETY: it stays until `a` has ended and it has been popped; what `a` puts off it pops before.
    let older = unsafe { pending.push(NonNull::from(&half).cast()) };
    let first = catch_unwind(AssertUnwindSafe(|| {
        if pending.count() || beat::here().is_wanted() {
            owner::beat(pending);
        }
        a()
    }));
    if !pending.pop(&half.entry, older) {
        return half.settle(first);
    }
    // SAFETY: it has not been offered, so nobody else knows of it.
    let b = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    match first {
        Ok(first) => (first, b()),
        Err(panic) => {
            forget_panic(b);
            resume_unwind(panic)
        }
    }
}

impl<B: FnOnce() -> R, R> Half<B, R> {
    /// Ends a join whose second half has been offered.
    #[cold]
    fn settle<RA>(&self, first: thread::Result<RA>) -> (RA, R) {
        // SAFETY: made when it was offered, and never changed but by its own rules.
        let job = unsafe { (*self.job.get()).assume_init_ref() };
        if owner::settle(job) {
            // SAFETY: taken back, so nobody else has it.
            let b = ManuallyDrop::into_inner(unsafe { self.half.get().read() });
            return match first {
                Ok(first) => (first, b()),
                Err(panic) => {
                    forget_panic(b);
                    resume_unwind(panic)
                }
            };
        }
        // SAFETY: the job is done, so its result is there.
        let second = unsafe { (*self.result.get()).assume_init_read() };
        match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(panic), second) => {
                forget_panic(second);
                resume_unwind(panic)
            }
            (Ok(first), Err(panic)) => {
                forget_panic(first);
                resume_unwind(panic)
            }
        }
    }
}

/// Drops what nobody will ask for, though the caller has a panic to go on with: another would end the process.
pub(super) fn forget_panic<T>(unwanted: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        std::mem::forget(panic);
    }
}

/// # Safety
///
/// The entry is that of such a half, and is pending on this thread.
unsafe fn offer<B: FnOnce() -> R, R>(entry: NonNull<Entry>, within: *const Course) -> Offer {
    // SAFETY: the entry is its first field.
    let half = unsafe { entry.cast::<Half<B, R>>().as_ref() };
    let job = entry.cast::<u8>();
    // SAFETY: a field of the half.
    let job = unsafe { job.byte_add(offset_of!(Half<B, R>, job)) }.cast::<Job>();
    // SAFETY: it has not been offered before, so nobody looks.
    unsafe { job.write(Job::new(run::<B, R>, Course::new(within, 0), half.site)) };
    Offer::Last(job)
}

/// # Safety
///
/// The job is that of such a half, and has been taken by the caller.
unsafe fn run<B: FnOnce() -> R, R>(job: NonNull<Job>) {
    // SAFETY: the job is this field of a half, which is in place until the job is done.
    let half = unsafe { job.byte_sub(offset_of!(Half<B, R>, job)).cast::<Half<B, R>>().as_ref() };
    // SAFETY: only who has taken the job takes the half, once.
    let b = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    let result = catch_unwind(AssertUnwindSafe(b));
    // SAFETY: its owner looks only when the job is done.
    unsafe { (*half.result.get()).write(result) };
}
