//! The shim for a checker: atomics of `std` that report each access to a model.
//!
//! A model runs a program on one thread, one operation after the other. Two operations have to be
//! tried in both orders only if they touch the same memory, and one of them changes it. All shared
//! memory of this library is behind the atomics of the shim and the locks made of them. So the
//! touched memory shows the dependencies of an operation, for all kinds of objects. An operation
//! only declares the objects at which it is going to look (`visible_on`), so that the model can
//! name them.
//!
//! Without the feature `model` there are no models: the atomics are `std`'s, [`is_running`] is `false` for
//! the compiler, and all that it guards is gone. The checker turns the feature on, and cargo then gives the
//! same library to all targets of a package whose tests use the checker. So code that is compiled for models
//! also serves programs, and has to be as fast for them. Each place that tells a model something therefore
//! asks first whether a model runs anywhere in the process ([`is_running`]), which is a load of a static, and
//! leaves the rest to a function that is not inlined.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How an operation touches memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It has only read.
    Read,
    /// It may have written, and may have learnt the old value.
    Write,
    /// It has written, and has learnt nothing.
    Store,
    /// It has changed a count, which was more than one before and is after. Such changes commute.
    Count,
    /// It has changed a count from one or to one. It commutes with other changes, but the next
    /// change of the count may do more than it would have done before.
    CountNearZero,
    /// It has put a message into a queue with this many places left, and had waited for a place.
    Put(usize),
    /// It has taken the first of this many messages out of a queue, and had waited for a message.
    Take(usize),
    /// It has put a message into a queue with this many places left, and would not have waited for
    /// a place.
    TryPut(usize),
    /// It has taken the first of this many messages out of a queue, and would not have waited for a
    /// message.
    TryTake(usize),
    /// It had waited for a message, and there are none any more.
    TakeEnd,
    /// It had waited for a place, and messages are refused.
    PutEnd,
    /// It has closed a queue: it has put the end there.
    Close,
    /// It has taken a lock.
    Acquire,
    /// It has released a lock.
    Release,
    /// The object is gone, and another may come to the same place.
    Gone,
}

impl Touch {
    /// Returns how a count is touched that is changed by one. `lowest` is the lower of the counts
    /// before and after.
    pub fn of_count(lowest: usize) -> Touch {
        match lowest {
            0 => Touch::Write,
            1 => Touch::CountNearZero,
            _ => Touch::Count,
        }
    }
}

/// How many models there are in the process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Returns `false` if no model runs in this process. If one runs, its own thread is told so; the
/// others may learn of it late.
#[inline(always)]
pub fn is_running() -> bool {
    // A thread that runs a model has written this itself.
    let is_running = cfg!(all(feature = "model", not(lisle_loom))) && RUNNING.load(Ordering::Relaxed) != 0;
    if is_running {
        rarely();
    }
    is_running
}

/// Says to the compiler that the code which calls it runs rarely.
#[cold]
fn rarely() {}

/// A model that runs on this thread, until it is dropped.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// Begins to run a model.
    pub fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Running(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A function that is told of each address that is touched.
pub type Report = fn(usize, Touch);

thread_local! {
    static REPORT: Cell<Option<Report>> = const { Cell::new(None) };
}

/// Sets the function that gets the accesses of this thread. Returns the one before.
#[inline]
pub fn set_report(report: Option<Report>) -> Option<Report> {
    REPORT.replace(report)
}

/// Keeps accesses of this thread from being reported, until it is dropped.
#[derive(Debug)]
pub struct Unreported(Option<Report>);

impl Unreported {
    /// Begins to report nothing.
    #[inline]
    pub fn begin() -> Self {
        Unreported(if is_running() { set_report(None) } else { None })
    }
}

impl Drop for Unreported {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            set_report(self.0);
        }
    }
}

/// Tells the model of this thread, if there is one, that the running operation touches memory.
#[inline(always)]
pub fn touched(address: usize, touch: Touch) {
    if is_running() {
        report(address, touch);
    }
}

