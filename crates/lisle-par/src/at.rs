//! Places in the order of a loop, and flags of which place comes first or last among those at which
//! something was found.
//!
//! The flags are only hints. The items that were found come with the accumulators, and merging
//! these orders all steps before. A domain that sees a hint late does some work in vain. Hence
//! all accesses are relaxed.
//!
//! A loop may run within a step of another one, as the loops of a `flat_map` do. Its blocks all lie
//! at the same step of the outer loop, so each such loop has flags of its own for its steps.

use crate::event::{declare, gone};
use crate::shim::atomic::{AtomicUsize, Ordering::Relaxed};
use std::fmt;

/// The place of a block in the order of the steps of a loop.
///
/// If the loop runs within a step of another loop, the place also says which step of that loop it
/// is.
#[derive(Clone, Copy)]
pub struct At<'a>(Depth<'a>);

#[derive(Clone, Copy)]
enum Depth<'a> {
    /// The first step of the block in a loop that does not run within another one.
    Outermost(usize),
    /// The first step of the block in a loop within a step of another one.
    Within(usize, &'a Nested<'a>),
    /// A place in a loop that runs within a step of such a loop.
    Deeper(&'a At<'a>, &'a Nested<'a>),
}

impl<'a> At<'a> {
    /// Returns the number of the step of the outermost loop at which the block begins. A step that
    /// is itself a loop is fed in several blocks with the same number, also on several threads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::iter::{At, Consumer};
    /// use lisle::par::prelude::*;
    ///
    /// /// Checks that item `n` is `n`. The loop has one item for each step.
    /// struct InPlace;
    ///
    /// impl Consumer for InPlace {
    ///     type Item = usize;
    ///     type Acc = bool;
    ///     fn begin(&self) -> bool {
    ///         true
    ///     }
    ///     fn feed<I: Iterator<Item = usize>>(&self, acc: bool, at: At<'_>, items: I) -> bool {
    ///         acc && items.zip(at.step()..).all(|(item, n)| item == n)
    ///     }
    ///     fn merge(&self, left: bool, right: bool) -> bool {
    ///         left && right
    ///     }
    /// }
    ///
    /// let numbers = (0..1_000).into_par_iter();
    /// let plan = numbers.plan();
    /// assert!(numbers.drive(&InPlace, plan));
    /// ```
    pub fn step(self) -> usize {
        match self.0 {
            Depth::Outermost(step) => step,
            Depth::Within(_, nested) | Depth::Deeper(_, nested) => nested.at.step(),
        }
    }

    /// Returns the place of step number `step` of a loop that does not run within another one.
    #[inline]
    pub(crate) fn outermost(step: usize) -> Self {
        At(Depth::Outermost(step))
    }

    /// Returns this place as one within a step of another loop, in which `nested` runs.
    #[inline]
    pub(crate) fn within(&'a self, nested: &'a Nested<'a>) -> Self {
        match self.0 {
            Depth::Outermost(step) => At(Depth::Within(step, nested)),
            _ => At(Depth::Deeper(self, nested)),
        }
    }

    /// Calls `see` with each nested loop that the place belongs to and the step in it, from the
    /// innermost loop on. Returns the step of the outermost loop, or `None` once `see` has returned
    /// `false`.
    fn walk(self, see: &mut dyn FnMut(&Nested<'_>, usize) -> bool) -> Option<usize> {
        let (step, nested) = match self.0 {
            Depth::Outermost(step) => return Some(step),
            Depth::Within(step, nested) => (step, nested),
            Depth::Deeper(at, nested) => (at.walk(see)?, nested),
        };
        if see(nested, step) { nested.at.walk(see) } else { None }
    }
}

impl fmt::Debug for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = Vec::new();
        let outermost = self.walk(&mut |_, step| {
            steps.push(step);
            true
        });
        steps.extend(outermost);
        steps.reverse();
        f.debug_list().entries(steps).finish()
    }
}

/// A loop that runs within a step of another one, with the flags for its own steps.
pub(crate) struct Nested<'a> {
    /// The place of the loop in the outer one.
    at: At<'a>,
    first: Least,
    last: Greatest,
}

impl<'a> Nested<'a> {
    /// Creates the loop at this place of an outer one.
    #[inline]
    pub(crate) fn new(at: At<'a>) -> Self {
        Nested { at, first: Least::new(), last: Greatest::new() }
    }
}

/// The first place at which an item was found.
pub(crate) struct First(Least);

impl First {
    pub(crate) fn new() -> Self {
        First(Least::new())
    }

    /// Records that an item was found in the block at `at`.
    pub(crate) fn found_at(&self, at: At<'_>) {
        let lower = |nested: &Nested<'_>, step| {
            nested.first.lower(step);
            true
        };
        at.walk(&mut { lower }).into_iter().for_each(|step| self.0.lower(step));
    }

    /// Returns `true` if an item was found in a block before the one at `at`.
    pub(crate) fn is_before(&self, at: At<'_>) -> bool {
        let outermost = at.walk(&mut |nested, step| !nested.first.is_below(step));
        outermost.is_none_or(|step| self.0.is_below(step))
    }
}

/// The last place at which an item was found.
pub(crate) struct Last(Greatest);

impl Last {
    pub(crate) fn new() -> Self {
        Last(Greatest::new())
    }

