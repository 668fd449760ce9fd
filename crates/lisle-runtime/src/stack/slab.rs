//! Slabs: the mappings that stacks are cut from, their guards, and the return of pages to the
//! kernel.
//!
//! # Why guard regions
//!
//! A guard made with `mprotect` splits its mapping, so each stack takes two, and a process may have
//! 65,530 by default (`vm.max_map_count`). That ends at about 32,000 stacks, and the same limit
//! then makes everything else that maps memory fail. Since Linux 6.13,
//! `madvise(MADV_GUARD_INSTALL)` marks the pages in the page table instead and leaves the mapping
//! whole. The library tries it until it knows whether the kernel has it.
//!
//! # Why guards of many pages
//!
//! Rust touches the pages of a large frame in order, and so do C compilers with the right option.
//! The C library was not compiled with it: `vfwprintf` has a frame of 33 KiB, and `fnmatch` and
//! `glob` have frames as large as a name. If such a function began within the last pages of a
//! stack, its frame would end below a guard of one page, in the stack of another fiber, and it
//! would write there without a fault. A guard takes address space, and page tables, but no memory.
//!
//! # Why not huge pages
//!
//! Where transparent huge pages are always on, the first touch of a stack would make two megabytes
//! resident, eight neighbours included, and would zero them at once. Slabs are exempted from them.

use std::{
    io,
    ptr::NonNull,
    sync::{Mutex, OnceLock, PoisonError},
};

use corosensei::stack::{StackPointer, valgrind::ValgrindStackRegistration};

use super::{MIN_USABLE_SIZE, Stack};
use crate::fork::PerProcess;
use crate::memory::pages::{self, page_size};

/// The virtual size of a pool's first slab. Each further one is twice as large as the one before.
const FIRST_SLAB: usize = 64 << 20;

/// Where the doubling ends: well below the address space, which is small on some targets.
const LARGEST_SLAB: usize = 1 << if usize::BITS > 32 { 32 } else { 28 };

/// The least number of stacks in a slab, however large they are.
const MIN_STACKS: usize = 16;

/// The largest stack size for which the stacks of a slab may fit into an address space of 47 bits, or
/// into less than half of one of 32.
pub(super) const LARGEST_STACK: usize = 1 << if usize::BITS > 32 { 42 } else { 26 };

/// The size of a guard, or a page if that is more.
const GUARD: usize = 64 * 1024;

/// The number of colours: different distances between a stack's base and the end of its last page.
///
/// The first-level cache is indexed by the lower twelve bits of an address. With one colour only,
/// the hottest lines of all stacks would compete for the same few sets. Measured on an AMD EPYC
/// (32 KiB, eight ways), with 16 or 32 coroutines taking turns: resuming one and coming back takes
/// 22 ns with one colour, and 18 ns with these eight. With more than some sixty stacks, colours
/// gain nothing and lose nothing.
const COLOURS: usize = 8;

/// The distance between two neighbouring colours, in bytes. The largest leaves a parked fiber half
/// of its first page.
const COLOUR_STEP: usize = 256;

/// `MADV_GUARD_INSTALL` of `<linux/mman.h>`, which the `libc` crate does not name.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Returns the size of a guard in whole pages. Safe to call in a signal handler once a [`Shape`]
/// has been made.
#[inline]
pub(super) fn guard_size() -> usize {
    // Both are powers of two, and a division would be slow.
    GUARD.max(page_size())
}

/// How pages are made inaccessible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarding {
    /// By markers in the page table (`MADV_GUARD_INSTALL`).
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Region,
    /// By a mapping without access rights (`mprotect`).
    Protection,
}

