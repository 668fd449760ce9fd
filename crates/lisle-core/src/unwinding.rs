//! Decides whether a panic could leave the code that runs here.
//!
//! A runtime that ends unwinds its fibers from the points where they wait. Two kinds of frames end
//! the process if a panic reaches them: a function that foreign code calls back (`extern "C"`), and
//! a destructor that runs because a panic already unwinds. A fiber that waits above such a frame
//! must not be unwound and is left waiting, so the runtime asks this module first.
//!
//! The answer is in the tables that the unwinder itself uses: for each call they say what happens
//! if it unwinds. Both kinds of frames are recorded as a filter that lets no exception pass, or do
//! not list the call at all. This module walks the stack as the unwinder would in its first phase,
//! and unwinds nothing.
//!
//! `std::thread::panicking` cannot answer the question. It knows of no foreign frame, and it
//! describes the thread: while one fiber waits in a destructor, the other fibers of its domain read
//! `true`, too.
//!
//! The format is that of the *language-specific data area* of the Itanium C++ ABI's exception
//! handling, as GCC and LLVM write it. This module interprets an entry as `rust_eh_personality`
//! does. Where the format is different (32-bit ARM), a fiber on a thread that is panicking counts
//! as one that cannot be unwound.

/// What the code on a stack does with a panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Catches {
    /// The first frame that catches the panic ends it.
    End,
    /// Each catching frame raises the panic again when it has done its part, until the outermost
    /// one. A function that does so must not be inlined: the tables describe only the innermost
    /// active `catch_unwind` of a frame.
    Resume,
}

/// Calls `f` and marks the end of the walk of `is_possible`, which looks at no frame beyond this
/// one. `f` is all the code of a fiber, or of a test.
pub fn outermost(mut f: impl FnMut()) {
    imp::outermost(&mut f);
}

/// Returns `true` if a panic that the caller raises would be caught without meeting a frame that
/// ends the process. The caller must run within [`outermost`]. The cost is proportional to the
/// depth of the stack, about that of a backtrace without names.
#[cold]
#[inline(never)]
pub fn is_possible(catches: Catches) -> bool {
    imp::is_possible(catches)
}

/// Returns `true` if a panic that the caller raises would reach the function that begins at `frame`,
/// and more precisely the outermost of the `count` innermost calls of it, without meeting a frame that
/// ends the process. Frames that catch the panic on the way are taken to raise it again.
#[cold]
#[inline(never)]
pub fn is_possible_to(frame: usize, count: usize) -> bool {
    imp::is_possible_to(frame, count)
}

#[cfg(target_arch = "arm")]
mod imp {
    pub(super) fn outermost(f: &mut dyn FnMut()) {
        f();
    }

    pub(super) fn is_possible(_: super::Catches) -> bool {
        !std::thread::panicking()
    }

    pub(super) fn is_possible_to(_: usize, _: usize) -> bool {
        !std::thread::panicking()
    }
}

#[cfg(not(target_arch = "arm"))]
mod imp {
    use super::Catches;
    use super::table::{Action, action};
    use std::ffi::{c_int, c_void};

    #[repr(C)]
    struct Context {
        _opaque: [u8; 0],
    }

    const CONTINUE: c_int = 0;
    const STOP: c_int = 4;

