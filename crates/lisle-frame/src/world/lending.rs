//! Frames to which the host program lends something.

use super::World;
use crate::calls::lent::Lent;
use crate::report::Report;
use std::fmt;
use std::marker::PhantomData;

impl World {
    /// Lends something to the next frame, which the returned guard begins. Calls and bodies of that
    /// frame read it through its [name](Lent). It is the host's again when the frame is over: the frame
    /// waits for all calls that may read it, also for those whose results nobody wants any more.
    ///
    /// With a Lisle runtime (feature `runtime`), the calls of that frame may not wait for events, whether or not
    /// they read what is lent: that is a panic of the call. Calls over frames, and those with a deadline, may.
    ///
    /// # Panics
    ///
    /// Panics if something is lent under this name already.
    ///
    /// # Examples
    ///
    /// Several things, one of which is a slice:
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
    /// What is lent cannot be changed before the frame is over:
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
    /// Nor can it be of a type that several threads may not read at a time:
    ///
    /// ```compile_fail,E0277
    /// # use lisle_frame::Lent;
    /// let count = Lent::<std::cell::Cell<i32>>::new("count");
    /// ```
    pub fn lend<'a, T: ?Sized + Sync + 'static>(&'a mut self, lent: Lent<T>, data: &'a T) -> Lending<'a> {
        // What was lent before may have been forgotten.
        self.take_loans_back();
        Lending { world: self, data: PhantomData }.lend(lent, data)
    }

    /// Forgets what was lent.
    pub(crate) fn take_loans_back(&mut self) {
        // SAFETY: no frame is under way, since it would have the world; and a frame leaves no batch that
        // refers to the list.
        unsafe { self.core.foreigns().loans().clear() };
    }
}

/// A frame to come, to which something is lent; see [`World::lend`].
#[must_use = "no frame runs until `frame` is called"]
pub struct Lending<'a> {
    world: &'a mut World,
    data: PhantomData<&'a ()>,
}

impl<'a> Lending<'a> {
    /// Lends something more to the same frame.
    ///
    /// # Panics
    ///
    /// Panics if something is lent under this name already.
    pub fn lend<T: ?Sized + Sync + 'static>(self, lent: Lent<T>, data: &'a T) -> Self {
        // SAFETY: no frame is under way. This guard borrows the data, and clears the list when it goes. If it
        // is forgotten, the world clears it before it next runs any code of the user's: in `frame`,
        // `resimulate`, `lend` and its own destructor.
        unsafe { lent.lend_in(self.world.core.foreigns().loans(), data) };
        self
    }

    /// Evaluates every stream once, like [`World::frame`].
    ///
    /// # Panics
    ///
    /// As [`World::frame`].
    pub fn frame(self) -> Report {
        self.world.evaluate(false)
    }

    /// Evaluates a frame again, like [`World::resimulate`].
    ///
    /// # Panics
    ///
    /// As [`World::frame`].
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
