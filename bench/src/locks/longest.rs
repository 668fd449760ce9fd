//! The four longest of many times.

/// How many are kept.
pub(crate) const KEPT: usize = 4;

/// The longest times so far, in nanoseconds, the longest first; 0 where there were fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Longest([u64; KEPT]);

impl Longest {
    /// Returns `true` if a time as long as this one would be kept.
    #[inline]
    pub(crate) fn would_keep(&self, time: u64) -> bool {
        time > self.0[KEPT - 1]
    }

    #[inline]
    pub(crate) fn note(&mut self, time: u64) {
        if self.would_keep(time) {
            self.insert(time);
        }
    }

    #[cold]
    fn insert(&mut self, time: u64) {
        self.0[KEPT - 1] = time;
        self.0.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Keeps the longest of both.
    pub(crate) fn merge(&mut self, other: &Longest) {
        other.0.iter().for_each(|&time| self.note(time));
    }

    /// The times noted so far.
    pub(crate) fn times(&self) -> impl Iterator<Item = u64> {
        self.0.into_iter().take_while(|&time| time > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_longest_are_kept_in_order() {
        let mut longest = Longest::default();
        assert_eq!(longest.times().count(), 0);
        for time in [3, 9, 1, 7, 7, 2, 8] {
            longest.note(time);
        }
        assert_eq!(longest.times().collect::<Vec<_>>(), [9, 8, 7, 7]);
        assert!(!longest.would_keep(7) && longest.would_keep(8));
        let mut other = Longest::default();
        other.note(10);
        other.merge(&longest);
        assert_eq!(other.times().collect::<Vec<_>>(), [10, 9, 8, 7]);
    }
}
