//! Every item is dropped exactly once, whatever the loop does with it and wherever it panics.

use super::splits::divided;
use crate::iter::{Either, once, repeat_n};
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
        assert_eq!(things(book).par_iter().cloned().map(touched).count(), THINGS);
    });
}

#[test]
fn of_values_and_elements_that_are_cloned() {
    each_once(|book| {
        let array = [(); 3].map(|()| Thing::new(book)).into_par_iter();
        assert_eq!(array.clone().chain(array).map(touched).count(), 6);
    });
    each_once(|book| {
        let pairs = things(book).into_par_iter().map_with(Thing::new(book), |value, thing| {
            value.touch();
            thing
        });
        assert_eq!(pairs.filter(is_odd).count(), THINGS / 2);
    });
    each_once(|book| {
        let folds = things(book).into_par_iter().fold_with(Thing::new(book), |_, thing| touched(thing));
        assert!(folds.count() > 0);
    });
    each_once(|book| {
        let chunks =
            things(book).into_par_iter().fold_chunks_with(3, Thing::new(book), |_, thing| touched(thing));
        let last: Vec<usize> = chunks.rev().map(|thing| thing.id).collect();
        assert_eq!(last.len(), THINGS.div_ceil(3));
    });
    each_once(|book| {
        let spaced = things(book).into_par_iter().intersperse(Thing::new(book)).map(touched);
        assert_eq!(spaced.collect::<Vec<_>>().len(), 2 * THINGS - 1);
    });
    each_once(|book| {
        let odd = things(book).into_par_iter().filter(is_odd).intersperse(Thing::new(book));
        assert_eq!(odd.collect::<Vec<_>>().len(), THINGS / 2 * 2 - 1);
    });
    each_once(|book| {
        let odd = things(book).into_par_iter().filter(is_odd).intersperse(Thing::new(book));
        assert_eq!(odd.chain(once(Thing::new(book))).map(touched).count(), THINGS / 2 * 2);
    });
    each_once(|book| {
        let odd = things(book).into_par_iter().filter(is_odd).intersperse(Thing::new(book));
        assert_eq!(odd.find_first(|thing| thing.id > 5).map(|thing| thing.id > 5), Some(true));
    });
}

