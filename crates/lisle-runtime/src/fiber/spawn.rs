//! Spawning fibers.

use super::join::JoinHandle;
use crate::event::installed;
use crate::runtime;
use crate::sched::worker;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Spawns a fiber that runs `f`, on the current runtime, or on the default one outside any.
///
/// The fiber begins on this domain when the spawner blocks or yields: of those that wait to begin the youngest
/// goes first, as its spawner most likely waits for it, the others in the order in which they were spawned. What
/// has not begun for 100 µs may be taken over by a domain that is idle. Costs no allocation once warm, if `f` and
/// its result take less than about 700 bytes.
///
/// # Panics
///
/// If the default runtime has to be started and the system gives no threads.
///
/// ```
/// let fiber = lisle::spawn(|| "hello from a fiber");
/// assert_eq!(fiber.join().unwrap(), "hello from a fiber");
/// ```
///
/// What a fiber takes along must be `Send`, since it may begin on another thread:
///
/// ```compile_fail,E0277
/// let local = std::rc::Rc::new(1);
/// lisle::spawn(move || println!("{local}"));
/// ```
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_unchecked(f, Traits::default(), None, Location::caller()) }
}

/// Spawns a fiber on the domain with this index, to stay there. See [`spawn`].
///
/// # Panics
///
/// If the runtime has no such domain.
#[track_caller]
pub fn spawn_on<F, T>(domain: usize, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_unchecked(f, Traits::default(), Some(domain), Location::caller()) }
}

/// How to spawn a fiber with a name, or on a domain of choice.
///
/// ```
/// let fiber = lisle::fiber::Builder::new().name("adder").spawn(|| 1 + 1);
/// assert_eq!(fiber.name(), Some("adder"));
/// assert_eq!(fiber.join().unwrap(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    name: Option<Arc<str>>,
    domain: Option<usize>,
}

impl Builder {
    /// A nameless fiber, on any domain.
    pub fn new() -> Self {
        Builder::default()
    }

    /// The name, for messages about panics, overflows and shutdowns.
    #[must_use]
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The domain the fiber stays on.
    #[must_use]
    pub fn domain(mut self, index: usize) -> Self {
        self.domain = Some(index);
        self
    }

    /// Spawns the fiber, see [`spawn`].
    ///
    /// # Panics
    ///
    /// As [`spawn`]; or if the runtime has no such domain.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let traits = Traits { name: self.name, ..Traits::default() };
        // SAFETY: nothing is borrowed.
        unsafe { spawn_unchecked(f, traits, self.domain, Location::caller()) }
    }
}

/// Spawns a fiber on the current runtime.
///
/// # Safety
///
/// What `f` and its result borrow outlives the fiber and its unclaimed result.
pub(crate) unsafe fn spawn_unchecked<F, T>(
    f: F,
    mut traits: Traits,
    domain: Option<usize>,
    site: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    worker::with_current(|worker| match worker {
        Some(worker) => {
            worker.shared().check(domain);
            traits.panic_policy = worker.shared().panic_policy;
            let fiber = Fiber::new(f, traits, site);
            worker.spawn(fiber, domain);
            // SAFETY: made with result type `T`; the second reference is the handle's.
            unsafe { JoinHandle::new(fiber) }
        }
        // SAFETY: passed on to the caller.
        None => unsafe { spawn_outside(f, traits, domain, site) },
    })
}

/// As [`spawn_unchecked`], from where no worker runs.
unsafe fn spawn_outside<F, T>(
    f: F,
    mut traits: Traits,
    domain: Option<usize>,
    site: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    /// A fiber on its way to the context that will run it.
    struct Unbegun(NonNull<Fiber>);
    // SAFETY: a fiber that has not begun may go anywhere: its closure is `Send`.
    unsafe impl Send for Unbegun {}
    impl Unbegun {
        fn run(self) {
            // SAFETY: not begun, and run once.
            unsafe { fiber_cell::live(self.0) };
            // SAFETY: it has just lived.
            if unsafe { fiber_cell::finish(self.0) } {
                // SAFETY: that was the last reference.
                unsafe { fiber_cell::free(self.0) };
            }
        }
    }
    if let Some(context) = installed() {
        let fiber = Fiber::new(f, traits, site);
        let unbegun = Unbegun(fiber);
        let refused = context.spawn(Box::new(move || unbegun.run()));
        assert!(refused.is_ok(), "this context does not run fibers");
        // SAFETY: made with result type `T`; the second reference is the handle's.
        return unsafe { JoinHandle::new(fiber) };
    }
    let shared = runtime::default_runtime();
    shared.check(domain);
    traits.panic_policy = shared.panic_policy;
    let fiber = Fiber::new(f, traits, site);
    shared.spawn_outside(fiber, domain);
    // SAFETY: as above.
    unsafe { JoinHandle::new(fiber) }
}
