//! A user's part whose `split_at` panics: before it has divided anything, or when it has. The panic
//! goes on to the caller of the loop, and each element is dropped once.

use crate::support::{everywhere, work};
use lisle::par::iter::Part;
use lisle::par::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

const THINGS: usize = 1_000;

#[derive(Debug, PartialEq)]
struct Stop;

/// The state that the parts of a loop share.
struct Shared {
    /// The number of drops of each thing.
    drops: Vec<AtomicU32>,
    /// How often parts were divided.
    splits: AtomicU32,
    /// The division that panics, counted from 1.
    bad: u32,
    /// It panics when it has divided.
    is_late: bool,
}

impl Shared {
    fn new(bad: u32, is_late: bool) -> Self {
        let drops = (0..THINGS).map(|_| AtomicU32::new(0)).collect();
        Shared { drops, splits: AtomicU32::new(0), bad, is_late }
    }

    fn things(&self) -> Things<'_> {
        let things = (0..THINGS).map(|id| Thing { id: Box::new(id), shared: self }).collect();
        Things { things, shared: self }
    }

    fn has_panicked(&self) -> bool {
        self.splits.load(Ordering::Relaxed) >= self.bad
    }
}

struct Thing<'a> {
    id: Box<usize>,
    shared: &'a Shared,
}

impl Drop for Thing<'_> {
    fn drop(&mut self) {
        self.shared.drops[*self.id].fetch_add(1, Ordering::Relaxed);
    }
}

/// An iterator that owns things, and each of its parts.
struct Things<'a> {
    things: Vec<Thing<'a>>,
    shared: &'a Shared,
}

impl<'t> ParallelIterator for Things<'t> {
    type Item = Thing<'t>;
    type Part<'a>
        = Things<'t>
    where
        't: 'a;

    fn part(&mut self) -> Things<'t> {
        Things { things: std::mem::take(&mut self.things), shared: self.shared }
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.things.len())
    }
}

impl<'t> Part for Things<'t> {
    type Item = Thing<'t>;
    type Items = std::vec::IntoIter<Thing<'t>>;

    fn len(&self) -> usize {
        self.things.len()
    }

    fn split_at(mut self, at: usize) -> (Self, Self) {
        let is_bad = self.shared.splits.fetch_add(1, Ordering::Relaxed) + 1 == self.shared.bad;
        if is_bad && !self.shared.is_late {
            // Not `panic!`, to avoid the hook's message.
            resume_unwind(Box::new(Stop));
        }
        let rest = Things { things: self.things.split_off(at), shared: self.shared };
        if is_bad {
            resume_unwind(Box::new(Stop));
        }
        (self, rest)
    }

    fn items(self) -> Self::Items {
        self.things.into_iter()
    }
}

/// Runs the loop with a panic at each of its first divisions, and at some later ones. `is_certain` if
/// it always divides something.
fn each_once(is_certain: bool, program: impl Fn(Things<'_>) + Send + Sync) {
    everywhere(|| {
        for (bad, is_late) in [1, 2, 3, 4, 7, 20, 60].into_iter().flat_map(|bad| [(bad, false), (bad, true)])
        {
            let shared = Shared::new(bad, is_late);
            let outcome = catch_unwind(AssertUnwindSafe(|| program(shared.things())));
            assert_eq!(outcome.is_err(), shared.has_panicked(), "panic at {bad}");
            assert!(outcome.is_err() || !is_certain || bad > 1);
            if let Err(panic) = outcome {
                assert_eq!(*panic.downcast::<Stop>().unwrap(), Stop);
            }
            assert!(shared.drops.iter().all(|drops| drops.load(Ordering::Relaxed) == 1), "panic at {bad}");
        }
    });
}

fn careful(thing: &Thing<'_>) -> u64 {
    work(*thing.id as u64)
}

#[test]
fn of_a_loop() {
    each_once(false, |things| things.for_each(|thing| _ = careful(&thing)));
    each_once(true, |things| things.grain(10).for_each(|thing| _ = careful(&thing)));
    each_once(true, |things| things.deterministic(10).for_each(|thing| _ = careful(&thing)));
    each_once(true, |things| {
        let sum = things.grain(3).map(|thing| careful(&thing)).reduce(|| 0, u64::wrapping_add);
        std::hint::black_box(sum);
    });
}

#[test]
fn of_what_is_collected() {
    each_once(true, |things| {
        let all: Vec<Thing<'_>> = things.grain(10).collect();
        assert!(all.iter().map(|thing| *thing.id).eq(0..THINGS));
    });
    each_once(true, |things| {
        let all: Vec<Thing<'_>> = things.deterministic(10).filter(|thing| careful(thing) != 1).collect();
        assert!(all.len() <= THINGS);
    });
    each_once(true, |things| {
        let all: Option<Vec<Thing<'_>>> = things.grain(10).map(Some).collect();
        assert_eq!(all.unwrap().len(), THINGS);
    });
    each_once(true, |things| {
        let (ids, all): (Vec<usize>, Vec<Thing<'_>>) =
            things.grain(10).map(|thing| (*thing.id, thing)).unzip();
        assert_eq!((ids.len(), all.len()), (THINGS, THINGS));
    });
}

/// Adapters have divided one of two parts when the other panics.
#[test]
fn within_adapters() {
    each_once(true, |things| {
        let shared = things.shared;
        let ids = (0..THINGS).into_par_iter().map(|id| (id, shared));
        let others = ids.filter(|(id, _)| id % 2 == 0).map(|(id, _)| id as u64);
        let own = things.map(|thing| careful(&thing));
        std::hint::black_box(others.chain(own).grain(10).reduce(|| 0, u64::wrapping_add));
    });
    each_once(true, |things| {
        let nested = things.grain(10).flat_map(|thing| {
            let id = *thing.id;
            (0..3).into_par_iter().map(move |n| n + id)
        });
        assert_eq!(nested.count(), 3 * THINGS);
    });
}