#[test]
fn of_items_in_turn_and_of_items_that_come_first_in_time() {
    each_once(|book| {
        let both = things(book).into_par_iter().interleave(things(book).into_par_iter().take(4)).map(touched);
        assert_eq!(both.collect::<Vec<_>>().len(), THINGS + 4);
    });
    each_once(|book| {
        let four = things(book).into_par_iter().take(4).interleave_shortest(things(book)).rev();
        assert_eq!(four.map(touched).count(), 8);
    });
    each_once(|book| assert_eq!(things(book).into_par_iter().map(touched).take_any(5).count(), 5));
    each_once(|book| assert_eq!(things(book).into_par_iter().skip_any(5).map(touched).count(), THINGS - 5));
    each_once(|book| drop(things(book).into_par_iter().take_any_while(|t| !is_odd(t)).collect::<Vec<_>>()));
    each_once(|book| assert!(things(book).into_par_iter().skip_any_while(|t| !is_odd(t)).count() > 0));
    each_once(|book| {
        let even = things(book).into_par_iter().map(|t| if is_odd(&t) { None } else { Some(t) });
        assert!(even.while_some().collect::<LinkedList<_>>().len() <= THINGS - THINGS / 2);
    });
    each_once(|book| assert_eq!(things(book).into_par_iter().positions(|t| is_odd(&t)).count(), THINGS / 2));
    each_once(|book| things(book).into_par_iter().panic_fuse().for_each(|thing| thing.touch()));
    each_once(|book| {
        let all = things(book).into_par_iter().panic_fuse().filter(is_odd).collect_vec_list();
        assert_eq!(all.iter().map(Vec::len).sum::<usize>(), THINGS / 2);
    });
    each_once(|book| {
        let failing = things(book).into_par_iter().map(|t| if t.id == 9 { Err(touched(t)) } else { Ok(t) });
        let last = failing.try_reduce_with(|a, b| {
            a.touch();
            Ok(b)
        });
        assert_eq!(last.unwrap().err().unwrap().id, 9);
    });
    each_once(|book| {
        let (odd, even): (Vec<Thing>, LinkedList<Thing>) = things(book)
            .into_par_iter()
            .partition_map(|t| if is_odd(&t) { Either::Left(t) } else { Either::Right(t) });
        assert_eq!((odd.len(), even.len()), (THINGS / 2, THINGS - THINGS / 2));
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
    let last = |before: Thing, thing: Thing| crate::kept::without(thing, before);
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
        ("with clones", &|book| {
            let all = things(book).into_par_iter().map_with(Thing::new(book), |_, thing| thing);
            drop(all.filter(is_third).collect::<Vec<_>>());
        }),
        ("between clones", &|book| {
            let all = things(book).into_par_iter().intersperse(Thing::new(book));
            assert!(all.map(id).max().is_some());
        }),
        ("between clones, of unknown number", &|book| {
            let all = things(book).into_par_iter().filter(is_third).intersperse(Thing::new(book));
            drop(all.collect::<Vec<_>>());
        }),
        ("in turn", &|book| {
            let all = things(book).into_par_iter().interleave(things(book));
            assert!(all.step_by(3).map(id).max().is_some());
        }),
        ("some", &|book| drop(things(book).into_par_iter().take_any(5).collect::<Vec<_>>())),
        ("others", &|book| drop(things(book).into_par_iter().skip_any(5).collect::<Vec<_>>())),
        ("some until", &|book| {
            let all = things(book).into_par_iter().take_any_while(|thing| !is_third(thing));
            drop(all.collect::<Vec<_>>());
        }),
        ("values until", &|book| {
            let all = things(book).into_par_iter().map(|t| if is_third(&t) { None } else { Some(t) });
            drop(all.while_some().collect::<Vec<_>>());
        }),
        ("fused", &|book| drop(things(book).into_par_iter().panic_fuse().find_any(is_third))),
        ("folded chunks", &|book| {
            let all = things(book).into_par_iter().fold_chunks(3, || Thing::new(book), last);
            drop(all.collect::<Vec<_>>());
        }),
        ("reduced with its first until it fails", &|book| {
            let outcome = things(book).into_par_iter().map(|t| if t.id == 7 { Err(t) } else { Ok(t) });
            drop(outcome.try_reduce_with(|a, b| Ok(crate::kept::without(b, a))));
        }),
        ("two sides", &|book| {
            let two: (Vec<_>, LinkedList<_>) = things(book)
                .into_par_iter()
                .partition_map(|t| if is_third(&t) { Either::Left(t) } else { Either::Right(t) });
            drop(two);
        }),
        ("with values in functions", &|book| {
            let [a, b, c] = [0; 3].map(|_| Thing::new(book));
            let all = things(book).into_par_iter().filter(move |thing| a.id != thing.id);
            let pairs = all.flat_map(move |thing| once(crate::kept::without(thing, b.id))).grain(2);
            let sums = pairs.fold(Vec::new, move |mut all, thing| {
                all.push(thing);
                crate::kept::without(all, c.id)
            });
            let d = Thing::new(book);
            drop(sums.reduce_with(move |a, b| crate::kept::without(merge(a, b), d.id)));
        }),
        ("with a value in the function of a search", &|book| {
            let value = Thing::new(book);
            drop(things(book).into_par_iter().find_first(move |thing| thing.id == 5 && value.id > 0));
        }),
        ("with a value in the function of a partition", &|book| {
            let value = Thing::new(book);
            let all = things(book).into_par_iter();
            drop(all.partition::<Vec<_>, Vec<_>, _>(move |thing| thing.id % 2 == value.id % 2));
        }),
        ("in chunks with a value", &|book| {
            let chunks = things(book).into_par_iter().fold_chunks_with(3, Thing::new(book), last);
            drop(chunks.max_by(|a, b| a.id.cmp(&b.id)));
        }),
        ("in blocks with values", &|book| {
            let all = things(book).into_par_iter().map_with(Thing::new(book), |_, thing| thing);
            drop(all.by_uniform_blocks(4).filter(is_third).collect::<Vec<_>>());
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
