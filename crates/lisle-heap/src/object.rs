//! Objects in memory: a header of one word, and the payload behind it.

use crate::raw::Raw;
use lisle_core::internal::abort;
use std::any::TypeId;
use std::fmt;
use std::mem::{align_of, size_of};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The size of a word in bytes.
pub(crate) const WORD: usize = size_of::<usize>();

/// A type of objects in the heap. `#[derive(Object)]` implements it for a struct.
///
/// The fields of the struct are of two kinds. [`Gc`](crate::Gc) and [`Slot`](crate::Slot) fields point
/// to other objects of the heap, or are immediates. All others are *plain*: they may be of each type
/// that is `Send + Sync + 'static`, and their destructors run when the object has been found dead. A
/// type with `Gc` or `Slot` fields cannot implement `Drop` itself.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Heap, Object, Slot};
///
/// #[derive(Object)]
/// struct Account {
///     owner: String,
///     heir: Slot<Option<Account>>,
/// }
///
/// Heap::new().enter(|s| {
///     let ada = s.alloc::<Account>(Account::init("Ada".into(), None));
///     let bob = s.alloc::<Account>(Account::init("Bob".into(), None));
///     ada.get(s).heir.set(s, bob);
///     bob.get(s).heir.set(s, ada); // a cycle: no leak
///     assert_eq!(bob.get(s).heir().unwrap().owner, "Ada");
/// });
/// ```
///
/// # Safety
///
/// `DESC` describes all `Gc` and `Slot` fields, and `write` initializes the whole object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of objects of the heap",
    note = "write `#[derive(lisle_heap::Object)]` before the struct; a number or a text is a plain field, without `Gc` or `Slot`"
)]
pub unsafe trait Object: Sized + 'static {
    /// The arguments of an allocation: a value for each field. `T::init(…)` makes it.
    type Init<'x>;

    /// The layout of the objects.
    #[doc(hidden)]
    const DESC: &'static Desc;

    /// Writes a new object.
    ///
    /// # Safety
    ///
    /// There is room for an object at `at`. The roots that `init` names are alive.
    #[doc(hidden)]
    unsafe fn write(at: *mut Self, init: Self::Init<'_>);

    /// Returns the bytes that the plain fields own elsewhere.
    ///
    /// # Safety
    ///
    /// `at` points to an object. Its heap words are not read.
    #[doc(hidden)]
    unsafe fn external(_at: *const Self) -> usize {
        0
    }
}

/// How the words of an object lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// The fields at these offsets, in words, are heap words.
    Fields(&'static [u16]),
    /// A length, and so many heap words.
    Array,
    /// A length in bytes, and so many bytes.
    Bytes,
    /// A heap word that keeps no object alive.
    Weak,
    /// A key and a value: heap words of which the second is alive as long as the first.
    Ephemeron,
}

/// The description of a type of objects. Each header points to one.
#[doc(hidden)]
#[repr(align(16))]
pub struct Desc {
    /// The size of the payload in words, if all objects of the type have the same.
    words: usize,
    pub(crate) shape: Shape,
    /// The names of the fields that are heap words.
    pub(crate) fields: &'static [&'static str],
    /// Runs the destructors of the plain fields.
    pub(crate) drop: Option<unsafe fn(Raw)>,
    /// Returns the bytes that the plain fields own elsewhere, if the type says so.
    pub(crate) external: Option<unsafe fn(Raw) -> usize>,
    pub(crate) name: fn() -> &'static str,
    pub(crate) id: fn() -> TypeId,
}

impl fmt::Debug for Desc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str((self.name)())
    }
}

unsafe fn drop_object<T>(payload: Raw) {
    // SAFETY: the collector calls this once for each dead object, whose type is `T`.
    unsafe { ptr::drop_in_place(payload.cast::<T>()) }
}

unsafe fn external_of<T: Object>(payload: Raw) -> usize {
    abort::if_it_unwinds(
        format_args!(
            "the function `external` of a heap object of type `{}` has panicked",
            std::any::type_name::<T>()
        ),
        // SAFETY: the caller has the payload of an object of type `T`.
        || unsafe { T::external(payload.cast_const().cast()) },
    )
}

/// Returns the size of a `T` in words, at least 1.
pub(crate) const fn words_of<T>() -> usize {
    let words = size_of::<T>().div_ceil(WORD);
    if words == 0 { 1 } else { words }
}

