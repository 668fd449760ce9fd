//! Every item is dropped exactly once, whatever the loop does with it and wherever it panics.

use super::splits::divided;
use crate::iter::{once, repeat_n};
use crate::prelude::*;
use std::cell::Cell;
use std::collections::{BTreeSet, LinkedList};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Which things exist, and what went wrong.
#[derive(Default)]
pub(super) struct Ledger {
    live: Vec<bool>,
    dropped_twice: usize,
    /// The number of calls until one of them panics.
    left: Option<usize>,
    /// The number of drops until one of them panics.
    drops_left: Option<usize>,
}

pub(super) type Book = Arc<Mutex<Ledger>>;

/// Something that has to be dropped once.
pub(super) struct Thing {
    pub(super) id: usize,
    /// Memory for an address sanitizer to watch.
    body: Box<usize>,
    book: Book,
}

impl Thing {
    pub(super) fn new(book: &Book) -> Self {
        let live = &mut book.lock().unwrap().live;
        live.push(true);
        let id = live.len() - 1;
        Thing { id, body: Box::new(id), book: book.clone() }
    }

    /// Passes one of the places where the loop may panic.
    fn touch(&self) {
        touch(&self.book);
    }
}

fn touch(book: &Book) {
    let is_last = {
        let left = &mut book.lock().unwrap().left;
        let is_last = *left == Some(0);
        *left = left.and_then(|left| left.checked_sub(1));
        is_last
    };
    if is_last {
        // `panic!` would run the hook, which would print a thousand messages.
        std::panic::resume_unwind(Box::new("enough"));
    }
}

impl Clone for Thing {
    fn clone(&self) -> Self {
        self.touch();
        Thing::new(&self.book)
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        let is_last = {
            let ledger = &mut *self.book.lock().unwrap();
            let was_live = std::mem::replace(&mut ledger.live[self.id], false);
            ledger.dropped_twice += usize::from(!was_live || *self.body != self.id);
            let is_last = ledger.drops_left == Some(0) && !std::thread::panicking();
            ledger.drops_left = ledger.drops_left.and_then(|left| left.checked_sub(1));
            is_last
        };
        if is_last {
            std::panic::resume_unwind(Box::new("in a drop"));
        }
    }
}

pub(super) const THINGS: usize = 13;

pub(super) fn things(book: &Book) -> Vec<Thing> {
    (0..THINGS).map(|_| Thing::new(book)).collect()
}

pub(super) fn touched(thing: Thing) -> Thing {
    thing.touch();
    thing
}

pub(super) fn is_odd(thing: &Thing) -> bool {
    thing.touch();
    thing.id % 2 == 1
}

