//! A cell that is empty or full.

mod events;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_mvar;
mod state;

pub use events::{LeaseEvt, PutEvt, ReadEvt, TakeEvt};
pub use state::Turn;

use crate::event::lock::Lock;
use crate::event::protocol::record::Outsider;
use crate::event::waiting::turn;
use crate::event::{Event, Label, visible_doing};
use crate::shim::cell::UnsafeCell;
use events::PutOnce;
use state::{Phase, Slot, State};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A cell that is empty or full: putting waits while it is full, taking waits while it is empty.
///
/// This is the M-structure of Id (Barth, Nikhil and Arvind, 1991), known from Concurrent ML
/// (`Mvar`) and Concurrent Haskell. It serves as a channel for one value, as a lock with the value
/// that it guards, or as a semaphore with one token.
///
/// [`take`](MVar::take) moves the value out, and [`read`](MVar::read) clones it in place. To look
/// at the value or replace it without others seeing an empty cell, take a [`Lease`], or call
/// [`update`](MVar::update), [`modify`](MVar::modify) or [`swap`](MVar::swap), which take one.
/// While the value is leased the cell is neither full nor empty: every operation waits.
///
/// # Fairness
///
/// Putters are served first come, first served, and so are takers together with performers that
/// want a lease. A value that has come into the cell is first shown to all waiting readers and then
/// given to the first taker. Readers that come while a taker waits wait behind it. No performer
/// starves.
///
/// # Cancel safety
///
/// An operation that loses a choice, a poll that fails, and a future that is dropped before it was
/// committed have neither put nor taken anything. A future that is dropped after that, but before
/// it was polled again, has put its value, or drops the value that it has taken; a lease and the
/// permission to read are given back.
///
/// # Cost
///
/// Nothing is allocated. An operation that does not wait takes a short lock once; a read and a
/// lease take it twice.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, choose, sync::MVar, time::after};
/// use std::time::Duration;
///
/// let account = MVar::full(10);
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| account.update(|balance| balance + 5));
///     }
/// });
/// assert_eq!(account.read(), 30);
/// assert_eq!(account.take(), 30);
///
/// let soon = after(Duration::from_millis(1)).wrap(|()| None);
/// assert_eq!(choose((account.take_evt().wrap(Some), soon)).sync(), None); // empty
/// account.put(1);
/// assert_eq!(account.try_put(2), Err(2)); // full
/// ```
pub struct MVar<T> {
    state: Lock<State<T>>,
    /// The value. The [`Phase`] says which thread may access it.
    value: UnsafeCell<Option<T>>,
    label: Label,
}

// SAFETY: the phases, which change under the lock, pass the value from thread to thread. Readers
// share it, and the methods that read require `T: Sync`.
unsafe impl<T: Send> Sync for MVar<T> {}

impl<T> MVar<T> {
    /// Creates an empty cell.
    #[track_caller]
    pub fn new() -> Self {
        MVar::make(Label::new("MVar"), None)
    }

    /// Creates a full cell.
    #[track_caller]
    pub fn full(value: T) -> Self {
        MVar::make(Label::new("MVar"), Some(value))
    }

