//! Readiness from the operating system: the waiters of each descriptor, and the one place that asks
//! the kernel.
//!
//! Each domain has a reactor of its own. It drives the reactor when it has nothing else to do, and
//! now and then when it has. Threads that belong to no runtime share one, see
//! [`current`](current::current).
//!
//! - [`Reactor`] is the part that any thread may use: it registers descriptors and wakes the
//!   driver.
//! - [`Driver`] is the part that one thread owns: it waits for the kernel and hands readiness out.
//! - [`Readiness`] is the known state of one descriptor, with its waiters; `direction.rs` argues
//!   why no edge is lost.
//!
//! **A descriptor is registered once**, edge-triggered, for everything it can do. The kernel is not
//! told when a wait begins or ends. A descriptor stays with the reactor that it was registered
//! with.
//!
//! **A stale event wakes nothing.** Events are told apart by tokens that are never given out again,
//! not by descriptors, which the system reuses at once: a token holds the generation of its slot,
//! and a slot's generation ends with its registration. So a batch of events that the driver has
//! already fetched is harmless to the next registration.
//!
//! **A forked child shares the kernel's part.** To end a registration there would end it for the
//! parent, and to wait there would take the parent's events. So the child leaves inherited reactors
//! alone, and registers inherited descriptors with its own.

pub mod address;
mod current;
mod direction;
mod fine;
mod heirs;
mod readiness;
mod slab;
mod waited;

pub(crate) use current::stillness;
pub use current::{current, set_current};
pub(crate) use direction::DirectionState;
pub use direction::{Ask, Wakes};
pub use readiness::Direction;
pub(crate) use readiness::Readiness;

use crate::event::lock::Lock;
use crate::fork;
use crate::shim::{
    atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::Arc,
};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use slab::Slab;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// The token of a wake, which no slot can have.
const WAKE: Token = Token(usize::MAX);
/// How many events one system call brings at most.
const BATCH: usize = 1024;

/// The shared part: registers descriptors and wakes the driver.
#[derive(Debug)]
pub struct Reactor {
    registry: Registry,
    waker: Waker,
    sockets: Lock<Slab>,
    registrations: AtomicUsize,
    /// Set when the driver has lost its thread while descriptors were registered. It lives until
    /// they are gone.
    orphaned: AtomicBool,
    /// Set when no thread could be had that goes on for the driver, see `heirs.rs`.
    has_no_heir: AtomicBool,
    /// The process that uses it, see `fork.rs`.
    generation: u32,
}

/// The directions for which a descriptor is registered.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub interest: Interest,
    pub wakes: Wakes,
}

impl Reactor {
    /// Creates a reactor and its driver.
    ///
    /// # Errors
    ///
    /// Returns an error if the system is out of descriptors or memory.
    pub fn new() -> io::Result<(Arc<Reactor>, Driver)> {
        let poll = Poll::new()?;
        let reactor = Arc::new(Reactor {
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKE)?,
            sockets: Lock::new(Slab::new()),
            registrations: AtomicUsize::new(0),
            orphaned: AtomicBool::new(false),
            has_no_heir: AtomicBool::new(false),
            generation: fork::watch(),
        });
        let engine = Engine { reactor: reactor.clone(), poll, events: Events::with_capacity(BATCH) };
        Ok((reactor, Driver(Some(engine))))
    }

    /// Makes the driver's present or next [`wait`](Driver::wait) return at once. One system call.
    pub(crate) fn wake(&self) {
        // The counter behind the waker cannot be closed while this holds it, and `mio` handles a
        // full one.
        let woken = self.waker.wake();
        debug_assert!(woken.is_ok(), "waking a reactor: {woken:?}");
    }

    /// Returns `true` if nothing is registered. A domain that is not about to sleep then need not
    /// ask the kernel.
    pub(crate) fn is_empty(&self) -> bool {
        self.registrations.load(Ordering::Relaxed) == 0
    }

    /// Registers `fd`, which is known not to be ready in the direction `blocked`.
    ///
    /// The kernel reports at once if the descriptor is ready, so nothing is missed between an
    /// operation that would have blocked and the registration. In the other direction readiness is
    /// assumed.
    ///
    /// # Errors
    ///
    /// Returns an error if the descriptor cannot be waited for (a regular file), or if the system's
    /// limits are reached.
    pub fn register(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        terms: Terms,
        blocked: Direction,
    ) -> io::Result<Registration> {
        let fd = fd.as_raw_fd();
        let readiness = Arc::new(Readiness::new(terms.wakes, blocked, fd));
        let token = self.sockets.lock().insert(readiness.clone())?;
        self.registrations.fetch_add(1, Ordering::SeqCst);
        // From here on the slot is freed by `Registration::drop`, or below.
        if let Err(error) = self.registry.register(&mut SourceFd(&fd), token, terms.interest) {
            self.free(token);
            return Err(error);
        }
        Ok(Registration { reactor: self.clone(), readiness, token, fd, generation: self.generation })
    }

    /// Frees the slot of `token` and ends the token's life.
    fn free(&self, token: Token) {
        let readiness = self.sockets.lock().remove(token);
        debug_assert!(readiness.is_some(), "a registration is ended once");
        if self.registrations.fetch_sub(1, Ordering::SeqCst) == 1 && self.orphaned.load(Ordering::SeqCst) {
            self.wake();
        }
    }
}

