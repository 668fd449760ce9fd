//! A runtime in the hands of somebody who is none of its fibers.

use super::Runtime;
use super::Statistics;
use crate::fiber::JoinHandle;
use crate::report::WaitGraph;
use crate::sched::shared::Shared;
use crate::sched::worker;
use crate::shim::sync::Arc;
use std::fmt;
use std::panic::Location;

/// A runtime, for those who are none of its fibers: to spawn on it, and to ask who waits there. From
/// [`Runtime::handle`], or, within a runtime and so also one of [`run`](crate::run), from [`Handle::current`].
///
/// It may be cloned and used on any thread. It does not keep the runtime going: when that has ended nothing is run any more,
/// and nobody waits.
///
/// ```
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

    /// The runtime of the fiber or task that calls this.
    ///
    /// # Panics
    ///
    /// If it is called by none.
    ///
    /// ```should_panic
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

    /// The runtime of the fiber or task that calls this, if it is called by one.
    pub fn try_current() -> Option<Handle> {
        worker::with_current(|worker| worker.map(|worker| Handle::new(worker.shared().clone())))
    }

    /// How many domains it has.
    pub fn domains(&self) -> usize {
        self.shared.domains.len()
    }

    /// Spawns a fiber on this runtime, from anywhere. See [`spawn`](crate::spawn).
    ///
    /// Once the runtime is being shut down the fiber is not run; joining it says so. Its function is dropped within this call.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { Shared::spawn(&self.shared, f, Location::caller()) }
    }

    /// Who waits for what, and who runs; see [`Runtime::waiting`]. Nobody, when the runtime has ended; then only plain threads
    /// are listed.
    ///
    /// # Blocking
    ///
    /// As [`Runtime::waiting`]: while a domain does not answer, for a tenth of a second.
    pub fn waiting(&self) -> WaitGraph {
        self.shared.snapshot().graph
    }

    /// What the runtime has done so far, see [`Runtime::statistics`].
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }

    /// Returns `true` if the runtime has ended, but for fibers that did not end in time.
    pub fn has_ended(&self) -> bool {
        self.shared.has_ended()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("domains", &self.domains()).finish_non_exhaustive()
    }
}

impl Runtime {
    /// The runtime, for those who are to spawn on it or to ask who waits there while somebody else has this value.
    ///
    /// ```
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let handle = runtime.handle();
    /// assert_eq!(std::thread::spawn(move || handle.spawn(|| 6 * 7).join().unwrap()).join().unwrap(), 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared_arc().clone())
    }
}
