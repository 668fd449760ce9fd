//! A heap, and how a thread enters it.

use crate::collect::Kind;
use crate::forks;
use crate::inner::{Inner, Parts};
use crate::scope::Scope;
use crate::space::{BLOCK, Nursery, Old, blocks_for};
use crate::stats::Stats;
use crate::verify::Fault;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// A garbage-collected heap.
///
/// A fiber or a thread uses the heap within [`enter`](Self::enter), which lends it a [`Scope`]. Many threads
/// may be inside at once. A collection stops them, each at its next allocation, [`Scope::poll`] or
/// [`Scope::outside`], and never waits for a thread that is not inside. Clones are handles to the same heap. When the last handle is dropped, the destructors of all plain fields run.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Gc, Heap, Object};
///
/// #[derive(Object)]
/// struct List {
///     head: i64,
///     tail: Gc<Option<List>>,
/// }
///
/// let heap = Heap::new();
/// let sum = heap.enter(|s| {
///     let mut list = s.root::<Option<List>>(None);
///     for i in 0..100_000 {
///         s.scope(|s| {
///             let longer = s.alloc::<List>(List::init(i, &list));
///             list.set(s, longer);
///         });
///     }
///     let mut sum = 0;
///     let mut rest = list.get(s);
///     while let Some(list) = rest {
///         sum += list.head;
///         rest = list.tail();
///     }
///     sum
/// });
/// assert_eq!(sum, 4_999_950_000);
/// ```
#[derive(Clone)]
pub struct Heap(pub(crate) Arc<Inner>);

/// Sets up a [`Heap`].
///
/// # Examples
///
/// ```
/// use lisle_heap::Heap;
///
/// let heap = Heap::builder().name("scripts").limit(64 << 20).build();
/// assert!(heap.stats().reserved_bytes < 64 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    ratio: f64,
    limit: usize,
    nursery: usize,
    stress: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self { name: "heap".into(), ratio: 1.8, limit: usize::MAX, nursery: 4 << 20, stress: false }
    }
}

impl Builder {
    /// Sets the name that errors and reports use. The default is `heap`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets how far the old space should grow until the next mark is complete: to `ratio` times the size that the last cycle has
    /// left. The default is 1.8. A larger ratio takes more memory and less time.
    ///
    /// # Panics
    ///
    /// If the ratio is not a number above 1.
    #[must_use]
    #[track_caller]
    pub fn ratio(mut self, ratio: f64) -> Self {
        assert!(ratio > 1.0 && ratio.is_finite(), "the ratio of a heap must be above 1, and is {ratio}");
        self.ratio = ratio;
        self
    }

    /// Sets the limit for the heap's objects, in bytes, the nursery included. An allocation that does not
    /// fit after a collection returns [`Full`](crate::Full), or panics with its text. The default is no limit.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the size of the nursery in bytes. Objects are born there; when it is full, those that are alive
    /// move out. The default is 4 MiB. It is rounded up to 64 KiB.
    #[must_use]
    pub fn nursery(mut self, bytes: usize) -> Self {
        self.nursery = bytes;
        self
    }

    /// Collects at each allocation, and moves all young objects. For tests of code that uses a heap through
    /// `unsafe`: a pointer that is kept for too long is wrong at once.
    #[must_use]
    pub fn stress(mut self, stress: bool) -> Self {
        self.stress = stress;
        self
    }

    /// Creates the heap.
    ///
    /// # Panics
    ///
    /// As [`try_build`](Self::try_build) fails.
    #[must_use]
    #[track_caller]
    pub fn build(self) -> Heap {
        match self.try_build() {
            Ok(heap) => heap,
            Err(error) => panic!("cannot make a heap: {error}"),
        }
    }

    /// Creates the heap.
    ///
    /// # Errors
    ///
    /// If the limit is not at least twice the nursery, or if the system has no memory for the nursery.
    pub fn try_build(self) -> io::Result<Heap> {
        let Self { name, ratio, limit, nursery, stress } = self;
        let nursery = nursery.max(1).checked_next_multiple_of(BLOCK).unwrap_or(usize::MAX);
        if limit / 2 < nursery {
            let why = format!(
                "a limit of {limit} bytes has no room for a nursery of {nursery} bytes and as many that survive. \
                 Raise `Builder::limit`, or lower `Builder::nursery`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let threshold = nursery.saturating_mul(4);
        let (nursery, mut old) = (Nursery::new(nursery)?, Old::new(threshold));
        if !old.reserve(blocks_for(nursery.size(), 1)) {
            return Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "the system has no memory for a heap's first blocks",
            ));
        }
        nursery.open();
        let inner = Arc::new(Inner::new(Parts { name, ratio, limit, stress, nursery, old }));
        forks::watch(&inner);
        Ok(Heap(inner))
    }
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}

