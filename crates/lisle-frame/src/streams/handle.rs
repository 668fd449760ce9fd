//! The handles of streams.

use super::reading::{Get, TryGet, With};
use crate::engine::slot::Head;
use crate::engine::waits::Living;
use crate::engine::{COSMETIC, Core};
use crate::error::{Failure, StreamError};
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{NonNull, null};

/// A handle of a stream: 16 bytes that can be copied and sent anywhere.
///
/// A handle does not keep its stream alive. Reading a removed stream is an error, even if another
/// stream has taken its place in memory. Only the world of the stream can read it.
///
/// In the body of a stream, a handle is awaited for the stream's value of this frame:
///
/// ```
/// use lisle_frame::World;
///
/// let mut world = World::new();
/// let one = world.stream(async || 1);
/// let two = world.stream(async move || one.await + 1);
/// world.frame();
/// assert_eq!(world.get(two)?, 2);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub struct Stream<T> {
    head: NonNull<Head>,
    generation: u32,
    /// The number of the world, with the bit [`COSMETIC`] if the stream is left out of snapshots.
    world: u32,
    value: PhantomData<fn() -> T>,
}

// SAFETY: a handle is a name; only the thread of its world follows the pointer, in that world.
unsafe impl<T> Send for Stream<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Stream<T> {}

// A handle is only the name of a stream, and can be sent. The world of the stream cannot.
impl<T> UnwindSafe for Stream<T> {}
impl<T> RefUnwindSafe for Stream<T> {}

impl<T> Stream<T> {
    pub(crate) fn new(core: &Core, stream: Living) -> Self {
        let cosmetic = if core.is_cosmetic(stream.head) { COSMETIC } else { 0 };
        let world = core.id | cosmetic;
        Stream { head: stream.head, generation: stream.generation, world, value: PhantomData }
    }

    /// Returns `true` if the stream is left out of snapshots. [`is_ready`](Stream::is_ready)
    /// returns `false` for such a stream, so that each read of one checks the reader.
    pub(crate) fn is_cosmetic(&self) -> bool {
        self.world & COSMETIC != 0
    }

    /// Returns `true` if the stream has its value for this frame.
    #[inline(always)]
    pub(crate) fn is_ready(&self, core: &Core) -> bool {
        if self.world != core.id {
            return false;
        }
        // SAFETY: slots live as long as their world, which is this one.
        let head = unsafe { self.head.as_ref() };
        head.generation.get() == self.generation && head.state.get() == core.ready.get()
    }

    /// Returns the slot, if the stream is there and belongs to this world.
    pub(crate) fn living(&self, core: &Core) -> Result<Living, StreamError> {
        if self.world & !COSMETIC != core.id {
            return Err(StreamError::new(Failure::OtherWorld));
        }
        let living = Living { head: self.head, generation: self.generation };
        match living.get() {
            Some(_) => Ok(living),
            None => Err(core.removed(living)),
        }
    }

    #[inline(always)]
    pub(crate) fn head(&self) -> NonNull<Head> {
        self.head
    }

    /// Returns a future of the stream's value in this frame. Awaiting the handle does the same.
    ///
    /// If the stream has not run in this frame, it runs now. If it fails, the reader fails too:
    /// the reader's body does not go on. In the next frame this body is run again, or goes on
    /// reading.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled outside of a frame.
    #[inline]
    pub fn get(self) -> Get<T> {
        Get::new(self)
    }

    /// Returns a future of the stream's value in this frame, or of the reason why there is none.
    #[inline]
    pub fn try_get(self) -> TryGet<T> {
        TryGet::new(self)
    }

    /// Returns a future that calls `f` with the stream's value in this frame, which is not cloned.
    /// The errors are the same as for [`get`](Stream::get).
    ///
    /// # Panics
    ///
    /// The future panics if it is polled outside of a frame, and if `f` panics.
    #[inline]
    pub fn with<R, F: FnOnce(&T) -> R>(self, f: F) -> With<T, F> {
        With::new(self, f)
    }
}

impl<T: Clone> IntoFuture for Stream<T> {
    type Output = T;
    type IntoFuture = Get<T>;

    #[inline]
    fn into_future(self) -> Get<T> {
        self.get()
    }
}

impl<T> Clone for Stream<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stream<T> {}

impl<T> PartialEq for Stream<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.head, self.generation, self.world) == (other.head, other.generation, other.world)
    }
}

impl<T> Eq for Stream<T> {}

thread_local! {
    /// The world whose fingerprint is being taken, or null.
    static TAKING_FINGERPRINT: Cell<*const Core> = const { Cell::new(null()) };
}

/// Calls a function that hashes values for a fingerprint. Meanwhile handles are hashed by the
/// positions of their streams in the world, and not by addresses, which differ between equal
/// worlds.
pub(crate) fn for_a_fingerprint<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    struct Back(*const Core);
    impl Drop for Back {
        fn drop(&mut self) {
            TAKING_FINGERPRINT.set(self.0);
        }
    }
    let _back = Back(TAKING_FINGERPRINT.replace(core));
    f()
}

impl<T> Hash for Stream<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // SAFETY: null, or borrowed by `for_a_fingerprint`, which resets it.
        match unsafe { TAKING_FINGERPRINT.get().as_ref() } {
            None => (self.head, self.generation, self.world).hash(state),
            // The stream of another world may be gone.
            Some(core) => {
                let place = (self.world & !COSMETIC == core.id).then(|| core.place(self.head));
                (place, self.generation).hash(state);
            }
        }
    }
}

impl<T> fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("world", &self.world).field("slot", &self.head).finish_non_exhaustive()
    }
}
