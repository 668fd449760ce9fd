//! Lists of streams: they are mapped, filtered, and grow and shrink by keys.

mod kept;

use crate::engine::group::Kind;
use crate::streams::body::{Out, changing};
use crate::streams::handle::Stream;
use crate::streams::making::{Here, Making};
use crate::streams::reading::Settled;
use kept::{Kept, of_bodies, of_streams};
use std::any::Any;
use std::fmt;
use std::hash::Hash;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

/// A list of streams. Its members may change from frame to frame. It is a handle that can be copied.
///
/// ```
/// use lisle_frame::World;
///
/// let mut world = World::new();
/// let numbers = world.list(10, |n| async move || n);
/// let squares = world.map_list(numbers, |n| async move || n.await * n.await);
/// let even = world.filter(squares, |square| square % 2 == 0);
/// let sum = world.stream(async move || even.values().await.into_iter().sum::<usize>());
/// world.frame();
/// assert_eq!(world.get(sum)?, 120);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub struct List<T: 'static>(Stream<Members<T>>);

/// The streams of a list in a frame; it dereferences to a slice of them. A clone is a reference to
/// the same memory.
pub struct Members<T: 'static> {
    streams: Rc<Vec<Stream<T>>>,
    /// The keys of the streams, with the entries, if the list has made the streams for keys.
    roster: Option<Rc<dyn Any>>,
}

// The roster has no known type. No code sees it in the middle of a change: a value of a stream is replaced as
// a whole.
impl<T> UnwindSafe for Members<T> {}
impl<T> RefUnwindSafe for Members<T> {}

impl<T> Members<T> {
    fn new(streams: Vec<Stream<T>>) -> Self {
        Members { streams: Rc::new(streams), roster: None }
    }

    /// Returns the streams, to change them. They are copied if a clone of the value was kept.
    fn change(&mut self) -> &mut Vec<Stream<T>> {
        Rc::make_mut(&mut self.streams)
    }
}

impl<T: Clone> List<T> {
    /// Returns the stream of the list's members.
    pub fn members(self) -> Stream<Members<T>> {
        self.0
    }

    /// Waits for the last member, and returns all. Results come in the order of calls, so the others are
    /// usually done by then, and the reader is woken once, not by each member.
    async fn settled(self) -> Members<T> {
        let members = self.0.await;
        if let Some(last) = members.last() {
            Settled::new(*last).await;
        }
        members
    }

    /// Returns the values of all members in this frame, in order. It allocates a vector.
    pub async fn values(self) -> Vec<T> {
        let members = self.settled().await;
        let mut values = Vec::with_capacity(members.len());
        for member in members.iter() {
            values.push(member.get().await);
        }
        values
    }

    /// Calls `f` with the value of each member in this frame, in order.
    pub async fn each(self, mut f: impl FnMut(&T)) {
        let members = self.settled().await;
        for member in members.iter() {
            member.with(&mut f).await;
        }
    }
}

