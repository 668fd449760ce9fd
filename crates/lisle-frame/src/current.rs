//! Which world's frame is under way on this thread.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr::null;
use std::rc::Rc;

thread_local! {
    /// The worlds whose frames are under way on this thread, the innermost last. Fibers may end
    /// their frames in another order than they have begun them.
    static ENTERED: RefCell<Vec<Rc<dyn Any>>> = const { RefCell::new(Vec::new()) };
    /// The one whose streams run.
    static CURRENT: Cell<*const ()> = const { Cell::new(null()) };
}

/// Makes a world the current one until it is dropped.
pub(crate) struct Entered {
    world: Rc<dyn Any>,
    /// The one that was current before, or null.
    before: *const (),
}

impl Entered {
    pub(crate) fn new(world: Rc<dyn Any>) -> Entered {
        // There is no list any more if the thread ends, and with it a world that it has kept.
        let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(world.clone()));
        let before = CURRENT.replace(Rc::as_ptr(&world).cast());
        Entered { world, before }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Dropped when the list is not referred to any more.
        let _left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let at = entered.iter().rposition(|world| Rc::ptr_eq(world, &self.world));
            at.map(|at| entered.remove(at))
        });
        go_back_to(self.before);
    }
}

/// Makes this world the current one again, or none if its frame is over: code that was suspended may go
/// back long after that, and the world may be gone.
fn go_back_to(before: *const ()) {
    let is_it = |world: &Rc<dyn Any>| std::ptr::eq(Rc::as_ptr(world).cast(), before);
    let is_entered = ENTERED.try_with(|entered| entered.borrow().iter().any(is_it));
    CURRENT.set(if is_entered.unwrap_or(false) { before } else { null() });
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
