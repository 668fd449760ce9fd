//! The exceptions of C++ that the code on a stack handles, or for which it unwinds.
//!
//! The C++ runtime keeps these for each thread, in two words: the exceptions whose handlers run, the
//! last first, and how many are on their way. If a fiber waits in a handler, or in a destructor that
//! an exception runs, and another fiber of its thread throws and catches meanwhile, then the first
//! rethrows the exception of the second. So these words belong to the stack: each switch of stacks
//! puts them aside.
//!
//! Most programs have no C++ in them. The library asks once whether the process has C++: it looks for
//! the function by which the C++ runtime tells the place of the words. It does not ask again when
//! another library is loaded later: a stack that waits in a handler then still has its words with the
//! thread, and would lose them.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The two words of a stack while it does not run. Both are 0 as long as it has no exceptions.
#[derive(Debug)]
pub struct Exceptions([Cell<usize>; 2]);

impl Exceptions {
    /// Creates the exceptions of a stack on which nothing has run.
    #[inline(always)]
    pub const fn new() -> Self {
        Exceptions([const { Cell::new(0) }; 2])
    }
}

impl Default for Exceptions {
    fn default() -> Self {
        Exceptions::new()
    }
}

/// The exceptions that the code of a handled computation handles, while it is suspended.
///
/// Unlike a fiber, a computation is a call: as long as it has caught nothing itself, it may rethrow an
/// exception that the code around it handles. An exception that it catches is then linked to the exceptions
/// that the code around it handles. So it must be resumed only while those handlers run. A computation that
/// may go on elsewhere has its words apart from the beginning, or cannot be kept while its exceptions are
/// linked.
#[derive(Debug)]
pub struct Suspended {
    /// Tells which words are used. `words` is not written before the computation has its own.
    whose: Cell<Whose>,
    words: Cell<MaybeUninit<[usize; 2]>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The words of the code that resumes it.
    Around,
    /// Its own. If `linked`, its exceptions refer to exceptions that the code around it handles.
    Own { linked: bool },
    /// Its own, always.
    Apart,
}

impl Suspended {
    /// Creates the exceptions of a computation that has not begun.
    #[inline(always)]
    pub const fn new() -> Self {
        Suspended { whose: Cell::new(Whose::Around), words: Cell::new(MaybeUninit::uninit()) }
    }

    /// Hides the exceptions of the code around it from a computation that has not begun.
    #[inline(always)]
    pub fn set_apart(&self) {
        self.whose.set(Whose::Apart);
        self.words.set(MaybeUninit::new([0; 2]));
    }

    /// Returns `true` if the computation, which is suspended, handles exceptions that are linked to
    /// exceptions of the code that has resumed it.
    #[inline]
    pub fn are_linked(&self) -> bool {
        self.whose.get() == Whose::Own { linked: true }
    }

    /// Makes these the thread's, if there are any. Returns the thread's own, to be put back when
    /// the computation has run.
    pub(crate) fn begin_turn(&self) -> Option<Around> {
        OfThread::here().map(|thread| self.begin_with(thread))
    }

    fn begin_with(&self, thread: OfThread) -> Around {
        let words = thread.read();
        if self.whose.get() != Whose::Around {
            // SAFETY: they were written.
            thread.write(unsafe { self.words.get().assume_init() });
        }
        Around { thread, words }
    }

    /// Takes the exceptions of a suspended computation from the thread, and puts the thread's own
    /// back.
    pub(crate) fn end_turn(&self, around: Around) {
        let now = around.thread.read();
        let whose = match self.whose.get() {
            Whose::Apart => Whose::Apart,
            // None of its own: the exceptions around it, or none at all.
            _ if now == around.words || now == [0; 2] => Whose::Around,
            Whose::Around => Whose::Own { linked: around.words[0] != 0 },
            own => own,
        };
        self.whose.set(whose);
        self.words.set(MaybeUninit::new(now));
        around.thread.write(around.words);
    }
}

impl Default for Suspended {
    fn default() -> Self {
        Suspended::new()
    }
}

/// The exceptions of the code that has resumed a computation.
#[derive(Debug)]
pub(crate) struct Around {
    thread: OfThread,
    words: [usize; 2],
}

/// The words of the thread.
#[derive(Debug, Clone, Copy)]
pub struct OfThread(NonNull<[usize; 2]>);

impl OfThread {
    /// Returns the exceptions of this thread, or `None` in a program without C++.
    pub fn here() -> Option<Self> {
        let address = ADDRESS.load(Ordering::Relaxed);
        if address == NONE {
            return None;
        }
        Self::ask(if address == UNKNOWN { look_up() } else { address })
    }

    fn ask(function: usize) -> Option<Self> {
        if function == NONE {
            return None;
        }
        let function = std::ptr::with_exposed_provenance::<()>(function);
        // SAFETY: this is `__cxa_get_globals`, whose type is given by the C++ ABI.
        let words =
            unsafe { std::mem::transmute::<*const (), unsafe extern "C" fn() -> *mut [usize; 2]>(function) };
        // SAFETY: any thread may call it at any time.
        NonNull::new(unsafe { words() }).map(OfThread)
    }

    /// Exchanges the words of the thread and of a stack: the stack is about to run, or has run.
    #[inline]
    pub fn swap(self, stack: &Exceptions) {
        // SAFETY: the words stay as long as the thread, and this value does not leave it. Only code
        // of the C++ runtime uses them besides, which does not run now.
        let words = unsafe { &mut *self.0.as_ptr() };
        for (word, kept) in words.iter_mut().zip(&stack.0) {
            *word = kept.replace(*word);
        }
    }

