//! Foreign functions: functions that other cores may run, with the class of their calls.

use super::call::{Call, TryCall};
use crate::batch::class::{Class, Deadline, Native};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// A function that other cores may run, in batches. It is made once, and copied into the bodies of streams. A
/// few bytes are kept for it until the program ends.
///
/// A plain call runs it on the caller's thread. `call` runs it asynchronously:
///
/// ```
/// use lisle_frame::{Foreign, World};
///
/// let work = Foreign::new("work", |n: u64| n * n);
/// assert_eq!(work(6), 36);
///
/// let mut world = World::new();
/// let square = world.stream(async move || work.call(7).await);
/// world.frame();
/// assert_eq!(world.get(square)?, 49);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Batches
///
/// The calls of a function are collected into batches, and a batch is sent to the workers when it has enough
/// calls, or its first call has waited for the [`delay`](Foreign::delay), or the world has nothing else to
/// do. The number of calls that is enough follows from their cost so far. Calls that cost less than sending
/// them run in place, on the world's thread.
///
/// # Order
///
/// Streams get the results in the order in which the calls were made, unless the function is
/// [`unordered`](Foreign::unordered). So a frame has the same values with and without workers, unless calls
/// may end in a later frame. Such calls are made [over frames](Foreign::call_over_frames), or have a
/// [deadline](Foreign::deadline).
pub struct Foreign<F> {
    class: &'static Class,
    f: F,
}

impl<F> Foreign<F> {
    /// Makes a function foreign. The name is for reports and errors.
    ///
    /// Its calls run on other threads, some time later in the frame. So neither the function nor its arguments
    /// may be bound to a thread:
    ///
    /// ```compile_fail,E0277
    /// use std::rc::Rc;
    ///
    /// lisle_frame::Foreign::new("work", |n: Rc<u64>| *n); // an `Arc` may be sent
    /// ```
    ///
    /// They must not borrow either. Data of the host is [lent](crate::World::lend):
    ///
    /// ```compile_fail,E0597
    /// let work = lisle_frame::Foreign::new("work", |numbers: &[u64]| numbers.len());
    /// let numbers = vec![1, 2];
    /// let call = work.call(&numbers);
    /// ```
    pub fn new<S>(name: &'static str, f: F) -> Self
    where
        F: Native<S>,
    {
        Foreign { class: Class::new(name).keep(), f }
    }

    fn with(self, change: impl FnOnce(&mut Class)) -> Self {
        let mut class = *self.class;
        change(&mut class);
        Foreign { class: class.keep(), f: self.f }
    }

    /// Gives streams the results as they come, so that no call waits for an earlier one. The values of
    /// streams that share data may then depend on time.
    pub fn unordered(self) -> Self {
        self.with(|class| class.unordered = true)
    }

    /// Sends all calls of a stream to the same worker, which has the stream's data in its cache, unless this
    /// worker is busy while others are idle.
    pub fn homed(self) -> Self {
        self.with(|class| class.homed = true)
    }

    /// Fixes the number of calls in a batch, and sends all batches to the workers, even if the calls cost
    /// little.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0 or above 65,536.
    pub fn batch(self, calls: usize) -> Self {
        assert!((1..=1 << 16).contains(&calls), "a batch has 1 to 65,536 calls, not {calls}");
        self.with(|class| class.batch = calls as u32)
    }

    /// Sets how long a call may wait for its batch to fill while the world has other work. The default is 50
    /// microseconds. The world looks at the clock after every 256 streams.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|class| class.delay = delay)
    }

    /// Sets what happens if a call has not returned in time. Whether a call is late depends on the computer:
    /// with [`KeepLast`](Deadline::KeepLast) or [`Cancel`](Deadline::Cancel), frames may have other values in
    /// each run.
    pub fn deadline(self, deadline: Deadline) -> Self {
        self.with(|class| class.deadline = deadline)
    }

