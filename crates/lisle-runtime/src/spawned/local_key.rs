//! The common half of the keys of `fiber_local!` and `task_local!`.

use super::locals::Locals;
use super::thread_locals::ThreadLocals;
use std::thread::LocalKey;

/// How a value is made, at the address by which it is found.
pub(crate) struct Key<T: 'static> {
    init: fn() -> T,
}

impl<T: 'static> Key<T> {
    pub(crate) const fn new(init: fn() -> T) -> Self {
        Key { init }
    }

    /// Runs `f` with the value of this key among `own`, or among the locals of the thread if there
    /// are none. Makes the value first if there is none.
    ///
    /// # Panics
    ///
    /// Without `own`, if `of_thread` has been destroyed, or is being destroyed.
    ///
    /// # Safety
    ///
    /// `own` are the locals of a fiber or a task that this call is a part of, and only the thread that
    /// runs it touches them. If they move with a task from thread to thread, `T` is `Send`.
    #[inline]
    pub(crate) unsafe fn with<R>(
        &'static self,
        own: Option<&Locals>,
        of_thread: &'static LocalKey<ThreadLocals>,
        f: impl FnOnce(&T) -> R,
    ) -> R {
        let key = std::ptr::from_ref(self).addr();
        let value = match own {
            Some(locals) => locals.get(key, self.init),
            None => of_thread.with(|locals| locals.get(key, self.init)),
        };
        // SAFETY: the value is dropped only when the fiber, the task or the thread has ended, and this
        // call is a part of it. The calls of this function that are under way share the value, all on
        // this thread.
        f(unsafe { value.as_ref() })
    }
}
