//! Looks whether others want a turn or work, in long calls of the library that put nothing off.
//!
//! A loop looks between its blocks, and a join looks when it puts a half off. Other work of the
//! library is one long call: a sort of a part, a copy, items that go into a map one by one. Such
//! work is cut into pieces and looks after each ([`after_a_piece`]), or it counts the calls of the
//! user's code in it ([`count`]), whose lengths are not known. The number of calls from one look to
//! the next is adapted to the time that they take.
//!
//! A look may be a heartbeat: then it gives work away, and other fibers of the domain have their
//! turn meanwhile. A look does not unwind.

use crate::event::is_modelled;
use crate::shim::ticks;
use crate::{heartbeat, owner};
use std::cell::Cell;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

/// The intended time between two looks.
const PERIOD: u64 = 5 * ticks::A_MICROSECOND;
/// The most calls that are counted between two looks: calls differ, and a cheap call says little
/// about the next ones.
const MOST: u32 = 256;
/// The number of calls before the first look of work that begins.
const FIRST: u32 = 4;

thread_local! {
    static HERE: Here = const {
        Here { left: Cell::new(0), period: Cell::new(1), last: Cell::new(0), away: Cell::new(0) }
    };
}

/// The state of a thread's looks. Fibers that compute in turn share it, and adapt it anew.
struct Here {
    /// The number of calls until the next look.
    left: Cell<u32>,
    /// The number of calls between two looks.
    period: Cell<u32>,
    /// When the last look ended, in ticks.
    last: Cell<u64>,
    /// The ticks that other fibers had in heartbeats.
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

/// Returns the items, and counts a call for each.
pub(crate) fn counted<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    begin();
    items.into_iter().inspect(|_| count())
}

/// Drops values, and lets others have their turn in between. If one panics, the others are still
/// dropped.
///
/// # Safety
///
/// The caller owns the values, and does not use them afterwards.
pub(crate) unsafe fn drop_in_place<T>(values: *mut [T]) {
    /// The number of values that are dropped between two looks.
    const PIECE: usize = 256;
    /// Values that have not been dropped.
    struct Rest<T>(*mut [T]);
    impl<T> Drop for Rest<T> {
        fn drop(&mut self) {
            // SAFETY: passed on to the caller of the function around this.
            unsafe { self.0.drop_in_place() };
        }
    }
    if !needs_drop::<T>() {
        return;
    }
    let mut rest = Rest(values);
    while rest.0.len() > PIECE {
        let first = rest.0.cast::<T>();
        // SAFETY: there are more values than these.
        let later = unsafe { first.add(PIECE) };
        rest.0 = ptr::slice_from_raw_parts_mut(later, rest.0.len() - PIECE);
        // SAFETY: these values are no longer in `rest`. The other conditions are passed on to the
        // caller.
        unsafe { ptr::slice_from_raw_parts_mut(first, PIECE).drop_in_place() };
        after_a_piece();
    }
}

/// Drops the values in these slots, as [`drop_in_place`] does.
///
/// # Safety
///
/// All slots are initialized, and no other code takes or drops their values.
pub(crate) unsafe fn drop_slots<T>(slots: &mut [MaybeUninit<T>]) {
    // SAFETY: the values lie in the slots. The other conditions are passed on to the caller.
    unsafe { drop_in_place(ptr::from_mut(slots) as *mut [T]) };
}

/// The lengths of the pieces of work that is done step by step, so that each piece takes some
/// microseconds. A look follows each piece but the last.
pub(crate) struct Pieces {
    left: usize,
    len: usize,
    start: u64,
}

impl Pieces {
    /// Begins `steps` steps.
    pub(crate) fn of(steps: usize) -> Self {
        Pieces { left: steps, len: 0, start: 0 }
    }
}

impl Iterator for Pieces {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        /// The most steps of a piece, and the steps of the first piece.
        const STEPS: (u64, usize) = (1 << 12, FIRST as usize);

        let now = ticks::now();
        self.len = match self.len {
            _ if self.left == 0 => return None,
            // In a model time decides nothing.
            _ if is_modelled() => self.left,
            0 => STEPS.1,
            len => {
                after_a_piece();
                let took = now.wrapping_sub(self.start).max(1);
                (len as u64 * PERIOD / took).clamp(1, (4 * len as u64).min(STEPS.0)) as usize
            }
        };
        self.start = ticks::now();
        let len = self.len.min(self.left);
        self.left -= len;
        Some(len)
    }
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
