//! The beginning and the end of a fiber on its domain.

use super::{Worker, with_current};
use crate::event::PerformerWaker;
use crate::sched::Domain;
use crate::shim::{sync::Arc, unseen::Ordering};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::head::Outcome;
use crate::spawned::hooks::Moment;
use crate::stack::taken::{Supply, Taken, keep_spare, take_spare};
use crate::unwinding;
use lisle_core::internal::exceptions::Exceptions;
use lisle_core::internal::segment::{ResumerLink, Segment};
use std::io;
use std::ptr::NonNull;

/// The part of a fiber's stack that is left to the code that runs last on it. No task begins there.
const LEFT_TO_LEAVES: usize = 64 * 1024;

impl Worker {
    /// Gives a new fiber its stack. Returns `false` if no stack can be had now.
    #[inline(never)]
    pub(super) fn begin(&self, fiber: NonNull<Fiber>) -> bool {
        self.arrive();
        // SAFETY: a queued fiber is alive, and one that has not begun belongs to this domain alone.
        let this = unsafe { fiber.as_ref() };
        let taken = self.stacks.borrow_mut().take();
        let stack = match taken {
            Ok(stack) => stack,
            Err(error) => {
                self.starves(fiber, &error);
                return false;
            }
        };
        // SAFETY: the fiber keeps the stack until its segment has ended, see `end`.
        let lent = unsafe { stack.lend() };
        if self.exceptions.is_some() {
            // SAFETY: the stack was just taken, and nothing runs on it.
            unsafe { stack.exceptions().write(Exceptions::new()) };
        }
        // SAFETY: a fiber that has not begun has no stack, and no other code reads this field.
        unsafe { *this.stack.get() = Some(stack) };
        this.domain.store(Arc::as_ptr(&self.domain).cast_mut().cast(), Ordering::Relaxed);
        // SAFETY: only this domain touches the field, which was just written.
        let usable = unsafe { &*this.stack.get() }.as_ref().map_or(0..0, |stack| stack.usable());
        #[cfg(feature = "model")]
        self.has_stack(this, usable.clone());
        this.stack_state.limit.set(usable.start + LEFT_TO_LEAVES.min(self.shared.stack_size / 2));
        // SAFETY: `wake_fiber` may be called from any thread while the fiber lives, and a fiber
        // with an unconsumed wake does not end.
        this.parker.waker.set(Some(unsafe { PerformerWaker::new(fiber.as_ptr().cast(), wake_fiber) }));
        let random = &raw const self.random;
        let root = move |link: &ResumerLink| {
            // SAFETY: a fiber is alive while it runs.
            let parker = unsafe { &fiber.as_ref().parker };
            // SAFETY: this is the fiber's segment, and this `Worker` stays as long as the fiber.
            unsafe { parker.begin(link, random) };
            // SAFETY: the fiber begins here, once.
            unwinding::outermost(|| unsafe { fiber_cell::live(fiber) });
        };
        // SAFETY: the closure borrows nothing, and `live` catches panics. A segment that does not
        // begin keeps its fiber, as one that never ends.
        let segment = unsafe { Segment::new(lent, root) };
        // SAFETY: as above.
        unsafe { *this.segment.get() = Some(segment) };
        // SAFETY: it has just begun, and is removed when it ends.
        unsafe { self.begun.insert(fiber) };
        true
    }

    /// Takes a stack for a handled computation of the fiber that runs now.
    #[inline]
    pub(crate) fn take_stack(&self) -> io::Result<Taken> {
        let lender = std::ptr::from_ref(self).addr();
        let taken = |stack| Taken::new(stack, Supply::Domain, self.shared.stack_size, lender);
        self.stacks.borrow_mut().take().map(taken)
    }

    /// Returns `true` if this domain, or its thread, may take back the stack.
    pub(crate) fn has_lent(&self, stack: &Taken) -> bool {
        stack.is_of(std::ptr::from_ref(self).addr(), self.shared.stack_size)
    }

    /// Takes back such a stack.
    #[inline]
    pub(crate) fn give_stack(&self, stack: Taken) {
        self.stacks.borrow_mut().give(stack.into_stack());
    }

    /// Takes back the stack that the thread has at hand, since the domain ends.
    pub(super) fn take_spare_back(&self) {
        match take_spare() {
            Some(spare) if spare.supply() == Supply::Domain => self.give_stack(spare),
            // It stays with the thread, which has none at hand now.
            spare => drop(spare.and_then(keep_spare)),
        }
    }

    /// Takes back a fiber's stack and wakes its joiners.
    #[inline(never)]
    pub(super) fn end(&self, fiber: NonNull<Fiber>) {
        // SAFETY: the fiber's own reference keeps it alive.
        let this = unsafe { fiber.as_ref() };
        if self.is_hooked() {
            self.after_turn(this, Moment::Ends);
        }
        self.current.set(std::ptr::null_mut());
        // SAFETY: only the domain's own thread touches the segment, and it has ended.
        unsafe { *this.segment.get() = None };
        // SAFETY: only the domain's own thread touches the stack, and the segment has ended.
        let stack = unsafe { &mut *this.stack.get() }.take();
        self.stacks.borrow_mut().give(stack.expect("it has just run"));
        // SAFETY: it was added when it began.
        unsafe { self.begun.remove(fiber) };
        self.domain.retire(this);
        // Before the joiners know: their next fibers may be for this domain.
        self.domain.resting();
        if self.shared.domains.len() > 1 {
            self.shared.groups.learn(this.site(), &this.kin);
        }
        if this.is_spread.get() {
            self.domain.spread_one_ended();
        }
        let is_runner = this.is_runner();
        #[cfg(feature = "model")]
        if !is_runner {
            self.has_ended(&this.runnable);
        }
        // SAFETY: the fiber has run to its end.
        if unsafe { fiber_cell::finish(fiber) } {
            if this.outcome().get() == Outcome::Done {
                // The handle was dropped at the last moment. Destructors may block, so they get a
                // fiber.
                self.free_in_fiber(fiber);
            } else {
                // SAFETY: that was the last reference.
                unsafe { fiber_cell::free(fiber) };
            }
        }
        if !is_runner {
            self.domain.counts.finished.add(1);
            self.shared.fiber_ended();
        }
    }

    #[cold]
    fn free_in_fiber(&self, fiber: NonNull<Fiber>) {
        /// Frees the fiber also if the closure that owns this is dropped unrun.
        struct Last(NonNull<Fiber>);
        impl Drop for Last {
            fn drop(&mut self) {
                // SAFETY: the last reference was handed over to this.
                unsafe { fiber_cell::free(self.0) };
            }
        }
        let last = Last(fiber);
        // SAFETY: alive until the last reference is released.
        let site = unsafe { fiber.as_ref() }.site();
        let cleaner = Fiber::new(move || drop(last), Traits::default(), site);
        self.spawn(cleaner, None);
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(cleaner) };
    }
}

/// Wakes the fiber at `data`, from any thread.
fn wake_fiber(data: *const ()) {
    let fiber = NonNull::new(data.cast_mut().cast::<Fiber>()).expect("the fiber of a waker");
    // SAFETY: a fiber does not end before a wake that is under way has arrived.
    let domain = unsafe { fiber.as_ref() }.domain.load(Ordering::Relaxed).cast::<Domain>().cast_const();
    with_current(|worker| match worker {
        Some(worker) if std::ptr::eq(Arc::as_ptr(&worker.domain), domain) => worker.wake(fiber),
        // SAFETY: the fiber is alive and has begun, so its domain is alive until it has been woken.
        _ => unsafe { Domain::hand_over_at(domain, fiber) },
    });
}
