//! What runs on the threads of a pool before and after everything else.

use crate::registry::Registry;
use std::cell::RefCell;
use std::sync::Arc;

pub(crate) type Handler = dyn Fn(usize) + Send + Sync;

/// The handlers of the start and the exit of a pool's threads.
pub(crate) struct Handlers {
    pub(crate) start: Option<Box<Handler>>,
    pub(crate) exit: Option<Box<Handler>>,
}

thread_local! {
    /// The index of this thread and its pool, while a handler runs.
    static HANDLED: RefCell<Option<(usize, Arc<Registry>)>> = const { RefCell::new(None) };
}

/// Returns the index of this thread and its pool, if it runs a handler.
#[cold]
pub(crate) fn handled() -> Option<(usize, Arc<Registry>)> {
    HANDLED.try_with(|handled| handled.borrow().clone()).ok()?
}

impl Handlers {
    pub(crate) fn start(&self, index: usize, registry: &Arc<Registry>) {
        call(self.start.as_deref(), index, registry);
    }

    pub(crate) fn exit(&self, index: usize, registry: &Arc<Registry>) {
        call(self.exit.as_deref(), index, registry);
    }
}

fn call(handler: Option<&Handler>, index: usize, registry: &Arc<Registry>) {
    let Some(handler) = handler else { return };
    HANDLED.set(Some((index, registry.clone())));
    registry.contain(|| handler(index));
    HANDLED.set(None);
}
