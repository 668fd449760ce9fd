//! A loop whose schedule a model decides.
//!
//! The loop is divided into parts of neighbouring blocks, down to single blocks if the model allows
//! as many parts. Each part that could go to another domain is taken at once (`loops/modelled.rs`
//! of `lisle-runtime`). These parts can do all that the steps of a loop with fewer parts could do
//! one after the other. They do not show a state that several steps of one part share, nor the
//! orders in which values are merged. A model that wants to see these divides the loop in each way.
//!
//! Before it begins, a part checks whether another one has panicked, as a block does. Operations of
//! other parts can come before this check.

use super::Loop;
use crate::at::At;
use crate::consumer::Consumer;
use crate::event::{gone, visible_on};
use crate::join::join_by_reference;
use crate::kept::without;
use crate::part::Part;
use crate::shim::atomic::Ordering;
use crate::{modelled, owner};

/// Feeds `part` on top of `acc`, which is of no steps.
pub(super) fn run<P: Part, C: Consumer<Item = P::Item>>(
    part: P,
    looping: &Loop<'_, C>,
    is_fixed: bool,
    acc: C::Acc,
) -> C::Acc {
    // If no part can be given away, there is no part to choose either.
    let parts = if modelled::takes_all(owner::pending()) { modelled::most_parts() } else { 1 };
    let acc = divided(part, looping, 0, acc, parts, is_fixed);
    // Another loop may come to the same place.
    gone(&looping.stop);
    acc
}

fn divided<P: Part, C: Consumer<Item = P::Item>>(
    part: P,
    looping: &Loop<'_, C>,
    at: usize,
    acc: C::Acc,
    parts: usize,
    is_fixed: bool,
) -> C::Acc {
    let (grain, blocks) = match looping.grain {
        Some(grain) => (grain, part.len().div_ceil(grain)),
        // The last of these has the steps that are left over.
        None => (looping.limits.least, part.len() / looping.limits.least),
    };
    let division = match blocks {
        0 | 1 => None,
        // A loop whose order of merges is fixed is divided as it always is.
        _ if is_fixed => Some(blocks / 2),
        _ if parts > 1 => modelled::division(blocks),
        _ => None,
    };
    let Some(first) = division else { return feed(part, looping, at, acc) };
    let middle = first * grain;
    let (front, back) = part.split_at(middle);
    let for_front = (parts * first / blocks).clamp(1, parts.saturating_sub(1).max(1));
    let for_back = parts.saturating_sub(for_front).max(1);
    let (left, right) = join_by_reference(
        || divided(front, looping, at, acc, for_front, is_fixed),
        || {
            let begun = looping.consumer.begin();
            looping.consumer.end(divided(back, looping, at + middle, begun, for_back, is_fixed))
        },
        looping.site,
    );
    looping.merge(left, right)
}

/// Feeds a part that is not divided any further: as one block, unless the loop has said how long a
/// block or a piece is.
fn feed<P: Part, C: Consumer<Item = P::Item>>(
    mut part: P,
    looping: &Loop<'_, C>,
    mut at: usize,
    mut acc: C::Acc,
) -> C::Acc {
    loop {
        visible_on(&looping.stop);
        part = looping.needed(part, &mut at);
        let left = part.len();
        if left == 0
            || looping.stop.load(Ordering::Relaxed)
            || looping.consumer.is_done(&acc, At::outermost(at))
        {
            return without(acc, part);
        }
        let block = looping.limits.piece(looping.grain.unwrap_or(left), left);
        let (now, rest) = part.split_at(block);
        acc = looping.or_stop(|| looping.feed(acc, at, now));
        if block == left {
            return without(acc, rest);
        }
        at += block;
        part = rest;
    }
}
