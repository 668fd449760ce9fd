//! Which spans have been entered on this thread, and what becomes of them when a fiber is suspended.
//!
//! A subscriber tells nobody which spans it considers entered, so the layer notes them as they are. When a fiber is
//! suspended its spans are exited, in reverse order, and entered again when it goes on: through the dispatcher, so that all
//! layers see it, as they do when an instrumented future is put aside by its executor.

use lisle::fiber::{Hooks, Switch};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use tracing::Dispatch;
use tracing::dispatcher::WeakDispatch;
use tracing::span::Id;

/// The subscriber of a layer: that to which spans belong.
#[derive(Default)]
pub(crate) struct Owner {
    registered: OnceLock<Registered>,
}

struct Registered {
    dispatch: WeakDispatch,
    /// Does the span exist there?
    has: fn(&Dispatch, &Id) -> bool,
}

/// A span that has been entered and not exited.
#[derive(Clone)]
struct Entered {
    owner: Arc<Owner>,
    id: Id,
}

thread_local! {
    /// The innermost last.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

/// Notes that a span has been entered on this thread.
pub(crate) fn enter(owner: &Arc<Owner>, id: &Id) {
    let entered = Entered { owner: owner.clone(), id: id.clone() };
    // The storage of a thread that ends may be gone, and then no fiber comes any more.
    let _ = ENTERED.try_with(|all| all.borrow_mut().push(entered));
}

/// Notes that a span has been exited. It need not be the innermost.
pub(crate) fn exit(owner: &Arc<Owner>, id: &Id) {
    let _ = ENTERED.try_with(|all| {
        let mut all = all.borrow_mut();
        let is_it = |entered: &Entered| entered.id == *id && Arc::ptr_eq(&entered.owner, owner);
        all.iter().rposition(is_it).map(|last| all.remove(last))
    });
}

/// What happens to the spans of a fiber.
pub(crate) struct Keep;

/// Those of one fiber.
#[derive(Default)]
pub(crate) struct Kept {
    /// What it had entered when it was suspended last.
    spans: Vec<Entered>,
    /// How many had been entered on its thread when it was resumed: those of the thread itself.
    below: usize,
}

impl Hooks for Keep {
    type Local = Kept;

    fn resumed(&self, _: &Switch<'_>, kept: &mut Kept) {
        kept.below = ENTERED.with(|all| all.borrow().len());
        for Entered { owner, id } in kept.spans.drain(..) {
            if let Some(dispatch) = owner.of(&id) {
                dispatch.enter(&id);
            }
        }
    }

    fn suspended(&self, _: &Switch<'_>, kept: &mut Kept) {
        ENTERED.with(|all| kept.spans.extend_from_slice(all.borrow().get(kept.below..).unwrap_or_default()));
        for Entered { owner, id } in kept.spans.iter().rev() {
            if let Some(dispatch) = owner.of(id) {
                dispatch.exit(id);
            }
        }
        // Of those whose subscriber or span has gone nothing was heard.
        ENTERED.with(|all| all.borrow_mut().truncate(kept.below));
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

    /// The subscriber, if it and the span are there. A span may have gone whose guard was forgotten.
    fn of(&self, id: &Id) -> Option<Dispatch> {
        let Registered { dispatch, has } = self.registered.get()?;
        dispatch.upgrade().filter(|dispatch| has(dispatch, id))
    }
}
