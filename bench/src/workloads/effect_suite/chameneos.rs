//! Creatures that meet in pairs, and change their colours: the common part of all forms of the
//! program.
//!
//! After C. Kaiser and J.-F. Pradat-Peyre, *Chameneos, a Concurrency Game for Java, Ada and Others*
//! (2003), with the ten creatures of the benchmarks game. A creature asks for a partner, and waits
//! until there is one.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    Blue,
    Red,
    Yellow,
}

use Colour::{Blue, Red, Yellow};

pub(super) const COLOURS: [Colour; 10] = [Blue, Red, Yellow, Red, Yellow, Blue, Red, Yellow, Red, Blue];

/// The colour of a creature after it has met another: the third colour, if theirs differ.
pub(super) fn changed(own: Colour, other: Colour) -> Colour {
    match (own, other) {
        (Blue, Blue) | (Red, Yellow) | (Yellow, Red) => Blue,
        (Red, Red) | (Blue, Yellow) | (Yellow, Blue) => Red,
        (Yellow, Yellow) | (Blue, Red) | (Red, Blue) => Yellow,
    }
}

/// A creature's life: asks for meetings until there are no more, and returns how many there were.
pub(super) fn creature(mut colour: Colour, mut meet: impl FnMut(Colour) -> Option<Colour>) -> u64 {
    let mut meetings = 0;
    while let Some(other) = meet(colour) {
        colour = changed(colour, other);
        meetings += 1;
    }
    meetings
}

/// The meeting place. A waiting creature is a `C`: its number, or its continuation.
pub(super) struct Mall<C> {
    left: u64,
    waiting: Option<(C, Colour)>,
}

impl<C> Mall<C> {
    pub(super) fn new(meetings: u64) -> Self {
        Mall { left: meetings, waiting: None }
    }

    /// Has a creature meet the one that waits, or wait. Both of a meeting are to go on, with the
    /// other's colour; one that comes too late goes on alone.
    pub(super) fn enter(&mut self, who: C, colour: Colour, mut go_on: impl FnMut(C, Option<Colour>)) {
        if self.left == 0 {
            go_on(who, None);
        } else if let Some((other, its)) = self.waiting.take() {
            self.left -= 1;
            go_on(other, Some(colour));
            go_on(who, Some(its));
        } else {
            self.waiting = Some((who, colour));
        }
    }

    /// When no creature can go on: returns the one that waits in vain.
    pub(super) fn close(&mut self) -> Option<(C, Option<Colour>)> {
        self.left = 0;
        self.waiting.take().map(|(who, _)| (who, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_that_meet_change_to_the_third_colour() {
        let all = [Blue, Red, Yellow];
        for one in all {
            for other in all {
                let third = all.into_iter().find(|colour| *colour != one && *colour != other).unwrap();
                assert_eq!(changed(one, other), if one == other { one } else { third });
            }
        }
    }

    #[test]
    fn all_meetings_are_of_two() {
        let mut mall = Mall::new(2);
        let mut met = Vec::new();
        for who in 0..5 {
            mall.enter(who, Blue, |who, other| met.push((who, other.is_some())));
        }
        assert_eq!(met, [(0, true), (1, true), (2, true), (3, true), (4, false)]);
        assert_eq!(mall.close(), None);
    }
}
