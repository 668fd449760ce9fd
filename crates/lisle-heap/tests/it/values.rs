//! What a word can be.

use crate::scheme::{Cons, ConsRef, Sym, Value, ValueView};
use lisle_heap::{Array, Bytes, Gc, Heap, Kind, Object, Slot};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// More types of objects than a word has tags, and immediates of several types.
#[derive(lisle_heap::Value)]
pub(crate) enum Many {
    Nothing,
    Truth(bool),
    Letter(char),
    Small(i32),
    Large(i64),
    Float(f32),
    A(Gc<A>),
    B(Gc<B>),
    Text(Gc<Bytes>),
    List(Gc<Array<Many>>),
    C(Gc<C>),
    D(Gc<D>),
}

#[derive(Object)]
pub(crate) struct A(u8);
#[derive(Object)]
pub(crate) struct B(u16);
#[derive(Object)]
pub(crate) struct C {
    boxed: Slot<Many>,
}
#[derive(Object)]
pub(crate) struct D;

/// A value without objects.
#[derive(lisle_heap::Value)]
pub(crate) enum Plain {
    On,
    Off,
}

/// A type of objects with a parameter.
#[derive(Object)]
pub(crate) struct Pair<W: lisle_heap::Word> {
    first: Gc<W>,
    second: Slot<W>,
}

#[test]
fn each_variant_of_a_value_is_read_as_it_was_written() {
    Heap::new().enter(|s| {
        let a = s.alloc::<A>(A::init(7));
        let b = s.alloc::<B>(B::init(8));
        let c = s.alloc::<C>(C::init(Many::letter('ß')));
        let d = s.alloc::<D>(D::init());
        let text = s.bytes(b"abc");
        let list = s.array::<Many>(3, Many::nothing());
        let mut regs = s.regs::<Many>(12, ManyView::Nothing);
        regs.set(s, 0, true);
        regs.set(s, 1, 'λ');
        regs.set(s, 2, -5_i32);
        regs.set(s, 3, i64::from(i32::MAX) * 1_000);
        regs.set(s, 4, -0.5_f32);
        regs.set(s, 5, a);
        regs.set(s, 6, b);
        regs.set(s, 7, text);
        regs.set(s, 8, list);
        regs.set(s, 9, c);
        regs.set(s, 10, d);
        for _ in 0..2 {
            s.collect(Kind::Full);
            assert!(matches!(regs.get(s, 0), ManyView::Truth(true)));
            assert!(matches!(regs.get(s, 1), ManyView::Letter('λ')));
            assert!(matches!(regs.get(s, 2), ManyView::Small(-5)));
            assert!(matches!(regs.get(s, 3), ManyView::Large(2_147_483_647_000)));
            assert!(matches!(regs.get(s, 4), ManyView::Float(-0.5)));
            assert!(matches!(regs.get(s, 5), ManyView::A(a) if a.0 == 7));
            assert!(matches!(regs.get(s, 6), ManyView::B(b) if b.0 == 8));
            assert!(matches!(regs.get(s, 7), ManyView::Text(text) if text.as_str() == Ok("abc")));
            assert!(matches!(regs.get(s, 8), ManyView::List(list) if list.len() == 3));
            assert!(matches!(regs.get(s, 9), ManyView::C(c) if c.boxed() == ManyView::Letter('ß')));
            assert!(matches!(regs.get(s, 10), ManyView::D(_)));
            assert!(matches!(regs.get(s, 11), ManyView::Nothing));
        }
        assert!(d.get(s) == d.get(s) && s.local::<Many>(d.get(s)).get(s) == regs.get(s, 10));
    });
}

#[test]
fn integers_have_the_bits_that_the_variants_leave_over() {
    Heap::new().enter(|s| {
        // `Value` has two immediate variants, so an integer has 62 bits.
        for number in [0, 1, -1, (1 << 61) - 1, -(1 << 61)] {
            assert!(Value::fits_int(number));
            assert!(s.local::<Value>(number).get(s) == ValueView::Int(number), "{number}");
        }
        for number in [1 << 61, -(1 << 61) - 1, i64::MAX, i64::MIN] {
            assert!(!Value::fits_int(number));
            let panic = catch_unwind(AssertUnwindSafe(|| s.local::<Value>(number))).unwrap_err();
            let message = panic.downcast_ref::<String>().unwrap();
            assert_eq!(
                *message,
                format!("{number} has no room in a `Value::Int`, which has 62 bits. Put it into an object")
            );
        }
        let on = s.root::<Plain>(PlainView::On);
        assert!(on.get(s) == PlainView::On && on.get(s) != PlainView::Off);
        assert!(matches!(s.array::<Plain>(1, Plain::off()).get(s).at(0).get(), PlainView::Off));
    });
}

#[test]
fn objects_have_parameters() {
    Heap::new().enter(|s| {
        let number = s.alloc::<Pair<Value>>(Pair::init(1, Value::nil()));
        let sym = s.alloc::<Sym>(Sym::init("x".into()));
        number.get(s).second.set(s, sym);
        s.collect(Kind::Minor);
        assert!(number.get(s).first() == ValueView::Int(1));
        assert!(matches!(number.get(s).second(), ValueView::Sym(sym) if sym.name == "x"));
        let syms = s.alloc::<Pair<Option<Sym>>>(Pair::init(sym, None));
        assert_eq!(syms.get(s).first().unwrap().name, "x");
        assert!(syms.get(s).second().is_none());
    });
}

#[test]
fn a_slot_is_exchanged_if_it_is_as_expected() {
    Heap::builder().stress(true).build().enter(|s| {
        let pair = s.alloc::<Cons>(Cons::init(1, Value::nil()));
        let sym = s.alloc::<Sym>(Sym::init("s".into()));
        assert!(pair.get(s).car.compare_exchange(s, 2, 3).is_err_and(|found| found == ValueView::Int(1)));
        assert!(pair.get(s).car.compare_exchange(s, 1, sym).is_ok());
        s.collect(Kind::Full);
        assert!(pair.get(s).car.compare_exchange(s, sym, 4).is_ok());
        assert!(pair.get(s).car() == ValueView::Int(4));
        assert_eq!(s.verify(), Ok(()));
    });
}

/// Sizes around that of the largest cell, and an empty array and empty bytes.
#[test]
fn arrays_and_bytes_have_all_lengths() {
    Heap::builder().nursery(1 << 16).build().enter(|s| {
        let lengths: Vec<usize> = if cfg!(miri) {
            vec![0, 1, 126, 127]
        } else {
            (0..10).chain(120..140).chain([1_000, 100_000]).collect()
        };
        for len in lengths {
            s.scope(|s| {
                let sym = s.alloc::<Sym>(Sym::init(len.to_string()));
                let array = s.array::<Option<Sym>>(len, sym);
                let bytes = s.bytes(&vec![7; len]);
                s.collect(Kind::Minor);
                let (array, bytes) = (array.get(s), bytes.get(s));
                assert!(array.len() == len && array.is_empty() == (len == 0));
                assert!(array.iter().all(|slot| slot.get().unwrap().name == len.to_string()));
                assert!(bytes.as_slice().len() == len && bytes.as_slice().iter().all(|byte| *byte == 7));
                assert_eq!(s.verify(), Ok(()));
            });
        }
        let array = s.array::<Value>(2, 5);
        let panic = catch_unwind(AssertUnwindSafe(|| array.get(s).at(2).get())).map(drop).unwrap_err();
        assert_eq!(
            panic.downcast_ref::<String>().unwrap(),
            "index out of bounds: the len is 2 but the index is 2"
        );
    });
}
