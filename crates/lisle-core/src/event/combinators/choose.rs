//! Choice: an event that becomes exactly one of several.

use super::one_step::{Advance, Complete, Force, Lose, OneStep, Publish, TryCommit, Withdraw};
use crate::event::{Attempt, Description, Event, Step, awaitable};
use std::fmt;
use std::pin::Pin;

/// An event that becomes one of its alternatives, see [`choose`].
#[must_use = "events do nothing unless performed"]
#[derive(Clone, Copy)]
pub struct Choose<A> {
    alternatives: A,
    /// Whether earlier alternatives are preferred to later ones.
    biased: bool,
}

/// Returns an event that becomes exactly one of `alternatives`, the one that can happen first.
///
/// The alternatives are a tuple of two to twelve events of any types with one output, or a vector,
/// array, or boxed slice of events of one type ([`Event::boxed`] gives different events one type).
/// They are borrowed or owned; choices nest. Of several ready alternatives a random one is taken;
/// none is starved. The losing alternatives have taken nothing, and when [`sync`](Event::sync)
/// returns no queue holds a trace of them.
///
/// An empty choice is never ready. One channel may occur in several alternatives, for sending and
/// for receiving: a choice never communicates with itself.
///
/// # Complexity
///
/// Each time it has to wait, it takes time linear in the number of alternatives. It does not
/// allocate for tuples and arrays, nor for vectors once a thread has performed a choice as large.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, always, choose, never};
///
/// assert_eq!(choose((never(), always(1), never())).sync(), 1);
/// assert_eq!(choose(vec![always(2), always(2)]).sync(), 2);
/// assert_eq!(choose([never::<()>().boxed(), always(()).boxed()]).poll(), Some(()));
/// ```
///
/// All alternatives must have the same output type; `wrap` converts:
///
/// ```compile_fail,E0271
/// # use lisle_core as lisle;
/// lisle::choose((lisle::always(1), lisle::always("one")));
/// ```
#[inline]
pub fn choose<A: Alternatives>(alternatives: A) -> Choose<A> {
    Choose { alternatives, biased: false }
}

/// Returns a choice like [`choose`] that takes the first of several ready alternatives. That is a
/// priority, for example of stopping over working. An alternative that is always ready starves the
/// alternatives after it.
///
/// Once the choice waits there is no order any more: it becomes the alternative that can happen
/// first.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, always, event::choose_biased};
///
/// assert!((0..100).all(|_| choose_biased((always(1), always(2))).sync() == 1));
/// ```
#[inline]
pub fn choose_biased<A: Alternatives>(alternatives: A) -> Choose<A> {
    Choose { alternatives, biased: true }
}

/// The alternatives of a [`choose`]: tuples of two to twelve events, vectors, arrays, boxed slices
/// and slices of events. The methods address one alternative by its index; only the library calls
/// them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to choose from",
    note = "a choice wants a tuple of two to twelve events with one output, or an array, a vector or a boxed slice of \
            events of one type"
)]
pub trait Alternatives {
    /// The output that all alternatives have.
    type Output;
    /// The branches of all alternatives.
    type Branches<'e>: Send
    where
        Self: 'e;

    /// Whether any of them is [`STAGED`](Event::STAGED).
    const STAGED: bool;

    /// Returns the number of alternatives.
    fn count(&self) -> usize;
    /// Returns the largest [`Event::depth`] of the alternatives.
    fn depth(&self) -> usize;
    /// Makes the branches, from first to last.
    fn branches(&self) -> Self::Branches<'_>;
    /// Takes a step of alternative `index`.
    fn take<'e, S: OneStep<Self::Output>>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        step: S,
    ) -> S::Result;
    /// Calls [`Event::try_commit`] of alternative `index`.
    #[inline]
    fn try_commit<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> Step {
        self.take(branches, index, TryCommit(attempt))
    }
    /// Calls [`Event::publish`] of alternative `index`.
    #[inline]
    fn publish<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> Step {
        self.take(branches, index, Publish(attempt))
    }
    /// Calls [`Event::withdraw`] of alternative `index`.
    #[inline]
    fn withdraw<'e>(
        &'e self,
        branches: Pin<&mut Self::Branches<'e>>,
        index: usize,
        attempt: &Attempt<'_>,
    ) -> bool {
        self.take(branches, index, Withdraw(attempt))
    }
    /// Calls [`Event::force`] of alternative `index`.
    #[inline]
    fn force<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
        self.take(branches, index, Force);
    }
    /// Calls [`Event::advance`] of alternative `index`.
    #[inline]
    fn advance<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> bool {
        self.take(branches, index, Advance)
    }
    /// Calls [`Event::lose`] of alternative `index`.
    #[inline]
    fn lose<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) {
        self.take(branches, index, Lose);
    }
    /// Calls [`Event::complete`] of alternative `index`.
    #[inline]
    fn complete<'e>(&'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize) -> Self::Output {
        self.take(branches, index, Complete)
    }
    /// Calls [`Event::describe`] of alternative `index`.
    fn describe<'e>(&'e self, branches: &Self::Branches<'e>, index: usize, waits: &mut Description);
}

