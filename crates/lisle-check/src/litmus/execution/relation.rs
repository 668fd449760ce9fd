//! Binary relations on the events of an execution, and the algebra in which memory models are
//! written.
//!
//! An axiomatic model is a handful of equations over union, sequence, closure and restriction
//! (Alglave, Maranget and Tautschnig, "Herding Cats", TOPLAS 2014). A litmus test has few events,
//! so a relation is a square matrix of bits, one machine word for each row, and an operation is a
//! few instructions for each event.
//!
//! Invariant: a row has no bit at or beyond the number of events.

/// A set of events, one bit for each.
pub(crate) type Set = u128;

/// The largest number of events that an execution may have.
pub(crate) const EVENTS: usize = Set::BITS as usize;

/// The members of `set`, in ascending order.
pub(crate) fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let event = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            event
        })
    })
}

/// A set of pairs of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    rows: Vec<Set>,
}

impl Relation {
    /// The relation without pairs on `count` events.
    pub(crate) fn empty(count: usize) -> Relation {
        assert!(count <= EVENTS, "{count} events do not fit into a row of {EVENTS} bits");
        Relation { rows: vec![0; count] }
    }

    /// The relation that has the pairs for which `holds` returns `true`.
    pub(crate) fn of(count: usize, mut holds: impl FnMut(usize, usize) -> bool) -> Relation {
        let mut result = Relation::empty(count);
        for from in 0..count {
            for to in (0..count).filter(|&to| holds(from, to)) {
                result.insert(from, to);
            }
        }
        result
    }

    /// Each member of `set` paired with itself.
    pub(crate) fn identity(count: usize, set: Set) -> Relation {
        Relation { rows: (0..count).map(|event| set & 1 << event).collect() }
    }

    /// Adds a pair.
    pub(crate) fn insert(&mut self, from: usize, to: usize) {
        self.rows[from] |= 1 << to;
    }

    /// Adds the pairs of `from` with each member of `to`.
    pub(crate) fn insert_all(&mut self, from: usize, to: Set) {
        self.rows[from] |= to;
    }

    /// Returns `true` if the pair is in the relation.
    pub(crate) fn contains(&self, from: usize, to: usize) -> bool {
        self.rows[from] >> to & 1 == 1
    }

