//! All of several events: an event that has happened when each of them has.
//!
//! It is an event in as many stages as it has parts; each stage is a choice between the missing
//! parts. Therefore it is one performance with one record in any kind of performer, and its parts
//! may borrow. The paper that it comes from spawns a thread for each part, which costs a thread and
//! a wake for each; here the parts that are ready when the performer looks cost as much as in a
//! choice.

use super::list::deepest;
use crate::drops::Careful;
use crate::event::interface::scratch::Scratch;
use crate::event::{Attempt, Description, Event, Step, awaitable};
use std::fmt;
use std::pin::Pin;

/// An event that happens when all of several events have happened, see [`choose_all`].
#[must_use = "events do nothing unless performed"]
#[derive(Clone, Copy)]
pub struct ChooseAll<A> {
    events: A,
}

/// Returns an event that happens when each of `events` has happened, in any order. Its value holds
/// their values in the order of `events`.
///
/// All events are waited for at the same time: a partner of one of them does not have to wait for
/// the others. The events are a tuple of two to twelve events of any types, which gives a tuple; an
/// array, which gives an array; or a vector, a boxed slice or a slice, which give a vector. They
/// may be borrowed. Without any events it happens at once.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, channel, event::choose_all};
/// use std::thread;
///
/// let (names, name) = channel();
/// let (ages, age) = channel();
/// thread::spawn(move || {
///     ages.send(36).unwrap(); // in any order
///     names.send("Ada").unwrap();
/// });
/// let (name, age) = choose_all((name.recv_evt(), age.recv_evt())).sync();
/// assert_eq!((name, age), (Ok("Ada"), Ok(36)));
/// ```
///
/// This is Multi-MLton's `chooseAll`.
///
/// # In a choice
///
/// **It is not all or nothing.** Its parts happen one by one, from the beginning of the choice's
/// performance, and only the last of them decides the choice. If another alternative wins before
/// that, or a poll finds only some of the parts, or the future is dropped, then the parts that have
/// happened *have* happened, and their values are dropped; the others have taken nothing. Do not
/// let anything compete with it if its messages must not be lost. (The same holds for
/// [`Event::replace`].)
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, channel::bounded, event::choose_all};
///
/// let ((one, from_one), (_other, from_other)) = (bounded(1), bounded::<u32>(1));
/// one.send(1).unwrap();
/// let both = choose_all((from_one.recv_evt(), from_other.recv_evt()));
/// assert!(both.poll().is_none());
/// assert!(from_one.is_empty()); // its message has been received, and dropped
/// ```
///
/// Like a [`choose`](crate::choose()), it never communicates with itself: a part that sends does not
/// meet a part that receives.
///
/// # Panics
///
/// Panics if a guard or a wrap function of a part panics. The parts that have happened by then are
/// lost as above.
///
/// # Fairness
///
/// All parts must happen, so none can be preferred. Wrap functions of parts run one after another,
/// as the parts happen, in the performer, which waits for none of the others meanwhile.
///
/// # Complexity
///
/// A part that is ready costs as much as in a choice. Each time that the performer must wait, all
/// missing parts are entered into their queues and taken out again, which is quadratic in total if
/// each part happens long after the one before. From about eight such parts on, a task
/// (`lisle::task`) for each part is faster, and for many hundreds a [wait set](crate::event::WaitSet). It
/// does not allocate for tuples and arrays, and for the others only their vector once a thread has
/// performed one as large.
pub fn choose_all<A: Every>(events: A) -> ChooseAll<A> {
    ChooseAll { events }
}

/// The events of a [`choose_all`]: tuples of two to twelve events, arrays, vectors, boxed slices
/// and slices of events. The methods address one of them by its index; only the library calls them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing of which all can be waited for",
    note = "it wants a tuple of two to twelve events, or an array, a vector or a boxed slice of events of one type, whose \
            values are `Send`"
)]
pub trait Every {
    /// The values of all events.
    type Outputs;
    /// The data that a performance keeps for all events.
    type Parts<'e>: Send
    where
        Self: 'e;

