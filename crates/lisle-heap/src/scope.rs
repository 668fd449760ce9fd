//! The right to use a heap.

use crate::collect::Kind;
use crate::full::{Full, unless_full};
use crate::inner::{Inner, check_depth};
use crate::local::{Local, Regs, Root};
use crate::object::{Colour, Desc, Header, Object, WORD, set_header, words_of};
use crate::place::Place;
use crate::raw::Raw;
use crate::roots::Mark;
use crate::session::Session;
use crate::space::{LARGEST_CELL, Logged};
use crate::stats::Stats;
use crate::table::Table;
use crate::verify::Fault;
use crate::word::{Source, Word};
use lisle_core::Event;
use lisle_core::event::step::Forbidden;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// The right to use a heap, here and now.
///
/// A function that takes `&mut Scope` may collect: objects may move, so no [`Ref`](crate::Ref) outlives the
/// call. A function that takes `&Scope` does not collect. The compiler checks that.
///
/// **Handles ([`Local`], [`Root`], [`Regs`]) live as long as the scope they were made in.** Each takes a word, which no limit counts. So a loop
/// that makes handles, such as that of an interpreter, opens a scope in each round with [`scope`](Self::scope), or they add up for as
/// long as it runs. Reading and writing a `Root` or `Regs` makes none. If a session has more than a million handles when the heap
/// collects, a report on standard error names it, once for each heap.
pub struct Scope<'s> {
    session: *const Session,
    place: *const Place,
    // Invariant, so that scopes cannot be exchanged.
    _scope: PhantomData<*mut &'s ()>,
}

/// Ends a scope.
struct End<'a> {
    session: &'a Session,
    mark: Mark,
    depth: usize,
}

impl Drop for End<'_> {
    #[inline]
    fn drop(&mut self) {
        check_depth(self.session, self.depth);
        self.session.depth.set(self.depth - 1);
        self.session.roots.reset(self.mark);
    }
}

impl<'s> Scope<'s> {
    /// Enters the heap, for the call at `site`, and calls `f` with a scope of the session.
    #[track_caller]
    pub(crate) fn enter<R>(
        heap: &Inner,
        site: &'static Location<'static>,
        f: impl FnOnce(&mut Scope<'_>) -> R,
    ) -> R {
        let by = "a session of a heap, where `Scope::wait` is for waits, entered at";
        heap.enter(Forbidden { by, site }, |session, place| Self::begin(session, place, f))
    }

    /// Calls `f` with a scope of the session.
    #[inline]
    fn begin<R>(session: &Session, place: &Place, f: impl FnOnce(&mut Scope<'_>) -> R) -> R {
        let depth = session.depth.get() + 1;
        session.depth.set(depth);
        let _end = End { session, mark: session.roots.mark(), depth };
        f(&mut Scope { session, place, _scope: PhantomData })
    }

    #[inline]
    fn session(&self) -> &Session {
        // SAFETY: the session is open while there is a scope of it.
        unsafe { &*self.session }
    }

    #[inline]
    pub(crate) fn place(&self) -> &Place {
        // SAFETY: the heap stays while a session is open in it.
        unsafe { &*self.place }
    }

    #[inline]
    pub(crate) fn inner(&self) -> &Inner {
        // SAFETY: as above.
        unsafe { &*self.session().heap.get() }
    }

    /// Returns the heap, which stays while the session is open, and so as long as this scope.
    #[cfg(feature = "par")]
    pub(crate) fn heap(&self) -> &'s Inner {
        // SAFETY: as above.
        unsafe { &*self.session().heap.get() }
    }

    /// Returns the table of the heap's global handles.
    #[inline]
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.inner().globals
    }