/// A descriptor's place in a reactor. Dropping it ends the registration, which must happen before
/// the descriptor is closed.
#[derive(Debug)]
pub struct Registration {
    reactor: Arc<Reactor>,
    readiness: Arc<Readiness>,
    token: Token,
    fd: RawFd,
    generation: u32,
}

impl Registration {
    /// Returns the state of one direction, with its waiters.
    #[inline]
    pub fn state(&self, direction: Direction) -> &DirectionState {
        self.readiness.state(direction)
    }

    /// Returns `true` if the registration belongs to another process, from which this one was
    /// forked.
    #[inline]
    pub fn is_inherited(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Makes sure that a thread hands readiness out, for a performer that is about to wait for it.
    #[inline]
    pub fn is_waited_for(&self) {
        if self.reactor.has_no_heir.load(Ordering::Relaxed) {
            heirs::start();
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if self.is_inherited() {
            return;
        }
        // Closing alone would not do: a duplicate keeps the open file, and with it the
        // registration, alive. This fails only for a descriptor that other code has closed, which
        // the kernel has forgotten.
        let _ = self.reactor.registry.deregister(&mut SourceFd(&self.fd));
        self.reactor.free(self.token);
    }
}

/// The part of a reactor that one thread owns.
///
/// A driver that is dropped while descriptors are still registered goes on in a thread of its own
/// until none is: sockets may outlive the runtime in which they were first waited for.
#[derive(Debug)]
pub struct Driver(Option<Engine>);

impl Driver {
    /// Does the same as [`wait_then`](Driver::wait_then), with nothing in between.
    #[cfg(test)]
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        self.wait_then(timeout, || ())
    }

    /// Waits for readiness, a [`wake`](Reactor::wake) or the end of `timeout`, or for less if that is
    /// far away. Calls `awake`, and then wakes the waiters of the ready descriptors. Returns the
    /// number of descriptors with news. A zero timeout does not wait.
    ///
    /// Allocates nothing, unless more than four performers wait for one direction of one socket.
    pub fn wait_then(&mut self, timeout: Option<Duration>, awake: impl FnOnce()) -> io::Result<usize> {
        self.0.as_mut().expect("only `drop` takes the engine").wait(timeout, awake)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let Some(engine) = self.0.take() else { return };
        let reactor = engine.reactor.clone();
        // The thread that ends the last registration reads the flag after it has counted down, and
        // this reads the count after it has set the flag. Both are sequentially consistent, so one
        // of the two sees the other.
        reactor.orphaned.store(true, Ordering::SeqCst);
        if reactor.registrations.load(Ordering::SeqCst) == 0 {
            return;
        }
        heirs::inherit(engine);
    }
}

/// The part that a driver passes on when it is dropped.
#[derive(Debug)]
struct Engine {
    reactor: Arc<Reactor>,
    poll: Poll,
    events: Events,
}

impl Engine {
    fn wait(&mut self, timeout: Option<Duration>, awake: impl FnOnce()) -> io::Result<usize> {
        let timeout = timeout.map(|timeout| fine::wait(&self.poll, timeout));
        let polled = self.poll.poll(&mut self.events, timeout);
        awake();
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            outcome => outcome?,
        }
        let mut count = 0;
        for event in &self.events {
            if event.token() == WAKE {
                continue;
            }
            // Kept alive by a count of its own, because its wakes come after the lock is released.
            let readiness = self.reactor.sockets.lock().get(event.token()).cloned();
            if let Some(readiness) = readiness {
                readiness.report(event);
                count += 1;
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