    /// Gives the cell a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.label = self.label.named(name);
        self
    }

    /// Returns the event of the cell being full, which takes the value out.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::MVar};
    ///
    /// let (one, other) = (MVar::full("one"), MVar::<&str>::new());
    /// let either = choose((one.take_evt(), other.take_evt()));
    /// assert_eq!(either.sync(), "one");
    /// assert_eq!(either.poll(), None); // both are empty
    /// other.put("other");
    /// assert_eq!(either.sync(), "other");
    /// ```
    pub fn take_evt(&self) -> TakeEvt<'_, T> {
        TakeEvt { cell: self }
    }

    /// Returns the event of leasing the value, which stays in the cell.
    ///
    /// It lets a future update the value: a [`Lease`] may be held across an `.await`.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// # use lisle::{Event, sync::MVar};
    /// let cell = MVar::full(String::from("old"));
    /// let lease = cell.lease_evt().sync();
    /// let new = lease.replace("new", "").replace("old", "new");
    /// assert_eq!(lease.put(new), "old");
    /// assert_eq!(cell.take(), "new");
    /// ```
    pub fn lease_evt(&self) -> LeaseEvt<'_, T> {
        LeaseEvt { cell: self }
    }

    /// Returns `true` if the cell has no value, or if its value is leased.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::MVar};
    ///
    /// let cell = MVar::full(1);
    /// let lease = cell.lease_evt().sync();
    /// assert!(cell.is_empty());
    /// assert_eq!(cell.try_put(2), Err(2)); // and yet nothing can be put
    /// drop(lease);
    /// assert!(!cell.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        visible_doing("look at", &self.label, self);
        self.locked(|state, _| !matches!(state.phase, Phase::Full(_)))
    }

    /// Returns a mutable reference to the value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: `&mut self` guarantees that no other reference to the cell exists.
        self.value.with_mut(|value| unsafe { (*value).as_mut() })
    }

    /// Returns the value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T: Send> MVar<T> {
    /// Fills the cell, and waits while it is full as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::new();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| (1..=3).for_each(|n| cell.put(n))); // each waits for the take before it
    ///     assert_eq!([(); 3].map(|()| cell.take()), [1, 2, 3]);
    /// });
    /// ```
    pub fn put(&self, value: T) {
        match self.try_put(value) {
            Ok(()) => turn::pass_if_due(),
            Err(value) => PutOnce { cell: self, value: Cell::new(Some(value)) }.sync(),
        }
    }

    /// Fills the cell if it is empty.
    ///
    /// # Errors
    ///
    /// Returns `value` if the cell is full or its value is leased.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::new();
    /// assert_eq!(cell.try_put(1), Ok(()));
    /// assert_eq!(cell.try_put(2), Err(2));
    /// assert_eq!(cell.take(), 1);
    /// ```
    pub fn try_put(&self, value: T) -> Result<(), T> {
        visible_doing("try to put into", &self.label, self);
        let mut slot = Slot::Put(value);
        self.locked(|state, woken| self.step(state, woken, &Outsider, &mut slot));
        if let Slot::Put(value) = slot {
            turn::came_to_nothing();
            return Err(value);
        }
        Ok(())
    }

    /// Takes the value out, and waits while there is none as [`Event::sync`] does.
    pub fn take(&self) -> T {
        self.take_evt().sync()
    }

    /// Takes the value out, if there is one and it is neither leased nor being read at this moment.
    /// Returns `None` otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::full(1);
    /// assert_eq!(cell.try_take(), Some(1));
    /// assert_eq!(cell.try_take(), None); // empty
    /// ```
    pub fn try_take(&self) -> Option<T> {
        self.take_evt().poll()
    }

    /// Replaces the value by `value` and returns the old one. Waits while there is none. No other
    /// performer sees the cell empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::full("old");
    /// assert_eq!(cell.swap("new"), "old");
    /// assert_eq!(cell.take(), "new");
    /// ```
    pub fn swap(&self, value: T) -> T {
        self.lease().put(value)
    }

    /// Replaces the value by the result of `f` and returns the old value. Waits while there is
    /// none.
    ///
    /// `f` runs in the performer, outside any lock, while the performer has the lease. It may
    /// block. It must not use the same cell, for which it would wait for ever.
    ///
    /// # Panics
    ///
    /// Panics if `f` panics. If `f` panics or is cancelled where it waits, the cell keeps its old
    /// value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let balance = MVar::full(10_u32);
    /// assert_eq!(balance.update(|balance| balance + 5), 10); // the old value
    /// assert_eq!(balance.read(), 15);
    ///
    /// let too_much = AssertUnwindSafe(|| balance.update(|n| n.checked_sub(20).unwrap()));
    /// assert!(catch_unwind(too_much).is_err());
    /// assert_eq!(balance.read(), 15); // unchanged
    /// ```
    pub fn update(&self, f: impl FnOnce(&T) -> T) -> T {
        let lease = self.lease();
        let new = f(&lease);
        lease.put(new)
    }

    /// Leases the value, and waits while there is none as [`Event::sync`] does.
    fn lease(&self) -> Lease<'_, T> {
        self.lease_evt().sync()
    }
}

impl<T: Send + Clone> MVar<T> {
    /// Returns the event of the cell being empty, which puts a clone of `value` in. Each
    /// performance puts a clone of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::MVar};
    ///
    /// let cell = MVar::full(1);
    /// let put = cell.put_evt(2);
    /// assert!(put.poll().is_none()); // full
    /// assert_eq!(cell.take(), 1);
    /// put.sync();
    /// assert_eq!(cell.take(), 2);
    /// ```
    pub fn put_evt(&self, value: T) -> PutEvt<'_, T> {
        PutEvt { cell: self, value }
    }

    /// Changes the value. Waits while there is none.
    ///
    /// `f` works on a clone, which replaces the value when `f` returns. In all else this works as
    /// [`update`](MVar::update) does.
    ///
    /// # Panics
    ///
    /// Panics if `f` panics. If `f` panics or is cancelled where it waits, the cell keeps its old
    /// value.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// let list = lisle::sync::MVar::full(vec![1, 2, 3]);
    /// assert_eq!(list.modify(|list| list.pop()), Some(3));
    /// assert_eq!(list.take(), [1, 2]);
    /// ```
    pub fn modify<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let lease = self.lease();
        let mut new = T::clone(&lease);
        let result = f(&mut new);
        lease.put(new);
        result
    }
}

