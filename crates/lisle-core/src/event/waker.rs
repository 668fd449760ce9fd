//! Wakers, by which committers wake performers.

use std::fmt;

/// A handle that wakes a parked performer.
///
/// A partner that moves a record from waiting to committed (or to retry) wakes its performer
/// exactly once, and the performer consumes exactly that one wake before it returns. Therefore a
/// waker needs neither a reference count nor a flag against stale wakes.
#[derive(Clone, Copy)]
pub struct PerformerWaker {
    data: *const (),
    wake: unsafe fn(*const ()),
}

impl PerformerWaker {
    /// Creates a waker whose `wake` calls `wake(data)`.
    ///
    /// # Safety
    ///
    /// From the moment [`PerformerContext::waker`](crate::event::PerformerContext::waker) returns the
    /// waker until its performer has consumed the wake, it must be sound to call `wake(data)` once,
    /// from any thread.
    #[inline]
    pub unsafe fn new(data: *const (), wake: unsafe fn(*const ())) -> Self {
        PerformerWaker { data, wake }
    }

    /// Returns `true` if its data lies at this address.
    pub(in crate::event) fn is_at(self, data: *const ()) -> bool {
        self.data == data
    }

    /// Wakes the performer.
    #[inline]
    #[doc(hidden)]
    pub fn wake(self) {
        // SAFETY: wakers are called only through a commit, which happens once for each
        // record and before the performer continues; the caller of `new` promised that this call is
        // then sound.
        unsafe { (self.wake)(self.data) }
    }
}

impl fmt::Debug for PerformerWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerformerWaker").field("data", &self.data).finish_non_exhaustive()
    }
}
