//! Attempts to break a heap by safe code.
#![forbid(unsafe_code)]

#[cfg(not(miri))]
use corosensei::{Coroutine, CoroutineResult, Yielder};
use lisle_heap::{Gc, Global, Heap, Kind, Object, Slot};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

#[derive(Object)]
struct Text {
    text: String,
}

#[derive(Object)]
struct Pair {
    first: Slot<Option<Text>>,
    second: Slot<Option<Pair>>,
}

fn small() -> Heap {
    Heap::builder().nursery(1 << 16).build()
}

fn message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast::<String>().ok().map(|text| *text))
        .unwrap()
}

/// Each collection by hand moves almost a full nursery, and no allocation ever finds it full.
#[test]
fn collections_by_hand_have_room_for_what_they_move() {
    let heap = small();
    heap.enter(|s| {
        let mut regs = s.regs::<Option<lisle_heap::Bytes>>(if cfg!(miri) { 300 } else { 10_000 }, None);
        for index in 0..regs.len() {
            s.scope(|s| {
                let bytes = s.bytes(&[index as u8; 900]);
                regs.set(s, index, bytes);
            });
            if index % 60 == 59 {
                s.collect(Kind::Minor);
            }
        }
        for index in 0..regs.len() {
            assert_eq!(regs.get(s, index).unwrap().as_slice()[899], index as u8);
        }
        assert_eq!(s.verify(), Ok(()));
    });
}

/// A limit holds for collections by hand, too.
#[test]
fn collections_by_hand_do_not_pass_the_limit() {
    let heap = Heap::builder().nursery(1 << 16).limit(1 << 20).build();
    heap.enter(|s| {
        let mut regs = s.regs::<Option<lisle_heap::Bytes>>(4_000, None);
        let mut full = None;
        for index in 0..regs.len() {
            let result = s.scope(|s| {
                let bytes = s.try_bytes(&[index as u8; 900])?;
                regs.set(s, index, bytes);
                Ok(())
            });
            if let Err(error) = result {
                full = Some(error);
                break;
            }
            if index % 60 == 59 {
                s.collect(Kind::Minor);
            }
        }
        assert!(full.is_some_and(|full: lisle_heap::Full| full.live <= 1 << 20));
    });
}

/// A runtime that runs in `outside` has fibers of its own, on this thread's behalf.
#[cfg(not(miri))]
#[test]
fn another_heap_is_not_entered_by_a_runtime_within_outside() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    a.enter(|s| {
        let text = s.alloc::<Text>(Text::init("a's".into()));
        let said = message(|| {
            s.outside(|| {
                lisle::Runtime::builder().domains(1).run(|| {
                    b.enter(|s| {
                        let pair = s.alloc::<Pair>(Pair::init(text, None));
                        s.global::<Pair>(pair)
                    })
                });
            });
        });
        assert!(said.starts_with("a session is open in the heap `a`"), "{said}");
    });
    assert_eq!((a.verify(), b.verify()), (Ok(()), Ok(())));
}

/// The same heap may be entered there: handles are good in all of its sessions.
#[cfg(not(miri))]
#[test]
fn the_heap_is_entered_by_a_runtime_within_outside() {
    let heap = small();
    heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        let pair = s.outside(|| {
            lisle::Runtime::builder().domains(1).run(|| {
                heap.enter(|s| {
                    s.collect(Kind::Full);
                    let pair = s.alloc::<Pair>(Pair::init(text, None));
                    s.collect(Kind::Full);
                    s.global::<Pair>(pair)
                })
            })
        });
        assert_eq!(s.take(pair).get(s).first().unwrap().text, "x");
    });
}

