//! Races on cells: found in whatever order the accesses came, and told with both sides.

use lisle::sync::Mutex;
use lisle::{channel, spawn};
use lisle_check::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use lisle_check::cell::{Cell, UnsafeCell};
use lisle_check::{CellAccess, Checker, DataRace, Memory, Verdict};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// A value that says of itself that it is shared in order.
#[derive(Default)]
struct Shared<T>(T);

// SAFETY: its cells are the checker's, which checks each access before it is made.
unsafe impl<T: Send> Sync for Shared<T> {}

fn explore(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().explore(program);
    println!("{verdict}");
    verdict
}

#[track_caller]
fn race(program: impl Fn() + Send + Sync + 'static) -> DataRace {
    explore(program).failure().and_then(|failure| failure.race()).expect("a race").clone()
}

#[track_caller]
fn is_clean(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = explore(program);
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    verdict
}

fn publish(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot: Arc<Shared<(Cell<u32>, AtomicBool)>> = Arc::default();
        let of_sender = slot.clone();
        let sender = spawn(move || {
            of_sender.0.0.set(42);
            of_sender.0.1.store(true, store);
        });
        if slot.0.1.load(load) {
            assert_eq!(slot.0.0.get(), 42);
        }
        sender.join().unwrap();
    }
}

#[test]
fn a_message_that_is_published() {
    is_clean(publish(Release, Acquire));
    is_clean(publish(SeqCst, SeqCst));
    for (store, load, what) in [
        (Relaxed, Acquire, "but the store does not release the first access"),
        (Release, Relaxed, "but the load does not acquire"),
        (Relaxed, Relaxed, "but the store does not release the first access, and the load does not acquire"),
    ] {
        let race = race(publish(store, load));
        let [first, second] = race.sides();
        assert_eq!((first.access(), second.access()), (CellAccess::Written, CellAccess::Read));
        assert!(first.spawned_at().is_some() && second.spawned_at().is_none());
        let line = first.site().unwrap().line();
        assert_eq!(second.site().unwrap().line(), line + 4);
        let text = race.to_string();
        assert!(text.contains(what), "{text}");
        assert!(text.contains(&format!("{}:{line}:", file!())), "{text}");
    }
}

#[test]
fn machines_order_more_than_the_language() {
    // On x86 every load acquires and every store releases.
    for memory in [Memory::Tso, Memory::Sc] {
        let verdict = Checker::new().memory(memory).explore(publish(Relaxed, Relaxed));
        assert!(verdict.failure().is_none(), "{verdict}");
    }
}

#[test]
fn fences_order_what_relaxed_operations_carry() {
    let program = |releases: bool, acquires: bool| {
        move || {
            let slot: Arc<Shared<(Cell<u32>, AtomicU32)>> = Arc::default();
            let of_sender = slot.clone();
            let sender = spawn(move || {
                of_sender.0.0.set(42);
                if releases {
                    fence(Release);
                }
                of_sender.0.1.store(1, Relaxed);
            });
            if slot.0.1.load(Relaxed) == 1 {
                if acquires {
                    fence(Acquire);
                }
                assert_eq!(slot.0.0.get(), 42);
            }
            sender.join().unwrap();
        }
    };
    is_clean(program(true, true));
    race(program(true, false));
    race(program(false, true));
}

#[test]
fn a_release_sequence_goes_on_by_updates_alone() {
    let program = |is_update: bool| {
        move || {
            let slot: Arc<Shared<(Cell<u32>, AtomicU32)>> = Arc::default();
            let of_sender = slot.clone();
            let sender = spawn(move || {
                of_sender.0.0.set(42);
                of_sender.0.1.store(1, Release);
                if is_update {
                    of_sender.0.1.fetch_add(1, Relaxed);
                } else {
                    of_sender.0.1.store(2, Relaxed);
                }
            });
            if slot.0.1.load(Acquire) == 2 {
                assert_eq!(slot.0.0.get(), 42);
            }
            sender.join().unwrap();
        }
    };
    is_clean(program(true));
    race(program(false));
}

#[test]
fn what_the_library_orders() {
    let cell = || Arc::new(Shared(Cell::new(0)));
    is_clean(move || {
        let cell = cell();
        let of_other = cell.clone();
        spawn(move || of_other.0.set(1)).join().unwrap();
        cell.0.set(cell.0.get() + 1);
        let of_other = cell.clone();
        assert_eq!(spawn(move || of_other.0.get()).join().unwrap(), 2);
    });
    is_clean(move || {
        let shared = Arc::new((Mutex::new(()), cell()));
        let fibers = [(); 2].map(|()| {
            let shared = shared.clone();
            spawn(move || {
                let _guard = shared.0.lock();
                shared.1.0.set(shared.1.0.get() + 1);
            })
        });
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
        assert_eq!(shared.1.0.get(), 2);
    });
    is_clean(move || {
        let (tx, rx) = channel();
        let cell = cell();
        let of_other = cell.clone();
        let sender = spawn(move || {
            of_other.0.set(1);
            tx.send(()).unwrap();
        });
        rx.recv().unwrap();
        assert_eq!(cell.0.get(), 1);
        sender.join().unwrap();
    });
    // A lock that only one of them takes orders nothing.
    race(move || {
        let shared = Arc::new((Mutex::new(()), cell()));
        let of_other = shared.clone();
        let other = spawn(move || {
            let _guard = of_other.0.lock();
            of_other.1.0.set(1);
        });
        shared.1.0.set(2);
        other.join().unwrap();
    });
    // A message does not order steps that its sender takes after it.
    race(move || {
        let (tx, rx) = channel::bounded(1);
        let cell = cell();
        let of_other = cell.clone();
        let sender = spawn(move || {
            tx.send(()).unwrap();
            of_other.0.set(1);
        });
        rx.recv().unwrap();
        cell.0.get();
        sender.join().unwrap();
    });
}

