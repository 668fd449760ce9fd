//! Computations that are kept: at the end of a fiber they are unwound before its locals go; at the
//! end of a thread, whose locals go one by one, they are left as they are.

use lisle::Runtime;
use lisle::effect::{Effect, Generator, Suspended, finish, generator, handle, perform};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub(crate) struct Wait;
impl Effect for Wait {
    type Answer = ();
}

pub(crate) type Waiting = Suspended<(), ()>;

/// Runs `f` until it performs `Wait`, and keeps the rest.
pub(crate) fn begin(f: impl FnOnce() + 'static) -> Waiting {
    let slot = Rc::new(RefCell::new(None));
    let kept = slot.clone();
    handle(f)
        .on(move |Wait, k| {
            kept.replace(Some(k.keep()));
            finish(())
        })
        .run();
    slot.take().expect("it waits")
}

/// Adds one when it is dropped.
struct Counts(&'static AtomicU32);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

const ALIVE: u64 = 0x5afe_5afe_5afe_5afe;

/// A value of a thread-local, whose end is seen.
struct Data(Box<AtomicU64>);

impl Data {
    fn new() -> Self {
        Data(Box::new(AtomicU64::new(ALIVE)))
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
        // A later look finds the number, and no freed memory.
        Box::leak(std::mem::replace(&mut self.0, Box::new(AtomicU64::new(0))));
    }
}

static LOOKED: AtomicU32 = AtomicU32::new(0);
static DEAD: AtomicU32 = AtomicU32::new(0);

/// Looks at the data when it is dropped.
struct Looks<'a>(&'a AtomicU64);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        LOOKED.fetch_add(1, Ordering::SeqCst);
        DEAD.fetch_add(u32::from(self.0.load(Ordering::SeqCst) != ALIVE), Ordering::SeqCst);
    }
}

/// A thread-local that keeps a computation; its destructor resumes or drops it.
struct Slot(RefCell<Option<(Kept, bool)>>);

enum Kept {
    Computation(Waiting),
    Generator(Generator<u32>),
}

impl Drop for Slot {
    fn drop(&mut self) {
        match self.0.take() {
            Some((Kept::Computation(kept), true)) => drop(catch_unwind(AssertUnwindSafe(|| kept.resume(())))),
            Some((Kept::Generator(mut kept), true)) => {
                drop(catch_unwind(AssertUnwindSafe(|| kept.by_ref().count())));
            }
            kept => drop(kept),
        }
    }
}

thread_local! {
    static SLOT: Slot = const { Slot(RefCell::new(None)) };
    static DATA: Data = Data::new();
}

/// Keeps a computation or a generator that makes `DATA` and refers to it.
fn keep(is_generator: bool, is_resumed: bool) {
    let kept = if is_generator {
        let mut kept = generator(|items| {
            DATA.with(|data| {
                let _looks = Looks(&data.0);
                items.give(1);
            });
        });
        assert_eq!(kept.next(), Some(1));
        Kept::Generator(kept)
    } else {
        Kept::Computation(begin(|| {
            DATA.with(|data| {
                let _looks = Looks(&data.0);
                perform(Wait);
            });
        }))
    };
    SLOT.with(|slot| slot.0.replace(Some((kept, is_resumed))));
}

/// The slot is older than the data, and younger than the library's own locals of the thread. The
/// more the thread had kept before, the more of these there are.
#[test]
fn what_lies_in_an_older_thread_local_is_left() {
    for before in [0, 1, 2, 3, 7, 8, 100] {
        for is_generator in [false, true] {
            std::thread::spawn(move || {
                for _ in 0..before {
                    begin(|| perform(Wait)).resume(());
                }
                SLOT.with(|_| ());
                keep(is_generator, false);
            })
            .join()
            .unwrap();
        }
    }
    assert_eq!(DEAD.load(Ordering::SeqCst), 0);
}

