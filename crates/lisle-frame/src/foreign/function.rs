//! Foreign functions: functions that other cores may run, with what holds for all their calls.

use super::call::{Call, TryCall};
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

mod sealed {
    pub trait Sealed<Signature> {}
}

/// A function that may be called from another thread: what [`Foreign`] takes.
///
/// All functions and closures with up to four arguments are such, if they can be copied to another
/// thread, and their arguments and result can be sent there.
pub trait Native<Signature>: sealed::Sealed<Signature> + Clone + Send + 'static {
    /// The argument, or a tuple of several.
    type Args: Send + 'static;
    /// The result.
    type Output: Send + 'static;

    /// Calls the function.
    fn run(&self, args: Self::Args) -> Self::Output;
}

macro_rules! native {
    ($args:ty; $($name:ident),*; $pattern:pat) => {
        impl<F, R, $($name),*> sealed::Sealed<fn($($name),*) -> R> for F where F: Fn($($name),*) -> R {}

        impl<F, R, $($name),*> Native<fn($($name),*) -> R> for F
        where
            F: Fn($($name),*) -> R + Clone + Send + 'static,
            R: Send + 'static,
            $($name: Send + 'static),*
        {
            type Args = $args;
            type Output = R;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn run(&self, $pattern: Self::Args) -> R {
                self($($name),*)
            }
        }
    };
}

native!((); ; ());
native!(A; A; A);
native!((A, B); A, B; (A, B));
native!((A, B, C); A, B, C; (A, B, C));
native!((A, B, C, D); A, B, C, D; (A, B, C, D));

/// What happens when a call has not returned in time.
///
/// The time runs from when the world begins to wait for the call, having nothing else to do. A
/// function that is running cannot be stopped. Where there are no workers, or none is free, calls
/// run on the world's own thread and are always waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deadline {
    /// The frame waits for the call, however long it takes.
    #[default]
    Wait,
    /// After this time the frame goes on without the stream, which keeps its last value, and gets the
    /// result in a later frame.
    KeepLast(Duration),
    /// After this time the call fails with [`CallError::Deadline`](crate::CallError::Deadline). Its
    /// result is dropped when it comes.
    Cancel(Duration),
}

/// What holds for all calls of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
    /// Tells functions apart.
    pub(crate) id: u32,
    pub(crate) deadline: Deadline,
    pub(crate) unordered: bool,
    pub(crate) homed: bool,
    /// A fixed number of calls in a batch, or 0.
    pub(crate) batch: u32,
    pub(crate) delay: Duration,
}

impl Class {
    fn new(name: &'static str) -> Class {
        Class {
            name,
            id: 0,
            deadline: Deadline::Wait,
            unordered: false,
            homed: false,
            batch: 0,
            delay: Duration::from_micros(50),
        }
    }

    /// Keeps the class of a function for good: every call refers to it.
    fn keep(self) -> &'static Class {
        static IDS: AtomicU32 = AtomicU32::new(0);
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        assert_ne!(id, u32::MAX, "foreign functions are to be made once, not for each call");
        Box::leak(Box::new(Class { id, ..self }))
    }

    /// Returns the class of the closures of a type, which are not made foreign by name.
    pub(crate) fn of_closures<F: 'static>(name: &'static str) -> &'static Class {
        static CLASSES: LazyLock<Mutex<HashMap<TypeId, &'static Class>>> = LazyLock::new(Mutex::default);
        let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
        classes.entry(TypeId::of::<F>()).or_insert_with(|| Class::new(name).keep())
    }
}

/// A function that other cores may run, in batches. It is made once (a few bytes are kept for it until
/// the program ends), and copied into the bodies of streams.
///
/// It is called like any function, on the caller's thread. To call it asynchronously takes one word
/// more:
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
/// The calls of a function are collected into batches, and a batch is sent to the workers when it
/// has enough calls, or its first call has waited for the [`delay`](Foreign::delay), or the world has
/// nothing else to do. How many calls are enough follows from what they have cost so far. Calls that
/// cost less than to send them are run in place, on the world's thread.
///
/// # Order
///
/// Results are given to the streams in the order in which the calls were made, whatever the workers
/// do, unless the function is [`unordered`](Foreign::unordered). So a frame comes to the same
/// whether there are workers or not.
pub struct Foreign<F> {
    class: &'static Class,
    f: F,
}

impl<F> Foreign<F> {
    /// Makes a function foreign. The name is for reports and errors.
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

    /// Lets results be given to the streams as they come, so that no call waits for an earlier one.
    /// What the streams do with each other after that may depend on the time.
    pub fn unordered(self) -> Self {
        self.with(|class| class.unordered = true)
    }

    /// Lets all calls of a stream go to the same worker, which has its data in its cache, unless
    /// that one is busy while others are idle.
    pub fn homed(self) -> Self {
        self.with(|class| class.homed = true)
    }

    /// Fixes the number of calls in a batch, and sends all batches to the workers, however little
    /// the calls cost.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0 or above 65,536.
    pub fn batch(self, calls: usize) -> Self {
        assert!((1..=1 << 16).contains(&calls), "a batch has 1 to 65,536 calls, not {calls}");
        self.with(|class| class.batch = calls as u32)
    }

    /// Sets how long a call may wait for its batch to fill while the world has other things to do,
    /// which is 50 microseconds otherwise. The world looks after every 256 streams.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|class| class.delay = delay)
    }

    /// Sets what happens when a call has not returned in time.
    pub fn deadline(self, deadline: Deadline) -> Self {
        self.with(|class| class.deadline = deadline)
    }

    /// Returns a foreign function that calls this one, and then `next` with its result: a chain,
    /// which travels as one call. It has the class of this function, and the name of both.
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

    /// Calls the function on another core, within this frame. The future is ready in this frame,
    /// with the result. Several arguments are a tuple, none are `()`.
    ///
    /// If the call fails, the stream that awaits it fails in this frame.
    ///
    /// Cancel safety: if the future is dropped before the call has begun, it does not begin.
    /// Otherwise the result is dropped. The arguments live until then.
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

    /// Calls the function once for each of several arguments, on other cores. Returns the results in
    /// the order of the arguments. It takes constant time for each result, however many there are.
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
        // All are made before the first is awaited. They are retired in order, so that only the
        // first that is not done needs to be looked at.
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

    /// Calls the function on another core. It may take longer than a frame: the future is ready in
    /// a later frame, by whose start the call has ended. Meanwhile the stream keeps its last value.
    /// Without workers it is run in place, at once.
    ///
    /// Cancel safety and panics are those of [`call`](Foreign::call).
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

/// Returns the name of a chain. Each is made once, however often the chain is.
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