    #[inline]
    pub(crate) fn push<W: Word>(&self, raw: Raw) -> Local<'s, W> {
        Local::new(self.session().roots.push(raw))
    }

    /// Allocates an object. May collect.
    ///
    /// Complexity: some ten instructions, and a collection each time the nursery is full.
    ///
    /// # Panics
    ///
    /// If the heap is [full](Full).
    #[inline]
    #[track_caller]
    pub fn alloc<T: Object>(&mut self, init: T::Init<'_>) -> Local<'s, T> {
        unless_full(self.try_alloc(init))
    }

    /// Allocates an object. May collect.
    ///
    /// # Errors
    ///
    /// If the heap is full, also after it has collected. The values of plain fields are dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::{Full, Gc, Heap, Object, Scope};
    ///
    /// #[derive(Object)]
    /// struct Chain {
    ///     rest: Gc<Option<Chain>>,
    /// }
    ///
    /// fn grow(s: &mut Scope<'_>) -> Result<(), Full> {
    ///     let mut chain = s.root::<Option<Chain>>(None);
    ///     loop {
    ///         s.scope(|s| {
    ///             let longer = s.try_alloc::<Chain>(Chain::init(&chain))?;
    ///             chain.set(s, longer);
    ///             Ok(())
    ///         })?;
    ///     }
    /// }
    ///
    /// let heap = Heap::builder().nursery(1 << 16).limit(1 << 20).build();
    /// let full = heap.enter(|s| s.scope(grow)).unwrap_err();
    /// assert!(full.live > 1 << 19 && full.limit == Some(1 << 20));
    /// // The scope has ended, so the chain is garbage.
    /// heap.enter(|s| s.alloc::<Chain>(Chain::init(None)).get(s).rest().is_none());
    /// ```
    #[inline]
    pub fn try_alloc<T: Object>(&mut self, init: T::Init<'_>) -> Result<Local<'s, T>, Full> {
        let is_noted = const {
            words_of::<T>() < LARGEST_CELL && (std::mem::needs_drop::<T>() || T::DESC.external.is_some())
        };
        if is_noted && !self.place().young.reserve_droppable() {
            return Err(self.inner().full(words_of::<T>() * WORD, 0));
        }
        let payload = self.room(const { 1 + words_of::<T>() }, <T as Object>::DESC)?;
        // SAFETY: there is room for a `T` at the payload.
        unsafe { T::write(payload.cast(), init) };
        if const { 1 + words_of::<T>() > LARGEST_CELL } {
            self.log_large(payload);
        } else if is_noted {
            self.place().young.note_droppable(payload);
        }
        if const { T::DESC.external.is_some() } {
            // SAFETY: the object has just been made.
            unsafe { self.inner().note_external(self.place(), payload) };
        }
        Ok(self.push(payload))
    }

    /// Makes room for an object of `words` words, the header included, and writes the header.
    #[inline]
    pub(crate) fn room(&mut self, words: usize, desc: &'static Desc) -> Result<Raw, Full> {
        if words > LARGEST_CELL {
            return self.large_room(words, desc);
        }
        let payload = match self.place().young.take(words) {
            Some(payload) => payload,
            None => self.room_at_safe_point(words)?,
        };
        // SAFETY: the payload has just been taken.
        unsafe { set_header(payload, Header::new(desc, Colour::YOUNG)) };
        Ok(payload)
    }

    #[cold]
    #[inline(never)]
    fn room_at_safe_point(&mut self, words: usize) -> Result<Raw, Full> {
        // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
        unsafe { self.inner().room(self.place(), words) }
    }

    #[cold]
    #[inline(never)]
    fn large_room(&mut self, words: usize, desc: &'static Desc) -> Result<Raw, Full> {
        // SAFETY: as above.
        unsafe { self.inner().large_room(self.place(), words, desc) }
    }

    /// Notes that a large object, which is born old, was initialized with words that may be young.
    #[cold]
    pub(crate) fn log_large(&self, payload: Raw) {
        self.place().young.log(Logged::Object(NonNull::new(payload).expect("a payload is not at address 0")));
    }

    /// Makes a handle, which lasts to the end of this scope, and takes a word until then.
    #[inline]
    pub fn local<'a, W: Word>(&'a self, value: impl Source<'a, W>) -> Local<'s, W> {
        self.push(value.raw(self.table()))
    }

    /// Makes a variable, which lasts to the end of this scope.
    #[inline]
    pub fn root<'a, W: Word>(&'a self, value: impl Source<'a, W>) -> Root<'s, W> {
        Root::new(self.local(value))
    }

    /// Makes `len` variables, each with the value `fill`, which last to the end of this scope.
    pub fn regs<'a, W: Word>(&'a self, len: usize, fill: impl Source<'a, W>) -> Regs<'s, W> {
        Regs::new(self.session().roots.push_many(len, fill.raw(self.table())), len)
    }

    /// Calls `f` with an inner scope. The handles that are made in it end with it.
    #[inline]
    pub fn scope<R>(&mut self, f: impl FnOnce(&mut Scope<'_>) -> R) -> R {
        Self::begin(self.session(), self.place(), f)
    }

    /// Calls `f` with an inner scope, and makes a handle of this scope of its result.
    #[inline]
    pub fn escape<W: Word>(
        &mut self,
        f: impl for<'i> FnOnce(&mut Scope<'i>) -> Local<'i, W>,
    ) -> Local<'s, W> {
        let raw = self.scope(|s| f(s).load());
        self.push(raw)
    }

    /// Does the same with a result that may be an error.
    ///
    /// # Errors
    ///
    /// The error of `f`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::{Full, Gc, Heap, Local, Object, Scope};
    ///
    /// #[derive(Object)]
    /// struct Pair {
    ///     first: Gc<Option<Pair>>,
    ///     second: Gc<Option<Pair>>,
    /// }
    ///
    /// fn nest<'s>(s: &mut Scope<'s>, depth: u32) -> Result<Local<'s, Pair>, Full> {
    ///     s.try_escape(|s| {
    ///         if depth == 0 {
    ///             return s.try_alloc::<Pair>(Pair::init(None, None));
    ///         }
    ///         // As long as this scope lasts, its text stays.
    ///         s.try_bytes(&[b'x'; 1_000])?;
    ///         let inner = nest(s, depth - 1)?;
    ///         s.try_alloc::<Pair>(Pair::init(inner, inner))
    ///     })
    /// }
    ///
    /// let heap = Heap::builder().nursery(1 << 16).limit(1 << 20).build();
    /// heap.enter(|s| {
    ///     assert!(nest(s, 100).is_ok());
    ///     assert!(nest(s, 2_000).is_err());
    /// });
    /// ```
    #[inline]
    pub fn try_escape<W: Word, E>(
        &mut self,
        f: impl for<'i> FnOnce(&mut Scope<'i>) -> Result<Local<'i, W>, E>,
    ) -> Result<Local<'s, W>, E> {
        let raw = self.scope(|s| f(s).map(Local::load))?;
        Ok(self.push(raw))
    }

    /// Leaves the heap while `f` runs, which is for code that waits, blocks or takes long: a collection of another thread
    /// does not wait for it. So objects may move, as in a call that may collect.
    ///
    /// A call of [`Heap::enter`](crate::Heap::enter) in `f` continues this session.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_core::channel;
    /// use lisle_heap::{Bytes, Global, Heap};
    /// use std::thread;
    ///
    /// let heap = Heap::new();
    /// let (tx, rx) = channel::<Global<Bytes>>();
    /// let other = heap.clone();
    /// let receiver = thread::spawn(move || {
    ///     other.enter(|s| {
    ///         let text = s.outside(|| rx.recv()).unwrap();
    ///         s.take(text).get(s).len()
    ///     })
    /// });
    /// heap.enter(|s| {
    ///     let text = s.bytes(b"over a channel, without a copy");
    ///     let text = s.global::<Bytes>(text);
    ///     s.outside(|| tx.send(text)).unwrap();
    /// });
    /// assert_eq!(receiver.join().unwrap(), 30);
    /// ```
    ///
    /// The process ends if `f` returns while a scope that began in it has not ended, which takes a
    /// coroutine.
    pub fn outside<R>(&mut self, f: impl FnOnce() -> R) -> R {
        self.inner().outside(self.session(), self.place(), f)
    }

    /// Waits for an event, outside: others collect meanwhile. So objects may move, as in a call that may collect.
    ///
    /// # Cancel safety
    ///
    /// As [`Event::sync`](lisle_core::Event::sync). A fiber that is unwound here, by a deadline or since its runtime ends, leaves the
    /// heap, and the objects that only its session has kept alive die in the next cycle.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_core::{Event, channel::unbounded, choose, time::after};
    /// use lisle_heap::{Bytes, Global, Heap};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = unbounded::<Global<Bytes>>();
    /// Heap::new().enter(|s| {
    ///     let text = s.bytes(b"to myself");
    ///     tx.send(s.global::<Bytes>(text)).unwrap();
    ///     let in_time = choose((rx.recv_evt().wrap(Result::ok), after(Duration::from_secs(60)).wrap(|()| None)));
    ///     let text = s.wait(&in_time).unwrap();
    ///     assert_eq!(s.take(text).get(s).as_slice(), b"to myself");
    /// });
    /// ```
    pub fn wait<E: Event>(&mut self, event: &E) -> E::Output {
        self.outside(|| event.sync())
    }

    /// Lets other threads collect if one of them wants to. For loops that run long and allocate nothing: they would make all other
    /// threads wait that need a collection. Takes a load and a branch.
    #[inline]
    pub fn poll(&mut self) {
        if self.place().young.is_closed() {
            // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
            unsafe { self.inner().poll(self.place()) };
        }
    }

    /// Collects.
    pub fn collect(&mut self, kind: Kind) {
        // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
        unsafe { self.inner().collect(self.place(), kind) };
    }

    /// Goes on with a cycle of the old space for about so long: marks and sweeps, so that later allocations have less of that
    /// to do. Returns `true` if more is left. For programs with frames, which have time at the end of one.
    ///
    /// Does nothing if no cycle is due. See [`Heap::step`](crate::Heap::step).
    pub fn step(&mut self, time: Duration) -> bool {
        // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
        unsafe { self.inner().step(self.place(), time) }
    }

    /// Returns what the heap has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner().stats()
    }

    /// Collects, and writes a snapshot of all objects that are left. See [`Heap::dump`](crate::Heap::dump).
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn dump(&mut self, to: impl io::Write) -> io::Result<()> {
        // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
        let snapshot = unsafe { self.inner().snapshot(self.place()) };
        self.outside(|| snapshot.write(to))
    }

    /// Checks that the heap is in order. See [`Heap::verify`](crate::Heap::verify).
    ///
    /// # Errors
    ///
    /// Returns the first fault.
    pub fn verify(&mut self) -> Result<(), Fault> {
        // SAFETY: this thread is inside, and the borrow of the scope ends all references to objects.
        unsafe { self.inner().verify(self.place()) }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("heap", &self.table().heap())
            .field("depth", &self.session().depth.get())
            .finish()
    }
}
