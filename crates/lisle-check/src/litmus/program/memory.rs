//! The shared memory of a test: its locations, their types, and where they lie.
//!
//! Invariant: locations do not overlap, and each begins at a multiple of the largest size of an
//! access, so that whether an access is aligned does not depend on which location it goes to.

use super::expression::Extension;

/// A type of numbers, as wide as an access can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    /// Its size in bytes: 1, 2, 4 or 8.
    pub(crate) size: usize,
    /// How its values become 64 bits.
    pub(crate) extension: Extension,
}

impl Type {
    /// The type of a location without one.
    pub(crate) const INT: Type = Type { size: 4, extension: Extension::Signed };
    /// A signed number of 64 bits, and an address.
    pub(crate) const LONG: Type = Type { size: 8, extension: Extension::Signed };

    /// The type called `name`, which is one word.
    pub(crate) fn known(name: &str) -> Option<Type> {
        let (size, extension) = match name {
            "int8_t" => (1, Extension::Signed),
            "uint8_t" => (1, Extension::Zero),
            "int16_t" | "short" => (2, Extension::Signed),
            "uint16_t" => (2, Extension::Zero),
            "int" | "int32_t" | "atomic_int" | "atomic_t" | "spinlock_t" => (4, Extension::Signed),
            "uint32_t" => (4, Extension::Zero),
            "long" | "int64_t" | "intptr_t" | "atomic_long" | "atomic_long_t" => (8, Extension::Signed),
            "uint64_t" | "uintptr_t" => (8, Extension::Zero),
            _ => return None,
        };
        Some(Type { size, extension })
    }

    /// `value` converted to this type.
    pub(crate) fn wrap(self, value: i64) -> i64 {
        self.extension.apply(8 * self.size as u32, value)
    }
}

/// A location of the shared memory, or an array of them.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) name: String,
    /// The type of each element, if the test says it.
    pub(crate) declared: Option<Type>,
    /// Whether it is an array.
    pub(crate) array: bool,
    /// The value of each element at the start. A location that is no array has one.
    pub(crate) initial: Vec<i64>,
    /// The type of each element, which follows from the whole test.
    pub(crate) ty: Type,
}

impl Location {
    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.ty.size * self.initial.len()
    }

    /// The value at the start of the `size` bytes from `offset` on, with zeros above.
    pub(crate) fn first_value(&self, offset: usize, size: usize) -> i64 {
        let byte = |at: usize| self.initial[at / self.ty.size] >> (8 * (at % self.ty.size)) & 0xff;
        (offset..offset + size).rev().fold(0, |value, at| value << 8 | byte(at))
    }
}

/// The shared memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub(crate) locations: Vec<Location>,
}

/// Addresses are numbers that a test does not otherwise use, and fit into 32 bits.
const FIRST_ADDRESS: i64 = 0x5a00_0000;

/// The distance of two addresses, and the most bytes that a location may have.
pub(crate) const STRIDE: usize = 0x1000;

impl Memory {
    /// The index of the location called `name`, which is added if it is new.
    pub(crate) fn location(&mut self, name: &str) -> usize {
        self.known(name).unwrap_or_else(|| {
            self.locations.push(Location {
                name: name.to_owned(),
                declared: None,
                array: false,
                initial: vec![0],
                ty: Type::INT,
            });
            self.locations.len() - 1
        })
    }

    /// The index of the location called `name`, if there is one.
    pub(crate) fn known(&self, name: &str) -> Option<usize> {
        self.locations.iter().position(|location| location.name == name)
    }

    /// The address of the location with this index.
    pub(crate) fn address(location: usize) -> i64 {
        FIRST_ADDRESS + (STRIDE * location) as i64
    }

    /// The location that has the `size` bytes at `address`, with the place where they begin. A size
    /// of 0 stands for the whole element that begins there.
    pub(crate) fn find(&self, address: i64, size: usize) -> Option<Range> {
        let (location, offset) = self.near(address)?;
        let known = &self.locations[location];
        let size = match size {
            0 if offset % known.ty.size == 0 => known.ty.size,
            0 => return None,
            size => size,
        };
        (offset + size <= known.size()).then_some(Range { location, offset, size })
    }

    /// The location in which `address` is, or the last one before it, with the distance from its
    /// beginning.
    pub(crate) fn near(&self, address: i64) -> Option<(usize, usize)> {
        let distance = usize::try_from(address.checked_sub(FIRST_ADDRESS)?).ok()?;
        let (location, offset) = (distance / STRIDE, distance % STRIDE);
        (location < self.locations.len()).then_some((location, offset))
    }

    /// The value as a test writes it: the name of a location for its address.
    pub(crate) fn show(&self, value: i64) -> String {
        match self.find(value, 1) {
            Some(Range { location, offset: 0, .. }) => self.locations[location].name.clone(),
            _ => value.to_string(),
        }
    }
}

/// Some bytes of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub(crate) location: usize,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

impl Range {
    /// The offset of the first byte after it.
    pub(crate) fn end(self) -> usize {
        self.offset + self.size
    }

    /// Returns `true` if all of `other` is in it.
    pub(crate) fn contains(self, other: Range) -> bool {
        self.location == other.location && self.offset <= other.offset && other.end() <= self.end()
    }
}