impl Heap {
    /// Creates a heap with the defaults of [`Builder`].
    ///
    /// # Panics
    ///
    /// If the system has no memory for it.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns what sets up a heap.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Calls `f` with the right to use the heap.
    ///
    /// Blocks this thread while another one collects. Within [`Scope::outside`] of the same heap, the call continues
    /// the session that is open. Complexity: some 20 ns.
    ///
    /// A thread that collects waits until the others that are inside come to a safe point. If one of them does not for a
    /// second, it names that thread and its call of `enter` on standard error.
    ///
    /// Inside, nothing may wait for an event of Lisle: the operation panics, and nothing is lost.
    /// [`Scope::outside`] is for that.
    ///
    /// # Panics
    ///
    /// If the fiber or thread is inside this heap already: code in there gets the scope passed. If it has a
    /// session in another heap open, or the thread has that runs a runtime in `outside`. A panic of `f` goes
    /// on after the session has ended.
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce(&mut Scope<'_>) -> R) -> R {
        Scope::enter(&self.0, Location::caller(), f)
    }

    /// Collects: finds out which objects cannot be reached any more, runs their destructors and frees their
    /// memory. [`Scope::collect`] does so from inside.
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    #[track_caller]
    pub fn collect(&self, kind: Kind) {
        self.enter(|s| s.collect(kind));
    }

    /// Goes on with a cycle of the old space for about so long, and returns `true` if more is left to do. A step may
    /// take some 0.2 ms longer than asked for, and as long as a minor collection where a phase of the cycle begins or ends.
    ///
    /// Without steps the threads that allocate do this work in slices of at most some 0.2 ms.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::Heap;
    /// use std::time::Duration;
    ///
    /// let heap = Heap::new();
    /// for _frame in 0..3 {
    ///     // The frame's work, and then what time there is:
    ///     heap.step(Duration::from_millis(2));
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    #[track_caller]
    pub fn step(&self, time: Duration) -> bool {
        self.enter(|s| s.step(time))
    }

    /// Returns what the heap has done so far.
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    #[must_use]
    #[track_caller]
    pub fn stats(&self) -> Stats {
        self.enter(|s| s.stats())
    }

    /// Checks that the heap is in order: each word points to an object, each reference from an old object to
    /// a young one is logged, each free cell is free. For tests of programs that use a heap through
    /// `unsafe`, and of the heap itself. Complexity: the size of the heap.
    ///
    /// # Errors
    ///
    /// Returns the first fault.
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    #[track_caller]
    pub fn verify(&self) -> Result<(), Fault> {
        self.enter(|s| s.verify())
    }

    /// Collects, and writes a snapshot of all objects that are left: their types, their sizes, and the references
    /// between them. For the question why a program takes so much memory.
    ///
    /// The snapshot is a JSON document in the format of V8, so the developer tools of Chromium show a file with the ending
    /// `.heapsnapshot` (tab *Memory*, *Load profile*). Sessions and global handles are the roots. A size has the object's header, and the
    /// bytes that it owns elsewhere as far as its type says so.
    ///
    /// All threads are stopped while the snapshot is taken, which takes some 50 bytes for each object and 24 for each reference,
    /// and go on while it is written.
    ///
    /// # Errors
    ///
    /// If writing fails.
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::Heap;
    ///
    /// let heap = Heap::new();
    /// let text = heap.enter(|s| {
    ///     let text = s.bytes(b"what keeps me alive?");
    ///     s.global::<lisle_heap::Bytes>(text)
    /// });
    /// let mut snapshot = Vec::new();
    /// heap.dump(&mut snapshot)?;
    /// let snapshot = String::from_utf8(snapshot).unwrap();
    /// assert!(snapshot.contains("\"what keeps me alive?\"") && snapshot.contains("\"(global handles)\""));
    /// # drop(text);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn dump(&self, to: impl io::Write) -> io::Result<()> {
        self.enter(|s| s.dump(to))
    }

    /// Returns the name of the heap.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap").field("name", &self.name()).finish_non_exhaustive()
    }
}
