//! Stacks for fibers: their memory, their guards, and their reuse.
//!
//! A fiber's stack is generous in virtual size, because loops recurse on it, and small in resident
//! size, because most fibers use a page or two of it. Both follow from how the pages come and go:
//!
//! - Stacks are cut from *slabs* ([`slab`]), large mappings that double in size: 100,000 stacks
//!   need some thirty calls of `mmap`. A page becomes resident when it is first touched.
//! - The lowest 64 KiB of each stack are its *guard*. A stack is guarded when it is first handed
//!   out, not when its slab is mapped: a program with three fibers pays for three guards.
//! - A domain keeps its free stacks in a [`StackPool`], last in, first out: the stack handed out
//!   next is the one whose pages are most likely still in the cache. Taking one and giving it back
//!   are a few instructions, without a system call and without an allocation.
//! - [`StackPool::trim`] gives pages back to the kernel in small portions. The first touch of a
//!   page costs a hundred times as much as recycling, so nothing is given back on the path of a
//!   fiber that ends.
//!
//! Running into the guard is not silent: [`overflow`] turns the fault into a message that names the
//! fiber.
//!
//! # Invariant
//!
//! A [`Stack`] is owned: there is one value for each stack, either outside the pool (a fiber runs
//! on it) or in the pool's free list. Its pages are given back, and its slab unmapped, only while
//! it is in the free list of the pool that does so.
//!
//! # Portability
//!
//! This module is for Unix. Guard regions exist only on Linux and Android; elsewhere, and on
//! kernels before 6.13, the guard is a range without access rights, which takes two mappings a
//! stack.

pub(crate) mod overflow;
mod slab;
pub(crate) mod spare;
pub(crate) mod taken;
#[cfg(test)]
mod tests;

use std::ptr::{NonNull, with_exposed_provenance_mut};
use std::{io, mem, ops::Range};

use corosensei::stack::StackPointer;
use lisle_core::internal::exceptions::Exceptions;
use lisle_core::internal::segment::StackSpan;

use self::slab::{Shape, Slab};
use crate::memory::pages;

/// The usable size of a stack if no other size was requested.
pub(crate) const DEFAULT_USABLE_SIZE: usize = 1024 * 1024;

/// The least usable size of a stack. A smaller request is raised to this: unwinding from a panic
/// and formatting its message take several kilobytes by themselves.
pub(crate) const MIN_USABLE_SIZE: usize = 16 * 1024;

/// How much of a free stack, counted from its top, stays resident when it is first trimmed.
const KEEP_RESIDENT: usize = 16 * 1024;

/// The number of free stacks, counted from the most recently used one, that keep their top pages
/// however often the pool is trimmed. All pages of further stacks go back to the kernel.
const KEEP_WARM: usize = 256;

