//! A list of numbers and symbols, as an interpreter has it.

use lisle_heap::{Heap, IntoArg, Local, Object, Scope, Slot, Value};

#[derive(Value)]
pub(crate) enum Value {
    Nil,
    Int(i64),
    Cons(lisle_heap::Gc<Cons>),
    Sym(lisle_heap::Gc<Sym>),
}

#[derive(Object)]
pub(crate) struct Cons {
    pub(crate) car: Slot<Value>,
    pub(crate) cdr: Slot<Value>,
}

#[derive(Object)]
pub(crate) struct Sym {
    pub(crate) name: String,
}

pub(crate) fn cons<'s, 'x>(
    s: &mut Scope<'s>,
    car: impl IntoArg<'x, Value>,
    cdr: impl IntoArg<'x, Value>,
) -> Local<'s, Value> {
    let pair = s.alloc::<Cons>(Cons::init(car, cdr));
    s.local(pair.get(s))
}

pub(crate) fn sum(mut value: ValueView<'_>) -> i64 {
    let mut sum = 0;
    while let ValueView::Cons(pair) = value {
        if let ValueView::Int(number) = pair.car() {
            sum += number;
        }
        value = pair.cdr();
    }
    sum
}

pub(crate) fn map<'s>(s: &mut Scope<'s>, list: Local<'_, Value>, f: &dyn Fn(i64) -> i64) -> Local<'s, Value> {
    s.escape(|s| match list.get(s) {
        ValueView::Cons(pair) => {
            let ValueView::Int(number) = pair.car() else { panic!("not a number") };
            let rest = s.local(pair.cdr());
            let rest = map(s, rest, f);
            cons(s, f(number), rest)
        }
        end => s.local(end),
    })
}

/// Returns the list of the numbers below `n`, the largest first.
pub(crate) fn numbers<'s>(s: &mut Scope<'s>, n: i64) -> Local<'s, Value> {
    s.escape(|s| {
        let mut list = s.root::<Value>(ValueView::Nil);
        for number in 0..n {
            s.scope(|s| {
                let longer = cons(s, number, &list);
                list.set(s, longer);
            });
        }
        s.local(list.get(s))
    })
}

#[test]
fn a_list_is_mapped_while_each_allocation_moves_all_young_objects() {
    for stress in [false, true] {
        // The recursion is not deep, since the frames of a sanitizer are large. There are more rounds instead.
        let (n, rounds) = match stress {
            _ if cfg!(miri) => (40, 1),
            true => (200, 1),
            false => (300, 20),
        };
        let heap = Heap::builder().nursery(1 << 16).stress(stress).build();
        heap.enter(|s| {
            for _ in 0..rounds {
                s.scope(|s| {
                    let list = numbers(s, n);
                    let doubled = map(s, list, &|number| 2 * number);
                    assert_eq!(sum(list.get(s)), n * (n - 1) / 2);
                    assert_eq!(sum(doubled.get(s)), n * (n - 1));
                    assert_eq!(s.verify(), Ok(()));
                });
            }
        });
        assert!(cfg!(miri) || heap.stats().minor_collections >= 1, "{:?}", heap.stats());
    }
}
