//! Streams made of streams.

use super::body::{Done, Lasting, Out};
use super::handle::Stream;
use super::making::{Here, Making};
use super::reading::Looking;
use crate::engine::body::Body;
use crate::engine::group::{Kind, value_of};
use crate::engine::slot::Phase;
use crate::engine::waits::Living;
use crate::engine::{self, Core, Follows};
use crate::error::{Failure, StreamError};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// A stream whose value is set from outside of frames; see [`Here::input`].
///
/// It takes exactly the type with which it was made, and no shorter lifetime:
///
/// ```compile_fail
/// use lisle_frame::World;
///
/// let mut world = World::new();
/// let word = world.input("of the program");
/// let short = String::from("of the stack");
/// world.set(word, short.as_str()).unwrap();
/// ```
// The handle of a stream may stand for a stream of a supertype, because it is only read. An input
// is written.
pub struct Input<T>(Stream<T>, PhantomData<fn(T) -> T>);

impl<T> Input<T> {
    /// Returns the stream.
    pub fn stream(self) -> Stream<T> {
        self.0
    }
}

impl<T> Clone for Input<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Input<T> {}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.0).finish()
    }
}

/// The last values of a stream that is made later; see [`Here::delay`].
pub struct Delay<T> {
    stream: Stream<T>,
    followed: Rc<Followed<T>>,
}

impl<T> Delay<T> {
    /// Returns the stream of last values.
    pub fn stream(&self) -> Stream<T> {
        self.stream
    }

    /// Sets the stream whose last values these are. Until then, the first value stays.
    pub fn follow(&self, source: Stream<T>) {
        self.followed.source.set(Some(source));
    }
}

impl<T> fmt::Debug for Delay<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delay").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// The source of a stream of last values.
struct Followed<T> {
    source: Cell<Option<Stream<T>>>,
    /// The value of the source before the frame, or the panic of its `clone`.
    last: Cell<Option<Result<T, Box<dyn Any + Send>>>>,
}

impl<T: Clone + 'static> Follows for Followed<T> {
    fn look(&self, core: &Core, stream: Living) {
        let last = || {
            let source = self.source.get()?;
            if source.is_cosmetic() && !core.is_cosmetic(stream.head) {
                let (reader, stream) = (core.origin(stream.head), core.origin(source.head()));
                resume_unwind(Box::new(StreamError::new(Failure::Cosmetic { reader, stream }).to_string()));
            }
            last_value(core, source)
        };
        let last = catch_unwind(AssertUnwindSafe(last)).transpose();
        self.last.set(last);
    }

    fn looked(&self) -> Box<dyn Any> {
        let last = self.last.take();
        let looked = match &last {
            Some(Ok(value)) => Some(value.clone()),
            _ => None,
        };
        self.last.set(last);
        Box::new(looked)
    }

    fn look_as_then(&self, looked: &dyn Any) {
        let looked = looked.downcast_ref::<Option<T>>().cloned().flatten();
        self.last.set(looked.map(Ok));
    }
}

/// Returns the value that a stream had in the last frame, or before. A stream that was never run
/// has had no value, even if it was made with one.
fn last_value<T: Clone>(core: &Core, stream: Stream<T>) -> Option<T> {
    let living = stream.living(core).ok()?;
    let state = living.get()?.state.get();
    if !state.has_value() || matches!(state.phase(), Phase::Fresh | Phase::Running) {
        return None;
    }
    let _looking = Looking::new(core);
    // SAFETY: the stream has a value, and does not run while it is cloned.
    Some(unsafe { &*value_of::<T>(living.head) }.clone())
}

/// The future of a stream of last values. It runs before all others in a frame.
fn following<T: Clone + 'static>(mut out: Out<'static, T>, followed: Rc<Followed<T>>) -> impl Body {
    Lasting(async move {
        loop {
            match followed.last.take() {
                Some(Ok(value)) => out.set(value),
                Some(Err(panic)) => resume_unwind(panic),
                None => {}
            }
            Done::new().await;
        }
    })
}

