//! Performing an event as a future, on any executor. `future/wake.rs` says how it is woken.

mod wake;

use super::storage::{Storage, typed};
use super::sync::announce;
use super::sync::{give_up, parked, publish};
use crate::drops::Careful;
use crate::event::depth;
use crate::event::ends::Unparked;
use crate::event::performer::recycled::Recycled;
use crate::event::protocol::context;
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::record::{Attempt, Record};
use crate::event::protocol::timer::Timer;
use crate::event::waiting::turn;
use crate::event::waker::PerformerWaker;
use crate::event::{Event, Step, is_modelled, raising};
use crate::shim::clock;
use crate::shim::model::{Touch, is_running, touched};
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Poll;
use std::thread;
use wake::{Come, Wake};

/// The number of words of branch that the future of any event keeps without allocating; enough for a
/// choice of three.
const INLINE_WORDS: usize = 32;
/// The same for an event that waits in one place, such as a receive. Many tasks wait for such an
/// event at the same time, and most of their memory is its future.
#[doc(hidden)]
pub const SINGLE_WORDS: usize = 12;

/// A future that performs an event once, see [`Event::future`].
///
/// `WORDS` is the number of words that it keeps for the performance. A performance that needs more
/// keeps them in recycled memory. The future of an awaited event that waits in one place, such as
/// `receiver.recv_evt().await`, is 160 bytes smaller than the future of other events.
///
/// It may be polled on any executor, and moved between threads before its first poll. Polling it
/// after it was ready panics. Dropping it withdraws it. If a partner on another core is committing
/// it at that moment, the drop waits a few instructions for the partner.
#[must_use = "futures do nothing unless polled"]
pub struct EventFuture<E, const WORDS: usize = INLINE_WORDS> {
    /// [`EventFuture::leave`] as a pointer; then neither `Drop` nor `Send` needs `E: Event`.
    leave: fn(&mut EventFuture<E, WORDS>),
    /// Holds an `E::Branch` that borrows `event`; cleared before `event` is dropped.
    branch: Storage<WORDS>,
    record: Option<Record>,
    wake: Wake,
    /// Nothing is published, and it must not be polled again: it has returned its value, or
    /// panicked.
    done: bool,
    /// It begins even if the turn of its task has been long.
    stays: bool,
    event: Careful<E>,
    _pinned: PhantomPinned,
}

// SAFETY: the untyped content of `branch` is an `E::Branch`, which the trait requires to be `Send`.
// The record's waker is the address of `wake`, which does not change once pinned, or the address of
// recycled memory, which is never freed. All else is `Send` by type.
unsafe impl<E: Send, const WORDS: usize> Send for EventFuture<E, WORDS> {}
// SAFETY: a shared reference to the future gives access to nothing.
unsafe impl<E: Sync, const WORDS: usize> Sync for EventFuture<E, WORDS> {}

impl<E: Event, const WORDS: usize> EventFuture<E, WORDS> {
    #[inline(always)]
    #[doc(hidden)]
    pub fn new(event: E) -> Self {
        EventFuture {
            leave: Self::leave,
            branch: Storage::new(),
            record: None,
            wake: Wake::new(),
            done: false,
            stays: false,
            event: Careful::new(event),
            _pinned: PhantomPinned,
        }
    }

    /// Returns the same future, except that it begins at its first poll even if the turn of its
    /// task has been long.
    #[doc(hidden)]
    pub fn staying(mut self) -> Self {
        self.stays = true;
        self
    }
}

impl<E: Event, const WORDS: usize> Future for EventFuture<E, WORDS> {
    type Output = E::Output;