    /// Records that an item was found in the block at `at`.
    pub(crate) fn found_at(&self, at: At<'_>) {
        let raise = |nested: &Nested<'_>, step| {
            nested.last.raise(step);
            true
        };
        at.walk(&mut { raise }).into_iter().for_each(|step| self.0.raise(step));
    }

    /// Returns `true` if an item was found in a block after the one at `at`. Blocks do not overlap.
    pub(crate) fn is_after(&self, at: At<'_>) -> bool {
        self.steps_before(at) > 0 || self.is_after_loop(at)
    }

    /// Returns `true` if an item was found after the loop that the block at `at` belongs to.
    pub(crate) fn is_after_loop(&self, at: At<'_>) -> bool {
        let mut is_own = true;
        let outermost =
            at.walk(&mut |nested, step| std::mem::take(&mut is_own) || nested.last.distance(step) == 0);
        outermost.is_none_or(|step| !is_own && self.0.distance(step) > 0)
    }

    /// Returns the number of steps from `at` on, in the loop of that block, that lie before an item
    /// that was found.
    pub(crate) fn steps_before(&self, at: At<'_>) -> usize {
        match at.0 {
            Depth::Outermost(step) => self.0.distance(step),
            Depth::Within(step, nested) => nested.last.distance(step),
            Depth::Deeper(at, _) => self.steps_before(*at),
        }
    }
}

/// The least number that was recorded.
struct Least(AtomicUsize);

impl Least {
    #[inline]
    fn new() -> Self {
        Least(AtomicUsize::new(usize::MAX))
    }

    fn lower(&self, step: usize) {
        declare(self);
        self.0.fetch_min(step, Relaxed);
    }

    fn is_below(&self, step: usize) -> bool {
        declare(self);
        self.0.load(Relaxed) < step
    }
}

/// The greatest number that was recorded.
struct Greatest(AtomicUsize);

impl Greatest {
    #[inline]
    fn new() -> Self {
        Greatest(AtomicUsize::new(0))
    }

    fn raise(&self, step: usize) {
        declare(self);
        self.0.fetch_max(step, Relaxed);
    }

    /// Returns by how much the number is above `step`.
    fn distance(&self, step: usize) -> usize {
        declare(self);
        self.0.load(Relaxed).saturating_sub(step)
    }
}

macro_rules! goes {
    ($($Flag:ident)*) => { $(
        /// A model has to know that another flag may come to the same place in memory.
        impl Drop for $Flag {
            #[inline]
            fn drop(&mut self) {
                gone(self);
            }
        }
    )* };
}

goes! { Least Greatest }

#[cfg(test)]
mod tests {
    use super::{At, First, Last, Nested};

    #[test]
    fn the_best_that_was_found_counts() {
        let at = At::outermost;
        let first = First::new();
        assert!(!first.is_before(at(usize::MAX)));
        [7, 5, 9].into_iter().for_each(|step| first.found_at(at(step)));
        assert!(first.is_before(at(6)) && !first.is_before(at(5)));

        let last = Last::new();
        assert!(!last.is_after(at(0)));
        [7, 9, 5].into_iter().for_each(|step| last.found_at(at(step)));
        assert!(last.is_after(at(8)) && !last.is_after(at(9)));
        assert_eq!((last.steps_before(at(3)), last.steps_before(at(12))), (6, 0));
    }

    /// Within one step of the outermost loop, the steps of the inner loops are in order.
    #[test]
    fn places_of_nested_loops_are_in_order() {
        let outermost = At::outermost;
        let steps = [1, 2, 3, 7, 8, 9].map(outermost);
        let [one, two, three, seven, eight, nine] = steps.each_ref();
        let loops = [4, 6].map(|step| Nested::new(outermost(step)));
        // A loop within a loop; and a loop within the loops of a step of a loop, which knows
        // nothing of that one.
        let innermost = Nested::new(two.within(&loops[0]));
        let apart = Nested::new(outermost(2));
        let relative = [seven, eight, nine].map(|at| at.within(&apart));
        let places = [
            (seven.within(&innermost), eight.within(&innermost), nine.within(&innermost)),
            (relative[0].within(&loops[0]), relative[1].within(&loops[0]), relative[2].within(&loops[0])),
        ];
        for (lower, at, upper) in places {
            let (first, last) = (First::new(), Last::new());
            assert_eq!((at.step(), format!("{at:?}").as_str()), (4, "[4, 2, 8]"));
            first.found_at(at);
            last.found_at(at);
            let before = [outermost(3), one.within(&loops[0]), lower];
            let after = [outermost(5), three.within(&loops[0]), upper];
            let same = [outermost(4), two.within(&loops[0]), at];
            for at in before.into_iter().chain(same) {
                assert!(!first.is_before(at), "{at:?}");
            }
            for at in after.into_iter().chain(same) {
                assert!(!last.is_after(at), "{at:?}");
            }
            assert!(after.into_iter().all(|at| first.is_before(at)));
            assert!(before.into_iter().all(|at| last.is_after(at)));
            assert_eq!((last.steps_before(lower), last.steps_before(upper)), (1, 0));
            // A loop within another step has flags of its own.
            let later = one.within(&loops[1]);
            assert!(first.is_before(later));
            assert_eq!(last.steps_before(later), 0);
            let other = Nested::new(outermost(2));
            let earlier = nine.within(&other);
            assert!(last.is_after_loop(earlier) && !last.is_after_loop(at) && !last.is_after_loop(*one));
            assert!(!first.is_before(earlier));
        }
    }
}
