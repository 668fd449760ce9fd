//! Handles: words in the root stack.

use crate::object::Cell;
use crate::raw::{NONE, Raw, tagged};
use crate::scope::Scope;
use crate::table::Table;
use crate::word::{Holds, HoldsImmediate, Immediate, Pointer, Source, Word};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

/// For the type parameters of a handle, which has no value of them. `W` is invariant, so that an object has the type by
/// which it was allocated.
type Of<'s, W> = PhantomData<(&'s (), fn(W) -> W)>;

/// A handle to a word: it keeps the object alive and finds it wherever it moves, to the end of its scope.
///
/// It is the address of a root, so it is `Copy`, and cannot leave its thread.
pub struct Local<'s, W: Word>(NonNull<Cell>, Of<'s, W>);

impl<W: Word> Clone for Local<'_, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Word> Copy for Local<'_, W> {}

impl<'s, W: Word> Local<'s, W> {
    #[inline]
    pub(crate) fn new(root: NonNull<Cell>) -> Self {
        Self(root, PhantomData)
    }

    #[inline]
    fn cell(&self) -> &'s Cell {
        // SAFETY: the root stays to the end of the scope `'s`.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(crate) fn load(self) -> Raw {
        self.cell().load(Ordering::Relaxed)
    }

    /// Returns the view of the word, valid until the next call that may collect. Takes a load.
    #[inline]
    pub fn get<'a>(self, _scope: &'a Scope<'_>) -> W::View<'a>
    where
        's: 'a,
    {
        // SAFETY: the root holds a word of type `W`. Nothing moves while the scope is borrowed.
        unsafe { W::view(self.load()) }
    }
}

impl<W: Word> fmt::Debug for Local<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Local(..)")
    }
}

/// A variable that is a root.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Heap, Object};
///
/// #[derive(Object)]
/// struct Number {
///     value: u64,
/// }
///
/// Heap::new().enter(|s| {
///     let mut largest = s.root::<Option<Number>>(None);
///     for value in [3, 8, 5] {
///         if largest.get(s).is_none_or(|number| number.value < value) {
///             // An inner scope lets go of the handle that `alloc` returns.
///             s.scope(|s| {
///                 let number = s.alloc::<Number>(Number::init(value));
///                 largest.set(s, number);
///             });
///         }
///     }
///     assert_eq!(largest.get(s).unwrap().value, 8);
/// });
/// ```
pub struct Root<'s, W: Word>(Local<'s, W>);

impl<'s, W: Word> Root<'s, W> {
    #[inline]
    pub(crate) fn new(local: Local<'s, W>) -> Self {
        Self(local)
    }

    /// Returns the view of the word, valid until the next call that may collect. Takes a load.
    #[inline]
    pub fn get<'a>(&self, scope: &'a Scope<'_>) -> W::View<'a>
    where
        's: 'a,
    {
        self.0.get(scope)
    }

    /// Stores a word. Takes a store.
    #[inline]
    pub fn set<'a>(&mut self, scope: &'a Scope<'_>, value: impl Source<'a, W>) {
        self.0.cell().store(value.raw(scope.table()), Ordering::Relaxed);
    }
}

impl<W: Word> fmt::Debug for Root<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root(..)")
    }
}

/// Roots side by side: the registers of a frame of an interpreter.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Bytes, Heap};
///
/// Heap::new().enter(|s| {
///     let mut regs = s.regs::<Option<Bytes>>(16, None);
///     let text = s.bytes(b"text");
///     regs.set(s, 3, text);
///     regs.copy(s, 3, 5);
///     assert_eq!(regs.get(s, 5), regs.get(s, 3));
///     assert!(regs.get(s, 4).is_none());
/// });
/// ```
pub struct Regs<'s, W: Word> {
    first: NonNull<Cell>,
    len: usize,
    _words: Of<'s, W>,
}

impl<'s, W: Word> Regs<'s, W> {
    pub(crate) fn new(first: NonNull<Cell>, len: usize) -> Self {
        Self { first, len, _words: PhantomData }
    }

    #[inline]
    #[track_caller]
    fn cell(&self, index: usize) -> &'s Cell {
        assert!(index < self.len, "there are {} registers, and no register {index}", self.len);
        // SAFETY: so many roots stay to the end of the scope `'s`.
        unsafe { self.first.add(index).as_ref() }
    }

    /// Returns the number of registers.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no registers.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the view of a register, valid until the next call that may collect.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[inline]
    #[track_caller]
    pub fn get<'a>(&self, _scope: &'a Scope<'_>, index: usize) -> W::View<'a>
    where
        's: 'a,
    {
        // SAFETY: the root holds a word of type `W`. Nothing moves while the scope is borrowed.
        unsafe { W::view(self.cell(index).load(Ordering::Relaxed)) }
    }

    /// Stores a word in a register.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[inline]
    #[track_caller]
    pub fn set<'a>(&mut self, scope: &'a Scope<'_>, index: usize, value: impl Source<'a, W>) {
        self.cell(index).store(value.raw(scope.table()), Ordering::Relaxed);
    }

    /// Copies the word of the register `from` to the register `to`.
    ///
    /// The scope says that no other thread moves the object meanwhile.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[inline]
    #[track_caller]
    pub fn copy(&mut self, _scope: &Scope<'_>, from: usize, to: usize) {
        self.cell(to).store(self.cell(from).load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Returns the word of a register as an argument of an allocation.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[inline]
    #[track_caller]
    pub fn arg(&self, index: usize) -> Arg<'_, W> {
        Arg::root(self.cell(index), 0)
    }
}

