//! Signals of the system as events.
//!
//! ```
//! use lisle::signal::{SIGUSR1, signal};
//! use lisle::{Event, choose, time::after};
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! let reload = signal(SIGUSR1)?;
//! let told = || {
//!     choose((
//!         reload.recv_evt().wrap(|received| received.map(|()| true)),
//!         after(Duration::from_millis(1)).wrap(|()| Ok(false)),
//!     ))
//!     .sync()
//! };
//! assert!(!told()?);
//! // SAFETY: the signal is caught by now.
//! unsafe { libc::raise(SIGUSR1) };
//! reload.recv()?;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! Each [`Signal`] has a pipe. The handler writes a byte into the pipes of all `Signal`s of its
//! number, and a performer that waits is an ordinary reader of a descriptor in a domain's reactor.
//! There is no thread. (This is the self-pipe of D. J. Bernstein.) The crate `signal-hook-registry`
//! installs the handler. It lets many parts of a program share a number, whether they use this library
//! or not.
//!
//! **Code in the handler** must be async-signal-safe, by the list in signal-safety(7). It calls
//! `getpid` and `write` and reads two numbers that never change while it can run. It does nothing
//! else: no lock, no allocation, no thread-local, nothing that can panic. The write does not block,
//! since the pipe does not. The registry restores `errno`.
//!
//! # Caveats
//!
//! - From the first `signal` of a number on, **the system's default action is off for the rest of
//!   the process**. Dropping the last `Signal` does not restore the action: a `SIGINT` then does
//!   nothing. A handler that was installed before is still called.
//! - Signals *coalesce*, here as in the system: several deliveries before one is received may be
//!   received as one.
//! - Programs that the process starts have the default action again.
//! - A forked child inherits that the action is off, but receives nothing. A signal to the child is
//!   lost unless the child makes a `Signal` of its own.

use crate::Event;
use crate::event::until::{Operation, Until};
use crate::event::{Description, Label, cannot_be_checked};
use crate::net::{PipeReader, ReadyEvt};
use lisle_runtime::internal::{Caught, names};
use std::fmt;
use std::io;

pub use libc::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1,
    SIGUSR2, SIGWINCH,
};

/// Begins to receive the signal `number`. The [module](self) describes the effects on the process.
///
/// Each `Signal` receives every delivery from this call on, independently of other receivers.
///
/// # Errors
///
/// Fails with `InvalidInput` if the signal cannot be caught, or not sensibly (`SIGKILL`, `SIGSTOP`,
/// `SIGILL`, `SIGFPE`, `SIGSEGV`), or if there is no signal of this number. Otherwise returns an
/// error if the system is out of descriptors.
///
/// # Examples
///
/// ```
/// use lisle::signal::{SIGUSR2, signal};
/// use std::io::ErrorKind;
///
/// let (one, other) = (signal(SIGUSR2)?, signal(SIGUSR2)?);
/// // SAFETY: the signal is caught.
/// unsafe { libc::raise(SIGUSR2) };
/// one.recv()?;
/// other.recv()?; // each receives it
///
/// let kill = signal(libc::SIGKILL).unwrap_err();
/// assert_eq!(kill.kind(), ErrorKind::InvalidInput);
/// # std::io::Result::Ok(())
/// ```
#[track_caller]
pub fn signal(number: i32) -> io::Result<Signal> {
    cannot_be_checked("a signal", "it comes from outside of the program", "Put a channel in its place");
    let label = Label::new("signal").named(&names::of(number));
    let (caught, reader) = Caught::new(number)?;
    Ok(Signal { received: PipeReader::for_this_process(reader)?, _caught: caught, number, label })
}

/// Begins to receive the interrupt that a terminal sends on Ctrl-C, `SIGINT`.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let stop = lisle::signal::ctrl_c()?;
/// lisle::run(|| {
///     lisle::spawn(|| { /* serve */ });
///     stop.recv()
/// })
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the system is out of descriptors.
#[track_caller]
pub fn ctrl_c() -> io::Result<Signal> {
    signal(SIGINT)
}

/// A receiver of a signal, returned by [`signal()`]. Dropping it ends the reception.
pub struct Signal {
    received: PipeReader,
    _caught: Caught,
    number: i32,
    label: Label,
}

/// The event that a signal has come, returned by [`Signal::recv_evt`].
pub type SignalEvt<'a> = Until<'a, Signal, ReadyEvt<'a, io::PipeReader>>;

impl Signal {
    /// Returns the event that the signal has come since this `Signal` was created or since it last
    /// received.
    ///
    /// If several performers wait at one `Signal`, one of them receives the signal. If each of them
    /// is to receive it, create one `Signal` for each.
    ///
    /// # Errors
    ///
    /// The event gives an error if the pipe cannot be waited for because the system is out of
    /// memory. In a forked child, a `Signal` of the parent gives an error at once.
    ///
    /// # Cancel safety
    ///
    /// A performance that loses a choice, a poll that fails and a future that is dropped before it
    /// gets the signal have received nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, signal::{SIGUSR2, signal}};
    ///
    /// let received = signal(SIGUSR2)?;
    /// assert!(received.recv_evt().poll().is_none());
    /// // SAFETY: the signal is caught.
    /// unsafe { (libc::raise(SIGUSR2), libc::raise(SIGUSR2)) };
    /// received.recv_evt().sync()?; // both
    /// assert!(received.recv_evt().poll().is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_evt(&self) -> SignalEvt<'_> {
        Until::new(self, self.received.readable_evt())
    }

    /// Waits for the signal as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`recv_evt`](Signal::recv_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::signal::{SIGUSR2, signal};
    ///
    /// let received = signal(SIGUSR2)?; // before it may come
    /// let reader = lisle::spawn(move || received.recv());
    /// // SAFETY: the signal is caught.
    /// unsafe { libc::raise(SIGUSR2) };
    /// reader.join().unwrap()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv(&self) -> io::Result<()> {
        self.recv_evt().sync()
    }

    /// Returns the number of the signal.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::signal::{SIGHUP, SIGUSR2, signal};
    ///
    /// let signals = [signal(SIGHUP)?, signal(SIGUSR2)?];
    /// assert_eq!(signals.map(|signal| signal.number()), [SIGHUP, SIGUSR2]);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Sets the name of the receiver in descriptions of waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::signal::{SIGUSR2, signal};
    /// use lisle::{Runtime, fiber};
    ///
    /// Runtime::builder().domains(1).run(|| {
    ///     let reload = signal(SIGUSR2)?.named("reload");
    ///     drop(lisle::spawn(move || reload.recv()));
    ///     fiber::yield_now(); // the other fiber begins to wait
    ///     assert_eq!(lisle::waiting().fibers[0].waits[0].object.name(), Some("reload"));
    ///     std::io::Result::Ok(())
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.label = self.label.clone().named(name);
        self
    }
}

impl Operation for Signal {
    type Output = ();

    /// Empties the pipe.
    fn attempt(&self) -> Option<io::Result<()>> {
        let mut bytes = [0; 64];
        let mut came = None;
        loop {
            match self.received.try_read(&mut bytes) {
                Ok(0) => unreachable!("the handler keeps the writing end"),
                Ok(_) => came = Some(Ok(())),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return came,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn describe(&self, waits: &mut Description) {
        waits.on("receive", &self.label, std::ptr::from_ref(self) as usize);
        let name = names::of(self.number);
        if self.label.name() != Some(&name) {
            waits.note(name);
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("number", &self.number).finish_non_exhaustive()
    }
}
