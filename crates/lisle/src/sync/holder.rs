//! Who holds a lock: an address that tells performers apart.

/// The performer now running: the address of a host's parker, elsewhere that of a thread-local. A future goes by
/// the thread that polls it.
#[cfg(not(lisle_loom))]
#[inline(always)]
pub(super) fn performer() -> usize {
    thread_local! { static HERE: u8 = const { 0 }; }
    match crate::event::parker::running() {
        Some(parker) => std::ptr::from_ref(parker).addr(),
        None => HERE.with(|here| std::ptr::from_ref(here).addr()),
    }
}

/// Models do not ask.
#[cfg(lisle_loom)]
pub(super) fn performer() -> usize {
    1
}