impl<W: Word> fmt::Debug for Regs<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Regs({})", self.len)
    }
}

/// An argument of an allocation: a root or an immediate. The allocation reads it after the collection that
/// it may cause.
pub struct Arg<'x, W: Word> {
    /// The root, or null.
    root: *const Cell,
    /// The tag to add to the root's word, or the immediate.
    word: Raw,
    _word: Of<'x, W>,
}

impl<'x, W: Word> Arg<'x, W> {
    #[inline]
    pub(crate) fn root(root: &'x Cell, tag: usize) -> Self {
        Self { root, word: ptr::without_provenance_mut(tag), _word: PhantomData }
    }

    /// Creates an argument that is an immediate.
    ///
    /// # Safety
    ///
    /// The word is an immediate of type `W`.
    #[inline]
    #[doc(hidden)]
    pub unsafe fn immediate(word: Raw) -> Self {
        Self { root: ptr::null(), word, _word: PhantomData }
    }

    /// Returns the argument with a tag added, as one of another type.
    ///
    /// # Safety
    ///
    /// A word of type `W`, with the tag, is one of type `V`.
    #[inline]
    #[doc(hidden)]
    pub unsafe fn with_tag<V: Word>(arg: Self, tag: usize) -> Arg<'x, V> {
        Arg { root: arg.root, word: tagged(arg.word, tag), _word: PhantomData }
    }

    /// Returns the word.
    #[inline]
    #[doc(hidden)]
    pub fn read(&self) -> Raw {
        if self.root.is_null() {
            self.word
        } else {
            // SAFETY: the root stays for `'x`.
            tagged(unsafe { (*self.root).load(Ordering::Relaxed) }, self.word.addr())
        }
    }
}

impl<W: Word> Clone for Arg<'_, W> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Word> Copy for Arg<'_, W> {}

impl<W: Word> fmt::Debug for Arg<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Arg(..)")
    }
}

/// What an allocation may store in a field of type `W`: a [`Local`], a reference to a [`Root`], an
/// immediate value, an [`Arg`]. A [`Ref`](crate::Ref) is none, since the allocation may move its object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot initialize a word of type `{W}`",
    note = "an allocation takes handles (`Local`, `&Root`, `Regs::arg`) and immediate values, such as `Value::nil()`; make a handle of a reference with `Scope::local`"
)]
pub trait IntoArg<'x, W: Word> {
    /// Returns the argument.
    fn into_arg(self) -> Arg<'x, W>;
}

impl<'x, W: Word> IntoArg<'x, W> for Arg<'x, W> {
    #[inline]
    fn into_arg(self) -> Self {
        self
    }
}

impl<'x, V: Word, W: Holds<V>> IntoArg<'x, W> for Local<'x, V> {
    #[inline]
    fn into_arg(self) -> Arg<'x, W> {
        Arg::root(self.cell(), W::TAG)
    }
}

impl<'x, V: Word, W: Holds<V>> IntoArg<'x, W> for &'x Root<'_, V> {
    #[inline]
    fn into_arg(self) -> Arg<'x, W> {
        Arg::root(self.0.cell(), W::TAG)
    }
}

impl<'x, T: Pointer> IntoArg<'x, Option<T>> for Option<Local<'x, T>> {
    #[inline]
    fn into_arg(self) -> Arg<'x, Option<T>> {
        // SAFETY: the immediate is `None`.
        self.map_or_else(|| unsafe { Arg::immediate(NONE) }, IntoArg::into_arg)
    }
}

impl<'x, I: Immediate, W: HoldsImmediate<I>> IntoArg<'x, W> for I {
    #[inline]
    fn into_arg(self) -> Arg<'x, W> {
        // SAFETY: `HoldsImmediate` promises a word of type `W`; it has no object.
        unsafe { Arg::immediate(W::word(self)) }
    }
}

// SAFETY: the root holds a word of type `V`.
unsafe impl<'a, V: Word, W: Holds<V>> Source<'a, W> for Local<'_, V> {
    #[inline]
    fn raw(&self, _: &Table) -> Raw {
        tagged(self.load(), W::TAG)
    }
}

// SAFETY: as above.
unsafe impl<'a, V: Word, W: Holds<V>> Source<'a, W> for &Root<'_, V> {
    #[inline]
    fn raw(&self, here: &Table) -> Raw {
        Source::<W>::raw(&self.0, here)
    }
}

// SAFETY: the argument is a word of type `W`: an immediate, or that of a root.
unsafe impl<'a, W: Word> Source<'a, W> for Arg<'_, W> {
    #[inline]
    fn raw(&self, _: &Table) -> Raw {
        self.read()
    }
}
