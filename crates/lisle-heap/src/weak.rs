//! Objects that refer to others without keeping them alive.

use crate::full::{Full, unless_full};
use crate::local::{IntoArg, Local};
use crate::object::{Desc, Shape, WORD, ephemeron, weak_word};
use crate::raw::{Raw, is_pointer};
use crate::scope::Scope;
use crate::word::{Pointer, Ref, Source, Word};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// For the type parameter of an object, which has no value of it.
type Of<W> = PhantomData<fn(W) -> W>;

/// An object that refers to another one without keeping it alive.
///
/// [`Scope::weak`] allocates it, and it is stored like all objects: in a `Gc<Weak<T>>`, a `Slot<Option<Weak<T>>>`, a value. It is
/// emptied when a collection finds the other object dead.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Heap, Kind, Object};
///
/// #[derive(Object)]
/// struct Image {
///     pixels: Vec<u8>,
/// }
///
/// Heap::new().enter(|s| {
///     let mut image = s.root::<Option<Image>>(None);
///     let cached = s.escape(|s| {
///         let new = s.alloc::<Image>(Image::init(vec![0; 64]));
///         image.set(s, new);
///         s.weak::<Image>(new)
///     });
///     s.collect(Kind::Full);
///     assert_eq!(cached.get(s).upgrade(s).unwrap().pixels.len(), 64);
///     image.set(s, None);
///     s.collect(Kind::Full);
///     assert!(cached.get(s).upgrade(s).is_none());
/// });
/// ```
#[derive(Debug)]
pub struct Weak<T: Pointer>(Of<T>);

/// A key and a value, of which the value is kept alive by the key: an entry of a table with weak keys.
///
/// It keeps the key not alive, and the value only while the key is, also if the value refers to the key. When a cycle finds
/// the key dead, the ephemeron is emptied. A minor collection keeps both alive.
///
/// The ephemerons of B. Hayes, "Ephemerons: a new finalization mechanism", 1997.
///
/// # Examples
///
/// ```
/// use lisle_heap::{Bytes, Heap, Kind, Object};
///
/// #[derive(Object)]
/// struct Node {
///     number: u32,
/// }
///
/// Heap::new().enter(|s| {
///     let mut node = s.root::<Option<Node>>(None);
///     let entry = s.escape(|s| {
///         let new = s.alloc::<Node>(Node::init(3));
///         node.set(s, new);
///         let name = s.bytes(b"three");
///         s.ephemeron::<Node, Bytes>(new, name)
///     });
///     s.collect(Kind::Full);
///     let (key, name) = entry.get(s).entry(s).unwrap();
///     assert_eq!((key.number, name.as_slice()), (3, &b"three"[..]));
///     node.set(s, None);
///     s.collect(Kind::Full);
///     assert!(entry.get(s).entry(s).is_none());
/// });
/// ```
#[derive(Debug)]
pub struct Ephemeron<K: Pointer, V: Word>(Of<K>, Of<V>);

// SAFETY: words for a weak object point to weak objects of the type.
unsafe impl<T: Pointer> Word for Weak<T> {
    type View<'a> = Ref<'a, Self>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Ref<'a, Self> {
        // SAFETY: passed on to the caller.
        unsafe { Ref::new(raw) }
    }
}

// SAFETY: `Scope::weak` writes this description.
unsafe impl<T: Pointer> Pointer for Weak<T> {
    const DESC: &'static Desc = &Desc::variable::<Self>(Shape::Weak);
}

// SAFETY: words for an ephemeron point to ephemerons of the type.
unsafe impl<K: Pointer, V: Word> Word for Ephemeron<K, V> {
    type View<'a> = Ref<'a, Self>;
    #[inline]
    unsafe fn view<'a>(raw: Raw) -> Ref<'a, Self> {
        // SAFETY: passed on to the caller.
        unsafe { Ref::new(raw) }
    }
}

// SAFETY: `Scope::ephemeron` writes this description.
unsafe impl<K: Pointer, V: Word> Pointer for Ephemeron<K, V> {
    const DESC: &'static Desc = &Desc::variable::<Self>(Shape::Ephemeron);
}

