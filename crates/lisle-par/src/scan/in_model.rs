//! A scan whose schedule a model decides.
//!
//! The participants of [`chain`](super::chain) look whether the carry into a chunk has come, and
//! add the chunk up first if it has not: time decides. A model would have to try both outcomes of
//! each look, although these decide only how the sums are associated. Here one order of looks is
//! fixed, as if a participant for each chunk began at once. The first chunk is scanned while all
//! others are added up. Then the carries are handed on from chunk to chunk. Then the others are
//! scanned. The calls that run at the same time in a phase are the halves of a join, which a model
//! interleaves. So each call of the operation for one chunk meets the calls for each other chunk,
//! and a scan whose operations touch no shared state costs one execution.
//!
//! A model that wants to see how sums are associated decides for each chunk but the first whether
//! it is added up, or waits for its carry and is scanned at once.

use super::chain::Form;
use crate::join_within as join;
use crate::modelled;

/// A chunk, and its sum once it has been added up.
struct Chunk<S: Form> {
    piece: S::Piece,
    is_added_up: bool,
    sum: Option<S::Item>,
}

/// A chunk that is scanned next, with the carry into it.
type Known<S> = Option<(<S as Form>::Piece, Option<<S as Form>::Item>)>;

/// Returns the number of parts that a scan may have.
pub(super) fn most_parts() -> usize {
    if modelled::takes_all() { modelled::most_parts() } else { 1 }
}

/// Scans chunks. `carry` is the sum of all elements before, if there are any. Returns the sum of
/// all elements, if the form asks for it. If `is_fixed`, all sums are sums of whole chunks.
pub(super) fn scan<S: Form>(
    form: &S,
    pieces: impl Iterator<Item = S::Piece>,
    carry: Option<S::Item>,
    is_fixed: bool,
) -> Option<S::Item> {
    let parts = most_parts();
    let is_added_up = |number| is_fixed || number > 0 && parts > 1 && modelled::division(2).is_some();
    let chunks = pieces.enumerate();
    let chunks = chunks.map(|(number, piece)| Chunk { piece, is_added_up: is_added_up(number), sum: None });
    let mut chunks: Vec<Chunk<S>> = chunks.collect();
    if is_fixed {
        add_up(form, &mut chunks, parts);
        return hand_on(form, chunks, carry, parts);
    }
    let mut others = chunks.split_off(1);
    let first = chunks.pop().expect("a scan has a chunk");
    let goes_on = S::TOTAL || !others.is_empty();
    let (carry, ()) = join(|| form.scan(first.piece, carry, goes_on), || add_up(form, &mut others, parts));
    hand_on(form, others, carry, parts)
}

/// Adds up the chunks for which this was decided, in at most `parts` parts.
fn add_up<S: Form>(form: &S, chunks: &mut [Chunk<S>], parts: usize) {
    in_parts(chunks, parts, &|chunk| {
        if chunk.is_added_up {
            chunk.sum = form.sum(&chunk.piece, || false);
        }
    });
}

/// Hands the carry on through all chunks, and scans the chunks that were added up once their
/// carries are known. Returns the carry out of the last chunk, if the form asks for it.
fn hand_on<S: Form>(
    form: &S,
    chunks: Vec<Chunk<S>>,
    mut carry: Option<S::Item>,
    parts: usize,
) -> Option<S::Item> {
    let count = chunks.len();
    let mut earlier: Vec<Known<S>> = Vec::new();
    for (number, Chunk { piece, is_added_up, sum }) in chunks.into_iter().enumerate() {
        let goes_on = S::TOTAL || number + 1 < count;
        if !is_added_up {
            let before = carry.take();
            (carry, ()) = join(|| form.scan(piece, before, goes_on), || scan_all(form, &mut earlier, parts));
            earlier.clear();
            continue;
        }
        let sum = sum.filter(|_| goes_on);
        let next = sum.map(|sum| match &carry {
            Some(carry) => form.sums(carry, &sum),
            None => sum,
        });
        earlier.push(Some((piece, std::mem::replace(&mut carry, next))));
    }
    scan_all(form, &mut earlier, parts);
    carry
}

/// Scans chunks whose carries are known, in at most `parts` parts.
fn scan_all<S: Form>(form: &S, chunks: &mut [Known<S>], parts: usize) {
    in_parts(chunks, parts, &|chunk| {
        let (piece, carry) = chunk.take().expect("a chunk is scanned once");
        form.scan(piece, carry, false);
    });
}

/// Calls `each` with each chunk, in at most `parts` parts.
fn in_parts<C: Send>(chunks: &mut [C], parts: usize, each: &(impl Fn(&mut C) + Sync)) {
    if parts < 2 || chunks.len() < 2 {
        return chunks.iter_mut().for_each(each);
    }
    let (chunks, later) = chunks.split_at_mut(chunks.len() / 2);
    join(|| in_parts(chunks, parts / 2, each), || in_parts(later, parts - parts / 2, each));
}
