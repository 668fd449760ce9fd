//! How long one performer, or all, have waited.

use super::longest::Longest;
use hdrhistogram::Histogram;

/// Waits, in nanoseconds.
pub(crate) struct Waits {
    all: Histogram<u64>,
    longest: Longest,
}

impl Waits {
    /// For waits from a nanosecond to longer than a sample may take, to two digits. Its memory is
    /// there from the beginning.
    pub(crate) fn new() -> Self {
        let all = Histogram::new_with_bounds(1, 4_000_000_000_000, 2).expect("the bounds are in order");
        Waits { all, longest: Longest::default() }
    }

    #[inline]
    pub(crate) fn note(&mut self, wait: u64) {
        self.all.saturating_record(wait);
        self.longest.note(wait);
    }

    /// Adds the waits of another performer.
    pub(crate) fn merge(&mut self, other: &Waits) {
        self.all.add(&other.all).expect("they are alike");
        self.longest.merge(&other.longest);
    }

    /// The time that `percent` in a hundred waits do not exceed; `None` if nobody has waited.
    pub(crate) fn percentile(&self, percent: f64) -> Option<u64> {
        // One of few is the longest of them, which the histogram has rounded.
        let most = self.longest.times().next()?;
        Some(self.all.value_at_percentile(percent).clamp(1, most))
    }

    /// The longest of them, the longest first.
    pub(crate) fn longest(&self) -> impl Iterator<Item = u64> {
        self.longest.times()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_all_are_put_together() {
        let (mut some, mut others) = (Waits::new(), Waits::new());
        assert_eq!((some.percentile(50.0), some.longest().next()), (None, None));
        (1..=50).for_each(|wait| some.note(wait));
        (51..=100).for_each(|wait| others.note(wait));
        some.merge(&others);
        assert_eq!(
            [50.0, 90.0, 100.0].map(|percent| some.percentile(percent)),
            [Some(50), Some(90), Some(100)]
        );
        assert_eq!(some.longest().collect::<Vec<_>>(), [100, 99, 98, 97]);
    }

    /// The histogram has 2 digits, the longest wait all.
    #[test]
    fn no_percentile_is_longer_than_the_longest() {
        let mut waits = Waits::new();
        waits.note(1_234_567);
        assert_eq!(waits.percentile(99.99), Some(1_234_567));
    }
}
