//! A loop that is divided before it runs, and not as other domains want work: by the number of steps
//! and the grain alone if the order of its merges is fixed, or as a model decides.
//!
//! In a model, the loop is divided into parts of neighbouring blocks, down to single blocks if the
//! model allows as many parts. Each part that could go to another domain is taken at once
//! (`loops/modelled.rs` of `lisle-runtime`). These parts can do all that the steps of a loop with
//! fewer parts could do one after the other. They do not show a state that several steps of one part
//! share, nor the orders in which values are merged. A model that wants to see these divides the
//! loop in each way.
//!
//! Before it begins, a part checks whether another one has panicked, as a block does. Operations of
//! other parts can come before this check.

use super::{Loop, Terms};
use crate::at::At;
use crate::consumer::Consumer;
use crate::event::{gone, is_modelled, visible_on};
use crate::join::join_by_reference;
use crate::kept::without;
use crate::modelled;
use crate::part::Part;

/// Feeds `part` on top of `acc`, which is of no steps.
#[inline]
pub(super) fn run<P: Part, C: Consumer<Item = P::Item>>(
    part: P,
    looping: &Loop<'_, C>,
    acc: C::Acc,
) -> C::Acc {
    let acc = divided(part, looping, 0, acc, most_parts());
    // Another loop may come to the same place.
    gone(&looping.terms.stop);
    acc
}

/// Returns the number of parts into which a model divides the loop, if this runs in one.
fn most_parts() -> Option<usize> {
    // If no part can be given away, there is no part to choose either.
    let most = || if modelled::takes_all() { modelled::most_parts() } else { 1 };
    is_modelled().then(most)
}

fn divided<P: Part, C: Consumer<Item = P::Item>>(
    part: P,
    looping: &Loop<'_, C>,
    at: usize,
    acc: C::Acc,
    parts: Option<usize>,
) -> C::Acc {
    let Some(division) = looping.terms.divide(part.len(), parts) else {
        return feed(part, looping, at, acc, parts.is_some());
    };
    // Nothing is gained by dividing steps that need not be fed. In a model, each part looks for itself.
    if parts.is_none() {
        let place = At::outermost(at);
        let consumer = looping.consumer;
        if looping.terms.is_stopped()
            || consumer.is_done(&acc, place)
            || consumer.needless(place) >= part.len()
        {
            return without(acc, part);
        }
    }
    let Division { middle, parts: [for_front, for_back] } = division;
    let (front, back) = part.split_at(middle);
    let (left, right) = join_by_reference(
        || divided(front, looping, at, acc, for_front),
        || {
            let begun = looping.consumer.begin();
            looping.consumer.end(divided(back, looping, at + middle, begun, for_back))
        },
        looping.terms.site,
    );
    looping.merge(left, right)
}

/// The halves of a part.
struct Division {
    /// The number of steps of the first half.
    middle: usize,
    /// The numbers of parts into which a model divides the halves in turn.
    parts: [Option<usize>; 2],
}

impl Terms {
    /// Divides `len` steps, of which a model would make `parts` parts, into halves of whole blocks.
    /// Returns `None` if they stay together.
    #[inline]
    fn divide(&self, len: usize, parts: Option<usize>) -> Option<Division> {
        let grain = self.grain.unwrap_or(self.limits.least);
        let blocks = match self.is_fixed || self.grain.is_some() {
            true => len.div_ceil(grain),
            // The last of these has the steps that are left over.
            false => len / grain,
        };
        let first = match blocks {
            0 | 1 => return None,
            // A loop whose order of merges is fixed is divided in a model as it always is.
            _ if self.is_fixed => blocks / 2,
            _ if parts? > 1 => modelled::division(blocks)?,
            _ => return None,
        };
        let parts = match parts {
            None | Some(1) => [parts; 2],
            Some(parts) => {
                let for_front = (parts * first / blocks).clamp(1, parts - 1);
                [Some(for_front), Some(parts - for_front)]
            }
        };
        Some(Division { middle: first * grain, parts })
    }
}

/// Feeds a part that is not divided any further: as one block, unless the loop has said how long a
/// block or a piece is.
fn feed<P: Part, C: Consumer<Item = P::Item>>(
    mut part: P,
    looping: &Loop<'_, C>,
    mut at: usize,
    mut acc: C::Acc,
    is_modelled: bool,
) -> C::Acc {
    loop {
        if is_modelled {
            visible_on(&looping.terms.stop);
        }
        part = looping.needed(part, &mut at);
        let left = part.len();
        if left == 0 || looping.terms.is_stopped() || looping.consumer.is_done(&acc, At::outermost(at)) {
            return without(acc, part);
        }
        let block = looping.terms.limits.piece(looping.terms.grain.unwrap_or(left), left);
        if block == left {
            return looping.or_stop(|| looping.feed(acc, at, part));
        }
        let (now, rest) = part.split_at(block);
        acc = looping.or_stop(|| looping.feed(acc, at, now));
        at += block;
        part = rest;
    }
}