impl Here {
    /// Makes a list of `streams` streams, each of which is run anew in each frame. `make` is called for each
    /// number from 0.
    #[track_caller]
    pub fn list<T, B>(&self, streams: usize, make: impl FnMut(usize) -> B) -> List<T>
    where
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        self.plain().list(streams, make)
    }

    /// Makes a list of streams that exist already. They are not removed with the list.
    #[track_caller]
    pub fn list_of<T: Clone + 'static>(&self, streams: Vec<Stream<T>>) -> List<T> {
        self.plain().list_of(streams)
    }

    /// Makes a list with a stream for each member of `list`. `make` is called with the member, once, when it
    /// first appears. The stream, and the streams that `make` has made, are removed when the member has left
    /// the list.
    #[track_caller]
    pub fn map_list<T, U, B>(&self, list: List<T>, make: impl FnMut(Stream<T>) -> B + 'static) -> List<U>
    where
        T: Clone + 'static,
        U: Clone + 'static,
        B: AsyncFnMut() -> U + 'static,
    {
        self.plain().map_list(list, make)
    }

    /// Makes a list with a stream for each of the keys that `keys` gives in a frame, in their order. A stream
    /// is made when its key first appears, and stays the same as long as the key is there. In the first frame
    /// without the key the stream is removed, with the streams that `make` has made for it. A key that comes
    /// twice is in the list once. Streams are made in the order of their keys, and removed in the order of
    /// the list.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let names = world.input(vec!["Ann", "Bob"]);
    /// let ages = world.keyed(names.stream(), |_| {
    ///     let mut age = 0;
    ///     async move || {
    ///         age += 1;
    ///         age
    ///     }
    /// });
    /// let all = world.stream(async move || ages.values().await);
    /// world.frame();
    /// world.set(names, vec!["Cyd", "Bob"])?;
    /// world.frame();
    /// assert_eq!(world.get(all)?, [1, 2]);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn keyed<K, T, B>(&self, keys: Stream<Vec<K>>, make: impl FnMut(K) -> B + 'static) -> List<T>
    where
        K: Clone + Eq + Hash + 'static,
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        self.plain().keyed(keys, make)
    }

    /// Makes a list with the stream that `make` returns for each of the keys, such as a stream that lives
    /// over frames. Otherwise it does the same as [`keyed`](Here::keyed): when a key is gone, its stream and
    /// the other streams that `make` has made for it are removed.
    ///
    /// ```
    /// use lisle_frame::{World, here, next_frame};
    ///
    /// let mut world = World::new();
    /// let names = world.input(vec!["Ann"]);
    /// let ages = world.keyed_of(names.stream(), |_| {
    ///     here().live(0, async |age| {
    ///         for years in 1.. {
    ///             next_frame().await;
    ///             age.set(years);
    ///         }
    ///     })
    /// });
    /// let all = world.values(ages);
    /// world.frame();
    /// world.set(names, vec!["Ann", "Bob"])?;
    /// world.frame();
    /// assert_eq!(world.get(all)?, [1, 0]);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn keyed_of<K, T>(&self, keys: Stream<Vec<K>>, make: impl FnMut(K) -> Stream<T> + 'static) -> List<T>
    where
        K: Clone + Eq + Hash + 'static,
        T: Clone + 'static,
    {
        self.plain().keyed_of(keys, make)
    }

    /// Makes a list of the members of `list` for whose values in this frame `f` returns `true`.
    #[track_caller]
    pub fn filter<T: Clone + 'static>(&self, list: List<T>, f: impl FnMut(&T) -> bool + 'static) -> List<T> {
        self.plain().filter(list, f)
    }

    /// Makes a stream of the values of all members of `list`, in order. It fails in a frame in which a member
    /// fails.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let squares = world.list(5, |n| async move || n * n);
    /// let all = world.values(squares);
    /// let sum = world.map(all, |squares| squares.into_iter().sum::<usize>());
    /// world.frame();
    /// assert_eq!(world.get(all)?, [0, 1, 4, 9, 16]);
    /// assert_eq!(world.get(sum)?, 30);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    #[track_caller]
    pub fn values<T: Clone + 'static>(&self, list: List<T>) -> Stream<Vec<T>> {
        self.plain().values(list)
    }

    /// Returns `true` if a stream exists.
    fn has<T>(&self, stream: Stream<T>) -> bool {
        stream.living(&self.core).is_ok()
    }
}

