//! Stack overflow: a fault in a guard becomes a message that names the fiber, and an abort.
//!
//! The handler for `SIGSEGV` and `SIGBUS` runs on the thread's alternate signal stack, because the
//! fiber's own is full. It checks whether the faulting address lies in the guard of the fiber that
//! runs on this thread. If so, it writes the fault and a remedy to standard error, and aborts. If
//! not, the fault is passed to the previous handler of the signal: the standard library (which
//! reports overflows of thread stacks), a sanitizer, a crash reporter, or the kernel's default.
//!
//! # Invariant
//!
//! Between the fault and the abort nothing allocates, takes a lock, or switches stacks. The
//! faulting code may hold the allocator's lock.
//!
//! # Limits
//!
//! A function compiled without stack probes (foreign code, mostly) may step over the guard in one
//! stride, if its frame is larger than the guard: 64 KiB. Rust probes every page.

use std::{
    io,
    marker::PhantomData,
    mem,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use crate::memory::pages::{self, page_size};

#[cfg(test)]
mod tests;

/// Returns `true` if the address `fault` lies in the guard of the fiber that runs on this thread.
/// If so, passes a description to `out`, in pieces: `fiber 'NAME' overflowed its stack of N KiB`.
///
/// It is called in a signal handler: it must not allocate, lock, panic, or touch a thread-local
/// variable that is initialized lazily or has a destructor. [`decimal`] writes numbers under these
/// conditions.
pub(crate) type Describe = fn(fault: usize, out: &mut dyn FnMut(&[u8])) -> bool;

/// The text after the description.
const ADVICE: &[u8] =
    b"; give it a larger one (`stack_size` of its builder or handler), or let it recurse less or keep large values on \
    the heap\n";

/// The signals that a fault in a guard may raise. Linux raises the first; some systems raise the
/// second.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The least size of an alternate stack. Only used pages of it become resident.
const MIN_ALT_STACK: usize = 64 * 1024;

/// No alternate stack. Some systems require a size all the same.
const DISABLED: libc::stack_t =
    libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: MIN_ALT_STACK };

struct Installed {
    describe: Describe,
    /// The action that each of [`SIGNALS`] had before.
    previous: [libc::sigaction; 2],
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// The function that is called after the message, before the process ends.
#[cfg(feature = "model")]
static LAST: OnceLock<fn()> = OnceLock::new();

/// Has `last` called on the thread of an overflow, after the message. All calls but the first of the
/// process do nothing.
///
/// It is called in a signal handler, under the same rules as [`Describe`]. It may also sleep.
#[cfg(feature = "model")]
pub(crate) fn call_last(last: fn()) {
    let _ = LAST.set(last);
}

/// Installs the handler. All calls but the first of the process do nothing.
///
/// The threads that run fibers need an alternate signal stack: see [`AltStack`].
pub(crate) fn install(describe: Describe) {
    // The handler needs `INSTALLED`, and may run as soon as it is installed, so the actions that it
    // replaces are read first. The thread that wins the race to set `INSTALLED` installs the
    // handler.
    let previous = SIGNALS.map(|signal| {
        // SAFETY: all-zero is a valid `sigaction`: default action, no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: a null pointer leaves the action as it is; the other points to a live value.
        let result = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
        debug_assert_eq!(result, 0, "reading an action: {}", io::Error::last_os_error());
        action
    });
    if INSTALLED.set(Installed { describe, previous }).is_err() {
        return;
    }
    for (signal, mut action) in SIGNALS.into_iter().zip(previous) {
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        // The mask of the previous action stays, because its handler may be called from this one.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: `handle` has the signature that SA_SIGINFO asks for and keeps to the rules of
        // signal handlers.
        let result = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
        debug_assert_eq!(result, 0, "installing a handler: {}", io::Error::last_os_error());
    }
}

/// Writes `number` in decimal digits to the end of `buffer` and returns them. Safe to call in a
/// signal handler.
pub(crate) fn decimal(mut number: usize, buffer: &mut [u8; 20]) -> &[u8] {
    let mut start = buffer.len();
    loop {
        start -= 1;
        buffer[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[start..];
        }
    }
}

/// Writes to standard error. Stops without an error if that fails: there is no other place to
/// report it.
fn write_stderr(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length describe a live slice.
        let written = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(1..) => bytes = &bytes[written as usize..],
            _ => return,
        }
    }
}

unsafe extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(Installed { describe, previous }) = INSTALLED.get() else { return };
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler installed with SA_SIGINFO.
    let raised_by_fault = unsafe { (*info).si_code } > 0;
    if raised_by_fault {
        // SAFETY: the signal was raised by a fault, so the union holds its address.
        let fault = unsafe { (*info).si_addr() } as usize;
        let mut begun = false;
        let mut out = |piece: &[u8]| {
            if !mem::replace(&mut begun, true) {
                write_stderr(b"\nlisle: ");
            }
            write_stderr(piece);
        };
        if describe(fault, &mut out) {
            write_stderr(ADVICE);
            #[cfg(feature = "model")]
            LAST.get().into_iter().for_each(|last| last());
            // SAFETY: `abort` may be called in a signal handler.
            unsafe { libc::abort() };
        }
    }
    let previous = if signal == SIGNALS[0] { &previous[0] } else { &previous[1] };
    // SAFETY: the arguments come from the kernel for this signal, and `previous` was the action for
    // it.
    unsafe { forward(previous, raised_by_fault, signal, info, context) };
}

