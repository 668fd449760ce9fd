//! The context of performances that never wait.

use crate::event::ends::Unparked;
use crate::event::protocol::context;
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::timer::Timer;
use crate::event::waker::PerformerWaker;
use std::ptr::NonNull;

pub(in crate::event) fn no_waker() -> PerformerWaker {
    fn nothing(_: *const ()) {}
    // SAFETY: `nothing` ignores its argument and does nothing.
    unsafe { PerformerWaker::new(std::ptr::null(), nothing) }
}

/// A context for performances that never wait.
#[doc(hidden)]
#[derive(Debug)]
pub struct Nowhere;

// SAFETY: it never parks and never arms.
unsafe impl PerformerContext for Nowhere {
    fn waker(&self) -> PerformerWaker {
        no_waker()
    }
    fn park(&self, _: bool) -> Unparked {
        unreachable!("a poll does not park")
    }
    fn unwind(&self) -> ! {
        unreachable!("a poll is not interrupted")
    }
    unsafe fn arm(&self, _: NonNull<Timer>, _: u64) {
        unreachable!("a poll does not publish")
    }
    unsafe fn disarm(&self, _: NonNull<Timer>) {}
    fn now(&self) -> u64 {
        context::now()
    }
    fn now_to_arm(&self) -> u64 {
        context::now_to_arm()
    }
}
