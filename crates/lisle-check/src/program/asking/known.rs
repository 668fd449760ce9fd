//! The learnt facts: the number of rounds after which loops give up, and the timers that hold up
//! others.
//!
//! One execution learns a fact, and all later executions of all workers use it. The facts are also
//! saved. So they have the names of places, which are the same in another process of the system.

use super::Site;
use crate::program::timers::Holding;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The facts about loops, by the place where they ask again. `Loops` has them by the names of the
/// places.
#[derive(Debug, Clone, Default)]
pub(in crate::program) struct Known(
    Rc<RefCell<FxHashMap<Site, Rounds>>>,
    Rc<RefCell<Loops>>,
    Rc<Cell<Holding>>,
);

/// The facts about loops, by the names of the places where they ask again, and about timers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::program) struct Loops {
    rounds: BTreeMap<String, Rounds>,
    /// The timers that hold up later timers.
    holding: Holding,
}

impl Loops {
    /// Adds the facts that others have learnt. Returns `true` if one of them was new.
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
    /// Returns the facts about the loops at a place.
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

    /// Notes that these timers hold up others.
    pub(super) fn learn_holding(&self, holding: Holding) {
        self.2.set(holding);
    }

    /// Forgets which timers hold up others: a schedule shows this anew. Otherwise a schedule that
    /// was found with fewer facts could not be run again.
    pub(in crate::program) fn forget_holding(&self) {
        self.2.set(Holding::None);
    }

    /// Returns all facts.
    pub(in crate::program) fn loops(&self) -> Loops {
        let mut all = self.1.borrow().clone();
        all.holding = self.2.get();
        all.rounds.extend(self.0.borrow().iter().map(|(site, rounds)| (site.to_string(), *rounds)));
        all
    }

    /// Adds the facts that others have learnt.
    pub(in crate::program) fn adopt(&self, others: &Loops) {
        let mut all = self.loops();
        all.adopt(others);
        self.2.set(all.holding);
        *self.1.borrow_mut() = all;
        self.0.borrow_mut().clear();
    }
}

/// The numbers of rounds in vain that the loops at one place make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// Some loops give up after this number.
    pub(super) few: u32,
    /// Some give up after this number, since others have made their rounds.
    pub(super) together: u32,
    /// Some make more rounds than the checker tries, or do not give up.
    pub(super) is_long: bool,
}

impl Rounds {
    /// Returns the number of rounds after which one of the loops may do something new.
    pub(super) fn fresh(self) -> u32 {
        self.few.max(self.together)
    }
}
