//! Making streams, and the owners of streams.

use super::body::{self, Out};
use super::handle::Stream;
use crate::engine::body::Body;
use crate::engine::group::{Key, Kind, value_of};
use crate::engine::slot::{Head, Phase, Slot, StateWord};
use crate::engine::waits::Living;
use crate::engine::{self, Core};
use crate::error::StreamError;
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Duration;

/// The place at which streams are made: a world, the body of a stream, or a scope.
///
/// A [`World`](crate::World) dereferences to it, and so does a [`Scope`]; in a body, [`here`]
/// returns it. A stream that is made outside of a body lives until it is removed. A stream that a
/// body makes belongs to the body. If the body is run anew in each frame, the stream lives until the
/// next run. If the body lives over frames, the stream lives as long as the body's stream. A stream
/// of a scope lives as long as the scope. A stream that the function of a [list](Here::keyed) makes
/// for a member lives as long as the member.
///
/// A stream that is made during a frame is evaluated in that frame if it is read there, and from the
/// next frame on in any case. A stream takes the memory of its future and its value, and 8 bytes
/// more.
pub struct Here {
    pub(crate) core: Rc<Core>,
    owner: Option<Living>,
}

/// Returns the place at which the running body makes streams.
///
/// ```
/// use lisle_frame::{World, here};
///
/// let mut world = World::new();
/// let sum = world.stream(async || {
///     let half = here().stream(async || 21);
///     half.await + half.await
/// });
/// world.frame();
/// assert_eq!(world.get(sum)?, 42);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// Panics outside of a frame.
pub fn here() -> Here {
    let core = engine::current_counted()
        .expect("`here` is called outside of the body of a stream: no frame is under way");
    Here { core, owner: None }
}

/// A group of streams that are removed together; see [`Here::scope`].
pub struct Scope {
    here: Here,
    stream: Stream<()>,
}

impl Scope {
    pub(crate) fn stream(&self) -> Stream<()> {
        self.stream
    }
}

impl std::ops::Deref for Scope {
    type Target = Here;

    fn deref(&self) -> &Here {
        &self.here
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// Settings for the stream that is made next: its name, and whether it is tried again after a panic.
/// Returned by [`Here::named`] and [`Here::retrying`].
#[derive(Debug)]
#[must_use = "no stream is made until a method makes it"]
pub struct Making<'h> {
    pub(crate) here: &'h Here,
    pub(crate) how: How,
}

/// The settings of a stream before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    name: Option<&'static str>,
    retrying: bool,
    is_cosmetic: bool,
    /// The place where it is made, for errors, if this is not the caller's place.
    site: Option<&'static Location<'static>>,
}

impl Here {
    pub(crate) fn new(core: Rc<Core>) -> Here {
        Here { core, owner: None }
    }