/// Runs the calling test anew in a process of its own, where it does `f`, and checks that the library ends it.
#[cfg(not(miri))]
fn ends(name: &str, message: &str, f: impl FnOnce()) {
    const KEY: &str = "LISLE_HEAP_ATTACK_ENDS";
    if std::env::var(KEY).is_ok_and(|chosen| chosen == name) {
        f();
        return;
    }
    let test = thread::current().name().unwrap().to_owned();
    let out = std::process::Command::new(std::env::current_exe().unwrap())
        .args([&test, "--exact", "--nocapture"])
        .env(KEY, name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && said.contains(message), "{}: {said}", out.status);
}

#[cfg(not(miri))]
const LEFT_OPEN: &str = "a scope of a heap was left open while an outer one ended";

/// A coroutine leaves a fence on its stack in the list of its thread, where a later wait would read it.
#[cfg(not(miri))]
#[test]
fn a_session_in_a_coroutine_that_ends_within_another_fence_ends_the_process() {
    ends("fence", LEFT_OPEN, || {
        let heap = Heap::new();
        let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
            heap.enter(|_| yielder.suspend(()));
        });
        coroutine.resume(());
        lisle::fiber::no_suspend(|| coroutine.resume(()));
    });
}

/// The coroutine keeps the address of a fence that is gone.
#[cfg(not(miri))]
#[test]
fn a_coroutine_that_was_begun_within_a_fence_and_goes_on_after_it_ends_the_process() {
    ends("fence outside", LEFT_OPEN, || {
        let heap = Heap::new();
        let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
            heap.enter(|s| s.outside(|| yielder.suspend(())));
        });
        lisle::fiber::no_suspend(|| coroutine.resume(()));
        coroutine.resume(());
    });
}

/// Coroutines that are in `outside` at once, and go on in another order.
#[cfg(not(miri))]
#[test]
fn coroutines_that_take_turns_in_a_session_end_the_process() {
    ends("turns", LEFT_OPEN, || {
        let heap = Heap::new();
        let mut coroutines: Vec<_> = (0..2)
            .map(|_| {
                let heap = heap.clone();
                Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
                    heap.enter(|s| {
                        let text = s.alloc::<Text>(Text::init("x".into()));
                        s.outside(|| yielder.suspend(()));
                        assert_eq!(text.get(s).text, "x");
                    });
                })
            })
            .collect();
        coroutines.iter_mut().for_each(|coroutine| assert!(coroutine.resume(()).as_yield().is_some()));
        coroutines[0].resume(());
    });
}

/// In the right order nothing is lost, also when one is dropped or forgotten.
#[cfg(not(miri))]
#[test]
fn coroutines_that_end_in_order_keep_their_handles() {
    let heap = small();
    let make = || {
        let heap = heap.clone();
        Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
            heap.enter(|s| {
                let text = s.alloc::<Text>(Text::init("x".into()));
                s.outside(|| yielder.suspend(()));
                assert_eq!(text.get(s).text, "x");
            });
        })
    };
    let (mut first, mut second, mut third) = (make(), make(), make());
    first.resume(());
    heap.collect(Kind::Full);
    second.resume(());
    third.resume(());
    heap.collect(Kind::Full);
    drop(third);
    assert!(matches!(second.resume(()), CoroutineResult::Return(())));
    heap.enter(|s| assert_eq!(s.verify(), Ok(())));
    std::mem::forget(first);
    // Its session stays open, with its roots.
    heap.collect(Kind::Full);
    assert!(heap.stats().live_bytes > 0 && heap.verify() == Ok(()));
    let said = message(|| Heap::new().enter(|_| ()));
    assert!(said.starts_with("a session is open in the heap `heap`"), "{said}");
}

/// A coroutine that is inside keeps all others out of the heap, and its own thread out of all heaps.
#[cfg(not(miri))]
#[test]
fn a_coroutine_that_is_suspended_inside_keeps_its_thread_out() {
    let heap = small();
    let inside = heap.clone();
    let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
        inside.enter(|s| {
            let text = s.alloc::<Text>(Text::init("x".into()));
            let text = text.get(s);
            yielder.suspend(());
            assert_eq!(text.text, "x");
        });
    });
    coroutine.resume(());
    assert!(message(|| heap.collect(Kind::Full)).starts_with("this code is inside the heap `heap` already"));
    assert!(message(|| Heap::new().enter(|_| ())).starts_with("a session is open in the heap `heap`"));
    coroutine.resume(());
    heap.collect(Kind::Full);
}

