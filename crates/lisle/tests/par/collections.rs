//! Types that can be collected into, and types that can be iterated over.

use crate::support::{everywhere, work};
use lisle::par::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

const STEPS: u64 = 3_000;

/// Collects numbers of known and of unknown count, and compares with the standard iterators.
fn collects<C>()
where
    C: FromParallelIterator<u64> + FromIterator<u64> + PartialEq + Debug,
{
    assert_eq!((0..STEPS).into_par_iter().map(work).collect::<C>(), (0..STEPS).map(work).collect());
    let even = |n: &u64| n.is_multiple_of(2);
    assert_eq!(
        (0..STEPS).into_par_iter().map(work).filter(even).collect::<C>(),
        (0..STEPS).map(work).filter(even).collect()
    );
    assert_eq!((0..0).into_par_iter().collect::<C>(), (0..0).collect());
}

/// Extends a collection that has elements already.
fn extends<C>()
where
    C: ParallelExtend<u64> + Extend<u64> + Default + PartialEq + Debug,
{
    let (mut parallel, mut serial) = (C::default(), C::default());
    for n in [0, 5, STEPS] {
        parallel.par_extend((n..2 * n).into_par_iter().map(work));
        serial.extend((n..2 * n).map(work));
        parallel.par_extend((n..2 * n).into_par_iter().filter(|n| n % 3 == 0));
        serial.extend((n..2 * n).filter(|n| n % 3 == 0));
        parallel.par_extend_vec(vec![n; 3]);
        serial.extend([n; 3]);
        assert_eq!(parallel, serial);
    }
}

#[test]
fn of_numbers() {
    everywhere(|| {
        collects::<Vec<u64>>();
        collects::<Box<[u64]>>();
        collects::<Arc<[u64]>>();
        collects::<VecDeque<u64>>();
        collects::<LinkedList<u64>>();
        collects::<HashSet<u64>>();
        collects::<BTreeSet<u64>>();
        extends::<Vec<u64>>();
        extends::<VecDeque<u64>>();
        extends::<LinkedList<u64>>();
        extends::<HashSet<u64>>();
        extends::<BTreeSet<u64>>();
        let heap: BinaryHeap<u64> = (0..STEPS).into_par_iter().collect();
        assert!(heap.into_sorted_vec().into_iter().eq(0..STEPS));
        let mut copies = vec![1];
        copies.par_extend([2, 3].par_iter());
        assert_eq!(copies, [1, 2, 3]);
    });
}

/// Of several values with one key the last one stays, as in a loop.
#[test]
fn of_pairs() {
    everywhere(|| {
        let pairs = || (0..STEPS).into_par_iter().map(|n| (work(n) % 100, n));
        let hashed: HashMap<u64, u64> = pairs().collect();
        assert_eq!(hashed, (0..STEPS).map(|n| (work(n) % 100, n)).collect());
        let sorted: BTreeMap<u64, u64> = pairs().collect();
        assert_eq!(sorted, hashed.clone().into_iter().collect());

        let mut changed = hashed.clone();
        changed.par_iter_mut().for_each(|(_, n)| *n += 1);
        assert!(changed.par_iter().all(|(key, n)| hashed[key] + 1 == *n));
        assert_eq!(
            changed.into_par_iter().map(|(_, n)| n - 1).max(),
            hashed.par_iter().map(|(_, n)| *n).max()
        );
        assert!(sorted.par_iter().map(|(key, _)| *key).collect::<Vec<_>>().is_sorted());
        assert_eq!(sorted.into_par_iter().map(|(key, _)| key).collect::<HashSet<_>>().len(), hashed.len());
    });
}

#[test]
fn of_text() {
    everywhere(|| {
        let words = ["every", "", "word", "ß", "of", "it"].repeat(200);
        let text = words.concat();
        assert_eq!(words.par_iter().copied().collect::<String>(), text);
        assert_eq!(words.par_iter().map(|word| word.to_string()).collect::<String>(), text);
        assert_eq!(words.par_iter().map(|word| Box::<str>::from(*word)).collect::<String>(), text);
        assert_eq!(words.par_iter().map(|word| Cow::from(*word)).collect::<String>(), text);
        assert_eq!(words.par_iter().flat_map_iter(|word| word.chars()).collect::<String>(), text);
        let letters: Vec<char> = text.chars().collect();
        assert_eq!(letters.par_iter().collect::<String>(), text);
        assert_eq!(letters.into_par_iter().filter(|c| *c != 'ß').collect::<String>(), text.replace('ß', ""));
        let mut all = String::from(">");
        all.par_extend(words.par_iter().copied());
        assert_eq!(all, format!(">{text}"));
    });
}

#[test]
fn of_nothing_but_what_is_done() {
    everywhere(|| {
        let () = (0..10).into_par_iter().map(|_| ()).collect();
        let all: Result<(), u32> =
            (0..10).into_par_iter().map(|n| if n < 5 { Ok(()) } else { Err(n) }).collect();
        assert_eq!(all, Err(5));
        let nested: Option<Result<Vec<u64>, ()>> = (0..5).into_par_iter().map(|n| Some(Ok(n))).collect();
        assert_eq!(nested, Some(Ok(vec![0, 1, 2, 3, 4])));
    });
}

#[test]
fn into_two() {
    everywhere(|| {
        let (small, large): (Vec<u64>, HashSet<u64>) = (0..STEPS).into_par_iter().partition(|n| *n < 10);
        assert!(small.into_iter().eq(0..10) && large.len() == STEPS as usize - 10);
        let (n, text): (BTreeSet<u64>, String) =
            (0..STEPS).into_par_iter().map(|n| (n, n.to_string())).unzip();
        assert_eq!((n.len(), text), (STEPS as usize, (0..STEPS).map(|n| n.to_string()).collect::<String>()));
        let (mut a, mut b) = (vec![1; 5], Vec::new());
        (0..STEPS).into_par_iter().map(|n| (n, Box::new(n))).unzip_into_vecs(&mut a, &mut b);
        assert!(a.iter().zip(&b).all(|(a, b)| *a == **b) && a.len() == STEPS as usize);
    });
}

#[test]
fn what_is_taken_apart() {
    everywhere(|| {
        let numbers: VecDeque<u64> = (0..100).collect();
        assert_eq!(numbers.par_iter().copied().collect::<VecDeque<_>>(), numbers);
        let list: LinkedList<u64> = numbers.into_par_iter().collect();
        let set: BTreeSet<u64> = list.par_iter().copied().collect();
        let heap: BinaryHeap<u64> = list.into_par_iter().collect();
        assert_eq!(heap.par_iter().sum::<u64>(), set.par_iter().sum());
        assert_eq!(heap.into_par_iter().count(), set.into_par_iter().count());
        let boxed: Box<[String]> = (0..5).map(|n| n.to_string()).collect();
        assert_eq!(boxed.par_iter().map(String::len).sum::<usize>(), 5);
        assert_eq!(boxed.into_par_iter().collect::<String>(), "01234");
        let mut array = [1, 2, 3];
        array.par_iter_mut().for_each(|n| *n += 1);
        assert_eq!(array.into_par_iter().rev().collect::<Vec<_>>(), [4, 3, 2]);
    });
}
