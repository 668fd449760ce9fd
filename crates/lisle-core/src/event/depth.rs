//! How deep events may be nested.
//!
//! An event that contains others takes each step by calling theirs, so each level costs stack: a kilobyte or so without
//! optimization, and a fiber has a few hundred of them. Types nest as deep as somebody has written them down. What
//! grows while a program runs are boxes in boxes, and events that are made while others are performed, which make
//! further ones. Both are counted, and one level too many is a panic, before anything is published.
//!
//! The boxes are counted as they are made ([`Event::depth`](super::Event::depth)), since what is nested deeper could not even be dropped.
//! What is made in a performance is counted on the way down, in a variable of the thread. It belongs to whoever is
//! about to take a step: user code may wait, and others change it meanwhile, so whoever runs some restores it.

use std::cell::Cell;

/// How many boxes an event may have in one another, and how many events made within others a performance; what is made
/// counts as many as it has boxes, and as one at least.
pub(crate) const DEEPEST: usize = 128;

#[cfg(not(lisle_loom))]
thread_local! {
    /// How many levels are above what is being prepared.
    static ABOVE: Cell<usize> = const { Cell::new(0) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static ABOVE: Cell<usize> = Cell::new(0);
}

/// Puts back what it found.
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

/// Runs a step of an event of so many boxes, that was made within another.
///
/// # Panics
///
/// If that is too deep.
pub(super) fn deeper<R>(boxes: usize, step: impl FnOnce() -> R) -> R {
    let levels = ABOVE.with(Cell::get).saturating_add(boxes.max(1));
    check(levels);
    let _restore = Restore::replacing(levels);
    step()
}

/// Runs a function of the user's on the way down.
pub(super) fn aside<R>(function: impl FnOnce() -> R) -> R {
    let _restore = Restore(ABOVE.with(Cell::get));
    function()
}

/// # Panics
///
/// If an event has too many levels.
#[track_caller]
pub(super) fn check(levels: usize) {
    assert!(
        levels <= DEEPEST,
        "events are nested more than {DEEPEST} deep; instead of a choice of a choice of a choice make one of a vector \
         of all alternatives, and instead of an event that is made within an event, and so on, perform one after another"
    );
}
