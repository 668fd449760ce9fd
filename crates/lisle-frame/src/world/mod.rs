//! Worlds.

pub(crate) mod determinism;
pub(crate) mod lending;
pub(crate) mod snapshot;

use crate::batch::loans::all_read;
use crate::current::let_others_pass;
use crate::engine::Core;

use crate::engine::group::value_of;
use crate::error::{Failure, StreamError};
use crate::foreign::Foreigns;
use crate::pool::Link;
#[cfg(feature = "threads")]
use crate::pool::work::{AnyPool, Pool};
use crate::report::Report;
use crate::streams::combinators::Input;
use crate::streams::handle::Stream;
use crate::streams::making::Here;
use crate::streams::reading::Looking;
use determinism::Watched;
use std::fmt;
use std::panic::resume_unwind;
use std::time::Duration;

/// A world of streams. Each frame evaluates every stream once.
///
/// A world belongs to its thread, or to its fiber; it cannot be sent to another. Its streams run there, one
/// after the other, so that they need no locks between each other. [Foreign functions](crate::Foreign),
/// which other cores may run, do the long work.
///
/// Worlds are independent of each other. A handle of one world cannot be used in another.
///
/// ```
/// use lisle_frame::World;
///
/// let mut world = World::new();
/// let x = world.input(1);
/// let double = world.map(x.stream(), |x| x * 2);
/// world.frame();
/// assert_eq!(world.get(double)?, 2);
/// world.set(x, 5)?;
/// world.frame();
/// assert_eq!(world.get(double)?, 10);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub struct World {
    here: Here,
    budget: Option<Duration>,
    pub(crate) watched: Vec<Watched>,
}

/// The settings of a world; returned by [`World::builder`].
#[derive(Default)]
#[must_use = "no world is made until `build` is called"]
pub struct Builder {
    #[cfg(feature = "threads")]
    pool: Option<Box<dyn Pool>>,
    #[cfg(feature = "threads")]
    places: Option<usize>,
    step: Option<Duration>,
    budget: Option<Duration>,
}

impl Builder {
    /// Sets the pool that runs the foreign calls: a reference to [`Workers`](crate::Workers), a value of a
    /// type that is a [`Pool`], or such a value in a box. Without a pool, calls run on the world's own
    /// thread.
    #[cfg(feature = "threads")]
    pub fn pool<P>(self, pool: P) -> Self
    where
        P: Into<AnyPool>,
    {
        Builder { pool: Some(pool.into().0), ..self }
    }

    /// Sets how many batches may wait for the workers at a time. The default is 1,024; the number is
    /// rounded up to a power of two. Further batches run in place.
    #[cfg(feature = "threads")]
    pub fn places(self, batches: usize) -> Self {
        Builder { places: Some(batches.clamp(1, 1 << 16)), ..self }
    }

    /// Sets how long a frame lasts in the game, for [`seconds`](crate::seconds). The default is a sixtieth
    /// of a second. See also [`set_step`](World::set_step).
    pub fn step(mut self, step: Duration) -> Self {
        self.step = Some(step);
        self
    }

