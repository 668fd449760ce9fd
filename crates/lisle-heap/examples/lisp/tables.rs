//! Hash tables. Each bucket is a list of pairs of a key and its value.

use crate::equal::{hash, is_equal};
use crate::natives::Call;
use crate::value::*;
use lisle_heap::{Array, Ref, Scope, Slot};
use std::sync::atomic::Ordering;

fn bucket<'a>(buckets: Ref<'a, Array<Value>>, key: ValueView<'_>) -> &'a Slot<Value> {
    buckets.at(hash(key) as usize % buckets.len())
}

/// Returns the entry of a key.
pub(crate) fn entry<'a>(table: Ref<'a, Table>, key: ValueView<'_>) -> Option<Ref<'a, Pair>> {
    let mut rest = bucket(table.buckets(), key).get();
    while let ValueView::Pair(link) = rest {
        if let ValueView::Pair(entry) = link.car()
            && is_equal(entry.car(), key)
        {
            return Some(entry);
        }
        rest = link.cdr();
    }
    None
}

/// `(table-set! table key value)`
pub(crate) fn set(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    if let Some(entry) = entry(table(call.view(s, 0))?, call.view(s, 1)) {
        entry.get().cdr.set(s, call.view(s, 2));
    } else {
        let entry = s.alloc::<Pair>(Pair::init(call.arg(1), call.arg(2)));
        let rest = s.local::<Value>(bucket(table(call.view(s, 0))?.buckets(), call.view(s, 1)).get());
        let link = s.alloc::<Pair>(Pair::init(entry, rest));
        let table = table(call.view(s, 0))?;
        bucket(table.buckets(), call.view(s, 1)).set(s, link);
        if table.count.fetch_add(1, Ordering::Relaxed) > 2 * table.buckets().len() {
            grow(call, s)?;
        }
    }
    call.give(s, ValueView::Unspecified)
}

/// Deals the entries out over more buckets.
fn grow(call: &Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let len = 4 * table(call.view(s, 0))?.buckets().len();
    let buckets = s.array::<Value>(len, Value::nil());
    let table = table(call.view(s, 0))?;
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
