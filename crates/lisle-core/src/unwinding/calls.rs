//! The calls that compilers make unasked: calls that copy memory, and the call that goes on
//! unwinding.
//!
//! A table lists both as calls by which a frame may be left, in each function that copies much, though
//! nothing leaves a frame by a copy. Only the code tells which of them is there.

/// How code that was linked together with this code calls a function.
struct Function {
    /// The address that a call goes to.
    address: usize,
    /// The place of the address that a call goes to by way of it.
    place: usize,
}

macro_rules! function {
    ($name:literal) => {{
        let (address, place);
        // SAFETY: this only takes two addresses, which the linker knows.
        unsafe {
            std::arch::asm!(
                concat!("lea {}, [rip + ", $name, "@PLT]"),
                concat!("lea {}, [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                out(reg) place,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        Function { address, place }
    }};
}

/// Returns `true` if the code at this address calls one of the functions that copy, fill or compare
/// memory, and does not go on unwinding. Code that was linked elsewhere calls none, as far as is known.
///
/// # Safety
///
/// Code of this length lies there.
pub(super) unsafe fn copies_only(address: usize, length: usize) -> bool {
    let goes_on = function!("_Unwind_Resume");
    let copying = [
        function!("memcpy"),
        function!("memmove"),
        function!("memset"),
        function!("memcmp"),
        function!("bcmp"),
    ];
    let code = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: by the caller's promise. Code stays as it is while it is on the stack.
    let code = unsafe { std::slice::from_raw_parts(code, length) };
    let mut copies = false;
    // Where instructions begin is not known. That other bytes look like such a call is unlikely, and one
    // that looks like going on only has the answer that there was before.
    for at in 0..length {
        let (is_by_place, size, distance) = match code[at..] {
            [0xe8, a, b, c, d, ..] => (false, 5, [a, b, c, d]),
            [0xff, 0x15, a, b, c, d, ..] => (true, 6, [a, b, c, d]),
            // The address is loaded first.
            [0x48 | 0x4c, 0x8b, how, a, b, c, d, ..] if how & 0xc7 == 5 => (true, 7, [a, b, c, d]),
            _ => continue,
        };
        let next = address + at + size;
        let target = next.wrapping_add_signed(i32::from_le_bytes(distance) as isize);
        let is = |function: &Function| target == if is_by_place { function.place } else { function.address };
        if is(&goes_on) {
            return false;
        }
        copies |= copying.iter().any(is);
    }
    copies
}
