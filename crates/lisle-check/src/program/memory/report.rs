//! A data race, for people.

use super::cells::{CellAccess, Found, Hint};
use std::fmt;
use std::panic::Location as Site;

/// One of the two accesses of a [`DataRace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceSide {
    access: CellAccess,
    site: Option<&'static Site<'static>>,
    spawned: Option<&'static Site<'static>>,
}

impl RaceSide {
    /// Returns the kind of the access.
    pub fn access(&self) -> CellAccess {
        self.access
    }

    /// Returns the place of the access in the program. For a drop it is not known.
    pub fn site(&self) -> Option<&'static Site<'static>> {
        self.site
    }

    /// Returns the place where the fiber or task of the access was spawned, or `None` for the
    /// program itself.
    pub fn spawned_at(&self) -> Option<&'static Site<'static>> {
        self.spawned
    }
}

impl fmt::Display for RaceSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.access)?;
        if let Some(site) = self.site {
            write!(f, " at {site}")?;
        }
        match self.spawned {
            Some(spawned) => write!(f, " by the fiber or task spawned at {spawned}"),
            None => write!(f, " by the program itself"),
        }
    }
}

/// Two accesses to a cell, at least one of which writes, neither of which happens before the other.
///
/// The schedule had them in this order, but nothing in the program enforces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataRace {
    sides: [RaceSide; 2],
    hint: Option<Hint>,
}

impl DataRace {
    /// `spawned_at` returns the place where a process was spawned.
    pub(super) fn new(found: &Found, spawned_at: impl Fn(u32) -> Option<&'static Site<'static>>) -> Self {
        let side = |n: usize| RaceSide {
            access: found.accesses[n],
            site: found.sites[n],
            spawned: spawned_at(found.processes[n]),
        };
        DataRace { sides: [side(0), side(1)], hint: found.hint }
    }

    /// Returns `true` if the same accesses race, in either order.
    pub(in crate::program) fn is_like(&self, other: &DataRace) -> bool {
        let [one, two] = &other.sides;
        self.sides == other.sides || self.sides == [two.clone(), one.clone()]
    }

    /// Returns the accesses, the one that came first in the schedule first.
    pub fn sides(&self) -> &[RaceSide; 2] {
        &self.sides
    }
}

impl fmt::Display for DataRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.sides;
        writeln!(f, "a data race: two accesses to a cell that nothing orders")?;
        writeln!(f, "    it is {first}")?;
        writeln!(f, "    it is {second}")?;
        let Some(Hint { write, read, releases, acquires }) = self.hint else {
            return write!(
                f,
                "    there is no release after the first one that is acquired before the second one"
            );
        };
        write!(f, "    the load at {read} reads the value stored at {write}, but ")?;
        f.write_str(match (releases, acquires) {
            (false, false) => "the store does not release the first access, and the load does not acquire",
            (false, true) => "the store does not release the first access",
            (true, _) => "the load does not acquire",
        })
    }
}
