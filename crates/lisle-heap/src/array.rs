//! Objects of variable length: arrays of slots, and bytes.

use crate::field::Slot;
use crate::full::{Full, unless_full};
use crate::local::{IntoArg, Local};
use crate::object::{Desc, Shape, WORD, length};
use crate::raw::Raw;
use crate::scope::Scope;
use crate::space::LARGEST_CELL;
use crate::word::{Pointer, Ref, Word};
use std::marker::PhantomData;
use std::{fmt, slice, str};

/// An array of [`Slot`]s, whose length is fixed when [`Scope::array`](crate::Scope::array) allocates
/// it.
///
/// A [`Ref`] to an array dereferences to nothing, since a plain reference could not reach the
/// elements: its own methods do.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Array, Heap, Object, Slot};
///
/// #[derive(Object)]
/// struct Point {
///     x: f64,
/// }
///
/// Heap::new().enter(|s| {
///     let points = s.array::<Option<Point>>(100, None);
///     let point = s.alloc::<Point>(Point::init(0.5));
///     points.get(s).at(7).set(s, point);
///     assert_eq!(points.get(s).at(7).get().unwrap().x, 0.5);
///     assert_eq!(points.get(s).iter().filter(|slot| slot.get().is_some()).count(), 1);
/// });
/// ```
#[derive(Debug)]
pub struct Array<W: Word>(PhantomData<fn(W) -> W>);

/// Bytes that do not change.
///
/// # Examples
///
/// ```
/// use lisle_heap::Heap;
///
/// Heap::new().enter(|s| {
///     let name = s.bytes("λ".as_bytes());
///     assert_eq!(name.get(s).as_slice().len(), 2);
///     assert_eq!(name.get(s).as_str(), Ok("λ"));
/// });
/// ```
#[derive(Debug)]
pub struct Bytes(());

// SAFETY: words for an array point to arrays of the type.
unsafe impl<W: Word> Word for Array<W> {
    type View<'a> = Ref<'a, Self>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Ref<'a, Self> {
        // SAFETY: passed on to the caller.
        unsafe { Ref::new(raw) }
    }
}

// SAFETY: `Scope::array` writes this description.
unsafe impl<W: Word> Pointer for Array<W> {
    const DESC: &'static Desc = &Desc::variable::<Self>(Shape::Array);
}

// SAFETY: words for bytes point to bytes.
unsafe impl Word for Bytes {
    type View<'a> = Ref<'a, Self>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Ref<'a, Self> {
        // SAFETY: passed on to the caller.
        unsafe { Ref::new(raw) }
    }
}

// SAFETY: `Scope::bytes` writes this description.
unsafe impl Pointer for Bytes {
    const DESC: &'static Desc = &Desc::variable::<Self>(Shape::Bytes);
}

impl<'a, W: Word> Ref<'a, Array<W>> {
    /// Returns the number of elements.
    #[inline]
    pub fn len(self) -> usize {
        // SAFETY: the payload is that of an array.
        unsafe { length(self.raw()) }
    }

    /// Returns `true` if there are no elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the elements.
    #[inline]
    pub fn as_slice(self) -> &'a [Slot<W>] {
        // SAFETY: so many slots follow the length. They are atomic, and the reference says that the
        // array neither moves nor goes.
        unsafe { slice::from_raw_parts(self.as_ptr().cast::<usize>().add(1).cast::<Slot<W>>(), self.len()) }
    }

    /// Returns the element at `index`.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn at(self, index: usize) -> &'a Slot<W> {
        &self.as_slice()[index]
    }

    /// Returns the elements, in order.
    #[inline]
    pub fn iter(self) -> slice::Iter<'a, Slot<W>> {
        self.as_slice().iter()
    }
}

impl<'a, W: Word> IntoIterator for Ref<'a, Array<W>> {
    type Item = &'a Slot<W>;
    type IntoIter = slice::Iter<'a, Slot<W>>;
    #[inline]
    fn into_iter(self) -> slice::Iter<'a, Slot<W>> {
        self.iter()
    }
}

impl<'a> Ref<'a, Bytes> {
    /// Returns the number of bytes.
    #[inline]
    pub fn len(self) -> usize {
        // SAFETY: the payload is that of bytes.
        unsafe { length(self.raw()) }
    }

    /// Returns `true` if there are no bytes.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_slice(self) -> &'a [u8] {
        // SAFETY: so many bytes follow the length, and do not change.
        unsafe { slice::from_raw_parts(self.as_ptr().cast::<usize>().add(1).cast::<u8>(), self.len()) }
    }

    /// Returns the bytes as text.
    ///
    /// # Errors
    ///
    /// If they are not UTF-8.
    #[inline]
    pub fn as_str(self) -> Result<&'a str, str::Utf8Error> {
        str::from_utf8(self.as_slice())
    }
}

impl<W: Word> fmt::Debug for Ref<'_, Array<W>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({})", self.len())
    }
}

impl fmt::Debug for Ref<'_, Bytes> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({:?})", String::from_utf8_lossy(self.as_slice()))
    }
}

impl<'s> Scope<'s> {
    /// Allocates an array of `len` elements, each with the value `fill`. May collect.
    ///
    /// # Panics
    ///
    /// If the heap is [full](Full).
    #[track_caller]
    pub fn array<'x, W: Word>(&mut self, len: usize, fill: impl IntoArg<'x, W>) -> Local<'s, Array<W>> {
        unless_full(self.try_array(len, fill))
    }

    /// Allocates an array of `len` elements, each with the value `fill`. May collect.
    ///
    /// # Errors
    ///
    /// If the heap is full, also after it has collected.
    pub fn try_array<'x, W: Word>(
        &mut self,
        len: usize,
        fill: impl IntoArg<'x, W>,
    ) -> Result<Local<'s, Array<W>>, Full> {
        let fill = fill.into_arg();
        self.array_of(len, || fill.read())
    }

    /// Allocates an array of `len` elements, each with the word that `fill` returns after the last collection.
    pub(crate) fn array_of<W: Word>(
        &mut self,
        len: usize,
        fill: impl FnOnce() -> Raw,
    ) -> Result<Local<'s, Array<W>>, Full> {
        let words = len.saturating_add(2);
        let payload = self.room(words, Array::<W>::DESC)?;
        let raw = fill();
        // SAFETY: there is room for the length and the elements.
        unsafe {
            payload.cast::<usize>().write(len);
            let elements = payload.cast::<Raw>().add(1);
            (0..len).for_each(|index| elements.add(index).write(raw));
        }
        if words > LARGEST_CELL {
            self.log_large(payload);
        }
        Ok(self.push(payload))
    }

    /// Allocates a copy of `bytes`. May collect.
    ///
    /// # Panics
    ///
    /// If the heap is [full](Full).
    #[track_caller]
    pub fn bytes(&mut self, bytes: &[u8]) -> Local<'s, Bytes> {
        unless_full(self.try_bytes(bytes))
    }

    /// Allocates a copy of `bytes`. May collect.
    ///
    /// # Errors
    ///
    /// If the heap is full, also after it has collected.
    pub fn try_bytes(&mut self, bytes: &[u8]) -> Result<Local<'s, Bytes>, Full> {
        let payload = self.room(2 + bytes.len().div_ceil(WORD), Bytes::DESC)?;
        // SAFETY: there is room for the length and the bytes.
        unsafe {
            payload.cast::<usize>().write(bytes.len());
            payload.add(WORD).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        Ok(self.push(payload))
    }
}
