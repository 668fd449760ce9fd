//! What fits in a word of the heap, how it is read, and what can be stored in it.

use crate::object::{Desc, Object, header_of};
use crate::raw::{NONE, Raw, is_pointer, tagged, untagged};
use crate::table::Table;
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// What fits in one word of the heap.
///
/// Words are: each [`Object`] type `T`, which stands for a pointer to a `T`; [`Array`](crate::Array),
/// [`Bytes`](crate::Bytes), [`Weak`](crate::Weak) and [`Ephemeron`](crate::Ephemeron); `Option` of one of these; and an enum with `#[derive(Value)]`.
///
/// # Safety
///
/// `view` must accept each word that [`Source`]s and [`Arg`](crate::Arg)s for this type have made.
pub unsafe trait Word: Sized + 'static {
    /// The word as code reads it while nothing moves: a [`Ref`], an `Option` of one, or an enum to
    /// match on.
    type View<'a>: Copy;

    /// Returns the view of a word.
    ///
    /// # Safety
    ///
    /// The word was made for this type, and the object to which it may point neither moves nor goes
    /// for `'a`.
    #[doc(hidden)]
    unsafe fn view<'a>(raw: Raw) -> Self::View<'a>;
}

/// A word that always points to an object of one type.
///
/// # Safety
///
/// Each object to which a word of this type points has the description `DESC`, and the view of a word
/// is the [`Ref`] to the object.
pub unsafe trait Pointer: for<'a> Word<View<'a> = Ref<'a, Self>> {
    /// The layout of the objects.
    #[doc(hidden)]
    const DESC: &'static Desc;
}

/// A word that can hold each word of the type `V`.
///
/// # Safety
///
/// A word of type `V`, with the tag, is a word of this type.
pub unsafe trait Holds<V: Word>: Word {
    /// The tag that a pointer of type `V` gets.
    #[doc(hidden)]
    const TAG: usize;
}

// SAFETY: the words are the same.
unsafe impl<W: Word> Holds<W> for W {
    const TAG: usize = 0;
}

// SAFETY: the pointer stays as it is.
unsafe impl<T: Pointer> Holds<T> for Option<T> {
    const TAG: usize = 0;
}

/// Says that a reference is to an object of this very type: a subtype is another type of words.
type To<'a, T> = PhantomData<(&'a T, fn(T) -> T)>;

/// A reference to an object, valid until the next call that may collect.
///
/// It dereferences to the object. Two references are equal if they refer to the same object.
///
/// It is not a plain `&T`, since an object without heap fields can also be built outside of the heap,
/// and the heap must not point to such an object.
pub struct Ref<'a, T>(NonNull<T>, To<'a, T>);

impl<T> Clone for Ref<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<'_, T> {}

impl<T> PartialEq for Ref<'_, T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Ref<'_, T> {}

impl<'a, T> Ref<'a, T> {
    /// Creates the reference to the object with this payload.
    ///
    /// # Safety
    ///
    /// The word points to a `T`, which neither moves nor goes for `'a`.
    #[inline]
    #[doc(hidden)]
    pub unsafe fn new(raw: Raw) -> Self {
        // SAFETY: the payload of an object is not null.
        Self(unsafe { NonNull::new_unchecked(untagged(raw).cast()) }, PhantomData)
    }

    /// Returns the word that points to the object, without a tag.
    #[inline]
    #[doc(hidden)]
    pub fn raw(self) -> Raw {
        self.0.as_ptr().cast()
    }

    /// Returns the object's payload.
    #[inline]
    pub(crate) fn as_ptr(self) -> *const T {
        self.0.as_ptr()
    }
}

impl<'a, T: Object> Ref<'a, T> {
    /// Returns the object, for as long as this reference is valid.
    ///
    /// `Deref` gives a reference that lasts no longer than the borrow of the `Ref` itself.
    #[inline]
    pub fn get(self) -> &'a T {
        // SAFETY: the object is there for `'a`, and is a `T`.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Object> Deref for Ref<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        (*self).get()
    }
}

impl<T: Object + fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

// SAFETY: words for `T` point to objects of type `T`.
unsafe impl<T: Object> Word for T {
    type View<'a> = Ref<'a, T>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Ref<'a, T> {
        // SAFETY: passed on to the caller.
        unsafe { Ref::new(raw) }
    }
}

// SAFETY: `alloc::<T>` writes this description.
unsafe impl<T: Object> Pointer for T {
    const DESC: &'static Desc = <T as Object>::DESC;
}

// SAFETY: the immediate is `None`, a pointer one of type `T`.
unsafe impl<T: Pointer> Word for Option<T> {
    type View<'a> = Option<Ref<'a, T>>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Option<Ref<'a, T>> {
        // SAFETY: passed on to the caller.
        is_pointer(raw).then(|| unsafe { Ref::new(raw) })
    }
}

/// Returns `true` if the word points to an object of type `T`.
///
/// # Safety
///
/// The word points to an object, which neither moves nor goes meanwhile.
#[inline]
#[doc(hidden)]
pub unsafe fn is_a<T: Pointer>(raw: Raw) -> bool {
    // SAFETY: passed on to the caller.
    let desc = unsafe { header_of(untagged(raw)).desc() };
    // The compiler may have made several descriptions of one type.
    ptr::eq(desc, T::DESC) || (desc.id)() == TypeId::of::<T>()
}

