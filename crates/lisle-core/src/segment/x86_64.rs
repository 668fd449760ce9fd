//! The switch for x86-64, in the System V calling convention.

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
            // The compiler wants these two for itself.
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "push rbp",
            "mov [rdi], rsp",
            "mov rsp, [rsi]",
            "pop rbp",
            "pop rax",
            // A jump, so that the processor does not take it for a return.
            "jmp rax",
            "2:",
            // The unwinder looks up this address, so it must not be the end of the block.
            "pop rbx",
            inlateout("rdi") save.as_ptr() => _,
            inlateout("rsi") load.as_ptr() => _,
            inlateout("rdx") pass => passed,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            clobber_abi("sysv64"),
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
    let top = unsafe { closure.cast::<[*const (); 3]>().sub(1) };
    // SAFETY: as above.
    unsafe { top.write([std::ptr::null(), root as *const (), begin]) };
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
        "mov rbp, rdi",
        // The frame that has called this one ends 24 bytes above that address:
        // DW_CFA_def_cfa_expression { DW_OP_breg6 (rbp) 0, DW_OP_deref, DW_OP_plus_uconst 24 }.
        ".cfi_escape 0x0f, 5, 0x76, 0x00, 0x06, 0x23, 0x18",
        // The registers that `switch` has pushed there.
        ".cfi_offset rbx, -8",
        ".cfi_offset rip, -16",
        ".cfi_offset rbp, -24",
        "pop rax",
        "mov rsi, rsp",
        "lea rcx, [rip + 2f]",
        "push rcx",
        "jmp rax",
        "2:",
        // `begin` does not return. gdb looks up the address to which it would.
        "int3",
        ".cfi_endproc",
    )
}
