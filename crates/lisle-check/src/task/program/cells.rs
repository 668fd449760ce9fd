//! Memory, IVars and mutexes.
//!
//! A handle is the number of a cell, so it is `Copy` and goes into any closure. Only the
//! interpreter that has made the cell knows the cell of this number. *Invariant:* a handle is used
//! in the interpretation in which its cell was made.

use super::operation::{Op, OpV, ask_at, ask_for, tell};
use super::{Content, Request, Site};
use crate::task::value::{Datum, Value};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Add;
use std::panic::Location;
use std::sync::Arc;

/// A cell of memory, which holds a `T`. See [`mem`].
///
/// Loading and storing never wait, and a race is no undefined behaviour: it only has several
/// outcomes. The operations that read and write in one step are atomic.
pub struct MemoryCell<T> {
    cell: u32,
    of: PhantomData<fn() -> T>,
}

/// A cell that is filled once. Reading it waits until it is filled. See [`ivar`].
pub struct IVar<T> {
    cell: u32,
    of: PhantomData<fn() -> T>,
}

/// A lock, which one task holds at a time. See [`mutex`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mutex {
    cell: u32,
}

/// Makes a cell of memory.
///
/// # Examples
///
/// ```
/// use lisle_check::{steps, task::{exit, mem, run}};
///
/// let program = steps! {
///     let a = mem(40);
///     a.fetch_add(1);
///     let failed = a.compare_exchange(7, 8);
///     let old = a.exchange(42);
///     let new = a.load();
///     exit(if failed == Err(41) && old == 41 { new } else { 1 })
/// };
/// assert_eq!(run(program).exit_code(), Some(42));
/// ```
#[track_caller]
pub fn mem<T: Value>(initial: T) -> OpV<MemoryCell<T>> {
    let request = Request::New(Content::Memory(Datum::new(initial)));
    ask_at(Location::caller(), request, |reply| MemoryCell { cell: reply.take(), of: PhantomData })
}

/// Makes an empty [`IVar`].
#[track_caller]
pub fn ivar<T: Value>() -> OpV<IVar<T>> {
    ivar_at(Location::caller())
}

/// Makes an empty IVar for an operation written at `site`.
pub(super) fn ivar_at<T: Value>(site: Site) -> OpV<IVar<T>> {
    ask_at(site, Request::New(Content::IVar), |reply| IVar { cell: reply.take(), of: PhantomData })
}

/// Makes a free [`Mutex`].
#[track_caller]
pub fn mutex() -> OpV<Mutex> {
    ask_at(Location::caller(), Request::New(Content::Mutex), |reply| Mutex { cell: reply.take() })
}

impl<T: Value> MemoryCell<T> {
    /// Returns the operation that gives the value of the place.
    #[track_caller]
    pub fn load(self) -> OpV<T> {
        ask_for(Request::Load(self.cell))
    }

    /// Returns the operation that puts `value` into the cell.
    #[track_caller]
    pub fn store(self, value: T) -> Op {
        tell(Request::Store(self.cell, Datum::new(value)))
    }

    /// Returns the operation that replaces the value of the cell by the result of `change`, in one
    /// step, and gives the old value.
    #[track_caller]
    pub fn update(self, change: impl Fn(&T) -> T + Send + Sync + 'static) -> OpV<T> {
        self.try_update(move |old| Some(change(old)))
    }

    /// Returns the operation that puts `value` into the cell, in one step, and gives the old
    /// value.
    #[track_caller]
    pub fn exchange(self, value: T) -> OpV<T> {
        self.update(move |_| value.clone())
    }

    /// Returns the operation that puts `new` into the cell if it holds `expected`, in one step. It
    /// gives the old value: as `Ok` if that was `expected`, as `Err` otherwise.
    #[track_caller]
    pub fn compare_exchange(self, expected: T, new: T) -> OpV<Result<T, T>> {
        let wanted = expected.clone();
        self.try_update(move |old| (*old == wanted).then(|| new.clone()))
            .map(move |old| if old == expected { Ok(old) } else { Err(old) })
    }

    #[track_caller]
    fn try_update(self, change: impl Fn(&T) -> Option<T> + Send + Sync + 'static) -> OpV<T> {
        let change = move |old: &Datum| change(&old.take()).map(Datum::new);
        ask_for(Request::Update(self.cell, Arc::new(change)))
    }
}

impl<T: Value + Add<Output = T>> MemoryCell<T> {
    /// Returns the operation that adds `term` to the value, in one step, and gives the old value.
    /// It adds as `T` does; an addition that panics is a [fault](crate::task::End::Fault).
    #[track_caller]
    pub fn fetch_add(self, term: T) -> OpV<T> {
        self.update(move |old| old.clone() + term.clone())
    }
}

impl<T: Value> IVar<T> {
    /// Returns the operation that gives the value of the cell, and waits until there is one.
    #[track_caller]
    pub fn read(self) -> OpV<T> {
        self.read_at(Location::caller())
    }

    /// Reads for an operation written at `site`.
    pub(super) fn read_at(self, site: Site) -> OpV<T> {
        ask_at(site, Request::Await(self.cell), Datum::take)
    }

    /// Returns the operation that fills the cell. If it is full, that is a
    /// [fault](crate::task::End::Fault).
    #[track_caller]
    pub fn write(self, value: T) -> Op {
        self.write_at(Location::caller(), value)
    }

    /// Writes for an operation written at `site`.
    pub(super) fn write_at(self, site: Site, value: T) -> Op {
        ask_at(site, Request::Fill(self.cell, Datum::new(value)), |_| ())
    }
}

impl Mutex {
    /// Returns the operation that takes the lock. It waits while any task, also this one, has the
    /// lock.
    #[track_caller]
    pub fn lock(self) -> Op {
        tell(Request::Lock(self.cell))
    }

    /// Returns the operation that takes the lock if it is free, and gives whether it did.
    #[track_caller]
    pub fn try_lock(self) -> OpV<bool> {
        ask_for(Request::TryLock(self.cell))
    }

    /// Returns the operation that releases the lock. If the task does not hold it, that is a
    /// [fault](crate::task::End::Fault).
    #[track_caller]
    pub fn unlock(self) -> Op {
        tell(Request::Unlock(self.cell))
    }

    /// Returns the operation that takes the lock, performs `inside`, and releases the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_check::{steps, task::{Op, MemoryCell, check_value, fork_value, join, mem, mutex}};
    ///
    /// fn increment(count: MemoryCell<i32>) -> Op {
    ///     count.load().and_then(move |n| count.store(n + 1))
    /// }
    /// let program = steps! {
    ///     let count = mem(0);
    ///     let lock = mutex();
    ///     let one = fork_value(lock.with(increment(count)));
    ///     let two = fork_value(lock.with(increment(count)));
    ///     join((one, two));
    ///     count.load()
    /// };
    /// assert_eq!(check_value(program).answers::<i32>(), [2]);
    /// ```
    #[track_caller]
    pub fn with<T: Clone + Send + Sync + 'static>(self, inside: OpV<T>) -> OpV<T> {
        let unlock = self.unlock();
        self.lock().then(inside).and_then(move |value| unlock.clone().map(move |()| value.clone()))
    }
}

/// Implements traits that `derive` would restrict to types `T` with the same trait.
macro_rules! handle {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.cell == other.cell
            }
        }

        impl<T> Eq for $name<T> {}

        impl<T> Hash for $name<T> {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.cell.hash(hasher);
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.cell)
            }
        }
    };
}

handle!(MemoryCell);
handle!(IVar);

impl fmt::Debug for Mutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mutex({})", self.cell)
    }
}