impl<'a, T: Pointer> Ref<'a, Weak<T>> {
    /// Returns the object, or `None` if it was found dead. Takes two loads.
    pub fn upgrade(self, scope: &'a Scope<'_>) -> Option<Ref<'a, T>> {
        // SAFETY: the reference is to a weak object.
        let raw = unsafe { weak_word(self.raw()) }.load(Ordering::Relaxed);
        scope.place().young.mark(raw);
        // SAFETY: the word was made for a `T`. Nothing moves while the scope is borrowed.
        is_pointer(raw).then(|| unsafe { Ref::new(raw) })
    }
}

impl<'a, K: Pointer, V: Word> Ref<'a, Ephemeron<K, V>> {
    /// Returns the key and the value, or `None` if the key was found dead.
    pub fn entry(self, scope: &'a Scope<'_>) -> Option<(Ref<'a, K>, V::View<'a>)> {
        // SAFETY: the reference is to an ephemeron.
        let [key, value] = unsafe { ephemeron(self.raw()) };
        let (key, value) = (key.load(Ordering::Relaxed), value.load(Ordering::Acquire));
        scope.place().young.mark(key);
        scope.place().young.mark(value);
        // SAFETY: the words were made for a `K` and a `V`. Nothing moves while the scope is borrowed.
        is_pointer(key).then(|| unsafe { (Ref::new(key), V::view(value)) })
    }

    /// Stores a value. Does nothing if the key was found dead.
    pub fn set_value(self, scope: &'a Scope<'_>, value: impl Source<'a, V>) {
        // SAFETY: the reference is to an ephemeron.
        let [key, slot] = unsafe { ephemeron(self.raw()) };
        if is_pointer(key.load(Ordering::Relaxed)) {
            let new = value.raw(scope.table());
            scope.place().young.before_store(slot, new);
            slot.store(new, Ordering::Release);
        }
    }
}

impl<T: Pointer> fmt::Debug for Ref<'_, Weak<T>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Weak(..)")
    }
}

impl<K: Pointer, V: Word> fmt::Debug for Ref<'_, Ephemeron<K, V>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ephemeron(..)")
    }
}

impl<'s> Scope<'s> {
    /// Allocates an object that refers to `target` without keeping it alive. May collect.
    ///
    /// # Panics
    ///
    /// If the heap is [full](Full).
    #[track_caller]
    pub fn weak<'x, T: Pointer>(&mut self, target: impl IntoArg<'x, T>) -> Local<'s, Weak<T>> {
        unless_full(self.try_weak(target))
    }

    /// Allocates an object that refers to `target` without keeping it alive. May collect.
    ///
    /// # Errors
    ///
    /// If the heap is full, also after it has collected.
    pub fn try_weak<'x, T: Pointer>(
        &mut self,
        target: impl IntoArg<'x, T>,
    ) -> Result<Local<'s, Weak<T>>, Full> {
        let target = target.into_arg();
        let marker = &self.inner().cycle.marker;
        if !(self.place().young.reserve_weak() && marker.reserve_weak()) {
            return Err(self.inner().full(2 * WORD, 0));
        }
        let room = self.room(2, Weak::<T>::DESC);
        self.inner().cycle.marker.end_reservation(room.is_ok());
        let payload = room?;
        // SAFETY: there is room for a word.
        unsafe { payload.cast::<Raw>().write(target.read()) };
        self.place().young.note_weak(payload);
        Ok(self.push(payload))
    }

    /// Allocates an ephemeron. May collect.
    ///
    /// # Panics
    ///
    /// If the heap is [full](Full).
    #[track_caller]
    pub fn ephemeron<'x, K: Pointer, V: Word>(
        &mut self,
        key: impl IntoArg<'x, K>,
        value: impl IntoArg<'x, V>,
    ) -> Local<'s, Ephemeron<K, V>> {
        unless_full(self.try_ephemeron(key, value))
    }

    /// Allocates an ephemeron. May collect.
    ///
    /// # Errors
    ///
    /// If the heap is full, also after it has collected.
    pub fn try_ephemeron<'x, K: Pointer, V: Word>(
        &mut self,
        key: impl IntoArg<'x, K>,
        value: impl IntoArg<'x, V>,
    ) -> Result<Local<'s, Ephemeron<K, V>>, Full> {
        let (key, value) = (key.into_arg(), value.into_arg());
        let payload = self.room(3, Ephemeron::<K, V>::DESC)?;
        // SAFETY: there is room for two words.
        unsafe { payload.cast::<[Raw; 2]>().write([key.read(), value.read()]) };
        Ok(self.push(payload))
    }
}
