//! Where streams are made, and by whom they are owned.

use super::body::{self, Out};
use super::handle::Stream;
use crate::engine::body::Body;
use crate::engine::group::{Key, Kind, value_of};
use crate::engine::slot::{Head, Phase, Slot, State};
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

/// Where streams are made: in a world, in the body of a stream, or in a scope.
///
/// A [`World`](crate::World) dereferences to it, and so does a [`Scope`]; in a body, [`here`]
/// returns it. What is made outside of a body lives until it is removed. What a body makes belongs
/// to the body: if the body is run anew in each frame, it lives until the next run; if the body
/// lives over frames, as long as the body's stream. What a scope makes lives as long as the scope,
/// and what the function of a [list](Here::keyed) makes for a member as long as the member.
///
/// What is made during a frame is evaluated in that frame if it is read there, and from the next
/// one on in any case. A stream costs the memory of its future, of its value, and 8 bytes.
pub struct Here {
    pub(crate) core: Rc<Core>,
    owner: Option<Living>,
}

/// Returns where the running body may make streams.
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

/// How a stream is to be made: its name, and what follows a panic. Returned by [`Here::named`] and
/// [`Here::retrying`].
#[derive(Debug)]
#[must_use = "no stream is made until a method makes it"]
pub struct Making<'h> {
    pub(crate) here: &'h Here,
    pub(crate) how: How,
}

/// What can be said of a stream before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    name: Option<&'static str>,
    retrying: bool,
    is_cosmetic: bool,
    /// Where it is made, for errors, if that is not the caller's place.
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

    /// Has the stream that is made next tried again in the next frame when its body has panicked.
    /// Otherwise it has failed for good. (A stream that fails because it has read what failed is
    /// always tried again.)
    pub fn retrying(&self) -> Making<'_> {
        self.plain().retrying()
    }

    /// Has the stream that is made next left out of [snapshots](crate::World::snapshot), with all
    /// that it makes: what is heard or shown of the game, and is not the game. It may live and wait
    /// over frames, and keeps its state when the world goes back; its frames are counted by
    /// themselves, and those that are [run again](crate::World::resimulate) are not its.
    ///
    /// A cosmetic stream may read all others. One that is not cosmetic cannot read one that is: that
    /// is an [error](crate::Failure::Cosmetic) where it does so, since the frames that follow a way
    /// back would come to something else. (What a body reads is not known before it does.)
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

    /// Makes a stream whose body is run anew in each frame. What the body returns is the stream's
    /// value for that frame.
    ///
    /// The body is run at most once in a frame, however many streams read it. It may wait within
    /// the frame: for other streams, and for foreign calls. If it waits over frames, as for
    /// [`next_frame`](crate::next_frame), the stream keeps its last value meanwhile, and it has
    /// none before it has returned once.
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

    /// Makes a stream whose body lives over frames, with the value to start from.
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

    /// Returns the time in the game: that of the last frame, or in a body, that of the frame under
    /// way. It is the sum of the [steps](crate::Builder::step) of all frames, and goes back to a
    /// snapshot with the world, but for [cosmetic](Here::cosmetic) streams.
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

    /// Makes a scope: what is made in it is removed with it.
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

    /// Removes a stream and what it has made. Its foreign calls that have not begun are cancelled;
    /// of those that have begun, the results are dropped. It is not evaluated any more, in this
    /// frame either, unless it already was. A stream may remove itself: then its body is dropped
    /// where it waits next.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream has been removed already, or belongs to another world.
    pub fn remove<T>(&self, stream: Stream<T>) -> Result<(), StreamError> {
        self.core.remove(stream.living(&self.core)?);
        Ok(())
    }

    /// Removes a scope and what was made in it, as [`remove`](Here::remove) does. If the scope
    /// belongs to another world, it is removed there.
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

    /// Returns how another stream is to be made in the same way.
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

    /// Makes a stream that changes a state by what it reads; see [`Here::fold`].
    #[track_caller]
    pub fn fold<T, S, F>(self, source: Stream<T>, first: S, f: F) -> Stream<S>
    where
        T: Clone + 'static,
        S: Clone + 'static,
        F: FnMut(&mut S, T) + 'static,
    {
        self.make(Some(first), Kind::AtRest, |_| body::folding::<S, T, F>(source, f))
    }

    /// Returns `true` if the stream is left out of snapshots, as all is that such a stream makes.
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
    let mut state = State::new(Phase::Fresh, birth);
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
