//! The accesses of a step to shared objects, and which accesses commute.
//!
//! The reduction knows the program only by [`Kind::commutes`] and [`Kind::is_enabled_by`]. Two
//! steps are independent if each access of the one commutes with each access of the other. The
//! table must be right in one direction only: kinds that it lets commute have to commute in every
//! state in which both steps can run. The other direction costs executions, not results.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A shared object: a variable, a lock, one end of a channel.
///
/// The program chooses the numbers. An object has the same number in all executions that begin with
/// the steps before its creation; a hash of its creator and of a count does that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Object(pub u64);

/// The kind of an access to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// The step looks at the object. A try that fails is a read.
    Read,
    /// The step replaces the object's value, and learns nothing of the one before.
    Write,
    /// The step reads and replaces the value: an exchange, a try that succeeds.
    Update,
    /// The step adds to the value in a way in which the order does not matter, and learns nothing.
    Add,
    /// An [`Add`](Kind::Add) from one or to one, to a count whose next step down does more: the
    /// step that brings the count to zero is an [`Update`](Kind::Update). See the section on counts
    /// in `README.md`.
    AddNearZero,
    /// The step takes the lock, alone. The process can run only while nobody holds the lock.
    Acquire,
    /// The step gives the lock back that it held alone.
    Release,
    /// The step takes the lock together with others that share it. The process can run only while
    /// nobody holds the lock alone.
    Share,
    /// The step gives its share of the lock back. It is a step of the process that took the share.
    Unshare,
    /// The step takes from the front of a queue, or from the permits of a semaphore.
    Front,
    /// The step puts at the back of a queue, or gives a permit back to a semaphore.
    Back,
}

impl Kind {
    /// Returns `true` if two steps that do this and `other` to one object can change places.
    ///
    /// The two ends of a queue commute although a receive may need the message of a send.
    /// [`Strategy::follows`](super::Strategy::follows) names the send that a receive needs.
    pub const fn commutes(self, other: Kind) -> bool {
        use Kind::*;
        matches!(
            (self, other),
            (Read, Read)
                | (Add, Add | AddNearZero)
                | (AddNearZero, Add)
                | (Share | Unshare, Share | Unshare)
                | (Front, Back)
                | (Back, Front)
        )
    }

    /// Returns `true` if a sleeping step with this access sleeps on when a step with the access
    /// `other` runs.
    ///
    /// This asks for more than `commutes`. Of three steps that count down, the first and the second
    /// commute. But after the second step, the first one may bring the count to zero.
    pub(crate) const fn lets_sleep(self, other: Kind) -> bool {
        self.commutes(other) && !matches!((self, other), (Kind::Add, Kind::AddNearZero))
    }

    /// Returns `true` if this step could not have run before one that does `earlier` to the object.
    ///
    /// Then the order of the two steps cannot be reversed. The order of two acquires can: see the
    /// section on locks in `README.md`.
    pub const fn is_enabled_by(self, earlier: Kind) -> bool {
        use Kind::*;
        matches!((earlier, self), (Release, Acquire | Share) | (Unshare, Acquire))
    }

    /// Returns `true` if this access and `other` may take the same lock, message or place in a
    /// queue.
    ///
    /// Either may then be the first, even where the later one took a lock that the earlier one had
    /// to release, or a message that was sent because of the earlier one.
    pub(crate) const fn competes(self, other: Kind) -> bool {
        use Kind::*;
        // An update of a lock or a queue is a try that has succeeded.
        matches!(
            (self, other),
            (Acquire | Share, Acquire | Share | Update) | (Front, Front | Update) | (Back, Back | Update)
        )
    }

    /// Returns `true` if the step takes from an end of a queue, or puts at one.
    pub(crate) const fn is_of_queue(self) -> bool {
        matches!(self, Kind::Front | Kind::Back)
    }

    /// Returns `true` if no access at all commutes with this one.
    pub(crate) const fn is_exclusive(self) -> bool {
        matches!(self, Kind::Write | Kind::Update | Kind::Acquire | Kind::Release)
    }
}

/// One access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The object.
    pub object: Object,
    /// The kind of access.
    pub kind: Kind,
}

/// All accesses of one step.
pub(crate) type Label = SmallVec<[Access; 2]>;

/// Returns `true` if the step that sleeps with this label sleeps on when the other one runs.
pub(crate) fn sleeps_on(sleeper: &[Access], other: &[Access]) -> bool {
    sleeper.iter().all(|a| other.iter().all(|b| a.object != b.object || a.kind.lets_sleep(b.kind)))
}

#[cfg(test)]
mod tests {
    use super::Kind::{self, *};

    const ALL: [Kind; 11] =
        [Read, Write, Update, Add, AddNearZero, Acquire, Release, Share, Unshare, Front, Back];

    #[test]
    fn the_table_is_symmetric() {
        for a in ALL {
            for b in ALL {
                assert_eq!(a.commutes(b), b.commutes(a), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn exclusive_kinds_commute_with_nothing() {
        for a in ALL {
            if a.is_exclusive() {
                assert!(ALL.iter().all(|&b| !a.commutes(b)), "{a:?}");
            }
        }
    }

    #[test]
    fn what_enables_does_not_commute() {
        for a in ALL {
            for b in ALL {
                assert!(!b.is_enabled_by(a) || !a.commutes(b), "{a:?} and {b:?}");
            }
        }
    }
}
