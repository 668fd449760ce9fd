//! The core of all sockets: a non-blocking descriptor whose operations wait in direct style.

mod bytes;
mod registrations;
mod send_file;

use super::ready::ReadyEvt;
use super::{system, waiting};
use crate::event::{Description, Label, cannot_be_checked, described, turn};
use crate::fork;
use crate::reactor::{self, Ask, Direction, Registration, Terms, Wakes};
use crate::shim::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::shim::clock;
use lisle_runtime::internal::way;
use mio::Interest;
use registrations::Registrations;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// A descriptor that can be waited for: a socket, a pipe, a terminal, an `eventfd` or the like.
///
/// All sockets of this module consist of it. It can wrap other kinds of descriptors, too:
///
/// ```
/// use lisle::net::Pollable;
/// use std::io::{Read, Write};
///
/// # fn main() -> std::io::Result<()> {
/// let (receiver, sender) = std::io::pipe()?;
/// let (receiver, sender) = (Pollable::new(receiver)?, Pollable::new(sender)?);
/// (&sender).write_all(b"x")?;
/// receiver.readable_evt().sync()?;
/// assert_eq!(receiver.read_with(|mut pipe| pipe.read(&mut [0; 8]))?, 1);
/// # use lisle::Event;
/// # Ok(())
/// # }
/// ```
///
/// `as_fd` must return the same descriptor for the whole life of the wrapper.
pub struct Pollable<T: AsFd> {
    // Declared before `io`, so it is dropped before the descriptor is closed.
    registrations: Registrations,
    kind: Kind,
    patience: Patience,
    io: T,
}

/// How an operation without a limit of its own waits.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// The timeouts of reads and writes, in nanoseconds. 0 means that they wait as long as it takes.
    read: AtomicU64,
    write: AtomicU64,
    /// Set if operations do not wait.
    none: AtomicBool,
}

impl Patience {
    pub(super) fn timeout(&self, direction: Direction) -> Option<Duration> {
        let nanos = self.of(direction).load(Ordering::Relaxed);
        (nanos != 0).then(|| Duration::from_nanos(nanos))
    }

    /// # Errors
    ///
    /// If the duration is zero.
    pub(super) fn set_timeout(&self, direction: Direction, timeout: Option<Duration>) -> io::Result<()> {
        let nanos = match timeout {
            Some(Duration::ZERO) => {
                let zero =
                    "the timeout is zero: use a method that begins with `try_`, or `None` for no timeout";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, zero));
            }
            Some(timeout) => clock::saturating_nanos(timeout),
            None => 0,
        };
        self.of(direction).store(nanos, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn is_none(&self) -> bool {
        self.none.load(Ordering::Relaxed)
    }

    pub(super) fn set_none(&self, none: bool) {
        self.none.store(none, Ordering::Relaxed);
    }

    fn of(&self, direction: Direction) -> &AtomicU64 {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    fn copy(&self) -> Patience {
        let number = |number: &AtomicU64| AtomicU64::new(number.load(Ordering::Relaxed));
        let none = AtomicBool::new(self.is_none());
        Patience { read: number(&self.read), write: number(&self.write), none }
    }
}

/// The time at which an operation ends its waits, and the error that it returns then.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The timeout of the descriptor, counted from the first wait.
    Unknown,
    Never,
    At(Instant, io::ErrorKind),
}

/// The differences between kinds of descriptors that matter here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    terms: Terms,
    /// `true` if a read that fills less than its buffer shows that nothing is left.
    short_read_drains: bool,
    /// The only process that may wait for the descriptor, if it is not for forked children.
    process: Option<u32>,
}

impl Kind {
    /// A descriptor that is read and written, without a promise about short reads.
    pub(super) const GENERAL: Kind = Kind {
        terms: Terms { interest: Interest::READABLE.add(Interest::WRITABLE), wakes: Wakes::Commit },
        short_read_drains: false,
        process: None,
    };