    /// Returns the number of events.
    fn count(&self) -> usize;
    /// Returns the largest [`Event::depth`] of the events.
    fn depth(&self) -> usize;
    /// Makes the branches, from first to last.
    fn parts(&self) -> Self::Parts<'_>;
    /// Takes a step of one of the events, unless it has already happened. Returns `true` if the
    /// step succeeded.
    fn step<'e>(&'e self, parts: Pin<&mut Self::Parts<'e>>, index: usize, stride: Stride<'_>) -> bool;
    /// Calls [`Event::describe`] of one of the events, unless it has already happened.
    fn describe<'e>(&'e self, parts: &Self::Parts<'e>, index: usize, waits: &mut Description);
    /// Returns the values, once all events have happened.
    fn outputs<'e>(&'e self, parts: Pin<&mut Self::Parts<'e>>) -> Self::Outputs;
}

/// A step of one part, named after the method of [`Event`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Stride<'a> {
    /// [`Event::force`]; succeeds always.
    Force,
    /// [`Event::try_commit`]; succeeds if it has committed.
    TryCommit(&'a Attempt<'a>),
    /// [`Event::publish`]; succeeds if it has committed.
    Publish(&'a Attempt<'a>),
    /// [`Event::withdraw`]; succeeds if the part has won.
    Withdraw(&'a Attempt<'a>),
    /// [`Event::advance`], and after the last stage [`Event::complete`]; succeeds if that was the
    /// last stage.
    Advance,
    /// [`Event::lose`]; succeeds always.
    Lose,
}

/// The data that a performance keeps for one part.
pub struct PartBranch<'e, E: Event + 'e> {
    branch: E::Branch<'e>,
    /// `Some` once the part has happened.
    output: Careful<Option<E::Output>>,
}

impl<'e, E: Event> PartBranch<'e, E> {
    fn new(event: &'e E) -> Self {
        PartBranch { branch: event.branch(), output: Careful::new(None) }
    }

    fn step(self: Pin<&mut Self>, event: &'e E, stride: Stride<'_>) -> bool {
        // SAFETY: `branch` is structurally pinned, and stays where it is; `output` is not.
        let this = unsafe { self.get_unchecked_mut() };
        if this.output.get().is_some() {
            if let Stride::TryCommit(attempt) = stride {
                attempt.evidence().never_was();
            }
            return false;
        }
        // SAFETY: as above.
        let mut branch = unsafe { Pin::new_unchecked(&mut this.branch) };
        match stride {
            Stride::TryCommit(attempt) => event.try_commit(branch, attempt) == Step::Committed,
            Stride::Publish(attempt) => event.publish(branch, attempt) == Step::Committed,
            Stride::Withdraw(attempt) => event.withdraw(branch, attempt),
            Stride::Advance => {
                let done = event.advance(branch.as_mut());
                if done {
                    *this.output.get_mut() = Some(event.complete(branch));
                }
                done
            }
            Stride::Force => {
                event.force(branch);
                true
            }
            Stride::Lose => {
                event.lose(branch);
                true
            }
        }
    }

    fn describe(&self, event: &'e E, waits: &mut Description) {
        if self.output.get().is_none() {
            event.describe(&self.branch, waits);
        }
    }

    fn output(self: Pin<&mut Self>) -> E::Output {
        // SAFETY: `output` is not structurally pinned; nothing else is touched.
        unsafe { self.get_unchecked_mut() }.output.get_mut().take().expect("each part has happened")
    }
}

impl<'e, E: Event + 'e> fmt::Debug for PartBranch<'e, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartBranch").field("happened", &self.output.get().is_some()).finish_non_exhaustive()
    }
}

/// The branch of a [`ChooseAll`].
#[derive(Debug)]
pub struct AllBranch<P> {
    parts: P,
    /// The part that has committed or won last.
    chosen: usize,
    /// The number of parts that have not happened.
    missing: usize,
}