/// Handles of the heap itself, global handles and other heaps are dropped by destructors, which run within
/// collections and when the heap goes.
#[test]
fn destructors_drop_handles_and_heaps() {
    #[derive(Object)]
    struct Owner {
        global: Mutex<Option<Global<Owner>>>,
        _heaps: Vec<Heap>,
        other: Slot<Option<Owner>>,
    }
    let (heap, other) = (small(), small());
    let inner = other.enter(|s| {
        let owner = s.alloc::<Owner>(Owner::init(Mutex::new(None), vec![small()], None));
        s.collect(Kind::Full);
        s.global::<Owner>(owner)
    });
    heap.enter(|s| {
        for round in 0..20 {
            s.scope(|s| {
                let first = s.alloc::<Owner>(Owner::init(Mutex::new(None), vec![heap.clone()], None));
                let global = s.global::<Owner>(first);
                let second = s.alloc::<Owner>(Owner::init(Mutex::new(Some(global)), vec![small()], first));
                first.get(s).other.set(s, second);
                if round % 2 == 0 {
                    s.collect(Kind::Minor);
                }
                // A cycle over a global handle is kept for as long as the handle is.
                if round % 4 < 2 {
                    *second.get(s).global.lock().unwrap() = None;
                }
            });
            s.collect(if round % 3 == 0 { Kind::Full } else { Kind::Minor });
        }
        s.alloc::<Owner>(Owner::init(Mutex::new(Some(inner)), vec![other], None));
        s.collect(Kind::Full);
        assert_eq!(s.verify(), Ok(()));
    });
}

/// Global handles are dropped on other threads while this one collects.
#[test]
fn global_handles_are_dropped_while_others_collect() {
    let heap = small();
    let (tx, rx) = mpsc::channel::<Global<Pair>>();
    let drops = thread::spawn(move || rx.into_iter().map(drop).count());
    let count = if cfg!(miri) { 130 } else { 20_000 };
    heap.enter(|s| {
        for round in 0..count {
            s.scope(|s| {
                let text = s.alloc::<Text>(Text::init(round.to_string()));
                let pair = s.alloc::<Pair>(Pair::init(text, None));
                let (kept, sent) = (s.global::<Pair>(pair), s.global::<Pair>(pair));
                tx.send(sent).unwrap();
                if round % 64 == 0 {
                    s.collect(if round % 128 == 0 { Kind::Full } else { Kind::Minor });
                }
                assert_eq!(s.take(kept).get(s).first().unwrap().text, round.to_string());
            });
        }
        drop(tx);
        assert_eq!(s.outside(|| drops.join().unwrap()), count);
    });
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

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

/// Registers without number, or with too many.
#[test]
fn registers_that_cannot_be_made_change_nothing() {
    small().enter(|s| {
        let none = s.regs::<Option<Text>>(0, None);
        assert!(catch_unwind(AssertUnwindSafe(|| none.get(s, 0).is_none())).is_err());
        s.scope(|s| {
            for len in [usize::MAX, usize::MAX / 8, usize::MAX / 16 + 1] {
                assert!(catch_unwind(AssertUnwindSafe(|| s.regs::<Option<Text>>(len, None).len())).is_err());
                let text = s.alloc::<Text>(Text::init("x".into()));
                let regs = s.regs::<Option<Text>>(300, text);
                s.collect(Kind::Full);
                assert!((0..300).all(|index| regs.get(s, index).unwrap().text == "x"));
                assert_eq!(s.verify(), Ok(()));
            }
        });
    });
}

/// A thread-local destructor enters a heap when its thread ends.
#[test]
fn a_thread_that_ends_may_enter() {
    struct Enters(RefCell<Option<(Heap, Global<Text>)>>);
    impl Drop for Enters {
        fn drop(&mut self) {
            let (heap, text) = self.0.take().unwrap();
            heap.enter(|s| {
                let text = s.take(text);
                s.collect(Kind::Full);
                assert_eq!(text.get(s).text, "x");
                s.outside(|| heap.collect(Kind::Full));
            });
            drop(heap);
        }
    }
    thread_local! { static LAST: Enters = const { Enters(RefCell::new(None)) }; }
    let heap = small();
    let text = heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        s.global::<Text>(text)
    });
    let other = heap.clone();
    thread::spawn(move || LAST.with(|last| *last.0.borrow_mut() = Some((other, text)))).join().unwrap();
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().live_bytes, 0);
}

