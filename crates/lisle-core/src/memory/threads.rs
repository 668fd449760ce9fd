//! The slots that each thread keeps: the slots that have become vacant on it.

use super::classes::{CLASSES, STEPS, layout_of, size_of};
use super::pieces::Memory;
use std::alloc::{dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

/// The number of vacant slots of a size up to a kilobyte that a thread keeps.
const KEPT: u32 = 1024;
/// How many bytes a thread keeps of a larger size, and how many slots it keeps at least.
const KEPT_BYTES: usize = 256 * 1024;
const KEPT_LEAST: u32 = 8;

/// A kind of slots.
///
/// # Safety
///
/// Each function returns, or passes on, the same value at each call, for which there is no other
/// kind. `make_vacant` keeps its contract.
pub unsafe trait Kind: Sized + 'static {
    /// `true` if slots of all sizes stay slots of this kind for ever. If this is `false`, slots
    /// larger than a kilobyte may be freed.
    const STAYS: bool;

    /// Returns the slots that no thread keeps.
    fn memory() -> &'static Memory<Self>;

    /// Calls `f` with the slots that this thread keeps.
    fn with_local<R>(f: impl FnOnce(&Local) -> R) -> R;

    /// Makes sure that this thread's [`Guard`] is dropped when the thread ends. Returns `false` if
    /// it has been dropped.
    fn guard() -> bool;

    /// Makes memory a vacant slot of `size` bytes.
    ///
    /// # Safety
    ///
    /// The memory is zero, or was a vacant slot of this kind and size, or is a mixture of both. It
    /// is the caller's, except that other code may access it as a vacant slot.
    unsafe fn make_vacant(slot: NonNull<u8>, size: usize);
}

/// Implements [`Kind`] for a type: with its pieces, and with the slots of each thread.
#[doc(hidden)]
#[macro_export]
macro_rules! kind_of_slots {
    ($kind:ty, stays: $stays:expr, make_vacant: $make_vacant:expr) => {
        const _: () = {
            static MEMORY: $crate::internal::memory::Memory<$kind> = $crate::internal::memory::Memory::new();

            thread_local! {
                static LOCAL: $crate::internal::memory::Local = const { $crate::internal::memory::Local::new() };
                static GUARD: $crate::internal::memory::Guard<$kind> = const { $crate::internal::memory::Guard::new() };
            }

            // SAFETY: these are used only here. The rest is up to the caller of the macro.
            unsafe impl $crate::internal::memory::Kind for $kind {
                const STAYS: bool = $stays;

                fn memory() -> &'static $crate::internal::memory::Memory<Self> {
                    &MEMORY
                }
                #[inline(always)]
                fn with_local<R>(f: impl FnOnce(&$crate::internal::memory::Local) -> R) -> R {
                    LOCAL.with(f)
                }
                fn guard() -> bool {
                    GUARD.try_with(|_| ()).is_ok()
                }
                unsafe fn make_vacant(slot: std::ptr::NonNull<u8>, size: usize) {
                    // SAFETY: passed on to the caller.
                    #[allow(unused_unsafe, reason = "for a kind in which nothing stays")]
                    unsafe {
                        $make_vacant(slot, size)
                    }
                }
            }
        };
    };
}

/// A list of vacant slots. They are linked through their first words.
#[derive(Debug)]
pub(super) struct List {
    first: Cell<*mut u8>,
    count: Cell<u32>,
}

impl List {
    pub(super) const fn new() -> Self {
        List { first: Cell::new(null_mut()), count: Cell::new(0) }
    }

    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.count.get()
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<NonNull<u8>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: a vacant slot in a list belongs to that list alone, and `push` has written its
        // first word.
        self.first.set(unsafe { first.cast::<*mut u8>().read() });
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    /// Adds a slot.
    ///
    /// # Safety
    ///
    /// The slot is vacant, in no list, and the caller's alone.
    #[inline(always)]
    pub(super) unsafe fn push(&self, slot: NonNull<u8>) {
        // SAFETY: by the caller's promise. Slots are aligned to more than a word.
        unsafe { slot.cast::<*mut u8>().write(self.first.replace(slot.as_ptr())) };
        self.count.set(self.count.get() + 1);
    }

