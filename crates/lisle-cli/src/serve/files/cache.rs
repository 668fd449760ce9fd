//! Files in memory, bounded in bytes, and open files, bounded in number.
//!
//! Eviction uses the clock algorithm: a hand goes round the slots, spares each one that was used
//! since it last came by, and empties the first one that was not. A hit only sets a flag, where
//! exact least-recently-used order would relink a list. A new file starts without the flag, so a
//! scan of many files that are requested once does not evict the files that are requested again and
//! again.
//!
//! An open file holds a descriptor, and if it was deleted, its space on the disk. Therefore an
//! unused file is closed by the second [`Cache::close_unused`] after its last request.
//!
//! Invariant: `used` is the sum of the costs of all slots and never more than `budget`. `open` is
//! the number of slots with an open file and never more than `most_open`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::entry::Entry;

/// The cost of a slot and its place in the index, besides the file and its name.
const OVERHEAD: u64 = 96;

/// The cache. One domain owns it; only the entries themselves are shared.
#[derive(Debug)]
pub(crate) struct Cache {
    index: HashMap<Arc<[u8]>, usize>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    hand: usize,
    used: u64,
    budget: u64,
    open: usize,
    most_open: usize,
}

/// One file.
#[derive(Debug)]
struct Slot {
    key: Arc<[u8]>,
    entry: Arc<Entry>,
    cost: u64,
    checked: Instant,
    referenced: bool,
}

impl Cache {
    /// Creates an empty cache for at most `budget` bytes and `most_open` open files.
    pub(crate) fn new(budget: u64, most_open: usize) -> Cache {
        Cache {
            index: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            hand: 0,
            used: 0,
            budget,
            open: 0,
            most_open,
        }
    }

    /// Returns `true` if the cache keeps any file open.
    pub(crate) fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Returns the file with this name, and the time when it was last compared with the disk.
    pub(crate) fn get(&mut self, key: &[u8]) -> Option<(&Arc<Entry>, Instant)> {
        let slot = self.slots[*self.index.get(key)?].as_mut()?;
        slot.referenced = true;
        Some((&slot.entry, slot.checked))
    }

    /// Stores `entry` in place of the previous one with this name. An entry that is too large for
    /// the whole cache is not stored, and neither is an open file if none may be kept open.
    pub(crate) fn insert(&mut self, key: &[u8], entry: Arc<Entry>, now: Instant) {
        self.remove(key);
        let cost = entry.cost() + 2 * key.len() as u64 + OVERHEAD;
        let is_open = entry.is_open();
        if cost > self.budget || (is_open && self.most_open == 0) {
            return;
        }
        if is_open && self.open == self.most_open {
            self.evict(Slot::is_open);
        }
        while self.used + cost > self.budget {
            self.evict(|_| true);
        }
        let key: Arc<[u8]> = key.into();
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.index.insert(Arc::clone(&key), at);
        self.slots[at] = Some(Slot { key, entry, cost, checked: now, referenced: false });
        self.used += cost;
        self.open += usize::from(is_open);
    }

    /// Records that the file with this name was compared with the disk and has not changed.
    pub(crate) fn confirm(&mut self, key: &[u8], now: Instant) {
        if let Some(at) = self.index.get(key)
            && let Some(slot) = &mut self.slots[*at]
        {
            slot.checked = now;
        }
    }

    /// Removes the file with this name.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        if let Some(at) = self.index.get(key).copied() {
            self.clear(at);
        }
    }

    /// Closes the files that have not been requested since the last call.
    pub(crate) fn close_unused(&mut self) {
        for at in 0..self.slots.len() {
            match &mut self.slots[at] {
                Some(slot) if !slot.is_open() => {}
                Some(slot) if slot.referenced => slot.referenced = false,
                Some(_) => self.clear(at),
                None => {}
            }
        }
    }

    /// Empties one of the slots for which `wanted` returns `true`. The caller has made sure that
    /// there is one.
    fn evict(&mut self, wanted: impl Fn(&Slot) -> bool) {
        loop {
            let at = self.hand;
            self.hand = (at + 1) % self.slots.len();
            match &mut self.slots[at] {
                Some(slot) if !wanted(slot) => {}
                Some(slot) if slot.referenced => slot.referenced = false,
                Some(_) => return self.clear(at),
                None => {}
            }
        }
    }

    fn clear(&mut self, at: usize) {
        if let Some(slot) = self.slots[at].take() {
            self.index.remove(&slot.key);
            self.used -= slot.cost;
            self.open -= usize::from(slot.is_open());
            self.free.push(at);
        }
    }
}

