//! The stack of a handled computation: a stack that is left by whoever runs on it, and gone on with.
//!
//! A fiber is resumed by its worker. A segment is resumed by code of a fiber or thread, as a call,
//! and what runs on it may in turn resume another. Whoever performs an effect suspends one of the
//! segments that its call has come through, and with it all that lie within that one: the processor
//! leaves the innermost stack and goes on where the suspended segment was resumed.
//!
//! The switch from a segment back to its resumer is inlined into the code that performs, for the
//! reason given in `event/parker.rs`. The switch to a segment is in one function, [`resume`]. A
//! call on one side of a switch and its return on the other would be mispredicted; here the call
//! and the return are both on the resumer's side.
//!
//! A panic does not pass the switch: it is caught at the root of a segment and raised again by the
//! resumer. `unwinding` recognises [`resume`], so as to look at the frames of the stacks beyond.

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::ptr::NonNull;

/// What a segment asks of its resumer: a place on the segment, or on one within it.
#[derive(Debug, Clone, Copy)]
pub struct Request(pub NonNull<()>);

/// A coroutine on a stack of its own, whose result is left where both sides find it.
pub type Segment = Coroutine<(), Request, (), Place>;

/// The way from a segment to its resumer.
pub type Way = Yielder<(), Request>;

/// A stack that another value owns.
#[derive(Debug)]
pub struct Place {
    base: StackPointer,
    limit: StackPointer,
}

impl Place {
    /// Returns the stack that grows down from `base`, to a guard at `limit`.
    ///
    /// # Safety
    ///
    /// The memory between the two stays, and is used by nothing else, until the coroutine that gets
    /// this has ended. Both are multiples of 16. The lowest part of it is a guard.
    #[inline(always)]
    pub unsafe fn new(base: usize, limit: usize) -> Self {
        let pointer = |address| StackPointer::new(address).expect("a stack is not at address 0");
        Place { base: pointer(base), limit: pointer(limit) }
    }
}

// SAFETY: by the promise of the caller of `new`.
unsafe impl Stack for Place {
    #[inline(always)]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline(always)]
    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// Goes on with a segment until it is left again, or ends.
#[inline(never)]
pub fn resume(segment: &mut Segment) -> CoroutineResult<Request, ()> {
    segment.resume(())
}