    pub(crate) fn plain(&self) -> Making<'_> {
        Making { here: self, how: How::default() }
    }

    /// Gives the stream that is made next a name, for errors and reports.
    pub fn named(&self, name: &'static str) -> Making<'_> {
        self.plain().named(name)
    }

    /// If the body of the stream that is made next panics, the stream is tried again in the next
    /// frame. Otherwise a panic is a failure for good. (A stream that fails because it has read a
    /// failed stream is always tried again.)
    pub fn retrying(&self) -> Making<'_> {
        self.plain().retrying()
    }

    /// Leaves the stream that is made next out of [snapshots](crate::World::snapshot), with all
    /// streams that it makes. Such streams show or play the game and are not part of it. A cosmetic
    /// stream may live and wait over frames, and keeps its state when the world goes back. It counts
    /// its own frames: frames that are [run again](crate::World::resimulate) do not count.
    ///
    /// A cosmetic stream may read all others. If a stream that is not cosmetic reads a cosmetic one,
    /// the read is an [error](crate::Failure::Cosmetic), because frames that are run again would
    /// have other values. (The error comes at the read, because the reads of a body are not known
    /// before.)
    ///
    /// ```
    /// use lisle_frame::{World, next_frame};
    ///
    /// let mut world = World::new();
    /// let push = world.input(1);
    /// let place = world.fold(push.stream(), 0, |place, push| *place += push);
    /// let shown = world.cosmetic().live(String::new(), async move |shown| loop {
    ///     let place = place.await;
    ///     shown.update(|shown| shown.push_str(&format!("{place} ")));
    ///     next_frame().await;
    /// });
    /// world.frame();
    /// let then = world.snapshot()?;
    /// world.frame();
    /// world.restore(&then)?;
    /// world.set(push, 5)?;
    /// world.resimulate(); // not shown
    /// world.frame();
    /// assert_eq!(world.get(shown)?, "1 2 11 ");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cosmetic(&self) -> Making<'_> {
        self.plain().cosmetic()
    }

    /// Makes a stream whose body is run anew in each frame. The body returns the stream's value for
    /// that frame.
    ///
    /// The body is run at most once in a frame, even if many streams read it. It may wait within the
    /// frame, for other streams and for foreign calls. If it waits over frames, as for
    /// [`next_frame`](crate::next_frame), the stream keeps its last value meanwhile. The stream has
    /// no value before its body has returned once.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let a = world.stream(async || 20);
    /// let b = world.stream(async move || a.await + 1);
    /// let c = world.stream(async move || a.await + b.await);
    /// world.frame();
    /// assert_eq!(world.get(c)?, 41);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    #[inline]
    pub fn stream<T, B>(&self, body: B) -> Stream<T>
    where
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        self.plain().stream(body)
    }

    /// Makes a stream whose body lives over frames, with a first value.
    ///
    /// The body sets the stream's value with [`Out::set`], and waits for the next frame with
    /// [`next_frame`](crate::next_frame). When it returns, the last value stays.
    ///
    /// ```
    /// use lisle_frame::{World, next_frame};
    ///
    /// let mut world = World::new();
    /// let counter = world.live(0, async |out| {
    ///     for n in 1.. {
    ///         out.set(n);
    ///         next_frame().await;
    ///     }
    /// });
    /// world.frame();
    /// world.frame();
    /// assert_eq!(world.get(counter)?, 2);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    #[inline]
    pub fn live<T, B>(&self, first: T, body: B) -> Stream<T>
    where
        T: Clone + 'static,
        B: AsyncFnOnce(&mut Out<'_, T>) + 'static,
    {
        self.plain().live(first, body)
    }

    /// Returns the time in the game: the time of the last frame, or, in a body, of the frame under
    /// way. It is the sum of the [steps](crate::Builder::step) of all frames.
    /// [`restore`](crate::World::restore) sets it back, but not for [cosmetic](Here::cosmetic)
    /// streams.
    ///
    /// ```
    /// use lisle_frame::{World, here};
    /// use std::time::Duration;
    ///
    /// let mut world = World::builder().step(Duration::from_millis(20)).build();
    /// let clock = world.stream(async || here().time());
    /// world.frame();
    /// world.frame();
    /// assert_eq!(world.get(clock)?, Duration::from_millis(40));
    /// assert_eq!(world.time(), Duration::from_millis(40));
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    pub fn time(&self) -> Duration {
        self.core.time_of_current()
    }

    /// Makes a scope. The streams that are made in a scope are removed with it.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let level = world.scope();
    /// let tree = level.stream(async || "oak");
    /// world.frame();
    /// assert_eq!(world.get(tree)?, "oak");
    /// world.remove_scope(level);
    /// assert!(world.get(tree).is_err());
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn scope(&self) -> Scope {
        self.plain().scope()
    }

    /// Removes a stream and the streams that it has made. Its foreign calls that have not begun are
    /// cancelled; the results of the others are dropped. The stream is not evaluated any more, not
    /// even in this frame unless it already was. A stream may remove itself: then its body is
    /// dropped where it waits next.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream has been removed already, or belongs to another world.
    pub fn remove<T>(&self, stream: Stream<T>) -> Result<(), StreamError> {
        self.core.remove(stream.living(&self.core)?);
        Ok(())
    }

    /// Removes a scope and the streams that were made in it, as [`remove`](Here::remove) does. If
    /// the scope belongs to another world, it is removed there.
    pub fn remove_scope(&self, scope: Scope) {
        if let Ok(living) = scope.stream().living(&scope.core) {
            scope.core.remove(living);
        }
    }
}

impl fmt::Debug for Here {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Here").field("world", &self.core.id).finish_non_exhaustive()
    }
}