    /// Empties the list without touching its slots.
    pub(super) fn forget(&self) {
        self.first.set(null_mut());
        self.count.set(0);
    }
}

/// The slots of one kind that a thread keeps.
#[derive(Debug)]
pub struct Local {
    lists: [List; CLASSES],
    /// Whether the guard will hand back the kept slots when the thread ends.
    is_guarded: Cell<bool>,
}

impl Local {
    /// Creates the lists of a thread that keeps nothing.
    pub const fn new() -> Self {
        Local { lists: [const { List::new() }; CLASSES], is_guarded: Cell::new(false) }
    }
}

/// Hands back the slots of a thread when it ends.
#[derive(Debug)]
pub struct Guard<K: Kind>(std::marker::PhantomData<K>);

impl<K: Kind> Guard<K> {
    /// Creates a guard. It is to be a thread-local value.
    pub const fn new() -> Self {
        Guard(std::marker::PhantomData)
    }
}

impl<K: Kind> Drop for Guard<K> {
    fn drop(&mut self) {
        K::with_local(|local| {
            local.is_guarded.set(false);
            let kept = local.lists.iter().enumerate().filter(|(_, list)| list.count() > 0);
            kept.for_each(|(class, list)| hand_back::<K>(list, class, u32::MAX));
        });
    }
}

/// Takes a vacant slot of this class, which is the caller's alone.
#[inline(always)]
pub fn take_slot<K: Kind>(class: usize) -> NonNull<u8> {
    K::with_local(|local| local.lists[class].pop()).unwrap_or_else(|| take_shared::<K>(class))
}

#[cold]
#[inline(never)]
fn take_shared<K: Kind>(class: usize) -> NonNull<u8> {
    if class >= STEPS && !K::STAYS {
        let layout = layout_of(class, K::STAYS);
        // SAFETY: slots are not empty.
        let slot = unsafe { std::alloc::alloc(layout) };
        return NonNull::new(slot).unwrap_or_else(|| handle_alloc_error(layout));
    }
    K::with_local(|local| {
        local.is_guarded.set(K::guard());
        let mine = &local.lists[class];
        // A thread that ends keeps nothing, and slots that it did not use would be lost.
        let most = if local.is_guarded.get() { KEPT / 2 } else { 1 };
        K::memory().lock().take(class, mine, most);
        mine.pop().expect("some have just been put there")
    })
}

/// Returns how many slots of a class a thread keeps.
#[inline(always)]
const fn kept(class: usize) -> u32 {
    if class < STEPS {
        return KEPT;
    }
    let kept = (KEPT_BYTES / size_of(class)) as u32;
    if kept > KEPT_LEAST { kept } else { KEPT_LEAST }
}

/// Gives a slot back.
///
/// # Safety
///
/// The slot comes from [`take_slot`] with this class, its contents have been dropped, and the words
/// that others may read are as in a vacant slot. The caller does not use it again.
#[inline(always)]
pub unsafe fn give_slot<K: Kind>(slot: NonNull<u8>, class: usize) {
    K::with_local(|local| {
        let mine = &local.lists[class];
        // SAFETY: by the caller's promise.
        unsafe { mine.push(slot) };
        if mine.count() > kept(class) || !local.is_guarded.get() {
            give_shared::<K>(class);
        }
    });
}

#[cold]
#[inline(never)]
fn give_shared<K: Kind>(class: usize) {
    K::with_local(|local| {
        local.is_guarded.set(K::guard());
        let mine = &local.lists[class];
        // A thread that ends keeps nothing.
        let keep = if local.is_guarded.get() { kept(class) } else { 0 };
        if mine.count() > keep {
            hand_back::<K>(mine, class, mine.count() - keep / 2);
        }
    });
}

/// Hands back up to `most` of the slots in `list`.
fn hand_back<K: Kind>(list: &List, class: usize, most: u32) {
    if class < STEPS || K::STAYS {
        return K::memory().lock().give(class, list, most);
    }
    for _ in 0..most {
        let Some(slot) = list.pop() else { return };
        // SAFETY: `take_shared` has allocated the slot with this layout, and nothing is in it.
        unsafe { dealloc(slot.as_ptr(), layout_of(class, K::STAYS)) };
    }
}
