//! The parts of a join that depend on its depth within other joins, and not on its halves.
//!
//! They are compiled once, and the halves of each join in a program as few times as possible.

use crate::join_history::{self, Way};
use crate::pending::{Inside, Pending};
use crate::shim::ticks;
use crate::within::{self, Within};
use crate::{heartbeat, owner};

/// The depth of a join, until it ends.
pub(super) enum Depth<'a> {
    /// It is not part of another join or of a loop.
    Outermost(Outermost<'a>),
    /// It is one of the first levels.
    First(#[expect(dead_code, reason = "it is dropped when the join ends")] Level<'a>),
    Deeper,
}

impl<'a> Depth<'a> {
    /// Begins a join, whose code is the function at the address `code`. Returns `None` if no other
    /// thread may take its second half.
    #[inline]
    pub(super) fn enter(pending: &'a Pending, code: usize) -> Option<Self> {
        match pending.inside.get() {
            Inside::One(0) => Some(Depth::Deeper),
            Inside::One(levels) => Some(Depth::First(Level::enter(pending, levels))),
            Inside::Nothing | Inside::Handled(_) => Some(Depth::Outermost(Outermost::enter(pending, code))),
            Inside::Fenced(_) => None,
        }
    }

    /// Comes before the first half: looks whether another domain wants work.
    #[inline]
    pub(super) fn look(&self, pending: &Pending) {
        if matches!(self, Depth::Outermost(Outermost { way: Way::Alone, .. })) {
            return;
        }
        let word = heartbeat::here();
        if word.is_wanted() || (!word.is_quiet() && pending.count()) {
            owner::heartbeat(pending);
        }
    }

    /// Comes after the first half. `is_taken` says whether another thread has taken the second one.
    #[inline]
    pub(super) fn first_ended(&mut self, is_taken: bool) {
        if is_taken && let Depth::Outermost(join) = self {
            join.is_taken = true;
            if join.way == Way::Alone {
                // The join was not short, or no other domain would have taken the half.
                join_history::was_found(join.code);
            }
        }
    }

    /// Comes after both halves, neither of which has panicked.
    #[inline]
    pub(super) fn end(self) {
        if let Depth::Outermost(join) = self {
            join.end();
        }
    }
}

/// A join that is not part of another join or of a loop. If earlier runs of the same join took no
/// longer alone, the domain is silenced: the join does not check whether another domain wants work.
/// The monitor ends the silence within 10 ms, and so does another domain that begins to search for
/// work.
pub(super) struct Outermost<'a> {
    pending: &'a Pending,
    code: usize,
    way: Way,
    is_taken: bool,
    /// The time at which the join began, if it is measured.
    start: Option<u64>,
    silence: Option<heartbeat::Silence<'a>>,
    within: Option<Within<'a>>,
}

impl<'a> Outermost<'a> {
    #[inline(never)]
    fn enter(pending: &'a Pending, code: usize) -> Self {
        let within = within::enter(pending);
        let (way, is_measured) = match within::in_domain() {
            true => join_history::choose(code),
            false => (Way::Shared, true),
        };
        let start = is_measured.then(ticks::now);
        let silence = match way {
            Way::Alone => Some(heartbeat::here().silence()),
            Way::Shared => {
                // The next heartbeat may never come, because the halves may never check for it.
                owner::hurry(pending, join_history::may_be_long(code));
                None
            }
        };
        Outermost { pending, code, way, is_taken: false, start, silence, within }
    }

    #[inline(never)]
    fn end(self) {
        let Outermost { pending, code, way, is_taken, start, silence, within } = self;
        if way == Way::Alone {
            if !heartbeat::here().is_quiet() {
                join_history::was_disturbed(code);
            }
            drop(silence);
        }
        if let Some(start) = start {
            let now = ticks::now();
            let is_alone = way == Way::Alone;
            if !(is_alone && is_taken) {
                join_history::learn(code, way, now.wrapping_sub(start));
            }
            // No code has looked at the clock meanwhile, and other fibers of the domain may want
            // their turn.
            if is_alone && !is_taken && owner::is_due(now) {
                owner::heartbeat(pending);
            }
        }
        drop(within);
    }
}

/// Marks the code that runs here as one level further down, of `levels` levels, until this is
/// dropped.
pub(super) struct Level<'a> {
    pending: &'a Pending,
    levels: u32,
}

impl<'a> Level<'a> {
    #[inline]
    fn enter(pending: &'a Pending, levels: u32) -> Self {
        pending.inside.set(Inside::One(levels - 1));
        if levels == 1 {
            heartbeat::here().turn_off();
        }
        Level { pending, levels }
    }
}

impl Drop for Level<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.levels == 1 {
            heartbeat::here().note_down();
        }
        self.pending.inside.set(Inside::One(self.levels));
    }
}