impl Guarding {
    /// Returns the better of the ways that this kernel has.
    pub(super) fn available() -> Self {
        static AVAILABLE: OnceLock<Guarding> = OnceLock::new();
        if let Some(known) = AVAILABLE.get() {
            return *known;
        }
        // A process that has no memory now may have some later.
        Self::probe().map_or(Self::Protection, |found| *AVAILABLE.get_or_init(|| found))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn probe() -> Option<Self> {
        Some(Self::Protection)
    }

    /// Guards a page and asks the kernel to write to it. Success of `madvise` alone does not prove
    /// anything: user-mode emulators report success for every advice that they do not know. Returns
    /// `None` if there is no page to try it with.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn probe() -> Option<Self> {
        let page = page_size();
        let start = pages::map(page).ok()?;
        // SAFETY: the page was mapped above and nothing refers to it.
        let installed = unsafe { libc::madvise(start.as_ptr(), page, MADV_GUARD_INSTALL) } == 0;
        // The kernel returns `EFAULT` where a program would fault. The call is a raw one: the C
        // library might write by itself.
        // SAFETY: the call writes one byte to the page mapped above, or none.
        let written =
            unsafe { libc::syscall(libc::SYS_getrandom, start.as_ptr(), 1usize, libc::GRND_NONBLOCK) };
        let faulted = written == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
        // SAFETY: the page was mapped above and is not used any more.
        unsafe { libc::munmap(start.as_ptr(), page) };
        Some(if installed && faulted { Self::Region } else { Self::Protection })
    }
}

/// The layout of the stacks of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bytes from one stack to the next: the guard, the usable bytes, and the bytes for the
    /// colours.
    stride: usize,
    guarding: Guarding,
}

impl Shape {
    pub(super) fn new(usable_size: usize) -> Self {
        Self::with_guarding(usable_size, Guarding::available())
    }

    pub(super) fn with_guarding(usable_size: usize, guarding: Guarding) -> Self {
        let page = page_size();
        let colours = (COLOURS - 1) * COLOUR_STEP;
        // An unreasonable size is lowered to one that `mmap` refuses and that does not overflow
        // here.
        let usable = usable_size.clamp(MIN_USABLE_SIZE, isize::MAX as usize / (2 * MIN_STACKS));
        // An odd number of pages, because translation caches are indexed by the lower bits of the
        // page number: with 64 pages a stack and 256 coroutines taking turns, a resume and back
        // takes 36 ns; with 65, 22.
        Self { stride: (guard_size() + (usable + colours).next_multiple_of(page)) | page, guarding }
    }

    /// Returns the number of stacks in the pool's slab number `index`.
    fn stacks_in_slab(self, index: usize) -> usize {
        let doublings = index.min((LARGEST_SLAB / FIRST_SLAB).ilog2() as usize);
        ((FIRST_SLAB << doublings) / self.stride).max(MIN_STACKS)
    }
}

/// One mapping of many stacks.
///
/// A slab has no destructor: whether it may be unmapped depends on where its stacks are, which the
/// pool knows.
#[derive(Debug)]
pub(super) struct Slab {
    start: NonNull<libc::c_void>,
    /// The number of stacks that fit.
    stacks: usize,
    /// Tell valgrind where each stack handed out so far lies. They do nothing outside valgrind.
    registrations: Vec<ValgrindStackRegistration>,
    shape: Shape,
}

// SAFETY: the slab owns its mapping as a box owns its contents. Neither depends on the thread.
unsafe impl Send for Slab {}

impl Slab {
    /// Maps the slab number `index` of a pool. It is smaller than its index demands where address
    /// space is short.
    pub(super) fn map(shape: Shape, index: usize) -> io::Result<Self> {
        let mut stacks = shape.stacks_in_slab(index);
        let start = loop {
            match pages::map(stacks * shape.stride) {
                Ok(start) => break start,
                Err(_) if stacks > MIN_STACKS => stacks = (stacks / 2).max(MIN_STACKS),
                Err(error) => return Err(explain_mapping(&error, stacks * shape.stride)),
            }
        };
        Ok(Self { start, stacks, registrations: Vec::with_capacity(stacks), shape })
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.handed_out() == self.stacks
    }

    /// Returns the number of stacks cut so far.
    pub(super) fn handed_out(&self) -> usize {
        self.registrations.len()
    }

    pub(super) fn contains(&self, stack: &Stack) -> bool {
        let start = self.start.as_ptr() as usize;
        (start..start + self.stacks * self.shape.stride).contains(&stack.limit.get())
    }

    /// Guards the next stack and hands it out for the first time.
    pub(super) fn cut(&mut self) -> io::Result<Stack> {
        assert!(!self.is_exhausted(), "a slab has no further stack");
        let index = self.handed_out();
        // SAFETY: `index` is less than `stacks`, so the offset is within the mapping.
        let limit = unsafe { self.start.byte_add(index * self.shape.stride) };
        // SAFETY: the pages are the lowest of a stack of this slab that was never handed out, so
        // nothing refers to them.
        unsafe { install_guard(limit, self.shape.guarding) }?;
        let address = StackPointer::from(limit.addr());
        let base = address.get() + self.shape.stride - index % COLOURS * COLOUR_STEP;
        let base = StackPointer::new(base).expect("the address is above that of a mapped page");
        self.registrations
            .push(ValgrindStackRegistration::new(limit.as_ptr().cast(), base.get() - address.get()));
        Ok(Stack { base, limit: address })
    }