impl Here {
    /// Makes a stream whose value is set with [`World::set`](crate::World::set).
    #[track_caller]
    pub fn input<T: Clone + 'static>(&self, first: T) -> Input<T> {
        self.plain().input(first)
    }

    /// Makes a stream of the values of `source`, changed by `f`.
    #[track_caller]
    pub fn map<T, U>(&self, source: Stream<T>, f: impl FnMut(T) -> U + 'static) -> Stream<U>
    where
        T: Clone + 'static,
        U: Clone + 'static,
    {
        self.plain().map(source, f)
    }

    /// Makes a stream of pairs.
    #[track_caller]
    pub fn zip<A, B>(&self, a: Stream<A>, b: Stream<B>) -> Stream<(A, B)>
    where
        A: Clone + 'static,
        B: Clone + 'static,
    {
        self.plain().zip(a, b)
    }

    /// Makes a stream with a state that it keeps from frame to frame. `f` changes the state by each
    /// value of `source`. In a frame in which `source` fails, the stream fails too, and keeps its
    /// state.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let one = world.stream(async || 1);
    /// let count = world.fold(one, 0, |count, one| *count += one);
    /// for _ in 0..10 {
    ///     world.frame();
    /// }
    /// assert_eq!(world.get(count)?, 10);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn fold<T, S>(&self, source: Stream<T>, first: S, f: impl FnMut(&mut S, T) + 'static) -> Stream<S>
    where
        T: Clone + 'static,
        S: Clone + 'static,
    {
        self.plain().fold(source, first, f)
    }

    /// Makes a stream of the values that `source` had in the frame before. In the first frame the
    /// value is `first`. The stream does not wait for `source`, so streams may read each other in a
    /// circle through it; see also [`delay`](Here::delay).
    #[track_caller]
    pub fn previous<T: Clone + 'static>(&self, source: Stream<T>, first: T) -> Stream<T> {
        self.plain().previous(source, first)
    }

    /// Makes a stream of the last values of a stream that is made later.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let before = world.delay(1);
    /// let last = before.stream();
    /// let doubling = world.stream(async move || last.await * 2);
    /// before.follow(doubling);
    /// for _ in 0..10 {
    ///     world.frame();
    /// }
    /// assert_eq!(world.get(doubling)?, 1024);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn delay<T: Clone + 'static>(&self, first: T) -> Delay<T> {
        self.plain().delay(first)
    }

    /// Makes a stream of the last value that was not `None`.
    #[track_caller]
    pub fn hold<T: Clone + 'static>(&self, source: Stream<Option<T>>, first: T) -> Stream<T> {
        self.plain().hold(source, first)
    }

    /// Makes a stream that has the value of `source` in the frames in which this value has changed,
    /// and `None` in the others. In its first frame it has the value.
    #[track_caller]
    pub fn changes<T: Clone + PartialEq + 'static>(&self, source: Stream<T>) -> Stream<Option<T>> {
        self.plain().changes(source)
    }

    /// Makes a stream with the values of the stream that `source` names in the frame.
    #[track_caller]
    pub fn switch<T: Clone + 'static>(&self, source: Stream<Stream<T>>) -> Stream<T> {
        self.plain().switch(source)
    }

    /// Makes a stream that takes over the value of `source` in every `every`th frame of the world,
    /// beginning with its first one, and keeps it meanwhile.
    ///
    /// # Panics
    ///
    /// Panics if `every` is 0.
    #[track_caller]
    pub fn sample<T: Clone + 'static>(&self, source: Stream<T>, every: u64) -> Stream<T> {
        self.plain().sample(source, every)
    }
}

