//! Frames to which the host program lends data.

use super::World;
use crate::calls::lent::Lent;
use crate::report::Report;
use std::fmt;
use std::marker::PhantomData;

impl World {
    /// Lends data to the next frame, which the returned guard begins. Calls and bodies of that frame read the
    /// data through its [name](Lent). The loan ends with the frame: the frame waits for all calls that may
    /// read the data, also for calls whose results no stream wants any more.
    ///
    /// With a Lisle runtime (feature `runtime`), a call of that frame that waits for an event panics, even if
    /// it does not read the loan. Calls over frames, and calls with a deadline, may wait.
    ///
    /// # Panics
    ///
    /// Panics if something is lent under this name already.
    ///
    /// # Examples
    ///
    /// Several loans, one of which is a slice:
    ///
    /// ```
    /// use lisle_frame::{Lent, World};
    ///
    /// let mut world = World::new();
    /// let (heights, level) = (Lent::<[i32]>::new("heights"), Lent::<i32>::new("level"));
    /// let above = world.stream(async move || {
    ///     let level = level.with(|level| *level);
    ///     heights.with(|heights| heights.iter().filter(|height| **height > level).count())
    /// });
    /// let report = world.lend(heights, &[1, 5, 9]).lend(level, &4).frame();
    /// assert_eq!(report.frame, 1);
    /// assert_eq!(world.get(above)?, 2);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    ///
    /// Data that is lent cannot be changed before the frame is over:
    ///
    /// ```compile_fail,E0506
    /// # use lisle_frame::{Lent, World};
    /// # let mut world = World::new();
    /// let level = Lent::<i32>::new("level");
    /// let mut ours = 1;
    /// let lending = world.lend(level, &ours);
    /// ours = 2;
    /// lending.frame();
    /// ```
    ///
    /// The data must be of a type that several threads may read at a time (`Sync`):
    ///
    /// ```compile_fail,E0277
    /// # use lisle_frame::Lent;
    /// let count = Lent::<std::cell::Cell<i32>>::new("count");
    /// ```
    pub fn lend<'a, T: ?Sized + Sync + 'static>(&'a mut self, lent: Lent<T>, data: &'a T) -> Lending<'a> {
        // A guard of an earlier loan may have been forgotten.
        self.take_loans_back();
        Lending { world: self, data: PhantomData }.lend(lent, data)
    }

    /// Takes all loans back.
    pub(crate) fn take_loans_back(&mut self) {
        // SAFETY: no frame is under way, because it would borrow the world; and a frame leaves no batch that
        // refers to the list.
        unsafe { self.core.foreigns().loans().clear() };
    }
}

/// The loans of the next frame; see [`World::lend`].
#[must_use = "no frame runs until `frame` is called"]
pub struct Lending<'a> {
    world: &'a mut World,
    data: PhantomData<&'a ()>,
}

impl<'a> Lending<'a> {
    /// Lends more data to the same frame.
    ///
    /// # Panics
    ///
    /// Panics if something is lent under this name already.
    pub fn lend<T: ?Sized + Sync + 'static>(self, lent: Lent<T>, data: &'a T) -> Self {
        // SAFETY: no frame is under way. This guard borrows the data, and clears the list when it is dropped.
        // If the guard is forgotten, the world clears the list before it next runs code of the user: in
        // `frame`, `resimulate`, `lend` and its own destructor.
        unsafe { lent.lend_in(self.world.core.foreigns().loans(), data) };
        self
    }

    /// Evaluates every stream once, like [`World::frame`].
    ///
    /// # Panics
    ///
    /// Panics as [`World::frame`] does.
    pub fn frame(self) -> Report {
        self.world.evaluate(false)
    }

    /// Evaluates a frame again, like [`World::resimulate`].
    ///
    /// # Panics
    ///
    /// Panics as [`World::frame`] does.
    pub fn resimulate(self) -> Report {
        self.world.evaluate(true)
    }
}

impl Drop for Lending<'_> {
    fn drop(&mut self) {
        self.world.take_loans_back();
    }
}

impl fmt::Debug for Lending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lending").field("world", &self.world).finish()
    }
}
