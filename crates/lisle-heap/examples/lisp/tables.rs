//! Hash tables. Each bucket is a list of pairs of a key and its value.

use crate::equal::{hash, is_equal};
use crate::natives::Call;
use crate::value::*;
use lisle_heap::{Array, Ref, Scope, Slot};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

fn lock<'a>(table: Ref<'a, Table>) -> MutexGuard<'a, ()> {
    table.get().lock.lock().expect("no panic holds the lock")
}

fn bucket<'a>(buckets: Ref<'a, Array<Value>>, key: ValueView<'_>) -> &'a Slot<Value> {
    buckets.at(hash(key) as usize % buckets.len())
}

/// Returns the entry of a key in a bucket.
fn entry<'a>(mut bucket: ValueView<'a>, key: ValueView<'_>) -> Option<Ref<'a, Pair>> {
    while let ValueView::Pair(link) = bucket {
        if let ValueView::Pair(entry) = link.car()
            && is_equal(entry.car(), key)
        {
            return Some(entry);
        }
        bucket = link.cdr();
    }
    None
}

/// Returns the value of a key.
pub(crate) fn get<'a>(table: Ref<'a, Table>, key: ValueView<'_>) -> Option<ValueView<'a>> {
    let _lock = lock(table);
    entry(bucket(table.buckets(), key).get(), key).map(PairRef::cdr)
}

/// `(table-set! table key value)`
pub(crate) fn set(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let entry_made = s.alloc::<Pair>(Pair::init(call.arg(1), call.arg(2)));
    let link = s.alloc::<Pair>(Pair::init(entry_made, Value::nil()));
    let (table, key) = (table(call.view(s, 0))?, call.view(s, 1));
    let locked = lock(table);
    let bucket = bucket(table.buckets(), key);
    if let Some(entry) = entry(bucket.get(), key) {
        entry.get().cdr.set(s, call.view(s, 2));
    } else {
        link.get(s).get().cdr.set(s, bucket.get());
        bucket.set(s, link);
        let len = table.buckets().len();
        if table.count.fetch_add(1, Relaxed) > 2 * len {
            drop(locked);
            grow(call, s, 4 * len)?;
        }
    }
    call.give(s, ValueView::Unspecified)
}

/// Deals the entries out over more buckets.
fn grow(call: &Call<'_, '_>, s: &mut Scope<'_>, len: usize) -> Result<()> {
    let buckets = s.array::<Value>(len, Value::nil());
    let table = table(call.view(s, 0))?;
    let _lock = lock(table);
    // Another fiber may have done it already.
    if table.buckets().len() >= len {
        return Ok(());
    }
    for slot in table.buckets() {
        let mut rest = slot.get();
        while let ValueView::Pair(link) = rest {
            rest = link.cdr();
            let to = bucket(buckets.get(s), pair(link.car())?.car());
            link.get().cdr.set(s, to.get());
            to.set(s, link);
        }
    }
    table.get().buckets.set(s, buckets);
    Ok(())
}
