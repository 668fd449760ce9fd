//! How the future of an event is woken: by the waker of the task that polls it, or, if it lies
//! within a recycled task, together with that task.
//!
//! A waker must be cloned to be kept, and the waking thread takes it out; both sides hold a lock
//! for that. A future that waits *directly* (`event/performer/recycled/mod.rs`) is told by a count in the task
//! that it lies in. The choice between the two is made for each publishing. If a future waits
//! directly and is then polled with another waker, by a combinator within its task, it must be
//! withdrawn and published anew.

use crate::event::lock::Lock;
use crate::event::performer::recycled::{Arrivals, Recycled};
use crate::event::protocol::{step, woken};
use crate::event::waker::PerformerWaker;
use crate::shim::Backoff;
use std::cell::Cell;
use std::ptr::NonNull;
use std::task::Waker;

pub(super) struct Wake {
    /// The task in which the future lies, and its arrivals when the future was published, if it
    /// waits directly.
    direct: Cell<Option<(NonNull<Recycled>, Arrivals)>>,
    waking: Lock<Waking>,
}

struct Waking {
    waker: Option<Waker>,
    woken: bool,
}

/// Whether the wake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Come {
    Yes,
    No,
    /// It has not come, and it will wake another task than the one that polls.
    Elsewhere,
}

// SAFETY: only the thread that polls or drops the future uses `direct`; any thread may use recycled
// memory.
unsafe impl Send for Wake {}

impl Wake {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Wake { direct: Cell::new(None), waking: Lock::new(Waking { waker: None, woken: false }) }
    }

    /// Prepares to be woken by `waker`, for the future at address `future`. The future cannot be
    /// woken yet. The event wakes it through the returned waker.
    ///
    /// # Safety
    ///
    /// `self`, and the future with it, stays in place until the returned waker has been woken and
    /// that wake has been seen, or until no other thread has that waker any more.
    /// [`done`](Wake::done) has been called for the previous wait.
    #[inline(always)]
    pub(crate) unsafe fn prepare(&self, waker: &Waker, future: usize) -> PerformerWaker {
        if let Some(recycled) = Recycled::of(waker)
            && let Some((waker, arrivals)) = Recycled::wait_directly(recycled, future)
        {
            self.direct.set(Some((recycled, arrivals)));
            return waker;
        }
        self.take_wake(waker);
        // SAFETY: by the caller's promise.
        unsafe { PerformerWaker::new(std::ptr::from_ref(self).cast(), by_waker) }
    }

    /// Returns whether the wake has come. If not, it will wake `waker`, except where the result is
    /// `Elsewhere`.
    #[inline(always)]
    pub(super) fn has_come(&self, waker: &Waker) -> Come {
        match self.direct.get() {
            // SAFETY: recycled memory is never freed.
            Some((recycled, before)) if unsafe { recycled.as_ref() }.state().arrivals() == before => {
                if Recycled::of(waker) == Some(recycled) {
                    Come::No
                } else {
                    Come::Elsewhere
                }
            }
            Some(_) => Come::Yes,
            None if self.take_wake(waker) => Come::Yes,
            None => Come::No,
        }
    }

    /// Returns the recycled task in which the future waits directly.
    #[inline(always)]
    pub(super) fn recycled(&self) -> Option<&Recycled> {
        // SAFETY: recycled memory is never freed.
        self.direct.get().map(|(recycled, _)| unsafe { &*recycled.as_ptr() })
    }

    /// Returns the recycled task that the next wake wakes, if it is one that it wakes.
    pub(super) fn task(&self) -> Option<NonNull<Recycled>> {
        let direct = self.direct.get().map(|(recycled, _)| recycled);
        direct.or_else(|| self.waking.lock().waker.as_ref().and_then(Recycled::of))
    }

    /// Ends the wait: the future has seen the wake, or no wake will come.
    #[inline(always)]
    pub(super) fn done(&self) {
        if let Some(recycled) = self.recycled() {
            recycled.wait_no_more();
            self.direct.set(None);
        }
    }

    /// Waits for the wake, which is a few instructions away.
    pub(super) fn wait(&self) {
        let mut backoff = Backoff::new();
        let has_come = || match (self.direct.get(), self.recycled()) {
            (Some((_, before)), Some(recycled)) => recycled.state().arrivals() != before,
            _ => std::mem::take(&mut self.waking.lock().woken),
        };
        let waker = self
            .recycled()
            .map_or(std::ptr::from_ref(self).cast(), |recycled| std::ptr::from_ref(recycled).cast());
        while !has_come() {
            // In a function given to a source that has granted to this future, this thread itself
            // owes the wake.
            if step::take_back_wake(waker) {
                return;
            }
            backoff.wait();
        }
    }

    /// Consumes the wake if it has come; otherwise leaves `waker` for it. Returns `true` if it has
    /// come. Cloning and dropping a waker may run foreign code, which may lead to this future's
    /// wake, so neither is done under the lock.
    fn take_wake(&self, waker: &Waker) -> bool {
        {
            let mut waking = self.waking.lock();
            if waking.woken || waking.waker.as_ref().is_some_and(|left| left.will_wake(waker)) {
                return std::mem::take(&mut waking.woken);
            }
        }
        let fresh = waker.clone();
        let mut waking = self.waking.lock();
        let unused = if waking.woken { Some(fresh) } else { waking.waker.replace(fresh) };
        let woken = std::mem::take(&mut waking.woken);
        drop(waking);
        drop(unused);
        woken
    }
}

/// Wakes the future whose `Wake` lies at `data`, by the waker left there.
fn by_waker(data: *const ()) {
    // SAFETY: the future neither returns nor is freed before it has seen `woken` under the lock.
    let wake = unsafe { &*data.cast::<Wake>() };
    let waker = {
        let mut waking = wake.waking.lock();
        waking.woken = true;
        waking.waker.take()
    };
    if let Some(waker) = waker {
        woken::call(waker);
    }
}