impl<T: Send + Sync + Clone> MVar<T> {
    /// Returns a clone of the value, which stays in the cell. Waits while there is none, as
    /// [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::new();
    /// std::thread::scope(|scope| {
    ///     let readers = [(); 2].map(|()| scope.spawn(|| cell.read()));
    ///     cell.put(7);
    ///     assert_eq!(readers.map(|reader| reader.join().unwrap()), [7, 7]);
    /// });
    /// assert_eq!(cell.take(), 7); // reading has left it there
    /// ```
    pub fn read(&self) -> T {
        self.read_evt().sync()
    }

    /// Returns the event of the cell being full, which gives a clone of the value. The value stays
    /// in the cell.
    ///
    /// Any number may read at once. The clone is made in the performer, after the commit, outside
    /// any lock. A taker waits for as long as that takes. If cloning panics nothing has changed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::MVar};
    ///
    /// let cell = MVar::new();
    /// assert_eq!(cell.read_evt().poll(), None); // empty
    /// cell.put(1);
    /// assert_eq!(cell.read_evt().sync(), 1);
    /// assert_eq!(cell.take(), 1); // reading has left it there
    /// ```
    pub fn read_evt(&self) -> ReadEvt<'_, T> {
        ReadEvt { cell: self }
    }

    /// Returns a clone of the value if there is one and it is not leased. This does not wait behind
    /// takers.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::MVar;
    ///
    /// let cell = MVar::full(1);
    /// assert_eq!(cell.try_read(), Some(1));
    /// assert_eq!(cell.take(), 1); // reading has left it there
    /// assert_eq!(cell.try_read(), None);
    /// ```
    pub fn try_read(&self) -> Option<T> {
        visible_doing("try to read", &self.label, self);
        let counted = self.locked(|state, _| match &mut state.phase {
            Phase::Full(readers) => {
                *readers += 1;
                true
            }
            Phase::Empty | Phase::Lent => false,
        });
        turn::asked(counted.then(|| self.copy_read()))
    }

    /// Returns a clone of the value for a performer that is counted as a reader, and ends its read.
    fn copy_read(&self) -> T {
        struct Reading<'a, T>(&'a MVar<T>);
        impl<T> Drop for Reading<'_, T> {
            fn drop(&mut self) {
                self.0.end_read();
            }
        }
        let reading = Reading(self);
        // SAFETY: while a performer reads, the value is neither moved nor changed.
        let value = reading.0.value.with(|value| unsafe { &*value });
        value.clone().expect("a full cell has its value")
    }
}

impl<T> Default for MVar<T> {
    #[track_caller]
    fn default() -> Self {
        MVar::new()
    }
}

impl<T> fmt::Debug for MVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MVar").field("empty", &self.is_empty()).finish_non_exhaustive()
    }
}

/// The value of an [`MVar`], which no other performer can take, read or lease meanwhile. See
/// [`MVar::lease_evt`].
///
/// When the lease ends, in any way, the other performers continue, with the value that was there or
/// with the one that [`put`](Lease::put) has put in its place.
///
/// It can be shared only if the value can:
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<lisle::sync::Lease<'static, std::cell::Cell<u32>>>();
/// ```
#[must_use = "a lease that is dropped has changed nothing"]
pub struct Lease<'a, T> {
    cell: &'a MVar<T>,
    _value: PhantomData<&'a mut T>,
}

impl<'a, T> Lease<'a, T> {
    /// Creates the lease for a caller that has won it.
    fn new(cell: &'a MVar<T>) -> Self {
        Lease { cell, _value: PhantomData }
    }

    /// Ends the lease with `value` in the cell, and returns the value that was there.
    pub fn put(self, value: T) -> T {
        // SAFETY: only the holder of the lease accesses a leased value, and it has no other
        // reference to it, since `self` is owned.
        let old = self.cell.value.with_mut(|place| unsafe { (*place).replace(value) });
        old.expect("a leased value lies in its cell")
    }
}

impl<T> Deref for Lease<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: only the holder of the lease accesses a leased value, and only `put` changes it,
        // which ends the lease.
        let value = self.cell.value.with(|place| unsafe { &*place });
        value.as_ref().expect("a leased value lies in its cell")
    }
}

impl<T> Drop for Lease<'_, T> {
    fn drop(&mut self) {
        visible_doing("give back to", &self.cell.label, self.cell);
        self.cell.end_lease();
    }
}

impl<T: fmt::Debug> fmt::Debug for Lease<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&**self).finish()
    }
}
