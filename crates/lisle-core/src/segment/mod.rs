//! The stack of a fiber or of a handled computation: a stack that is left by whoever runs on it,
//! and gone on with.
//!
//! A segment is resumed as a call: that of a fiber by its worker, that of a computation by code of
//! a fiber or thread. What runs on it may in turn resume another. Whoever performs an effect
//! suspends one of the segments that its call has come through, and with it all that lie within
//! that one: the processor leaves the innermost stack and goes on where the suspended segment was
//! resumed.
//!
//! # Why the switch is our own
//!
//! A processor predicts a return from the calls that it has seen last. A switch that is a call on
//! one side and a return on the other, as that of `corosensei` is, puts its own entries among those
//! of the producer of a generator: each turn that goes on at another depth of calls than the one
//! before it left mispredicts the returns of both sides. So on the platforms of `own.rs` both
//! directions are jumps, both are inlined into the code that switches, and neither side sees a
//! change in what the processor has noted of its calls. A walk of a tree takes 22 to 25 ns a node
//! in place of 61; to spawn and join a fiber takes 70 in place of 80. Messages between fibers take
//! what they took: in a steady exchange the switch returns to where the processor expects it. Other
//! platforms use `corosensei`, see `coroutine.rs`.
//!
//! # Panics
//!
//! A panic does not pass the switch: it is caught at the root of a segment, and raised again by the
//! resumer of a computation. Debuggers and the unwinder see the resumer's frames beyond those of
//! the segment, through one that looks like that of a signal handler; `unwinding` recognises it by
//! that.

#[cfg_attr(
    all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    path = "own.rs"
)]
#[cfg_attr(
    not(all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    path = "coroutine.rs"
)]
mod switch;

use std::ptr::NonNull;

pub(crate) use switch::is_resumer;
pub use switch::{Segment, Way};

/// What a segment asks of its resumer: a place on the segment, or on one within it.
#[derive(Debug, Clone, Copy)]
pub struct Request(pub NonNull<()>);

/// A stack that another value owns.
#[derive(Debug)]
pub struct Place {
    base: usize,
    limit: usize,
}

impl Place {
    /// Returns the stack that grows down from `base`, to a guard at `limit`.
    ///
    /// # Safety
    ///
    /// The memory between the two stays, and is used by nothing else, until the segment that gets
    /// this has ended. Both are multiples of 16. The lowest part of it is a guard.
    #[inline(always)]
    pub unsafe fn new(base: usize, limit: usize) -> Self {
        Place { base, limit }
    }
}