    /// Returns `true` if the relation has no pair.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| *row == 0)
    }

    /// The events that `from` is related to.
    pub(crate) fn successors(&self, from: usize) -> Set {
        self.rows[from]
    }

    /// The pairs of this relation and of `other`.
    pub(crate) fn or(&self, other: &Relation) -> Relation {
        self.by_rows(other, |mine, theirs| mine | theirs)
    }

    /// The pairs that are in both.
    pub(crate) fn and(&self, other: &Relation) -> Relation {
        self.by_rows(other, |mine, theirs| mine & theirs)
    }

    /// The pairs that are not in `other`.
    pub(crate) fn minus(&self, other: &Relation) -> Relation {
        self.by_rows(other, |mine, theirs| mine & !theirs)
    }

    fn by_rows(&self, other: &Relation, combine: impl Fn(Set, Set) -> Set) -> Relation {
        Relation {
            rows: self.rows.iter().zip(&other.rows).map(|(mine, theirs)| combine(*mine, *theirs)).collect(),
        }
    }

    /// The sequence: the pairs that lead by this relation, then by `next`.
    pub(crate) fn then(&self, next: &Relation) -> Relation {
        let follow = |row: &Set| members(*row).fold(0, |reached, middle| reached | next.rows[middle]);
        Relation { rows: self.rows.iter().map(follow).collect() }
    }

    /// The pairs that begin in `from`.
    pub(crate) fn from(&self, from: Set) -> Relation {
        let keep = |(event, row): (usize, &Set)| if from >> event & 1 == 1 { *row } else { 0 };
        Relation { rows: self.rows.iter().enumerate().map(keep).collect() }
    }

    /// The pairs that end in `to`.
    pub(crate) fn to(&self, to: Set) -> Relation {
        Relation { rows: self.rows.iter().map(|row| row & to).collect() }
    }

    /// The pairs with their ends exchanged.
    pub(crate) fn inverse(&self) -> Relation {
        let mut result = Relation::empty(self.rows.len());
        for (from, row) in self.rows.iter().enumerate() {
            members(*row).for_each(|to| result.insert(to, from));
        }
        result
    }

    /// The relation and every event paired with itself.
    pub(crate) fn reflexive(mut self) -> Relation {
        for (event, row) in self.rows.iter_mut().enumerate() {
            *row |= 1 << event;
        }
        self
    }

    /// The pairs that lead by the relation in one step or several (Warshall's algorithm: a word
    /// operation for each pair of events).
    pub(crate) fn transitive(mut self) -> Relation {
        for middle in 0..self.rows.len() {
            let reached = self.rows[middle];
            for row in &mut self.rows {
                if *row >> middle & 1 == 1 {
                    *row |= reached;
                }
            }
        }
        self
    }

    /// Returns `true` if no event is related to itself.
    pub(crate) fn is_irreflexive(&self) -> bool {
        self.rows.iter().enumerate().all(|(event, row)| row >> event & 1 == 0)
    }

    /// Returns `true` if no event leads to itself.
    ///
    /// Removes events without successors among the rest until no event is left, or none can be
    /// removed.
    pub(crate) fn is_acyclic(&self) -> bool {
        let mut rest: Set = self.rows.iter().enumerate().fold(0, |rest, (event, _)| rest | 1 << event);
        while rest != 0 {
            let ends = members(rest).filter(|&event| self.rows[event] & rest == 0);
            let ends = ends.fold(0, |ends: Set, event| ends | 1 << event);
            if ends == 0 {
                return false;
            }
            rest &= !ends;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(count: usize, pairs: &[(usize, usize)]) -> Relation {
        Relation::of(count, |from, to| pairs.contains(&(from, to)))
    }

    #[test]
    fn the_algebra() {
        let a = relation(4, &[(0, 1), (1, 2)]);
        let b = relation(4, &[(1, 2), (2, 3)]);
        assert_eq!(a.or(&b), relation(4, &[(0, 1), (1, 2), (2, 3)]));
        assert_eq!(a.and(&b), relation(4, &[(1, 2)]));
        assert_eq!(a.minus(&b), relation(4, &[(0, 1)]));
        assert_eq!(a.then(&b), relation(4, &[(0, 2), (1, 3)]));
        assert_eq!(a.inverse(), relation(4, &[(1, 0), (2, 1)]));
        assert_eq!(a.from(1 << 0), relation(4, &[(0, 1)]));
        assert_eq!(a.to(1 << 2), relation(4, &[(1, 2)]));
        assert_eq!(a.clone().transitive(), relation(4, &[(0, 1), (0, 2), (1, 2)]));
        assert_eq!(relation(2, &[]).reflexive(), relation(2, &[(0, 0), (1, 1)]));
        assert!(relation(4, &[]).is_empty() && !a.is_empty());
        assert_eq!(a.successors(1), 1 << 2);
    }

    #[test]
    fn cycles_of_every_length() {
        for length in 1..=EVENTS {
            let ring = Relation::of(EVENTS, |from, to| from < length && to == (from + 1) % length);
            let chain = Relation::of(EVENTS, |from, to| from + 1 < length && to == from + 1);
            assert!(!ring.is_acyclic() && chain.is_acyclic(), "of {length} events");
            assert!(!ring.transitive().is_irreflexive() && chain.transitive().is_irreflexive());
        }
    }

    #[test]
    fn members_are_in_order() {
        assert_eq!(members(0).count(), 0);
        assert_eq!(members(1 | 1 << 5 | 1 << 127).collect::<Vec<_>>(), [0, 5, 127]);
    }
}