/// Likewise if the destructor goes on with it, in a thread that has kept none before.
#[test]
fn nor_is_it_resumed() {
    for is_generator in [false, true] {
        std::thread::spawn(move || {
            SLOT.with(|_| ());
            keep(is_generator, true);
        })
        .join()
        .unwrap();
    }
    assert_eq!(DEAD.load(Ordering::SeqCst), 0);
}

/// The process ends, and with it the locals of the thread that has called `exit`, in a fiber or not.
#[test]
fn nor_if_the_process_ends() {
    const NAME: &str = "kept::nor_if_the_process_ends";
    let Ok(way) = std::env::var("LISLE_EXITS") else {
        for way in ["thread", "fiber", "fiber that has kept another"] {
            let output = Command::new(std::env::current_exe().unwrap())
                .args([NAME, "--exact", "--nocapture"])
                .env("LISLE_EXITS", way)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(7), "{way}: {said}");
            assert!(!said.contains("a destructor has run"), "{way}: {said}");
        }
        return;
    };
    struct Tells<'a>(&'a Data);
    impl Drop for Tells<'_> {
        fn drop(&mut self) {
            eprintln!("a destructor has run: {}", self.0.0.load(Ordering::SeqCst) == ALIVE);
        }
    }
    let exits = || {
        SLOT.with(|_| ());
        let kept = begin(|| {
            DATA.with(|data| {
                let _tells = Tells(data);
                perform(Wait);
            });
        });
        SLOT.with(|slot| slot.0.replace(Some((Kept::Computation(kept), false))));
        std::process::exit(7)
    };
    match &*way {
        "thread" => exits(),
        "fiber" => Runtime::builder().domains(1).run(exits),
        _ => Runtime::builder().domains(1).run(|| {
            begin(|| perform(Wait)).resume(());
            exits()
        }),
    }
}

/// While the thread goes on, dropping unwinds, also in a deep call.
#[test]
fn what_a_thread_drops_is_unwound() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let waits = || {
        begin(|| {
            let _counts = Counts(&COUNT);
            perform(Wait);
        })
    };
    (0..10).for_each(|_| drop(waits()));
    let all: Vec<_> = (0..10).map(|_| waits()).collect();
    drop(all);
    let mut items = generator(|items| {
        let _counts = Counts(&COUNT);
        items.give(1);
    });
    assert_eq!(items.next(), Some(1));
    drop(items);
    assert_eq!(COUNT.load(Ordering::SeqCst), 21);
}

mod in_fibers {
    use super::*;

    lisle::fiber_local! {
        static KEPT: RefCell<Vec<Waiting>> = RefCell::new(Vec::new());
        static MADE: RefCell<Vec<Generator<u32>>> = RefCell::new(Vec::new());
        static LOCAL: Data = Data::new();
    }

    fn on_one_domain(f: impl FnOnce() + Send + 'static) {
        Runtime::builder().domains(1).run(|| lisle::spawn(f).join().unwrap());
    }

    /// Whichever of the locals was made first, and however many there are.
    #[test]
    fn what_a_fiber_local_keeps_is_unwound_before_the_locals_go() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Runtime::builder().domains(1).run(|| {
            for n in 0..100 {
                let fiber = lisle::spawn(move || {
                    if n % 2 == 0 {
                        KEPT.with(|_| ());
                    }
                    for _ in 0..8 {
                        let kept = begin(|| {
                            LOCAL.with(|data| {
                                let _looks = Looks(&data.0);
                                let _counts = Counts(&COUNT);
                                perform(Wait);
                            });
                        });
                        keep(kept);
                        let mut items = generator(|items| {
                            LOCAL.with(|data| {
                                let _looks = Looks(&data.0);
                                let _counts = Counts(&COUNT);
                                items.give(1);
                            });
                        });
                        assert_eq!(items.next(), Some(1));
                        MADE.with(|made| made.borrow_mut().push(items));
                    }
                });
                fiber.join().unwrap();
            }
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 1_600);
        assert_eq!(DEAD.load(Ordering::SeqCst), 0);
    }

