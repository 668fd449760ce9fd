//! Plain OS threads, whose end is an event.
//!
//! [`spawn`] starts a thread as [`std::thread::spawn`] does. Its [`ThreadHandle`] has a
//! [`join_evt`](ThreadHandle::join_evt), so a fiber can wait for the thread without blocking its
//! domain, and choose its end against other events. For a single call that blocks and whose result
//! is needed at once, use [`blocking`](crate::blocking), which reuses its threads.

use crate::event::{Attempt, Description, Label, Source, Step, Waiting, awaitable, cannot_be_checked, turn};
use crate::fiber::JoinError;
use crate::shim::sync::Arc;
use crate::{Event, affinity, threads};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::pin::Pin;
use std::thread::Thread;

/// Starts a thread that runs `f`.
///
/// # Panics
///
/// Panics if the system cannot start a thread. [`Builder::spawn`] returns an error instead.
///
/// ```
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// lisle::run(|| {
///     let thread = lisle::thread::spawn(|| std::thread::current().id());
///     let finished = choose((
///         thread.join_evt().wrap(Result::ok),
///         after(Duration::from_secs(60)).wrap(|()| None),
///     ));
///     assert_ne!(finished.sync().unwrap(), std::thread::current().id());
/// });
/// ```
#[track_caller]
pub fn spawn<F, T>(f: F) -> ThreadHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).unwrap_or_else(|error| panic!("{error}"))
}

/// A builder of threads with a name or a stack of another size.
///
/// ```
/// let thread = lisle::thread::Builder::new().name("reader").spawn(|| {
///     assert_eq!(std::thread::current().name(), Some("reader"));
///     7
/// });
/// assert_eq!(thread.unwrap().join().unwrap(), 7);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Creates a builder of threads without a name and with a stack of the default size.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the name, for the system and for messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::thread::Builder;
    ///
    /// let fails = Builder::new().name("reader").spawn(|| "x".parse::<u32>().unwrap())?;
    /// assert!(fails.join().unwrap_err().to_string().contains("'reader'"));
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// ```should_panic
    /// let _ = lisle::thread::Builder::new().name("no\0zeroes").spawn(|| ());
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the size of the stack, in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::thread::Builder;
    ///
    /// let thread = Builder::new().stack_size(16 << 20).spawn(|| {
    ///     let zeros = [0_u8; 8 << 20]; // more than the usual 2 MiB
    ///     std::hint::black_box(&zeros).iter().max().copied()
    /// })?;
    /// assert_eq!(thread.join().unwrap(), Some(0));
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread.
    ///
    /// # Panics
    ///
    /// Panics if the name contains a zero byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::thread::Builder;
    ///
    /// let reader = Builder::new().name("reader");
    /// let one = reader.clone().spawn(|| 1)?;
    /// let other = reader.spawn(|| 2)?;
    /// assert_eq!(one.join().unwrap() + other.join().unwrap(), 3);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<ThreadHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        cannot_be_checked("a thread", "it runs beside the model", "Spawn a fiber instead");
        let mut label = Label::new("thread");
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            label = label.named(&name);
            builder = builder.name(name);
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        let outcome = Arc::new(Source::labelled(label, Outcome::Running));
        let place = outcome.clone();
        let run = affinity::elsewhere(move || {
            let result = catch_unwind(AssertUnwindSafe(f));
            place.update(|outcome, waiters| {
                *outcome = Outcome::Finished(result);
                while waiters.grant(()).is_ok() {}
            });
        });
        let refused = |error| threads::refused(&outcome.label().to_string(), &error);
        let thread = builder.spawn(run).map_err(refused)?;
        Ok(ThreadHandle { outcome, thread: thread.thread().clone() })
    }
}

enum Outcome<T> {
    Running,
    Finished(std::thread::Result<T>),
    Taken,
}

/// A handle to a thread's result, returned by [`spawn`]. Dropping it detaches the thread, which
/// continues.
pub struct ThreadHandle<T> {
    outcome: Arc<Source<Outcome<T>, ()>>,
    thread: Thread,
}

// A result is written when its thread has ended, and is taken out whole.
impl<T> UnwindSafe for ThreadHandle<T> {}
impl<T> RefUnwindSafe for ThreadHandle<T> {}

