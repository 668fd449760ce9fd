//! Races: several futures, of which the first to end provides the answer.

use super::super::handle::TaskHandle;
use super::super::spawn::spawn_unchecked;
use crate::event::lock::Lock;
use crate::event::{Label, Source, awaitable, is_interruption, turn, waits_at};
use crate::fiber::JoinError;
use crate::sched::unclaimed;
use crate::shim::sync::Arc;
use crate::spawned::head::Outcome;
use lisle_core::Event;
use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Runs futures beside each other until one has ended. Its value is the answer, and the others are
/// cancelled.
///
/// Each is a task. They begin in order, and once one has ended, no other begins. `contenders` is a
/// tuple of two to eight futures, or of events and other values that can be awaited, all with one
/// output; or an array or a vector of one type. Losers are dropped where they wait, at their next
/// turn. This may be a little after the answer is there, and a loser may have taken messages by
/// then. Where only events compete, [`choose`](lisle_core::choose) is better, since its losers have
/// taken nothing.
///
/// Dropping the returned handle cancels all. An empty race is never ready, like an empty choice.
///
/// From Esterel and Verse, and from structured concurrency.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::{channel, task::race};
///
/// lisle::run(|| {
///     let (requests, request) = channel::<u32>();
///     let answer = race((
///         async move { request.recv_evt().await.unwrap() },
///         async { std::future::pending().await },
///     ));
///     requests.send(7).unwrap();
///     assert_eq!(answer.join().unwrap(), 7);
/// });
/// ```
#[track_caller]
pub fn race<C: Contenders>(contenders: C) -> Race<C::Output> {
    Race::start(contenders, true)
}

/// Runs futures beside each other. The value of the first to end is the answer, and the others go
/// on to their ends.
///
/// Like [`race`], but all futures begin, and none is cancelled, neither when one wins nor when the
/// returned handle is dropped. The values of the losers are dropped.
///
/// From Verse.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::task::{rush, yield_now};
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// static DONE: AtomicU32 = AtomicU32::new(0);
/// let first = rush([10, 3, 7].map(|turns| async move {
///     for _ in 0..turns {
///         yield_now().await;
///     }
///     DONE.fetch_add(1, Relaxed);
///     turns
/// }));
/// assert!([10, 3, 7].contains(&first.join().unwrap()));
/// while DONE.load(Relaxed) < 3 {
///     std::thread::yield_now();
/// }
/// ```
#[track_caller]
pub fn rush<C: Contenders>(contenders: C) -> Race<C::Output> {
    Race::start(contenders, false)
}

/// The contenders of [`race`] and [`rush`]: tuples of two to eight, arrays and vectors of values
/// that can be awaited. Only the library calls the method.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot compete in a race",
    note = "it wants a tuple of two to eight futures with one output, or an array or a vector of futures of one type, all \
            `Send` and without borrowed data"
)]
pub trait Contenders {
    /// The value of each of them.
    type Output: Send + 'static;
    /// Begins them in order.
    fn begin(self, start: &mut Start<'_, Self::Output>);
}

/// The place where contenders begin, see [`Contenders`].
pub struct Start<'a, T> {
    ring: &'a Arc<Ring<T>>,
    has_any: bool,
}

/// The state that contenders share.
struct Ring<T> {
    state: Source<RaceState<T>, ()>,
    /// The contenders to cancel when one has won. Empty for a rush.
    contenders: Lock<Vec<TaskHandle<()>>>,
    /// Whether the losers are cancelled.
    cancels: bool,
    site: &'static Location<'static>,
}

/// The state of a race.
pub enum RaceState<T> {
    /// The number of contenders that may still win. While they begin it is one more, so that the
    /// race does not count as lost too early.
    Open(usize),
    /// The result of the first to end.
    Won(std::thread::Result<T>),
    /// None of them has ended by itself, since their runtime has ended.
    Lost,
    /// The answer has been taken.
    Taken,
}

impl<T> RaceState<T> {
    fn is_decided(&self) -> bool {
        !matches!(self, RaceState::Open(_))
    }
}

