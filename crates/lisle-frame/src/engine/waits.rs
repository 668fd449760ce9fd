//! Which stream waits for which within a frame.

use super::slot::{Head, Phase};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr::NonNull;

/// A stream with its generation at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Living {
    pub(crate) head: NonNull<Head>,
    pub(crate) generation: u32,
}

impl Living {
    /// # Safety
    ///
    /// The slot is in a piece that lives as long as the value is used.
    pub(crate) unsafe fn new(head: NonNull<Head>) -> Living {
        // SAFETY: by the caller's promise.
        Living { head, generation: unsafe { head.as_ref() }.generation.get() }
    }

    /// Returns the head if the stream is still there.
    pub(crate) fn get(&self) -> Option<&Head> {
        // SAFETY: by the promise of `new`.
        let head = unsafe { self.head.as_ref() };
        (head.generation.get() == self.generation).then_some(head)
    }
}

struct Read {
    reader: Living,
    target: Living,
    next: u32,
}

/// The reads that wait, in a list for each target. The number of the first read names the list, and
/// is in the state word of the target; 0 is the empty list.
#[derive(Default)]
pub(crate) struct Waits {
    reads: RefCell<Vec<Option<Read>>>,
    vacant: RefCell<Vec<u32>>,
}

impl Waits {
    /// Adds a read to the list of the target. Returns the list's new name.
    pub(crate) fn add(&self, list: u32, reader: Living, target: Living) -> u32 {
        let mut reads = self.reads.borrow_mut();
        let read = Some(Read { reader, target, next: list });
        match self.vacant.borrow_mut().pop() {
            Some(at) => {
                reads[at as usize - 1] = read;
                at
            }
            None => {
                reads.push(read);
                let at = u32::try_from(reads.len()).unwrap_or(u32::MAX);
                assert!(at <= super::slot::GREATEST, "more than {at} reads wait at once");
                at
            }
        }
    }

    /// Takes the first read out of a list. Returns its reader, and the rest of the list.
    pub(crate) fn pop(&self, list: u32) -> Option<(Living, u32)> {
        let read = self.reads.borrow_mut().get_mut((list as usize).checked_sub(1)?)?.take()?;
        self.vacant.borrow_mut().push(list);
        Some((read.reader, read.next))
    }

    /// Returns the circles among the streams that wait, each stream once.
    pub(crate) fn circles(&self) -> Vec<Vec<NonNull<Head>>> {
        let waits = |living: &Living| living.get().is_some_and(|head| head.phase() == Phase::Waiting);
        let mut edges = HashMap::<NonNull<Head>, Vec<NonNull<Head>>>::new();
        let mut order = Vec::new();
        for read in self.reads.borrow().iter().flatten() {
            if waits(&read.reader) && waits(&read.target) {
                let targets = edges.entry(read.reader.head).or_default();
                if targets.is_empty() {
                    order.push(read.reader.head);
                }
                targets.push(read.target.head);
            }
        }
        circles_of(&edges, &order)
    }
}

/// Returns circles in a graph; no two have a node in common. They are found in the order of the
/// given nodes.
fn circles_of<N: Copy + Eq + std::hash::Hash>(edges: &HashMap<N, Vec<N>>, order: &[N]) -> Vec<Vec<N>> {
    let mut circles = Vec::new();
    // The position of a node on the path, or `None` if all nodes that it reaches have been looked
    // at.
    let mut seen = HashMap::<N, Option<usize>>::new();
    for &start in order {
        let mut path = Vec::<(N, usize)>::new();
        if let Entry::Vacant(unseen) = seen.entry(start) {
            unseen.insert(Some(0));
            path.push((start, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let target = edges.get(node).and_then(|targets| targets.get(*next)).copied();
            *next += 1;
            match target.map(|target| (target, seen.get(&target).copied())) {
                None => {
                    seen.insert(*node, None);
                    path.pop();
                }
                Some((_, Some(None))) => {}
                Some((target, None)) => {
                    seen.insert(target, Some(path.len()));
                    path.push((target, 0));
                }
                Some((_, Some(Some(at)))) => {
                    let circle = path.drain(at..).map(|(node, _)| node).collect::<Vec<_>>();
                    circle.iter().for_each(|node| {
                        seen.insert(*node, None);
                    });
                    circles.push(circle);
                }
            }
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::circles_of;
    use std::collections::HashMap;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let edges = HashMap::from([
            (1, vec![2]),
            (2, vec![3]),
            (3, vec![2, 4]),
            (5, vec![1, 6]),
            (6, vec![6]),
            (7, vec![5, 4]),
        ]);
        let found = circles_of(&edges, &[1, 2, 3, 5, 6, 7]);
        assert_eq!(found, [vec![2, 3], vec![6]]);
        assert!(circles_of(&HashMap::from([(1, vec![2]), (2, vec![3])]), &[2, 1]).is_empty());
    }

    #[test]
    fn a_long_circle_is_found_without_recursion() {
        let many = if cfg!(miri) { 500 } else { 200_000 };
        let edges = (0..many).map(|node| (node, vec![(node + 1) % many])).collect();
        let order = (0..many).collect::<Vec<_>>();
        assert_eq!(circles_of(&edges, &order)[0].len(), many);
    }
}
