//! Hash tables. Each bucket is a list of pairs of a key and its value.

use crate::equal::{hash, is_equal};
use crate::natives::Call;
use crate::value::{Pair, PairRef as _, Result, Table, TableRef as _, Value, ValueView, error, show};
use lisle_heap::{Ref, Scope, Slot};

pub(crate) fn table(value: ValueView<'_>) -> Result<Ref<'_, Table>> {
    match value {
        ValueView::Table(table) => Ok(table),
        other => error(format!("not a table: {}", show(other))),
    }
}

pub(crate) fn make(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let buckets = s.array::<Value>(16, Value::nil());
    let table = s.alloc::<Table>(Table::init(buckets, Value::int(0)));
    call.give(s, ValueView::Table(table.get(s)))
}

fn bucket<'a>(table: Ref<'a, Table>, key: ValueView<'_>) -> &'a Slot<Value> {
    let buckets = table.buckets();
    buckets.at(hash(key) as usize % buckets.len())
}

/// Returns the entry of a key.
fn entry<'a>(table: Ref<'a, Table>, key: ValueView<'_>) -> Option<Ref<'a, Pair>> {
    let mut rest = bucket(table, key).get();
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

/// `(table-ref table key otherwise)`
pub(crate) fn get(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let found = entry(table(call.view(s, 0))?, call.view(s, 1));
    let value = found.map_or(call.view(s, 2), |entry| entry.cdr());
    call.give(s, value)
}

/// `(table-set! table key value)`
pub(crate) fn set(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    if let Some(entry) = entry(table(call.view(s, 0))?, call.view(s, 1)) {
        entry.get().cdr.set(s, call.view(s, 2));
    } else {
        let entry = s.alloc::<Pair>(Pair::init(call.arg(1), call.arg(2)));
        let rest = s.local::<Value>(bucket(table(call.view(s, 0))?, call.view(s, 1)).get());
        let link = s.alloc::<Pair>(Pair::init(entry, rest));
        let table = table(call.view(s, 0))?;
        bucket(table, call.view(s, 1)).set(s, link);
        let ValueView::Int(count) = table.count() else { return error("a table has a count") };
        table.get().count.set(s, count + 1);
        if count as usize > 2 * table.buckets().len() {
            grow(call, s)?;
        }
    }
    call.give(s, ValueView::Unspecified)
}

/// Deals the entries out over more buckets.
fn grow(call: &Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let old = table(call.view(s, 0))?.buckets().len();
    let buckets = s.array::<Value>(4 * old, Value::nil());
    let table = table(call.view(s, 0))?;
    for slot in table.buckets() {
        let mut rest = slot.get();
        while let ValueView::Pair(link) = rest {
            rest = link.cdr();
            let ValueView::Pair(entry) = link.car() else { return error("a bucket has entries") };
            let to = buckets.get(s).at(hash(entry.car()) as usize % (4 * old));
            link.get().cdr.set(s, to.get());
            to.set(s, link);
        }
    }
    table.get().buckets.set(s, buckets);
    Ok(())
}