/// A value that fits in a word without an object: a number, a `bool`, a `char`.
///
/// A derived [`Value`](macro@crate::Value) keeps such a value in the bits that the number of its
/// variants leaves over, at least 58. A 64-bit integer that needs more has no place in a word:
/// `pack` returns `None` for it.
pub trait Immediate: Copy + fmt::Debug + Send + Sync + 'static {
    /// The number of bits that each value of the type needs, or 0 if that depends on the value.
    const BITS: u32;

    /// Returns the value in the lowest `bits` bits, or `None` if it does not fit.
    fn pack(self, bits: u32) -> Option<u64>;

    /// Returns the value that `pack` has put in the lowest `bits` bits.
    fn unpack(packed: u64, bits: u32) -> Self;
}

macro_rules! signed {
    ($($int:ty: $bits:expr),*) => { $(
        impl Immediate for $int {
            const BITS: u32 = $bits;
            #[inline]
            fn pack(self, bits: u32) -> Option<u64> {
                let (wide, unused) = (self as i64, 64 - bits);
                ((wide << unused) >> unused == wide).then_some(((wide as u64) << unused) >> unused)
            }
            #[inline]
            fn unpack(packed: u64, bits: u32) -> Self {
                let unused = 64 - bits;
                (((packed << unused) as i64) >> unused) as $int
            }
        }
    )* };
}

macro_rules! unsigned {
    ($($int:ty: $bits:expr),*) => { $(
        impl Immediate for $int {
            const BITS: u32 = $bits;
            #[inline]
            fn pack(self, bits: u32) -> Option<u64> {
                let wide = self as u64;
                (wide >> bits == 0).then_some(wide)
            }
            #[inline]
            fn unpack(packed: u64, _bits: u32) -> Self {
                packed as $int
            }
        }
    )* };
}

signed!(i8: 8, i16: 16, i32: 32, i64: 0, isize: 0);
unsigned!(u8: 8, u16: 16, u32: 32, u64: 0, usize: 0);

impl Immediate for bool {
    const BITS: u32 = 1;
    #[inline]
    fn pack(self, _bits: u32) -> Option<u64> {
        Some(self.into())
    }
    #[inline]
    fn unpack(packed: u64, _bits: u32) -> Self {
        packed & 1 != 0
    }
}

impl Immediate for char {
    const BITS: u32 = 21;
    #[inline]
    fn pack(self, _bits: u32) -> Option<u64> {
        Some(u64::from(u32::from(self)))
    }
    #[inline]
    fn unpack(packed: u64, _bits: u32) -> Self {
        char::from_u32(packed as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Immediate for f32 {
    const BITS: u32 = 32;
    #[inline]
    fn pack(self, _bits: u32) -> Option<u64> {
        Some(self.to_bits().into())
    }
    #[inline]
    fn unpack(packed: u64, _bits: u32) -> Self {
        f32::from_bits(packed as u32)
    }
}

/// A word type that holds each value of the type `I` without an object.
///
/// # Safety
///
/// `word` returns words of this type.
pub unsafe trait HoldsImmediate<I: Immediate>: Word {
    /// Returns the word of a value.
    ///
    /// # Panics
    ///
    /// If the value is an integer that has no place in a word.
    #[doc(hidden)]
    fn word(value: I) -> Raw;
}

/// What can be stored in a field or a root of type `W` now: a [`Local`](crate::Local), a
/// [`Root`](crate::Root), a [`Ref`] or another view, an immediate value, an [`Arg`](crate::Arg), a reference to a
/// [`Global`](crate::Global).
///
/// # Safety
///
/// `raw` returns a word of type `W`, valid while nothing moves.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a word of type `{W}`",
    note = "a handle or a view of the type itself, or of one of its variants, can be stored, and the immediate values of its variants"
)]
pub unsafe trait Source<'a, W: Word> {
    /// Returns the word. `here` is the table of the heap in which it is stored.
    #[doc(hidden)]
    fn raw(&self, here: &Table) -> Raw;
}

// SAFETY: `Holds` promises that the word, with its tag, is one of type `W`.
unsafe impl<'a, T: Pointer, W: Holds<T>> Source<'a, W> for Ref<'a, T> {
    #[inline]
    fn raw(&self, _: &Table) -> Raw {
        tagged(Ref::raw(*self), W::TAG)
    }
}

// SAFETY: an `Option<T>` has these words.
unsafe impl<'a, T: Pointer> Source<'a, Option<T>> for Option<Ref<'a, T>> {
    #[inline]
    fn raw(&self, _: &Table) -> Raw {
        self.map_or(NONE, Ref::raw)
    }
}

// SAFETY: `HoldsImmediate` promises that.
unsafe impl<'a, I: Immediate, W: HoldsImmediate<I>> Source<'a, W> for I {
    #[inline]
    fn raw(&self, _: &Table) -> Raw {
        W::word(*self)
    }
}
