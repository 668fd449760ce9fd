//! Partitions: moves the elements that go left to the left, in place.
//!
//! It works by blocks from both ends, after S. Edelkamp and A. Weiß, *BlockQuicksort: how branch
//! mispredictions don't affect quicksort* (2016). In a block at either end, it records the places
//! of the elements on the wrong side, without a branch on any comparison. Then the two blocks
//! exchange these elements. Between comparisons, elements are only exchanged, so a comparison that
//! panics loses none.

use crate::looks;
use std::mem::ManuallyDrop;
use std::ptr;

/// The number of elements that are compared before some are exchanged.
const BLOCK: usize = 128;

/// Moves the elements that go left to the front, and returns their number. After each piece it
/// looks whether others want a turn or work.
pub(super) fn partition<T>(slice: &mut [T], piece: usize, goes_left: &impl Fn(&T) -> bool) -> usize {
    let (mut start, mut end) = (0, slice.len());
    // Each round halves the rest, or leaves little.
    while end - start >= 2 * BLOCK {
        let open = &mut slice[start..end];
        let (front, back) = open.split_at_mut(open.len() / 2);
        let (lefts, rights) = exchange(front, back, piece, goes_left);
        start += lefts;
        end -= rights;
    }
    let mut lefts = start;
    for i in start..end {
        let left = goes_left(&slice[i]);
        slice.swap(lefts, i);
        lefts += usize::from(left);
    }
    lefts
}

/// Exchanges elements of `front` that go right with elements of `back` that go left, until less
/// than a block of one of the two is undecided. Returns the numbers of elements that are now right,
/// at the front of `front` and at the back of `back`.
pub(super) fn exchange<T>(
    front: &mut [T],
    back: &mut [T],
    piece: usize,
    goes_left: &impl Fn(&T) -> bool,
) -> (usize, usize) {
    let (fronts, _) = front.as_chunks_mut::<BLOCK>();
    let (_, backs) = back.as_rchunks_mut::<BLOCK>();
    let (mut fronts, mut backs) = (fronts.iter_mut(), backs.iter_mut().rev());
    let (mut front, mut back) = (fronts.next(), backs.next());
    let (mut lefts, mut rights) = (0, 0);
    let (mut in_front, mut in_back) = (Wrong::none(), Wrong::none());
    let mut done = 0;
    while let (Some(front_block), Some(back_block)) = (&mut front, &mut back) {
        if in_front.is_empty() {
            in_front.note(front_block.iter(), |x| !goes_left(x));
        }
        if in_back.is_empty() {
            // From the end of the block backwards: the processor prefetches for accesses in one
            // direction.
            in_back.note(back_block.iter().rev(), goes_left);
        }
        let count = in_front.places().len().min(in_back.places().len());
        // SAFETY: `count` places of each are passed, and they were recorded in increasing order.
        unsafe { rotate(front_block, &in_front.places()[..count], back_block, &in_back.places()[..count]) };
        if in_front.are_right(count) {
            front = fronts.next();
            lefts += BLOCK;
        }
        if in_back.are_right(count) {
            back = backs.next();
            rights += BLOCK;
        }
        if lefts + rights - done >= piece {
            done = lefts + rights;
            looks::after_a_piece();
        }
    }
    (lefts, rights)
}

/// Exchanges elements of two blocks, one for each place; the places of the back block count from
/// its end.
///
/// All elements move in one cycle. Each is moved once, whereas exchanging two takes three moves.
///
/// # Safety
///
/// Both blocks have the same number of places, and no place occurs twice.
#[inline(always)]
unsafe fn rotate<T>(front: &mut [T; BLOCK], fronts: &[u8], back: &mut [T; BLOCK], backs: &[u8]) {
    // The remainders change nothing, and save the bounds checks.
    let at_front = |i: &u8| usize::from(*i) % BLOCK;
    let at_back = |j: &u8| BLOCK - 1 - usize::from(*j) % BLOCK;
    let ([first, later_fronts @ ..], [j, later_backs @ ..]) = (fronts, backs) else { return };
    let mut free = at_back(j);
    // SAFETY: this is an element. It is written to another place before any code can see two copies
    // of it.
    let kept = ManuallyDrop::new(unsafe { ptr::read(&front[at_front(first)]) });
    // SAFETY: these are two elements, and the one that is overwritten is kept.
    unsafe { ptr::copy_nonoverlapping(&back[free], &mut front[at_front(first)], 1) };
    for (i, j) in later_fronts.iter().zip(later_backs) {
        // SAFETY: the element that is overwritten was copied before. It is overwritten only once,
        // because no place occurs twice.
        unsafe { ptr::copy_nonoverlapping(&front[at_front(i)], &mut back[free], 1) };
        free = at_back(j);
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(&back[free], &mut front[at_front(i)], 1) };
    }
    // SAFETY: as above; `kept` is an element that lies nowhere else any more, and is not dropped.
    unsafe { ptr::copy_nonoverlapping(&*kept, &mut back[free], 1) };
}

/// The places of the elements of a block that are on the wrong side.
struct Wrong {
    places: [u8; BLOCK],
    start: usize,
    end: usize,
}

impl Wrong {
    fn none() -> Self {
        Wrong { places: [0; BLOCK], start: 0, end: 0 }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn places(&self) -> &[u8] {
        &self.places[self.start..self.end]
    }

    /// Records the places of a block.
    #[inline(always)]
    fn note<'a, T: 'a>(
        &mut self,
        block: impl ExactSizeIterator<Item = &'a T>,
        is_wrong: impl Fn(&T) -> bool,
    ) {
        let mut count = 0;
        for (i, x) in block.take(BLOCK).enumerate() {
            // SAFETY: `count` is at most `i`, which is less than `BLOCK`.
            let place = unsafe { self.places.get_unchecked_mut(count) };
            *place = i as u8;
            count += usize::from(is_wrong(x));
        }
        (self.start, self.end) = (0, count);
    }

    /// Removes the first `count` places. Returns `true` if no others are left.
    fn are_right(&mut self, count: usize) -> bool {
        self.start += count;
        self.is_empty()
    }
}