    // The standard library links the unwinder. These functions do not unwind, but the compiler must
    // assume that they do: it leaves calls that cannot unwind out of the tables.
    unsafe extern "C-unwind" {
        fn _Unwind_Backtrace(
            visit: extern "C-unwind" fn(*mut Context, *mut c_void) -> c_int,
            argument: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIPInfo(context: *mut Context, is_before: *mut c_int) -> usize;
        fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
        fn _Unwind_GetLanguageSpecificData(context: *mut Context) -> *const u8;
    }

    struct Walk {
        catches: Catches,
        /// `true` if the walk met a frame that no panic passes and, since then, no frame that
        /// catches.
        is_blocked: bool,
        /// The answer so far. It begins as `false`: a stack without a frame that catches cannot be
        /// unwound.
        is_possible: bool,
        /// `true` if the walk saw all frames up to `outermost`. A frame without tables ends the
        /// walk early.
        is_whole: bool,
        /// `true` between the root of a segment, where a panic has been caught, and the function
        /// that has resumed the segment, which raises the panic again, or whose caller does. The
        /// frames between let no panic pass, and none comes; and what the last of them does with
        /// one that it raises elsewhere cannot be seen here, see `Generator`.
        is_crossing: bool,
        /// The function at which the walk ends, if that is not `outermost`, and how many calls of it
        /// are still to come.
        target: Option<(usize, usize)>,
    }

    /// The walk recognizes this function by its address.
    #[inline(never)]
    pub(super) fn outermost(f: &mut dyn FnMut()) {
        f();
        // This keeps `f(..)` from being a tail call, which would leave this function without a
        // frame.
        std::hint::black_box(f);
    }

    pub(super) fn is_possible(catches: Catches) -> bool {
        let mut walk = Walk::new(catches, None);
        walk.go();
        walk.is_possible && (walk.is_whole || catches == Catches::End)
    }

    pub(super) fn is_possible_to(frame: usize, count: usize) -> bool {
        let mut walk = Walk::new(Catches::Resume, Some((frame, count)));
        walk.go();
        walk.is_possible && walk.is_whole
    }

    impl Walk {
        fn new(catches: Catches, target: Option<(usize, usize)>) -> Self {
            Walk {
                catches,
                is_blocked: false,
                is_possible: false,
                is_whole: false,
                is_crossing: false,
                target,
            }
        }

        fn go(&mut self) {
            // SAFETY: `visit` has the signature that the unwinder expects, and the walk outlives the
            // call.
            let _ = unsafe { _Unwind_Backtrace(visit, std::ptr::from_mut(self).cast()) };
        }
    }

    extern "C-unwind" fn visit(context: *mut Context, argument: *mut c_void) -> c_int {
        // SAFETY: `argument` points to the walk, to which no other reference is used during the call.
        let walk = unsafe { &mut *argument.cast::<Walk>() };
        // SAFETY: the unwinder passes the context of a frame, which is valid during this call.
        let start = unsafe { _Unwind_GetRegionStart(context) };
        if start == outermost as *const () as usize {
            walk.is_whole = walk.target.is_none();
            return STOP;
        }
        let mut is_before = 0;
        // SAFETY: the context is valid as above, and the flag is writable.
        let return_address = unsafe { _Unwind_GetIPInfo(context, &raw mut is_before) };
        if is_before != 0 {
            // It was called by what looks like the frame of a signal: the beginning of another
            // stack. The last frame that catches was the root of the segment, and what has called
            // it sees no panic.
            walk.is_blocked &= !walk.is_possible;
            walk.is_crossing = true;
        }
        if walk.is_crossing {
            walk.is_crossing = !crate::segment::is_resumer(start);
            return CONTINUE;
        }
        // A return address points to the instruction after the call, which may belong to another
        // table entry.
        let at = return_address.saturating_sub(usize::from(is_before == 0));
        // SAFETY: the context is valid as above.
        let table = unsafe { _Unwind_GetLanguageSpecificData(context) };
        // SAFETY: the table is null or that of the function that begins at `start`.
        let action = unsafe { action(table, at.wrapping_sub(start)) };
        if let Some((frame, count)) = &mut walk.target
            && *frame == start
        {
            *count -= 1;
            if *count == 0 {
                walk.is_whole = true;
                // Its own frame catches, or that of a function which it has not inlined.
                walk.is_possible = !walk.is_blocked
                    && (action == Action::Catch || walk.is_possible && action == Action::Pass);
                return STOP;
            }
        }
        match action {
            Action::Pass => CONTINUE,
            Action::Block => {
                walk.is_blocked = true;
                if walk.catches == Catches::End { STOP } else { CONTINUE }
            }
            Action::Catch => {
                walk.is_possible = !walk.is_blocked;
                if walk.is_blocked || walk.catches == Catches::End { STOP } else { CONTINUE }
            }
        }
    }
}

#[cfg(not(target_arch = "arm"))]
mod table {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    /// Calls `f` on a stack whose outermost frame but one catches panics.
    fn on_a_stack(f: impl Fn()) {
        outermost(|| catch_unwind(AssertUnwindSafe(&f)).unwrap_or_else(|panic| resume_unwind(panic)));
    }

    /// Returns the answers for a panic that ends where it is caught and for a panic that is raised
    /// again.
    #[inline(never)]
    fn answers() -> (bool, bool) {
        (is_possible(Catches::End), is_possible(Catches::Resume))
    }

    /// A value that records the answers when it is dropped.
    struct Asks<'a>(&'a Cell<(bool, bool)>);

    impl Drop for Asks<'_> {
        fn drop(&mut self) {
            self.0.set(answers());
        }
    }

    #[test]
    fn ordinary_code_and_its_destructors_can_be_unwound() {
        on_a_stack(|| {
            assert_eq!(answers(), (true, true));
            let seen = Cell::new((false, false));
            drop(Asks(&seen));
            assert_eq!(seen.get(), (true, true));
        });
    }

    #[test]
    fn a_destructor_that_runs_in_a_panic_cannot() {
        on_a_stack(|| {
            let seen = Cell::new((true, true));
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let _asks = Asks(&seen);
                resume_unwind(Box::new(()));
            }));
            assert!(panic.is_err());
            assert_eq!(seen.get(), (false, false));
            // The answer changes back after the panic was caught.
            assert_eq!(answers(), (true, true));
        });
    }

    /// A panic that such a destructor catches itself does not leave it, unless it is raised again.
    #[test]
    fn what_is_caught_within_such_a_destructor_can() {
        on_a_stack(|| {
            struct Catches<'a>(&'a Cell<(bool, bool)>);
            impl Drop for Catches<'_> {
                fn drop(&mut self) {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        self.0.set(answers());
                        resume_unwind(Box::new(()));
                    }));
                    assert!(caught.is_err());
                }
            }
            let seen = Cell::new((false, true));
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let _catches = Catches(&seen);
                resume_unwind(Box::new(()));
            }));
            assert!(panic.is_err());
            assert_eq!(seen.get(), (true, false));
        });
    }

    #[test]
    fn a_call_from_foreign_code_cannot() {
        on_a_stack(|| {
            thread_local! {
                static SEEN: Cell<(bool, bool)> = const { Cell::new((true, true)) };
                static CAUGHT: Cell<(bool, bool)> = const { Cell::new((false, true)) };
            }
            extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
                SEEN.set(answers());
                catches_and_raises();
                0
            }
            #[inline(never)]
            fn catches_and_raises() {
                if let Err(panic) = catch_unwind(|| CAUGHT.set(answers())) {
                    resume_unwind(panic);
                }
            }
            let mut numbers = [2_u32, 1];
            // SAFETY: the array has two elements of this size, and the comparison reads neither.
            unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(compare)) };
            assert_eq!(SEEN.get(), (false, false));
            assert_eq!(CAUGHT.get(), (true, false));
        });
    }

    #[test]
    fn without_a_frame_that_catches_it_cannot() {
        outermost(|| assert_eq!(answers(), (false, false)));
    }
}
