//! The number of parts into which a sort is divided, and their least lengths.
//!
//! A division pays if each part takes some ten microseconds. Tests divide quite short slices, so
//! that all phases of a sort are run. If a model decides the schedule, the slice is short and time
//! does not count: then a sort is divided into as many parts as the model lets a loop have.

use crate::event::is_modelled;
use crate::{domains, modelled};

/// How a sort is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The number of domains that can take part.
    pub(super) domains: usize,
    /// The least length of a run of a stable sort.
    pub(super) run: usize,
    /// The largest piece of numbers, see [`piece`](Sizes::piece).
    pub(super) numbers: usize,
    /// The longest part that is sorted by one call without a count of its comparisons. For numbers
    /// it takes some fifty microseconds.
    pub(super) leaf: usize,
    /// Whether comparisons count as slow; `None` if they are measured.
    pub(super) are_slow: Option<bool>,
    /// The longest part that an unstable sort leaves to one domain in any case.
    pub(super) part: usize,
    /// The number of elements for which an additional pivot pays.
    pub(super) share: usize,
    /// The number of keys that are computed between two checks whether another domain wants some of
    /// them.
    pub(super) keys: usize,
}

impl Sizes {
    /// Returns the sizes for a slice of this length, which the calling thread sorts.
    pub(super) fn here(len: usize) -> Sizes {
        if is_modelled() { Sizes::in_model(len) } else { Sizes::of_domains(domains()) }
    }

    /// Returns the sizes for `domains` domains.
    pub(super) const fn of_domains(domains: usize) -> Sizes {
        if cfg!(test) {
            Sizes { domains, run: 8, numbers: 16, leaf: 12, are_slow: None, part: 24, share: 8, keys: 4 }
        } else {
            Sizes {
                domains,
                run: 2048,
                numbers: 1 << 14,
                leaf: 2048,
                are_slow: None,
                part: 2048,
                share: 1 << 14,
                keys: 64,
            }
        }
    }

    /// Returns the length of the longest piece that is merged, compared or copied between two looks
    /// whether others want a turn or work. It takes some ten microseconds.
    pub(super) fn piece<T>(self) -> usize {
        /// The size of a piece of numbers.
        const BYTES: usize = 1 << 17;
        self.numbers.min((BYTES / size_of::<T>().max(1)).max(2))
    }

    /// Returns the sizes for a slice whose sort a model decides.
    fn in_model(len: usize) -> Sizes {
        let most = if modelled::takes_all() { modelled::most_parts() } else { 1 };
        // A model that asks for each division has a sort by one domain as well.
        let parts = if most > 1 && modelled::division(2).is_some() { most } else { 1 };
        Sizes::of_parts(len, parts)
    }

    /// Returns the sizes for a slice of this length that is divided into at most `parts` parts, if
    /// the algorithms can do with so few. They need a number of runs that is a power of four,
    /// merges of two elements, and some elements from which to choose several pivots.
    fn of_parts(len: usize, parts: usize) -> Sizes {
        let runs = 1 << (parts.max(4).ilog2() & !1);
        let least = |least| len.div_ceil(parts).max(least);
        Sizes {
            domains: parts,
            run: (len / runs).max(1),
            numbers: least(2),
            leaf: if parts > 1 { least(2) } else { len },
            are_slow: Some(false),
            part: least(2),
            share: least(4),
            keys: least(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Natural;
    use super::super::{cached, passes, quick};
    use super::*;
    use crate::shim::random::Random;

    /// The slice and its parts may be short.
    #[test]
    fn what_a_model_divides_is_sorted() {
        // Miri takes its time.
        let (lengths, most_parts) = if cfg!(miri) { (13..14, 4) } else { (0..40, 20) };
        for len in lengths {
            let random = Random::seeded(len as u64);
            let numbers: Vec<u64> = (0..len).map(|_| random.next() % 20).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            for parts in 1..most_parts {
                let sizes = Sizes::of_parts(len, parts);
                let mut by = [numbers.clone(), numbers.clone(), numbers.clone()];
                passes::sort(&mut by[0], &Natural, sizes);
                quick::sort(&mut by[1], &Natural, sizes);
                cached::sort(&mut by[2], &|n| *n, sizes);
                assert!(by.iter().all(|by| *by == sorted), "{numbers:?} in {parts} parts: {by:?}");
            }
        }
    }
}
