//! The spans that have been entered on this thread, and their handling when a fiber is suspended.
//!
//! A subscriber does not tell which spans it considers entered, so the layer records them. When a
//! fiber is suspended, its spans are exited in reverse order, and they are entered again when it
//! resumes. This goes through the dispatcher, so all layers see it, as they do when an executor
//! suspends an instrumented future.

use lisle::fiber::{Hooks, Switch};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use tracing::Dispatch;
use tracing::dispatcher::WeakDispatch;
use tracing::span::Id;

/// The subscriber of a layer. Spans belong to it.
#[derive(Default)]
pub(crate) struct Owner {
    registered: OnceLock<Registered>,
}

struct Registered {
    dispatch: WeakDispatch,
    /// Returns `true` if the span exists in the subscriber.
    has: fn(&Dispatch, &Id) -> bool,
}

/// A span that has been entered and not exited.
#[derive(Clone)]
struct Entered {
    owner: Arc<Owner>,
    id: Id,
}

thread_local! {
    /// The innermost span is the last.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

/// Records that a span has been entered on this thread.
pub(crate) fn enter(owner: &Arc<Owner>, id: &Id) {
    let entered = Entered { owner: owner.clone(), id: id.clone() };
    // The destructors of a thread's locals may come after the destructor of the list. They are in
    // no span.
    let _ = ENTERED.try_with(|all| all.borrow_mut().push(entered));
}

/// Records that a span has been exited. It need not be the innermost.
pub(crate) fn exit(owner: &Arc<Owner>, id: &Id) {
    let _ = ENTERED.try_with(|all| {
        let mut all = all.borrow_mut();
        let is_it = |entered: &Entered| entered.id == *id && Arc::ptr_eq(&entered.owner, owner);
        all.iter().rposition(is_it).map(|last| all.remove(last))
    });
}

/// The hooks that exit and enter the spans of fibers.
pub(crate) struct Keep;

/// The spans of one fiber.
#[derive(Default)]
pub(crate) struct Kept {
    /// The spans that were entered when the fiber was suspended last.
    spans: Vec<Entered>,
    /// The number of spans that were entered on the thread when the fiber was resumed. They belong
    /// to the thread itself.
    below: usize,
}

impl Hooks for Keep {
    type Local = Kept;

    fn resumed(&self, _: &Switch<'_>, kept: &mut Kept) {
        kept.below = ENTERED.try_with(|all| all.borrow().len()).unwrap_or(0);
        for Entered { owner, id } in kept.spans.drain(..) {
            if let Some(dispatch) = owner.of(&id) {
                dispatch.enter(&id);
            }
        }
    }

    fn suspended(&self, _: &Switch<'_>, kept: &mut Kept) {
        let _ = ENTERED
            .try_with(|all| kept.spans.extend_from_slice(all.borrow().get(kept.below..).unwrap_or_default()));
        for Entered { owner, id } in kept.spans.iter().rev() {
            if let Some(dispatch) = owner.of(id) {
                dispatch.exit(id);
            }
        }
        // Spans that are gone, or whose subscriber is gone, have caused no exit call, so they are
        // removed here.
        let _ = ENTERED.try_with(|all| all.borrow_mut().truncate(kept.below));
    }
}

impl Owner {
    pub(crate) fn is_registered(&self) -> bool {
        self.registered.get().is_some()
    }

    pub(crate) fn register(&self, dispatch: &Dispatch, has: fn(&Dispatch, &Id) -> bool) {
        // The first one stays: a subscriber is registered once.
        let _ = self.registered.set(Registered { dispatch: dispatch.downgrade(), has });
    }

    /// Returns the subscriber, if it and the span still exist. A span whose guard was forgotten may
    /// not exist any more.
    fn of(&self, id: &Id) -> Option<Dispatch> {
        let Registered { dispatch, has } = self.registered.get()?;
        dispatch.upgrade().filter(|dispatch| has(dispatch, id))
    }
}
