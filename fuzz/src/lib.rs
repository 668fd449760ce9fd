//! The common parts of the targets: they turn bytes into decisions, and catch the panics that a
//! target expects.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Draws numbers from the fuzzer's bytes. When these are used up it goes on with numbers that
/// depend on nothing else. So the same bytes always make the same program, and a program that is
/// drawn recursively comes to an end.
#[derive(Debug)]
pub struct Draw<'d> {
    bytes: &'d [u8],
    state: u64,
}

impl<'d> Draw<'d> {
    /// Draws from the first `most` of `bytes`.
    pub fn new(bytes: &'d [u8], most: usize) -> Self {
        Draw { bytes: &bytes[..bytes.len().min(most)], state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Some byte.
    pub fn byte(&mut self) -> u8 {
        if let Some((first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return *first;
        }
        // Marsaglia's xorshift.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    }

    /// A number below `bound`, of one byte if that is enough for it.
    pub fn below(&mut self, bound: usize) -> usize {
        let mut number = usize::from(self.byte());
        if bound > 1 << 8 {
            number = number << 8 | usize::from(self.byte());
        }
        number % bound
    }
}

/// How many calls of [`allowing_panics`] there are now, on any thread.
static ALLOWED: AtomicUsize = AtomicUsize::new(0);

/// Calls `f`, which may panic, on other threads as well. Returns `None` if it has panicked. The
/// fuzzer takes every panic for a finding, caught or not; panics during such a call do not count.
pub fn allowing_panics<R>(f: impl FnOnce() -> R) -> Option<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let fuzzer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if ALLOWED.load(SeqCst) == 0 {
                fuzzer(info);
            }
        }));
    });
    ALLOWED.fetch_add(1, SeqCst);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    ALLOWED.fetch_sub(1, SeqCst);
    outcome.ok()
}

/// Sets the options that the address sanitizer needs in a program with fibers, unless the
/// environment sets others:
///
/// - Leaks are not looked for: a value that only a suspended fiber's stack refers to would count as
///   one.
/// - A fake stack would hide how deep a real one is.
/// - The library has a handler of its own for faults, which tells the overflow of a stack from
///   others.
/// - Backtraces of allocations are short: in such programs there are so many that memory runs out.
#[macro_export]
macro_rules! with_fibers {
    () => {
        #[unsafe(no_mangle)]
        extern "C" fn __asan_default_options() -> *const ::core::ffi::c_char {
            concat!(
                "detect_leaks=0:detect_stack_use_after_return=0:",
                "handle_segv=0:handle_sigbus=0:use_sigaltstack=0:malloc_context_size=3\0",
            )
            .as_ptr()
            .cast()
        }
    };
}
