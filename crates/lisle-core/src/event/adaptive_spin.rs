//! How long to look around before sleeping.
//!
//! A sleep and the wake that ends it cost tens of microseconds in a virtual machine, of two threads' time. If
//! what is waited for comes sooner than that, looking for it is cheaper for both; if not, looking was for
//! nothing. Nobody knows beforehand, so a waiter goes by its own past: it looks for a long time only after
//! sleeps that turned out short, and each time this did not pay it takes twice as many short sleeps to try
//! again. Where a partner needs the very core that the looking keeps busy, that makes it rare.
//!
//! The rule to look for as long as a sleep costs, which is never worse than twice the best, is from Karlin, Li,
//! Manasse and Owicki, *Empirical studies of competitive spinning for a shared-memory multiprocessor* (SOSP 1991).

use crate::shim::{clock, hint};
use std::cell::Cell;

/// For how long to look, in nanoseconds: if nothing speaks for more, and if the last sleeps were short.
const BRIEFLY: u64 = 2_000;
const LONG: u64 = 50_000;
/// Which sleeps count as short. A sleep includes the wake, which alone takes 20 to 60 microseconds.
const SHORT: u64 = 2 * LONG;
/// How many short sleeps, at most, before another long look, as a power of two.
const MOST_DOUBTS: u32 = 10;

/// One waiter's experience.
#[derive(Debug)]
pub struct AdaptiveSpin {
    /// Whether the next look is a long one.
    long: Cell<bool>,
    /// How many short sleeps it takes until then.
    pause: Cell<u32>,
    /// How many long looks in a row were for nothing.
    doubts: Cell<u32>,
}

impl AdaptiveSpin {
    #[inline]
    pub const fn new() -> Self {
        AdaptiveSpin { long: Cell::new(false), pause: Cell::new(0), doubts: Cell::new(0) }
    }

    /// Is the next look a long one?
    #[inline]
    pub fn is_long(&self) -> bool {
        self.long.get()
    }

    /// Looks for a while whether it is there: true as soon as `there` is.
    pub fn look(&self, mut there: impl FnMut() -> bool) -> bool {
        let limit = if self.long.get() { LONG } else { BRIEFLY };
        let start = clock::now();
        loop {
            // The clock costs about as much as this many looks.
            for _ in 0..8 {
                if there() {
                    if self.long.get() {
                        self.doubts.set(0);
                    }
                    return true;
                }
                hint::spin_loop();
            }
            if clock::now().wrapping_sub(start) >= limit {
                break;
            }
        }
        if self.long.replace(false) {
            let doubts = (self.doubts.get() + 1).min(MOST_DOUBTS);
            self.doubts.set(doubts);
            self.pause.set(1 << doubts);
        }
        false
    }

    /// It was not there, and came after a sleep of so many nanoseconds.
    #[inline]
    pub fn slept(&self, nanos: u64) {
        if nanos >= SHORT {
            return;
        }
        match self.pause.get() {
            0 => self.long.set(true),
            pause => self.pause.set(pause - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sleeps_make_patient() {
        let adaptive_spin = AdaptiveSpin::new();
        assert!(!adaptive_spin.is_long());
        adaptive_spin.slept(SHORT);
        assert!(!adaptive_spin.is_long());
        adaptive_spin.slept(SHORT - 1);
        assert!(adaptive_spin.is_long());
        assert!(adaptive_spin.look(|| true));
        assert!(adaptive_spin.is_long());
    }

    #[test]
    fn each_long_look_for_nothing_doubles_the_price_of_the_next() {
        let adaptive_spin = AdaptiveSpin::new();
        for doubts in 0..=MOST_DOUBTS + 2 {
            let mut sleeps = 0;
            while !adaptive_spin.is_long() {
                adaptive_spin.slept(0);
                sleeps += 1;
            }
            let price = if doubts == 0 { 1 } else { (1 << doubts.min(MOST_DOUBTS)) + 1 };
            assert_eq!(sleeps, price, "after {doubts} doubts");
            assert!(!adaptive_spin.look(|| false));
        }
        while !adaptive_spin.is_long() {
            adaptive_spin.slept(0);
        }
        assert!(adaptive_spin.look(|| true));
        assert_eq!(adaptive_spin.doubts.get(), 0);
    }
}