/// The branch of a choice.
#[derive(Debug)]
pub struct ChooseBranch<B> {
    branches: B,
    /// The alternative that has committed or won.
    chosen: usize,
    /// The random number that gives the order in which the alternatives are tried and published.
    order: usize,
    /// The chosen alternative has reached its next stage. It was drawn among all and is not drawn
    /// again: another draw would leave an event in two stages a fourth of its share in a choice of
    /// four.
    resumed: bool,
}

impl<B> ChooseBranch<B> {
    fn branches(self: Pin<&mut Self>) -> Pin<&mut B> {
        // SAFETY: `branches` is structurally pinned; the other fields are plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.branches) }
    }

    #[inline]
    fn choose(self: Pin<&mut Self>, index: usize) {
        // SAFETY: `chosen` is plain data, nothing is moved.
        unsafe { self.get_unchecked_mut() }.chosen = index;
    }

    #[inline]
    fn resume(self: Pin<&mut Self>) {
        // SAFETY: `resumed` is plain data, nothing is moved.
        unsafe { self.get_unchecked_mut() }.resumed = true;
    }

    #[inline]
    fn order(self: Pin<&mut Self>, random: usize) {
        // SAFETY: `order` is plain data, nothing is moved.
        unsafe { self.get_unchecked_mut() }.order = random;
    }
}

/// A random order of the alternatives: steps of an odd stride through the next power of two, from a
/// random start, skipping numbers out of range. For two alternatives it is a fair coin; for more,
/// every alternative precedes every other about equally often. It costs one random number.
#[derive(Debug, Clone, Copy)]
struct Order {
    start: usize,
    stride: usize,
    mask: usize,
    count: usize,
}

impl Order {
    #[inline]
    fn new(count: usize, random: usize) -> Self {
        let mask = count.next_power_of_two() - 1;
        Order { start: random >> 20, stride: random | 1, mask, count }
    }

    #[inline]
    fn indices(self) -> impl Iterator<Item = usize> {
        (0..if self.count == 0 { 0 } else { self.mask + 1 })
            .map(move |step| self.start.wrapping_add(step.wrapping_mul(self.stride)) & self.mask)
            .filter(move |&index| index < self.count)
    }
}

impl<A: Alternatives> Event for Choose<A> {
    type Output = A::Output;
    type Branch<'e>
        = ChooseBranch<A::Branches<'e>>
    where
        Self: 'e;

    const STAGED: bool = A::STAGED;

    fn depth(&self) -> usize {
        self.alternatives.depth()
    }

