//! Loops that are divided where the fuzzer says, and whose parts are run one after the other, in
//! the order that it says.

use crate::erased::Exact;
use crate::iter::{Consumer, ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use lisle_fuzz::Draw;

/// An iterator that may run its loop itself.
pub(crate) struct Divided<I> {
    base: I,
    /// How it is divided, unless that is the library's business.
    bytes: Option<Vec<u8>>,
    /// Whether it tells how many items there are: collected items are then written to their places.
    tells: bool,
}

impl<I> Divided<I> {
    pub(crate) fn new(base: I, bytes: Option<Vec<u8>>, tells: bool) -> Self {
        Divided { base, bytes, tells }
    }
}

impl<I: ParallelIterator> ParallelIterator for Divided<I> {
    type Item = I::Item;
    type Part<'a>
        = I::Part<'a>
    where
        Self: 'a;

    fn part(&mut self) -> I::Part<'_> {
        self.base.part()
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    fn exact_len(&self) -> Option<usize> {
        if self.tells { self.base.exact_len() } else { None }
    }

    fn drive<C: Consumer<Item = I::Item>>(mut self, consumer: &C, plan: Plan) -> C::Acc {
        let Some(bytes) = self.bytes else { return self.base.drive(consumer, plan) };
        let draw = &mut Draw::new(&bytes, bytes.len());
        consumer.end(fed(draw, 0, self.base.part(), consumer, consumer.begin(), 0))
    }
}

/// Feeds all of `part`, whose first step has the number `at`, on top of `acc`, and returns the
/// result.
fn fed<P: Part, C: Consumer<Item = P::Item>>(
    draw: &mut Draw<'_>,
    depth: usize,
    part: P,
    consumer: &C,
    mut acc: C::Acc,
    mut at: usize,
) -> C::Acc {
    let mut left = part;
    while !left.is_empty() && !consumer.is_done(&acc, at) {
        let len = left.len();
        let what = if depth < 12 { draw.below(6) } else { 0 };
        // Also at the ends, where mistakes are.
        let count = [draw.below(len + 1), len, 1, len - 1, len / 2][draw.below(5)];
        let (first, rest) = left.split_at(count);
        assert_eq!((first.len(), rest.len()), (count, len - count));
        match what {
            // A block, which may have no steps.
            0..=2 => {
                acc = consumer.feed(acc, at, first.items());
                (left, at) = (rest, at + count);
            }
            // Halves, one after the other.
            3 => {
                let first = fed(draw, depth + 1, first, consumer, acc, at);
                let rest = consumer.end(fed(draw, depth + 1, rest, consumer, consumer.begin(), at + count));
                return consumer.merge(first, rest);
            }
            // The second half first, as if somebody else were faster.
            4 => {
                let rest = consumer.end(fed(draw, depth + 1, rest, consumer, consumer.begin(), at + count));
                let first = fed(draw, depth + 1, first, consumer, acc, at);
                return consumer.merge(first, rest);
            }
            // A part of the rest; more is fed on top of the merged result.
            _ => {
                let second = rest.len() / 2;
                let (middle, rest) = rest.split_at(second);
                let middle =
                    consumer.end(fed(draw, depth + 1, middle, consumer, consumer.begin(), at + count));
                let first = fed(draw, depth + 1, first, consumer, acc, at);
                acc = consumer.merge(first, middle);
                (left, at) = (rest, at + count + second);
            }
        }
    }
    acc
}

/// Each piece gives its items, forwards and backwards.
pub(crate) fn parts_agree(draw: &mut Draw<'_>, mut iter: Exact, items: &[i64]) {
    assert_eq!(iter.len(), items.len());
    pieces_agree(draw, iter.exact(), items, 0);
}

fn pieces_agree<P: ExactPart<Item = i64>>(draw: &mut Draw<'_>, part: P, items: &[i64], depth: usize) {
    assert_eq!((part.len(), part.is_empty()), (items.len(), items.is_empty()));
    match draw.below(4) {
        0 => assert!(part.items().eq(items.iter().copied())),
        1 => assert!(part.back().eq(items.iter().rev().copied())),
        _ if depth == 12 => {}
        _ => {
            let at = draw.below(items.len() + 1);
            let (left, right) = part.split_at(at);
            pieces_agree(draw, left, &items[..at], depth + 1);
            pieces_agree(draw, right, &items[at..], depth + 1);
        }
    }
}
