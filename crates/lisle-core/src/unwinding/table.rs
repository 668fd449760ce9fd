//! The exception table of one function.

use super::calls::copies_only;
use super::languages::Language;

/// The action of a frame for an exception that one of its calls raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// The frame runs destructors, or nothing, and lets the exception pass.
    Pass,
    Catch,
    /// The frame ends the process, or may do so.
    Block,
    /// The table does not list the call: the compiler takes it for one that cannot unwind. If it did, the
    /// process would end.
    Unlisted,
}

const OMITTED: u8 = 0xff;

/// The table of a function.
struct Table {
    /// Where the entries of calls begin and end, and how their numbers are written. The entries of
    /// actions follow.
    calls: *const u8,
    actions: *const u8,
    encoding: u8,
    types: Types,
}

/// The entry of calls that are next to each other. `start` is counted from the beginning of the function.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    length: usize,
    /// Where the frame goes on if such a call unwinds; 0 if the frame is left.
    landing_pad: usize,
    /// The position of an entry of an action, counted from 1; 0 if there are destructors only.
    action: usize,
}

impl Table {
    /// # Safety
    ///
    /// `table` points to the table of a function, as its compiler wrote it.
    unsafe fn at(table: *const u8) -> Self {
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
        let mut end = std::ptr::null();
        if type_encoding != OMITTED {
            // SAFETY: as above.
            let length = unsafe { reader.unsigned() };
            end = reader.0.wrapping_add(length);
        }
        // SAFETY: as above.
        let encoding = unsafe { reader.byte() };
        // SAFETY: as above.
        let length = unsafe { reader.unsigned() };
        let types = Types { end, size: size_of_encoded(type_encoding) };
        Table { calls: reader.0, actions: reader.0.wrapping_add(length), encoding, types }
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut reader = Reader::at(self.calls);
        std::iter::from_fn(move || {
            if reader.0 >= self.actions {
                return None;
            }
            // SAFETY: by the promise of the caller of `at`, there is another entry, and its fields are
            // these.
            let mut number = || unsafe { reader.encoded(self.encoding) };
            let (start, length, landing_pad) = (number(), number(), number());
            // SAFETY: as above.
            let action = unsafe { reader.unsigned() };
            Some(Entry { start, length, landing_pad, action })
        })
    }

    /// Returns `true` if the table lists a call by which a frame of Rust goes on unwinding, when its
    /// destructors have run. The function begins at `function`.
    ///
    /// That is a call of `_Unwind_Resume`, which is listed as other calls are by which the frame is left.
    /// In a function without such a call the destructors are followed by the end of the process.
    /// `extern "C"` functions are compiled so, and nothing else tells it.
    ///
    /// # Safety
    ///
    /// It is the function of this table.
    unsafe fn goes_on(&self, function: usize) -> bool {
        let leaves = || self.entries().filter(|entry| entry.landing_pad == 0);
        // SAFETY: the code of the function lies there.
        let is_such = |entry: Entry| !unsafe { copies_only(function + entry.start, entry.length) };
        // Nearly always it is the last, behind the code that runs the destructors.
        leaves().last().is_some_and(is_such) || leaves().any(is_such)
    }
}

/// Returns the action of the function with the table at `table`, which begins at `function`, if the
/// call at the address `at` unwinds because of a panic. Calls `language` if the action depends on the
/// language.
///
/// # Safety
///
/// `table` is null or points to the table of that function, as its compiler wrote it.
pub(super) unsafe fn action(
    table: *const u8,
    function: usize,
    at: usize,
    language: impl Fn() -> Language,
) -> Action {
    if table.is_null() {
        return Action::Pass;
    }
    // SAFETY: by the caller's promise.
    let table = unsafe { Table::at(table) };
    let offset = at.wrapping_sub(function);
    let mut entries = table.entries();
    let entry = entries.find(|entry| offset.checked_sub(entry.start).is_some_and(|from| from < entry.length));
    let Some(entry) = entry else { return Action::Unlisted };
    if entry.landing_pad == 0 {
        return Action::Pass;
    }
    let mut known = None;
    if entry.action != 0 {
        let language = *known.insert(language());
        let first = table.actions.wrapping_add(entry.action - 1);
        // SAFETY: these are the places of the entries and of the types.
        match unsafe { of_entries(first, &table.types, language) } {
            Action::Pass => {}
            action => return action,
        }
    }
    // The table of a function of another language may lie in two parts, and a gap in one part tells
    // nothing. SAFETY: by the caller's promise.
    let goes_on = unsafe { table.goes_on(function) } || known.unwrap_or_else(&language) != Language::Rust;
    if goes_on { Action::Pass } else { Action::Block }
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

/// Returns the action of a frame with the chain of entries that begins at `first`.
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

    /// Returns the address of the next read.
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
        // Numbers with less bytes than an address may be negative in their upper half.
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
