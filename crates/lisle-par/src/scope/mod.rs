//! Jobs and promises: parts of a computation that are put off, to be waited for in any order.
//!
//! `frame.rs` has what a stack puts off and how that ends, `jobs.rs` which of it is offered first, `spawned.rs` whose a job is,
//! `promise.rs` how it is waited for.

mod frame;
mod jobs;
mod list;
mod promise;
mod spawned;

pub use promise::Promise;

use super::join::merge;
use super::owner;
use super::within;
use crate::event::lock::Lock;
use crate::panics::forget_panic;
use crate::shim::atomic::{AtomicBool, Ordering};
use frame::Frame;
use lisle_runtime::spawned::slots;
use list::List;
use spawned::Header;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;

/// Runs `f`, which may spawn jobs that borrow from outside the scope, and returns when all of them have ended.
///
/// A job is put off until somebody waits for it, another domain has nothing better to do, or the scope ends. The
/// jobs may spawn jobs into the same scope, from wherever they run.
///
/// Works in fibers, in tasks and on plain threads, as [`join`](super::join()) does. For a division in two, that is the
/// cheaper way; for a loop, [iterators](super::iter) are.
///
/// # Waiting for each other
///
/// A job may wait for promises, those of its own jobs and those that it was given. It must not wait for one that waits
/// for it in turn. What two jobs say to each other over channels works only if they happen to run at the same time, which
/// nobody promises.
///
/// A job that another domain runs has ended when those have, too, that it spawned: to wait for it may mean to wait
/// for them. And while code waits for a job, others that it has spawned itself may run on its domain, and once they have begun
/// they are waited for as well; unless they wait for something that is no job. So they must not wait for jobs that wait
/// for what the code does next, and it must not hold a lock of the standard library that they want.
///
/// Code is the scope's function or a job, with all joins and loops in it. What other jobs have spawned does not run there
/// meanwhile. So jobs may hold a lock of the standard library that those beside them want, too, while they spawn, join and wait
/// for what they have spawned. But who waits for a message or anything else that is no job is from then on a fiber like
/// any other of its domain, and such locks must not be held by one of those across a wait while another wants them.
///
/// # Panics
///
/// With the panic of `f`, or else with that of a job whose promise nobody has waited for, the first that was noticed. In either
/// case all jobs run, and have ended before.
///
/// # Cost
///
/// Promises may be waited for in any order. Who waits for a job that another domain has offers the next ones first, and
/// its own domain takes part in them. On a plain thread they are left to the domains of the default runtime: it does nothing
/// else while it waits.
///
/// To spawn a job and wait for it is some nanoseconds more than a call; if no domain is idle, nothing is shared with
/// others, and nobody is asked. Memory of jobs is recycled, so nothing is allocated once it is warm, unless a function or
/// its result takes more than about 800 bytes.
///
/// # Where it comes from
///
/// The interface is that of `async` and `await` in *Domainslib* (K. C. Sivaramakrishnan et al., *Retrofitting parallelism
/// onto OCaml*, ICFP 2020), within a scope, as Rust's borrowing wants it. That what is not wanted elsewhere stays a call is lazy
/// job creation (E. Mohr, D. Kranz and R. Halstead, *Lazy job creation: a technique for increasing the granularity of parallel
/// programs*, LFP 1990).
///
/// # Examples
///
/// ```
/// use lisle::par::{self, Scope};
///
/// fn fibonacci<'s>(s: &'s Scope<'s, '_>, n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let a = s.spawn(move || fibonacci(s, n - 1));
///     let b = fibonacci(s, n - 2);
///     a.wait() + b
/// }
/// assert_eq!(lisle::run(|| par::scope(|s| fibonacci(s, 20))), 6_765);
/// ```
///
/// Jobs borrow what outlives the scope, and nothing else:
///
/// ```
/// let mut halves = [vec![1, 2, 3], vec![4, 5]];
/// lisle::par::scope(|s| {
///     for half in &mut halves {
///         let _ = s.spawn(|| half.reverse());
///     }
/// });
/// assert_eq!(halves, [vec![3, 2, 1], vec![5, 4]]);
/// ```
///
/// ```compile_fail,E0597
/// lisle::par::scope(|s| {
///     let inside = 1;
///     let _ = s.spawn(|| println!("{}", &inside));
/// });
/// ```
///
/// ```compile_fail,E0373
/// lisle::par::scope(|s| {
///     for i in 0..3 {
///         let _ = s.spawn(|| println!("{i}"));
///     }
/// });
/// ```
///
/// What they use must be safe to use from another thread, and so must be what they give:
///
/// ```compile_fail,E0277
/// let counter = std::rc::Rc::new(1);
/// lisle::par::scope(|s| s.spawn(|| println!("{counter}")).wait());
/// ```
///
/// ```compile_fail,E0277
/// lisle::par::scope(|s| drop(s.spawn(|| std::rc::Rc::new(1)).wait()));
/// ```
pub fn scope<'env, F, R>(f: F) -> R
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    let core =
        Core { strays: Lock::new(List::new()), has_strays: AtomicBool::new(false), panic: Lock::new(None) };
    let mut scope = Scope { core, scope: PhantomData, env: PhantomData };
    let pending = owner::pending();
    let within = within::enter(pending);
    if within.is_some() {
        pending.hurry();
    }
    let result = Frame::within(&scope.core, true, || f(&scope));
    drop(within);
    let unheard = scope.core.panic.get_mut().take();
    match (result, unheard) {
        (Ok(result), None) => result,
        (result, unheard) => merge(result, unheard.map_or(Ok(()), Err)).0,
    }
}

