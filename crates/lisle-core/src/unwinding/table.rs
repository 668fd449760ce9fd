//! The exception table of one function.

use super::languages::Language;

/// What a frame does with an exception that one of its calls raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// The frame runs destructors, or nothing, and lets the exception pass.
    Pass,
    Catch,
    /// The frame ends the process, or may do so.
    Block,
}

const OMITTED: u8 = 0xff;

/// Returns what the function with the table at `table` does if the call `offset` bytes after
/// its beginning unwinds because of a panic. `language` is asked if that depends on the language.
///
/// # Safety
///
/// `table` is null or points to the table of a function, as its compiler wrote it.
pub(super) unsafe fn action(table: *const u8, offset: usize, language: impl FnOnce() -> Language) -> Action {
    if table.is_null() {
        return Action::Pass;
    }
    let mut reader = Reader::at(table);
    // SAFETY: the fields are read in the order in which the compiler wrote them, and no further
    // than the table says.
    let landing_pads = unsafe { reader.byte() };
    if landing_pads != OMITTED {
        // SAFETY: as above.
        unsafe { reader.encoded(landing_pads) };
    }
    // SAFETY: as above.
    let type_encoding = unsafe { reader.byte() };
    let mut types = std::ptr::null();
    if type_encoding != OMITTED {
        // SAFETY: as above.
        let length = unsafe { reader.unsigned() };
        types = reader.0.wrapping_add(length);
    }
    // SAFETY: as above.
    let encoding = unsafe { reader.byte() };
    // SAFETY: as above.
    let length = unsafe { reader.unsigned() };
    let actions = reader.0.wrapping_add(length);
    while reader.0 < actions {
        // SAFETY: as above.
        let start = unsafe { reader.encoded(encoding) };
        // SAFETY: as above.
        let length = unsafe { reader.encoded(encoding) };
        // SAFETY: as above.
        let landing_pad = unsafe { reader.encoded(encoding) };
        // SAFETY: as above.
        let action = unsafe { reader.unsigned() };
        if offset < start {
            // The entries are in ascending order.
            break;
        }
        if offset - start < length {
            if landing_pad == 0 || action == 0 {
                return Action::Pass;
            }
            // An action is the position of its entry after the call entries, counted from 1.
            let first = actions.wrapping_add(action - 1);
            let types = Types { end: types, size: size_of_encoded(type_encoding) };
            // SAFETY: these are the places of the entries and of the types.
            return unsafe { of_entries(first, &types, language()) };
        }
    }
    // The table does not list calls that cannot unwind.
    Action::Block
}

/// The types that a function catches, before the end of its table.
struct Types {
    end: *const u8,
    size: usize,
}

impl Types {
    /// Returns `true` if the type with this number is none: all exceptions are caught.
    ///
    /// # Safety
    ///
    /// The table has a type with this number.
    unsafe fn is_any(&self, number: usize) -> bool {
        let place = self.end.wrapping_sub(number * self.size);
        // SAFETY: by the caller's promise. A reference to no type is 0 in all encodings.
        (0..self.size).all(|byte| unsafe { *place.wrapping_add(byte) } == 0)
    }
}

/// Returns what a frame does that has the chain of entries which begins at `first`.
///
/// # Safety
///
/// `first` points to an entry of the table with these types.
unsafe fn of_entries(first: *const u8, types: &Types, language: Language) -> Action {
    let mut place = first;
    loop {
        let mut reader = Reader::at(place);
        // SAFETY: by the caller's promise.
        let filter = unsafe { reader.signed() };
        match (filter, language) {
            (0, Language::Rust) => return Action::Pass,
            (1.., Language::Rust) => return Action::Catch,
            (0, _) => {}
            // SAFETY: the table has the types that its entries refer to.
            (1.., Language::Cpp) if !unsafe { types.is_any(filter.unsigned_abs()) } => {}
            _ => return Action::Block,
        }
        let next = reader.0;
        // SAFETY: as above.
        match unsafe { reader.signed() } {
            0 => return Action::Pass,
            distance => place = next.wrapping_offset(distance),
        }
    }
}

