//! Finds performers that wait for each other.
//!
//! A performer that waits for several things goes on with the first of them. Several performers may
//! hold one thing, and then all of them have to release it. So a performer is *stuck* if each thing
//! that it waits for has a stuck holder. To find the largest set for which that can be true,
//! performers for which it is false are removed until none is left to remove. Each remaining
//! performer waits for another remaining one, so a walk from one to the next must come round.

use super::Blocked;
use std::collections::HashMap;

pub(super) fn find<'a>(waiters: impl Iterator<Item = &'a Blocked>) -> Option<Vec<&'a Blocked>> {
    let all: Vec<&Blocked> = waiters.collect();
    let places: HashMap<usize, usize> = all.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
    // For each performer, the waits that it holds the objects of; and for each wait, the number of
    // its holders that are still stuck.
    let mut holds: Vec<Vec<(usize, usize)>> = vec![Vec::new(); all.len()];
    let mut holders: Vec<Vec<usize>> = Vec::with_capacity(all.len());
    for (waiter, one) in all.iter().enumerate() {
        let mut counts = Vec::with_capacity(one.waits.len());
        for (wait, held) in one.waits.iter().enumerate() {
            let places = held.held_by.iter().filter_map(|id| places.get(id));
            counts.push(places.map(|&place| holds[place].push((waiter, wait))).count());
        }
        holders.push(counts);
    }
    let may_go_on = |counts: &[usize]| counts.is_empty() || counts.contains(&0);
    let mut stuck: Vec<bool> = holders.iter().map(|counts| !may_go_on(counts)).collect();
    let mut free: Vec<usize> = (0..all.len()).filter(|&place| !stuck[place]).collect();
    while let Some(place) = free.pop() {
        for &(waiter, wait) in &holds[place] {
            holders[waiter][wait] -= 1;
            if holders[waiter][wait] == 0 && std::mem::take(&mut stuck[waiter]) {
                free.push(waiter);
            }
        }
    }
    let next = |place: usize| {
        let held_by = all[place].waits.iter().flat_map(|wait| &wait.held_by);
        held_by.filter_map(|id| places.get(id)).copied().find(|&place| stuck[place])
    };
    let mut place = stuck.iter().position(|&stuck| stuck)?;
    let mut path = Vec::new();
    let mut seen = HashMap::new();
    while !seen.contains_key(&place) {
        seen.insert(place, path.len());
        path.push(all[place]);
        place = next(place)?;
    }
    Some(path.split_off(seen[&place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Description, Label};

    /// Creates a performer that waits for one of these things, each held by these performers.
    fn waiter(id: usize, things: &[&[usize]]) -> Blocked {
        let mut waits = Description::default();
        for holders in things {
            waits.on_held("lock", &Label::new("thing"), 0, holders.iter().copied());
        }
        Blocked {
            in_place: None,
            kind: crate::Performer::Fiber,
            id,
            name: None,
            site: None,
            domain: Some(0),
            waits: waits.all,
        }
    }

    fn cycle(waiters: &[Blocked]) -> Option<Vec<usize>> {
        let (fibers, threads) = waiters.split_at(waiters.len() / 2);
        find(fibers.iter().chain(threads)).map(|cycle| cycle.iter().map(|waiter| waiter.id).collect())
    }

    #[test]
    fn cycles_are_found_and_nothing_else() {
        assert_eq!(cycle(&[]), None);
        assert_eq!(cycle(&[waiter(1, &[]), waiter(2, &[&[]])]), None);
        assert_eq!(cycle(&[waiter(1, &[&[1]])]), Some(vec![1]));
        // A chain that ends at a performer without known holders, or at one that does not wait.
        assert_eq!(cycle(&[waiter(1, &[&[2]]), waiter(2, &[&[3]]), waiter(3, &[&[]])]), None);
        assert_eq!(cycle(&[waiter(1, &[&[2]]), waiter(2, &[&[7]])]), None);
        // A chain into a cycle.
        let chain = [waiter(1, &[&[2]]), waiter(2, &[&[3]]), waiter(3, &[&[4]]), waiter(4, &[&[2]])];
        assert_eq!(cycle(&chain), Some(vec![2, 3, 4]));
    }

    #[test]
    fn a_choice_needs_all_its_alternatives_and_a_shared_thing_one_holder() {
        let free = waiter(3, &[&[]]);
        assert_eq!(cycle(&[waiter(1, &[&[2], &[3]]), waiter(2, &[&[1]]), free.clone()]), None);
        assert_eq!(cycle(&[waiter(1, &[&[2], &[]]), waiter(2, &[&[1]])]), None);
        assert_eq!(cycle(&[waiter(1, &[&[3, 2]]), waiter(2, &[&[1]]), free]), Some(vec![1, 2]));
        let both = [waiter(1, &[&[2], &[3]]), waiter(2, &[&[1]]), waiter(3, &[&[1]])];
        assert_eq!(cycle(&both), Some(vec![1, 2]));
    }

    #[test]
    fn long_chains_take_no_longer_than_they_are() {
        let count = 100_000;
        let chain: Vec<_> = (0..count).map(|i| waiter(i, &[&[i + 1]])).collect();
        assert_eq!(cycle(&chain), None);
        let ring: Vec<_> = (0..count).map(|i| waiter(i, &[&[(i + 1) % count]])).collect();
        assert_eq!(cycle(&ring).map(|cycle| cycle.len()), Some(count));
    }
}
