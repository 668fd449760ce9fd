//! The names of data that the host program lends to the calls and bodies of a frame.

use crate::batch::loans::{self, Loans};
use crate::engine;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of data that the host program lends to a frame with
/// [`World::lend`](crate::World::lend), such as a map, a grid, or all positions. Foreign functions and bodies read the data through its name, without a copy and without a
/// reference count. A name is made once, and copied into functions and bodies, like a
/// [`Foreign`](crate::Foreign) function.
///
/// ```
/// use lisle_frame::{Foreign, Lent, World};
///
/// struct Grid { cells: Vec<u32> }
///
/// let mut world = World::new(); // with a pool, the calls run on other cores
/// let grid = Lent::<Grid>::new("grid");
/// let around = Foreign::new("around", move |at: usize| grid.with(|grid| grid.cells[at]));
/// let sum = world.stream(async move || around.call_each(0..3).await.into_iter().sum::<u32>());
///
/// let mut ours = Grid { cells: vec![1, 2, 3] };
/// world.lend(grid, &ours).frame();
/// assert_eq!(world.get(sum)?, 6);
///
/// ours.cells[0] = 10; // it is ours again
/// world.lend(grid, &ours).frame();
/// assert_eq!(world.get(sum)?, 15);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub struct Lent<T: ?Sized> {
    id: u32,
    name: &'static str,
    /// The type is the same for the host, which lends, and the code that reads.
    of: PhantomData<fn(&T) -> &T>,
}

impl<T: ?Sized + Sync + 'static> Lent<T> {
    /// Makes a name. The text is for messages.
    ///
    /// # Panics
    ///
    /// Panics if the program has made four billion names.
    pub fn new(name: &'static str) -> Self {
        static IDS: AtomicU32 = AtomicU32::new(0);
        // A number is never used again: another type might be read under it.
        let id = IDS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1));
        Lent {
            id: id.expect("too many `Lent` names were made: make each of them once"),
            name,
            of: PhantomData,
        }
    }

    /// Calls `f` with the data that is lent to the frame under way. This takes time in proportion to the
    /// number of loans.
    ///
    /// `f` must not be suspended. With a Lisle runtime (feature `runtime`) it panics if it waits, and if it
    /// performs an effect or gives an item whose handler or consumer is outside of `f`. Without the feature
    /// the process ends if the call or the body ends while `f` is suspended.
    ///
    /// # Panics
    ///
    /// Panics if no data is lent here under this name. This is so outside of frames, in a frame that has no
    /// such loan, and in a call that may last longer than the frame: a call [over
    /// frames](crate::Foreign::call_over_frames), or of a function with a
    /// [deadline](crate::Foreign::deadline). Other threads that a call uses have no loans either: call them
    /// within `f`. The panic fails the call or the body.
    ///
    /// A frame of another world within a call finds the loans of the call, too.
    #[track_caller]
    pub fn with<R>(self, f: impl FnOnce(&T) -> R) -> R {
        match self.find() {
            // SAFETY: it stays until this has returned, see `reading`.
            Some(data) => loans::reading(|| f(unsafe { &*data })),
            None => missing(self.name),
        }
    }

    /// Does the same as [`with`](Lent::with), but returns `None` if no data is lent here under this name.
    pub fn try_with<R>(self, f: impl FnOnce(&T) -> R) -> Option<R> {
        // SAFETY: it stays until this has returned, see `reading`.
        self.find().map(|data| loans::reading(|| f(unsafe { &*data })))
    }

    /// Returns the data that is lent to the code that runs here. A frame takes its loans back when its
    /// bodies have run and its calls have ended.
    fn find(self) -> Option<*const T> {
        let of_frame = engine::current().and_then(|core| self.find_in(core.foreigns().loans()));
        of_frame.or_else(|| self.find_in(loans::of_call()?))
    }

    pub(crate) fn find_in(self, loans: &Loans) -> Option<*const T> {
        // SAFETY: each number is made for one type.
        unsafe { loans.find(self.id) }
    }

    /// Lends data under this name.
    ///
    /// # Panics
    ///
    /// Panics if data is lent under this name already.
    ///
    /// # Safety
    ///
    /// As for [`Loans::lend`].
    pub(crate) unsafe fn lend_in(self, loans: &Loans, data: *const T) {
        assert!(self.find_in(loans).is_none(), "'{}' is lent to this frame already", self.name);
        // SAFETY: passed on to the caller.
        unsafe { loans.lend(self.id, data) };
    }
}

#[cold]
#[track_caller]
fn missing(name: &str) -> ! {
    panic!(
        "'{name}' is not lent here: lend it to the frame with `world.lend`, and read it in bodies, and in calls that \
         end with the frame (calls over frames and calls with a deadline may last longer)"
    )
}

impl<T: ?Sized> Clone for Lent<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Lent<T> {}

impl<T: ?Sized> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lent").field(&self.name).finish()
    }
}