impl Desc {
    /// Describes a struct with heap words at these offsets, in words, in fields of these names.
    pub const fn fields<T: 'static>(offsets: &'static [u16], names: &'static [&'static str]) -> Self {
        assert!(offsets.len() == names.len(), "each heap word is a field");
        assert!(align_of::<T>() <= WORD, "an object of the heap cannot be aligned to more than 8 bytes");
        assert!(
            size_of::<T>() <= 1 << 19,
            "an object of the heap cannot be larger than 512 KiB: put large plain fields in a Box"
        );
        let drop: Option<unsafe fn(Raw)> =
            if std::mem::needs_drop::<T>() { Some(drop_object::<T>) } else { None };
        Self {
            words: words_of::<T>(),
            shape: Shape::Fields(offsets),
            fields: names,
            drop,
            external: None,
            name: std::any::type_name::<T>,
            id: TypeId::of::<T>,
        }
    }

    /// Says that objects of the type own memory elsewhere.
    pub const fn with_external<T: Object>(self) -> Self {
        Self { external: Some(external_of::<T>), ..self }
    }

    pub(crate) const fn variable<T: 'static>(shape: Shape) -> Self {
        Self {
            words: 0,
            shape,
            fields: &[],
            drop: None,
            external: None,
            name: std::any::type_name::<T>,
            id: TypeId::of::<T>,
        }
    }

    /// Returns the bytes that an object owns elsewhere.
    ///
    /// # Safety
    ///
    /// `payload` is that of an object with this description, which is alive.
    pub(crate) unsafe fn external_bytes(&self, payload: Raw) -> usize {
        // SAFETY: passed on to the caller.
        self.external.map_or(0, |external| unsafe { external(payload) })
    }

    /// Returns the size of the payload in words.
    ///
    /// # Safety
    ///
    /// `payload` is that of an object with this description.
    #[inline]
    pub(crate) unsafe fn words(&self, payload: Raw) -> usize {
        match self.shape {
            Shape::Fields(_) => self.words,
            // SAFETY: the first word of such an object is its length.
            Shape::Array => 1 + unsafe { length(payload) },
            // SAFETY: as above.
            Shape::Bytes => 1 + unsafe { length(payload) }.div_ceil(WORD),
            Shape::Weak => 1,
            Shape::Ephemeron => 2,
        }
    }
}

/// Returns the length of an array or of bytes.
///
/// # Safety
///
/// `payload` is that of an array or of bytes.
#[inline]
pub(crate) unsafe fn length(payload: Raw) -> usize {
    // SAFETY: the first word of such an object is its length, and does not change.
    unsafe { payload.cast::<usize>().read() }
}

/// The header of an object: the address of its description, and in its lowest bits a colour, or, in
/// an object that has moved, its new address and the bit `MOVED`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header(pub(crate) Raw);

/// In a header: the rest is the address to which the object has moved.
const MOVED: usize = 1;
/// In a header: the colour of an object of the old space.
const COLOUR: usize = 0b110;

/// The colour of an object of the old space: whether a mark has reached it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Colour(usize);

/// What the three colours mean in this cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours {
    /// Objects that a mark has reached, and those that were born while it goes on.
    pub(crate) marked: Colour,
    /// Objects that no mark has reached yet.
    pub(crate) unmarked: Colour,
    /// Objects that the last mark has not reached, which are dead.
    pub(crate) dead: Colour,
}

impl Default for Colours {
    fn default() -> Self {
        Self { marked: Colour(0b010), unmarked: Colour(0b100), dead: Colour(0b110) }
    }
}

impl Colours {
    /// Returns the colours of the next cycle. There are no dead objects left.
    pub(crate) fn rotated(self) -> Self {
        Self { marked: self.dead, unmarked: self.marked, dead: self.unmarked }
    }
}

impl Colour {
    /// The colour of young objects, which says nothing.
    pub(crate) const YOUNG: Self = Self(0b010);

    /// Returns the colour as a number that is not 0.
    pub(crate) fn number(self) -> usize {
        self.0
    }

    /// Returns the colour with this number.
    #[inline]
    pub(crate) fn of_number(number: usize) -> Self {
        Self(number)
    }
}

impl Header {
    /// The header of a cell without an object.
    pub(crate) const FREE: Self = Self(ptr::null_mut());
    /// The header of an object that a thread is about to move.
    pub(crate) const MOVING: Self = Self(ptr::without_provenance_mut(MOVED));

    #[inline]
    pub(crate) fn new(desc: &'static Desc, colour: Colour) -> Self {
        Self(ptr::from_ref(desc).cast_mut().cast::<u8>().map_addr(|addr| addr | colour.0))
    }

    #[inline]
    pub(crate) fn is_free(self) -> bool {
        self.0.is_null()
    }