    fn poll(self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<E::Output> {
        // SAFETY: nothing is moved out of the future, here or below.
        let this = unsafe { self.get_unchecked_mut() };
        let address = std::ptr::from_ref(this).addr();
        assert!(!this.done, "an `EventFuture` was polled after it had given its value");
        // SAFETY: the event stays where it is, untouched by `&mut`, until the branch has been
        // dropped.
        let event = unsafe { &*std::ptr::from_ref(this.event.get()) };
        let foreign = Foreign { wake: &raw const this.wake };

        if let Some(record) = &this.record {
            let come = this.wake.has_come(context.waker());
            if come == Come::No {
                return Poll::Pending;
            }
            this.done = true;
            let attempt = Attempt::new(record, &foreign);
            let place = this.branch.get().expect("a waiting future has a branch");
            // SAFETY: the branch at `place` was made below, for this event; `give_up` has ended
            // before the next use of it.
            let gave_up = come == Come::Elsewhere && give_up(event, unsafe { typed(event, place) }, &attempt);
            if come == Come::Elsewhere && !gave_up {
                // A partner was faster: its wake is on the way.
                this.wake.wait();
            }
            this.wake.done();
            // SAFETY: as above, for `withdraw`.
            if !gave_up && event.withdraw(unsafe { typed(event, place) }, &attempt) {
                // SAFETY: as above, also for `complete`.
                if !E::STAGED || depth::from_the_top(|| event.advance(unsafe { typed(event, place) })) {
                    // SAFETY: as above.
                    return Poll::Ready(event.complete(unsafe { typed(event, place) }));
                }
            } else {
                debug_assert!(gave_up || record.is_retry(), "woken without a winner");
            }
        } else {
            // A task whose turn has been long continues in another turn, before it does anything.
            // So does a fiber that waits for a future.
            let overstays = || match Recycled::of(context.waker()) {
                // SAFETY: its memory is never freed, and we poll it. In a model no turn is long: an
                // execution must not depend on the speed of the computer.
                Some(recycled) => !is_modelled() && unsafe { recycled.as_ref() }.overstays(),
                None => turn::take_due_in(context.waker()),
            };
            if !this.stays && overstays() {
                // Only once: even if the code before it takes long in each turn, it begins.
                this.stays = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            // Set until it is known to wait: if a user's function panics, there is nothing to
            // withdraw.
            this.done = true;
            // A ready event needs neither a record nor a branch.
            if let Some(value) = event.at_once() {
                return Poll::Ready(value);
            }
        }

        loop {
            let single = event.is_single();
            // SAFETY: the future is pinned, and is not freed before it has seen the wake.
            let waker = unsafe { this.wake.prepare(context.waker(), (&raw const this.event).addr()) };
            let began = this.record.as_ref().map_or(0, |record| record.began.get());
            let record = this.record.insert(Record::new(waker, single));
            record.began.set(began);
            let attempt = Attempt::new(record, &foreign);
            // SAFETY: `branch` is structurally pinned.
            let branch = unsafe { Pin::new_unchecked(&mut this.branch) };
            // If it was told to start over, or in its second stage, the future uses the withdrawn
            // branch again.
            let place = match branch.get() {
                Some(place) => place,
                None => {
                    let place = branch.fill(|| event.branch()).cast();
                    if E::STAGED
                        // SAFETY: the branch at `place` was just made for this event.
                        && let Err(panic) = unsafe { force(event, place) }
                    {
                        // The guards that have run must be told now, not when the future is
                        // dropped. SAFETY: `branch` is structurally pinned.
                        unsafe { Pin::new_unchecked(&mut this.branch) }.clear();
                        resume_unwind(panic);
                    }
                    if let Some(context) = model() {
                        // Others touch its record and its wake. It may be anywhere.
                        context.about_to_touch(address, size_of::<Self>(), None);
                        // SAFETY: the branch at `place` was just made for this event.
                        announce(
                            event,
                            unsafe { typed::<_, E::Branch<'_>>(event, place) }.as_ref(),
                            context,
                            true,
                        );
                    }
                    place
                }
            };
            let step = (|| {
                // SAFETY: the branch at `place` was made for this event.
                if !single && event.try_commit(unsafe { typed(event, place) }, &attempt) == Step::Committed {
                    return Step::Committed;
                }
                // SAFETY: as above; `try_commit` has ended.
                publish(event, unsafe { typed(event, place) }, &attempt)
            })();
            if step == Step::Waiting {
                if let Some(recycled) = this.wake.recycled() {
                    // SAFETY: as above; `publish` has ended.
                    recycled.note(parked(event, unsafe { typed::<_, E::Branch<'_>>(event, place) }.as_ref()));
                }
                this.done = false;
                return Poll::Pending;
            }
            this.wake.done();
            // SAFETY: as above; `publish` has ended.
            if !E::STAGED || depth::from_the_top(|| event.advance(unsafe { typed(event, place) })) {
                // SAFETY: as above; `advance` has ended.
                return Poll::Ready(event.complete(unsafe { typed(event, place) }));
            }
        }
    }
}

/// Runs the guards of an event. Returns `Err` if one panics; the caller then raises the panic
/// again.
///
/// # Safety
///
/// The branch at `place` was made for `event`, and nothing else refers to it during this call.
#[inline(never)] // See `Catches::Resume`.
unsafe fn force<E: Event>(event: &E, place: *mut ()) -> thread::Result<()> {
    let _raising = raising();
    // SAFETY: by the caller's promise.
    let force = || depth::from_the_top(|| event.force(unsafe { typed(event, place) }));
    catch_unwind(AssertUnwindSafe(force))
}

impl<E: Event, const WORDS: usize> EventFuture<E, WORDS> {
    fn leave(&mut self) {
        if let (Some(record), Some(place), false) = (&self.record, self.branch.get(), self.done) {
            let foreign = Foreign { wake: &raw const self.wake };
            let attempt = Attempt::new(record, &foreign);
            // SAFETY: a future that was polled is pinned, and the branch was made for this event.
            let branch = unsafe { typed::<_, E::Branch<'_>>(self.event.get(), place) };
            if !give_up(self.event.get(), branch, &attempt) {
                foreign.park(false);
            }
        }
        self.wake.done();
        // SAFETY: `branch` is structurally pinned; it must be dropped before the event that it
        // borrows.
        unsafe { Pin::new_unchecked(&mut self.branch) }.clear();
    }
}

impl<E, const WORDS: usize> Drop for EventFuture<E, WORDS> {
    #[inline]
    fn drop(&mut self) {
        // Without a record it has published nothing and has no branch.
        if self.record.is_some() {
            (self.leave)(self);
        }
        touched(std::ptr::from_ref(self).addr(), Touch::Gone);
    }
}

/// Returns the model that schedules this thread.
fn model() -> Option<&'static dyn PerformerContext> {
    context::in_model().filter(|context| context.is_model())
}

/// The context of a future. A future waits by returning to its executor; this context parks only to
/// let a committer finish that is a few instructions from the wake.
struct Foreign {
    wake: *const Wake,
}

// SAFETY: `park` returns once `wake` has been called on the waker, and the steps before the wake
// happen before the return. Timers lie in a shared wheel, which keeps the promises of `arm`.
unsafe impl PerformerContext for Foreign {
    fn waker(&self) -> PerformerWaker {
        unreachable!("a future makes its own waker")
    }
    fn park(&self, _: bool) -> Unparked {
        // SAFETY: the future owns it and outlives this context.
        unsafe { &*self.wake }.wait();
        Unparked::Woken
    }
    fn unwind(&self) -> ! {
        unreachable!("a future is not interrupted")
    }
    fn is_rooted(&self) -> bool {
        // It is then a part of its task's future, which is dropped with the task. SAFETY: the
        // future owns it and outlives this context.
        unsafe { &*self.wake }.recycled().is_some()
    }
    fn now(&self) -> u64 {
        if is_running() { context::now() } else { clock::now() }
    }
    fn now_to_arm(&self) -> u64 {
        if is_running() { context::now_to_arm() } else { clock::now() }
    }
    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        if let Some(context) = model() {
            // SAFETY: passed on to the caller.
            return unsafe { context.arm(timer, deadline) };
        }
        // SAFETY: the future owns it and outlives this context.
        let task = unsafe { &*self.wake }.task();
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::arm_polled(timer, deadline, task) }
    }
    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // One that was armed before the model began names a wheel.
        // SAFETY: alive, by the caller's promise.
        if let (Some(context), None) = (model(), unsafe { timer.as_ref() }.named()) {
            // SAFETY: passed on to the caller.
            return unsafe { context.disarm(timer) };
        }
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::disarm(timer) }
    }
}

impl<E: Event + fmt::Debug, const WORDS: usize> fmt::Debug for EventFuture<E, WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventFuture").field("event", self.event.get()).field("done", &self.done).finish()
    }
}