#[test]
fn two_who_read_do_not_race() {
    is_clean(|| {
        let cell = Arc::new(Shared(Cell::new(7)));
        let of_other = cell.clone();
        let other = spawn(move || of_other.0.get());
        assert_eq!(cell.0.get() + other.join().unwrap(), 14);
    });
}

#[test]
fn a_call_with_a_pointer_lasts_until_it_returns() {
    let race = race(|| {
        let shared: Arc<Shared<(UnsafeCell<u32>, AtomicBool)>> = Arc::default();
        let of_other = shared.clone();
        let other = spawn(move || {
            of_other.0.0.with_mut(|_| of_other.0.1.store(true, Release)); // too early
        });
        if shared.0.1.load(Acquire) {
            shared.0.0.with(|_| ());
        }
        other.join().unwrap();
    });
    assert!(race.sides().iter().any(|side| side.access() == CellAccess::Written));
}

#[test]
fn what_is_made_is_handed_on_in_order() {
    let program = |order: Ordering| {
        move || {
            let place = Arc::new(lisle_check::atomic::AtomicPtr::<Shared<Cell<u32>>>::default());
            let of_other = place.clone();
            let other = spawn(move || {
                of_other.store(Box::into_raw(Box::new(Shared(Cell::new(1)))), order);
            });
            let made = place.load(Acquire);
            if !made.is_null() {
                // SAFETY: it is not null, so it was made, and nobody drops it before the join.
                assert_eq!(unsafe { &*made }.0.get(), 1);
            }
            other.join().unwrap();
            let made = place.swap(std::ptr::null_mut(), Relaxed);
            // SAFETY: the other fiber has made it, and nobody has it any more.
            drop(unsafe { Box::from_raw(made) });
        }
    };
    is_clean(program(Release));
    let sides = race(program(Relaxed)).sides().clone();
    assert_eq!(sides.map(|side| side.access()), [CellAccess::Made, CellAccess::Read]);
}

/// A value that the last of its owners drops.
struct Counted {
    owners: AtomicUsize,
    value: Cell<u32>,
}

struct Owner(*const Counted);

// SAFETY: the value is there until the last owner has let go of it.
unsafe impl Send for Owner {}

impl Owner {
    fn let_go(self, has_fence: bool) {
        // SAFETY: as above.
        let counted = unsafe { &*self.0 };
        assert_eq!(counted.value.get(), 7);
        if counted.owners.fetch_sub(1, Release) == 1 {
            if has_fence {
                fence(Acquire);
            }
            // SAFETY: all others have let go of it.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

fn count_owners(has_fence: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let counted = Box::into_raw(Box::new(Counted { owners: AtomicUsize::new(2), value: Cell::new(7) }));
        let (one, other) = (Owner(counted), Owner(counted));
        let other = spawn(move || other.let_go(has_fence));
        one.let_go(has_fence);
        other.join().unwrap();
    }
}

#[test]
fn the_last_owner_waits_for_the_others() {
    is_clean(count_owners(true));
    let sides = race(count_owners(false)).sides().clone();
    assert_eq!(sides.map(|side| side.access()), [CellAccess::Read, CellAccess::Dropped]);
}

#[test]
fn a_race_is_found_again_from_its_token() {
    let verdict = explore(publish(Relaxed, Acquire));
    let token = verdict.failure().unwrap().token();
    assert!(token.starts_with("rc11."), "{token}");
    let again = Checker::new().replay(&token).unwrap().explore(publish(Relaxed, Acquire));
    assert_eq!(again.failure().unwrap().race(), verdict.failure().unwrap().race());
    assert!(Checker::new().random(1).explore(publish(Relaxed, Acquire)).failure().unwrap().race().is_some());
}

#[test]
fn an_update_that_acquires_and_releases() {
    is_clean(|| {
        let shared: Arc<Shared<(Cell<u32>, AtomicU32)>> = Arc::default();
        let fibers = [(); 2].map(|()| {
            let shared = shared.clone();
            spawn(move || {
                // The second fiber comes after the first.
                if shared.0.1.fetch_add(1, AcqRel) == 0 {
                    shared.0.0.set(1);
                    shared.0.1.fetch_add(1, AcqRel);
                } else if shared.0.1.load(Acquire) == 3 {
                    shared.0.0.set(2);
                }
            })
        });
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
    });
}