/// Returns the size of a number in an encoding that has one.
fn size_of_encoded(encoding: u8) -> usize {
    match encoding & 0x0f {
        0x02 | 0x0a => 2,
        0x03 | 0x0b => 4,
        0x04 | 0x0c => 8,
        _ => size_of::<usize>(),
    }
}

/// Reads numbers of a table of the compiler's.
pub(super) struct Reader(*const u8);

impl Reader {
    pub(super) fn at(place: *const u8) -> Self {
        Reader(place)
    }

    /// Returns the address of what is read next.
    #[cfg(target_os = "linux")]
    pub(super) fn place(&self) -> *const u8 {
        self.0
    }

    /// Reads a byte.
    ///
    /// # Safety
    ///
    /// At least one byte is left to read. The same holds for the other methods.
    pub(super) unsafe fn byte(&mut self) -> u8 {
        // SAFETY: by the caller's promise.
        let byte = unsafe { *self.0 };
        self.0 = self.0.wrapping_add(1);
        byte
    }

    /// Reads a LEB128 number. Returns its bits, the number of bits read, and the last byte.
    unsafe fn leb128(&mut self) -> (usize, u32, u8) {
        let (mut value, mut shift) = (0, 0);
        loop {
            // SAFETY: passed on to the caller.
            let byte = unsafe { self.byte() };
            value |= usize::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                return (value, shift, byte);
            }
        }
    }

    pub(super) unsafe fn unsigned(&mut self) -> usize {
        // SAFETY: passed on to the caller.
        unsafe { self.leb128() }.0
    }

    pub(super) unsafe fn signed(&mut self) -> isize {
        // SAFETY: passed on to the caller.
        let (value, shift, last) = unsafe { self.leb128() };
        let sign = if last & 0x40 == 0 { 0 } else { usize::MAX.checked_shl(shift).unwrap_or(0) };
        (value | sign).cast_signed()
    }

    /// Reads a number in the encoding that a table names. The base to which it is relative is
    /// ignored, because only distances are read.
    unsafe fn encoded(&mut self, encoding: u8) -> usize {
        match encoding & 0x0f {
            // SAFETY: passed on to the caller.
            0x01 => return unsafe { self.unsigned() },
            // SAFETY: passed on to the caller.
            0x09 => return unsafe { self.signed() }.cast_unsigned(),
            _ => {}
        }
        let bytes = size_of_encoded(encoding);
        let mut number = [0; size_of::<u64>()];
        for (index, place) in number[..bytes].iter_mut().enumerate() {
            let index = if cfg!(target_endian = "big") { bytes - 1 - index } else { index };
            // SAFETY: passed on to the caller.
            *place = unsafe { *self.0.wrapping_add(index) };
        }
        self.0 = self.0.wrapping_add(bytes);
        u64::from_le_bytes(number) as usize
    }

    /// Reads an address in the encoding that a table names, and returns `None` if it is relative to
    /// something that is not known here.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn address(&mut self, encoding: u8) -> Option<usize> {
        const RELATIVE: u8 = 0x70;
        const TO_ITS_PLACE: u8 = 0x10;
        const INDIRECT: u8 = 0x80;
        let place = self.0.addr();
        // SAFETY: passed on to the caller.
        let number = unsafe { self.encoded(encoding) };
        // Of those with less bytes than an address, the upper half may be negative.
        let number = match encoding & 0x0f {
            0x0a => (number as i16 as isize).cast_unsigned(),
            0x0b => (number as i32 as isize).cast_unsigned(),
            _ => number,
        };
        let address = match encoding & RELATIVE {
            0 => number,
            TO_ITS_PLACE => place.wrapping_add(number),
            _ => return None,
        };
        if encoding & INDIRECT == 0 {
            return Some(address);
        }
        let address = std::ptr::with_exposed_provenance::<usize>(address);
        // SAFETY: by the format, an address lies there.
        Some(unsafe { address.read_unaligned() })
    }
}
