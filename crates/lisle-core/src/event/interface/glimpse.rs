//! Polling: an event is performed if there is a moment at which it is ready, and given up if there
//! is a moment at which it is not.
//!
//! For an event of one object one look is enough. For a choice a second look may be needed, which
//! is compared with the first (`evidence.rs`). If they differ, or if a branch does not report its
//! look, the poll publishes, like a performer that waits, and then cancels at once. If it can
//! cancel, then at that moment partners could find each branch, and none had found one: nothing was
//! ready.

use super::sync::announce;
use super::sync::{give_up, publish};
use crate::event::depth;
use crate::event::ends::Unparked;
use crate::event::protocol::context;
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::record::{Attempt, Record};
use crate::event::protocol::timer::Timer;
use crate::event::waiting::turn;
use crate::event::waker::PerformerWaker;
use crate::event::{Event, Step};
use crate::event::{performer::parker, protocol::context::in_model};
use crate::shim::Backoff;
use crate::shim::atomic::{AtomicBool, Ordering};
use std::cell::Cell;
use std::pin::{Pin, pin};
use std::ptr::NonNull;

#[inline]
pub(in crate::event) fn poll<E: Event>(event: &E) -> Option<E::Output> {
    turn::asked(poll_once(event))
}

#[inline]
fn poll_once<E: Event>(event: &E) -> Option<E::Output> {
    if let Some(context) = in_model()
        && parker::running().is_none()
    {
        context.visible();
    }
    let glimpse = Glimpse::new();
    let record = Record::fleeting(glimpse.waker(), event.is_single());
    let attempt = Attempt::new(&record, &glimpse);
    let mut branch = pin!(event.branch());
    if E::STAGED {
        depth::from_the_top(|| event.force(branch.as_mut()));
    }
    in_model().into_iter().for_each(|context| announce(event, branch.as_ref(), context, true));
    while look(event, branch.as_mut(), &attempt, &glimpse) == Step::Committed {
        if !E::STAGED || depth::from_the_top(|| event.advance(branch.as_mut())) {
            return Some(event.complete(branch));
        }
        attempt.restart();
    }
    None
}

/// Commits the event if it is ready. Returns [`Step::Waiting`] only if there was a moment during
/// this call at which it was not. In both cases nothing is published when this returns. `glimpse`
/// is the context of `attempt`, whose record is fleeting.
#[inline]
pub(in crate::event) fn look<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    glimpse: &Glimpse,
) -> Step {
    let step = event.try_commit(branch.as_mut(), attempt);
    if step == Step::Committed || attempt.evidence().is_enough() {
        return step;
    }
    look_again(event, branch, attempt, glimpse)
}

#[inline(never)]
fn look_again<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    glimpse: &Glimpse,
) -> Step {
    if let Some(before) = attempt.evidence().view() {
        attempt.evidence().forget();
        if event.try_commit(branch.as_mut(), attempt) == Step::Committed {
            return Step::Committed;
        }
        if attempt.evidence().view() == Some(before) {
            return Step::Waiting;
        }
    }
    loop {
        // A round returns `None` if a partner has told the performer to start over, or if a
        // deadline had passed. The event may be ready now, so the next round publishes it anew.
        if let Some(step) = publish_and_leave(event, branch.as_mut(), attempt, glimpse) {
            return step;
        }
        attempt.restart();
        glimpse.next_due.set(u64::MAX);
    }
}

/// Publishes the event and withdraws it at once. Returns `None` if it may be ready now.
fn publish_and_leave<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    glimpse: &Glimpse,
) -> Option<Step> {
    if publish(event, branch.as_mut(), attempt) == Step::Committed {
        return Some(Step::Committed);
    }
    // The clock is read after publishing and before cancelling. If the cancellation succeeds, no
    // partner had committed the attempt at the moment of this reading; if in addition no deadline
    // had passed then, nothing was ready at that moment.
    let is_due = glimpse.next_due.get() <= glimpse.now();
    if give_up(event, branch.as_mut(), attempt) {
        return (!is_due).then_some(Step::Waiting);
    }
    // A partner was faster: its wake is a few instructions away. Partners that could keep this
    // performer waiting, since they make their message only after the commit, pass over a fleeting
    // record.
    glimpse.park(false);
    event.withdraw(branch, attempt).then_some(Step::Committed)
}

/// The context of a poll. It never suspends its performer and arms no timer: it only records the
/// earliest deadline.
pub(in crate::event) struct Glimpse {
    /// A partner that has decided the attempt has sent its wake.
    woken: AtomicBool,
    /// The earliest deadline that was asked for in this round; `u64::MAX` if there is none.
    next_due: Cell<u64>,
}

impl Glimpse {
    #[inline]
    pub(in crate::event) fn new() -> Self {
        Glimpse { woken: AtomicBool::new(false), next_due: Cell::new(u64::MAX) }
    }

    /// Wakes the performer whose glimpse is at `data`.
    fn wake(data: *const ()) {
        // SAFETY: the waker's data is the glimpse, which stays until its performer has seen
        // `woken`; nothing is touched after that.
        unsafe { &*data.cast::<Glimpse>() }.woken.store(true, Ordering::Release);
    }
}

// SAFETY: `park` returns only once `woken` is set, which only `wake` does; the flag is stored with
// release and loaded with acquire. No timer is armed, so none fires.
unsafe impl PerformerContext for Glimpse {
    fn now(&self) -> u64 {
        context::now()
    }
    fn now_to_arm(&self) -> u64 {
        context::now_to_arm()
    }

    fn waker(&self) -> PerformerWaker {
        // SAFETY: `wake` may be called from any thread, and `self` outlives the poll that uses the
        // waker.
        unsafe { PerformerWaker::new(std::ptr::from_ref(self).cast(), Glimpse::wake) }
    }

    fn park(&self, _: bool) -> Unparked {
        let mut backoff = Backoff::new();
        while !self.woken.load(Ordering::Acquire) {
            backoff.wait();
        }
        self.woken.store(false, Ordering::Relaxed);
        Unparked::Woken
    }

    fn unwind(&self) -> ! {
        unreachable!("a poll is not interrupted")
    }

    unsafe fn arm(&self, _: NonNull<Timer>, deadline: u64) {
        self.next_due.set(self.next_due.get().min(deadline));
    }

    unsafe fn disarm(&self, _: NonNull<Timer>) {}
}
