//! Deadlines that go down the calls.
//!
//! A deadline is a limit (see `event/waiting/limit.rs`) of a call: the functions below the call, however
//! deep, need not know it.

use crate::event::cannot_be_checked;
use crate::event::waiting::limit;
use crate::event::waiting::limit::NEVER;
use crate::shim::clock;
use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// Calls `f`, in which no wait lasts beyond `deadline`: a point in time, or a duration from now on.
///
/// The deadline goes down the calls. Each wait below that lasts when it passes, or would begin later,
/// ends:
///
/// - An operation that has an I/O error in its result returns one of the kind
///   [`TimedOut`](io::ErrorKind::TimedOut). These are the operations of sockets, pipes and processes.
/// - Any other wait is unwound, out to this function, which returns an error. The unwinding runs the
///   destructors of `f`, prints nothing, and takes nothing: a message that was to be received is still
///   in its channel, one that was to be sent goes with its sender's values.
///
/// A wait that ends has not happened, as with every [cancellation](crate::event). An operation that
/// need not wait is done as if there were no deadline.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{channel, time::with_deadline};
/// use std::time::Duration;
///
/// let (tx, rx) = channel();
/// std::thread::spawn(move || tx.send(6)); // and goes
/// let answer = with_deadline(Duration::from_secs(60), || rx.recv().unwrap() * 7);
/// assert_eq!(answer, Ok(42));
///
/// let (_tx, rx) = channel::<u32>();
/// let answer = with_deadline(Duration::from_millis(1), || rx.recv().unwrap() * 7); // none comes
/// assert!(answer.is_err());
/// ```
///
/// [`DeadlinePassed`] converts to an [`io::Error`], so `?` does for both ways in which I/O can end.
///
/// # Nested deadlines
///
/// The earliest one counts. If several have passed, the outermost of these ends its call, and the inner
/// calls end with it: a deadline cannot be extended by one below. To do something that needs more time,
/// in order to end properly, use [`without_deadline`].
///
/// # Where it reaches
///
/// It reaches all calls of `f` on the stack of its fiber or thread; and the fibers and tasks of a scope
/// that is opened below, wherever they run, which end by themselves when the deadline passes. (The scope
/// waits for them. If one that was not joined has ended so, the scope ends as well.) It works in fibers
/// and on plain threads, and in other tasks and futures as far as they wait in place; for awaited events
/// there is `task::timeout`. It does not reach
///
/// - other fibers and tasks that `f` spawns, which may outlive it, and parts of loops and joins that
///   other domains run: the loop waits for them;
/// - a call to `blocking`, which cannot be taken back, and waits of the thread itself, as for a file
///   or a lock of the standard library;
/// - code that does not wait;
/// - a waker that is called below, and the destructor of a result that no code takes: these work for
///   others, and run to their ends;
/// - a child of `fork`, which has no deadline until it makes its own.
///
/// In `no_suspend`, where nothing may wait, no wait can end.
///
/// # Catching the unwinding
///
/// Code below that catches panics, with [`catch_unwind`](std::panic::catch_unwind), catches this
/// unwinding as well. It is not lost: the next wait below the call is unwound anew. If nothing waits
/// after that, the call has its value, and returns it.
///
/// Destructors that run while the stack unwinds, be it by this deadline or by a panic, are not
/// interrupted, nor are their waits. Nor is code that foreign code has called back (a comparison
/// given to C's `qsort`).
///
/// # Errors
///
/// If the deadline passed, and a wait of `f` was unwound.
///
/// # Panics
///
/// With the panic of `f`. An effect that is performed in `f` panics if its handler is around this call:
/// a computation that is suspended would take the call with it.
///
/// # Cost
///
/// It costs one timer for each call, about 100 ns, and nothing for the waits within: the timer
/// disturbs the performer.
pub fn with_deadline<R>(deadline: impl Into<Deadline>, f: impl FnOnce() -> R) -> Result<R, DeadlinePassed> {
    cannot_be_checked(
        "a deadline that goes down the calls",
        "it may end every wait below",
        "Choose between the event and `after`",
    );
    limit::bounded(deadline.into().nanos, f).ok_or(DeadlinePassed)
}

/// Calls `f`, which the deadlines around this call do not reach: to end properly when they have passed.
///
/// A cancel of the fiber does not reach the I/O of `f` either. A shutdown of the runtime does. Deadlines
/// within `f` count as ever.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::time::{sleep, with_deadline, without_deadline};
/// use std::time::Duration;
///
/// let ended = with_deadline(Duration::ZERO, || {
///     without_deadline(|| sleep(Duration::from_millis(1))); // to say good-bye
///     sleep(Duration::from_millis(1));
/// });
/// assert!(ended.is_err()); // by the second
/// ```
pub fn without_deadline<R>(f: impl FnOnce() -> R) -> R {
    limit::shielded(f)
}

/// Returns the earliest deadline of the calls in progress, if there is one, to pass it on with the
/// rest of the work: for instance to a server.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::time::{deadline, with_deadline};
/// use std::time::{Duration, Instant};
///
/// assert_eq!(deadline(), None);
/// let (soon, late) = (Duration::from_secs(1), Duration::from_secs(1000));
/// let left = with_deadline(soon, || {
///     with_deadline(late, || deadline().unwrap() - Instant::now()).unwrap()
/// });
/// assert!(left.unwrap() <= soon);
/// ```
pub fn deadline() -> Option<Instant> {
    limit::earliest().filter(|&nanos| nanos != NEVER).map(clock::instant_of)
}

/// A point in time, made of an [`Instant`] or, counted from now on, of a [`Duration`]. A duration that
/// is too long for the clock never ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    nanos: u64,
}

impl From<Instant> for Deadline {
    #[track_caller]
    fn from(instant: Instant) -> Self {
        Deadline { nanos: super::now::nanos_of(instant) }
    }
}

impl From<Duration> for Deadline {
    fn from(duration: Duration) -> Self {
        Deadline { nanos: crate::event::now().saturating_add(clock::saturating_nanos(duration)) }
    }
}

/// An error: a [deadline](with_deadline) has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeadlinePassed;

impl fmt::Display for DeadlinePassed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline has passed")
    }
}

impl Error for DeadlinePassed {}

impl From<DeadlinePassed> for io::Error {
    fn from(passed: DeadlinePassed) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, passed)
    }
}