/// The members of a list have its name, too. If the list is made with `retrying`, the members are tried again
/// after a panic.
impl Making<'_> {
    /// Makes a list of `streams` streams; see [`Here::list`].
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let cells = world.named("cell").list(3, |n| async move || 6 / n);
    /// let all = world.values(cells);
    /// world.frame();
    /// assert!(world.get(all).unwrap_err().to_string().contains("stream 'cell' made at"));
    /// ```
    #[track_caller]
    pub fn list<T, B>(self, streams: usize, make: impl FnMut(usize) -> B) -> List<T>
    where
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        // Streams that a passed function makes have another caller.
        let making = self.at(Location::caller());
        let streams = (0..streams).map(make).map(|body| making.again().stream(body)).collect();
        making.list_of(streams)
    }

    /// Makes a list of streams that exist already; see [`Here::list_of`].
    #[track_caller]
    pub fn list_of<T: Clone + 'static>(self, streams: Vec<Stream<T>>) -> List<T> {
        let members = Members::new(streams);
        List(self.stream(async move || members.clone()))
    }

    /// Makes a list with a stream for each member of another; see [`Here::map_list`].
    #[track_caller]
    pub fn map_list<T, U, B>(self, list: List<T>, mut make: impl FnMut(Stream<T>) -> B + 'static) -> List<U>
    where
        T: Clone + 'static,
        U: Clone + 'static,
        B: AsyncFnMut() -> U + 'static,
    {
        let making = self.at(Location::caller());
        let mut kept = Kept::new(making.how);
        let made = async move |out: &mut Out<'_, Members<U>>| {
            list.members().with(|members| kept.follow(members, of_bodies(&mut make), out)).await;
        };
        List(making.at_rest(made))
    }

    /// Makes a list with a stream for each key; see [`Here::keyed`].
    #[track_caller]
    pub fn keyed<K, T, B>(self, keys: Stream<Vec<K>>, mut make: impl FnMut(K) -> B + 'static) -> List<T>
    where
        K: Clone + Eq + Hash + 'static,
        T: Clone + 'static,
        B: AsyncFnMut() -> T + 'static,
    {
        let making = self.at(Location::caller());
        let mut kept = Kept::new(making.how);
        let made = async move |out: &mut Out<'_, Members<T>>| {
            keys.with(|keys| kept.follow(keys, of_bodies(&mut make), out)).await;
        };
        List(making.at_rest(made))
    }

    /// Makes a list with the stream that `make` returns for each key; see [`Here::keyed_of`]. The list has
    /// the name, and its members do not.
    #[track_caller]
    pub fn keyed_of<K, T>(
        self,
        keys: Stream<Vec<K>>,
        mut make: impl FnMut(K) -> Stream<T> + 'static,
    ) -> List<T>
    where
        K: Clone + Eq + Hash + 'static,
        T: Clone + 'static,
    {
        let making = self.at(Location::caller());
        let mut kept = Kept::new(making.how);
        let made = async move |out: &mut Out<'_, Members<T>>| {
            keys.with(|keys| kept.follow(keys, of_streams(&mut make), out)).await;
        };
        List(making.at_rest(made))
    }

    /// Makes a list of some of the members of another; see [`Here::filter`].
    #[track_caller]
    pub fn filter<T: Clone + 'static>(
        self,
        list: List<T>,
        mut f: impl FnMut(&T) -> bool + 'static,
    ) -> List<T> {
        let chosen = async move |out: &mut Out<'_, Members<T>>| {
            let members = list.members().await;
            out.update(|chosen| chosen.change().clear());
            for member in members.iter() {
                if member.with(&mut f).await {
                    out.update(|chosen| chosen.change().push(*member));
                }
            }
        };
        List(self.at_rest(chosen))
    }

    /// Makes a stream of the values of all members of a list; see [`Here::values`].
    #[track_caller]
    pub fn values<T: Clone + 'static>(self, list: List<T>) -> Stream<Vec<T>> {
        self.stream(async move || list.values().await)
    }

    /// Makes the stream of a list, of a body that lives over frames. The state that the body keeps beside its
    /// value follows from the values of other streams.
    #[track_caller]
    fn at_rest<T, B>(self, body: B) -> Stream<Members<T>>
    where
        T: Clone + 'static,
        B: AsyncFnMut(&mut Out<'_, Members<T>>) + 'static,
    {
        let none = Some(Members::new(Vec::new()));
        self.make(none, Kind::AtRest, |out| changing(out, body))
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("List").field(&self.0).finish()
    }
}

impl<T> Clone for Members<T> {
    fn clone(&self) -> Self {
        Members { streams: self.streams.clone(), roster: self.roster.clone() }
    }
}

impl<T> std::ops::Deref for Members<T> {
    type Target = [Stream<T>];

    fn deref(&self) -> &[Stream<T>] {
        &self.streams
    }
}

impl<T> fmt::Debug for Members<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Members").field(&self.streams).finish()
    }
}
