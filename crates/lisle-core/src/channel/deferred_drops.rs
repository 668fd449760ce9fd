//! Messages of asynchronous sends that a closed channel has refused, and that may be nobody's any more.
//!
//! Whoever closes a channel commits all who wait in it, and then wakes them one after another. Those that are committed
//! count on being woken soon: a future that is dropped waits for its wake, spinning. A destructor of a message could take
//! as long as it likes, and could even wait for one of them. So it runs when all have been woken, in the one who closes,
//! as those of buffered messages do.

use super::pending_send::Share;
use crate::drops;
use std::cell::RefCell;
use std::ptr::NonNull;

/// A share of an order, whatever its message is.
struct DeferredDrops {
    order: NonNull<()>,
    drop: unsafe fn(NonNull<()>),
}

impl Drop for DeferredDrops {
    fn drop(&mut self) {
        // SAFETY: made by `put` for this order.
        unsafe { (self.drop)(self.order) };
    }
}

thread_local! {
    static UNWANTED: RefCell<Vec<DeferredDrops>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a share of an order until all have been woken that are to be.
pub(super) fn put<T: Send>(order: Share<T>) {
    let deferred_drops = DeferredDrops { order: order.into_raw(), drop: Share::<T>::drop_raw };
    // Where a thread ends nothing is kept any more, and what does not come in is dropped.
    let _ended = UNWANTED.try_with(|all| all.borrow_mut().push(deferred_drops));
}

/// Runs `wake`, which wakes those that have been committed, and then drops what has become deferred_drops meanwhile. If it closes
/// other channels in turn, what becomes deferred_drops there is dropped there.
///
/// # Panics
///
/// As destructors of messages do.
pub(super) fn drop_after(wake: impl FnOnce()) {
    let outer = UNWANTED.try_with(|all| all.take());
    wake();
    let deferred_drops = UNWANTED.try_with(|all| all.replace(outer.unwrap_or_default()));
    drops::each(deferred_drops.unwrap_or_default());
}
