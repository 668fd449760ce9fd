//! Limits: points in time at which the waits of the code on a stack end.
//!
//! A limit lies on the stack of the call that it is for, and the stack of a fiber or the thread knows
//! its innermost limit. One timer is armed for each limit, and none for the waits below it. When the
//! timer fires it marks the limit, and disturbs the performer if it waits: the domain resumes the
//! fiber without a wake, as it does at a shutdown, or the thread is unparked. The performer then looks
//! by itself whether a limit has passed. So a wait does nothing about limits: a fiber that is about to
//! park looks at the one flag at which it looks anyway.
//!
//! *The waits that end.* A limit ends the waits of the code that has been called below it, on this
//! stack. A task that begins on the stack of its spawner is not part of that call, so a limit is for the
//! code of one task (or of none), and waits above another task do not end by it.
//!
//! *How they end.* A wait either returns an error, where its operation has one, or unwinds to the
//! limit's call. If several limits have passed, the outermost one ends its call: the inner calls have
//! no time left either. Code that cannot be unwound to a limit, because a foreign frame or an unwinding
//! destructor is in between, waits as if that limit were not there; so a destructor completes. So does
//! masked code: code that acts for others, as a waker that is called below the limit, and code whose
//! unwinding would be caught on the way.
//!
//! *The end of a limit.* A performer must not take its limit away while the thread that fires timers
//! still uses it. If the timer has been taken out of its wheel undecided, nothing else knows the limit.
//! If the timer has decided the limit's record, the firing thread owes it a mark, which is the last thing
//! that it does to the limit, and the performer waits for that mark. The thread that fires timers is not
//! there in a forked child; so a limit belongs to the process that made it.

use super::nowhere::{Nowhere, no_waker};
use crate::event::ends::Ends;
use crate::event::performer::limits::{Kind, Limits, Node};
#[doc(hidden)]
pub use crate::event::performer::limits::{Masked, is_masked};
use crate::event::performer::parker;
use crate::event::performer::parker::{Parker, SURROUNDINGS};
use crate::event::protocol::context::{PerformerContext, installed};
use crate::event::protocol::record::{Attempt, Record};
use crate::event::protocol::timer::Timer;
use crate::event::waker::PerformerWaker;
use crate::shim::thread;
use crate::time::outside;
use std::any::Any;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;

/// A time that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// The performer that a limit disturbs.
enum Whose {
    /// The pointer may be used for all of the fiber.
    Fiber(NonNull<Parker>),
    Thread(thread::Thread),
}

/// A limit. It is pinned from `enter` until its guard is dropped.
pub struct Limit {
    node: Node,
    whose: Whose,
    record: Record,
    timer: Timer,
    _pinned: PhantomPinned,
}

/// Returns `true` if a wait of a plain thread that may end in this way ends now.
pub(in crate::event) fn thread_ends_a_wait(ends: Ends) -> bool {
    let limits = Limits::of_thread();
    !limits.is_empty() && limits.end_a_wait(ends, &SURROUNDINGS)
}

/// Unwinds to the limit by which [`Limits::end_a_wait`] has ended a wait. The caller has withdrawn.
#[cold]
pub(in crate::event) fn unwind() -> ! {
    let target = Limits::here().target(&SURROUNDINGS);
    let target = target.expect("a limit that has passed stays, and can still be reached");
    resume_unwind(Box::new(target.payload()))
}

/// Unwinds if a limit of the code that runs here has passed by now, also if its timer has not fired.
/// For code that has learned of it in another way.
#[doc(hidden)]
pub fn unwind_if_late() {
    let now = crate::event::now();
    let limits = Limits::here();
    limits.of_this_code(&SURROUNDINGS).filter(|limit| limit.deadline <= now).for_each(pass);
    if limits.end_a_wait(Ends::Unwinding, &SURROUNDINGS) {
        unwind();
    }
}

/// Returns the earliest time at which a wait of the code that runs here ends.
pub(crate) fn earliest() -> Option<u64> {
    Limits::here().of_this_code(&SURROUNDINGS).map(|limit| limit.deadline).min()
}

/// Does the same for others that the code is going to wait for, which end by themselves then. There is
/// no such time if the code itself could not be unwound.
#[doc(hidden)]
pub fn earliest_for_others() -> Option<u64> {
    let limits = Limits::here();
    if limits.is_empty() {
        return None;
    }
    limits.reachable(|_| true, &SURROUNDINGS).map(|limit| limit.deadline).min()
}

/// Returns `true` if the code that runs here is shielded from the limits around it.
#[doc(hidden)]
pub fn is_shielded() -> bool {
    Limits::here().with_shields(&SURROUNDINGS).any(|limit| limit.kind == Kind::Shield)
}

/// Notes that the deadline of a limit of this stack has passed.
fn pass(limit: &Node) {
    limit.pass();
    if let Some(parker) = parker::running() {
        parker.disturb();
    }
}

impl Limit {
    fn new(kind: Kind, deadline: u64) -> Self {
        let whose = match NonNull::new(parker::running_ptr().cast_mut()) {
            Some(parker) => Whose::Fiber(parker),
            None => Whose::Thread(thread::current()),
        };
        Limit {
            node: Node::new(kind, deadline, Limits::here(), &SURROUNDINGS),
            whose,
            record: Record::new(no_waker(), true),
            timer: Timer::new(),
            _pinned: PhantomPinned,
        }
    }

