//! Which world's frame is under way on this thread.

use crate::under_way::{self, UnderWay};
use std::any::Any;
use std::rc::Rc;

thread_local! {
    /// The worlds whose frames are under way on this thread.
    static FRAMES: UnderWay<()> = const { UnderWay::new() };
}

/// Makes a world the current one while `f` runs, and keeps it.
pub(crate) fn enter<R>(world: Rc<dyn Any>, f: impl FnOnce() -> R) -> R {
    under_way::enter(&FRAMES, Rc::as_ptr(&world).cast(), f)
}

/// Returns where the current world is, or null. It is alive as long as it is entered.
#[inline(always)]
pub(crate) fn current() -> *const () {
    under_way::current(&FRAMES)
}

/// Calls what is in no frame although one is under way on this thread: a foreign function, which
/// may as well run elsewhere, or the host program's pool, in which other fibers of the thread may
/// run.
pub(crate) fn outside_of_frames<R>(f: impl FnOnce() -> R) -> R {
    under_way::outside(&FRAMES, f)
}

/// Lets other fibers of this domain have a turn if frames have kept them from it for long.
#[inline(always)]
pub(crate) fn let_others_pass() {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    lisle_runtime::facade::event::turn::pass_if_due();
}

/// Runs streams, or other code of the user's, in a frame. A fiber that runs it must not be
/// suspended: the others of its thread would be in the frame, too. With a Lisle runtime, waiting
/// for its events in a body, and not by `await`, is a panic therefore, which the body's stream
/// fails with.
#[inline(always)]
pub(crate) fn unsuspended<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "runtime", not(lisle_loom)))]
    if !current().is_null() {
        return lisle_runtime::fiber::no_suspend(f);
    }
    f()
}
