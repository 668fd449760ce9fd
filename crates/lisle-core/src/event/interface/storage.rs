//! A place for one branch whose type cannot be named where it is kept: inline if it fits, else in
//! recycled memory.

use super::scratch::Scratch;
use std::cell::UnsafeCell;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::ptr::without_provenance_mut;

/// A place for one pinned value of any type, with `WORDS` words inline.
///
/// The value is a branch, and partners on other threads write to the waiter inside it. The type of
/// the words does not show that. Therefore they lie in a cell: a shared reference to the storage
/// then neither reads the words nor promises that they stay as they are.
pub(in crate::event) struct Storage<const WORDS: usize> {
    inline: UnsafeCell<MaybeUninit<[usize; WORDS]>>,
    /// The address of the value and the function that drops it, or [`Held::NOTHING`].
    held: Held,
    _pinned: PhantomPinned,
}

#[derive(Clone, Copy)]
struct Held {
    value: *mut (),
    drop: unsafe fn(*mut ()),
}

impl Held {
    /// No value. It is not zero: otherwise the compiler might clear the whole storage.
    const NOTHING: Held = Held { value: without_provenance_mut(1), drop: drop_nothing };

    fn is_nothing(self) -> bool {
        self.value == Self::NOTHING.value
    }
}

/// # Safety
///
/// The function has no requirements.
unsafe fn drop_nothing(_: *mut ()) {}

impl<const WORDS: usize> Storage<WORDS> {
    #[inline(always)]
    pub(in crate::event) fn new() -> Self {
        Storage {
            inline: UnsafeCell::new(MaybeUninit::uninit()),
            held: Held::NOTHING,
            _pinned: PhantomPinned,
        }
    }

    /// Stores `value`, dropping the previous value. The returned pointer is valid for writes until
    /// the next `put`, `clear` or drop.
    pub(in crate::event) fn put<T>(mut self: Pin<&mut Self>, value: T) -> *mut T {
        self.as_mut().clear();
        self.fill(|| value)
    }

    /// Stores the value of `make` in an empty storage. The value is made in place: making it
    /// elsewhere and moving it right after it was written in pieces costs more than everything
    /// else.
    #[inline(always)]
    pub(in crate::event) fn fill<T>(self: Pin<&mut Self>, make: impl FnOnce() -> T) -> *mut T {
        debug_assert!(self.held.is_nothing());
        // SAFETY: nothing is moved out of the storage; `held` is plain data and `inline` is only
        // written while it holds no value.
        let this = unsafe { self.get_unchecked_mut() };
        let fits = size_of::<T>() <= WORDS * size_of::<usize>() && align_of::<T>() <= align_of::<usize>();
        if fits {
            let place = this.inline.get().cast::<T>();
            // SAFETY: `inline` is large and aligned enough, as just computed, and holds no value.
            unsafe { place.write(make()) };
            this.held = Held { value: place.cast(), drop: drop_inline::<T> };
            place
        } else {
            let value = make();
            let place = Scratch::<T>::room().as_ptr();
            // SAFETY: `room` returned memory for a `T`.
            unsafe { place.write(value) };
            this.held = Held { value: place.cast(), drop: drop_recycled::<T> };
            place
        }
    }

    /// Drops the value, if there is one.
    pub(in crate::event) fn clear(self: Pin<&mut Self>) {
        // SAFETY: the value is dropped in place, not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let held = std::mem::replace(&mut this.held, Held::NOTHING);
        // SAFETY: `fill` stored the matching function, and `replace` ensures that it runs once.
        unsafe { (held.drop)(held.value) };
    }

    /// Returns the value's address, as `put` returned it.
    pub(in crate::event) fn get(&self) -> Option<*mut ()> {
        (!self.held.is_nothing()).then_some(self.held.value)
    }
}

impl<const WORDS: usize> Drop for Storage<WORDS> {
    #[inline]
    fn drop(&mut self) {
        if !self.held.is_nothing() {
            // SAFETY: a storage that is being dropped does not move any more.
            unsafe { Pin::new_unchecked(self) }.clear();
        }
    }
}

/// # Safety
///
/// `value` points to an owned `T` that is not used again.
unsafe fn drop_inline<T>(value: *mut ()) {
    // SAFETY: passed on to the caller.
    unsafe { value.cast::<T>().drop_in_place() }
}

/// # Safety
///
/// `value` comes from `Scratch::<T>::room` and is not used again.
unsafe fn drop_recycled<T>(value: *mut ()) {
    // SAFETY: an item's address is not null.
    let item = unsafe { NonNull::new_unchecked(value.cast::<T>()) };
    // SAFETY: passed on to the caller.
    unsafe { Scratch::drop_one(item) };
}

/// Returns the branch at `place`, with the lifetime of the event that it borrows.
///
/// # Safety
///
/// `B` is the type of the branches of `event`, and `place` holds a live one made by it, pinned, without other references to it.
// The event is there for its type and lifetime; the branch does not come out of it.
#[expect(clippy::mut_from_ref)]
pub(in crate::event) unsafe fn typed<E, B>(_event: &E, place: *mut ()) -> Pin<&mut B> {
    // SAFETY: by the caller's promise.
    let branch = unsafe { &mut *place.cast::<B>() };
    // SAFETY: pinned, by the caller's promise.
    unsafe { Pin::new_unchecked(branch) }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::Storage;
    use std::pin::pin;
    use std::rc::Rc;

    #[test]
    fn small_values_lie_inline_large_ones_do_not_and_each_is_dropped_once() {
        let token = Rc::new(());
        let mut storage = pin!(Storage::<4>::new());
        let range = std::ptr::from_ref(&*storage) as usize;
        let inside = |address: usize| (range..range + size_of::<Storage<4>>()).contains(&address);

        let small = storage.as_mut().put((token.clone(), 1_u8)) as usize;
        assert!(inside(small));
        let large = storage.as_mut().put((token.clone(), [0_u8; 100])) as usize;
        assert!(!inside(large));
        assert_eq!(Rc::strong_count(&token), 2, "`put` drops the old value");
        storage.as_mut().clear();
        assert_eq!(Rc::strong_count(&token), 1);
        assert!(storage.get().is_none());
    }
}
