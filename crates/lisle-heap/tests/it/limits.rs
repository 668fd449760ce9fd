//! Cases 22 and 24: limits, and memory that goes back.

use crate::scheme::{Cons, Sym, Value, ValueView, cons, numbers, sum};
use crate::support::small;
use lisle_heap::{Bytes, Full, Heap, Kind};
use std::panic::{AssertUnwindSafe, catch_unwind};

const LIMIT: usize = 1 << 20;

#[test]
#[cfg_attr(miri, ignore = "it takes minutes there")]
fn case_22_a_full_heap_is_an_error_and_the_program_goes_on() {
    let heap = Heap::builder().name("small").nursery(1 << 16).limit(LIMIT).build();
    heap.enter(|s| {
        for _ in 0..3 {
            let full = s.scope(|s| {
                let mut list = s.root::<Value>(ValueView::Nil);
                loop {
                    let grown = s.scope(|s| {
                        let longer = s.try_alloc::<Cons>(Cons::init(1, &list))?;
                        list.set(s, longer);
                        Ok::<_, Full>(())
                    });
                    if let Err(full) = grown {
                        // All that there was is there, and each further try fails in the same way.
                        assert_eq!(sum(list.get(s)) as usize * 24, full.live);
                        assert!(
                            s.try_alloc::<Sym>(Sym::init("no room".into()))
                                .is_err_and(|again| again.live == full.live)
                        );
                        assert!(s.try_bytes(&[0; 100]).is_err());
                        let panic = catch_unwind(AssertUnwindSafe(|| cons(s, 1, 2))).map(drop).unwrap_err();
                        assert!(panic.downcast_ref::<String>().unwrap().starts_with("the heap is full: "));
                        assert_eq!(s.verify(), Ok(()));
                        break full;
                    }
                }
            });
            assert_eq!(full.limit, Some(LIMIT));
            assert!(full.live > LIMIT - 3 * (1 << 16) && full.live < LIMIT, "{full}");
            assert!(s.stats().old_bytes <= LIMIT);
        }
        let list = numbers(s, 100);
        assert_eq!(sum(list.get(s)), 4_950);
    });
}

#[test]
fn case_22_a_large_object_that_does_not_fit_is_an_error() {
    let heap = Heap::builder().nursery(1 << 16).limit(1 << 20).build();
    heap.enter(|s| {
        for len in [1 << 18, usize::MAX / 16, usize::MAX] {
            let full = s.try_array::<Value>(len, 0).unwrap_err();
            assert!(full.limit == Some(1 << 20) && full.live == 0, "{full}");
        }
        // Garbage makes room.
        for _ in 0..if cfg!(miri) { 0 } else { 20 } {
            s.scope(|s| assert_eq!(s.array::<Value>(1 << 16, 0).get(s).len(), 1 << 16));
        }
        assert_eq!(s.verify(), Ok(()));
    });
    // Without a limit the system is what has no room.
    let full = Heap::new().enter(|s| s.try_array::<Value>(usize::MAX / 2, 0).unwrap_err());
    assert_eq!(full.limit, if cfg!(miri) { full.limit } else { None }, "{full}");
}

#[test]
fn a_limit_without_room_for_the_nursery_is_refused() {
    let error = Heap::builder().nursery(1 << 20).limit(1 << 20).try_build().unwrap_err();
    assert!(
        error.to_string().starts_with("a limit of 1048576 bytes has no room for a nursery of 1048576 bytes"),
        "{error}"
    );
    assert!(Heap::builder().nursery(usize::MAX).try_build().is_err());
    // The system has no room for it.
    assert!(cfg!(miri) || Heap::builder().nursery(1 << 50).try_build().is_err());
    assert!(
        catch_unwind(|| Heap::builder().ratio(1.0)).is_err()
            && catch_unwind(|| Heap::builder().ratio(f64::NAN)).is_err()
    );
}

#[test]
fn case_24_memory_goes_back() {
    let (many, few) = if cfg!(miri) { (500, 50) } else { (2_000_000, 20_000) };
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        s.scope(|s| {
            let list = numbers(s, many);
            s.collect(Kind::Full);
            assert!(s.stats().reserved_bytes >= 24 * many as usize && sum(list.get(s)) > 0);
        });
        let list = numbers(s, few);
        s.collect(Kind::Full);
        let stats = s.stats();
        assert_eq!((stats.live_bytes, sum(list.get(s))), (24 * few as usize, few * (few - 1) / 2));
        // The live objects, the nursery and its reserve, and a chunk at each end.
        assert!(cfg!(miri) || stats.reserved_bytes < (24 * few as usize) + (6 << 20), "{stats:?}");
    });
}

/// Short-lived objects take no memory beside the nursery.
#[test]
fn case_24_garbage_keeps_the_heap_small() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let rounds = if cfg!(miri) { 500 } else { 10_000_000 };
        for round in 0..rounds {
            s.scope(|s| {
                cons(s, round, Value::nil());
            });
        }
        let stats = s.stats();
        assert_eq!(stats.allocated_bytes, 24 * rounds as u64);
        assert!(
            stats.promoted_bytes <= 100 * stats.minor_collections && stats.old_bytes <= 1 << 16,
            "{stats:?}"
        );
    });
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

/// Objects of 17 words take cells of 20 in the old space.
#[test]
fn cells_that_are_larger_than_their_objects_do_not_pass_the_limit() {
    let heap = Heap::builder().nursery(1 << 18).limit(LIMIT).build();
    heap.enter(|s| {
        // A large object leaves as little room as there may be, in steps of half a KiB.
        let longest = (0..LIMIT / 8).rev().step_by(64).find_map(|len| s.try_array::<Value>(len, 0).ok());
        let mut regs = s.regs::<Option<Bytes>>(if cfg!(miri) { 2_000 } else { 10_000 }, None);
        let full = (0..regs.len()).find_map(|index| {
            s.scope(|s| s.try_bytes(&[1; 15 * 8]).map(|bytes| regs.set(s, index, bytes)).err())
        });
        s.collect(Kind::Full);
        assert!(s.stats().old_bytes <= LIMIT, "{:?}", s.stats());
        assert!(
            longest.is_some_and(|array| array.get(s).len() > LIMIT / 16) && (cfg!(miri) || full.is_some())
        );
    });
}