/// Where jobs are spawned, see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    core: Core,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Puts `f` off, to be run by whoever waits for the promise, by another domain, or at the end of the scope.
    ///
    /// It does not run within this call. If nobody wants the result, say so with `let _ =`: the job runs all the same.
    ///
    /// ```
    /// let squares: Vec<u64> = lisle::par::scope(|s| {
    ///     let promises: Vec<_> = (0..10).map(|i| s.spawn(move || i * i)).collect();
    ///     promises.into_iter().map(|promise| promise.wait()).collect()
    /// });
    /// assert_eq!(squares[9], 81);
    /// ```
    #[inline]
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> Promise<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_at(f, Location::caller())
    }

    /// As [`spawn`](Scope::spawn), on behalf of the call at `site`.
    #[inline]
    pub(super) fn spawn_at<F, T>(&'scope self, f: F, site: &'static Location<'static>) -> Promise<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let pending = owner::pending();
        match Frame::here(&self.core, pending) {
            Some(frame) => {
                let spawned = spawned::new(f, &self.core, frame, site);
                // SAFETY: just made, and the scope does not end before the frame has settled it.
                unsafe { frame.spawn(pending, spawned) };
                Frame::look(pending);
                Promise::new(spawned)
            }
            None => {
                let spawned = spawned::new(f, &self.core, std::ptr::null(), site);
                // SAFETY: just made.
                unsafe { self.core.stray(spawned) };
                Promise::new(spawned)
            }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// What all frames of a scope share.
struct Core {
    /// Jobs that were spawned on a stack on which neither the scope nor a job that was taken of it runs: in a part of a
    /// loop, in a fiber. The scope's own function looks after them.
    strays: Lock<List>,
    /// There may be some.
    has_strays: AtomicBool,
    /// The first panic that nobody has waited for.
    panic: Lock<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all is under locks, and the jobs of the list may be run and dropped by any thread.
unsafe impl Sync for Core {}
// SAFETY: as above.
unsafe impl Send for Core {}

impl Core {
    /// Notes a panic that nobody will hear of otherwise.
    #[cold]
    fn note(&self, panic: Box<dyn Any + Send>) {
        let unheard = {
            let mut first = self.panic.lock();
            if first.is_none() { first.replace(panic) } else { Some(panic) }
        };
        forget_panic(unheard);
    }

    /// # Safety
    ///
    /// It is in no list, and not offered.
    #[cold]
    unsafe fn stray(&self, spawned: NonNull<Header>) {
        let strays = self.strays.lock();
        self.has_strays.store(true, Ordering::Relaxed);
        // SAFETY: in place.
        unsafe { spawned.as_ref() }.is_astray.set(true);
        // SAFETY: it stays until it has been taken out.
        unsafe { strays.push(spawned) };
    }

    /// Takes the oldest stray, for the root to look after.
    fn take_stray(&self) -> Option<NonNull<Header>> {
        // At the end of the scope, all that could have spawned one has ended, and been seen to.
        if !self.has_strays.load(Ordering::Relaxed) {
            return None;
        }
        let strays = self.strays.lock();
        let Some(oldest) = strays.oldest() else {
            self.has_strays.store(false, Ordering::Relaxed);
            return None;
        };
        // SAFETY: what is in the list is in place.
        unsafe { oldest.as_ref() }.is_astray.set(false);
        // SAFETY: it is the oldest of the list.
        unsafe { strays.remove(oldest) };
        Some(oldest)
    }

    /// Takes `spawned` out of the list of strays, if it is there; then nobody but the caller has an interest in it.
    fn take_back(&self, spawned: NonNull<Header>) -> bool {
        let strays = self.strays.lock();
        // SAFETY: the caller has an interest in it.
        let is_astray = unsafe { spawned.as_ref() }.is_astray.replace(false);
        if is_astray {
            // SAFETY: as it says.
            unsafe { strays.remove(spawned) };
        }
        is_astray
    }
}
