//! Two halves.

use super::cost_history::{self, Known};
use super::heartbeat;
use super::job::{Ancestor, Job};
use super::owner;
use super::pending::{Entry, Inside, Offer, Pending};
use super::within::{self, Within};
use crate::event::Interrupted;
use crate::panics::forget_panic;
use crate::shim::ticks;
use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::thread;

/// Runs `a` and `b`, at the same time if another domain has nothing better to do than `b`, and returns both results.
///
/// `a` runs on the caller's stack. `b` is put off until `a` is done, and then called like any function, unless it was given
/// away in the meantime. If so, the caller waits for it, giving its worker away if it is a fiber.
///
/// Works in fibers, in tasks and on plain threads, whose halves are taken by the domains of the default runtime; in
/// joins and loops, too. The depth of a recursion is bounded by the stack of the caller: a fiber that overflows ends
/// the process with a message that says so, see [`Builder::stack_size`](lisle_runtime::Builder::stack_size).
///
/// # Waiting for each other
///
/// The halves must not wait for each other: nobody promises that they run at the same time. In a half one may wait for
/// anything else. `join` may let other fibers of the domain run before it returns, so do not call it while holding a lock
/// of the standard library that they want, too; parts of the same loop do not run meanwhile, unless they belong to `b`.
///
/// # Panics
///
/// With the panic of `a`, or else that of `b`, once both have ended: `b` runs, too, if `a` panics. Only if `a` is unwound because
/// its runtime shuts down, `b` does not begin any more.
///
/// # Cost
///
/// In the first three levels of joins within another, and deeper if a domain is idle, `b` is noted down, which takes some
/// nanoseconds; else a join is a look at one byte and two calls. A join that is part of no other takes some ten nanoseconds more;
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
    join_at(a, b, Location::caller())
}

/// As [`join`], on behalf of the call at `site`.
#[inline(always)]
pub(super) fn join_at<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if heartbeat::here().is_off() {
        return in_turn(a, b);
    }
    put_off(a, b, site)
}

/// One after the other, and the second also if the first panics.
#[inline(always)]
fn in_turn<RA, RB>(a: impl FnOnce() -> RA, b: impl FnOnce() -> RB) -> (RA, RB) {
    match catch_unwind(AssertUnwindSafe(a)) {
        Ok(first) => (first, b()),
        Err(panic) => after_panic(panic, b),
    }
}

type Panic = Box<dyn Any + Send>;

/// The end of a join whose first half has panicked.
#[cold]
#[inline(never)]
fn after_panic<R>(panic: Panic, b: impl FnOnce() -> R) -> ! {
    if panic.is::<Interrupted>() {
        // What is to end begins nothing new.
        forget_panic(b);
    } else {
        forget_panic(catch_unwind(AssertUnwindSafe(b)));
    }
    resume_unwind(panic)
}

/// Something that is put off, to be done by its owner or by another.
pub(super) trait PutOff {
    /// What comes of it if another does it.
    type Out;

    fn run(self) -> Self::Out;
}

impl<F: FnOnce() -> R, R> PutOff for F {
    type Out = R;

    fn run(self) -> R {
        self()
    }
}

/// What has become of something that was put off.
pub(super) enum Second<B, R> {
    /// Its owner has it back.
    Back(B),
    /// Another has done it.
    Done(thread::Result<R>),
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
    match pending.inside.get() {
        Inside::One(0) => put_off_inside(a, b, site, pending),
        Inside::One(levels) => put_off_first(levels, a, b, site, pending),
        Inside::Nothing => outermost(a, b, site, pending),
        Inside::Fenced => in_turn(a, b),
    }
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
    let (first, second) = join_at(a, b, Location::caller());
    combine(first, second)
}

/// So short a join is left undivided, in ticks: to divide it takes longer.
const SHORT: u64 = 10 * ticks::A_MICROSECOND;
/// So long a one is divided at once, as far as there is anybody.
pub(super) const LONG: u64 = 1_000 * ticks::A_MICROSECOND;

/// A join that is not part of another or of a loop. If the likes of it were over in no time, nobody is asked whether he wants
/// any of it, as far as this is up to its domain: the monitor ends that within 10 ms, and so does another domain that begins
/// to look for work.
#[inline(never)]
fn outermost<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>, pending: &Pending) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let code = offer::<B> as *const () as usize;
    let within: Option<Within<'_>> = within::enter(pending);
    let known = cost_history::recall(code);
    let is_short = |known: Known| known.cost < SHORT && within::in_domain();
    let start = match known {
        Some(known) if is_short(known) && known.is_fresh => None,
        _ => Some(ticks::now()),
    };
    let results = if known.is_some_and(is_short) {
        let silence = heartbeat::here().silence();
        let (first, second) = beside(a, b, site, pending);
        drop(silence);
        if let Second::Done(_) = second {
            // It was not short at all, or nobody would have come for it.
            cost_history::learn(code, LONG);
        }
        both(first, second)
    } else {
        // To wait for the next heartbeat could be to wait for one that never comes: the halves may look at nothing.
        owner::hurry(pending, known.is_none_or(|known| known.cost >= LONG));
        put_off_inside(a, b, site, pending)
    };
    if let Some(start) = start {
        cost_history::learn(code, ticks::now().wrapping_sub(start));
    }
    drop(within);
    results
}