/// Implements [`IntoFuture`] for an event type, which makes `event.await` work. (Rust's orphan
/// rules do not allow one implementation for all events.) With `single` its future is the small one,
/// for an event that waits in one place. With `=> inner` it awaits that event in its place.
#[doc(hidden)]
#[macro_export]
macro_rules! awaitable {
    ([$($generics:tt)*] $event:ty $(, $single:ident)?) => {
        $crate::event::awaitable!(@ [$($generics)*] $event => $event, |event| event $(, $single)?);
    };
    // An awaited event is performed once, which `$inner` does better.
    ([$($generics:tt)*] $event:ty => $inner:ty, $once:expr $(, $single:ident)?) => {
        $crate::event::awaitable!(@ [$($generics)*] $event => $inner, $once $(, $single)?);
    };
    (@ [$($generics:tt)*] $event:ty => $inner:ty, $once:expr) => {
        $crate::event::awaitable!(@@ [$($generics)*] $event => $inner, $once, $crate::event::EventFuture<$inner>);
    };
    (@ [$($generics:tt)*] $event:ty => $inner:ty, $once:expr, single) => {
        $crate::event::awaitable!(
            @@ [$($generics)*] $event => $inner, $once,
            $crate::event::EventFuture<$inner, { $crate::event::SINGLE_WORDS }>
        );
    };
    (@@ [$($generics:tt)*] $event:ty => $inner:ty, $once:expr, $future:ty) => {
        impl<$($generics)*> IntoFuture for $event {
            type Output = <$inner as $crate::Event>::Output;
            type IntoFuture = $future;
            fn into_future(self) -> Self::IntoFuture {
                let once: fn(Self) -> $inner = $once;
                $crate::event::EventFuture::new(once(self))
            }
        }
    };
}
pub use awaitable;
