//! Waiting for a number of things to be done, which are either counted down or entered and left.

use crate::event::waiting::turn;
use crate::event::{Event, Label, Source, awaitable, debug_by_name, waits_at};
use crate::shim::sync::Arc;
use std::fmt;
use std::pin::Pin;

/// A latch that counts down to zero and is open from then on. Waiting for it is an event.
///
/// Everything before a count happens before the return of every wait.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::Latch;
///
/// let ready = Latch::new(3);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| ready.count_down());
///     }
///     ready.wait();
/// });
/// assert!(ready.is_open());
/// ```
pub struct Latch {
    left: Source<usize, ()>,
}

impl Latch {
    /// Creates a latch that opens after `count` counts. With 0 it is open.
    #[track_caller]
    pub fn new(count: usize) -> Self {
        Latch { left: Source::labelled(Label::new("latch"), count) }
    }

    /// Counts down by one. Returns `true` if that has opened the latch. An open latch stays open.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Latch;
    ///
    /// let latch = Latch::new(2);
    /// assert!(!latch.count_down());
    /// assert!(latch.count_down()); // opens it
    /// assert!(!latch.count_down()); // it was open already
    /// assert_eq!(latch.count(), 0);
    /// ```
    pub fn count_down(&self) -> bool {
        down(&self.left)
    }

    /// Returns `true` if the latch is open.
    pub fn is_open(&self) -> bool {
        turn::asked_whether(self.count() == 0)
    }

    /// Returns how many counts are left.
    pub fn count(&self) -> usize {
        self.left.with(|left| *left)
    }

    /// Waits until the latch is open, as [`Event::sync`] does.
    pub fn wait(&self) {
        self.wait_evt().sync();
    }

    /// Returns the event of the latch being open.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::Latch, time::after};
    /// use std::time::Duration;
    ///
    /// let latch = Latch::new(1);
    /// let in_time = choose((
    ///     latch.wait_evt().wrap(|()| true),
    ///     after(Duration::from_millis(1)).wrap(|()| false),
    /// ));
    /// assert!(!in_time.sync());
    /// latch.count_down();
    /// assert!(in_time.sync());
    /// ```
    pub fn wait_evt(&self) -> ZeroEvt<'_> {
        ZeroEvt { count: &self.left }
    }
}

/// Counts down, and wakes all waiters at zero. Returns `true` if that was the last count.
fn down(count: &Source<usize, ()>) -> bool {
    count.update_count(
        |left| left.saturating_sub(1),
        |left, waiters| {
            let last = *left == 1;
            *left = left.saturating_sub(1);
            while last && waiters.grant(()).is_ok() {}
            last
        },
    )
}

/// A group that counts its members, such as workers, and lets others wait until it is empty. It can
/// be used any number of times.
///
/// The idea is from Go's `WaitGroup`. Here entering returns a value, and dropping the value leaves
/// the group, so a member cannot leave twice, and a panic leaves as well. Clones refer to the same
/// group.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::WaitGroup;
/// use std::thread;
///
/// let group = WaitGroup::new();
/// for _ in 0..10 {
///     let work = group.enter();
///     thread::spawn(move || {
///         // ...
///         drop(work);
///     });
/// }
/// group.wait();
/// ```
#[derive(Clone)]
pub struct WaitGroup {
    inside: Arc<Source<usize, ()>>,
}

/// A member of a group. See [`WaitGroup::enter`]. Dropping it leaves the group.
#[must_use = "a dropped participant has left"]
pub struct Member {
    inside: Arc<Source<usize, ()>>,
}

impl WaitGroup {
    /// Creates an empty group.
    #[track_caller]
    pub fn new() -> Self {
        WaitGroup { inside: Arc::new(Source::labelled(Label::new("wait group"), 0)) }
    }

    /// Enters the group until the returned value is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::WaitGroup;
    ///
    /// let group = WaitGroup::new();
    /// let work = group.enter();
    /// let _ = group.enter(); // dropped at once: has left again
    /// assert_eq!(group.count(), 1);
    /// drop(work);
    /// group.wait();
    /// ```
    pub fn enter(&self) -> Member {
        self.inside.update_count(|inside| *inside, |inside, _| *inside += 1);
        Member { inside: self.inside.clone() }
    }

    /// Returns how many members the group has.
    pub fn count(&self) -> usize {
        self.inside.with(|inside| *inside)
    }

    /// Waits until the group is empty, as [`Event::sync`] does.
    pub fn wait(&self) {
        self.wait_evt().sync();
    }

    /// Returns the event of the group being empty. Waiters continue when the last member has left,
    /// even if others enter at once.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::WaitGroup};
    ///
    /// let group = WaitGroup::new();
    /// group.wait_evt().sync(); // empty
    /// let work = group.enter();
    /// assert!(group.wait_evt().poll().is_none());
    /// drop(work);
    /// group.wait_evt().sync();
    /// ```
    pub fn wait_evt(&self) -> ZeroEvt<'_> {
        ZeroEvt { count: &self.inside }
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        WaitGroup::new()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        down(&self.inside);
    }
}

/// The event of a count being zero. See [`Latch::wait_evt`] and [`WaitGroup::wait_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct ZeroEvt<'a> {
    count: &'a Source<usize, ()>,
}

fn is_zero(left: &mut usize) -> Option<()> {
    (*left == 0).then_some(())
}

impl Event for ZeroEvt<'_> {
    type Output = ();
    waits_at!(this: usize, (); this.count, is_zero);
    waits_at!(describe "wait for");

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
}

awaitable!(['a] ZeroEvt<'a>, single);

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Latch").field(&self.count()).finish()
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitGroup").field(&self.count()).finish()
    }
}

debug_by_name!([] Member);