#[cold]
fn report(address: usize, touch: Touch) {
    if let Some(report) = REPORT.get() {
        report(address, touch);
    }
}

/// The atomics of `std` under the names of `std`.
#[cfg(all(feature = "model", not(lisle_loom)))]
#[allow(missing_docs, reason = "the names and functions of `std::sync::atomic`")]
pub mod atomic {
    use super::{Touch, touched};
    use std::fmt;
    pub use std::sync::atomic::{Ordering, compiler_fence, fence};

    macro_rules! common {
        ($name:ident, $value:ty $(, $t:ident)?) => {
            impl$(<$t>)? $name$(<$t>)? {
                #[inline]
                pub const fn new(value: $value) -> Self {
                    $name(std::sync::atomic::$name::new(value))
                }
                /// Returns the atomic itself. No model is told of its operations.
                #[inline(always)]
                pub fn unseen(&self) -> &std::sync::atomic::$name$(<$t>)? {
                    &self.0
                }
                #[inline]
                pub fn into_inner(self) -> $value {
                    self.0.into_inner()
                }
                #[inline]
                pub fn get_mut(&mut self) -> &mut $value {
                    self.0.get_mut()
                }
                #[inline(always)]
                fn touched(&self, touch: Touch) {
                    touched(std::ptr::from_ref(self).addr(), touch);
                }
                #[inline]
                pub fn load(&self, order: Ordering) -> $value {
                    self.touched(Touch::Read);
                    self.0.load(order)
                }
                #[inline]
                pub fn store(&self, value: $value, order: Ordering) {
                    self.touched(Touch::Write);
                    self.0.store(value, order);
                }
                #[inline]
                pub fn swap(&self, value: $value, order: Ordering) -> $value {
                    self.touched(Touch::Write);
                    self.0.swap(value, order)
                }
                #[inline]
                pub fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    let result = self.0.compare_exchange(current, new, success, failure);
                    self.touched(if result.is_ok() { Touch::Write } else { Touch::Read });
                    result
                }
                #[inline]
                pub fn compare_exchange_weak(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.compare_exchange(current, new, success, failure)
                }
                #[inline]
                pub fn fetch_update(
                    &self,
                    success: Ordering,
                    failure: Ordering,
                    f: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    let result = self.0.fetch_update(success, failure, f);
                    self.touched(if result.is_ok() { Touch::Write } else { Touch::Read });
                    result
                }
            }
            impl$(<$t>)? fmt::Debug for $name$(<$t>)? {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
            impl$(<$t>)? From<$value> for $name$(<$t>)? {
                fn from(value: $value) -> Self {
                    Self::new(value)
                }
            }
        };
    }

    macro_rules! change {
        ($name:ident, $value:ty, $($change:ident)*) => {
            impl $name {
                $(
                    #[inline]
                    pub fn $change(&self, value: $value, order: Ordering) -> $value {
                        self.touched(Touch::Write);
                        self.0.$change(value, order)
                    }
                )*
            }
        };
    }

    macro_rules! integers {
        ($($name:ident: $value:ty)*) => { $(
            #[derive(Default)]
            #[repr(transparent)]
            pub struct $name(std::sync::atomic::$name);
            common!($name, $value);
            change!(
                $name, $value,
                fetch_add fetch_sub fetch_and fetch_nand fetch_or fetch_xor fetch_max fetch_min
            );
        )* };
    }

    integers! {
        AtomicU8: u8
        AtomicU16: u16
        AtomicU32: u32
        AtomicU64: u64
        AtomicUsize: usize
        AtomicI32: i32
        AtomicI64: i64
        AtomicIsize: isize
    }

    #[derive(Default)]
    #[repr(transparent)]
    pub struct AtomicBool(std::sync::atomic::AtomicBool);
    common!(AtomicBool, bool);
    change!(AtomicBool, bool, fetch_and fetch_nand fetch_or fetch_xor);

    #[repr(transparent)]
    pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);
    common!(AtomicPtr, *mut T, T);

    impl<T> Default for AtomicPtr<T> {
        fn default() -> Self {
            Self::new(std::ptr::null_mut())
        }
    }
}
