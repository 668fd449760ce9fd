//! What the derives accept, and safe code that runs within an allocation.

use crate::support::{Pair, Text, message, small};
use lisle_heap::{Gc, Heap, Kind, Object, Slot};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// Immediates whose code lies about its bits, or panics.
#[test]
fn immediates_that_lie_break_nothing() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Lies(u64);
    thread_local! { static PANICS: Cell<bool> = const { Cell::new(false) }; }
    impl lisle_heap::Immediate for Lies {
        const BITS: u32 = 0;
        fn pack(self, _bits: u32) -> Option<u64> {
            assert!(!PANICS.get(), "packs");
            Some(self.0)
        }
        fn unpack(packed: u64, _bits: u32) -> Self {
            assert!(!PANICS.get(), "unpacks");
            Self(packed)
        }
    }
    #[derive(lisle_heap::Value)]
    enum Mixed {
        Nothing,
        Lies(Lies),
        Text(Gc<Text>),
        Pair(Gc<Pair>),
    }
    #[derive(Object)]
    struct Holds {
        value: Slot<Mixed>,
    }
    small().enter(|s| {
        let holds = s.alloc::<Holds>(Holds::init(Mixed::nothing()));
        s.collect(Kind::Minor);
        for bits in [0, 1, 2, u64::MAX, 1 << 63, 1 << 62, 0xDEAD_BEEF_0000_0000] {
            holds.get(s).value.set(s, Lies(bits));
            assert!(
                matches!(holds.get(s).value(), MixedView::Lies(lies) if lies.0 == bits & (u64::MAX >> 2))
            );
            let text = s.alloc::<Text>(Text::init("x".into()));
            holds.get(s).value.set(s, text);
            PANICS.set(true);
            let panic = catch_unwind(AssertUnwindSafe(|| holds.get(s).value.set(s, Lies(bits))));
            assert!(panic.is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| s.alloc::<Holds>(Holds::init(Lies(bits))))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| s.regs::<Mixed>(300, Lies(bits)))).is_err());
            PANICS.set(false);
            s.collect(Kind::Full);
            assert!(matches!(holds.get(s).value(), MixedView::Text(text) if text.text == "x"));
            assert_eq!(s.verify(), Ok(()));
        }
    });
}

/// An argument that panics, allocates, or collects when it is made.
#[test]
fn arguments_run_code_before_the_allocation() {
    struct Panics;
    impl<'x> lisle_heap::IntoArg<'x, Option<Text>> for Panics {
        fn into_arg(self) -> lisle_heap::Arg<'x, Option<Text>> {
            panic!("no argument")
        }
    }
    Heap::builder().stress(true).nursery(1 << 16).build().enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        for len in [0, 1, 200, 100_000] {
            assert_eq!(message(|| _ = s.array::<Option<Text>>(len, Panics)), "no argument");
            assert_eq!(s.verify(), Ok(()));
        }
        assert_eq!(message(|| _ = s.alloc::<Pair>(Pair::init(Panics, None))), "no argument");
        assert_eq!(text.get(s).text, "x");
    });
}

/// Destructors of arguments that did not become objects run outside of the allocation, and may panic.
#[test]
fn arguments_that_find_no_room_are_dropped_once() {
    struct Drops(Arc<()>);
    impl Drop for Drops {
        fn drop(&mut self) {
            if !thread::panicking() && Arc::strong_count(&self.0) == 2 {
                panic!("dropped");
            }
        }
    }
    #[derive(Object)]
    struct Large {
        _drops: Drops,
        _words: [u64; 30_000],
    }
    let heap = Heap::builder().nursery(1 << 16).limit(1 << 17).build();
    let count = Arc::new(());
    heap.enter(|s| {
        let said = message(|| {
            drop(s.try_alloc::<Large>(Large::init(Drops(count.clone()), [0; 30_000])));
        });
        assert_eq!((said.as_str(), Arc::strong_count(&count)), ("dropped", 1));
        assert_eq!(s.verify(), Ok(()));
        s.bytes(b"more");
    });
}

