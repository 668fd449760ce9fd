//! What is known of loops that ask again: after how many rounds they give up, if they do; and
//! which timers hold up others.
//!
//! It is learnt in one execution and used in all others, by all workers, and it is saved: so it is
//! told to others by the names of places, which are the same in another process.

use super::Site;
use crate::program::timers::Holding;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is known of loops, by the place where they ask again. Places have names in what is told to
/// others.
#[derive(Debug, Clone, Default)]
pub(in crate::program) struct Known(
    Rc<RefCell<FxHashMap<Site, Rounds>>>,
    Rc<RefCell<Loops>>,
    Rc<Cell<Holding>>,
);

/// What is known of loops, by the names of the places where they ask again, and of timers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::program) struct Loops {
    rounds: BTreeMap<String, Rounds>,
    /// Which timers hold up those that are due later.
    holding: Holding,
}

impl Loops {
    /// Notes what others have learnt. Returns `true` if that was not known.
    pub(in crate::program) fn adopt(&mut self, others: &Loops) -> bool {
        let before = self.clone();
        self.holding = self.holding.max(others.holding);
        for (name, rounds) in &others.rounds {
            let own = self.rounds.entry(name.clone()).or_default();
            own.few = own.few.max(rounds.few);
            own.together = own.together.max(rounds.together);
            own.is_long |= rounds.is_long;
        }
        *self != before
    }
}

impl Known {
    /// Returns what is known of the loops at a place.
    pub(super) fn of(&self, site: Site) -> Rounds {
        let Known(by_place, by_name, _) = self;
        let from_others = || by_name.borrow().rounds.get(&site.to_string()).copied().unwrap_or_default();
        *by_place.borrow_mut().entry(site).or_insert_with(from_others)
    }

    pub(super) fn learn(&self, site: Site, rounds: Rounds) {
        self.0.borrow_mut().insert(site, rounds);
    }

    /// Returns which timers hold up others.
    pub(super) fn holding(&self) -> Holding {
        self.2.get()
    }

    /// Notes that these do.
    pub(super) fn learn_holding(&self, holding: Holding) {
        self.2.set(holding);
    }

    /// Forgets which timers hold up others: what one schedule does shows it anew. A schedule that
    /// was found while less was known could not be run again otherwise.
    pub(in crate::program) fn forget_holding(&self) {
        self.2.set(Holding::None);
    }

    /// Returns all that is known.
    pub(in crate::program) fn loops(&self) -> Loops {
        let mut all = self.1.borrow().clone();
        all.holding = self.2.get();
        all.rounds.extend(self.0.borrow().iter().map(|(site, rounds)| (site.to_string(), *rounds)));
        all
    }

    /// Notes what others have learnt.
    pub(in crate::program) fn adopt(&self, others: &Loops) {
        let mut all = self.loops();
        all.adopt(others);
        self.2.set(all.holding);
        *self.1.borrow_mut() = all;
        self.0.borrow_mut().clear();
    }
}

/// How many rounds in vain the loops at one place make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// Some give up after so many.
    pub(super) few: u32,
    /// Some give up after so many, since others have made theirs.
    pub(super) together: u32,
    /// Some make more than can be tried, or do not give up.
    pub(super) is_long: bool,
}

impl Rounds {
    /// Returns after how many rounds one of the loops may do something new.
    pub(super) fn fresh(self) -> u32 {
        self.few.max(self.together)
    }
}