impl Making<'_> {
    /// Gives the stream a name.
    pub fn named(self, name: &'static str) -> Self {
        Making { how: How { name: Some(name), ..self.how }, ..self }
    }

    /// Has the stream tried again after a panic; see [`Here::retrying`].
    pub fn retrying(self) -> Self {
        Making { how: How { retrying: true, ..self.how }, ..self }
    }

    /// Leaves the stream out of snapshots; see [`Here::cosmetic`].
    pub fn cosmetic(self) -> Self {
        Making { how: How { is_cosmetic: true, ..self.how }, ..self }
    }

    /// Returns the settings for another stream, which are the same.
    pub(crate) fn again(&self) -> Making<'_> {
        Making { ..*self }
    }

    /// Has the stream made elsewhere, for errors.
    pub(crate) fn at(self, site: &'static Location<'static>) -> Self {
        Making { how: How { site: Some(site), ..self.how }, ..self }
    }

    /// Makes a stream that is run anew in each frame; see [`Here::stream`].
    #[track_caller]
    #[inline]
    pub fn stream<T, B>(self, body: B) -> Stream<T>
    where
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        if self.how.retrying {
            self.make(None, Kind::AtRest, |_| body::anew::<true, T, B>(body))
        } else {
            self.make(None, Kind::AtRest, |_| body::anew::<false, T, B>(body))
        }
    }

    /// Makes a stream that lives over frames; see [`Here::live`]. Its body cannot be tried again
    /// after a panic.
    #[track_caller]
    #[inline]
    pub fn live<T, B>(self, first: T, body: B) -> Stream<T>
    where
        T: Clone + 'static,
        B: AsyncFnOnce(&mut Out<'_, T>) + 'static,
    {
        self.make(Some(first), Kind::Living, |out| body::living(out, body))
    }

    /// Makes a stream that changes a state by the values that it reads; see [`Here::fold`].
    #[track_caller]
    pub fn fold<T, S, F>(self, source: Stream<T>, first: S, f: F) -> Stream<S>
    where
        T: Clone + 'static,
        S: Clone + 'static,
        F: FnMut(&mut S, T) + 'static,
    {
        self.make(Some(first), Kind::AtRest, |_| body::folding::<S, T, F>(source, f))
    }

    /// Returns `true` if the stream is left out of snapshots, as all streams are that such a stream
    /// makes.
    fn is_cosmetic(&self) -> bool {
        let core = &self.here.core;
        let owner = self.here.owner.map(|owner| owner.head);
        let owner = owner.or_else(|| core.current.get());
        self.how.is_cosmetic || owner.is_some_and(|owner| core.is_cosmetic(owner))
    }

    /// Makes a scope; see [`Here::scope`].
    #[track_caller]
    pub fn scope(self) -> Scope {
        let core = &self.here.core;
        let stream = self.again().make(Some(()), Kind::AtRest, |_| std::future::ready(()));
        let owner = stream.living(core).ok();
        Scope { here: Here { core: core.clone(), owner }, stream }
    }

    /// Makes a stream.
    #[track_caller]
    pub(crate) fn make<T, F>(
        self,
        first: Option<T>,
        kind: Kind,
        future: impl FnOnce(Out<'static, T>) -> F,
    ) -> Stream<T>
    where
        T: Clone + 'static,
        F: Body,
    {
        let core = &self.here.core;
        assert!(!core.closed.get(), "a stream is made in a world that was dropped");
        let key = Key {
            future: TypeId::of::<F>(),
            value: TypeId::of::<T>(),
            site: self.how.site.unwrap_or(Location::caller()),
            name: self.how.name,
            is_cosmetic: self.is_cosmetic(),
        };
        let head = core.group::<T, F>(key, kind).take_slot();
        // SAFETY: the slot is vacant, of this type, and no code knows it.
        unsafe {
            let future = future(Out::new(head));
            fill(head, first, future, core.birth());
        }
        // SAFETY: slots live as long as the world.
        let living = unsafe { Living::new(head) };
        core.own(self.here.owner, living);
        Stream::new(core, living)
    }
}

/// Makes a vacant slot a stream.
///
/// # Safety
///
/// The slot is vacant and of these types.
unsafe fn fill<T, F>(head: NonNull<Head>, first: Option<T>, future: F, birth: u32) {
    let slot = head.cast::<Slot<T, F>>().as_ptr();
    let mut state = StateWord::new(Phase::Fresh, birth);
    // SAFETY: by the caller's promise.
    unsafe {
        UnsafeCell::raw_get(&raw const (*slot).future).cast::<F>().write(future);
        if let Some(value) = first {
            value_of::<T>(head).write(value);
            state = state.and_value();
        }
        let head = head.as_ref();
        head.generation.set(head.generation.get() + 1);
        head.state.set(state);
    }
}
