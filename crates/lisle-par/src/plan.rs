//! How a loop is divided.

use std::num::NonZeroUsize;
use std::panic::Location;

/// How a loop is divided, and on behalf of which call it runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// The number of steps between two checks whether another domain wants work. With `None`, the
    /// number is measured, so that the steps take some microseconds.
    pub(crate) grain: Option<NonZeroUsize>,
    /// The least and the greatest number of steps in a piece, see [`Limits`].
    pub(crate) least: Option<NonZeroUsize>,
    pub(crate) most: Option<NonZeroUsize>,
    /// Whether to divide by the number of steps and the grain alone. Then the order of all merges
    /// is the same on any number of domains.
    pub(crate) fixed: bool,
    /// The call on behalf of which the library runs the loop, if the library itself calls it.
    pub(crate) site: Option<&'static Location<'static>>,
}

impl Plan {
    pub(crate) fn limits(&self) -> Limits {
        let least = self.least.map_or(1, Into::into);
        Limits { least, most: self.most.map_or(usize::MAX, |most| most.get().max(least)) }
    }
}

/// The least and the greatest number of steps in a piece.
///
/// A piece is a range of neighbouring steps with one accumulator. If there is no greatest number, a
/// piece has all the steps that one domain runs in a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { least: 1, most: usize::MAX }
    }
}

impl Limits {
    /// Returns `true` if each block is a piece by itself.
    #[inline]
    pub(crate) fn are_pieces(&self) -> bool {
        self.most != usize::MAX
    }

    /// Returns the number of steps of a block that were better `steps`.
    #[inline]
    pub(crate) fn block(&self, steps: usize) -> usize {
        // A block that is no piece may be as short as it should be.
        if self.are_pieces() { steps.clamp(self.least, self.most) } else { steps }
    }

    /// Returns the number of steps of the next block of a rest of `left`, if `block` were better. If
    /// it is a piece, the rest after it is empty or no less than the least piece. So the piece may
    /// have more steps than the greatest one.
    pub(crate) fn piece(&self, block: usize, left: usize) -> usize {
        let block = self.block(block).min(left);
        if !self.are_pieces() || block == left || left - block >= self.least {
            return block;
        }
        if left / 2 >= self.least { left - self.least } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn pieces_are_within_the_limits_as_far_as_possible() {
        let limits = Limits { least: 10, most: 15 };
        assert_eq!(limits.piece(1, 100), 10);
        assert_eq!(limits.piece(100, 100), 15);
        for len in 0..200 {
            let (mut left, mut pieces) = (len, Vec::new());
            while left > 0 {
                let piece = limits.piece(12, left);
                pieces.push(piece);
                left -= piece;
            }
            // As in rayon, the least number counts if both cannot be kept.
            assert!(pieces.iter().all(|&piece| (10..20).contains(&piece) || len < 10), "{pieces:?}");
        }
        assert_eq!(Limits { least: 1, most: 4 }.piece(7, 5), 4);
        assert_eq!(Limits { least: 10, ..Limits::default() }.piece(3, 5), 3);
    }
}