impl<T> ThreadHandle<T> {
    /// Returns the event of the end of the thread's function, which gives the result.
    ///
    /// The result can be taken once. A second performance gives an error that says that it has been
    /// taken. Destructors of the thread's thread-locals may still run after the event.
    ///
    /// # Errors
    ///
    /// The event gives an error if the function has panicked. The error holds the payload.
    ///
    /// # Cancel safety
    ///
    /// Waiting takes nothing: the performance that completes takes the result.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::Event;
    ///
    /// lisle::run(|| {
    ///     let thread = lisle::thread::spawn(|| 6 * 7);
    ///     assert_eq!(thread.join_evt().sync().unwrap(), 42); // only this fiber waits
    ///     assert!(thread.join_evt().sync().is_err()); // the result has been taken
    /// });
    /// ```
    pub fn join_evt(&self) -> JoinEvt<'_, T> {
        JoinEvt { handle: self }
    }

    /// Waits for the thread's result as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`join_evt`](ThreadHandle::join_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// lisle::run(|| {
    ///     assert_eq!(lisle::thread::spawn(|| 6 * 7).join().unwrap(), 42);
    ///
    ///     let fails = lisle::thread::spawn(|| "x".parse::<u32>().unwrap());
    ///     assert!(fails.join().unwrap_err().is_panic());
    /// });
    /// ```
    pub fn join(self) -> Result<T, JoinError>
    where
        T: Send,
    {
        self.join_evt().sync()
    }

    /// Returns `true` if the result is available or has been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::Event;
    ///
    /// let (tx, rx) = lisle::channel();
    /// let thread = lisle::thread::spawn(move || rx.recv());
    /// assert!(!thread.is_finished());
    /// tx.send(7).unwrap();
    /// assert_eq!(thread.join_evt().sync().unwrap(), Ok(7)); // waits; do not ask in a loop
    /// assert!(thread.is_finished());
    /// ```
    pub fn is_finished(&self) -> bool {
        turn::asked_whether(self.outcome.with(|outcome| !matches!(outcome, Outcome::Running)))
    }

    /// Returns the thread itself, which has the name, the id, and the method to unpark it.
    ///
    /// # Examples
    ///
    /// ```
    /// let parked = lisle::thread::spawn(std::thread::park);
    /// parked.thread().unpark();
    /// assert!(parked.join().is_ok());
    /// ```
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    fn take(&self) -> Result<T, JoinError> {
        let outcome = self.outcome.update(|outcome, _| std::mem::replace(outcome, Outcome::Taken));
        let who = || self.outcome.label().to_string();
        match outcome {
            Outcome::Finished(result) => result.map_err(|panic| JoinError::panicked(who(), panic)),
            Outcome::Running | Outcome::Taken => Err(JoinError::taken(who())),
        }
    }
}

impl<T> fmt::Debug for ThreadHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// The event that a thread has finished, returned by [`ThreadHandle::join_evt`].
#[must_use = "events do nothing unless performed"]
pub struct JoinEvt<'a, T> {
    handle: &'a ThreadHandle<T>,
}

fn finished<T>(outcome: &mut Outcome<T>) -> Option<()> {
    (!matches!(outcome, Outcome::Running)).then_some(())
}

/// The branch of a [`JoinEvt`].
pub struct Joining<'e, T>(Waiting<'e, Outcome<T>, ()>);

impl<'e, T> Joining<'e, T> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'e, Outcome<T>, ()>> {
        // SAFETY: this is the only field, and it is structurally pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }
}

impl<T: Send> Event for JoinEvt<'_, T> {
    type Output = Result<T, JoinError>;
    type Branch<'e>
        = Joining<'e, T>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        Joining(self.handle.outcome.waiting())
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiting().try_commit(attempt, finished)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiting().publish(attempt, finished)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.waiting().withdraw(attempt)
    }
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.handle.take()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.0.describe("join", waits);
        waits.mark_external();
    }
}

impl<T> fmt::Debug for JoinEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinEvt").field(self.handle).finish()
    }
}

impl<T> fmt::Debug for Joining<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Joining")
    }
}

awaitable!(['a, T: Send] JoinEvt<'a, T>, single);