    #[inline]
    fn branch(&self) -> Self::Branch<'_> {
        ChooseBranch { branches: self.alternatives.branches(), chosen: 0, order: 0, resumed: false }
    }

    #[inline]
    fn force<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        for index in 0..self.alternatives.count() {
            self.alternatives.force(branch.as_mut().branches(), index);
        }
    }

    #[inline]
    fn try_commit<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        // The random number 0 gives the order of the alternatives as written.
        let random = if self.biased { 0 } else { attempt.order(self.alternatives.count()) };
        branch.as_mut().order(random);
        // The alternative in its next stage comes first, except in a biased choice, where another
        // one precedes it on purpose.
        let resumed = (A::STAGED && branch.resumed && !self.biased).then_some(branch.chosen);
        let order = Order::new(self.alternatives.count(), random).indices();
        for index in resumed.into_iter().chain(order.filter(|&index| Some(index) != resumed)) {
            let branches = branch.as_mut().branches();
            let step =
                attempt.evidence().of_branch(|| self.alternatives.try_commit(branches, index, attempt));
            if step == Step::Committed {
                branch.choose(index);
                return Step::Committed;
            }
            // An alternative that is ready and stands back still precedes the alternatives after
            // it.
            if self.biased && attempt.evidence().is_late() {
                break;
            }
        }
        Step::Waiting
    }

    #[inline]
    fn publish<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        // In the order in which nothing was ready a moment ago. Two performers that run in step
        // meet while they publish, always at the first alternative.
        for index in Order::new(self.alternatives.count(), branch.order).indices() {
            let branches = branch.as_mut().branches();
            if self.alternatives.publish(branches, index, attempt) == Step::Committed {
                branch.choose(index);
                return Step::Committed;
            }
            if attempt.is_decided() {
                break;
            }
        }
        Step::Waiting
    }

    #[inline]
    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let mut winner = None;
        for index in 0..self.alternatives.count() {
            if self.alternatives.withdraw(branch.as_mut().branches(), index, attempt) {
                winner = Some(index);
            }
        }
        if let Some(index) = winner {
            branch.choose(index);
        }
        winner.is_some()
    }

    #[inline]
    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let chosen = branch.chosen;
        let done = self.alternatives.advance(branch.as_mut().branches(), chosen);
        if !done {
            branch.resume();
        }
        done
    }

    #[inline]
    fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.lose_but(branch, usize::MAX);
    }

    #[inline]
    fn complete<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> A::Output {
        let chosen = branch.chosen;
        if A::STAGED {
            self.lose_but(branch.as_mut(), chosen);
        }
        self.alternatives.complete(branch.branches(), chosen)
    }

    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        for index in 0..self.alternatives.count() {
            self.alternatives.describe(&branch.branches, index, waits);
        }
    }
}

impl<A: Alternatives> Choose<A> {
    /// Tells all alternatives except one that they have lost.
    fn lose_but<'e>(&'e self, mut branch: Pin<&mut ChooseBranch<A::Branches<'e>>>, winner: usize) {
        for index in (0..self.alternatives.count()).filter(|&index| index != winner) {
            self.alternatives.lose(branch.as_mut().branches(), index);
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for Choose<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Choose").field(&self.alternatives).finish()
    }
}

awaitable!([A: Alternatives] Choose<A>);

/// Implements the trait for tuples of one size; a `match` maps the index to the field.
macro_rules! tuple {
    ($($letter:ident $index:tt),+) => {
        impl<Out, $($letter: Event<Output = Out>),+> Alternatives for ($($letter,)+) {
            type Output = Out;
            type Branches<'e> = ($($letter::Branch<'e>,)+) where Self: 'e;

            const STAGED: bool = $($letter::STAGED)||+;

            #[inline]
            fn count(&self) -> usize {
                [$($index),+].len()
            }
            fn depth(&self) -> usize {
                [$(self.$index.depth()),+].into_iter().max().unwrap_or(0)
            }
            #[inline]
            fn branches(&self) -> Self::Branches<'_> {
                ($(self.$index.branch(),)+)
            }
            #[inline]
            fn take<'e, Taken: OneStep<Out>>(
                &'e self, branches: Pin<&mut Self::Branches<'e>>, index: usize, step: Taken,
            ) -> Taken::Result {
                match index {
                    $($index => {
                        // SAFETY: a tuple's fields are structurally pinned here: none is ever moved out.
                        let branch = unsafe { branches.map_unchecked_mut(|all| &mut all.$index) };
                        step.take(&self.$index, branch)
                    })+
                    _ => out_of_range(index),
                }
            }
            fn describe<'e>(&'e self, branches: &Self::Branches<'e>, index: usize, waits: &mut Description) {
                match index {
                    $($index => self.$index.describe(&branches.$index, waits),)+
                    _ => out_of_range(index),
                }
            }
        }
    };
}

#[cold]
fn out_of_range(index: usize) -> ! {
    panic!("a choice has no alternative {index}")
}

tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
