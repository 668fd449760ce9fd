//! The switch for aarch64, in its standard calling convention.

use std::arch::{asm, naked_asm};
use std::cell::Cell;

/// Suspends the running code: leaves the stack pointer in `save`, and goes on with the one in
/// `load`. Returns the value that the switch back passes.
///
/// # Safety
///
/// This function has left the value in `load` on a stack that is not running, or it comes from
/// [`prepare`]; then `save` is the first field of the stack's link.
#[inline(always)]
pub(super) unsafe fn switch(save: &Cell<*mut u8>, load: &Cell<*mut u8>, pass: *mut u8) -> *mut u8 {
    let passed;
    // SAFETY: all registers are given up, or saved here. The rest is the caller's promise.
    unsafe {
        asm!(
            "adr x9, 2f",
            "stp x29, x9, [sp, #-32]!",
            // The compiler wants this one, too, for itself.
            "str x19, [sp, #16]",
            "mov x9, sp",
            "str x9, [x0]",
            "ldr x9, [x1]",
            "mov sp, x9",
            "ldp x29, x9, [sp]",
            // A jump, so that the processor does not take it for a return.
            "br x9",
            "2:",
            // The unwinder looks up this address, so it must not be the end of the block.
            "ldr x19, [sp, #16]",
            "add sp, sp, #32",
            inlateout("x0") save.as_ptr() => _,
            inlateout("x1") load.as_ptr() => _,
            inlateout("x2") pass => passed,
            lateout("x20") _, lateout("x21") _, lateout("x22") _, lateout("x23") _, lateout("x24") _,
            lateout("x25") _, lateout("x26") _, lateout("x27") _, lateout("x28") _,
            clobber_abi("C"),
        );
    }
    passed
}

/// Makes a stack, which grows down from the closure, one that can be switched to: `begin` is then
/// called with the address of the link and of the closure.
///
/// # Safety
///
/// The memory below the closure is free, and the address is a multiple of 16.
#[inline(always)]
pub(super) unsafe fn prepare(closure: *mut u8, begin: *const ()) -> *mut u8 {
    // SAFETY: by the caller's promise.
    let top = unsafe { closure.cast::<[*const (); 4]>().sub(1) };
    // SAFETY: as above.
    unsafe { top.write([std::ptr::null(), root as *const (), begin, std::ptr::null()]) };
    top.cast()
}

/// The root of the frames of each segment: calls `begin`, and tells the unwinder how to go on to
/// the resumer.
#[unsafe(naked)]
unsafe extern "C" fn root() {
    naked_asm!(
        ".cfi_startproc",
        // gdb wants each frame to be above the one that it has called, unless that is a signal's.
        ".cfi_signal_frame",
        // The link is the frame's frame record, since its first word is the address of the
        // resumer's.
        "mov x29, x0",
        // The frame that has called this one ends 32 bytes above that address:
        // DW_CFA_def_cfa_expression { DW_OP_breg29 0, DW_OP_deref, DW_OP_plus_uconst 32 }.
        ".cfi_escape 0x0f, 5, 0x8d, 0x00, 0x06, 0x23, 0x20",
        // The registers that `switch` has pushed there.
        ".cfi_offset x19, -16",
        ".cfi_offset x30, -24",
        ".cfi_offset x29, -32",
        "ldr x9, [sp, #16]",
        "add sp, sp, #32",
        "mov x1, sp",
        "adr x30, 2f",
        "br x9",
        "2:",
        // `begin` does not return. gdb looks up the address to which it would.
        "brk #0",
        ".cfi_endproc",
    )
}
