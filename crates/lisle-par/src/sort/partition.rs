//! Partitions: what is to go left is brought to the left, in place.
//!
//! By blocks from both ends, after S. Edelkamp and A. Weiß, *BlockQuicksort: how branch mispredictions don't affect
//! quicksort* (2016). In a block at either end the places of those elements are noted that are on the wrong side,
//! without a branch on any comparison, and then the two blocks exchange them. Between comparisons elements are
//! exchanged and nothing else is done to them: a comparison that panics loses none.

use std::mem::ManuallyDrop;
use std::ptr;

/// How many elements are looked at before some are exchanged.
const BLOCK: usize = 128;

/// Brings those elements to the front that are to go left; says how many they are.
pub(super) fn partition<T>(slice: &mut [T], goes_left: &impl Fn(&T) -> bool) -> usize {
    let (mut start, mut end) = (0, slice.len());
    // Each round leaves about half of the rest, or little.
    while end - start >= 2 * BLOCK {
        let open = &mut slice[start..end];
        let (front, back) = open.split_at_mut(open.len() / 2);
        let (lefts, rights) = exchange(front, back, goes_left);
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

/// Exchanges elements of `front` that are to go right with elements of `back` that are to go left, until less than a
/// block of one of the two is in doubt. Says how many now are right, at the front of `front` and at the back of
/// `back`.
pub(super) fn exchange<T>(
    front: &mut [T],
    back: &mut [T],
    goes_left: &impl Fn(&T) -> bool,
) -> (usize, usize) {
    let (fronts, _) = front.as_chunks_mut::<BLOCK>();
    let (_, backs) = back.as_rchunks_mut::<BLOCK>();
    let (mut fronts, mut backs) = (fronts.iter_mut(), backs.iter_mut().rev());
    let (mut front, mut back) = (fronts.next(), backs.next());
    let (mut lefts, mut rights) = (0, 0);
    let (mut in_front, mut in_back) = (Wrong::none(), Wrong::none());
    while let (Some(front_block), Some(back_block)) = (&mut front, &mut back) {
        if in_front.is_empty() {
            in_front.note(front_block.iter(), |x| !goes_left(x));
        }
        if in_back.is_empty() {
            // From its end on: the processor fetches ahead of those who go in one direction.
            in_back.note(back_block.iter().rev(), goes_left);
        }
        let count = in_front.places().len().min(in_back.places().len());
        // SAFETY: `count` places of each, which were noted in order.
        unsafe { rotate(front_block, &in_front.places()[..count], back_block, &in_back.places()[..count]) };
        if in_front.are_right(count) {
            front = fronts.next();
            lefts += BLOCK;
        }
        if in_back.are_right(count) {
            back = backs.next();
            rights += BLOCK;
        }
    }
    (lefts, rights)
}

/// Exchanges elements of two blocks, as many as there are places; those of the back one count from its end.
///
/// All in one cycle: so each element is moved once, where to exchange two takes three moves.
///
/// # Safety
///
/// There are as many places of the one as of the other, and none occurs twice.
#[inline(always)]
unsafe fn rotate<T>(front: &mut [T; BLOCK], fronts: &[u8], back: &mut [T; BLOCK], backs: &[u8]) {
    // The remainders change nothing, and spare the checks.
    let at_front = |i: &u8| usize::from(*i) % BLOCK;
    let at_back = |j: &u8| BLOCK - 1 - usize::from(*j) % BLOCK;
    let ([first, later_fronts @ ..], [j, later_backs @ ..]) = (fronts, backs) else { return };
    let mut free = at_back(j);
    // SAFETY: this is an element. It is written to another place before anybody can see that there are two of it.
    let kept = ManuallyDrop::new(unsafe { ptr::read(&front[at_front(first)]) });
    // SAFETY: these are two elements, and the one that is overwritten is kept.
    unsafe { ptr::copy_nonoverlapping(&back[free], &mut front[at_front(first)], 1) };
    for (i, j) in later_fronts.iter().zip(later_backs) {
        // SAFETY: what is overwritten was copied already, and only once, since no place occurs twice.
        unsafe { ptr::copy_nonoverlapping(&front[at_front(i)], &mut back[free], 1) };
        free = at_back(j);
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(&back[free], &mut front[at_front(i)], 1) };
    }
    // SAFETY: as above; `kept` is an element that lies nowhere else by now, and is not dropped.
    unsafe { ptr::copy_nonoverlapping(&*kept, &mut back[free], 1) };
}

/// Where in a block there are elements on the wrong side.
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

    /// Notes those of a block.
    #[inline(always)]
    fn note<'a, T: 'a>(
        &mut self,
        block: impl ExactSizeIterator<Item = &'a T>,
        is_wrong: impl Fn(&T) -> bool,
    ) {
        let mut count = 0;
        for (i, x) in block.take(BLOCK).enumerate() {
            // SAFETY: `count` is at most `i`, and that is less than `BLOCK`.
            let place = unsafe { self.places.get_unchecked_mut(count) };
            *place = i as u8;
            count += usize::from(is_wrong(x));
        }
        (self.start, self.end) = (0, count);
    }

    /// Crosses the first ones out; are there no others?
    fn are_right(&mut self, count: usize) -> bool {
        self.start += count;
        self.is_empty()
    }
}
