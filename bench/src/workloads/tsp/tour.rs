//! How cities are divided, a few of them are toured, and two tours joined.

use std::{array, cmp::Reverse};

/// Through this many cities the shortest tour is found by trying all.
const FEW: usize = 8;

/// Where each city is.
pub(super) struct Cities(pub(super) Vec<[i64; 2]>);

/// Cities in the order in which they are visited. The last is followed by the first.
pub(super) type Tour = Vec<usize>;

/// Cities to be toured, and the axis along which to divide them.
pub(super) struct Part {
    cities: Vec<usize>,
    axis: usize,
}

pub(super) enum Divided {
    Few(Tour),
    /// Two parts, and the axis along which they lie.
    Halves(usize, [Part; 2]),
}

impl Cities {
    pub(super) fn all(&self) -> Part {
        Part { cities: (0..self.0.len()).collect(), axis: 0 }
    }

    pub(super) fn divide(&self, Part { mut cities, axis }: Part) -> Divided {
        if cities.len() <= FEW {
            return Divided::Few(self.shortest(cities));
        }
        let middle = cities.len() / 2;
        cities.select_nth_unstable_by_key(middle, |&city| (self.0[city][axis], city));
        let right = cities.split_off(middle);
        Divided::Halves(axis, [cities, right].map(|cities| Part { cities, axis: 1 - axis }))
    }

    /// The tour through a part, without threads.
    pub(super) fn tour(&self, part: Part) -> Tour {
        match self.divide(part) {
            Divided::Few(tour) => tour,
            Divided::Halves(axis, halves) => {
                let [left, right] = halves.map(|half| self.tour(half));
                self.join(axis, left, right)
            }
        }
    }

    fn square(&self, a: usize, b: usize) -> i64 {
        let [x, y] = [0, 1].map(|axis| self.0[a][axis] - self.0[b][axis]);
        x * x + y * y
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        (self.square(a, b) as f64).sqrt()
    }

    /// The shortest tour through a few cities.
    fn shortest(&self, mut cities: Vec<usize>) -> Tour {
        cities.sort_unstable();
        let mut distances = [[0.0; FEW]; FEW];
        for (row, &a) in distances.iter_mut().zip(&cities) {
            row.iter_mut().zip(&cities).for_each(|(distance, &b)| *distance = self.distance(a, b));
        }
        let mut search =
            Search { distances, path: array::from_fn(|at| at), best: [0; FEW], least: f64::INFINITY };
        search.extend(1, cities.len(), 0.0);
        search.best[..cities.len()].iter().map(|&at| cities[at]).collect()
    }

    /// One tour of two that lie beside each other along `axis`. Each is cut where they are close,
    /// on the one side or on the other, and the ends are joined: that one of the four ways which
    /// adds the least.
    pub(super) fn join(&self, axis: usize, mut left: Tour, mut right: Tour) -> Tour {
        // The left tour ends, and the right one begins, where they are close.
        let close = place(&left, |city| Reverse((self.0[city][axis], city)));
        left.rotate_left(close + 1);
        let end = left[left.len() - 1];
        let close = place(&right, |city| (self.square(end, city), city));
        right.rotate_left(close);
        let begin = right[0];
        // Without a turn, and with one.
        let firsts = [left[0], left[left.len() - 2]];
        let lasts = [right[right.len() - 1], right[1]];
        let added = |&[l, r]: &[usize; 2]| {
            let cut = self.distance(end, firsts[l]) + self.distance(begin, lasts[r]);
            self.distance(end, begin) + self.distance(lasts[r], firsts[l]) - cut
        };
        let ways = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let [l, r] = ways.into_iter().min_by(|a, b| added(a).total_cmp(&added(b))).expect("there are four");
        if l == 1 {
            let before = left.len() - 1;
            left[..before].reverse();
        }
        if r == 1 {
            right[1..].reverse();
        }
        left.append(&mut right);
        left
    }
}

/// The place in the tour of the city with the least key.
fn place<K: Ord>(tour: &[usize], key: impl Fn(usize) -> K) -> usize {
    (0..tour.len()).min_by_key(|&at| key(tour[at])).expect("tours have cities")
}

struct Search {
    distances: [[f64; FEW]; FEW],
    path: [usize; FEW],
    best: [usize; FEW],
    least: f64,
}

impl Search {
    /// Tries all ways to go on from a path through the first `visited` of `path`.
    fn extend(&mut self, visited: usize, cities: usize, length: f64) {
        let last = self.path[visited - 1];
        if visited == cities {
            let length = length + self.distances[last][self.path[0]];
            if length < self.least {
                (self.least, self.best) = (length, self.path);
            }
            return;
        }
        for next in visited..cities {
            self.path.swap(visited, next);
            let length = length + self.distances[last][self.path[visited]];
            if length < self.least {
                self.extend(visited + 1, cities, length);
            }
            self.path.swap(visited, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Numbers;

    #[test]
    fn a_tour_visits_each_city_once_and_is_short() {
        const SIDE: u32 = 1 << 20;
        let mut numbers = Numbers::new(7);
        let cities = Cities((0..1000).map(|_| [(); 2].map(|()| numbers.below(SIDE).into())).collect());
        let tour = cities.tour(cities.all());
        let mut visited = tour.clone();
        visited.sort_unstable();
        assert!(visited.into_iter().eq(0..1000));
        let length: f64 = (0..1000).map(|at| cities.distance(tour[at], tour[(at + 1) % 1000])).sum();
        // The shortest is 0.7124 of this, about.
        assert!(length < (1000.0_f64).sqrt() * f64::from(SIDE), "{length}");
    }
}
