//! The bits of a word: a pointer to an object, or an immediate value.
//!
//! The lowest bit of an immediate is 1. In a pointer it is 0, and the next two bits are a tag, by which a
//! word that may point to objects of several types tells them apart.

use std::ptr;

/// The bits of a word. They are a pointer, since the provenance of a word's address must not get lost.
pub type Raw = *mut u8;

const IMMEDIATE: usize = 1;
const TAGS: usize = 0b110;

/// Returns `true` if the word points to an object.
#[inline]
pub(crate) fn is_pointer(raw: Raw) -> bool {
    raw.addr() & IMMEDIATE == 0
}

/// Returns the payload of the object to which the word points.
#[inline]
pub(crate) fn untagged(raw: Raw) -> Raw {
    raw.map_addr(|addr| addr & !TAGS)
}

/// Returns a word with the tag of `raw` that points to `to`.
#[inline]
pub(crate) fn moved(raw: Raw, to: Raw) -> Raw {
    to.map_addr(|addr| addr | (raw.addr() & TAGS))
}

/// Returns the immediate with these 63 bits.
#[inline]
#[doc(hidden)]
pub const fn immediate(bits: u64) -> Raw {
    ptr::without_provenance_mut(((bits as usize) << 1) | IMMEDIATE)
}

/// Returns the 63 bits of an immediate, or `None` for a pointer.
#[inline]
#[doc(hidden)]
pub fn immediate_bits(raw: Raw) -> Option<u64> {
    (!is_pointer(raw)).then(|| (raw.addr() >> 1) as u64)
}

/// Returns the tag of a word that points to an object: 0 to 3.
#[inline]
#[doc(hidden)]
pub fn tag(raw: Raw) -> usize {
    (raw.addr() & TAGS) >> 1
}

/// Returns the word with a tag from 0 to 3.
#[inline]
#[doc(hidden)]
pub fn tagged(raw: Raw, tag: usize) -> Raw {
    raw.map_addr(|addr| addr | (tag << 1))
}

/// The word of `None`.
pub(crate) const NONE: Raw = immediate(0);