/// Checks that an address space has room for some stacks of this size.
///
/// # Errors
///
/// Returns an error if it has not: no limit that could be raised would help.
pub(crate) fn check_size(usable_size: usize) -> io::Result<()> {
    if usable_size <= slab::LARGEST_STACK {
        return Ok(());
    }
    let text = format!(
        "stacks of {usable_size} bytes do not fit into the address space: ask for {} bytes or less",
        slab::LARGEST_STACK
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// A stack with a guard below it, on loan from a [`StackPool`].
///
/// Give it back with [`StackPool::give`]. Dropping it instead is safe, but loses it: its slab is
/// then never unmapped.
#[derive(Debug)]
pub(crate) struct Stack {
    /// The highest address, from where the stack grows down.
    base: StackPointer,
    /// The lowest address, where the guard begins.
    limit: StackPointer,
}

impl Stack {
    /// Returns the addresses of the guard. Safe to call in a signal handler.
    #[inline]
    pub(crate) fn guard(&self) -> Range<usize> {
        let limit = self.limit.get();
        limit..limit + slab::guard_size()
    }

    /// Returns the same stack for a segment to run on, without the uppermost words, see
    /// [`exceptions`](Stack::exceptions).
    ///
    /// # Safety
    ///
    /// The segment ends before the stack is given back or dropped, and the stack is lent to one
    /// segment at a time.
    pub(crate) unsafe fn lend(&self) -> StackSpan {
        const { assert!(size_of::<Exceptions>().is_multiple_of(16)) };
        // SAFETY: the memory stays until the stack is dropped, which is not before the segment has
        // ended. Both ends are multiples of 16, and the guard lies at the limit.
        unsafe { StackSpan::new(self.base.get() - size_of::<Exceptions>(), self.limit.get()) }
    }

    /// Returns the place for the exceptions of C++ of the fiber that runs on this stack. It is on the
    /// stack, since few programs have any. The initial content of the place does not belong to them.
    pub(crate) fn exceptions(&self) -> NonNull<Exceptions> {
        let place = with_exposed_provenance_mut(self.base.get() - size_of::<Exceptions>());
        NonNull::new(place).expect("a stack is not at address 0")
    }

    /// Returns the highest address, from where the stack grows down.
    #[inline]
    pub(crate) fn base_address(&self) -> usize {
        self.base.get()
    }

    /// Returns the lowest address, where the guard begins.
    #[inline]
    pub(crate) fn limit_address(&self) -> usize {
        self.limit.get()
    }

    /// Returns the addresses of the pages above the guard.
    #[inline]
    pub(crate) fn usable(&self) -> Range<usize> {
        let page = pages::page_size();
        // The size of a page is a power of two.
        self.guard().end..(self.base.get() + page - 1) & !(page - 1)
    }
}

// SAFETY: between `limit` and `base` lie a guard, installed by `Slab::cut` before the value
// existed, and at least `MIN_USABLE_SIZE` bytes of readable and writable memory that no other stack
// shares. Both ends are multiples of `STACK_ALIGNMENT`. The mapping outlives the value: a slab is
// unmapped only when all of its stacks lie in the pool, where they are dropped without being used.
unsafe impl corosensei::stack::Stack for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// The stacks of one domain, used by its thread alone.
///
/// # When it is dropped
///
/// Each slab whose stacks are all in the pool is unmapped. A slab with a stack outside the pool
/// stays mapped until its stacks have been in pools that were dropped: memory is leaked rather than
/// taken from under a live stack.
///
/// # How trimming finds its work
///
/// `free` is a stack in both senses, so stacks that have not been used lately lie at its bottom, in
/// three layers:
///
/// ```text
/// free:  [ cold: nothing resident | trimmed: top pages resident | used since the last trim ]
///          0 .. cold                cold .. trimmed               trimmed .. free.len()
/// ```
///
/// Taking a stack can only lower the two borders. The hot path does not touch them, but notes how
/// short the list has been (`low`), and `trim` lowers them to that before it looks for work. Each
/// call therefore costs its budget, however many stacks are free.
#[derive(Debug)]
pub(crate) struct StackPool {
    /// Free stacks, the most recently used one last. It has room for all stacks ever handed out, so
    /// giving one back never allocates.
    free: Vec<Stack>,
    /// The shortest length of `free` since the last call of `trim`.
    low: usize,
    /// The number of stacks at the bottom of `free` without resident pages.
    cold: usize,
    /// The number of stacks at the bottom of `free` that are trimmed, the cold ones included.
    trimmed: usize,
    /// The mappings. Only the last one has stacks that were never handed out.
    slabs: Vec<Slab>,
    /// The number of stacks ever handed out.
    made: usize,
    /// The shape of this pool's stacks.
    shape: Shape,
}

impl StackPool {
    /// Creates a pool of stacks of `usable_size` bytes each, rounded up to pages and to
    /// [`MIN_USABLE_SIZE`], guard excluded. Nothing is mapped before the first stack is taken.
    pub(crate) fn new(usable_size: usize) -> Self {
        Self::with_shape(Shape::new(usable_size))
    }

    fn with_shape(shape: Shape) -> Self {
        Self { free: Vec::new(), low: 0, cold: 0, trimmed: 0, slabs: Vec::new(), made: 0, shape }
    }

    /// Hands out the stack most recently given back, or a fresh one.
    ///
    /// # Errors
    ///
    /// Returns an error if a fresh stack is needed and the kernel refuses memory or a guard. The
    /// pool is unharmed, and the call may be repeated later.
    #[inline]
    pub(crate) fn take(&mut self) -> io::Result<Stack> {
        match self.free.pop() {
            Some(stack) => {
                self.low = self.low.min(self.free.len());
                Ok(stack)
            }
            None => self.take_fresh(),
        }
    }

    /// Hands out a stack that is free, if one is.
    pub(crate) fn take_free(&mut self) -> Option<Stack> {
        let stack = self.free.pop()?;
        self.low = self.low.min(self.free.len());
        Some(stack)
    }

    /// Gets a fresh stack, and keeps it free.
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    pub(crate) fn refill(&mut self) -> io::Result<()> {
        let fresh = self.take_fresh()?;
        self.give(fresh);
        Ok(())
    }

    /// Adds a stack of another pool, of the same shape.
    pub(crate) fn adopt(&mut self, stack: Stack) {
        self.made += 1;
        self.free.reserve(self.made - self.free.len());
        self.give(stack);
    }

    /// Takes back a stack that [`take`](Self::take) of this pool has handed out.
    ///
    /// Never allocates and never fails. The stack's pages stay as they are until
    /// [`trim`](Self::trim) treats it.
    #[inline]
    pub(crate) fn give(&mut self, stack: Stack) {
        self.free.push(stack);
    }

    /// Returns the number of free stacks.
    pub(crate) fn free(&self) -> usize {
        self.free.len()
    }

    /// Returns `true` if all stacks that were ever handed out are here.
    pub(crate) fn is_whole(&self) -> bool {
        self.free.len() == self.made
    }

    #[cold]
    fn take_fresh(&mut self) -> io::Result<Stack> {
        self.low = 0;
        if self.slabs.last().is_none_or(Slab::is_exhausted) {
            self.slabs.push(Slab::map(self.shape, self.slabs.len())?);
        }
        let slab = self.slabs.last_mut().expect("a slab was mapped above");
        let stack = slab.cut()?;
        self.made += 1;
        self.free.reserve(self.made);
        Ok(stack)
    }

    /// Gives pages of free stacks back to the kernel and returns how many stacks it has treated,
    /// `budget` at most.
    ///
    /// A stack that was used since it was last trimmed keeps its top 16 KiB. Of the stacks that an
    /// earlier call has trimmed, and that have not been used since, all but the 256 most recently
    /// used ones lose these pages too. A return value of zero means that nothing is left to give
    /// back. Each stack treated costs one system call; the cost of the call as a whole does not
    /// depend on the number of free stacks.
    pub(crate) fn trim(&mut self, budget: usize) -> usize {
        let len = self.free.len();
        let low = mem::replace(&mut self.low, len);
        self.trimmed = self.trimmed.min(low);
        self.cold = self.cold.min(low);

        let used = self.trimmed..len.min(self.trimmed.saturating_add(budget));
        let cooling_end = self.trimmed.min(len.saturating_sub(KEEP_WARM)).max(self.cold);
        let cooling = self.cold..cooling_end.min(self.cold.saturating_add(budget - used.len()));

        for stack in &self.free[used.clone()] {
            let pages = stack.usable();
            let kept = KEEP_RESIDENT.next_multiple_of(pages::page_size()).min(pages.len());
            // SAFETY: the stack is in the free list, so no fiber runs on it and nothing refers to
            // its contents.
            unsafe { pages::give_back(pages.start..pages.end - kept) };
        }
        for stack in &self.free[cooling.clone()] {
            // SAFETY: as above.
            unsafe { pages::give_back(stack.usable()) };
        }
        self.trimmed = used.end;
        self.cold = cooling.end;
        used.len() + cooling.len()
    }
}

impl Drop for StackPool {
    fn drop(&mut self) {
        slab::leave(mem::take(&mut self.slabs), mem::take(&mut self.free));
    }
}
