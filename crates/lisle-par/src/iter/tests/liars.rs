//! Parts that report a wrong length. The result may be wrong or a panic, but nothing is written out
//! of place.

use super::splits::divided;
use crate::iter::{Part, Try};
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;

/// Reports `says` items and `steps` steps, and gives `gives` items in each step.
#[derive(Clone, Copy)]
struct Liar {
    says: usize,
    steps: usize,
    gives: usize,
}

struct LiarPart {
    steps: usize,
    gives: usize,
}

impl ParallelIterator for Liar {
    type Item = (Box<u8>, Box<u8>);
    type Part<'a> = LiarPart;

    fn part(&mut self) -> LiarPart {
        LiarPart { steps: self.steps, gives: self.gives }
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.says)
    }
}

impl Part for LiarPart {
    type Item = (Box<u8>, Box<u8>);
    type Items = std::vec::IntoIter<(Box<u8>, Box<u8>)>;

    fn len(&self) -> usize {
        self.steps
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        (
            LiarPart { steps: at, gives: self.gives },
            LiarPart { steps: self.steps.saturating_sub(at), gives: self.gives },
        )
    }

    fn items(self) -> Self::Items {
        vec![(Box::new(1), Box::new(2)); self.steps * self.gives].into_iter()
    }
}

#[test]
fn are_found_out() {
    let most = if cfg!(miri) { 3 } else { 4 };
    for says in 0..most {
        for steps in 0..most {
            for gives in 0..3 {
                let liar = Liar { says, steps, gives };
                let is_honest = says == steps && gives == 1 || says == 0 && steps * gives == 0;
                for seed in 0..if cfg!(miri) { 1 } else { 50 } {
                    let collected = catch_unwind(AssertUnwindSafe(|| {
                        divided(seed, || liar.map(|(a, _)| a).collect::<Vec<Box<u8>>>())
                    }));
                    assert!(collected.is_err() || collected.as_ref().unwrap().len() == says);
                    let unzipped = catch_unwind(AssertUnwindSafe(|| {
                        divided(seed, || liar.unzip::<_, _, Vec<_>, Vec<Box<u8>>>())
                    }));
                    assert!(unzipped.is_err() || unzipped.as_ref().unwrap().0.len() == says);
                    if is_honest {
                        assert!(collected.is_ok() && unzipped.is_ok());
                    }
                }
            }
        }
    }
}

/// A part whose halves have as many steps as the whole, until it has been divided often enough.
struct Endless<'a>(&'a AtomicUsize);

impl<'a> ParallelIterator for Endless<'a> {
    type Item = ();
    type Part<'p>
        = Endless<'a>
    where
        Self: 'p;

    fn part(&mut self) -> Endless<'a> {
        Endless(self.0)
    }
}

impl Part for Endless<'_> {
    type Item = ();
    type Items = std::iter::Empty<()>;

    fn len(&self) -> usize {
        if self.0.load(Relaxed) < 100_000 { usize::MAX } else { 0 }
    }

    fn split_at(self, _: usize) -> (Self, Self) {
        self.0.fetch_add(1, Relaxed);
        (Endless(self.0), Endless(self.0))
    }

    fn items(self) -> Self::Items {
        std::iter::empty()
    }
}

/// The numbers of the steps overflow, also where the rest of a loop is divided for another domain.
#[test]
#[cfg_attr(miri, ignore = "an interpreter runs no domains, and its blocks stay short")]
fn too_many_steps_end_the_loop_and_not_the_process() {
    for _ in 0..5 {
        let divisions = AtomicUsize::new(0);
        match catch_unwind(|| Endless(&divisions).count()) {
            Ok(count) => assert_eq!((count, cfg!(debug_assertions)), (0, false)),
            Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"attempt to add with overflow")),
        }
    }
}

/// Tests that `from_branch` is the inverse of `branch`.
#[test]
fn what_may_have_failed_is_taken_apart_and_put_together() {
    for it in [Ok(1), Err(2)] {
        assert_eq!(Result::from_branch(it.branch()), it);
        assert_eq!(it.is_over(), it.is_err());
    }
    for it in [Poll::Ready(Ok(1)), Poll::Pending, Poll::Ready(Err(2))] {
        assert_eq!(Poll::<Result<_, _>>::from_branch(it.branch()), it);
        assert_eq!(it.is_over(), it == Poll::Ready(Err(2)));
    }
    for it in [Poll::Ready(Some(Ok(1))), Poll::Ready(None), Poll::Pending, Poll::Ready(Some(Err(2)))] {
        assert_eq!(Poll::<Option<Result<_, _>>>::from_branch(it.branch()), it);
        assert_eq!(it.is_over(), it == Poll::Ready(Some(Err(2))));
    }
    for it in [Some(1), None] {
        assert_eq!(Option::from_branch(it.branch()), it);
        assert_eq!(it.is_over(), it.is_none());
    }
}
