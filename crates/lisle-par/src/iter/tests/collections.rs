//! Collections that are made of loops, wherever these are divided.

use super::splits::divided;
use crate::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, DefaultHasher};
use std::rc::Rc;
use std::sync::Arc;

const SEEDS: u64 = if cfg!(miri) { 5 } else { 200 };

#[test]
fn slices_texts_and_owned_values() {
    let words = ["every", "", "word", "ß"];
    for seed in 0..SEEDS {
        divided(seed, || {
            let numbers = || (0..20).into_par_iter();
            let expected: Vec<u32> = (0..20).collect();
            assert_eq!(numbers().collect::<Rc<[u32]>>()[..], expected);
            assert_eq!(numbers().collect::<Arc<[u32]>>()[..], expected);
            assert_eq!(numbers().collect::<Box<[u32]>>()[..], expected);
            assert_eq!(numbers().collect::<Cow<'_, [u32]>>()[..], expected);
            assert_eq!(*words.par_iter().copied().collect::<Cow<'_, str>>(), *"everywordß");
            assert_eq!(*words.par_iter().copied().collect::<Box<str>>(), *"everywordß");
            assert_eq!(*"aß".par_chars().collect::<Box<str>>(), *"aß");
            let parts = || words.par_iter().map(OsStr::new);
            assert_eq!(parts().collect::<OsString>(), "everywordß");
            assert_eq!(parts().map(OsStr::to_os_string).collect::<OsString>(), "everywordß");
            assert_eq!(parts().map(Cow::from).collect::<OsString>(), "everywordß");
            let mut all = OsString::from(">");
            all.par_extend(parts());
            assert_eq!(all, ">everywordß");
        });
    }
}

/// The collections are extended by references to values that can be copied.
#[test]
fn copies_are_taken() {
    fn extends<T>(from: &[T])
    where
        T: Copy + Ord + std::hash::Hash + Send + Sync + std::fmt::Debug,
    {
        let (mut vec, mut deque, mut list) = (Vec::<T>::new(), VecDeque::<T>::new(), LinkedList::<T>::new());
        vec.par_extend(from);
        deque.par_extend(from);
        list.par_extend(from);
        assert!(vec.iter().eq(from) && deque.iter().eq(from) && list.iter().eq(from));
        let (mut tree, mut hashed, mut heap) =
            (BTreeSet::<T>::new(), HashSet::<T>::new(), BinaryHeap::<T>::new());
        tree.par_extend(from);
        hashed.par_extend(from);
        heap.par_extend(from);
        assert!(tree.iter().eq(from) && hashed.len() == from.len() && heap.into_sorted_vec() == from);
        let pairs = || from.par_iter().zip(from);
        let (mut map, mut hash_map) = (BTreeMap::<T, T>::new(), HashMap::<T, T>::new());
        map.par_extend(pairs());
        hash_map.par_extend(pairs());
        assert!(map.into_iter().all(|(key, value)| key == value && hash_map[&key] == value));
    }
    for seed in 0..SEEDS {
        divided(seed, || extends(&(0..20).collect::<Vec<u64>>()));
    }
}

/// A map with a hasher that has no default can be extended.
#[test]
fn any_hasher_will_do() {
    #[derive(Clone)]
    struct Mine(u64);
    impl BuildHasher for Mine {
        type Hasher = DefaultHasher;
        fn build_hasher(&self) -> DefaultHasher {
            let mut hasher = DefaultHasher::new();
            std::hash::Hasher::write_u64(&mut hasher, self.0);
            hasher
        }
    }
    let mut map = HashMap::with_hasher(Mine(7));
    map.par_extend((0..10).into_par_iter().map(|n| (n, n * n)));
    assert_eq!(map.par_iter().map(|(_, n)| n).sum::<u32>(), 285);
    let mut set = HashSet::with_hasher(Mine(8));
    set.par_extend([1, 2, 2]);
    assert_eq!(set.into_par_iter().sum::<u32>(), 3);
}

#[test]
fn pairs_go_to_two_collections() {
    for seed in 0..SEEDS {
        divided(seed, || {
            let pairs = || (0..20).into_par_iter().map(|n| (n, n.to_string()));
            let text: String = (0..20).map(|n| n.to_string()).collect();
            let (numbers, all): (BTreeSet<u32>, String) = pairs().collect();
            assert!(numbers.into_iter().eq(0..20) && all == text);
            let (even, all): (Vec<u32>, LinkedList<String>) =
                pairs().filter(|pair| pair.0 % 2 == 0).collect();
            assert!(even.len() == 10 && all.len() == 10);
            let mut both = (vec![7], String::from(">"));
            both.par_extend(pairs());
            both.par_extend_vec(vec![(3, String::from("<"))]);
            assert_eq!((both.0.len(), both.1), (22, format!(">{text}<")));
            // Pairs in pairs, and the first failure of all.
            let ((a, b), c): ((Vec<u32>, Vec<u32>), HashSet<u32>) =
                (0..20).into_par_iter().map(|n| ((n, n + 1), n / 2)).unzip();
            assert!(a.iter().map(|n| n + 1).eq(b) && c.len() == 10);
            let failed: Result<(Vec<u32>, Vec<u32>), u32> =
                (0..20).into_par_iter().map(|n| if n < 9 { Ok((n, n)) } else { Err(n) }).collect();
            assert_eq!(failed, Err(9));
        });
    }
}
