//! Sorting by expensive keys: each key is computed once.

use super::merge::copy;
use super::order::Natural;
use super::passes::Places;
use super::quick;
use super::sizes::Sizes;
use crate::join_within as join;
use crate::{looks, owner, within};
use std::mem::{MaybeUninit, forget};
use std::ptr;

/// Sorts by a key of each element, divided to suit these sizes; elements with
/// equal keys keep their order.
pub(super) fn sort<T, K, F>(slice: &mut [T], key: &F, sizes: Sizes)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    let _within = within::enter(owner::pending());
    looks::begin();
    if u32::try_from(slice.len()).is_ok() {
        sort_by_number(
            slice,
            &|element, number| (key(element), number as u32),
            |number| number as usize,
            sizes,
        );
    } else {
        sort_by_number(slice, &|element, number| (key(element), number), |number| number, sizes);
    }
}

/// Sorts the keys along with the numbers of their elements, and then moves the elements to their
/// places. `N` is large enough for the numbers. Since the numbers make all keys different, an
/// unstable sort of the keys suffices.
fn sort_by_number<T: Send, K: Ord + Send, N: Ord + Copy + Send>(
    slice: &mut [T],
    keyed: &(impl Fn(&T, usize) -> (K, N) + Sync),
    number: impl Fn(N) -> usize + Sync,
    sizes: Sizes,
) {
    let len = slice.len();
    let mut keys = Keys(Vec::with_capacity(len));
    let keys = &mut keys.0;
    let room = Room(keys.as_mut_ptr());
    // SAFETY: there is room for as many keys as there are elements.
    let made = unsafe { make_keys(slice, 0, &room, keyed, sizes) };
    assert_eq!(made.count, len);
    forget(made);
    // SAFETY: all of the keys were made, and no other value owns them any more.
    unsafe { keys.set_len(len) };

    quick::sort(keys, &Natural, sizes);

    let mut buffer = Vec::with_capacity(len);
    let mut places = Places::new(slice, &mut buffer.spare_capacity_mut()[..len]);
    // SAFETY: the numbers are those of all elements, in another order.
    unsafe { places.pass(|from, to| gather(&Scattered(from), keys, to, &number, sizes)) };
    // SAFETY: every element is copied, to the place of the same number.
    unsafe { places.pass(|from, to| copy(from, to, sizes)) };
}

/// Keys, with the numbers of their elements. There may be many keys to drop.
struct Keys<E>(Vec<E>);

impl<E> Drop for Keys<E> {
    fn drop(&mut self) {
        let keys: *mut [E] = &raw mut *self.0;
        // SAFETY: 0 keys fit into the room.
        unsafe { self.0.set_len(0) };
        // SAFETY: the vector had these keys, and does not own them any more.
        unsafe { looks::drop_in_place(keys) };
    }
}

/// The place where keys are written.
struct Room<E>(*mut E);

// SAFETY: keys are sent to the room. Threads that share it write to different places, as
// `make_keys` guarantees.
unsafe impl<E: Send> Sync for Room<E> {}

/// Keys that were made, from some place on. Dropping this drops them.
struct Made<E> {
    start: *mut E,
    count: usize,
}

// SAFETY: it owns the keys, and nothing else.
unsafe impl<E: Send> Send for Made<E> {}

impl<E> Drop for Made<E> {
    fn drop(&mut self) {
        // SAFETY: these keys have been made, and no other value owns them.
        unsafe { looks::drop_in_place(ptr::slice_from_raw_parts_mut(self.start, self.count)) };
    }
}

/// Makes the keys of a part whose first element has the number `start`.
///
/// # Safety
///
/// There is room up to the number of the last element, and no other thread uses the places of these
/// numbers.
unsafe fn make_keys<T: Send, E: Send>(
    part: &mut [T],
    start: usize,
    room: &Room<E>,
    keyed: &(impl Fn(&T, usize) -> E + Sync),
    sizes: Sizes,
) -> Made<E> {
    if part.len() <= sizes.keys {
        // SAFETY: there is room at least up to there.
        let mut made = Made { start: unsafe { room.0.add(start) }, count: 0 };
        for (i, element) in part.iter().enumerate() {
            looks::count();
            let key = keyed(element, start + i);
            // SAFETY: there is room for the keys of all elements.
            let place = unsafe { made.start.add(i) };
            // SAFETY: the place is free, and no other thread uses it.
            unsafe { place.write(key) };
            made.count += 1;
        }
        return made;
    }
    let (part, later) = part.split_at_mut(part.len() / 2);
    let middle = start + part.len();
    let (mut made, made_later) = join(
        // SAFETY: these are a part of the numbers.
        || unsafe { make_keys(part, start, room, keyed, sizes) },
        // SAFETY: these are the other numbers.
        || unsafe { make_keys(later, middle, room, keyed, sizes) },
    );
    made.count += made_later.count;
    forget(made_later);
    made
}

/// Elements from which several threads copy; each thread copies different ones.
struct Scattered<'a, T>(&'a [T]);

// SAFETY: threads that share it copy bits and do not access any element. The elements are sent to
// the owners of the copies.
unsafe impl<T: Send> Sync for Scattered<'_, T> {}

/// Copying scattered elements takes many times as long as copying neighbours.
const FEWER: usize = 16;

/// Copies to each place the element whose number is in its key.
fn gather<T: Send, K: Send, N: Copy + Send>(
    from: &Scattered<'_, T>,
    keys: &mut [(K, N)],
    to: &mut [MaybeUninit<T>],
    number: &(impl Fn(N) -> usize + Sync),
    sizes: Sizes,
) {
    if to.len() <= sizes.piece::<T>().div_ceil(FEWER) {
        for ((_, n), to) in keys.iter().zip(to) {
            let element = &raw const from.0[number(*n)];
            // SAFETY: `to` has room for this element and is borrowed exclusively, and any bits may
            // be written to a `MaybeUninit`.
            unsafe { ptr::copy_nonoverlapping(element, to.as_mut_ptr(), 1) };
        }
        return looks::after_a_piece();
    }
    let (keys, later_keys) = keys.split_at_mut(keys.len() / 2);
    let (to, later_to) = to.split_at_mut(keys.len());
    join(|| gather(from, keys, to, number, sizes), || gather(from, later_keys, later_to, number, sizes));
}