impl Slot {
    fn is_open(&self) -> bool {
        self.entry.is_open()
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::{entry_of, open_entry};
    use super::*;

    fn cost_of(length: usize) -> u64 {
        entry_of(length).cost() + 2 + OVERHEAD
    }

    fn has(cache: &Cache, key: &str) -> bool {
        cache.index.contains_key(key.as_bytes())
    }

    fn insert(cache: &mut Cache, key: &str, length: usize) {
        cache.insert(key.as_bytes(), Arc::new(entry_of(length)), Instant::now());
        let sum: u64 = cache.slots.iter().flatten().map(|slot| slot.cost).sum();
        assert_eq!(cache.used, sum);
        assert!(cache.used <= cache.budget);
        assert_eq!(cache.index.len(), cache.slots.iter().flatten().count());
    }

    #[test]
    fn what_is_used_stays() {
        let mut cache = Cache::new(3 * cost_of(1000), 0);
        for key in ["a", "b", "c"] {
            insert(&mut cache, key, 1000);
        }
        assert!(cache.get(b"a").is_some() && cache.get(b"c").is_some());
        insert(&mut cache, "d", 1000);
        assert!(has(&cache, "a") && !has(&cache, "b") && has(&cache, "c") && has(&cache, "d"));
        insert(&mut cache, "e", 1000);
        assert!(!has(&cache, "d") || !has(&cache, "a") || !has(&cache, "c"), "something had to go");
    }

    #[test]
    fn a_walk_over_many_files_does_not_push_out_a_used_one() {
        let mut cache = Cache::new(10 * cost_of(1000), 0);
        insert(&mut cache, "u", 1000);
        for round in 0..1000_u32 {
            assert!(cache.get(b"u").is_some(), "still there in round {round}");
            let key = char::from_u32(0x1000 + round).expect("a letter").to_string();
            insert(&mut cache, &key, 1000);
        }
        assert!(cache.slots.len() <= 11, "slots are used again");
    }

    #[test]
    fn a_large_file_pushes_out_several_small_ones() {
        let mut cache = Cache::new(4 * cost_of(1000), 0);
        for key in ["a", "b", "c", "d"] {
            insert(&mut cache, key, 1000);
        }
        insert(&mut cache, "e", 2500);
        assert!(has(&cache, "e"));
        assert!(cache.index.len() <= 2);
        insert(&mut cache, "f", 1_000_000);
        assert!(!has(&cache, "f"), "larger than the whole cache");
    }

    #[test]
    fn replacing_and_removing() {
        let mut cache = Cache::new(10 * cost_of(1000), 0);
        insert(&mut cache, "a", 1000);
        insert(&mut cache, "a", 10);
        assert_eq!(cache.get(b"a").expect("there").0.length, 10);
        assert_eq!(cache.index.len(), 1);
        cache.remove(b"a");
        cache.remove(b"a");
        assert_eq!((cache.used, cache.index.len()), (0, 0));
        assert!(cache.get(b"a").is_none());
    }

    #[test]
    fn the_time_of_the_last_comparison() {
        let mut cache = Cache::new(10 * cost_of(1000), 0);
        let start = Instant::now();
        cache.insert(b"a", Arc::new(entry_of(1)), start);
        assert_eq!(cache.get(b"a").expect("there").1, start);
        let later = start + std::time::Duration::from_secs(1);
        cache.confirm(b"a", later);
        assert_eq!(cache.get(b"a").expect("there").1, later);
        cache.confirm(b"none", later);
    }

    #[test]
    fn open_files_are_bounded_in_number() {
        let mut cache = Cache::new(100 * cost_of(1000), 3);
        insert(&mut cache, "m", 1000);
        for key in ["a", "b", "c", "d", "e"] {
            cache.insert(key.as_bytes(), Arc::new(open_entry()), Instant::now());
            assert!(cache.get(b"a").is_some(), "it is asked for all the time");
        }
        assert_eq!((cache.open, cache.index.len()), (3, 4));
        assert!(has(&cache, "m") && has(&cache, "e"));
        insert(&mut cache, "a", 10);
        assert_eq!(cache.open, 2, "it is small now");

        let mut cache = Cache::new(100 * cost_of(1000), 0);
        cache.insert(b"a", Arc::new(open_entry()), Instant::now());
        assert!(!has(&cache, "a") && !cache.has_open());
    }

    #[test]
    fn an_open_file_that_nobody_asks_for_is_closed() {
        let mut cache = Cache::new(100 * cost_of(1000), 10);
        insert(&mut cache, "m", 1000);
        let entry = Arc::new(open_entry());
        cache.insert(b"a", Arc::clone(&entry), Instant::now());
        for _ in 0..3 {
            assert!(cache.get(b"a").is_some());
            cache.close_unused();
            assert!(cache.has_open() && has(&cache, "a"));
        }
        cache.close_unused();
        assert!(!cache.has_open() && !has(&cache, "a") && has(&cache, "m"));
        assert_eq!(Arc::strong_count(&entry), 1);
    }

    #[test]
    fn no_budget_no_files() {
        let mut cache = Cache::new(0, 0);
        insert(&mut cache, "a", 0);
        assert!(cache.get(b"a").is_none());
    }
}