    /// Sets the time that a frame may take. A frame that takes longer is not changed; its [`Report`] says
    /// so.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Makes the world.
    pub fn build(self) -> World {
        #[cfg(feature = "threads")]
        let link = match self.pool {
            Some(pool) => Link::new(pool, self.places.unwrap_or(1024)),
            None => Link::default(),
        };
        #[cfg(not(feature = "threads"))]
        let link = Link;
        let core = Core::new(Foreigns::new(link));
        if let Some(step) = self.step {
            core.step.set(step);
        }
        World { here: Here::new(core), budget: self.budget, watched: Vec::new() }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl World {
    /// Makes a world whose foreign calls run on its own thread, within the frame, also those
    /// [over frames](crate::Foreign::call_over_frames).
    pub fn new() -> World {
        World::builder().build()
    }

    /// Returns a builder, for a world with a pool or a budget.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Evaluates every stream once, and returns when all have their values for this frame. (Streams that
    /// wait over frames keep their last values.)
    ///
    /// Bodies must wait by `await` only. A body that waits otherwise holds up the thread. With a Lisle
    /// runtime (feature `runtime`), a wait for an event in a body, or in a foreign function that is run in
    /// place, is a panic.
    ///
    /// In a fiber of a Lisle runtime (feature `runtime`), a frame first lets the other fibers of its domain
    /// pass, if they have waited for 10 to 20 ms. So a loop of frames need not wait itself.
    ///
    /// After its first frames, a world allocates no memory, if streams, lists and calls do not grow in
    /// number, and the bodies of streams allocate nothing.
    ///
    /// # Panics
    ///
    /// Panics if the pool panics, when the frame is over. Panics of bodies and foreign functions fail their
    /// streams instead.
    pub fn frame(&mut self) -> Report {
        self.take_loans_back();
        self.evaluate(false)
    }

    /// Evaluates a frame again after the world has gone [back](World::restore).
    /// [Cosmetic](crate::Here::cosmetic) streams have had this frame already: they are not evaluated, and
    /// keep their values. Otherwise it does the same as [`frame`](World::frame).
    ///
    /// # Panics
    ///
    /// Panics as [`frame`](World::frame) does.
    pub fn resimulate(&mut self) -> Report {
        self.take_loans_back();
        self.evaluate(true)
    }

    /// Evaluates a frame, which may have loans. `is_old` says that cosmetic streams have had this frame
    /// already.
    pub(crate) fn evaluate(&mut self, is_old: bool) -> Report {
        let_others_pass();
        let core = &self.here.core;
        core.clock.begin();
        core.evaluated.set(0);
        core.foreigns().begin_frame();
        let open = Open(core.foreigns());
        all_read(|| core.frame(is_old));
        drop(open);
        if let Some(panic) = core.foreigns().take_panic() {
            resume_unwind(panic);
        }
        self.report()
    }

    fn report(&self) -> Report {
        let core = &self.here.core;
        let order = core.foreigns().order();
        let (streams, rest) = core.clock.end();
        let total = Duration::from_nanos(streams + rest);
        Report {
            frame: core.frames.get(),
            streams: core.evaluated.get(),
            calls: order.calls.get(),
            batches: order.batches.get(),
            stalls: order.stalls.get(),
            late: order.late.get(),
            slowest: order.slowest.get().map(|(name, nanos)| (name, Duration::from_nanos(nanos))),
            in_streams: Duration::from_nanos(streams),
            waiting: Duration::from_nanos(order.waited.get()),
            retiring: Duration::from_nanos(rest.saturating_sub(order.waited.get())),
            total,
            within_budget: self.budget.is_none_or(|budget| total <= budget),
        }
    }

    /// Returns the value of a stream in the last frame, or the last value before that if it has
    /// waited over frames.
    ///
    /// # Errors
    ///
    /// Returns the stream's error if it failed in the last frame, was removed, has not run or has
    /// given no value yet, or belongs to another world.
    pub fn get<T: Clone>(&self, stream: Stream<T>) -> Result<T, StreamError> {
        self.with(stream, T::clone)
    }

    /// Calls `f` with the value of a stream in the last frame, which is not cloned.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`get`](World::get).
    pub fn with<T, R>(&self, stream: Stream<T>, f: impl FnOnce(&T) -> R) -> Result<R, StreamError> {
        use crate::engine::slot::Phase;
        let core = &self.here.core;
        let living = stream.living(core)?;
        let state = living.get().map(|head| head.state.get());
        let Some(state) = state else { return Err(core.removed(living)) };
        if state.phase() == Phase::Failed {
            return Err(core.error_of(living.head));
        }
        if !state.has_value() {
            let has_run = state.phase() != Phase::Fresh;
            let failure = if has_run { Failure::NoValue } else { Failure::NotRun };
            return Err(StreamError::new(failure(core.origin(living.head))));
        }
        let looking = Looking::new(core);
        // SAFETY: the stream has a value. No frame can begin and no value can be set meanwhile, because
        // both take the world mutably, and a stream is not buried while a function looks at it.
        let result = f(unsafe { &*value_of::<T>(living.head) });
        drop(looking);
        core.bury_at_rest();
        Ok(result)
    }

    /// Sets the value of an input, from the next frame on.
    ///
    /// # Errors
    ///
    /// Returns an error if the input was removed or belongs to another world.
    pub fn set<T>(&mut self, input: Input<T>, value: T) -> Result<(), StreamError> {
        let living = input.stream().living(&self.core)?;
        self.core.look_at_sources();
        // A stream of last values clones its source, and the `clone` may have removed this stream.
        input.stream().living(&self.core)?;
        // SAFETY: an input has a value from the start. No code looks at it, because that would borrow the
        // world.
        drop(unsafe { value_of::<T>(living.head).replace(value) });
        Ok(())
    }

    /// Sets how long a frame lasts in the game, from the next frame on. In a game that must have the same
    /// values each time, the step is an input like others: [`restore`](World::restore) does not set it
    /// back.
    pub fn set_step(&mut self, step: Duration) {
        self.core.step.set(step);
    }

    /// Returns how many frames there have been.
    pub fn frames(&self) -> u64 {
        self.here.core.frames.get()
    }
}

impl std::ops::Deref for World {
    type Target = Here;

    fn deref(&self) -> &Here {
        &self.here
    }
}

/// Ends the frame for the workers, also when it panics.
struct Open<'a>(&'a Foreigns);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.end_frame();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.take_loans_back();
        self.here.core.close();
        // SAFETY: the streams are gone, and none can be made any more.
        unsafe { self.here.core.foreigns().end() };
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("frames", &self.frames()).finish_non_exhaustive()
    }
}
