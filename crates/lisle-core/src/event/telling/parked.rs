//! The wait of a parked performer, with the types of its event left out.

use super::waits::Description;

/// The wait of a parked performer: its event, its branch, and a function that knows their types.
///
/// It may be asked until the park returns, by the thread on which the performer is parked; for a
/// task, by the thread that has claimed the task.
#[derive(Debug, Clone, Copy)]
pub struct ParkedEvent {
    event: *const (),
    branch: *const (),
    describe: unsafe fn(*const (), *const (), &mut Description),
}

impl ParkedEvent {
    /// Creates the note of an event and its branch, which `describe` describes.
    ///
    /// # Safety
    ///
    /// `describe` may be called with the two pointers and no other, as long as both are alive and
    /// nothing changes their targets.
    #[inline(always)]
    pub(in crate::event) unsafe fn new(
        event: *const (),
        branch: *const (),
        describe: unsafe fn(*const (), *const (), &mut Description),
    ) -> Self {
        ParkedEvent { event, branch, describe }
    }

    /// Calls [`Event::describe`](crate::Event::describe) of the event, which may be user code.
    ///
    /// # Safety
    ///
    /// The performer is parked in the park that this was made for, on the current thread. Or the
    /// performer may move from thread to thread, and the caller has exclusive access to it.
    pub unsafe fn describe(&self, waits: &mut Description) {
        // SAFETY: a parked performer keeps its event and branch and touches neither; both are of
        // the types that the function was made for. No other thread uses them: the caller is on the
        // performer's own thread, or has exclusive access to the performer.
        unsafe { (self.describe)(self.event, self.branch, waits) }
    }
}
