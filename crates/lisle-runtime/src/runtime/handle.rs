//! A handle to a runtime, for code that runs outside it.

use super::Statistics;
use crate::fiber::JoinHandle;
use crate::report::WaitGraph;
use crate::sched::destination::Destination;
use crate::sched::shared::Shared;
use crate::sched::worker;
use crate::shim::sync::Arc;
use std::fmt;
use std::panic::Location;

/// A handle to a runtime, for code that is not one of its fibers: to spawn on it, and to ask for its waits.
/// It comes from [`Runtime::handle`](crate::Runtime::handle), or from [`Handle::current`] within a runtime,
/// also within [`run`](crate::run).
///
/// It may be cloned and used on any thread. It does not keep the runtime from ending: after that
/// nothing is run any more, and nothing waits there.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{Handle, channel};
///
/// lisle::run(|| {
///     let (tx, rx) = channel::named::<u32>("numbers", 0);
///     let handle = Handle::current();
///     let plain = std::thread::spawn(move || {
///         while handle.waiting().fibers.is_empty() {}
///         let fiber = handle.spawn(move || tx.send(1)); // a fiber, though this is none
///         fiber.join().unwrap()
///     });
///     assert_eq!(rx.recv(), Ok(1));
///     assert!(plain.join().unwrap().is_ok());
/// });
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Handle { shared }
    }

    /// Returns a handle to the runtime of the fiber or task that calls this.
    ///
    /// # Panics
    ///
    /// Panics if no fiber or task calls it.
    ///
    /// ```should_panic
    /// # use lisle_runtime::facade as lisle;
    /// lisle::Handle::current(); // on a plain thread
    /// ```
    #[track_caller]
    pub fn current() -> Handle {
        Handle::try_current().unwrap_or_else(|| {
            panic!(
                "`Handle::current()` on a thread of no runtime: call it in a fiber or a task, and give the handle away; or \
                 take `Runtime::handle`"
            )
        })
    }

    /// Returns a handle to the runtime of the fiber or task that calls this, if one does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::Handle;
    ///
    /// assert!(Handle::try_current().is_none()); // on a plain thread
    /// assert!(lisle::run(|| Handle::try_current().is_some()));
    /// ```
    pub fn try_current() -> Option<Handle> {
        worker::with_current(|worker| worker.map(|worker| Handle::new(worker.shared().clone())))
    }

    /// Returns the index of the domain on which this code runs, or `None` if it does not run on this
    /// runtime. See [`fiber::domain`](crate::fiber::domain).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let handle = runtime.handle();
    /// assert_eq!(handle.domain(), None);
    /// assert_eq!(runtime.run(|| handle.domain()), Some(0));
    /// assert_eq!(lisle::run(|| handle.domain()), None); // another runtime
    /// # std::io::Result::Ok(())
    /// ```
    #[inline]
    pub fn domain(&self) -> Option<usize> {
        worker::with_current(|worker| {
            worker
                .filter(|worker| Arc::ptr_eq(worker.shared(), &self.shared))
                .map(|worker| worker.domain().index)
        })
    }

    /// Returns the number of domains.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Handle, Runtime};
    ///
    /// assert_eq!(Runtime::builder().domains(2).run(|| Handle::current().domains()), 2);
    /// ```
    pub fn domains(&self) -> usize {
        self.shared.domains.len()
    }

    /// Spawns a fiber on this runtime, from any thread. See [`spawn`](crate::spawn).
    ///
    /// Once the runtime is being shut down, the fiber is not run, and joining it returns an error
    /// that says this. Its function is dropped within this call.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Handle, Runtime};
    ///
    /// let runtime = Runtime::builder().domains(1).start()?;
    /// let handle = runtime.handle();
    /// assert_eq!(handle.spawn(|| 6 * 7).join().unwrap(), 42);
    ///
    /// drop(runtime);
    /// assert!(handle.spawn(|| 6 * 7).join().unwrap_err().is_cancelled()); // it has not run
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { Shared::spawn(&self.shared, f, Destination::Anywhere, Location::caller()) }
    }

    /// Spawns a fiber on the domain of this runtime with this index, where it stays, from any thread. See
    /// [`fiber::spawn_on`](crate::fiber::spawn_on), and [`spawn`](Handle::spawn).
    ///
    /// # Panics
    ///
    /// If the runtime has no such domain.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(2).start()?;
    /// let fiber = runtime.handle().spawn_on(1, lisle::fiber::domain);
    /// assert_eq!(fiber.join().unwrap(), Some(1));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F, T>(&self, domain: usize, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { Shared::spawn(&self.shared, f, Destination::Domain(domain), Location::caller()) }
    }

    /// Runs `f` as a fiber of this runtime and waits for it, which allows `f` to borrow. See
    /// [`Runtime::run`](crate::Runtime::run).
    ///
    /// # Panics
    ///
    /// As [`Runtime::run`](crate::Runtime::run).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let words = ["warp", "weft"];
    /// let handle = lisle::Handle::default_runtime();
    /// assert_eq!(handle.run(|| words.concat().len()), 8); // it borrows
    /// ```
    #[track_caller]
    #[doc(alias = "install")]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        Shared::run(&self.shared, f)
    }

    /// Returns the wait graph, with the running fibers; see [`Runtime::waiting`](crate::Runtime::waiting).
    /// When the runtime has ended, only plain threads are listed.
    ///
    /// # Blocking
    ///
    /// Blocks as [`Runtime::waiting`](crate::Runtime::waiting) does: while a domain does not answer, for a tenth of a
    /// second.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Handle, Runtime, fiber};
    ///
    /// let handle = Runtime::builder().domains(1).run(|| {
    ///     let (_tx, rx) = lisle::channel::<u32>();
    ///     drop(fiber::Builder::new().name("reader").spawn(move || rx.recv()));
    ///     fiber::yield_now(); // the other fiber begins to wait
    ///     let handle = Handle::current();
    ///     assert_eq!(handle.waiting().fibers[0].name.as_deref(), Some("reader"));
    ///     handle
    /// });
    /// assert!(handle.waiting().fibers.is_empty()); // the runtime has ended
    /// ```
    #[track_caller]
    pub fn waiting(&self) -> WaitGraph {
        self.shared.must_be_here();
        self.shared.snapshot().graph
    }

    /// Returns the counts of the runtime so far, see [`Runtime::statistics`](crate::Runtime::statistics).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::Handle;
    ///
    /// let handle = lisle::run(|| {
    ///     lisle::spawn(|| ()).join().unwrap();
    ///     Handle::current()
    /// });
    /// assert_eq!(handle.statistics().fibers, 2); // with the one that `run` has made
    /// ```
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }

    /// Returns `true` if the runtime has ended, apart from fibers that did not end in time. In a forked
    /// child, where it has no threads, the answer is `true`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::Handle;
    ///
    /// let handle = lisle::run(|| {
    ///     assert!(!Handle::current().has_ended());
    ///     Handle::current()
    /// });
    /// assert!(handle.has_ended());
    /// ```
    pub fn has_ended(&self) -> bool {
        self.shared.has_ended() || self.shared.is_inherited()
    }
}

/// Handles are equal if they are of the same runtime.
impl PartialEq for Handle {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("domains", &self.domains()).finish_non_exhaustive()
    }
}