/// A join of one of the first levels: it is noted down even if nobody could take anything now.
#[inline(never)]
fn put_off_first<A, B, RA, RB>(
    levels: u8,
    a: A,
    b: B,
    site: &'static Location<'static>,
    pending: &Pending,
) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let _level = Level::enter(pending, levels);
    put_off_inside(a, b, site, pending)
}

/// Until this is dropped, what runs here is one level further down, of so many.
struct Level<'a> {
    pending: &'a Pending,
    levels: u8,
}

impl<'a> Level<'a> {
    #[inline]
    fn enter(pending: &'a Pending, levels: u8) -> Self {
        pending.inside.set(Inside::One(levels - 1));
        if levels == 1 {
            heartbeat::here().turn_off();
        }
        Level { pending, levels }
    }
}

impl Drop for Level<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.levels == 1 {
            heartbeat::here().note_down();
        }
        self.pending.inside.set(Inside::One(self.levels));
    }
}

#[inline(always)]
fn put_off_inside<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>, pending: &Pending) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let first = || {
        let word = heartbeat::here();
        if word.is_wanted() || (!word.is_quiet() && pending.count()) {
            owner::heartbeat(pending);
        }
        a()
    };
    let (first, second) = beside(first, b, site, pending);
    both(first, second)
}

/// Ends a join.
#[inline(always)]
fn both<RA, B: FnOnce() -> RB, RB>(first: thread::Result<RA>, second: Second<B, RB>) -> (RA, RB) {
    match (first, second) {
        (Ok(first), Second::Back(b)) => (first, b()),
        (Err(panic), Second::Back(b)) => after_panic(panic, b),
        (first, Second::Done(second)) => merge(first, second),
    }
}

/// Both results, or the panic of the first that has panicked; what the other gave is dropped.
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

/// Calls `first`, while `second` can be taken by others.
#[inline(always)]
pub(super) fn beside<RA, B: PutOff>(
    first: impl FnOnce() -> RA,
    second: B,
    site: &'static Location<'static>,
    pending: &Pending,
) -> (thread::Result<RA>, Second<B, B::Out>) {
    if !owner::may_be_helped(pending) {
        return (catch_unwind(AssertUnwindSafe(first)), Second::Back(second));
    }
    let half = Half::<B, B::Out> {
        entry: Entry::open(offer::<B>),
        job: UnsafeCell::new(MaybeUninit::uninit()),
        half: UnsafeCell::new(ManuallyDrop::new(second)),
        result: UnsafeCell::new(MaybeUninit::uninit()),
        site,
    };
    // SAFETY: it stays until `first` has ended and it has been popped; what that puts off it pops before.
    let older = unsafe { pending.push(NonNull::from(&half).cast()) };
    let first = catch_unwind(AssertUnwindSafe(first));
    if !pending.pop(&half.entry, older) {
        return (first, half.settle());
    }
    // SAFETY: it has not been offered, so nobody else knows of it.
    let second = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    (first, Second::Back(second))
}

impl<B, R> Half<B, R> {
    /// Settles what has been offered.
    #[cold]
    fn settle(&self) -> Second<B, R> {
        // SAFETY: made when it was offered, and never changed but by its own rules.
        let job = unsafe { (*self.job.get()).assume_init_ref() };
        if owner::settle(job) {
            // SAFETY: taken back, so nobody else has it.
            return Second::Back(ManuallyDrop::into_inner(unsafe { self.half.get().read() }));
        }
        // SAFETY: the job is done, so its result is there.
        Second::Done(unsafe { (*self.result.get()).assume_init_read() })
    }
}

/// # Safety
///
/// The entry is that of such a half, and is pending; this is its thread, or has disturbed the list.
unsafe fn offer<B: PutOff>(entry: NonNull<Entry>, within: *const Ancestor) -> Offer {
    // SAFETY: the entry is its first field.
    let half = unsafe { entry.cast::<Half<B, B::Out>>().as_ref() };
    let job = entry.cast::<u8>();
    // SAFETY: a field of the half.
    let job = unsafe { job.byte_add(offset_of!(Half<B, B::Out>, job)) }.cast::<Job>();
    // SAFETY: it has not been offered before, so nobody looks.
    unsafe { job.write(Job::new(run::<B>, Ancestor::new(within, 0), half.site)) };
    Offer::Last(job)
}

/// # Safety
///
/// The job is that of such a half, and has been taken by the caller.
unsafe fn run<B: PutOff>(job: NonNull<Job>) {
    // SAFETY: the job is this field of a half, which is in place until the job is done.
    let half = unsafe { job.byte_sub(offset_of!(Half<B, B::Out>, job)).cast::<Half<B, B::Out>>().as_ref() };
    // SAFETY: only who has taken the job takes the half, once.
    let second = ManuallyDrop::into_inner(unsafe { half.half.get().read() });
    let result = catch_unwind(AssertUnwindSafe(|| second.run()));
    // SAFETY: its owner looks only when the job is done.
    unsafe { (*half.result.get()).write(result) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_end_begins_no_second_half() {
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
}
