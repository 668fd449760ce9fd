//! The fields of objects: immutable ones, and slots.

use crate::object::{Cell, Object};
use crate::raw::Raw;
use crate::scope::Scope;
use crate::word::{Source, Word};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::Ordering;

/// Says that a field has a word of type `W` and of no type that `W` is a subtype of, since a slot is also written, and
/// belongs to no other thread than the one inside.
type Of<W> = PhantomData<(fn(W) -> W, *const ())>;

/// An immutable field of an object: a word of type `W`.
///
/// It exists only in objects. Its value comes from the allocation of the object. `Gc<T>` of an
/// [`Object`] type dereferences to that object, so `list.tail.tail.head` reads as it looks.
#[repr(transparent)]
pub struct Gc<W: Word>(Cell, Of<W>);

impl<W: Word> Gc<W> {
    /// Returns the field's value. Takes a load.
    #[inline]
    pub fn get(&self) -> W::View<'_> {
        // SAFETY: the field was initialized with a word of type `W`. A reference to it borrows
        // the scope, so nothing moves.
        unsafe { W::view(self.0.load(Ordering::Relaxed)) }
    }

    /// Creates the field.
    ///
    /// # Safety
    ///
    /// The field becomes part of an object of the heap, and the word is of type `W`.
    #[inline]
    #[doc(hidden)]
    pub unsafe fn new(raw: Raw) -> Self {
        Self(Cell::new(raw), PhantomData)
    }
}

impl<T: Object> Deref for Gc<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.get().get()
    }
}

impl<W: Word> fmt::Debug for Gc<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gc(..)")
    }
}

/// A mutable field of an object: a word of type `W`, which each thread that can reach the object may
/// read and write.
///
/// It exists only in objects and in [arrays](crate::Array). Reads acquire and writes release: a thread that
/// reads a reference from a slot sees the object as it was when the reference was stored.
#[repr(transparent)]
pub struct Slot<W: Word>(Gc<W>);

impl<W: Word> Slot<W> {
    /// Returns the value. Takes a load.
    #[inline]
    pub fn get(&self) -> W::View<'_> {
        // SAFETY: as in `Gc::get`.
        unsafe { W::view(self.0.0.load(Ordering::Acquire)) }
    }

    /// Stores a value. Takes a store, and some comparisons by which the heap learns of references from
    /// old objects to young ones. Does not collect.
    #[inline]
    pub fn set<'a>(&'a self, scope: &'a Scope<'_>, value: impl Source<'a, W>) {
        self.set_raw(scope, value.raw(scope.table()));
    }

    /// Stores a word of type `W`.
    #[inline]
    pub(crate) fn set_raw(&self, scope: &Scope<'_>, new: Raw) {
        scope.place().young.before_store(&self.0.0, new);
        self.0.0.store(new, Ordering::Release);
    }

    /// Returns the word.
    #[cfg(feature = "par")]
    pub(crate) fn raw(&self) -> Raw {
        self.0.0.load(Ordering::Acquire)
    }

    /// Stores `new` if the slot holds the same word as `current`: a reference to the same object, or an
    /// equal immediate.
    ///
    /// # Errors
    ///
    /// Returns the value that the slot holds instead.
    #[inline]
    pub fn compare_exchange<'a>(
        &'a self,
        scope: &'a Scope<'_>,
        current: impl Source<'a, W>,
        new: impl Source<'a, W>,
    ) -> Result<(), W::View<'a>> {
        let (current, new) = (current.raw(scope.table()), new.raw(scope.table()));
        scope.place().young.before_store(&self.0.0, new);
        match self.0.0.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            // SAFETY: as in `Gc::get`.
            Err(found) => Err(unsafe { W::view(found) }),
        }
    }

    /// Creates the slot.
    ///
    /// # Safety
    ///
    /// As for [`Gc::new`].
    #[inline]
    #[doc(hidden)]
    pub unsafe fn new(raw: Raw) -> Self {
        // SAFETY: passed on to the caller.
        Self(unsafe { Gc::new(raw) })
    }
}

impl<W: Word> fmt::Debug for Slot<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot(..)")
    }
}

/// What the derives call in the type of a field, so that a field that is not allowed says so.
///
/// # Safety
///
/// Values of the type may be used and dropped by all threads.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of an object of the heap",
    label = "a plain field must be `Send + Sync + 'static`",
    note = "threads share objects; a reference to an object stands in a field of type `Gc<T>` or `Slot<T>`, or in an `Array`, never within a plain field"
)]
pub unsafe trait Plain {}
// SAFETY: the bounds say so.
unsafe impl<T: Send + Sync + 'static> Plain for T {}