impl<P> AllBranch<P> {
    fn parts(self: Pin<&mut Self>) -> Pin<&mut P> {
        // SAFETY: `parts` is structurally pinned; the other fields are plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.parts) }
    }

    fn plain(self: Pin<&mut Self>) -> (&mut usize, &mut usize) {
        // SAFETY: plain data, nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        (&mut this.chosen, &mut this.missing)
    }
}

impl<A: Every> Event for ChooseAll<A> {
    type Output = A::Outputs;
    type Branch<'e>
        = AllBranch<A::Parts<'e>>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn depth(&self) -> usize {
        self.events.depth()
    }
    fn branch(&self) -> Self::Branch<'_> {
        AllBranch { parts: self.events.parts(), chosen: 0, missing: self.events.count() }
    }
    fn force<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        for index in 0..self.events.count() {
            self.events.step(branch.as_mut().parts(), index, Stride::Force);
        }
    }
    fn try_commit<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        if branch.missing == 0 {
            return attempt.at_once();
        }
        // Continues after the part that happened last: the parts before it were not ready a moment
        // ago.
        let (count, first) = (self.events.count(), branch.chosen);
        for index in (first..count).chain(0..first) {
            let parts = branch.as_mut().parts();
            let step = attempt.evidence().of_branch(|| {
                let committed = self.events.step(parts, index, Stride::TryCommit(attempt));
                if committed { Step::Committed } else { Step::Waiting }
            });
            if step == Step::Committed {
                *branch.plain().0 = index;
                return Step::Committed;
            }
        }
        Step::Waiting
    }
    fn publish<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        if branch.missing == 0 {
            return attempt.at_once();
        }
        for index in 0..self.events.count() {
            if self.events.step(branch.as_mut().parts(), index, Stride::Publish(attempt)) {
                *branch.plain().0 = index;
                return Step::Committed;
            }
            if attempt.is_decided() {
                break;
            }
        }
        Step::Waiting
    }
    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let mut winner = None;
        for index in 0..self.events.count() {
            if self.events.step(branch.as_mut().parts(), index, Stride::Withdraw(attempt)) {
                winner = Some(index);
            }
        }
        if let Some(index) = winner {
            *branch.plain().0 = index;
        }
        winner.is_some()
    }
    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let chosen = branch.chosen;
        if branch.missing > 0 && self.events.step(branch.as_mut().parts(), chosen, Stride::Advance) {
            *branch.as_mut().plain().1 -= 1;
        }
        branch.missing == 0
    }
    fn lose<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        for index in 0..self.events.count() {
            self.events.step(branch.as_mut().parts(), index, Stride::Lose);
        }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> A::Outputs {
        self.events.outputs(branch.parts())
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        for index in 0..self.events.count() {
            self.events.describe(&branch.parts, index, waits);
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for ChooseAll<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChooseAll").field(&self.events).finish()
    }
}

awaitable!([A: Every] ChooseAll<A>);

impl<E: Event<Output: Send>, const N: usize> Every for [E; N] {
    type Outputs = [E::Output; N];
    type Parts<'e>
        = [PartBranch<'e, E>; N]
    where
        Self: 'e;

    fn count(&self) -> usize {
        N
    }
    fn depth(&self) -> usize {
        deepest(self)
    }
    fn parts(&self) -> Self::Parts<'_> {
        std::array::from_fn(|index| PartBranch::new(&self[index]))
    }
    fn step<'e>(&'e self, parts: Pin<&mut Self::Parts<'e>>, index: usize, stride: Stride<'_>) -> bool {
        // SAFETY: the elements are structurally pinned: none is ever moved out.
        let part = unsafe { parts.map_unchecked_mut(|parts| &mut parts[index]) };
        part.step(&self[index], stride)
    }
    fn describe<'e>(&'e self, parts: &Self::Parts<'e>, index: usize, waits: &mut Description) {
        parts[index].describe(&self[index], waits);
    }
    fn outputs<'e>(&'e self, mut parts: Pin<&mut Self::Parts<'e>>) -> Self::Outputs {
        std::array::from_fn(|index| {
            // SAFETY: as above.
            unsafe { parts.as_mut().map_unchecked_mut(|parts| &mut parts[index]) }.output()
        })
    }
}

