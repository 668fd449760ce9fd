//! Loops that are divided at random places, and whose parts are run in random order.

use crate::iter::{At, Consumer, Part};
use crate::shim::random::Random;
use std::cell::Cell;

thread_local! {
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs `f` with all of its loops divided in a way that `seed` determines.
pub(super) fn divided<R>(seed: u64, f: impl FnOnce() -> R) -> R {
    /// Restores the seed, also after a panic.
    struct Undo(Option<u64>);
    impl Drop for Undo {
        fn drop(&mut self) {
            SEED.set(self.0);
        }
    }
    let _undo = Undo(SEED.replace(Some(seed)));
    f()
}

/// Returns the source of randomness for dividing the next loop, if it is to be divided at random.
pub(in crate::iter) fn random() -> Option<Random> {
    let seed = SEED.get()?;
    SEED.set(Some(seed.wrapping_add(1)));
    Some(Random::seeded(seed))
}

/// Checks how the `len` steps of a part have been divided. The steps of a bridge that has ended are
/// gone.
fn check_lengths<P: Part>(front: &P, rest: &P, at: usize, len: usize) {
    let lens = (front.len(), rest.len());
    assert!(lens.0 <= at && lens.1 <= len - at, "{len} steps at {at}: {lens:?}");
}

/// Feeds all items of `part` to `consumer`.
pub(in crate::iter) fn drive<P: Part, C: Consumer<Item = P::Item>>(
    part: P,
    consumer: &C,
    random: &Random,
) -> C::Acc {
    // Some loops are not divided at all, and some are divided into as many parts as there are
    // steps.
    let wildness = random.next() % 4;
    go(part, consumer, consumer.begin(), 0, random, wildness)
}

fn go<P: Part, C: Consumer<Item = P::Item>>(
    mut part: P,
    consumer: &C,
    mut acc: C::Acc,
    mut at: usize,
    random: &Random,
    wildness: u64,
) -> C::Acc {
    while !consumer.is_done(&acc, At::outermost(at)) {
        if random.next().is_multiple_of(2) {
            let needless = consumer.needless(At::outermost(at)).min(part.len());
            (_, part) = part.split_at(needless);
            at += needless;
        }
        let len = part.len();
        // Mostly near the ends, where mistakes are likely.
        let within = match random.next() % 4 {
            0 => len.min(1),
            1 => len.saturating_sub(1),
            2 => len,
            _ => random.next() as usize % len.saturating_add(1),
        };
        if random.next() % 4 < wildness && len > 0 {
            let (front, rest) = part.split_at(within);
            check_lengths(&front, &rest, within, len);
            // What comes after the two parts may be fed on top of their merged result.
            let second = if random.next().is_multiple_of(4) { rest.len() / 2 } else { rest.len() };
            let (back, rest) = rest.split_at(second);
            let go_on = |acc, part, at| go(part, consumer, acc, at, random, wildness);
            let (left, right) = if random.next().is_multiple_of(2) {
                let left = go_on(acc, front, at);
                (left, go_on(consumer.begin(), back, at + within))
            } else {
                let right = go_on(consumer.begin(), back, at + within);
                (go_on(acc, front, at), right)
            };
            acc = consumer.merge(left, right);
            (part, at) = (rest, at + within + second);
            if part.is_empty() {
                break;
            }
            continue;
        }
        // A block, which may have no steps.
        let (block, rest) = part.split_at(within);
        check_lengths(&block, &rest, within, len);
        acc = consumer.feed(acc, At::outermost(at), block.items());
        (part, at) = (rest, at + within);
        if part.is_empty() {
            break;
        }
    }
    // Dropped before the return: if this panicked at the end of the scope, the value that is
    // returned would not be dropped.
    drop(part);
    acc
}
