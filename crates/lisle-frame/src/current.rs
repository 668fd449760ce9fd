//! Which world's frame is under way on this thread.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr::null;
use std::rc::Rc;

thread_local! {
    /// The worlds whose frames are under way on this thread, the innermost last. Fibers may end their
    /// frames in another order than they have begun them.
    static ENTERED: RefCell<Vec<Rc<dyn Any>>> = const { RefCell::new(Vec::new()) };
    /// The one whose streams run.
    static CURRENT: Cell<*const ()> = const { Cell::new(null()) };
}

/// Makes a world the current one until it is dropped.
pub(crate) struct Entered(Rc<dyn Any>);

impl Entered {
    pub(crate) fn new(world: Rc<dyn Any>) -> Entered {
        CURRENT.set(Rc::as_ptr(&world).cast());
        ENTERED.with_borrow_mut(|entered| entered.push(world.clone()));
        Entered(world)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let left = ENTERED.with_borrow_mut(|entered| {
            let at = entered.iter().rposition(|world| Rc::ptr_eq(world, &self.0));
            let left = at.map(|at| entered.remove(at));
            CURRENT.set(entered.last().map_or(null(), |world| Rc::as_ptr(world).cast()));
            left
        });
        drop(left);
    }
}

/// Returns where the current world is, or null. It is alive as long as it is entered.
#[inline(always)]
pub(crate) fn current() -> *const () {
    CURRENT.get()
}

/// Calls a function of the host program's in a frame, between streams. Other fibers of the thread may
/// run meanwhile, and are in no frame.
pub(crate) fn outside_of_frames<R>(f: impl FnOnce() -> R) -> R {
    struct Back(*const ());
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _back = Back(CURRENT.replace(null()));
    f()
}
