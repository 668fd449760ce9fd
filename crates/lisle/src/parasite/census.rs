//! Looking at all parasites of a runtime: who waits for what, and who is to end with it.
//!
//! There is no list of them: keeping one would cost every reification a lock. But their slots keep their places, so all slots
//! there are can be looked at.

use super::record::Parasite;
use super::{life, pieces};
use crate::domain::runtime::Shared;
use crate::event::Waits;
use crate::panics;
use std::panic::Location;

/// A parasite that waits.
pub(crate) struct Told {
    pub(crate) id: usize,
    /// The number of the scope that waits for it.
    pub(crate) scope: Option<usize>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) waits: Waits,
}

/// Calls `look` with each parasite of this runtime that waits, while it is claimed.
fn for_each_parked(shared: &Shared, mut look: impl FnMut(&Parasite)) {
    pieces::for_each(|slot| {
        if Parasite::is_of(slot, shared) && Parasite::state_of(slot).claim() {
            // Another may have moved in since the first look.
            if Parasite::is_of(slot, shared) {
                // SAFETY: claimed, so it lives.
                look(unsafe { slot.as_ref() });
            }
            // SAFETY: just claimed.
            unsafe { life::release(slot) };
        }
    });
}

/// The parasites of this runtime that wait, and what for.
///
/// Takes time proportional to the number of parasites that there have ever been at once, in all runtimes.
pub(crate) fn waiting(shared: &Shared) -> Vec<Told> {
    let mut all = Vec::new();
    for_each_parked(shared, |parasite| {
        let mut waits = Waits::default();
        // SAFETY: it is claimed.
        let describe = || unsafe { parasite.describe(&mut waits) };
        panics::told("an event that was to tell what a parasite waits for", describe);
        all.push(Told {
            id: parasite.id(),
            scope: parasite.scope.get().map(|scope| scope.addr().get()),
            site: parasite.site(),
            waits,
        });
    });
    all
}

/// Wakes all parasites of this runtime that wait: it is stopping, and they end when they are taken.
pub(crate) fn wake_all(shared: &Shared) {
    for_each_parked(shared, |parasite| {
        // It is claimed, so this only leaves the mark.
        let _ = parasite.state().wake();
    });
}