/// Panics that unwind through `outside`, nested sessions, scopes and `escape`, which are caught within.
#[test]
fn panics_are_caught_anywhere() {
    let heap = small();
    let count = Rc::new(Cell::new(0));
    struct Counts(Rc<Cell<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        for round in 0..50 {
            let said = message(|| {
                s.scope(|s| {
                    let _counts = Counts(count.clone());
                    s.escape::<Text>(|s| {
                        s.regs::<Option<Text>>(200, None);
                        s.outside(|| {
                            let _counts = Counts(count.clone());
                            heap.enter(|s| {
                                s.scope(|s| {
                                    s.collect(Kind::Full);
                                    s.outside(|| panic!("{round}"))
                                })
                            })
                        })
                    });
                });
            });
            assert_eq!(said, round.to_string());
            let text = text.get(s);
            assert_eq!((text.text.as_str(), s.verify()), ("x", Ok(())));
        }
    });
    assert_eq!(count.get(), 100);
    assert_eq!(Rc::strong_count(&count), 1);
    thread::scope(|t| t.spawn(|| heap.collect(Kind::Full)).join().unwrap());
    assert_eq!(heap.stats().live_bytes, 0);
}

/// A task runs on the stack of the thread that waits for it, and has none of the thread's handles.
#[cfg(not(miri))]
#[test]
fn a_task_enters_another_heap_where_it_is_waited_for() {
    let (a, b) = (Heap::builder().name("a").build(), Heap::builder().name("b").build());
    let runtime = lisle::Runtime::builder().domains(1).start().unwrap();
    for _ in 0..200 {
        a.enter(|s| {
            let text = s.alloc::<Text>(Text::init("a's".into()));
            let b = b.clone();
            let len = s.outside(|| runtime.spawn(move || b.enter(|s| s.bytes(b"b's!").get(s).len())).join());
            assert_eq!((len.unwrap(), text.get(s).text.as_str()), (4, "a's"));
        });
    }
    lisle::Runtime::builder().domains(1).run(|| {
        for _ in 0..200 {
            a.enter(|s| {
                let text = s.alloc::<Text>(Text::init("a's".into()));
                let b = b.clone();
                let len =
                    s.outside(|| lisle::spawn(move || b.enter(|s| s.bytes(b"b's!").get(s).len())).join());
                assert_eq!((len.unwrap(), text.get(s).text.as_str()), (4, "a's"));
            });
        }
    });
}

/// What runs in place within a session does not wait for the session that it runs in.
#[cfg(not(miri))]
#[test]
fn a_loop_in_a_session_does_not_wait_for_its_own_heap() {
    let heap = small();
    lisle::Runtime::builder().domains(1).run(|| {
        for _ in 0..50 {
            heap.enter(|_| {
                let said = message(|| _ = lisle::par::join(|| heap.enter(|_| ()), || heap.enter(|_| ())));
                assert!(said.starts_with("this code is inside the heap `heap` already"), "{said}");
            });
        }
    });
    heap.collect(Kind::Full);
}
