//! Parallel iterators over ranges that are removed from a string.

use super::cuts::CutPart;
use super::str::forms::{ByChars, Text};
use crate::iter::drain::checked;
use crate::iter::{ParallelDrainRange, ParallelIterator};
use std::ops::{Range, RangeBounds};

/// See [`par_drain`](ParallelDrainRange::par_drain).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Drain<'data> {
    string: &'data mut String,
    range: Range<usize>,
}

impl<'data> ParallelDrainRange<usize> for &'data mut String {
    type Iter = Drain<'data>;
    type Item = char;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data> {
        let range = checked(range, self.len());
        let Range { start, end } = range;
        let is_whole = self.is_char_boundary(start) && self.is_char_boundary(end);
        assert!(is_whole, "the range {start}..{end} of a string must begin and end at a character");
        Drain { string: self, range }
    }
}

impl ParallelIterator for Drain<'_> {
    type Item = char;
    type Part<'a>
        = CutPart<Text<'a, ByChars>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        CutPart::new(Text { text: &self.string[self.range.clone()], from: 0, form: ByChars })
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.string.drain(self.range.clone());
    }
}
