//! Messages of asynchronous sends that a closed channel has refused and that may have no owner
//! left.
//!
//! The thread that closes a channel commits all waiters of the channel and then wakes them one
//! after another. Committed waiters rely on being woken soon: a future that is dropped spins until
//! its wake. A destructor of a message could take any time, and could even wait for one of those
//! waiters. The messages are therefore dropped after all waiters have been woken, on the thread
//! that closes the channel, as buffered messages are.

use super::pending_send::Share;
use crate::drops;
use std::cell::RefCell;
use std::ptr::NonNull;

/// A share of a pending send, with its message type erased.
struct DeferredDrops {
    order: NonNull<()>,
    drop: unsafe fn(NonNull<()>),
}

impl Drop for DeferredDrops {
    fn drop(&mut self) {
        // SAFETY: `put` made this from a share of the type that `drop` expects, and it is dropped
        // once.
        unsafe { (self.drop)(self.order) };
    }
}

thread_local! {
    static UNWANTED: RefCell<Vec<DeferredDrops>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a share of a pending send until all waiters have been woken.
pub(super) fn put<T: Send>(order: Share<T>) {
    let deferred_drops = DeferredDrops { order: order.into_raw(), drop: Share::<T>::drop_raw };
    // While a thread ends, its list may already be gone. Then the share is dropped here.
    let _ended = UNWANTED.try_with(|all| all.borrow_mut().push(deferred_drops));
}

/// Runs `wake`, which wakes the committed waiters, and then drops the shares that [`put`] has kept
/// meanwhile. If `wake` closes other channels in turn, the shares that are kept there are dropped
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
