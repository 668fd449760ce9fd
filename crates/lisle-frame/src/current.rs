//! The world whose frame is under way on this thread.

use crate::under_way::{self, UnderWay};
use std::any::Any;
use std::rc::Rc;

thread_local! {
    /// The worlds whose frames are under way on this thread.
    static FRAMES: UnderWay<()> = const { UnderWay::new() };
}

/// Makes a world the current one while `f` runs, and keeps the world alive.
pub(crate) fn enter<R>(world: Rc<dyn Any>, f: impl FnOnce() -> R) -> R {
    under_way::enter(&FRAMES, Rc::as_ptr(&world).cast(), f)
}

/// Returns a pointer to the current world, or null. The world is alive as long as it is entered.
#[inline(always)]
pub(crate) fn current() -> *const () {
    under_way::current(&FRAMES)
}

/// Calls code that is in no frame although a frame is under way on this thread. This is a foreign
/// function, which may as well run elsewhere, or the host program's pool, in which other fibers
/// of the thread may run.
pub(crate) fn outside_of_frames<R>(f: impl FnOnce() -> R) -> R {
    under_way::outside(&FRAMES, f)
}

/// Lets other fibers of this domain have a turn if frames have kept them from it for long.
#[inline(always)]
pub(crate) fn let_others_pass() {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    lisle_runtime::facade::event::turn::pass_if_due();
}

/// Runs streams, or other code of the user, in a frame. A fiber that runs the frame must not be
/// suspended: the other fibers of its thread would be in the frame, too. Therefore, with a Lisle
/// runtime, a body that waits for an event otherwise than by `await` panics, and its stream
/// fails.
#[inline(always)]
pub(crate) fn unsuspended<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    if !current().is_null() {
        return lisle_runtime::fiber::no_suspend(f);
    }
    f()
}