    /// A pure stream of bytes. Linux documents that a short read has drained it. The exception, a
    /// mark of urgency, is reported as a priority event.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) const TCP: Kind = Kind {
        terms: Terms {
            interest: Interest::READABLE.add(Interest::WRITABLE).add(Interest::PRIORITY),
            wakes: Wakes::Commit,
        },
        short_read_drains: true,
        process: None,
    };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) const TCP: Kind = Kind::GENERAL;

    /// A descriptor that accepts connections. Several performers may wait, and each connection is for
    /// one of them.
    pub(super) const LISTENER: Kind = Kind {
        terms: Terms { interest: Interest::READABLE, wakes: Wakes::Retry },
        short_read_drains: false,
        process: None,
    };

    /// Returns the same kind, for a descriptor that is not for forked children.
    pub(super) fn for_this_process(self) -> Kind {
        Kind { process: Some(fork::watch()), ..self }
    }
}

pub(super) fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

pub(super) fn is_interrupted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}

/// Panics where a model runs the calling code.
#[inline(always)]
#[track_caller]
pub(crate) fn not_in_models() {
    let instead = "Put a channel in its place";
    cannot_be_checked("a socket or pipe", "its other end is outside of the program", instead);
}

thread_local! {
    static IN_A_ROW: Cell<u32> = const { Cell::new(0) };
}

/// Lets the other fibers of the domain run now and then. Called after each operation that could
/// have waited and did not. Otherwise a peer that sends faster than a fiber receives would keep
/// that fiber's whole domain busy.
#[inline]
fn take_turns() {
    const MOST: u32 = 16;
    let count = IN_A_ROW.get() + 1;
    IN_A_ROW.set(count % MOST);
    if count == MOST {
        way::pass();
    }
}

