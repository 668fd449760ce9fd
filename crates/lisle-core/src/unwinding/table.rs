//! The exception table of one function.

/// What a frame does with an exception that one of its calls raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// The frame runs destructors, or nothing, and lets the exception pass.
    Pass,
    Catch,
    /// The frame ends the process.
    Block,
}

const OMITTED: u8 = 0xff;

/// Returns what the function with the table at `table` does if the call `offset` bytes after
/// its beginning unwinds.
///
/// # Safety
///
/// `table` is null or points to the table of a function, as its compiler wrote it.
pub(super) unsafe fn action(table: *const u8, offset: usize) -> Action {
    if table.is_null() {
        return Action::Pass;
    }
    let mut reader = Reader(table);
    // SAFETY: the fields are read in the order in which the compiler wrote them, and no further
    // than the table says.
    let landing_pads = unsafe { reader.byte() };
    if landing_pads != OMITTED {
        // SAFETY: as above.
        unsafe { reader.encoded(landing_pads) };
    }
    // SAFETY: as above.
    if unsafe { reader.byte() } != OMITTED {
        // SAFETY: as above.
        unsafe { reader.unsigned() };
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
            // SAFETY: an action is the position of its entry after the call entries, counted
            // from 1.
            return match unsafe { Reader(actions.wrapping_add(action - 1)).signed() } {
                0 => Action::Pass,
                1.. => Action::Catch,
                ..0 => Action::Block,
            };
        }
    }
    // The table does not list calls that cannot unwind.
    Action::Block
}

struct Reader(*const u8);

impl Reader {
    /// Reads a byte.
    ///
    /// # Safety
    ///
    /// At least one byte is left to read. The same holds for the other methods.
    unsafe fn byte(&mut self) -> u8 {
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

    unsafe fn unsigned(&mut self) -> usize {
        // SAFETY: passed on to the caller.
        unsafe { self.leb128() }.0
    }

    unsafe fn signed(&mut self) -> isize {
        // SAFETY: passed on to the caller.
        let (value, shift, last) = unsafe { self.leb128() };
        let sign = if last & 0x40 == 0 { 0 } else { usize::MAX.checked_shl(shift).unwrap_or(0) };
        (value | sign).cast_signed()
    }

    /// Reads a number in the encoding that a table names. The base to which it is relative is
    /// ignored, because only distances are read.
    unsafe fn encoded(&mut self, encoding: u8) -> usize {
        let bytes = match encoding & 0x0f {
            // SAFETY: passed on to the caller.
            0x01 => return unsafe { self.unsigned() },
            // SAFETY: passed on to the caller.
            0x09 => return unsafe { self.signed() }.cast_unsigned(),
            0x02 | 0x0a => 2,
            0x03 | 0x0b => 4,
            0x04 | 0x0c => 8,
            _ => size_of::<usize>(),
        };
        let mut number = [0; size_of::<u64>()];
        for (index, place) in number[..bytes].iter_mut().enumerate() {
            let index = if cfg!(target_endian = "big") { bytes - 1 - index } else { index };
            // SAFETY: passed on to the caller.
            *place = unsafe { *self.0.wrapping_add(index) };
        }
        self.0 = self.0.wrapping_add(bytes);
        u64::from_le_bytes(number) as usize
    }
}