    /// Has the fiber keep it.
    fn keep(kept: Waiting) {
        KEPT.with(|all| all.borrow_mut().push(kept));
    }

    thread_local! {
        static OF_THREAD: RefCell<Vec<Waiting>> = const { RefCell::new(Vec::new()) };
    }

    /// The values are elsewhere, and are dropped in another fiber, or on the thread: before the end
    /// of the fiber, or after it.
    #[test]
    fn what_lies_elsewhere_is_unwound_with_its_fiber() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        std::thread::spawn(|| {
            Runtime::builder().domains(1).run(|| {
                for is_early in [true, false] {
                    let (go, goes) = lisle::channel::<()>();
                    let (tell, told) = lisle::channel::<()>();
                    let fiber = lisle::spawn(move || {
                        for _ in 0..10 {
                            let kept = begin(|| {
                                let _counts = Counts(&COUNT);
                                perform(Wait);
                            });
                            OF_THREAD.with_borrow_mut(|all| all.push(kept));
                        }
                        tell.send(()).unwrap();
                        goes.recv().unwrap();
                    });
                    told.recv().unwrap();
                    let before = COUNT.load(Ordering::SeqCst);
                    if is_early {
                        drop(OF_THREAD.take());
                        assert_eq!(COUNT.load(Ordering::SeqCst), before);
                    }
                    go.send(()).unwrap();
                    fiber.join().unwrap();
                    assert_eq!(COUNT.load(Ordering::SeqCst), before + 10);
                    if !is_early {
                        let all = OF_THREAD.take();
                        for (n, kept) in all.into_iter().enumerate() {
                            if n % 2 == 0 {
                                assert!(catch_unwind(AssertUnwindSafe(|| kept.resume(()))).is_err());
                            } else if n % 3 == 0 {
                                OF_THREAD.with_borrow_mut(|all| all.push(kept));
                            }
                        }
                    }
                }
            });
            assert!(!OF_THREAD.take().is_empty());
        })
        .join()
        .unwrap();
        assert_eq!(COUNT.load(Ordering::SeqCst), 20);
    }

    /// Two computations own each other. Each destructor drops, resumes or keeps the other one.
    #[test]
    fn computations_that_refer_to_each_other() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        struct Has(Rc<Cell<Option<Waiting>>>, u32);
        impl Drop for Has {
            fn drop(&mut self) {
                COUNT.fetch_add(1, Ordering::SeqCst);
                let Some(kept) = self.0.take() else { return };
                match self.1 {
                    0 => drop(kept),
                    1 => drop(catch_unwind(AssertUnwindSafe(|| kept.resume(())))),
                    _ => keep(kept),
                }
            }
        }
        for (one, other) in (0..9).map(|n| (n / 3, n % 3)) {
            on_one_domain(move || {
                let [first, second] = [Rc::default(), Rc::default()];
                let begin = |has: &Rc<Cell<Option<Waiting>>>, way| {
                    let has = Has(has.clone(), way);
                    begin(move || {
                        let _has = has;
                        perform(Wait);
                    })
                };
                let (one, other) = (begin(&second, one), begin(&first, other));
                first.set(Some(one));
                second.set(Some(other));
            });
        }
        assert_eq!(COUNT.load(Ordering::SeqCst), 18);
    }

    /// A destructor that is run at the end keeps another computation, and another, for a while.
    #[test]
    fn destructors_that_keep_others() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        struct Again(u32);
        impl Drop for Again {
            fn drop(&mut self) {
                COUNT.fetch_add(1, Ordering::SeqCst);
                if let Some(left) = self.0.checked_sub(1) {
                    keep(waits(left));
                    lisle::fiber::yield_now();
                }
            }
        }
        fn waits(left: u32) -> Waiting {
            begin(move || {
                let _again = Again(left);
                perform(Wait);
            })
        }
        on_one_domain(|| keep(waits(50)));
        assert_eq!(COUNT.load(Ordering::SeqCst), 51);
    }

    /// A generator that waits for the handler around its consumer, as a part of a kept computation.
    #[test]
    fn a_generator_within_a_kept_computation() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        on_one_domain(|| {
            let kept = begin(|| {
                let _counts = Counts(&COUNT);
                let mut items = generator(|items| {
                    let _counts = Counts(&COUNT);
                    perform(Wait);
                    items.give(1);
                });
                assert_eq!(items.next(), Some(1));
            });
            keep(kept);
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 2);
    }

    /// Asks the producer around it to be suspended.
    struct Yield;
    impl Effect for Yield {
        type Answer = ();
    }

    /// Begins a computation in a generator. The clause keeps it, gives it to `put`, and waits. The
    /// clause owns the values that it uses after that.
    fn waits_in_a_clause(
        f: impl FnOnce() + 'static,
        put: impl FnOnce(Waiting) -> Option<Waiting> + 'static,
    ) -> Generator<u32> {
        let (mut put, owned) = (Some(put), Box::new(Cell::new(ALIVE)));
        let mut items = generator(move |items| {
            handle(move || {
                handle(f)
                    .on(move |Wait, k| {
                        struct Reads<'a>(&'a Cell<u64>);
                        impl Drop for Reads<'_> {
                            fn drop(&mut self) {
                                assert_eq!(self.0.replace(0), ALIVE);
                            }
                        }
                        let _reads = Reads(&owned);
                        let _kept = put.take().and_then(|put| put(k.keep()));
                        perform(Yield);
                        finish(())
                    })
                    .run();
            })
            .answer(|Yield| items.give(1))
            .run();
        });
        assert_eq!(items.next(), Some(1));
        items
    }

    /// The fiber ends while a clause waits that has kept a computation. The clause is in a
    /// generator, which is older than the computation.
    #[test]
    fn what_a_suspended_clause_has_kept() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let counts = || {
            let counts = Counts(&COUNT);
            move || {
                let _counts = counts;
                perform(Wait);
            }
        };
        let put = |kept| {
            keep(kept);
            None
        };
        on_one_domain(move || MADE.with(|made| made.borrow_mut().push(waits_in_a_clause(counts(), put))));
        assert_eq!(COUNT.load(Ordering::SeqCst), 1);
        on_one_domain(move || std::mem::forget(waits_in_a_clause(counts(), put)));
        assert_eq!(COUNT.load(Ordering::SeqCst), 2);
        // The generator is dropped, or goes on, before the fiber ends.
        on_one_domain(move || drop(waits_in_a_clause(counts(), put)));
        assert_eq!(COUNT.load(Ordering::SeqCst), 3);
        on_one_domain(move || assert_eq!(waits_in_a_clause(counts(), put).count(), 0));
        assert_eq!(COUNT.load(Ordering::SeqCst), 4);
        // The value is dropped while the clause waits.
        on_one_domain(move || {
            let items = waits_in_a_clause(counts(), put);
            KEPT.with(|kept| kept.borrow_mut().clear());
            assert_eq!(COUNT.load(Ordering::SeqCst), 5);
            MADE.with(|made| made.borrow_mut().push(items));
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn what_a_suspended_clause_holds() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for is_kept in [true, false] {
            on_one_domain(move || {
                let counts = Counts(&COUNT);
                let wait = move || {
                    let _counts = counts;
                    perform(Wait);
                };
                let items = waits_in_a_clause(wait, Some);
                if is_kept {
                    MADE.with(|made| made.borrow_mut().push(items));
                } else {
                    std::mem::forget(items);
                }
            });
        }
        assert_eq!(COUNT.load(Ordering::SeqCst), 2);
    }

    /// A destructor of the computation drops the value that it is kept in, and the generator in which
    /// the clause waits.
    #[test]
    fn what_owns_itself_and_its_suspended_clause() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        #[derive(Default)]
        struct Both {
            kept: Cell<Option<Waiting>>,
            items: Cell<Option<Generator<u32>>>,
        }
        struct Has(Rc<Both>, [bool; 2]);
        impl Drop for Has {
            fn drop(&mut self) {
                COUNT.fetch_add(1, Ordering::SeqCst);
                let [of_kept, is_kept_first] = self.1;
                if of_kept && is_kept_first {
                    drop(self.0.kept.take());
                }
                drop(self.0.items.take());
                drop(self.0.kept.take());
            }
        }
        for (of_kept, is_kept_first, is_dropped) in (0..8).map(|n| (n & 1 != 0, n & 2 != 0, n & 4 != 0)) {
            on_one_domain(move || {
                let both = Rc::new(Both::default());
                let (has, put) = (Has(both.clone(), [of_kept, is_kept_first]), both.clone());
                let wait = move || {
                    let _has = has;
                    perform(Wait);
                };
                let items = waits_in_a_clause(wait, move |kept| {
                    put.kept.set(Some(kept));
                    None
                });
                if of_kept {
                    both.items.set(Some(items));
                } else {
                    MADE.with(|made| made.borrow_mut().push(items));
                }
                if is_dropped {
                    drop(both.kept.take());
                }
            });
        }
        assert_eq!(COUNT.load(Ordering::SeqCst), 8);
    }

    /// A computation that a suspended clause has kept is dropped in another fiber: before the end
    /// of its own, or after it.
    #[test]
    fn what_a_suspended_clause_has_kept_is_dropped_elsewhere() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Runtime::builder().domains(1).run(|| {
            for (is_early, has_generator) in [(true, false), (true, true), (false, false), (false, true)] {
                let (go, goes) = lisle::channel::<()>();
                let (tell, told) = lisle::channel::<()>();
                let before = COUNT.load(Ordering::SeqCst);
                let fiber = lisle::spawn(move || {
                    let counts = Counts(&COUNT);
                    let wait = move || {
                        let _counts = counts;
                        perform(Wait);
                    };
                    let items = waits_in_a_clause(wait, |kept| {
                        OF_THREAD.with_borrow_mut(|all| all.push(kept));
                        None
                    });
                    tell.send(()).unwrap();
                    goes.recv().unwrap();
                    if has_generator {
                        drop(items);
                    } else {
                        std::mem::forget(items);
                    }
                });
                told.recv().unwrap();
                if is_early {
                    drop(OF_THREAD.take());
                    assert_eq!(COUNT.load(Ordering::SeqCst), before);
                }
                go.send(()).unwrap();
                fiber.join().unwrap();
                assert_eq!(COUNT.load(Ordering::SeqCst), before + 1);
                drop(OF_THREAD.take());
            }
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 4);
    }

    /// A computation catches its unwinding, and panics: the panic is reported, and the others are
    /// unwound.
    #[test]
    fn one_that_panics_when_it_is_unwound() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        on_one_domain(|| {
            for _ in 0..10 {
                keep(begin(|| {
                    let _counts = Counts(&COUNT);
                    assert!(catch_unwind(|| perform(Wait)).is_err());
                    std::panic::resume_unwind(Box::new("instead"));
                }));
            }
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 10);
    }

    /// A runtime that ends unwinds its fibers where they wait, and then the computations that wait
    /// in them.
    #[test]
    fn at_a_shutdown() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Runtime::builder().domains(1).run(|| {
            let (tell, told) = lisle::channel::<()>();
            for _ in 0..100 {
                let tell = tell.clone();
                drop(lisle::spawn(move || {
                    keep(begin(|| {
                        let _counts = Counts(&COUNT);
                        perform(Wait);
                    }));
                    tell.send(()).unwrap();
                    lisle::Event::sync(&lisle::never::<()>());
                }));
            }
            (0..100).for_each(|_| told.recv().unwrap());
        });
        assert_eq!(COUNT.load(Ordering::SeqCst), 100);
    }
}