    /// Returns a foreign function that calls this one, and then `next` with its result. This chain travels as
    /// one call. It has the class of this function, and the names of both.
    ///
    /// ```
    /// use lisle_frame::Foreign;
    ///
    /// let move_by = Foreign::new("move", |(x, v): (f32, f32)| x + v);
    /// let clamp = Foreign::new("clamp", |x: f32| x.clamp(0.0, 1.0));
    /// let step = move_by.then(clamp);
    /// assert_eq!(step((0.9, 0.3)), 1.0);
    /// ```
    pub fn then<A, B, C, G>(self, next: Foreign<G>) -> Foreign<impl Fn(A) -> C + Clone + Send + 'static>
    where
        F: Fn(A) -> B + Clone + Send + 'static,
        G: Fn(B) -> C + Clone + Send + 'static,
    {
        let name = chain_name(self.class.name, next.class.name);
        let class = Class { name, ..*self.class }.keep();
        let (f, g) = (self.f, next.f);
        Foreign { class, f: move |args| g(f(args)) }
    }

    /// Calls the function on another core, within this frame. The future is ready in this frame, with the
    /// result. `args` is the argument if there is one, a tuple of several, and `()` for none.
    ///
    /// If the call fails, the stream that awaits it fails in this frame. In the next frame, a body that is
    /// run anew calls again. A body that lives over frames still waits for this call, and its stream fails
    /// again.
    ///
    /// Cancel safety: if the future is dropped before the call has begun, the call does not begin. Otherwise
    /// the result is dropped. The arguments live until then.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled outside of a frame.
    #[inline]
    pub fn call<S: 'static>(&self, args: F::Args) -> Call<F, S>
    where
        F: Native<S>,
    {
        Call::new(self.class, self.f.clone(), args, false)
    }

    /// Does the same as [`call`](Foreign::call). The future returns an error if the call fails.
    #[inline]
    pub fn try_call<S: 'static>(&self, args: F::Args) -> TryCall<F, S>
    where
        F: Native<S>,
    {
        TryCall::new(self.call(args))
    }

    /// Calls the function once for each of several arguments, on other cores. Returns the results in the
    /// order of the arguments. Each result takes constant time, whatever their number.
    ///
    /// If one of the calls fails, the stream that awaits it fails in this frame.
    ///
    /// ```
    /// use lisle_frame::{Foreign, World};
    ///
    /// let square = Foreign::new("square", |n: u64| n * n);
    /// let mut world = World::new();
    /// let sum = world.stream(async move || square.call_each(0..100).await.into_iter().sum::<u64>());
    /// world.frame();
    /// assert_eq!(world.get(sum)?, 328_350);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    pub async fn call_each<S: 'static>(&self, args: impl IntoIterator<Item = F::Args>) -> Vec<F::Output>
    where
        F: Native<S>,
    {
        let mut calls = args.into_iter().map(|args| self.call(args)).collect::<Vec<_>>();
        // All calls are made before the first is awaited. They are retired in order, so this looks only at
        // the first call that is not done.
        std::future::poll_fn(|_| {
            calls.iter_mut().for_each(Call::begin);
            std::task::Poll::Ready(())
        })
        .await;
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            results.push(call.await);
        }
        results
    }

    /// Calls the function on another core. The call may take longer than a frame: the future is ready in the
    /// first later frame at whose start the call has ended. Meanwhile the stream keeps its last value.
    /// (Before the first result a stream made with [`stream`](crate::Here::stream) has no value.) Without
    /// workers the call runs in place, at once.
    ///
    /// This frame depends on the time that the call takes, and on the number of workers, so the values are
    /// not the same in each run. [`find_dependence`](crate::find_dependence) finds the streams that depend on
    /// it.
    ///
    /// For cancel safety and panics, see [`call`](Foreign::call).
    #[inline]
    pub fn call_over_frames<S: 'static>(&self, args: F::Args) -> Call<F, S>
    where
        F: Native<S>,
    {
        Call::new(self.class, self.f.clone(), args, true)
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.class.name
    }
}

/// Returns the name of a chain. The name is made once, even if the chain is made many times.
fn chain_name(first: &'static str, second: &'static str) -> &'static str {
    type Names = HashMap<(&'static str, &'static str), &'static str>;
    static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.entry((first, second)).or_insert_with(|| format!("{first}, then {second}").leak())
}

impl<F> Deref for Foreign<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.f
    }
}

impl<F: Clone> Clone for Foreign<F> {
    fn clone(&self) -> Self {
        Foreign { class: self.class, f: self.f.clone() }
    }
}

impl<F: Copy> Copy for Foreign<F> {}

impl<F> fmt::Debug for Foreign<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("class", &self.class).finish_non_exhaustive()
    }
}
