//! The surroundings of a computation. For the stack of a fiber, or for the thread, the library keeps notes
//! of the calls that are under way; marks are a copy of these notes.
//!
//! A computation that is suspended takes its frames away, and leaves the notes that these frames have made.
//! So the marks are compared. If they are equal to the marks of when the computation was resumed, its
//! frames have noted nothing. Otherwise some notes can be put aside meanwhile, and the others belong to
//! calls that must not be left.

use lisle_core::event::parker::Noted;
use lisle_core::event::step;
use lisle_runtime::internal::handled::Answering;
use lisle_runtime::internal::pending::Inside;
use lisle_runtime::internal::this_stack::ThisStack;
use std::ptr::null;

/// The surroundings of the code that runs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    /// The innermost step of an event, lock of a source, or `no_suspend`.
    step: usize,
    /// The task whose code runs.
    task: usize,
    /// A computation that is run has a value of its own, see `around`.
    pub(crate) inside: Inside,
    /// The frames that raise panics again, the calls that must complete, and the calls with a deadline.
    pub(crate) noted: Noted,
    /// The innermost answer that is being given.
    pub(crate) answering: *const Answering,
}

/// A call that a computation must not leave when it is suspended, and that an effect must not leave when it
/// is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// A task: it runs where it is spawned, or elsewhere.
    Task,
    /// A part of a loop or join: it runs here, or elsewhere.
    Loop,
    /// `no_suspend`, or a function that an event has called.
    Step,
    /// A call with a deadline, or without the deadlines around it.
    Deadline,
}

impl Marks {
    /// The marks of no code.
    pub(crate) const NONE: Marks = Marks {
        step: usize::MAX,
        task: usize::MAX,
        inside: Inside::Nothing,
        noted: Noted::NONE,
        answering: null(),
    };

    /// Returns these marks after the surroundings of an outer computation have changed from `before` to
    /// `now`. There was no barrier between the two.
    #[cold]
    pub(crate) fn moved(self, before: Marks, now: Marks) -> Self {
        let answering = if self.answering == before.answering { now.answering } else { self.answering };
        let step = if self.step == before.step { now.step } else { self.step };
        Marks { step, noted: self.noted.moved(before.noted, now.noted), answering, ..now }
    }

    /// Returns `true` if these are the same marks. Each `perform` asks this, so the comparison has no jump
    /// for each mark.
    #[inline(always)]
    pub(crate) fn are(self, other: Marks) -> bool {
        let words =
            [self.step ^ other.step, self.task ^ other.task, self.answering.addr() ^ other.answering.addr()];
        let parts = (self.inside.bits() ^ other.inside.bits()) | self.noted.difference(other.noted);
        words.into_iter().fold(parts, |all, word| all | word as u64) == 0
    }

    /// Returns the surroundings of the running code.
    #[inline(always)]
    pub(crate) fn of(stack: ThisStack<'_>) -> Self {
        Marks {
            step: step::innermost(),
            task: stack.task.get().addr(),
            inside: stack.state().pending.inside.get(),
            noted: Noted::here(),
            answering: stack.state().handled.answering.get(),
        }
    }

    /// Returns the marks of a computation that is run here. If this code is a part of a join or a loop, the
    /// computation counts as being in none. So a suspension that leaves a join or loop within the
    /// computation is seen, whatever joins and loops are around it.
    #[inline(always)]
    pub(crate) fn around(stack: ThisStack<'_>) -> Self {
        let marks = Self::of(stack);
        match marks.inside {
            Inside::One(_) => {
                Marks { inside: Inside::Handled(stack.state().handled.in_parts.get() + 1), ..marks }
            }
            _ => marks,
        }
    }

    /// Returns `true` if no task, loop or join is between the code with these marks and the code
    /// with the marks `outer`.
    #[inline(always)]
    pub(crate) fn is_in_same(self, outer: Marks) -> bool {
        (self.task ^ outer.task) as u64 | (self.inside.bits() ^ outer.inside.bits()) == 0
    }

    /// Returns the barrier that code with these marks would leave if it left for the code with the marks
    /// `outer`. An answer is given on the performer's stack, so that no frame is left.
    #[cold]
    pub(crate) fn barrier(self, outer: Marks, is_answer: bool) -> Option<Barrier> {
        if self.task != outer.task {
            Some(Barrier::Task)
        } else if !self.inside.is_in_same(outer.inside) {
            Some(Barrier::Loop)
        } else if self.step != outer.step && !is_answer {
            Some(Barrier::Step)
        } else if self.noted.is_beyond_a_limit(outer.noted) && !is_answer {
            Some(Barrier::Deadline)
        } else {
            None
        }
    }
}
