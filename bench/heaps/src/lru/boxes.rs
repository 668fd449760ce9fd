//! The cache as a vector of entries that have numbers. Their values are boxes.

use super::{Keys, Numbers, begin, buckets};
use crate::job::Job;
use crate::threads::on_threads;
use std::sync::Mutex;
use std::time::Instant;

/// No entry.
const NONE: u32 = u32::MAX;

struct Entry {
    key: u64,
    value: Box<Numbers>,
    older: u32,
    newer: u32,
    next: u32,
}

struct Cache {
    entries: Vec<Entry>,
    buckets: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl Cache {
    fn bucket(&mut self, key: u64) -> &mut u32 {
        let mask = self.buckets.len() - 1;
        &mut self.buckets[key as usize & mask]
    }

    fn find(&mut self, key: u64) -> Option<u32> {
        let mut entry = *self.bucket(key);
        while entry != NONE && self.entries[entry as usize].key != key {
            entry = self.entries[entry as usize].next;
        }
        (entry != NONE).then_some(entry)
    }

    fn push(&mut self, entry: u32) {
        let newest = self.newest;
        self.entries[entry as usize].older = newest;
        self.entries[entry as usize].newer = NONE;
        *(if newest == NONE { &mut self.oldest } else { &mut self.entries[newest as usize].newer }) = entry;
        self.newest = entry;
    }

    fn unlink(&mut self, entry: u32) {
        let Entry { older, newer, .. } = self.entries[entry as usize];
        *(if older == NONE { &mut self.oldest } else { &mut self.entries[older as usize].newer }) = newer;
        *(if newer == NONE { &mut self.newest } else { &mut self.entries[newer as usize].older }) = older;
    }

    /// Takes the oldest entry out, and returns its number.
    fn evict(&mut self) -> u32 {
        let oldest = self.oldest;
        self.unlink(oldest);
        let Entry { key, next, .. } = self.entries[oldest as usize];
        let mut before = NONE;
        let mut entry = *self.bucket(key);
        while entry != oldest {
            (before, entry) = (entry, self.entries[entry as usize].next);
        }
        *(if before == NONE { self.bucket(key) } else { &mut self.entries[before as usize].next }) = next;
        oldest
    }

    fn insert(&mut self, number: u32, key: u64) {
        let next = std::mem::replace(self.bucket(key), number);
        let entry = Entry { key, value: Box::new([key, 0, 0, 0]), older: NONE, newer: NONE, next };
        match self.entries.get_mut(number as usize) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
        self.push(number);
    }

    fn look_up(&mut self, key: u64) -> Option<u64> {
        let Some(entry) = self.find(key) else {
            let number = self.evict();
            self.insert(number, key);
            return None;
        };
        if self.newest != entry {
            self.unlink(entry);
            self.push(entry);
        }
        Some(self.entries[entry as usize].value[0])
    }
}

pub fn run(job: &Job, entries: u64) -> (u64, Instant, f64) {
    let buckets = vec![NONE; buckets(entries)];
    let mut cache = Cache { entries: Vec::new(), buckets, newest: NONE, oldest: NONE };
    (0..entries).for_each(|key| cache.insert(u32::try_from(key).expect("an entry has a number"), key));
    let cache = Mutex::new(cache);
    let (begun, processor_begun) = begin();
    let sums = on_threads(job.workers, |share| {
        let look_up = |key| cache.lock().expect("nothing panics under the lock").look_up(key).unwrap_or(0);
        Keys::of(share, entries).map(look_up).sum::<u64>()
    });
    (sums.into_iter().sum(), begun, processor_begun)
}