/// Returns the pinned part in a scratch, which does not move its items.
fn item<'b, 'e, E: Event>(
    parts: Pin<&'b mut Scratch<PartBranch<'e, E>>>,
    index: usize,
) -> Pin<&'b mut PartBranch<'e, E>> {
    // SAFETY: nothing is moved out, and the scratch keeps its items in place until it is dropped.
    unsafe { parts.map_unchecked_mut(|parts| &mut parts.items()[index]) }
}

/// Implements the trait for a type that derefs to a slice of events.
macro_rules! slice {
    ([$($generics:tt)*] $list:ty) => {
        impl<$($generics)* E: Event<Output: Send>> Every for $list {
            type Outputs = Vec<E::Output>;
            type Parts<'e> = Scratch<PartBranch<'e, E>> where Self: 'e;

            fn count(&self) -> usize {
                self.len()
            }
            fn depth(&self) -> usize {
                deepest(self)
            }
            fn parts(&self) -> Self::Parts<'_> {
                Scratch::collect(self.len(), self.iter().map(PartBranch::new))
            }
            fn step<'e>(&'e self, parts: Pin<&mut Self::Parts<'e>>, index: usize, stride: Stride<'_>) -> bool {
                item(parts, index).step(&self[index], stride)
            }
            fn describe<'e>(&'e self, parts: &Self::Parts<'e>, index: usize, waits: &mut Description) {
                parts.look()[index].describe(&self[index], waits);
            }
            fn outputs<'e>(&'e self, mut parts: Pin<&mut Self::Parts<'e>>) -> Self::Outputs {
                (0..self.len()).map(|index| item(parts.as_mut(), index).output()).collect()
            }
        }
    };
}

slice!([] Vec<E>);
slice!([] Box<[E]>);
slice!(['a,] &'a [E]);

/// Implements the trait for tuples of one size; a `match` maps the index to the field.
macro_rules! tuple {
    ($($letter:ident $index:tt),+) => {
        impl<$($letter: Event<Output: Send>),+> Every for ($($letter,)+) {
            type Outputs = ($($letter::Output,)+);
            type Parts<'e> = ($(PartBranch<'e, $letter>,)+) where Self: 'e;

            fn count(&self) -> usize {
                [$($index),+].len()
            }
            fn depth(&self) -> usize {
                [$(self.$index.depth()),+].into_iter().max().unwrap_or(0)
            }
            fn parts(&self) -> Self::Parts<'_> {
                ($(PartBranch::new(&self.$index),)+)
            }
            fn step<'e>(&'e self, parts: Pin<&mut Self::Parts<'e>>, index: usize, stride: Stride<'_>) -> bool {
                match index {
                    $($index => {
                        // SAFETY: a tuple's fields are structurally pinned here: none is ever moved
                        // out.
                        let part = unsafe { parts.map_unchecked_mut(|parts| &mut parts.$index) };
                        part.step(&self.$index, stride)
                    })+
                    _ => unreachable!("a tuple has no place {index}"),
                }
            }
            fn describe<'e>(&'e self, parts: &Self::Parts<'e>, index: usize, waits: &mut Description) {
                match index {
                    $($index => parts.$index.describe(&self.$index, waits),)+
                    _ => unreachable!("a tuple has no place {index}"),
                }
            }
            fn outputs<'e>(&'e self, mut parts: Pin<&mut Self::Parts<'e>>) -> Self::Outputs {
                ($(
                    // SAFETY: as above.
                    unsafe { parts.as_mut().map_unchecked_mut(|parts| &mut parts.$index) }.output(),
                )+)
            }
        }
    };
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
