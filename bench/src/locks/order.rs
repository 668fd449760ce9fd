//! The order of turns, and the condition variable of each performer, where performers hand over by
//! condition variables.

use super::studies::{HERD, QUEUE, RING};
use crate::job::Job;

/// The number under the mutex counts the turns. Turns of one kind follow turns of the kind before,
/// and each performer is of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    kinds: usize,
    /// Whether all wait for one condition variable, of which all are notified.
    is_herd: bool,
}

impl Order {
    /// In a ring or a herd each performer is of a kind of its own. In a queue of one place every
    /// second puts something there and the others take it; one alone does both.
    pub(crate) fn of(job: &Job) -> Self {
        let performers = job.param("threads") as usize;
        match &*job.variant {
            RING => Order { kinds: performers, is_herd: false },
            HERD => Order { kinds: performers, is_herd: true },
            QUEUE => Order { kinds: performers.min(2), is_herd: false },
            other => panic!("nobody hands over in a case '{other}'"),
        }
    }

    /// Returns `true` if the performer of that number may have its turn after `turns` turns.
    pub(crate) fn is_turn(self, number: usize, turns: u64) -> bool {
        let kinds = self.kinds as u64;
        number as u64 % kinds == turns % kinds
    }

    pub(crate) fn is_herd(self) -> bool {
        self.is_herd
    }

    /// How many condition variables there are.
    pub(crate) fn condvars(self) -> usize {
        if self.is_herd { 1 } else { self.kinds }
    }

    /// For which of them the performer of that number waits, or the one after the last.
    pub(crate) fn condvar(self, number: usize) -> usize {
        number % self.condvars()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, time::Duration};

    fn order(variant: &str, threads: u64) -> Order {
        Order::of(&Job {
            variant: variant.to_owned(),
            workers: 2,
            target: Duration::ZERO,
            params: BTreeMap::from([("threads".to_owned(), threads)]),
        })
    }

    /// The performers that may have their turn after `turns` turns.
    fn who(order: Order, performers: usize, turns: u64) -> Vec<usize> {
        (0..performers).filter(|&number| order.is_turn(number, turns)).collect()
    }

    #[test]
    fn each_is_next_in_a_ring_and_in_a_herd() {
        for (variant, condvars) in [(RING, 3), (HERD, 1)] {
            let order = order(variant, 3);
            assert_eq!([0, 1, 2, 3].map(|turns| who(order, 3, turns)[..] == [turns as usize % 3]), [true; 4]);
            assert_eq!(order.condvars(), condvars);
            assert_eq!(order.condvar(3), 0);
        }
    }

    #[test]
    fn those_that_put_and_those_that_take_are_next_in_a_queue() {
        let of_five = order(QUEUE, 5);
        assert_eq!([who(of_five, 5, 6), who(of_five, 5, 7)], [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!([of_five.condvars(), of_five.condvar(4), of_five.condvar(5)], [2, 0, 1]);
    }

    #[test]
    fn one_alone_is_always_next() {
        for variant in [RING, HERD, QUEUE] {
            let order = order(variant, 1);
            assert!((0..3).all(|turns| order.is_turn(0, turns)) && order.condvars() == 1, "{variant}");
        }
    }
}
