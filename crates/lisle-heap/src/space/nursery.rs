//! The nursery: the memory in which objects are born. Threads take it block by block.
//!
//! It is one range of addresses, so whether an object is young is seen by its address.

use crate::object::WORD;
use crate::raw::Raw;
use crate::space::pages::Pages;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of a block in bytes.
pub(crate) const BLOCK: usize = 1 << 16;

/// A range of addresses.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    begin: usize,
    len: usize,
}

impl Range {
    #[inline]
    pub(crate) fn contains(self, address: Raw) -> bool {
        address.addr().wrapping_sub(self.begin) < self.len
    }

    /// Returns the size in bytes.
    pub(crate) fn len(self) -> usize {
        self.len
    }
}

pub(crate) struct Nursery {
    pages: Pages,
    /// The number of blocks that were taken since the last collection. It may count those that were asked for in vain.
    taken: AtomicUsize,
    /// The number of blocks that may be taken. It is 0 while the old space has no room for what they may contain.
    open: AtomicUsize,
    /// The number of bytes of objects in each block that its thread has finished.
    used: Box<[AtomicUsize]>,
}

impl Nursery {
    /// Creates a nursery of `size` bytes, a multiple of the size of a block.
    pub(crate) fn new(size: usize) -> io::Result<Self> {
        // First, since it fails if the size is too large.
        let pages = Pages::map(size)?;
        let mut used = Vec::new();
        used.try_reserve_exact(size / BLOCK)?;
        used.resize_with(size / BLOCK, AtomicUsize::default);
        let used = used.into_boxed_slice();
        let (taken, open) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { pages, taken, open, used })
    }

    pub(crate) fn size(&self) -> usize {
        self.pages.len()
    }

    pub(crate) fn range(&self) -> Range {
        Range { begin: self.pages.begin().addr(), len: self.pages.len() }
    }

    /// Lets threads take blocks.
    pub(crate) fn open(&self) {
        self.open.store(self.used.len(), Ordering::Relaxed);
    }

    /// Lets threads take no more blocks.
    pub(crate) fn close(&self) {
        self.open.store(0, Ordering::Relaxed);
    }

    /// Takes a block, and returns its number and its begin. Returns `None` if there is none, or the nursery is closed.
    pub(crate) fn take(&self) -> Option<(usize, Raw)> {
        let open = self.open.load(Ordering::Relaxed);
        let more = |taken| (taken < open).then_some(taken + 1);
        let index = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some((index, self.begin(index)))
    }

    /// Returns `true` if a block can be taken.
    pub(crate) fn has_blocks(&self) -> bool {
        self.taken.load(Ordering::Relaxed) < self.open.load(Ordering::Relaxed)
    }

    fn begin(&self, index: usize) -> Raw {
        // SAFETY: the nursery has so many blocks.
        unsafe { self.pages.begin().add(index * BLOCK) }
    }

    /// Notes that so many bytes of a block have objects.
    pub(crate) fn note_used(&self, index: usize, bytes: usize) {
        self.used[index].store(bytes, Ordering::Relaxed);
    }

    /// Returns the blocks that were taken: the begin of each, and the number of bytes that were noted.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (Raw, usize)> {
        let taken = self.taken.load(Ordering::Relaxed);
        (0..taken).map(|index| (self.begin(index), self.used[index].load(Ordering::Relaxed)))
    }

    /// Returns the number of bytes that were noted.
    pub(crate) fn used(&self) -> usize {
        self.blocks().map(|(_, used)| used).sum()
    }

    /// Begins the nursery anew, closed, after all its objects have moved or died. With `wipe`, a pointer to one of
    /// them that was kept is wrong at once.
    ///
    /// # Safety
    ///
    /// No word of a root or an object points into the nursery, and no thread has a block.
    pub(crate) unsafe fn restart(&self, wipe: bool) {
        if wipe || cfg!(debug_assertions) {
            for (begin, used) in self.blocks() {
                // SAFETY: the caller promises that nobody uses these objects.
                unsafe { begin.write_bytes(0xDB, used) };
            }
        }
        for used in &self.used[..self.taken.load(Ordering::Relaxed)] {
            used.store(0, Ordering::Relaxed);
        }
        self.taken.store(0, Ordering::Relaxed);
        self.close();
    }
}

const _: () = assert!(BLOCK.is_multiple_of(WORD));
