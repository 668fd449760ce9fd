//! Jobs and promises: parts of a computation that are put off, and waited for in any order.
//!
//! `frame.rs` holds the jobs that a stack puts off and ends them, `jobs.rs` chooses the job that is
//! offered first, `spawned.rs` decides which thread owns a job, and `promise.rs` waits for a job.

mod frame;
mod jobs;
mod list;
mod promise;
mod spawned;

pub use promise::Promise;

use super::join::merge;
#[cfg(feature = "model")]
use super::modelled;
use super::owner;
use super::within;
#[cfg(feature = "model")]
use crate::event::is_modelled;
use crate::event::lock::Lock;
use crate::panics::forget_panic;
use crate::shim::atomic::{AtomicBool, Ordering};
use frame::Frame;
use list::List;
use spawned::Header;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe};
use std::ptr::NonNull;

/// Runs `f`, which may spawn jobs that borrow from outside the scope, and returns when all of them
/// have ended.
///
/// A job is put off until its promise is waited for, until an idle domain takes it, or until the
/// scope ends. Jobs may spawn jobs into the same scope, wherever they run.
///
/// Works in fibers, in tasks and on plain threads, like [`join`](super::join()). For a division in
/// two, `join` is cheaper. For a loop, [iterators](super::iter) are cheaper.
///
/// # Waiting for each other
///
/// A job may wait for the promises of its own jobs and for promises that it was given. It must not
/// wait for a job that waits for it in turn. Two jobs that communicate over channels work only if
/// they happen to run at the same time, which nothing guarantees.
///
/// A job that another domain runs has ended only when the jobs that it spawned have ended, too:
/// waiting for it may mean waiting for them. While code waits for a job, other jobs that the same
/// code has spawned may run on its domain. Once such a job has begun, the code waits for it as
/// well, unless the job waits for an event that is not a job. Hence these jobs must not wait for
/// jobs that wait for later steps of the code, and the code must not hold a lock of the standard
/// library that these jobs want.
///
/// Code here means the function of the scope or a job, with all joins and loops in it. Jobs that
/// other code has spawned do not run there meanwhile. Hence jobs may hold a lock of the standard
/// library that their siblings want, too, while they spawn, join and wait for jobs that they have
/// spawned. But a job that waits for a message, or for another event that is not a job, is from
/// then on a fiber like any other of its domain. It must not hold such a lock across that wait
/// while another fiber wants it.
///
/// # Panics
///
/// Panics with the panic of `f`, or else with the first noticed panic of a job whose promise was
/// not waited for. In either case all jobs run, and have ended before.
///
/// # Cost
///
/// Promises may be waited for in any order. Before code waits for a job that another domain runs,
/// it offers its next jobs, and its own domain takes part in them. On a plain thread these jobs are
/// left to the domains of the default runtime, because the thread does nothing else while it waits.
///
/// Spawning a job and waiting for it takes some nanoseconds more than a call; if no domain is idle,
/// nothing is shared with other threads. The memory of jobs is recycled, so nothing is allocated in
/// the steady state, unless a function or its result takes more than about 800 bytes.
///
/// # Origin
///
/// The interface is that of `async` and `await` in *Domainslib* (K. C. Sivaramakrishnan et al.,
/// *Retrofitting parallelism onto OCaml*, ICFP 2020), within a scope, as borrowing in Rust
/// requires. The idea that a job remains a call unless another domain wants it is lazy job creation
/// (E. Mohr, D. Kranz and R. Halstead, *Lazy job creation: a technique for increasing the
/// granularity of parallel programs*, LFP 1990).
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
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
/// Jobs may borrow only values that outlive the scope:
///
/// ```
/// # use lisle_par::facade as lisle;
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
/// # use lisle_par::facade as lisle;
/// lisle::par::scope(|s| {
///     let inside = 1;
///     let _ = s.spawn(|| println!("{}", &inside));
/// });
/// ```
///
/// ```compile_fail,E0373
/// # use lisle_par::facade as lisle;
/// lisle::par::scope(|s| {
///     for i in 0..3 {
///         let _ = s.spawn(|| println!("{i}"));
///     }
/// });
/// ```
///
/// The values that jobs use must be safe to use from another thread, and so must be their results:
///
/// ```compile_fail,E0277
/// # use lisle_par::facade as lisle;
/// let counter = std::rc::Rc::new(1);
/// lisle::par::scope(|s| s.spawn(|| println!("{counter}")).wait());
/// ```
///
/// ```compile_fail,E0277
/// # use lisle_par::facade as lisle;
/// lisle::par::scope(|s| drop(s.spawn(|| std::rc::Rc::new(1)).wait()));
/// ```
pub fn scope<'env, F, R>(f: F) -> R
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    let core = Core {
        strays: Lock::new(List::new()),
        has_strays: AtomicBool::new(false),
        panic: Lock::new(None),
        #[cfg(feature = "model")]
        root: Default::default(),
    };
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