    /// Returns the description.
    ///
    /// # Safety
    ///
    /// The header is that of an object that has not moved.
    #[inline]
    pub(crate) unsafe fn desc(self) -> &'static Desc {
        // SAFETY: all descriptions are constants of the program.
        unsafe { &*self.0.map_addr(|addr| addr & !(MOVED | COLOUR)).cast::<Desc>() }
    }

    #[inline]
    pub(crate) fn colour(self) -> Colour {
        Colour(self.0.addr() & COLOUR)
    }

    #[inline]
    pub(crate) fn with_colour(self, colour: Colour) -> Self {
        Self(self.0.map_addr(|addr| addr & !COLOUR | colour.0))
    }

    /// Returns the header of an object that has moved to `to`, which is a payload.
    #[inline]
    pub(crate) fn moved_to(to: Raw) -> Self {
        Self(to.map_addr(|addr| addr | MOVED))
    }

    /// Returns the payload of the object's new place, if it has moved.
    #[inline]
    pub(crate) fn new_place(self) -> Option<Raw> {
        (self.0.addr() & MOVED != 0).then(|| self.0.map_addr(|addr| addr & !MOVED))
    }
}

/// Returns the header of the object with this payload.
///
/// # Safety
///
/// `payload` is that of an object, or of a free cell.
#[inline]
pub(crate) unsafe fn header_of(payload: Raw) -> Header {
    // SAFETY: passed on to the caller.
    Header(unsafe { header_cell(payload) }.load(Ordering::Relaxed))
}

/// Returns the header of the object with this payload as a variable that several threads use.
///
/// # Safety
///
/// `payload` is that of an object, which is there for `'a`.
#[inline]
pub(crate) unsafe fn header_cell<'a>(payload: Raw) -> &'a Cell {
    // SAFETY: the header is the word before the payload.
    unsafe { &*payload.cast::<Cell>().sub(1) }
}

/// Writes the header of the object with this payload.
///
/// # Safety
///
/// `payload` is that of an object, or of a free cell. Other threads do no more than read or mark the object.
#[inline]
pub(crate) unsafe fn set_header(payload: Raw, header: Header) {
    // SAFETY: passed on to the caller.
    unsafe { header_cell(payload) }.store(header.0, Ordering::Relaxed);
}

/// A field, an array's element or a root, as the collector sees it.
pub(crate) type Cell = AtomicPtr<u8>;

/// Calls `visit` for each heap word of an object, from the element `from` on, and for at most `most`
/// elements of an array. The word of a weak object is none of them; the words of an ephemeron are.
///
/// # Safety
///
/// `payload` is that of an object with this description.
#[inline]
pub(crate) unsafe fn each_word(
    desc: &'static Desc,
    payload: Raw,
    from: usize,
    most: usize,
    mut visit: impl FnMut(&Cell),
) {
    // SAFETY: the description says where the words are, and the caller that it is the object's.
    unsafe {
        match desc.shape {
            Shape::Fields(offsets) => {
                for offset in offsets {
                    visit(&*payload.add(usize::from(*offset) * WORD).cast::<Cell>());
                }
            }
            Shape::Array => {
                let (len, elements) = (length(payload), payload.cast::<Cell>().add(1));
                for index in from..from.saturating_add(most).min(len) {
                    visit(&*elements.add(index));
                }
            }
            Shape::Ephemeron => ephemeron(payload).iter().for_each(visit),
            Shape::Bytes | Shape::Weak => {}
        }
    }
}

/// Calls `visit` for each heap word of an object, and for the word of a weak object.
///
/// # Safety
///
/// `payload` is that of an object.
pub(crate) unsafe fn each_word_and_weak(payload: Raw, mut visit: impl FnMut(&Cell)) {
    // SAFETY: passed on to the caller.
    unsafe {
        let desc = header_of(payload).desc();
        each_word(desc, payload, 0, usize::MAX, &mut visit);
        if matches!(desc.shape, Shape::Weak) {
            visit(weak_word(payload));
        }
    }
}

/// Returns the element after `most` elements from `from` on, if the object is an array with more.
///
/// # Safety
///
/// As for `each_word`.
#[inline]
pub(crate) unsafe fn rest_of(desc: &'static Desc, payload: Raw, from: usize, most: usize) -> Option<usize> {
    match desc.shape {
        // SAFETY: passed on to the caller.
        Shape::Array => Some(from + most).filter(|next| *next < unsafe { length(payload) }),
        Shape::Fields(_) | Shape::Bytes | Shape::Weak | Shape::Ephemeron => None,
    }
}

/// Returns the key and the value of an ephemeron.
///
/// # Safety
///
/// `payload` is that of an ephemeron, which neither moves nor goes for `'a`.
#[inline]
pub(crate) unsafe fn ephemeron<'a>(payload: Raw) -> &'a [Cell; 2] {
    // SAFETY: passed on to the caller.
    unsafe { &*payload.cast::<[Cell; 2]>() }
}

/// Returns the word of a weak object.
///
/// # Safety
///
/// `payload` is that of a weak object, which neither moves nor goes for `'a`.
#[inline]
pub(crate) unsafe fn weak_word<'a>(payload: Raw) -> &'a Cell {
    // SAFETY: passed on to the caller.
    unsafe { &*payload.cast::<Cell>() }
}
