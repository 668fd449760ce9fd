//! The waker of a future that a fiber or a plain thread drives.

use crate::Event;
use crate::event::{Label, Source, described};
use crate::shim::sync::Arc;
use std::task::{Wake, Waker};

/// Whether the future has been woken since it was last polled, and the driver that waits for it.
///
/// Clones of the waker may be kept for any time and used from any thread: they share ownership of
/// this struct. A wake that comes after the future is done finds no waiter and sets a flag that is
/// not read any more.
///
/// **No wake is lost.** The driver clears the flag before it polls. A wake during the poll
/// therefore leaves the flag set, and the driver finds it set when it goes to wait. Reading the
/// flag and entering the queue are one step, under the source's lock.
#[derive(Debug)]
pub(super) struct Wakeup {
    woken: Source<bool, ()>,
}

impl Wakeup {
    #[track_caller]
    pub(super) fn new() -> (Arc<Wakeup>, Waker) {
        let wakeup = Arc::new(Wakeup { woken: Source::labelled(Label::new("future"), false) });
        let waker = Waker::from(wakeup.clone());
        (wakeup, waker)
    }

    /// Returns the event of the future's having been woken. Its commit clears the flag.
    pub(super) fn woken_evt(&self) -> impl Event<Output = ()> {
        let woken = self.woken.event(|woken| std::mem::take(woken).then_some(()));
        // The waker may be anywhere, so the wait counts as external.
        described(woken, |waits| {
            waits.on_the_world("wait for", self.woken.label(), std::ptr::from_ref(self).addr());
        })
    }
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.update(|woken, waiters| {
            if waiters.grant(()).is_err() {
                *woken = true;
            }
        });
    }
}
