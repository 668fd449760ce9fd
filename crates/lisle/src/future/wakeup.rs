//! The waker of a future that a fiber or a plain thread drives.

use crate::event::{Event, Label, Source, described};
use crate::shim::sync::Arc;
use std::task::{Wake, Waker};

/// Whether the future has been woken since it was last polled, and the driver that waits for it.
///
/// Clones of the waker may be kept by anybody, for as long as they like, and used from any thread: they share the
/// ownership of this. A wake that comes when the future is done finds nobody waiting, and changes a flag
/// at which nobody looks any more.
///
/// **No wake is lost.** The driver takes the flag down before it polls, so a wake that comes at any time during the
/// poll leaves it up, and the driver finds it so when it goes to wait. That look and its getting into the queue are
/// one step, under the source's lock.
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

    /// The event of having been woken; it takes the flag down.
    pub(super) fn woken_evt(&self) -> impl Event<Output = ()> {
        let woken = self.woken.event(|woken| std::mem::take(woken).then_some(()));
        // Wakers may be anywhere.
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
