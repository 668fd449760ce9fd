//! The limit on how deep events may be nested.
//!
//! An event that contains others takes each step by calling theirs, so each level costs stack:
//! about a kilobyte without optimization, and a fiber has a few hundred of them. Types nest only as
//! deep as the source code does. Only boxes in boxes, and events that are made within the
//! performance of others, can nest deeper while a program runs. Both are counted, and one level too
//! many panics before anything is published.
//!
//! Boxes are counted when they are made ([`Event::depth`](crate::event::Event::depth)), since a deeper
//! nesting could not even be dropped. Events that are made in a performance are counted on the way
//! down, in a thread-local variable. The variable belongs to the code that is about to take a step.
//! User code may wait, and other code changes the variable meanwhile, so every caller of user code
//! restores it.

use std::cell::Cell;

/// The largest number of boxes in one another in an event, and of events made within others in a
/// performance. A made event counts as many levels as it has boxes, and at least one.
pub(crate) const DEEPEST: usize = 128;

#[cfg(not(lisle_loom))]
thread_local! {
    /// The number of levels above the event that is being prepared.
    static ABOVE: Cell<usize> = const { Cell::new(0) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static ABOVE: Cell<usize> = Cell::new(0);
}

/// A guard that restores the previous number.
struct Restore(usize);

impl Restore {
    fn replacing(levels: usize) -> Self {
        Restore(ABOVE.with(|above| above.replace(levels)))
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        ABOVE.with(|above| above.set(self.0));
    }
}

/// Runs a step of a whole performance.
pub(super) fn from_the_top<R>(step: impl FnOnce() -> R) -> R {
    let _restore = Restore::replacing(0);
    step()
}

/// Runs a step of an event with `boxes` boxes that was made within another.
///
/// # Panics
///
/// Panics if that is too deep.
pub(super) fn deeper<R>(boxes: usize, step: impl FnOnce() -> R) -> R {
    let levels = ABOVE.with(Cell::get).saturating_add(boxes.max(1));
    check(levels);
    let _restore = Restore::replacing(levels);
    step()
}

/// Runs a user's function on the way down, and restores the number afterwards.
pub(super) fn aside<R>(function: impl FnOnce() -> R) -> R {
    let _restore = Restore(ABOVE.with(Cell::get));
    function()
}

/// # Panics
///
/// Panics if an event has too many levels.
#[track_caller]
pub(super) fn check(levels: usize) {
    assert!(
        levels <= DEEPEST,
        "events are nested more than {DEEPEST} deep; instead of a choice of a choice of a choice make one of a vector \
         of all alternatives, and instead of an event that is made within an event, and so on, perform one after another"
    );
}
