//! The threads of a runtime: each runs a domain.

use super::handle::Handle;
use crate::affinity::Pinned;
use crate::sched::reactor::Driver;
use crate::sched::shared::Shared;
use crate::sched::worker::Worker;
use crate::shim::{
    atomic::Ordering,
    sync::{Arc, Mutex},
};
use crate::threads;
use std::fmt;
use std::io;
use std::thread;

/// A domain that waits for its thread, see [`Builder::start_on`](crate::Builder::start_on).
pub struct DomainThread {
    shared: Arc<Shared>,
    index: usize,
    pin: Option<core_affinity::CoreId>,
    /// Taken when the domain runs.
    driver: Option<Driver>,
}

impl DomainThread {
    /// Returns the index of the domain, from 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let mut next = 0;
    /// let runtime = lisle::Runtime::builder().domains(2).start_on(|domain| {
    ///     assert_eq!(domain.index(), next);
    ///     next += 1;
    ///     std::thread::spawn(|| domain.run());
    ///     Ok(())
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns a handle to the runtime of the domain.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let mut handle = None;
    /// let runtime = lisle::Runtime::builder().domains(1).start_on(|domain| {
    ///     handle = Some(domain.handle());
    ///     std::thread::spawn(|| domain.run());
    ///     Ok(())
    /// })?;
    /// assert_eq!(handle, Some(runtime.handle()));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// Runs the domain on this thread. Returns when the runtime has ended.
    ///
    /// If a fiber that has begun here does not end (see [`shutdown`](crate::Runtime::shutdown)), this does
    /// not return: others may use values that it has lent.
    ///
    /// # Panics
    ///
    /// Panics in a fiber, whose thread runs a domain already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let runtime = lisle::Runtime::builder().domains(1).start_on(|domain| tx.send(domain).map_err(std::io::Error::other))?;
    /// let answer = runtime.spawn(|| 6 * 7);
    /// let thread = std::thread::spawn(move || rx.recv().unwrap().run());
    /// assert_eq!(answer.join().unwrap(), 42);
    /// drop(runtime);
    /// thread.join().unwrap();
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn run(mut self) {
        assert!(
            crate::sched::worker::with_current(|worker| worker.is_none()),
            "a fiber cannot run a domain: its thread runs one already"
        );
        let Some(driver) = self.driver.take() else { return };
        let _pinned = pinned_to(self.pin);
        Worker::new(self.shared.clone(), self.index, driver).enter(|worker| {
            worker.work(&|| worker.shared().may_leave());
            worker.wind_up();
            self.shared.leave(self.index);
            // Abandoned fibers stay as they are. So do values that others may have borrowed from
            // them, this thread's locals included.
            while !worker.is_empty() {
                thread::park();
            }
        });
    }
}

impl Drop for DomainThread {
    fn drop(&mut self) {
        if self.driver.is_some() {
            // A domain that does not run looks for no work, and no shutdown waits for it.
            self.shared.searching.fetch_sub(1, Ordering::SeqCst);
            self.shared.leave(self.index);
        }
    }
}

impl fmt::Debug for DomainThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DomainThread").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Pins this thread to `core`, if given, until the returned value is dropped.
pub(super) fn pinned_to(core: Option<core_affinity::CoreId>) -> Pinned {
    Pinned::by(core.map(|core| {
        move || {
            // If the processor was taken away meanwhile, the thread runs unpinned.
            core_affinity::set_for_current(core);
        }
    }))
}

/// Starts a thread for each domain of `shared` from `from` on, and adds it to `threads`.
pub(super) fn start_threads(
    shared: &Arc<Shared>,
    threads: &Mutex<Vec<thread::JoinHandle<()>>>,
    drivers: Vec<Driver>,
    pins: &[Option<core_affinity::CoreId>],
    from: usize,
) -> io::Result<()> {
    start_domains(shared, drivers, pins, from, |domain| {
        let builder = thread::Builder::new().name(format!("{}-{}", shared.thread_name, domain.index));
        let thread = threads::start_as(builder, "a domain of a runtime", || domain.run())?;
        threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(thread);
        Ok(())
    })
}

/// Has `spawn` start a thread for each domain of `shared` from `from` on.
pub(super) fn start_domains(
    shared: &Arc<Shared>,
    drivers: Vec<Driver>,
    pins: &[Option<core_affinity::CoreId>],
    from: usize,
    spawn: impl FnMut(DomainThread) -> io::Result<()>,
) -> io::Result<()> {
    /// A guard that ends the runtime if a thread cannot be started.
    struct Starting<'a> {
        shared: &'a Shared,
        /// The number of first domains that are not started here.
        absent: usize,
    }
    impl Drop for Starting<'_> {
        fn drop(&mut self) {
            self.shared.stop();
            (0..self.absent).for_each(|index| self.shared.leave(index));
        }
    }
    let domains = (from..).zip(drivers).map(|(index, driver)| DomainThread {
        shared: shared.clone(),
        index,
        pin: pins[index],
        driver: Some(driver),
    });
    // Domains that `spawn` does not get are dropped, so nothing waits for them.
    let domains: Vec<_> = domains.collect();
    let starting = Starting { shared, absent: from };
    domains.into_iter().try_for_each(spawn)?;
    std::mem::forget(starting);
    Ok(())
}
