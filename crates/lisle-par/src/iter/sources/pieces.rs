//! Data that a function divides.

use super::vec::{self, Moved};
use crate::domains;
use crate::iter::shown::shown;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Plan};
use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;

/// The number of pieces for each domain, so that the domains are busy although pieces take unequal
/// times.
const PIECES: usize = 16;

/// Creates an iterator over pieces of `data`, which `splitter` divides in two until there are enough
/// pieces. `splitter` returns its argument and `None` if it cannot be divided.
///
/// This is for data that no other source knows how to divide. There are some pieces for each domain,
/// in order; how many exactly is not said, so what a loop does must not depend on it. The data is
/// divided before the loop begins, on one domain.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// /// Divides a rectangle along its longer side.
/// fn halves((width, height): (u32, u32)) -> ((u32, u32), Option<(u32, u32)>) {
///     match width.max(height) {
///         ..=1 => ((width, height), None),
///         _ if width >= height => ((width / 2, height), Some((width - width / 2, height))),
///         _ => ((width, height / 2), Some((width, height - height / 2))),
///     }
/// }
///
/// let area: u32 = iter::split((640, 480), halves).map(|(width, height)| width * height).sum();
/// assert_eq!(area, 640 * 480);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data: Some(data), splitter, pieces: Vec::new().into_par_iter() }
}

/// See [`split`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct Split<D, S> {
    /// Taken when the loop begins.
    data: Option<D>,
    splitter: S,
    pieces: vec::IntoIter<D>,
}

shown!([D: fmt::Debug, S] Split<D, S>, "Split", data);

/// Divides `data` into about `count` pieces, the first pieces first.
fn divided<D>(data: D, splitter: impl Fn(D) -> (D, Option<D>), count: usize) -> Vec<D> {
    /// A piece, and whether it can perhaps be divided.
    struct Piece<D>(D, bool);
    let mut pieces = VecDeque::from([Piece(data, true)]);
    let mut is_changed = true;
    // Each round divides each piece once.
    while is_changed && pieces.len() < count {
        is_changed = false;
        for _ in 0..pieces.len() {
            let Some(Piece(data, is_divisible)) = pieces.pop_front() else { break };
            if !is_divisible {
                pieces.push_back(Piece(data, false));
                continue;
            }
            let (left, right) = splitter(data);
            is_changed |= right.is_some();
            pieces.push_back(Piece(left, right.is_some()));
            pieces.extend(right.map(|right| Piece(right, true)));
        }
    }
    pieces.into_iter().map(|Piece(data, _)| data).collect()
}

impl<D: Send, S: Fn(D) -> (D, Option<D>) + Sync + Send> ParallelIterator for Split<D, S> {
    type Item = D;
    type Part<'a>
        = Moved<'a, D>
    where
        Self: 'a;

    fn part(&mut self) -> Moved<'_, D> {
        if let Some(data) = self.data.take() {
            self.pieces = divided(data, &self.splitter, PIECES * domains()).into_par_iter();
        }
        self.pieces.exact()
    }

    /// A piece may take long.
    fn plan(&self) -> Plan {
        Plan { grain: Some(NonZeroUsize::MIN), ..Plan::default() }
    }
}