/// Objects without a size, of odd sizes and alignments, with raw and odd names, and with parameters.
#[test]
fn all_kinds_of_structs_are_objects() {
    mod odd {
        #![allow(non_snake_case, dead_code, non_camel_case_types)]
        // Names that the code of the derives must not take for its own.
        pub(super) struct Option;
        pub(super) struct Some;
        pub(super) struct None;
        pub(super) struct Arg;
        pub(super) struct PhantomData;
        pub(super) type usize = u8;

        #[derive(lisle_heap::Object)]
        pub(super) struct r#Struct {
            pub(super) r#type: lisle_heap::Gc<::core::option::Option<Self_>>,
            pub(super) get: lisle_heap::Slot<::core::option::Option<Self_>>,
            pub(super) raw: u8,
            pub(super) clone: lisle_heap::Slot<::core::option::Option<r#Struct>>,
            pub(super) init: usize,
        }
        #[derive(lisle_heap::Object)]
        pub(super) struct Self_;
        #[derive(lisle_heap::Value)]
        pub(super) enum Names {
            Some(i32),
            None,
            Self_(lisle_heap::Gc<Self_>),
        }
    }
    #[derive(Object)]
    struct Nothing;
    #[derive(Object)]
    struct Bytes3([u8; 3]);
    #[derive(Object)]
    #[repr(C, packed)]
    struct Packed {
        a: u8,
        b: u64,
        c: String,
    }
    #[derive(Object)]
    struct Param<const N: usize, T = u8, W: lisle_heap::Word = Text>
    where
        T: Copy + Send + Sync + 'static,
    {
        #[cfg(any())]
        gone: std::rc::Rc<u8>,
        plain: [T; N],
        word: Gc<W>,
        slot: Slot<Option<Param<N, T, W>>>,
    }
    macro_rules! object {
        ($name:ident, $heap:ty, $plain:ty) => {
            #[derive(Object)]
            struct $name {
                heap: $heap,
                plain: $plain,
            }
        };
    }
    object!(ByMacro, Slot<Option<Text>>, String);
    for stress in [false, true] {
        Heap::builder().nursery(1 << 16).stress(stress).build().enter(|s| {
            use odd::StructRef;
            let nothing = s.alloc::<Nothing>(Nothing::init());
            let bytes = s.alloc::<Bytes3>(Bytes3::init([1, 2, 3]));
            let packed = s.alloc::<Packed>(Packed::init(1, 2, "packed".into()));
            let text = s.alloc::<Text>(Text::init("x".into()));
            let param = s.alloc::<Param<5>>(Param::init([7; 5], text, None));
            let wide = s.alloc::<Param<2_000>>(Param::init([7; 2_000], text, None));
            let by_macro = s.alloc::<ByMacro>(ByMacro::init(text, "plain".into()));
            let empty = s.alloc::<odd::Self_>(odd::Self_::init());
            let odd = s.alloc::<odd::Struct>(odd::Struct::init(empty, empty, 1, None, 2));
            for kind in [Kind::Minor, Kind::Full, Kind::Full] {
                s.collect(kind);
                assert!(nothing.get(s) == nothing.get(s));
                assert_eq!(bytes.get(s).0, [1, 2, 3]);
                let (a, b) = (packed.get(s).a, packed.get(s).b);
                assert_eq!((a, b), (1, 2));
                assert_eq!(param.get(s).plain, [7; 5]);
                assert!(param.get(s).slot().is_none() && wide.get(s).plain[1_999] == 7);
                assert_eq!((&*param.get(s).word().text, &*wide.get(s).word().text), ("x", "x"));
                assert_eq!((&*by_macro.get(s).heap().unwrap().text, &*by_macro.get(s).plain), ("x", "plain"));
                assert!(odd.get(s).r#type() == Some(empty.get(s)) && StructRef::get(odd.get(s)).is_some());
                assert!(odd.get(s).clone().is_none() && odd.get(s).raw == 1 && odd.get(s).init == 2);
                assert_eq!(s.verify(), Ok(()));
            }
        });
    }
}