    fn write(self, words: [usize; 2]) {
        // SAFETY: as above.
        unsafe { self.0.write(words) };
    }

    /// Returns the thread's words.
    fn read(self) -> [usize; 2] {
        // SAFETY: as above.
        unsafe { self.0.read() }
    }
}

/// Returns `true` if the program has C++ in it.
#[inline(always)]
pub fn are_possible() -> bool {
    ADDRESS.load(Ordering::Relaxed) != NONE
}

/// The address of `__cxa_get_globals`, once it was looked up.
static ADDRESS: AtomicUsize = AtomicUsize::new(UNKNOWN);
const NONE: usize = 0;
const UNKNOWN: usize = 1;

#[cold]
fn look_up() -> usize {
    let linked = imp::linked();
    let address = if linked == 0 { imp::loaded() } else { linked };
    ADDRESS.store(address, Ordering::Relaxed);
    address
}

#[cfg(all(unix, not(miri), not(target_arch = "arm")))]
mod imp {
    use std::ffi::{CStr, c_void};

    const NAME: &CStr = c"__cxa_get_globals";

    /// The libraries that have it, which may have been loaded for others alone (`RTLD_LOCAL`).
    #[cfg(target_os = "linux")]
    const LIBRARIES: [&CStr; 2] = [c"libstdc++.so.6", c"libc++abi.so.1"];
    #[cfg(not(target_os = "linux"))]
    const LIBRARIES: [&CStr; 0] = [];

    /// Returns the address of the function in a library that has been loaded, or 0.
    pub(super) fn loaded() -> usize {
        // SAFETY: the name is a C string.
        let find = |library: *mut c_void| unsafe { libc::dlsym(library, NAME.as_ptr()) };
        // SAFETY: as above. This loads nothing. A library that it finds stays loaded from now on.
        let load = |name: &CStr| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        let others = LIBRARIES.into_iter().map(load).filter(|library| !library.is_null());
        let found =
            std::iter::once(libc::RTLD_DEFAULT).chain(others).map(find).find(|found| !found.is_null());
        found.map_or(0, |found| found.expose_provenance())
    }

    /// Returns the address of the function if it is linked into the program, whose symbols need not
    /// be known at run time, or 0.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) fn linked() -> usize {
        let address: usize;
        // SAFETY: this reads a word that the linker has made. A weak symbol that nothing defines is
        // 0.
        unsafe {
            std::arch::asm!(
                ".weak __cxa_get_globals",
                "mov {}, qword ptr [rip + __cxa_get_globals@GOTPCREL]",
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }

    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    pub(super) fn linked() -> usize {
        let address: usize;
        // SAFETY: as on x86-64.
        unsafe {
            std::arch::asm!(
                ".weak __cxa_get_globals",
                "adrp {0}, :got:__cxa_get_globals",
                "ldr {0}, [{0}, :got_lo12:__cxa_get_globals]",
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }

    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub(super) fn linked() -> usize {
        0
    }
}

#[cfg(not(all(unix, not(miri), not(target_arch = "arm"))))]
mod imp {
    pub(super) fn loaded() -> usize {
        0
    }
    pub(super) fn linked() -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of this crate have no C++ in them.
    #[test]
    fn a_program_without_has_none() {
        assert!(OfThread::here().is_none());
        assert!(!are_possible());
    }

    /// An exception that a computation catches is its own. It is linked to the exceptions caught around
    /// it, or apart from them.
    #[test]
    fn words_of_a_computation() {
        let turn = |of: &Suspended, words: &mut [usize; 2], run: &dyn Fn(&mut [usize; 2])| {
            let thread = OfThread(NonNull::from(words));
            let around = of.begin_with(thread);
            let mut now = thread.read();
            run(&mut now);
            thread.write(now);
            of.end_turn(around);
        };
        let (with, apart) = (Suspended::new(), Suspended::new());
        apart.set_apart();
        let mut words = [8, 0];
        turn(&with, &mut words, &|now| assert_eq!(*now, [8, 0]));
        assert!(!with.are_linked());
        turn(&with, &mut words, &|now| *now = [16, 0]);
        assert!(with.are_linked());
        turn(&apart, &mut words, &|now| assert_eq!(std::mem::replace(now, [24, 0]), [0, 0]));
        assert_eq!(words, [8, 0]);
        turn(&with, &mut words, &|now| assert_eq!(std::mem::replace(now, [8, 0]), [16, 0]));
        assert!(!with.are_linked());
        words = [0, 0];
        turn(&with, &mut words, &|now| assert_eq!(std::mem::replace(now, [32, 0]), [0, 0]));
        assert!(!with.are_linked());
        turn(&apart, &mut words, &|now| assert_eq!(std::mem::take(now), [24, 0]));
        words = [40, 0];
        turn(&apart, &mut words, &|now| assert_eq!(*now, [0, 0]));
        turn(&with, &mut words, &|now| assert_eq!(*now, [32, 0]));
        assert!(!with.are_linked() && !apart.are_linked());
        assert_eq!(words, [40, 0]);
    }

    #[test]
    fn words_are_exchanged() {
        let mut words = [1, 2];
        let thread = OfThread(NonNull::from(&mut words));
        let stack = Exceptions::new();
        thread.swap(&stack);
        assert_eq!(thread.read(), [0, 0]);
        thread.swap(&stack);
        assert_eq!(thread.read(), [1, 2]);
        thread.swap(&stack);
        assert_eq!(thread.read(), [0, 0]);
    }
}
