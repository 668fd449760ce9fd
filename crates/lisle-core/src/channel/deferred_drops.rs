//! Messages of asynchronous sends that a closed channel has refused and that may have no owner
//! left.
//!
//! The thread that closes a channel commits all waiters of the channel and then wakes them one
//! after another. Committed waiters rely on being woken soon: a future that is dropped spins until
//! its wake. A destructor of a message could take any time, and could even wait for one of those
//! waiters. The messages are therefore dropped after all waiters have been woken, on the thread
//! that closes the channel, as buffered messages are.

use crate::drops;
use std::cell::RefCell;
use std::ptr::NonNull;

/// A value with its type erased.
struct DeferredDrop {
    value: NonNull<()>,
    drop: unsafe fn(NonNull<()>),
}

impl Drop for DeferredDrop {
    fn drop(&mut self) {
        // SAFETY: the caller of `put` allows one such call, and this is the only one.
        unsafe { (self.drop)(self.value) };
    }
}

thread_local! {
    static UNWANTED: RefCell<Vec<DeferredDrop>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a value until all waiters have been woken, and then drops it with `drop`.
///
/// # Safety
///
/// `drop` may be called with `value`, once, on this thread.
pub(super) unsafe fn put(value: NonNull<()>, drop: unsafe fn(NonNull<()>)) {
    let value = DeferredDrop { value, drop };
    // While a thread ends, its list may already be gone. Then the value is dropped here.
    let _ended = UNWANTED.try_with(|all| all.borrow_mut().push(value));
}

/// Runs `wake`, which wakes the committed waiters, and then drops the values that [`put`] has kept
/// meanwhile. If `wake` closes other channels in turn, the values that are kept there are dropped
/// there.
///
/// # Panics
///
/// Panics if the destructor of a message does.
pub(super) fn drop_after(wake: impl FnOnce()) {
    let outer = UNWANTED.try_with(|all| all.take());
    wake();
    let deferred_drops = UNWANTED.try_with(|all| all.replace(outer.unwrap_or_default()));
    drops::each(deferred_drops.unwrap_or_default());
}