/// The same methods for streams that are made with a name, or in another special way. If a method
/// makes two streams, both have the name.
impl Making<'_> {
    /// Makes a stream whose value is set from outside; see [`Here::input`].
    #[track_caller]
    pub fn input<T: Clone + 'static>(self, first: T) -> Input<T> {
        Input(self.make(Some(first), Kind::AtRest, |_| std::future::pending()), PhantomData)
    }

    /// Makes a stream of the values of another, changed by `f`; see [`Here::map`].
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let number = world.input(0);
    /// let share = world.named("share").retrying().map(number.stream(), |number| 12 / number);
    /// world.frame();
    /// assert!(world.get(share).unwrap_err().to_string().contains("stream 'share' made at"));
    /// world.set(number, 3)?;
    /// world.frame();
    /// assert_eq!(world.get(share)?, 4);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn map<T, U>(self, source: Stream<T>, mut f: impl FnMut(T) -> U + 'static) -> Stream<U>
    where
        T: Clone + 'static,
        U: Clone + 'static,
    {
        self.stream(async move || f(source.await))
    }

    /// Makes a stream of pairs; see [`Here::zip`].
    #[track_caller]
    pub fn zip<A, B>(self, a: Stream<A>, b: Stream<B>) -> Stream<(A, B)>
    where
        A: Clone + 'static,
        B: Clone + 'static,
    {
        self.stream(async move || (a.await, b.await))
    }

    /// Makes a stream of the last values of another; see [`Here::previous`].
    #[track_caller]
    pub fn previous<T: Clone + 'static>(self, source: Stream<T>, first: T) -> Stream<T> {
        let delay = self.delay(first);
        delay.follow(source);
        delay.stream()
    }

    /// Makes a stream of the last values of a stream that is made later; see [`Here::delay`].
    #[track_caller]
    pub fn delay<T: Clone + 'static>(self, first: T) -> Delay<T> {
        let core = &self.here.core;
        let followed = Rc::new(Followed { source: Cell::new(None), last: Cell::new(None) });
        let follows = followed.clone();
        let stream = self.make(Some(first), Kind::Early, |out| following(out, follows));
        if let Ok(living) = stream.living(core) {
            core.add_follower(living, followed.clone());
        }
        Delay { stream, followed }
    }

    /// Makes a stream of the last value that was not `None`; see [`Here::hold`].
    #[track_caller]
    pub fn hold<T: Clone + 'static>(self, source: Stream<Option<T>>, first: T) -> Stream<T> {
        self.fold(source, first, |held, value| {
            if let Some(value) = value {
                *held = value;
            }
        })
    }

    /// Makes a stream that has a value when the value of another changes; see [`Here::changes`].
    #[track_caller]
    pub fn changes<T: Clone + PartialEq + 'static>(self, source: Stream<T>) -> Stream<Option<T>> {
        let seen = self.again().fold(source, (None, false), |(last, changed), value| {
            *changed = last.as_ref() != Some(&value);
            *last = Some(value);
        });
        self.stream(async move || seen.with(|(last, changed)| last.clone().filter(|_| *changed)).await)
    }

    /// Makes a stream with the values of the stream that another names; see [`Here::switch`].
    #[track_caller]
    pub fn switch<T: Clone + 'static>(self, source: Stream<Stream<T>>) -> Stream<T> {
        self.stream(async move || source.await.await)
    }

    /// Makes a stream that takes over the value of another in every `every`th frame; see
    /// [`Here::sample`].
    ///
    /// # Panics
    ///
    /// Panics if `every` is 0.
    #[track_caller]
    pub fn sample<T: Clone + 'static>(self, source: Stream<T>, every: u64) -> Stream<T> {
        assert!(every > 0, "a stream cannot be sampled every 0 frames");
        let held = self.again().fold(source, None, move |held: &mut Option<(u64, T)>, value| {
            let now = engine::current().map_or(0, Core::now);
            match held {
                Some((since, _)) if (now - *since) % every != 0 => {}
                Some((_, held)) => *held = value,
                None => *held = Some((now, value)),
            }
        });
        self.stream(async move || held.with(|held| held.clone().expect("has been sampled").1).await)
    }
}