/// Runs `program` undisturbed, and with a panic at each of the places that it passes, divided in
/// many ways.
pub(super) fn each_once(program: impl Fn(&Book)) {
    let (tries, stride) = if cfg!(miri) { (1, 5) } else { (40, 1) };
    for seed in 0..tries {
        for panic_at in (0..).step_by(stride) {
            let book = Book::default();
            book.lock().unwrap().left = Some(panic_at);
            let outcome = catch_unwind(AssertUnwindSafe(|| divided(seed * 1_000, || program(&book))));
            let ledger = book.lock().unwrap();
            assert_eq!(ledger.dropped_twice, 0, "seed {seed}, panic at {panic_at}");
            assert!(!ledger.live.contains(&true), "seed {seed}, panic at {panic_at}");
            assert_eq!(outcome.is_err(), ledger.left.is_none());
            if outcome.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn of_loops_that_use_things_up() {
    each_once(|book| things(book).into_par_iter().for_each(|thing| thing.touch()));
    each_once(|book| assert_eq!(things(book).into_par_iter().map(touched).count(), THINGS));
    each_once(|book| {
        let last = things(book).into_par_iter().reduce_with(|a, b| {
            a.touch();
            b
        });
        assert_eq!(last.unwrap().id, THINGS - 1);
    });
    each_once(|book| assert!(things(book).into_par_iter().max_by_key(is_odd).is_some()));
    each_once(|book| things(book).into_par_iter().inspect(Thing::touch).update(|t| t.touch()).for_each(drop));
}

#[test]
fn of_loops_that_stop_early() {
    each_once(|book| assert!(things(book).into_par_iter().find_any(is_odd).is_some()));
    each_once(|book| assert_eq!(things(book).into_par_iter().find_first(is_odd).unwrap().id, 1));
    each_once(|book| assert_eq!(things(book).into_par_iter().find_last(is_odd).unwrap().id, 11));
    each_once(|book| assert!(things(book).into_par_iter().any(|thing| is_odd(&thing))));
    each_once(|book| {
        let first = things(book).into_par_iter().try_for_each(|t| if is_odd(&t) { Err(t) } else { Ok(()) });
        assert_eq!(first.err().unwrap().id, 1);
    });
    each_once(|book| {
        let folded = things(book)
            .into_par_iter()
            .try_fold(Vec::new, |mut all, thing| {
                let fails = thing.id == 6;
                all.push(touched(thing));
                if fails { Err(all) } else { Ok(all) }
            })
            .try_reduce(Vec::new, |mut a, b| {
                a.extend(b);
                Ok(a)
            });
        assert!(folded.is_err());
    });
    each_once(|book| {
        let all: Result<Vec<Thing>, Thing> =
            things(book).into_par_iter().map(|t| if t.id > 5 { Err(touched(t)) } else { Ok(t) }).collect();
        assert_eq!(all.err().unwrap().id, 6);
    });
    each_once(|book| {
        let all: Option<LinkedList<Thing>> =
            things(book).into_par_iter().map(|t| if is_odd(&t) { None } else { Some(t) }).collect();
        assert!(all.is_none());
    });
}

#[test]
fn of_loops_that_collect() {
    each_once(|book| {
        let all: Vec<Thing> = things(book).into_par_iter().map(touched).collect();
        assert!(all.iter().map(|thing| thing.id).eq(0..THINGS));
    });
    each_once(|book| {
        let all: Vec<Thing> = things(book).into_par_iter().filter(is_odd).collect();
        assert!(all.iter().map(|thing| thing.id).eq((1..THINGS).step_by(2)));
    });
    each_once(|book| {
        let mut all = things(book);
        all.par_extend(things(book).into_par_iter().map(touched));
        all.par_extend(things(book).into_par_iter().filter(is_odd));
        assert_eq!(all.len(), 2 * THINGS + THINGS / 2);
    });
    each_once(|book| {
        let mut all = things(book);
        things(book).into_par_iter().map(touched).collect_into_vec(&mut all);
        assert_eq!(all.len(), THINGS);
    });
    each_once(|book| {
        let pairs = things(book).into_par_iter().zip(things(book)).map(|(a, b)| (touched(a), touched(b)));
        let (all, others): (Vec<Thing>, LinkedList<Thing>) = pairs.unzip();
        assert_eq!((all.len(), others.len()), (THINGS, THINGS));
    });
    each_once(|book| {
        let pairs = things(book).into_par_iter().filter(is_odd).map(|a| (touched(a), Thing::new(book)));
        let (all, others): (Vec<Thing>, Vec<Thing>) = pairs.unzip();
        assert_eq!((all.len(), others.len()), (THINGS / 2, THINGS / 2));
    });
    each_once(|book| {
        let (odd, even): (Vec<Thing>, Vec<Thing>) = things(book).into_par_iter().partition(is_odd);
        assert_eq!((odd.len(), even.len()), (THINGS / 2, THINGS - THINGS / 2));
    });
    each_once(|book| {
        let ids: BTreeSet<usize> = things(book).into_par_iter().map(|thing| touched(thing).id).collect();
        assert_eq!(ids.len(), THINGS);
    });
    each_once(|book| {
        let folds = things(book).into_par_iter().fold(Vec::new, |mut all, thing| {
            all.push(touched(thing));
            all
        });
        let all = folds.reduce(Vec::new, |mut a, b| {
            touch(book);
            a.extend(b);
            a
        });
        assert_eq!(all.len(), THINGS);
    });
}

#[test]
fn of_things_that_are_left_out() {
    each_once(|book| drop(things(book).into_par_iter()));
    each_once(|book| {
        let mut iter = things(book).into_par_iter();
        assert_eq!(crate::iter::Part::len(&iter.part()), THINGS);
        // The items were moved into the part, which is gone.
        assert_eq!(iter.len(), 0);
        iter.map(touched).for_each(drop);
    });
    each_once(|book| {
        let short = things(book).into_par_iter().take(3);
        let zipped: Vec<_> = things(book).into_par_iter().zip(short).map(|(a, b)| (touched(a), b)).collect();
        assert_eq!(zipped.len(), 3);
    });
    each_once(|book| {
        let all = things(book).into_par_iter().skip(2).map(touched).step_by(3).rev().chunks(2);
        let ids: Vec<Vec<usize>> = all.map(|chunk| chunk.iter().map(|thing| thing.id).collect()).collect();
        assert_eq!(ids, [vec![11, 8], vec![5, 2]]);
    });
    each_once(|book| {
        let mut count = 0;
        let all = things(book)
            .into_par_iter()
            .chunks(4)
            .step_by(2)
            .map(|chunk| chunk.into_iter().map(touched).count());
        all.collect::<Vec<_>>().iter().for_each(|n| count += n);
        assert_eq!(count, 5 + 3);
    });
    each_once(|book| {
        let array = [(); 5].map(|()| Thing::new(book));
        assert_eq!(array.into_par_iter().filter(is_odd).count(), 2);
        drop([(); 5].map(|()| Thing::new(book)).into_par_iter());
        once(Thing::new(book)).chain(once(Thing::new(book))).map(touched).for_each(drop);
        drop(once(Thing::new(book)));
        assert_eq!(repeat_n(Thing::new(book), 3).collect::<Vec<_>>().len(), 3);
        assert_eq!(things(book).par_iter().cloned().filter(is_odd).count(), THINGS / 2);
    });
}

/// A panic in the drop of one item does not keep the others from being dropped.
#[test]
fn of_things_that_panic_when_dropped() {
    thread_local! {
        static DROPPED: Cell<usize> = const { Cell::new(0) };
    }

    struct Bad(usize);

    impl Drop for Bad {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            if self.0 == 4 && !std::thread::panicking() {
                std::panic::resume_unwind(Box::new("in a drop"));
            }
        }
    }

    let bad = || (0..THINGS).map(Bad).collect::<Vec<_>>();
    let programs: [&dyn Fn(); 5] = [
        &|| bad().into_par_iter().for_each(drop),
        &|| drop(bad().into_par_iter().part()),
        &|| assert!(bad().into_par_iter().skip(7).map(|Bad(_)| ()).count() > 0),
        &|| drop(bad().into_par_iter().collect::<Vec<_>>()),
        &|| drop(bad().into_par_iter().find_first(|bad| bad.0 == 2)),
    ];
    for (i, program) in programs.iter().enumerate() {
        for seed in 0..if cfg!(miri) { 2 } else { 50 } {
            DROPPED.set(0);
            let outcome = catch_unwind(AssertUnwindSafe(|| divided(seed, program)));
            assert!(outcome.is_err());
            assert_eq!(DROPPED.get(), THINGS, "program {i}, seed {seed}");
        }
    }
}

/// A destructor that panics, whichever it is, loses nothing else: neither other items, nor what a
/// function was about to return.
#[test]
fn of_loops_in_which_a_drop_panics() {
    let is_third = |thing: &Thing| thing.id % 3 == 2;
    let id = |thing: Thing| {
        let id = thing.id;
        drop(thing);
        id
    };
    let merge = |left: Vec<Thing>, mut right: Vec<Thing>| {
        let mut all = left;
        all.append(&mut right);
        all
    };
    type Program<'a> = (&'a str, &'a dyn Fn(&Book));
    let programs: &[Program<'_>] = &[
        ("a body", &|book| things(book).into_par_iter().for_each(drop)),
        ("any", &|book| drop(things(book).into_par_iter().find_any(is_third))),
        ("first", &|book| drop(things(book).into_par_iter().find_first(is_third))),
        ("last", &|book| drop(things(book).into_par_iter().find_last(is_third))),
        ("least", &|book| drop(things(book).into_par_iter().min_by(|a, b| b.id.cmp(&a.id)))),
        ("greatest", &|book| drop(things(book).into_par_iter().max_by(|a, b| b.id.cmp(&a.id)))),
        ("least by key", &|book| drop(things(book).into_par_iter().min_by_key(|thing| thing.id % 5))),
        ("reduced", &|book| {
            drop(things(book).into_par_iter().reduce_with(crate::kept::without));
        }),
        ("tried", &|book| {
            let outcome = things(book).into_par_iter().try_for_each(|t| match t.id {
                5 | 9 => Err(t),
                _ => {
                    drop(t);
                    Ok(())
                }
            });
            drop(outcome);
        }),
        ("reduced until it fails", &|book| {
            let outcome = things(book).into_par_iter().map(|t| if t.id == 7 { Err(t) } else { Ok(t) });
            drop(outcome.try_reduce(|| Thing::new(book), |a, b| Ok(crate::kept::without(b, a))));
        }),
        ("folded", &|book| {
            let folds = things(book).into_par_iter().fold(Vec::new, |mut all, thing| {
                all.push(thing);
                all
            });
            drop(folds.reduce(Vec::new, merge));
        }),
        ("collected", &|book| drop(things(book).into_par_iter().filter(is_third).collect::<Vec<_>>())),
        ("results", &|book| {
            let all = things(book).into_par_iter().map(|t| if t.id == 7 { Err(t) } else { Ok(t) });
            drop(all.collect::<Result<Vec<_>, _>>());
        }),
        ("results in a list", &|book| {
            let all = things(book).into_par_iter().filter(|t| t.id > 0);
            let all = all.map(|t| if t.id % 4 == 3 { Err(t) } else { Ok(t) });
            drop(all.collect::<Result<LinkedList<_>, _>>());
        }),
        ("two", &|book| {
            let two: (Vec<_>, LinkedList<_>) = things(book).into_par_iter().partition(is_third);
            drop(two);
        }),
        ("with values", &|book| {
            let ids = things(book).into_par_iter().map_init(|| Thing::new(book), |_, thing| thing);
            drop(ids.collect::<Vec<_>>());
        }),
        ("with values in blocks", &|book| {
            let ids = things(book).into_par_iter().map_init(|| Thing::new(book), |_, thing| thing);
            drop(ids.rev().collect::<Vec<_>>());
        }),
        ("cut", &|book| {
            let short = things(book).into_par_iter().take(5);
            drop(things(book).into_par_iter().skip(3).zip(short).collect::<Vec<_>>());
        }),
        ("in steps", &|book| {
            let all = things(book).into_par_iter().step_by(3).rev().chunks(2);
            drop(all.map(|chunk| chunk.into_iter().map(id).max()).collect::<Vec<_>>());
        }),
    ];
    let (tries, stride) = if cfg!(miri) { (1, 3) } else { (40, 1) };
    for (name, program) in programs {
        for seed in 0..tries {
            for panic_at in (0..).step_by(stride) {
                let book = Book::default();
                book.lock().unwrap().drops_left = Some(panic_at);
                // The panic may come to nobody, if it comes beside another one.
                let _ = catch_unwind(AssertUnwindSafe(|| divided(seed * 1_000, || program(&book))));
                let ledger = book.lock().unwrap();
                assert_eq!(ledger.dropped_twice, 0, "{name}, seed {seed}, panic at {panic_at}");
                let left = ledger.live.iter().filter(|live| **live).count();
                assert_eq!(left, 0, "{name}, seed {seed}, panic at {panic_at}");
                if ledger.drops_left.is_some() {
                    break;
                }
            }
        }
    }
}
