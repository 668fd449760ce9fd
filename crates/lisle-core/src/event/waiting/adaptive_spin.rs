//! How long to spin before sleeping.
//!
//! A sleep and the wake that ends it cost tens of microseconds in a virtual machine, on two
//! threads. If the wake comes sooner than that, spinning for it is cheaper for both; if not, the
//! spinning is wasted. That is not known beforehand, so a waiter decides by its own past: it spins
//! for long only after sleeps that turned out short, and each long spin that fails doubles the
//! number of short sleeps before the next one. Where the partner needs the very core that spins,
//! long spins become rare.
//!
//! The rule to spin for as long as a sleep costs, which is never worse than twice the optimum, is
//! from Karlin, Li, Manasse and Owicki, *Empirical studies of competitive spinning for a
//! shared-memory multiprocessor* (SOSP 1991).

use crate::shim::{clock, hint};
use std::cell::Cell;

/// The duration of a spin in nanoseconds, by default.
const BRIEFLY: u64 = 2_000;
/// The duration of a long spin in nanoseconds: about the cost of a sleep and its wake.
const LONG: u64 = 50_000;
/// Sleeps below this count as short. A sleep includes the wake, which alone takes 20 to 60
/// microseconds.
const SHORT: u64 = 2 * LONG;
/// The largest number of doubts that count. After that many, 2^10 short sleeps are passed over
/// before another long spin.
const MOST_DOUBTS: u32 = 10;
/// After this many sleeps in a row that were not short a plain thread does not spin.
const MOST_LONG_SLEEPS: u32 = 4;

/// The experience of one waiter.
#[derive(Debug, Default)]
pub struct AdaptiveSpin {
    /// Whether the next spin is a long one.
    long: Cell<bool>,
    /// The number of short sleeps to pass over; the one after them makes the next spin a long one.
    pause: Cell<u32>,
    /// The number of long spins in a row that failed.
    doubts: Cell<u32>,
    /// The number of sleeps in a row that were not short.
    long_sleeps: Cell<u32>,
}

impl AdaptiveSpin {
    #[inline]
    pub const fn new() -> Self {
        let (long, pause, doubts) = (Cell::new(false), Cell::new(0), Cell::new(0));
        AdaptiveSpin { long, pause, doubts, long_sleeps: Cell::new(0) }
    }

    /// Returns `true` if the next spin is a long one.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.long.get()
    }

    /// Returns `true` if the last sleeps were all so long that even a brief spin is in vain.
    #[inline]
    pub fn is_in_vain(&self) -> bool {
        self.long_sleeps.get() >= MOST_LONG_SLEEPS
    }

    /// Calls `there` repeatedly for a while. Returns `true` as soon as `there` does. The function
    /// may do work of its own; time that it takes counts as spinning.
    pub fn look(&self, mut there: impl FnMut() -> bool) -> bool {
        let limit = if self.long.get() { LONG } else { BRIEFLY };
        let start = clock::now();
        loop {
            // The clock costs about as much as this many calls of `there`.
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

    /// Records a sleep of `nanos` nanoseconds, whether the waiter had spun before it or not. A
    /// sleep that a timeout has ended is not to be recorded.
    #[inline]
    pub fn slept(&self, nanos: u64) {
        if nanos >= SHORT {
            self.long_sleeps.set(self.long_sleeps.get().saturating_add(1));
            return;
        }
        self.long_sleeps.set(0);
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
    fn after_several_long_sleeps_a_spin_is_in_vain_until_one_is_short() {
        let adaptive_spin = AdaptiveSpin::new();
        for _ in 0..MOST_LONG_SLEEPS {
            assert!(!adaptive_spin.is_in_vain());
            adaptive_spin.slept(SHORT);
        }
        assert!(adaptive_spin.is_in_vain());
        adaptive_spin.slept(SHORT - 1);
        assert!(!adaptive_spin.is_in_vain());
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