impl<T: AsFd> Pollable<T> {
    /// Wraps `io` and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// Returns an error if the descriptor cannot be made non-blocking.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::Pollable;
    /// use std::io::{self, ErrorKind, Read};
    ///
    /// let (reader, _writer) = io::pipe()?;
    /// let reader = Pollable::new(reader)?;
    /// let nothing = reader.get_ref().read(&mut [0; 8]).unwrap_err(); // does not block any more
    /// assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    /// # io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn new(io: T) -> io::Result<Self> {
        Pollable::of_kind(io, Kind::GENERAL)
    }

    #[track_caller]
    pub(super) fn of_kind(io: T, kind: Kind) -> io::Result<Self> {
        system::set_nonblocking(io.as_fd(), true)?;
        Ok(Pollable::nonblocking(io, kind))
    }

    /// Wraps an `io` that is non-blocking already.
    #[track_caller]
    pub(super) fn nonblocking(io: T, kind: Kind) -> Self {
        not_in_models();
        Pollable { registrations: Registrations::default(), kind, patience: Patience::default(), io }
    }

    /// Wraps a duplicate of a descriptor that is wrapped in `other`.
    #[track_caller]
    pub(super) fn duplicate(other: &Self, io: T) -> Self {
        Pollable { patience: other.patience.copy(), ..Pollable::nonblocking(io, other.kind) }
    }

    pub(super) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Returns a reference to the wrapped value. Its own operations do not wait: they fail with
    /// `WouldBlock`.
    pub fn get_ref(&self) -> &T {
        &self.io
    }

    /// Unwraps and returns the value. The descriptor stays non-blocking.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::Pollable;
    /// use std::io::{self, ErrorKind, Read};
    ///
    /// let (reader, _writer) = io::pipe()?;
    /// let mut reader = Pollable::new(reader)?.into_inner();
    /// assert_eq!(reader.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    /// # io::Result::Ok(())
    /// ```
    pub fn into_inner(self) -> T {
        let Pollable { registrations, io, .. } = self;
        drop(registrations);
        io
    }

    /// Returns the event of being ready to read: an operation that reads would not block, but
    /// succeed, fail or find the end.
    ///
    /// This event only observes, and another reader may be faster. After it, use an operation that
    /// does not wait, and wait again if that operation would block.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, net::Pollable};
    /// use std::io::{self, Read, Write};
    ///
    /// let (reader, mut writer) = io::pipe()?;
    /// let reader = Pollable::new(reader)?;
    /// assert!(reader.readable_evt().poll().is_none());
    /// writer.write_all(b"abc")?;
    /// reader.readable_evt().sync()?;
    /// assert_eq!(reader.get_ref().read(&mut [0; 8])?, 3); // the event has read nothing
    /// # io::Result::Ok(())
    /// ```
    pub fn readable_evt(&self) -> ReadyEvt<'_, T> {
        ReadyEvt::new(self, Direction::Read)
    }

    /// Returns the event of being ready to write. See [`readable_evt`](Pollable::readable_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, net::Pollable};
    /// use std::io::{self, Write};
    ///
    /// let (_reader, writer) = io::pipe()?;
    /// let writer = Pollable::new(writer)?;
    /// writer.writable_evt().sync()?;
    /// while writer.get_ref().write(&[0; 4_096]).is_ok() {} // until there is no room
    /// assert!(writer.writable_evt().poll().is_none());
    /// # io::Result::Ok(())
    /// ```
    pub fn writable_evt(&self) -> ReadyEvt<'_, T> {
        ReadyEvt::new(self, Direction::Write)
    }

    /// Runs `operation`, which reads. While it would block, waits and runs it again.
    ///
    /// # Errors
    ///
    /// Returns the errors of `operation`, or an error if the descriptor is of a kind that cannot be
    /// waited for.
    ///
    /// # Blocking
    ///
    /// Waits as [`Event::sync`](crate::Event::sync) does. `operation` itself must not block.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::Pollable;
    /// use std::io::{self, Read, Write};
    ///
    /// let (reader, mut writer) = io::pipe()?;
    /// let reader = Pollable::new(reader)?;
    /// let fiber = lisle::spawn(move || reader.read_with(|mut pipe| pipe.read(&mut [0; 8])));
    /// writer.write_all(b"abc")?; // sooner or later: the fiber waits for it
    /// assert_eq!(fiber.join().unwrap()?, 3);
    /// # io::Result::Ok(())
    /// ```
    pub fn read_with<R>(&self, operation: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.perform(Direction::Read, None, operation)
    }

    /// Runs `operation`, which writes. While it would block, waits and runs it again, as
    /// [`read_with`](Pollable::read_with) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read_with`](Pollable::read_with).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::net::Pollable;
    /// use std::io::{self, ErrorKind, Write};
    ///
    /// let (reader, writer) = io::pipe()?;
    /// let writer = Pollable::new(writer)?;
    /// assert_eq!(writer.write_with(|mut pipe| pipe.write(b"abc"))?, 3);
    /// drop(reader);
    /// let broken = writer.write_with(|mut pipe| pipe.write(b"abc")).unwrap_err();
    /// assert_eq!(broken.kind(), ErrorKind::BrokenPipe);
    /// # io::Result::Ok(())
    /// ```
    pub fn write_with<R>(&self, operation: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.perform(Direction::Write, None, operation)
    }

    /// Runs `operation` until it does not block, and waits in between, at most until `deadline`.
    #[inline]
    pub(super) fn perform<R>(
        &self,
        direction: Direction,
        deadline: Option<Instant>,
        operation: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.perform_and_judge(direction, deadline, operation, |_| false)
    }

    #[inline]
    fn perform_and_judge<R>(
        &self,
        direction: Direction,
        deadline: Option<Instant>,
        mut operation: impl FnMut(&T) -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let mut end = deadline.map_or(End::Unknown, |deadline| End::At(deadline, io::ErrorKind::TimedOut));
        loop {
            match self.attempt(direction, Ask::IfReady, &mut operation, &drained) {
                Err(error) if would_block(&error) => {
                    let Err(given_up) = self.wait(direction, &mut end) else { continue };
                    // Bytes may have come that no edge has reported yet.
                    return match self.attempt(direction, Ask::Always, &mut operation, &drained) {
                        Err(error) if would_block(&error) || is_interrupted(&error) => Err(given_up),
                        outcome => outcome,
                    };
                }
                Err(error) if is_interrupted(&error) => {}
                outcome => {
                    take_turns();
                    return outcome;
                }
            }
        }
    }

    /// Runs `operation` once. With `Ask::IfReady`, does not run it if it is known that it would
    /// block.
    #[inline]
    pub(super) fn attempt<R>(
        &self,
        direction: Direction,
        ask: Ask,
        mut operation: impl FnMut(&T) -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        match self.registrations.get() {
            Some(registration) => registration.state(direction).attempt(ask, || operation(&self.io), drained),
            None => {
                self.is_for_this_process()?;
                operation(&self.io)
            }
        }
    }

    /// Runs `operation` once, for a caller that does not wait.
    pub(super) fn try_once<R>(
        &self,
        direction: Direction,
        operation: impl FnMut(&T) -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let outcome = self.attempt(direction, Ask::Always, operation, drained);
        if outcome.as_ref().is_err_and(would_block) {
            turn::came_to_nothing();
        }
        outcome
    }

    /// Waits until an operation may succeed, after one that would have blocked.
    #[cold]
    fn wait(&self, direction: Direction, end: &mut End) -> io::Result<()> {
        IN_A_ROW.set(0);
        if let End::Unknown = end {
            if self.patience.is_none() {
                turn::came_to_nothing();
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let timeout = self.patience.timeout(direction);
            // The standard library on Unix returns the same error.
            let at = |timeout| End::At(clock::instant_after(timeout), io::ErrorKind::WouldBlock);
            *end = timeout.map_or(End::Never, at);
        }
        let ready = self.registered(direction)?.state(direction).ready();
        let ready = described(ready, |waits| self.describe(direction, waits));
        match *end {
            End::At(deadline, late) => waiting::wait_until(ready, deadline)?.ok_or_else(|| late.into()),
            End::Never | End::Unknown => waiting::wait(ready),
        }
    }

    /// Describes a performer's wait for this descriptor.
    pub(super) fn describe(&self, direction: Direction, waits: &mut Description) {
        let operation = match direction {
            Direction::Read => "read from",
            Direction::Write => "write to",
        };
        // The name of the type without its path.
        let path = std::any::type_name::<T>().split('<').next().unwrap_or_default();
        let kind = path.rsplit("::").next().unwrap_or_default();
        let fd = self.io.as_fd().as_raw_fd();
        let id = usize::try_from(fd).unwrap_or_default();
        waits.on_the_world(operation, &Label::anywhere(kind), id);
        waits.note(format!("fd {fd}"));
        waits.address(reactor::address::of(self.io.as_fd()));
    }

    /// Returns the registration, and creates it if there is none. Called after an operation in the
    /// direction `blocked` would have blocked.
    pub(super) fn registered(&self, blocked: Direction) -> io::Result<&Registration> {
        self.is_for_this_process()?;
        let registration = self.registrations.get_or_make(|| {
            not_in_models();
            reactor::current()?.register(self.io.as_fd(), self.kind.terms, blocked)
        })?;
        registration.is_waited_for();
        Ok(registration)
    }

    /// Checks that the descriptor does not belong to the parent process alone, from which this process
    /// was forked.
    pub(super) fn is_for_this_process(&self) -> io::Result<()> {
        match self.kind.process {
            Some(process) if process != fork::generation() => Err(io::Error::other(
                "the object was made before the process forked, and serves the parent: make another one in the child",
            )),
            _ => Ok(()),
        }
    }

    /// Asks the kernel whether an operation would not block. Skips the system call if it is known
    /// that the operation would block.
    pub(super) fn is_ready_now(&self, direction: Direction) -> bool {
        let Some(registration) = self.registrations.get() else {
            return system::is_ready(self.io.as_fd(), direction);
        };
        let state = registration.state(direction);
        while let Some(seen) = state.observe() {
            if system::is_ready(self.io.as_fd(), direction) {
                return true;
            }
            state.clear(seen);
        }
        false
    }
}

impl<T: AsFd> AsFd for Pollable<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for Pollable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pollable").field(&self.io).finish()
    }
}

#[cfg(test)]
mod tests;
