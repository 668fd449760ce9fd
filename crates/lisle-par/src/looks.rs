//! Looks at what others want, in work that puts nothing off for long.
//!
//! A loop looks between its blocks, and a join where it puts a half off. Other work of the library
//! is one long call: a sort of a part, a copy, items that go into a map one by one. Such work
//! either is cut into pieces and looks after each ([`after_a_piece`]), or counts the calls of the
//! user's code in it ([`count`]), of which nothing else is known. The number of calls from one look
//! to the next is adapted to the time that they take.
//!
//! A look may be a heartbeat: it gives work away, and other fibers of the domain have their turn
//! meanwhile. It does not unwind.

use crate::event::is_modelled;
use crate::shim::ticks;
use crate::{heartbeat, owner};
use std::cell::Cell;

/// The intended time between two looks.
const PERIOD: u64 = 5 * ticks::A_MICROSECOND;
/// The most calls that are counted between two looks: calls differ, and a cheap one says little of
/// those that follow.
const MOST: u32 = 256;
/// The number of calls before the first look of work that begins.
const FIRST: u32 = 16;

thread_local! {
    static HERE: Here = const {
        Here { left: Cell::new(0), period: Cell::new(1), last: Cell::new(0), away: Cell::new(0) }
    };
}

/// What a thread knows of its looks. Fibers that compute in turn share it, and adapt it anew.
struct Here {
    /// The number of calls until the next look.
    left: Cell<u32>,
    /// The number of calls between two looks.
    period: Cell<u32>,
    /// When the last look ended, in ticks.
    last: Cell<u64>,
    /// The ticks that others had in heartbeats.
    away: Cell<u64>,
}

/// Begins work whose calls are counted, of a duration that is not known yet.
pub(crate) fn begin() {
    HERE.with(|here| {
        here.period.set(FIRST);
        here.left.set(FIRST);
        here.last.set(ticks::now());
    });
}

/// Counts a call of the user's code, and looks when it is time.
#[inline(always)]
pub(crate) fn count() {
    HERE.with(|here| match here.left.get().checked_sub(1) {
        Some(left) => here.left.set(left),
        None => here.look(),
    });
}

/// Looks, after a piece of work of some microseconds.
#[inline]
pub(crate) fn after_a_piece() {
    if !is_modelled() && !heartbeat::here().is_quiet() && owner::is_due(ticks::now()) {
        HERE.with(Here::beat);
    }
}

/// Returns the reading of a clock that stands still while others have their turn.
pub(crate) fn time() -> u64 {
    ticks::now().wrapping_sub(HERE.with(|here| here.away.get()))
}

impl Here {
    #[cold]
    #[inline(never)]
    fn look(&self) {
        let took = ticks::now().wrapping_sub(self.last.get()).max(1);
        let period = u64::from(self.period.get());
        let next = (period.saturating_mul(PERIOD) / took).clamp(1, 2 * period);
        let next = u32::try_from(next).unwrap_or(MOST).min(MOST);
        self.period.set(next);
        self.left.set(next - 1);
        after_a_piece();
        self.last.set(ticks::now());
    }

    #[cold]
    fn beat(&self) {
        let start = ticks::now();
        owner::heartbeat(owner::pending());
        self.away.set(self.away.get().wrapping_add(ticks::now().wrapping_sub(start)));
    }
}
