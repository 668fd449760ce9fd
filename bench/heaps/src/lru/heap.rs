//! The cache as objects of one heap that all threads are in.

use super::{Keys, Numbers, begin, buckets};
use crate::job::Job;
use crate::lisle;
use crate::threads::on_threads;
use lisle_heap::{Array, Gc, Local, Object, Ref, Scope, Slot};
use std::sync::Mutex;
use std::time::Instant;

#[derive(Object)]
struct Value {
    numbers: Numbers,
}

#[derive(Object)]
struct Entry {
    key: u64,
    value: Gc<Value>,
    older: Slot<Option<Entry>>,
    newer: Slot<Option<Entry>>,
    /// The next entry of its bucket.
    next: Slot<Option<Entry>>,
}

#[derive(Object)]
struct Cache {
    buckets: Gc<Array<Option<Entry>>>,
    newest: Slot<Option<Entry>>,
    oldest: Slot<Option<Entry>>,
}

fn bucket(cache: Ref<'_, Cache>, key: u64) -> &Slot<Option<Entry>> {
    let buckets = cache.get().buckets.get();
    buckets.at(key as usize & (buckets.len() - 1))
}

fn find<'a>(cache: Ref<'a, Cache>, key: u64) -> Option<Ref<'a, Entry>> {
    let mut entry = bucket(cache, key).get();
    while let Some(other) = entry {
        if other.key == key {
            break;
        }
        entry = other.get().next.get();
    }
    entry
}

fn push<'a>(s: &'a Scope<'_>, cache: Ref<'a, Cache>, entry: Ref<'a, Entry>) {
    let newest = cache.get().newest.get();
    entry.get().older.set(s, newest);
    entry.get().newer.set(s, None);
    newest.map_or(&cache.get().oldest, |newest| &newest.get().newer).set(s, entry);
    cache.get().newest.set(s, entry);
}

fn unlink<'a>(s: &'a Scope<'_>, cache: Ref<'a, Cache>, entry: Ref<'a, Entry>) {
    let (older, newer) = (entry.get().older.get(), entry.get().newer.get());
    older.map_or(&cache.get().oldest, |older| &older.get().newer).set(s, newer);
    newer.map_or(&cache.get().newest, |newer| &newer.get().older).set(s, older);
}

/// Takes the oldest entry out.
fn evict<'a>(s: &'a Scope<'_>, cache: Ref<'a, Cache>) {
    let oldest = cache.get().oldest.get().expect("the cache is full");
    unlink(s, cache, oldest);
    let mut slot = bucket(cache, oldest.key);
    while let Some(entry) = slot.get().filter(|entry| *entry != oldest) {
        slot = &entry.get().next;
    }
    slot.set(s, oldest.get().next.get());
}

fn insert(s: &mut Scope<'_>, cache: Local<'_, Cache>, key: u64) {
    let value = s.alloc::<Value>(Value::init([key, 0, 0, 0]));
    let entry = s.alloc::<Entry>(Entry::init(key, value, None, None, None));
    let (cache, entry) = (cache.get(s), entry.get(s));
    let bucket = bucket(cache, key);
    entry.get().next.set(s, bucket.get());
    bucket.set(s, entry);
    push(s, cache, entry);
}

/// Returns the first number of the value if the key is found.
fn look_up(s: &mut Scope<'_>, cache: Local<'_, Cache>, key: u64) -> Option<u64> {
    {
        let (s, cache) = (&*s, cache.get(s));
        if let Some(entry) = find(cache, key) {
            if cache.get().newest.get() != Some(entry) {
                unlink(s, cache, entry);
                push(s, cache, entry);
            }
            return Some(entry.get().value.get().numbers[0]);
        }
        evict(s, cache);
    }
    s.scope(|s| insert(s, cache, key));
    None
}

pub fn run(job: &Job, entries: u64) -> (u64, Instant, f64) {
    let (heap, lock) = (lisle::heap(job.memory), Mutex::new(()));
    let cache = heap.enter(|s| {
        let buckets = s.array::<Option<Entry>>(buckets(entries), None);
        let cache = s.alloc::<Cache>(Cache::init(buckets, None, None));
        (0..entries).for_each(|key| s.scope(|s| insert(s, cache, key)));
        s.global::<Cache>(cache)
    });
    let (begun, processor_begun) = begin();
    let sums = on_threads(job.workers, |share| {
        heap.enter(|s| {
            let cache = s.local::<Cache>(&cache);
            let mut sum = 0_u64;
            for key in Keys::of(share, entries) {
                // A thread that waits for the lock is outside: the one that has it may collect.
                let guard = lock
                    .try_lock()
                    .unwrap_or_else(|_| s.outside(|| lock.lock().expect("nothing panics under the lock")));
                sum += look_up(s, cache, key).unwrap_or(0);
                drop(guard);
            }
            sum
        })
    });
    (sums.into_iter().sum(), begun, processor_begun)
}