/// A scope into which jobs are spawned, see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    core: Core,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

// Only references to a scope are given out, as by `std::thread::scope`.
impl RefUnwindSafe for Scope<'_, '_> {}

impl<'scope> Scope<'scope, '_> {
    /// Puts `f` off. It runs when its promise is waited for, when another domain takes it, or at
    /// the end of the scope.
    ///
    /// The job does not run within this call. If the result is not wanted, discard the promise with
    /// `let _ =`: the job runs all the same.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
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

    /// Does the same as [`spawn`](Scope::spawn), on behalf of the call at `site`.
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
                // SAFETY: the job is new, so it is in no list and not offered. The scope does not
                // end before the frame has settled the job.
                unsafe { frame.spawn(pending, spawned) };
                Frame::look(pending);
                Promise::new(spawned)
            }
            None => {
                let spawned = spawned::new(f, &self.core, std::ptr::null(), site);
                // SAFETY: the job is new, so it is in no list and not offered.
                unsafe { self.core.stray(spawned) };
                #[cfg(feature = "model")]
                if modelled::takes_all() {
                    self.core.root().take_strays();
                }
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

/// The state that all frames of a scope share.
struct Core {
    /// The strays: jobs that were spawned in a part of a loop, or in a fiber, on a stack that has
    /// no frame of the scope. (Frames belong to the scope's function and to jobs that were taken.)
    /// The frame of the scope's own function runs them.
    strays: Lock<List<Header>>,
    /// Whether there may be strays.
    has_strays: AtomicBool,
    /// The first panic of a job whose promise was not waited for.
    panic: Lock<Option<Box<dyn Any + Send>>>,
    /// The frame of the scope's own function, in a model.
    #[cfg(feature = "model")]
    root: std::sync::atomic::AtomicPtr<Frame>,
}

// SAFETY: the lists and the panic are under locks, and any thread may run and drop the jobs of the
// list.
unsafe impl Sync for Core {}
// SAFETY: as above.
unsafe impl Send for Core {}

impl Core {
    /// Notes the frame of the scope's own function, if a model runs it.
    #[cfg(feature = "model")]
    fn has_root(&self, frame: &Frame) {
        if is_modelled() {
            self.root.store(std::ptr::from_ref(frame).cast_mut(), Ordering::Relaxed);
        }
    }

    /// Returns the frame of the scope's own function, in a model.
    #[cfg(feature = "model")]
    fn root(&self) -> &Frame {
        // SAFETY: the frame stays in place until all jobs that were spawned into the scope have
        // ended.
        unsafe { self.root.load(Ordering::Relaxed).as_ref() }.expect("a model notes it as the scope begins")
    }

    /// Records a panic that is not reported otherwise.
    #[cold]
    fn note(&self, panic: Box<dyn Any + Send>) {
        let unheard = {
            let mut first = self.panic.lock();
            if first.is_none() { first.replace(panic) } else { Some(panic) }
        };
        forget_panic(unheard);
    }

    /// Puts a job into the list of strays.
    ///
    /// # Safety
    ///
    /// The job is in no list, and not offered.
    #[cold]
    unsafe fn stray(&self, spawned: NonNull<Header>) {
        let strays = self.strays.lock();
        self.has_strays.store(true, Ordering::Relaxed);
        // SAFETY: the job is in place.
        unsafe { spawned.as_ref() }.is_astray.set(true);
        // SAFETY: the job is in no list, and stays in place until it has been taken out.
        unsafe { strays.push(spawned) };
    }

    /// Takes the oldest stray, to be run by the root frame.
    fn take_stray(&self) -> Option<NonNull<Header>> {
        // At the end of the scope, all code that could have spawned a stray has ended, and its
        // writes are visible here.
        if !self.has_strays.load(Ordering::Relaxed) {
            return None;
        }
        let strays = self.strays.lock();
        let Some(oldest) = strays.oldest() else {
            self.has_strays.store(false, Ordering::Relaxed);
            return None;
        };
        // SAFETY: a job in the list is in place.
        unsafe { oldest.as_ref() }.is_astray.set(false);
        // SAFETY: the job is the oldest of the list.
        unsafe { strays.remove(oldest) };
        Some(oldest)
    }

    /// Takes `spawned` out of the list of strays. Returns `false` if it is not there. If it was
    /// there, only the caller has an interest in it from then on.
    fn take_back(&self, spawned: NonNull<Header>) -> bool {
        let strays = self.strays.lock();
        // SAFETY: the caller has an interest in the job, so it is in place.
        let is_astray = unsafe { spawned.as_ref() }.is_astray.replace(false);
        if is_astray {
            // SAFETY: the flag says that the job is in the list.
            unsafe { strays.remove(spawned) };
        }
        is_astray
    }
}
