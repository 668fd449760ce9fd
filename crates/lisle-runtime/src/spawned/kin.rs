//! The kin of a fiber: its spawner, its number among the spawner's fibers, and the fibers that have
//! woken it since.
//!
//! `sched/groups.rs` learns from this which fibers talk to their neighbours, and places later
//! fibers of the same line of the program.

use std::cell::Cell;

/// The mark by which fibers are compared. The memory of fibers is recycled, and different fibers
/// may have the same mark: the learnt facts are guesses, and a wrong guess only costs time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(u32);

impl Mark {
    /// The mark of code in no fiber.
    const NOBODY: Mark = Mark(0);

    /// Returns the mark of the fiber at `address`.
    #[inline(always)]
    pub(crate) fn of(address: usize) -> Self {
        // The cells of fibers are that far apart.
        Mark((address / 64) as u32)
    }

    pub(crate) fn is_nobody(self) -> bool {
        self == Mark::NOBODY
    }
}

/// The part of a fiber's cell about its kin. It belongs to the owner of the fiber.
#[derive(Debug)]
pub(crate) struct Kin {
    spawner: Cell<Mark>,
    /// How many had been spawned before on the spawner's domain.
    ordinal: Cell<u32>,
    heard: Cell<Heard>,
    /// Set if it counts among the fibers that `sched/groups.rs` has placed.
    pub(crate) is_grouped: Cell<bool>,
}

/// The wakers of a fiber, in a sample of its wakes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// By the fiber that its spawner spawned before or after it.
    pub(crate) of_neighbours: u8,
    /// By a fiber that it has spawned.
    pub(crate) of_children: u8,
    /// By anything else: its spawner, and all that is on other domains.
    pub(crate) of_others: u8,
}

impl Heard {
    /// Returns the number of samples.
    pub(crate) fn total(self) -> u32 {
        u32::from(self.of_neighbours) + u32::from(self.of_children) + u32::from(self.of_others)
    }
}

impl Kin {
    /// Returns the kin of a fiber without a spawner.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Kin {
            spawner: Cell::new(Mark::NOBODY),
            ordinal: Cell::new(0),
            heard: Cell::new(Heard { of_neighbours: 0, of_children: 0, of_others: 0 }),
            is_grouped: Cell::new(false),
        }
    }

    /// Notes that this is the kin of a fiber that the one marked `spawner` has spawned, when
    /// `ordinal` others had been spawned before on its domain.
    #[inline]
    pub(crate) fn was_spawned_by(&self, spawner: Mark, ordinal: u32) {
        self.spawner.set(spawner);
        self.ordinal.set(ordinal);
    }

    /// Notes that the fiber with this mark and kin has been woken by the one marked `by`, whose kin
    /// is `waker`. Both live on this domain.
    pub(crate) fn was_woken_by(&self, mark: Mark, by: Mark, waker: &Kin) {
        let is_sibling = self.spawner == waker.spawner && !self.spawner.get().is_nobody();
        self.count(|heard| {
            if is_sibling && self.ordinal.get().abs_diff(waker.ordinal.get()) == 1 {
                &mut heard.of_neighbours
            } else if waker.spawner.get() == mark && by != self.spawner.get() {
                &mut heard.of_children
            } else {
                &mut heard.of_others
            }
        });
    }

    /// Notes that the fiber has been woken from another domain.
    pub(crate) fn was_woken_from_elsewhere(&self) {
        self.count(|heard| &mut heard.of_others);
    }

    /// Counts a wake, unless there have been very many of the kind: the parts that they make up are
    /// known well enough then.
    fn count(&self, kind: impl FnOnce(&mut Heard) -> &mut u8) {
        let mut heard = self.heard.get();
        let count = kind(&mut heard);
        if let Some(more) = count.checked_add(1) {
            *count = more;
            self.heard.set(heard);
        }
    }

    pub(crate) fn spawner(&self) -> Mark {
        self.spawner.get()
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal.get()
    }

    pub(crate) fn heard(&self) -> Heard {
        self.heard.get()
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn neighbours_children_and_others_are_told_apart() {
        let fibers: [_; 5] = std::array::from_fn(|index| (Mark::of((index + 1) * 64), Kin::new()));
        let [main, first, second, third, child] = &fibers;
        let wakes = |by: &(Mark, Kin), fiber: &(Mark, Kin)| fiber.1.was_woken_by(fiber.0, by.0, &by.1);
        let siblings = [first, second, third];
        siblings.into_iter().zip(0..).for_each(|(fiber, ordinal)| fiber.1.was_spawned_by(main.0, ordinal));
        child.1.was_spawned_by(second.0, 3);
        [first, third, child, main].into_iter().for_each(|by| wakes(by, second));
        assert_eq!(second.1.heard(), Heard { of_neighbours: 2, of_children: 1, of_others: 1 });
        wakes(third, first);
        wakes(second, child);
        assert_eq!([first, child].map(|fiber| fiber.1.heard().of_others), [1, 1]);
        assert_eq!((third.1.spawner(), third.1.ordinal()), (main.0, 2));
    }

    #[test]
    fn fibers_of_plain_threads_are_no_siblings() {
        let (one, other) = (Kin::new(), Kin::new());
        other.was_spawned_by(Mark::NOBODY, 1);
        one.was_woken_by(Mark::of(64), Mark::of(128), &other);
        assert_eq!(one.heard(), Heard { of_others: 1, ..Heard::default() });
    }

    #[test]
    fn counts_that_are_full_stay() {
        let kin = Kin::new();
        (0..300).for_each(|_| kin.was_woken_by(Mark::of(64), Mark::of(128), &Kin::new()));
        assert_eq!(kin.heard().total(), 255);
    }
}