    /// Makes this the innermost limit until the returned guard is dropped, on this stack.
    fn enter(self: Pin<&Self>) -> Entered<'_> {
        // SAFETY: it is pinned, and the guard takes it out. It has just been made.
        unsafe { Limits::here().push(&self.get_ref().node) };
        // Before it is armed, which panics if there can be no clock thread.
        let entered = Entered(self);
        let deadline = self.node.deadline;
        if deadline <= crate::event::now() {
            pass(&self.node);
        } else if deadline != NEVER {
            // SAFETY: it is called only by a timer that has decided the record, once, and the guard
            // waits for that.
            self.record.wake_by(unsafe { PerformerWaker::new((&raw const *self).cast(), Limit::fire) });
            self.with_attempt(|attempt| {
                attempt.may_publish(true);
                attempt.publish_timer(&self.timer, |timer| match &self.whose {
                    // SAFETY: it is not armed, and the guard disarms it.
                    Whose::Fiber(_) => unsafe { attempt.context().arm(timer, deadline) },
                    // SAFETY: as above.
                    Whose::Thread(_) => unsafe { outside::arm(timer, deadline) },
                });
            });
        }
        entered
    }

    fn with_attempt<R>(&self, f: impl FnOnce(&Attempt<'_>) -> R) -> R {
        let context: &dyn PerformerContext = match &self.whose {
            Whose::Fiber(_) => installed().expect("a fiber runs in a context"),
            Whose::Thread(_) => &Nowhere,
        };
        f(&Attempt::new(&self.record, context))
    }

    /// Called when the timer of the limit at `data` has fired.
    fn fire(data: *const ()) {
        // SAFETY: the limit stays until it has its mark.
        let this = unsafe { &*data.cast::<Limit>() };
        match &this.whose {
            Whose::Fiber(parker) => {
                // SAFETY: as above.
                unsafe { Node::fire(&raw const this.node) };
                // SAFETY: the fiber is in the call that the limit is for. This is its domain's thread,
                // which fires the timers of its fibers.
                if unsafe { parker.as_ref() }.disturb() {
                    let worker = installed().expect("a domain fires its timers");
                    // SAFETY: it is parked, as it has just said, and this is its domain's thread. The
                    // pointer comes from `running_ptr`.
                    unsafe { worker.disturb(parker.as_ptr().cast()) };
                }
            }
            Whose::Thread(handle) => {
                let handle = handle.clone();
                // SAFETY: as above.
                unsafe { Node::fire(&raw const this.node) };
                // From here on the limit may be gone.
                handle.unpark();
            }
        }
    }
}

/// A guard that keeps a limit in place.
struct Entered<'a>(Pin<&'a Limit>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let this = self.0;
        let timer = NonNull::from(&this.timer);
        this.with_attempt(|attempt| {
            attempt.take_back_timer(&this.timer, || match &this.whose {
                // SAFETY: it is alive, and was armed there.
                Whose::Fiber(_) => unsafe { attempt.context().disarm(timer) },
                // SAFETY: as above.
                Whose::Thread(_) => unsafe { outside::disarm(timer) },
            });
        });
        // In a forked child no thread sets the mark.
        if this.record.won_by(this.timer.id()) && !this.node.is_inherited() {
            while !this.node.has_fired() {
                thread::yield_now();
            }
        }
        Limits::here().pop(&this.node);
    }
}

/// Calls `f`, and returns the payload of its panic. The unwinding of a limit ends at this function,
/// which is recognised by its address.
#[inline(never)]
fn catching(f: &mut dyn FnMut()) -> std::thread::Result<()> {
    let _raising = parker::raising();
    let result = catch_unwind(AssertUnwindSafe(&mut *f));
    // This keeps the call from being a tail call, which would leave no frame.
    std::hint::black_box(f);
    result
}

/// Calls `f`, whose waits end at `deadline`. Returns `None` if one of them was unwound.
#[doc(hidden)]
pub fn bounded<R>(deadline: u64, f: impl FnOnce() -> R) -> Option<R> {
    let limit = pin!(Limit::new(Kind::Call(catching as *const () as usize), deadline));
    let limit = limit.as_ref();
    let entered = limit.enter();
    let (mut f, mut result) = (Some(f), None);
    let caught = catching(&mut || result = f.take().map(|f| f()));
    drop(entered);
    match caught {
        Ok(()) => result,
        Err(payload) if payload.downcast_ref() == Some(&limit.node.payload()) => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Calls `f`, which the limits around this call do not reach.
pub(crate) fn shielded<R>(f: impl FnOnce() -> R) -> R {
    let shield = pin!(Limit::new(Kind::Shield, NEVER));
    let _entered = shield.as_ref().enter();
    f()
}

/// A limit of all the code of a fiber. The limit lies on the heap: few fibers have one.
#[doc(hidden)]
pub struct OfFiber(Pin<Box<Limit>>);

impl OfFiber {
    /// Makes the waits of the fiber that runs here, and has just begun, end at `deadline`.
    #[must_use]
    pub fn enter(deadline: u64) -> Self {
        let limit = Box::pin(Limit::new(Kind::Fiber, deadline));
        std::mem::forget(limit.as_ref().enter());
        OfFiber(limit)
    }

    /// Returns `true` if this limit has unwound its fiber, which ended with `payload`.
    #[must_use]
    pub fn is_reason_for(&self, payload: &(dyn Any + Send)) -> bool {
        payload.downcast_ref() == Some(&self.0.node.payload())
    }
}

impl Drop for OfFiber {
    fn drop(&mut self) {
        drop(Entered(self.0.as_ref()));
    }
}