impl<T> Ring<T> {
    /// Decides the race if it is open. Else returns the late result as the error.
    fn win(&self, result: std::thread::Result<T>) -> Result<(), std::thread::Result<T>> {
        let result = self.state.update(|state, waiters| {
            if state.is_decided() {
                return Err(result);
            }
            *state = RaceState::Won(result);
            while waiters.grant(()).is_ok() {}
            Ok(())
        });
        self.cancel_all();
        result
    }

    /// Says that a contender has ended without winning.
    fn leave(&self) {
        self.state.update(|state, waiters| {
            if let RaceState::Open(count) = state {
                *count -= 1;
                if *count == 0 {
                    *state = RaceState::Lost;
                    while waiters.grant(()).is_ok() {}
                }
            }
        });
    }

    fn cancel_all(&self) {
        let contenders = std::mem::take(&mut *self.contenders.lock());
        contenders.iter().for_each(TaskHandle::cancel);
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        if let RaceState::Won(Err(panic)) = std::mem::replace(self.state.get_mut(), RaceState::Taken) {
            unclaimed::of_task(panic, None, self.site);
        }
    }
}

impl<T: Send + 'static> Start<'_, T> {
    /// Begins one contender.
    fn one<F>(&mut self, contender: F)
    where
        F: IntoFuture<Output = T, IntoFuture: Send + 'static>,
    {
        let ring = self.ring;
        let is_over = |state: &RaceState<T>| ring.cancels && state.is_decided();
        if ring.state.with(is_over) {
            return;
        }
        self.has_any = true;
        ring.state.update(|state, _| {
            if let RaceState::Open(count) = state {
                *count += 1;
            }
        });
        let run = compete(contender.into_future(), Runner { ring: Some(ring.clone()) });
        // SAFETY: nothing is borrowed.
        let handle = unsafe { spawn_unchecked(run, None, ring.site) };
        if !ring.cancels {
            return;
        }
        ring.contenders.lock().push(handle);
        if ring.state.with(is_over) {
            // The race may have been decided before the handle was in the list.
            ring.cancel_all();
        }
    }
}

/// A place in the ring. Dropping it gives the place up.
struct Runner<T> {
    ring: Option<Arc<Ring<T>>>,
}

impl<T> Runner<T> {
    fn finish(mut self, result: std::thread::Result<T>) {
        let ring = self.ring.take().expect("there until it ends");
        if let Err(Err(panic)) = ring.win(result) {
            unclaimed::of_task(panic, None, ring.site);
        }
    }
}

impl<T> Drop for Runner<T> {
    fn drop(&mut self) {
        if let Some(ring) = &self.ring {
            ring.leave();
        }
    }
}

async fn compete<F: Future>(future: F, runner: Runner<F::Output>) {
    let result = caught(future).await;
    match result {
        // The fiber on whose stack it ran is interrupted.
        Err(panic) if is_interruption(&*panic) => resume_unwind(panic),
        result => runner.finish(result),
    }
}

/// Runs a future, and returns its panic as a value.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// The answer of a [`race`] or a [`rush`], and the event of that answer.
///
/// As an event it yields the answer, once: a second performance yields an error that says so.
/// Dropping it cancels all contenders of a race, but not the contenders of a rush.
///
/// # Errors
///
/// If the first to end has panicked (the error holds the payload), or if all have ended because
/// their runtime has.
///
/// # Cancel safety
///
/// Waiting takes nothing.
#[must_use = "a race whose handle is dropped is cancelled"]
pub struct Race<T> {
    ring: Arc<Ring<T>>,
}

