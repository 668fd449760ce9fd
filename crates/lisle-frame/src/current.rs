//! Which world's frame is under way on this thread.

use std::any::Any;
use std::cell::Cell;
use std::ptr::null;
use std::rc::Rc;

// Neither has a destructor: frames run also where a thread ends.
thread_local! {
    /// The innermost of the frames that are under way on this thread, or null.
    static INNERMOST: Cell<*const Entered> = const { Cell::new(null()) };
    /// The world whose streams run, or null.
    static CURRENT: Cell<*const ()> = const { Cell::new(null()) };
}

/// A frame that is under way. It is on the stack of [`enter`].
struct Entered {
    world: Rc<dyn Any>,
    /// The frame that was the innermost before. Fibers may end their frames in another order than they have
    /// begun them.
    around: Cell<*const Entered>,
    /// The world that was current before, or null.
    before: *const (),
}

impl Entered {
    fn is_of(&self, world: *const ()) -> bool {
        std::ptr::eq(Rc::as_ptr(&self.world).cast(), world)
    }
}

/// Makes a world the current one while `f` runs, and keeps it.
pub(crate) fn enter<R>(world: Rc<dyn Any>, f: impl FnOnce() -> R) -> R {
    struct Leaves<'a>(&'a Entered);
    impl Drop for Leaves<'_> {
        fn drop(&mut self) {
            let within = all().take_while(|entered| !std::ptr::eq(*entered, self.0)).last();
            match within {
                Some(within) => within.around.set(self.0.around.get()),
                None => INNERMOST.set(self.0.around.get()),
            }
            go_back_to(self.0.before);
        }
    }
    let before = CURRENT.replace(Rc::as_ptr(&world).cast());
    let entered = Entered { world, around: Cell::new(INNERMOST.get()), before };
    INNERMOST.set(&raw const entered);
    let _leaves = Leaves(&entered);
    f()
}

/// Returns the frames that are under way on this thread, the innermost first.
fn all<'a>() -> impl Iterator<Item = &'a Entered> {
    let mut next = INNERMOST.get();
    std::iter::from_fn(move || {
        // SAFETY: a frame stays until it has been taken out of the list, which only this thread changes, and
        // nobody keeps what is returned here.
        let entered = unsafe { next.as_ref() }?;
        next = entered.around.get();
        Some(entered)
    })
}

/// Makes this world the current one again, or none if its frame is over: code that was suspended may go
/// back long after that, and the world may be gone.
fn go_back_to(before: *const ()) {
    CURRENT.set(if all().any(|entered| entered.is_of(before)) { before } else { null() });
}

/// Returns where the current world is, or null. It is alive as long as it is entered.
#[inline(always)]
pub(crate) fn current() -> *const () {
    CURRENT.get()
}

/// Calls what is in no frame although one is under way on this thread: a foreign function, which
/// may as well run elsewhere, or the host program's pool, in which other fibers of the thread may
/// run.
pub(crate) fn outside_of_frames<R>(f: impl FnOnce() -> R) -> R {
    struct Back(*const ());
    impl Drop for Back {
        fn drop(&mut self) {
            go_back_to(self.0);
        }
    }
    let _back = Back(CURRENT.replace(null()));
    f()
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
