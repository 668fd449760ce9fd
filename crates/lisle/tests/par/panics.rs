//! Panics in loops that run on several domains: everything is dropped once, and the panic continues
//! to the caller.

use crate::support::{everywhere, work};
use lisle::par::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

const THINGS: usize = 3_000;

/// The number of drops of each thing.
struct Ledger(Vec<AtomicU32>);

/// Counts its drop.
struct Thing<'a> {
    id: usize,
    /// Memory for an address sanitizer to check.
    body: Box<usize>,
    ledger: &'a Ledger,
}

impl Ledger {
    fn new() -> Self {
        Ledger((0..THINGS).map(|_| AtomicU32::new(0)).collect())
    }

    fn things(&self) -> Vec<Thing<'_>> {
        (0..THINGS).map(|id| Thing { id, body: Box::new(id), ledger: self }).collect()
    }
}

impl Drop for Thing<'_> {
    fn drop(&mut self) {
        assert_eq!(self.id, *self.body);
        self.ledger.0[self.id].fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug, PartialEq)]
struct Stop(usize);

/// Takes some time, and panics at `bad`.
fn careful(thing: Thing<'_>, bad: usize) -> Thing<'_> {
    work(thing.id as u64);
    if thing.id == bad {
        // Not `panic!`, to avoid the hook's message.
        resume_unwind(Box::new(Stop(bad)));
    }
    thing
}

fn each_once(program: impl Fn(Vec<Thing<'_>>, usize) + Send + Sync) {
    everywhere(|| {
        for bad in [0, 1, 97, THINGS / 2, THINGS - 1, THINGS] {
            let ledger = Ledger::new();
            let outcome = catch_unwind(AssertUnwindSafe(|| program(ledger.things(), bad)));
            match outcome {
                Ok(()) => assert_eq!(bad, THINGS),
                Err(panic) => assert_eq!(*panic.downcast::<Stop>().unwrap(), Stop(bad)),
            }
            assert!(ledger.0.iter().all(|drops| drops.load(Ordering::Relaxed) == 1), "panic at {bad}");
        }
    });
}

#[test]
fn in_a_body() {
    each_once(|things, bad| things.into_par_iter().for_each(|thing| drop(careful(thing, bad))));
    each_once(|things, bad| assert_eq!(things.into_par_iter().map(|t| careful(t, bad)).count(), THINGS));
}

#[test]
fn in_what_is_collected() {
    each_once(|things, bad| {
        let all: Vec<Thing<'_>> = things.into_par_iter().map(|t| careful(t, bad)).collect();
        assert!(all.iter().map(|t| t.id).eq(0..THINGS));
    });
    each_once(|things, bad| {
        let all: Vec<Thing<'_>> =
            things.into_par_iter().map(|t| careful(t, bad)).filter(|t| t.id % 3 > 0).collect();
        assert_eq!(all.len(), THINGS / 3 * 2);
    });
    each_once(|things, bad| {
        let all: Result<Vec<Thing<'_>>, ()> = things.into_par_iter().map(|t| Ok(careful(t, bad))).collect();
        assert_eq!(all.unwrap().len(), THINGS);
    });
}

#[test]
fn in_what_is_put_together() {
    each_once(|things, bad| {
        let last = things.into_par_iter().reduce_with(|a, b| {
            drop(careful(a, bad));
            careful(b, bad)
        });
        assert_eq!(last.unwrap().id, THINGS - 1);
    });
    each_once(|things, bad| {
        let folds = things.into_par_iter().fold(Vec::new, |mut all, thing| {
            all.push(careful(thing, bad));
            all
        });
        let all = folds.reduce(Vec::new, |mut a, b| {
            a.extend(b);
            a
        });
        assert!(all.iter().map(|t| t.id).eq(0..THINGS));
    });
}

/// The deferred drops of a loop that has ended early are done, too.
#[test]
fn early_ends_drop_the_rest() {
    everywhere(|| {
        for wanted in [0, 1, THINGS / 2, THINGS - 1] {
            let ledger = Ledger::new();
            let found =
                ledger.things().into_par_iter().map(|t| careful(t, THINGS)).find_first(|t| t.id == wanted);
            assert_eq!(found.map(|t| t.id), Some(wanted));
            assert!(ledger.0.iter().all(|drops| drops.load(Ordering::Relaxed) == 1));

            let ledger = Ledger::new();
            let failed: Result<Vec<Thing<'_>>, usize> = ledger
                .things()
                .into_par_iter()
                .map(|t| if t.id < wanted { Ok(t) } else { Err(t.id) })
                .collect();
            assert_eq!(failed.err(), Some(wanted));
            assert!(ledger.0.iter().all(|drops| drops.load(Ordering::Relaxed) == 1));
        }
    });
}

/// A loop that a panic has stopped has gaps, and no merge spans a gap.
#[test]
fn in_a_loop_whose_parts_are_merged() {
    const STEPS: usize = 20_000;
    everywhere(|| {
        for bad in (0..STEPS).step_by(STEPS / 50) {
            let gaps = AtomicU32::new(0);
            let merge = |left: Range<usize>, right: Range<usize>| {
                // Not an assertion: its panic could be mistaken for the other one.
                if left.end != right.start {
                    gaps.fetch_add(1, Ordering::Relaxed);
                }
                left.start..right.end
            };
            let step = |at: usize| {
                work(at as u64);
                if at == bad {
                    resume_unwind(Box::new(Stop(bad)));
                }
                at..at + 1
            };
            let run = || (0..STEPS).into_par_iter().grain(STEPS / 500).map(step).reduce_with(merge);
            let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
            assert_eq!(*panic.downcast::<Stop>().unwrap(), Stop(bad));
            assert_eq!(gaps.into_inner(), 0, "panic at {bad}");
        }
    });
}