impl<T: Send + 'static> Race<T> {
    #[track_caller]
    fn start<C: Contenders<Output = T>>(contenders: C, cancels: bool) -> Self {
        let site = Location::caller();
        let state = Source::labelled(Label::new("race"), RaceState::Open(1));
        let race = Race { ring: Arc::new(Ring { state, contenders: Lock::new(Vec::new()), cancels, site }) };
        let mut start = Start { ring: &race.ring, has_any: false };
        contenders.begin(&mut start);
        if start.has_any {
            race.ring.leave();
        }
        race
    }

    /// Waits for the answer, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As the [event](Race).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::task::race;
    /// use std::future::pending;
    ///
    /// assert_eq!(race((async { 1 }, pending())).join().unwrap(), 1);
    ///
    /// let fails = race((async { "x".parse::<u32>().unwrap() }, pending()));
    /// assert!(fails.join().unwrap_err().is_panic());
    /// ```
    pub fn join(self) -> Result<T, JoinError> {
        self.sync()
    }

    /// Returns the event of the answer, which is the handle itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, choose, task::race, time::after};
    /// use std::{future::pending, time::Duration};
    ///
    /// let (tx, rx) = lisle::channel();
    /// let answer = race((async move { rx.recv_evt().await.unwrap() }, pending()));
    /// let soon = after(Duration::from_millis(1)).wrap(|()| None);
    /// assert_eq!(choose((answer.join_evt().wrap(Result::ok), soon)).sync(), None);
    ///
    /// tx.send(7).unwrap(); // the race went on
    /// assert_eq!(answer.join().unwrap(), 7);
    /// ```
    pub fn join_evt(&self) -> &Self {
        self
    }

    /// Returns `true` if there is an answer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, task::race};
    ///
    /// let (tx, rx) = lisle::channel();
    /// let answer = race((async move { rx.recv_evt().await.unwrap() }, std::future::pending()));
    /// assert!(!answer.is_decided());
    /// tx.send(7).unwrap();
    /// assert_eq!(answer.join_evt().sync().unwrap(), 7);
    /// assert!(answer.is_decided());
    /// assert!(answer.join().is_err()); // the answer has been taken
    /// ```
    pub fn is_decided(&self) -> bool {
        turn::asked_whether(self.ring.state.with(RaceState::is_decided))
    }

    fn take(&self) -> Result<T, JoinError> {
        let taken = self.ring.state.update(|state, _| match state {
            RaceState::Won(_) => match std::mem::replace(state, RaceState::Taken) {
                RaceState::Won(result) => Ok(result),
                _ => unreachable!("it is won"),
            },
            RaceState::Lost => Err(Outcome::ShutDown),
            RaceState::Taken | RaceState::Open(_) => Err(Outcome::Taken),
        });
        JoinError::or_value(taken, || format!("a race (begun at {})", self.ring.site))
    }
}

impl<T> Drop for Race<T> {
    fn drop(&mut self) {
        self.ring.cancel_all();
    }
}

impl<T: Send + 'static> Event for Race<T> {
    type Output = Result<T, JoinError>;
    waits_at!(this: RaceState<T>, (); this.ring.state, |state| state.is_decided().then_some(()));
    waits_at!(describe "wait for");

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.take()
    }
}

awaitable!([T: Send + 'static] Race<T>);
awaitable!(['a, T: Send + 'static] &'a Race<T>);

impl<T> fmt::Debug for Race<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided = self.ring.state.with(RaceState::is_decided);
        f.debug_struct("Race").field("decided", &decided).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for RaceState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_decided() { "decided" } else { "open" })
    }
}

impl<T> fmt::Debug for Start<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Start")
    }
}

/// Implements the trait for a list of contenders.
macro_rules! list {
    ([$($generics:tt)*] $list:ty) => {
        impl<F, $($generics)*> Contenders for $list
        where
            F: IntoFuture<Output: Send + 'static, IntoFuture: Send + 'static>,
        {
            type Output = F::Output;

            fn begin(self, start: &mut Start<'_, F::Output>) {
                self.into_iter().for_each(|contender| start.one(contender));
            }
        }
    };
}

list!([] Vec<F>);
list!([const N: usize] [F; N]);

/// Implements the trait for tuples of one size.
macro_rules! tuple {
    ($($letter:ident $index:tt),+) => {
        impl<T, $($letter),+> Contenders for ($($letter,)+)
        where
            T: Send + 'static,
            $($letter: IntoFuture<Output = T, IntoFuture: Send + 'static>,)+
        {
            type Output = T;

            fn begin(self, start: &mut Start<'_, T>) {
                $(start.one(self.$index);)+
            }
        }
    };
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
