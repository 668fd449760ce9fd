//! The language of a frame, as far as it decides the effect of a panic of Rust.
//!
//! The exception table of a function has the same format in all languages, and each has a function
//! that interprets it, its *personality*. Rust's lets a panic be caught where the table says so, and
//! raised again. C++'s takes a panic for a foreign exception: no `catch` with a type gets it, and
//! `catch (...)` does. If that does not throw it on, the process ends. A table does not tell whether
//! it does, so a frame that would catch it counts as one that no panic passes.
//!
//! The unwinder does not say which personality a frame has. It is noted where the unwinder finds it:
//! in the entry that is common to the functions of an object file (the CIE of DWARF's call frame
//! information), to which the entry of each function (its FDE) refers.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The language that a frame's table is to be read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    /// C++, in which a panic is caught by `catch (...)` only.
    Cpp,
    /// Another, in which anything may catch it.
    Other,
}

/// Returns the language of the function in which the address lies, and which has an exception table.
pub(super) fn language_at(address: usize) -> Language {
    static RUST: OnceLock<Option<usize>> = OnceLock::new();
    let rust = *RUST.get_or_init(|| personality_at(with_a_table as *const () as usize + 1));
    let personality = personality_at(address);
    // Where the library cannot tell its own, it can tell none.
    if rust.is_none() || personality == rust {
        return Language::Rust;
    }
    match personality {
        Some(personality) if is_of_cpp(personality) => Language::Cpp,
        _ => Language::Other,
    }
}

/// Returns `true` if this is the personality of C++. It may be in a library that has been loaded lately,
/// and for others alone, so it is asked for its name.
fn is_of_cpp(personality: usize) -> bool {
    /// The last one that was, for which there is no need to ask.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    if personality == LAST.load(Ordering::Relaxed) {
        return true;
    }
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and there is room for the answer.
    if unsafe { libc::dladdr(std::ptr::without_provenance(personality), found.as_mut_ptr()) } == 0 {
        return false;
    }
    // SAFETY: it has been found.
    let found = unsafe { found.assume_init() };
    if found.dli_sname.is_null() || found.dli_saddr.addr() != personality {
        return false;
    }
    // SAFETY: the name of a symbol is a C string, which stays as long as the library, a function of which
    // is on the stack.
    let is_such = unsafe { CStr::from_ptr(found.dli_sname) } == c"__gxx_personality_v0";
    if is_such {
        LAST.store(personality, Ordering::Relaxed);
    }
    is_such
}

/// A function of Rust with an exception table, since it has something to drop if `f` panics.
#[inline(never)]
fn with_a_table(f: &dyn Fn()) {
    struct Dropped;
    impl Drop for Dropped {
        #[inline(never)]
        fn drop(&mut self) {
            std::hint::black_box(());
        }
    }
    let _dropped = Dropped;
    f();
}

/// The base addresses of relative addresses in an entry.
#[repr(C)]
struct Bases {
    text: *const c_void,
    data: *const c_void,
    function: *const c_void,
}

unsafe extern "C" {
    // As the two above, of the unwinder that the standard library links.
    fn _Unwind_Find_FDE(address: *const c_void, bases: *mut Bases) -> *const u8;
}

/// Returns the address of the personality of the function in which the address lies, or `None` if
/// it has none or it cannot be read.
fn personality_at(address: usize) -> Option<usize> {
    let mut bases = Bases { text: std::ptr::null(), data: std::ptr::null(), function: std::ptr::null() };
    // SAFETY: any address may be asked for, and there is room for the bases.
    let fde = unsafe { _Unwind_Find_FDE(std::ptr::without_provenance(address), &raw mut bases) };
    if fde.is_null() {
        return None;
    }
    // SAFETY: an FDE begins with its length and the distance to its CIE. Both have four bytes: no
    // compiler writes the longer form into loaded code.
    let distance = unsafe { fde.add(4).cast::<u32>().read_unaligned() };
    // SAFETY: by the format, the distance is from its own place back to the CIE.
    unsafe { personality_of(fde.add(4).wrapping_sub(distance as usize)) }
}

/// # Safety
///
/// `cie` points to a CIE.
unsafe fn personality_of(cie: *const u8) -> Option<usize> {
    // Length and identifier, of four bytes each.
    let mut reader = super::table::Reader::at(cie.wrapping_add(8));
    // SAFETY: the fields are read in the order of the format, and no further than it says. The same
    // holds below.
    let version = unsafe { reader.byte() };
    let augmentation = reader.place();
    let mut length = 0;
    // SAFETY: as above.
    while unsafe { reader.byte() } != 0 {
        length += 1;
    }
    // SAFETY: these bytes were just read, and stay as long as the code is loaded.
    let augmentation = unsafe { std::slice::from_raw_parts(augmentation, length) };
    // How addresses and offsets are scaled, and the register of the return address.
    // SAFETY: as above.
    unsafe { reader.unsigned() };
    // SAFETY: as above.
    unsafe { reader.signed() };
    if version == 1 {
        // SAFETY: as above.
        unsafe { reader.byte() };
    } else {
        // SAFETY: as above.
        unsafe { reader.unsigned() };
    }
    let Some((b'z', rest)) = augmentation.split_first() else { return None };
    // SAFETY: as above: the length of the following part.
    unsafe { reader.unsigned() };
    for what in rest {
        match what {
            b'R' | b'L' => {
                // SAFETY: as above.
                unsafe { reader.byte() };
            }
            b'P' => {
                // SAFETY: as above.
                let encoding = unsafe { reader.byte() };
                // SAFETY: as above.
                return unsafe { reader.address(encoding) };
            }
            b'S' | b'B' | b'G' => {}
            _ => return None,
        }
    }
    None
}