    /// Unmaps the slab if all its stacks that were handed out are among these, which are dropped then.
    fn unmap_if_free(self, stacks: &mut Vec<Stack>) -> Option<Slab> {
        let home = stacks.iter().filter(|stack| self.contains(stack)).count();
        if home < self.handed_out() {
            return Some(self);
        }
        stacks.retain(|stack| !self.contains(stack));
        // SAFETY: the values of all its stacks have just been dropped. `Stack` cannot be cloned, so no
        // second value of one exists elsewhere.
        unsafe { self.unmap() };
        None
    }

    /// Unmaps the slab.
    ///
    /// # Safety
    ///
    /// No stack of the slab is in use, nor will be.
    unsafe fn unmap(self) {
        drop(self.registrations);
        // SAFETY: the slab owns its mapping of this length, and the caller promises that it is not
        // used.
        let result = unsafe { libc::munmap(self.start.as_ptr(), self.stacks * self.shape.stride) };
        debug_assert_eq!(result, 0, "unmapping a slab: {}", io::Error::last_os_error());
    }
}

/// The remains of pools: slabs of which a stack was elsewhere, and stacks of slabs that were elsewhere.
#[derive(Default)]
struct Left {
    slabs: Vec<Slab>,
    stacks: Vec<Stack>,
}

/// Unmaps the slabs whose stacks are all here, of a pool that is dropped. Others stay mapped, because a
/// stack of them may still be in use, until all their stacks have been left, too. They stay reachable:
/// a leak checker would otherwise report them.
pub(super) fn leave(slabs: Vec<Slab>, mut stacks: Vec<Stack>) {
    static LEFT: PerProcess<Mutex<Left>> = PerProcess::new(Mutex::default);
    let slabs: Vec<_> = slabs.into_iter().filter_map(|slab| slab.unmap_if_free(&mut stacks)).collect();
    if slabs.is_empty() && stacks.is_empty() {
        return;
    }
    let mut left = LEFT.get().lock().unwrap_or_else(PoisonError::into_inner);
    left.stacks.append(&mut stacks);
    let before = std::mem::take(&mut left.slabs);
    let all = before.into_iter().chain(slabs);
    left.slabs = all.filter_map(|slab| slab.unmap_if_free(&mut left.stacks)).collect();
}

/// Makes the pages of a guard that begins at `start` inaccessible.
///
/// # Safety
///
/// They are pages of a mapping that the caller owns, and nothing refers to them.
unsafe fn install_guard(start: NonNull<libc::c_void>, guarding: Guarding) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if guarding == Guarding::Region {
        // SAFETY: the caller promises that it owns the pages and that nothing refers to them.
        if unsafe { libc::madvise(start.as_ptr(), guard_size(), MADV_GUARD_INSTALL) } == 0 {
            return Ok(());
        }
        // Some kernels refuse guard regions in locked memory (`mlockall`), which may have begun
        // since the probe.
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let Guarding::Protection = guarding;
    // SAFETY: the caller promises that it owns the pages and that nothing refers to them.
    if unsafe { libc::mprotect(start.as_ptr(), guard_size(), libc::PROT_NONE) } == 0 {
        return Ok(());
    }
    Err(explain_guard(io::Error::last_os_error()))
}

fn explain_mapping(error: &io::Error, len: usize) -> io::Error {
    let mib = len >> 20;
    io::Error::new(
        error.kind(),
        format!(
            "cannot reserve {mib} MiB of address space for stacks ({error}): make them smaller, or raise the \
             limits of the process (ulimit -v, vm.max_map_count, vm.overcommit_memory)"
        ),
    )
}

fn explain_guard(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::ENOMEM) {
        return error;
    }
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        "cannot guard another stack: the process has as many memory mappings as the kernel allows it \
         (vm.max_map_count), and without guard regions each stack takes two. Raise the limit (sysctl -w \
         vm.max_map_count=1000000) or run Linux 6.13 or later, whose guard regions need no mappings",
    )
}