/// Forwards the signal to `previous`, as if this module had not replaced it.
///
/// # Safety
///
/// `previous` was the action for `signal`, and this is a handler that got the other arguments from
/// the kernel.
unsafe fn forward(
    previous: &libc::sigaction,
    raised_by_fault: bool,
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    if previous.sa_flags & libc::SA_RESETHAND != 0 {
        restore_default(signal);
    }
    match previous.sa_sigaction {
        // A fault cannot be ignored: the instruction would fault for ever.
        libc::SIG_IGN if !raised_by_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            restore_default(signal);
            // A faulting instruction runs again when the handler returns. A signal that was sent
            // must be sent again; it stays pending until the handler returns.
            if !raised_by_fault {
                // SAFETY: `raise` may be called in a signal handler.
                unsafe { libc::raise(signal) };
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: an action with SA_SIGINFO, and neither of the special values above, holds
            // such a function.
            let handler = unsafe {
                mem::transmute::<
                    libc::sighandler_t,
                    unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void),
                >(handler)
            };
            // SAFETY: it was installed for this signal and gets the kernel's arguments.
            unsafe { handler(signal, info, context) };
        }
        handler => {
            // SAFETY: an action without SA_SIGINFO, and neither of the special values above, holds
            // such a function.
            let handler =
                unsafe { mem::transmute::<libc::sighandler_t, unsafe extern "C" fn(libc::c_int)>(handler) };
            // SAFETY: it was installed for this signal.
            unsafe { handler(signal) };
        }
    }
}

fn restore_default(signal: libc::c_int) {
    // SAFETY: all-zero is a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = libc::SIG_DFL;
    // SAFETY: the action is valid, and `sigaction` may be called in a signal handler.
    unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
}

/// The alternate signal stack of a thread that runs fibers. Without one, an overflow kills the
/// process without a message.
///
/// Threads of the standard library usually have one already, and it is left in place. A thread that
/// comes from elsewhere gets one, until this value is dropped on it.
#[derive(Debug)]
pub(crate) struct AltStack {
    /// The mapping, guard page included, if the stack was made here.
    mapping: Option<(NonNull<libc::c_void>, usize)>,
    /// The alternate stack belongs to a thread, so the value stays there: a pointer is not `Send`.
    _thread: PhantomData<*mut ()>,
}

impl AltStack {
    /// Ensures that the calling thread has an alternate stack.
    pub(crate) fn ensure() -> io::Result<Self> {
        if current_alt_stack(None)?.ss_flags & libc::SS_DISABLE == 0 {
            return Ok(Self { mapping: None, _thread: PhantomData });
        }
        let guard = page_size();
        let usable = alt_stack_size().next_multiple_of(guard);
        let len = guard + usable;
        let start = pages::map(len)?;
        // From here on the destructor unmaps.
        let this = Self { mapping: Some((start, len)), _thread: PhantomData };
        // SAFETY: the page is the lowest of the mapping made above, which nothing refers to yet.
        if unsafe { libc::mprotect(start.as_ptr(), guard, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the offset is within the mapping.
        let lowest = unsafe { start.byte_add(guard) };
        current_alt_stack(Some(libc::stack_t { ss_sp: lowest.as_ptr(), ss_flags: 0, ss_size: usable }))?;
        Ok(this)
    }
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let Some((start, len)) = self.mapping else { return };
        // Other code may have put another one in place meanwhile, which is not removed here.
        let ours = |stack: &libc::stack_t| stack.ss_sp.addr().wrapping_sub(start.addr().get()) < len;
        let in_place = current_alt_stack(None).as_ref().is_ok_and(ours);
        if in_place && current_alt_stack(Some(DISABLED)).is_err() {
            // The kernel refuses only while the thread runs on it. The stack then has to stay.
            return;
        }
        // SAFETY: this owns the mapping, and the thread does not use it as its alternate stack any
        // more.
        let result = unsafe { libc::munmap(start.as_ptr(), len) };
        debug_assert_eq!(result, 0, "unmapping an alternate stack: {}", io::Error::last_os_error());
    }
}

/// Returns the thread's alternate stack, and replaces it by `new` if that is given.
fn current_alt_stack(new: Option<libc::stack_t>) -> io::Result<libc::stack_t> {
    let new = new.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: all-zero is a valid `stack_t`.
    let mut old: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: `new` is null or points to a live value, which describes memory that the caller
    // reserved for this; `old` is live.
    if unsafe { libc::sigaltstack(new, &raw mut old) } == 0 {
        Ok(old)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns the size of an alternate stack. The kernel saves all registers there, and some
/// processors have many: the kernel says how much that takes.
fn alt_stack_size() -> usize {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: `getauxval` only reads its argument.
    let registers = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let registers = 0;
    MIN_ALT_STACK.max(libc::SIGSTKSZ) + registers
}
