//! Spawning fibers.

use super::join::JoinHandle;
use crate::event::installed;
use crate::runtime;
use crate::sched::{destination::Destination, shared::Shared, worker};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use std::panic::Location;
use std::ptr::NonNull;

/// Spawns a fiber that runs `f`, on the current runtime, or outside any runtime on the default one.
///
/// The fiber begins on this domain when the spawner blocks or yields. Of the fibers that have not
/// begun the youngest goes first, since its spawner most likely waits for it. The others follow in
/// the order in which they were spawned. An idle domain may take over a fiber that has not begun
/// for 100 µs. A runtime learns lines of the program whose fibers live long and exchange messages
/// with their neighbours or children. It deals out later fibers of such a line to the domains in
/// groups: these begin in the order in which they were spawned, each on its domain, and are not
/// taken over. The [`Builder`](super::Builder) says more, and can place a fiber. Once warm,
/// spawning allocates nothing if `f` and its result take less than about 700 bytes.
///
/// # Panics
///
/// If the default runtime has to be started and the system provides no threads.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let fiber = lisle::spawn(|| "hello from a fiber");
/// assert_eq!(fiber.join().unwrap(), "hello from a fiber");
/// ```
///
/// `f` and its result must be `Send`, since the fiber may begin on another thread:
///
/// ```compile_fail,E0277
/// # use lisle_runtime::facade as lisle;
/// let local = std::rc::Rc::new(1);
/// lisle::spawn(move || println!("{local}"));
/// ```
#[inline]
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_unchecked(f, Traits::default(), Destination::Anywhere, Location::caller()) }
}

/// Spawns a fiber on the domain with this index, where it stays. See [`spawn`].
///
/// # Panics
///
/// If the runtime has no such domain.
///
/// # Examples
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let name = || std::thread::current().name().map(str::to_owned);
/// lisle::Runtime::builder().domains(2).thread_name("net").run(|| {
///     assert_eq!(lisle::fiber::spawn_on(1, name).join().unwrap().as_deref(), Some("net-1"));
/// });
/// ```
///
/// The domains are numbered from 0:
///
/// ```should_panic
/// # use lisle_runtime::facade as lisle;
/// lisle::Runtime::builder().domains(2).run(|| drop(lisle::fiber::spawn_on(2, || ())));
/// ```
#[track_caller]
pub fn spawn_on<F, T>(domain: usize, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_unchecked(f, Traits::default(), Destination::Domain(domain), Location::caller()) }
}

/// Spawns a fiber on the current runtime.
///
/// # Safety
///
/// The borrows of `f` and its result outlive the fiber and its unclaimed result.
#[inline(always)]
pub(crate) unsafe fn spawn_unchecked<F, T>(
    f: F,
    traits: Traits,
    destination: Destination,
    site: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    worker::with_current(|worker| match worker {
        Some(worker) => {
            let shared = worker.shared();
            let here = Some(worker.domain().index);
            let (fiber, mut domain) = placed(shared, f, traits, destination, here, site);
            if matches!(destination, Destination::Anywhere) && shared.domains.len() > 1 {
                domain = worker.beside_its_kin(fiber);
            }
            match destination {
                Destination::FirstFree => worker.spawn_for_the_first(fiber),
                _ => worker.spawn(fiber, domain),
            }
            // SAFETY: made with result type `T`; the second reference is the handle's.
            unsafe { JoinHandle::new(fiber) }
        }
        // SAFETY: passed on to the caller.
        None => unsafe { spawn_outside(f, traits, destination, site) },
    })
}

/// Does the same as [`spawn_unchecked`], on a thread that runs no domain.
#[inline(never)]
unsafe fn spawn_outside<F, T>(
    f: F,
    traits: Traits,
    destination: Destination,
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
            // SAFETY: the fiber has not begun, and it is run only here, since `run` takes `self`.
            unsafe { fiber_cell::live(self.0) };
            // SAFETY: `live` has just returned.
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
    let (fiber, domain) = placed(shared, f, traits, destination, None, site);
    shared.spawn_outside(fiber, domain);
    // SAFETY: as above.
    unsafe { JoinHandle::new(fiber) }
}

/// Makes a fiber that nobody has queued yet, and decides to which domain of `shared` it goes. `here`
/// is the index of the domain that spawns it.
#[inline(always)]
#[track_caller]
pub(crate) fn placed<F, T>(
    shared: &Shared,
    f: F,
    mut traits: Traits,
    destination: Destination,
    here: Option<usize>,
    site: &'static Location<'static>,
) -> (NonNull<Fiber>, Option<usize>)
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // First, since it panics if there is no such domain.
    let domain = shared.decide(destination, here);
    traits.panic_policy = shared.panic_policy;
    let fiber = Fiber::new(f, traits, site);
    if let Some(index) = domain {
        // SAFETY: the fiber has just been made.
        shared.settle(unsafe { fiber.as_ref() }, destination, index);
    }
    (fiber, domain)
}
