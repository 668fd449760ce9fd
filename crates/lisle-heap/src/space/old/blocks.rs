//! Blocks of memory, cut from chunks that the system gives.

use crate::object::WORD;
use crate::raw::Raw;
use crate::space::pages::Pages;
use lisle_core::internal::memory::pages::give_back;
use std::ptr;

/// The size of a block in bytes.
pub(crate) const BLOCK: usize = 1 << 16;
/// The number of blocks in a chunk.
const IN_CHUNK: usize = 16;

/// A block of cells of one size.
pub(crate) struct Block {
    memory: Raw,
    /// The size of a cell in bytes.
    cell: usize,
    /// The number of cells that were taken at least once. Those after them have no header yet.
    taken: usize,
    /// The first of the free cells among them: each contains the address of the next in the word behind its header.
    pub(super) free: Raw,
}

impl Block {
    pub(super) fn new(memory: Raw, words: usize) -> Self {
        Self { memory, cell: words * WORD, taken: 0, free: ptr::null_mut() }
    }

    pub(super) fn memory(&self) -> Raw {
        self.memory
    }

    /// Returns the size of a cell in bytes.
    pub(super) fn cell(&self) -> usize {
        self.cell
    }

    /// Returns the begin of the cells that were never taken, and the end of the last cell.
    pub(super) fn untaken(&self) -> (Raw, Raw) {
        let cells = BLOCK / self.cell;
        // SAFETY: so many cells are in the block.
        unsafe { (self.memory.add(self.taken * self.cell), self.memory.add(cells * self.cell)) }
    }

    /// Notes which cells are left: the list of free ones, and the begin of those that were never taken.
    pub(super) fn note_left(&mut self, free: Raw, untaken: Raw) {
        self.free = free;
        self.taken = (untaken.addr() - self.memory.addr()) / self.cell;
    }

    /// Returns `true` if a cell can be taken.
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_null() || self.taken < BLOCK / self.cell
    }

    /// Returns the payloads of the cells that were taken at least once.
    pub(super) fn cells(&self) -> impl Iterator<Item = Raw> + use<> {
        let (memory, cell) = (self.memory, self.cell);
        // SAFETY: these cells are in the block.
        (0..self.taken).map(move |index| unsafe { memory.add(index * cell + WORD) })
    }

    /// Returns the payloads of the free cells among them.
    pub(super) fn free_cells(&self) -> impl Iterator<Item = Raw> + use<> {
        let there = |payload: &Raw| !payload.is_null();
        // SAFETY: the word behind the header of a free cell is the address of the next.
        let next = move |payload: &Raw| Some(unsafe { payload.cast::<Raw>().read() }).filter(there);
        std::iter::successors(Some(self.free).filter(there), next)
    }
}

struct Chunk {
    pages: Pages,
    /// A bit for each block that is free.
    free: u16,
}

/// The blocks that nobody uses, and the memory of all, in the order of the addresses.
#[derive(Default)]
pub(crate) struct Blocks {
    chunks: Vec<Chunk>,
    free: usize,
    /// No chunk before this one has a free block.
    first: usize,
}

impl Blocks {
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.pages.len()).sum()
    }

    pub(super) fn reserve(&mut self, blocks: usize) -> bool {
        while self.free < blocks {
            if self.chunks.try_reserve(1).is_err() {
                return false;
            }
            let Ok(pages) = Pages::map(IN_CHUNK * BLOCK) else { return false };
            let at = self.chunks.partition_point(|chunk| chunk.pages.begin() < pages.begin());
            self.chunks.insert(at, Chunk { pages, free: u16::MAX });
            self.first = self.first.min(at);
            self.free += IN_CHUNK;
        }
        true
    }

    pub(super) fn take(&mut self) -> Option<Raw> {
        let found = self.chunks[self.first..].iter().position(|chunk| chunk.free != 0)?;
        self.first += found;
        let chunk = &mut self.chunks[self.first];
        let index = chunk.free.trailing_zeros();
        chunk.free &= !(1 << index);
        self.free -= 1;
        // SAFETY: the chunk has so many blocks.
        Some(unsafe { chunk.pages.begin().add(index as usize * BLOCK) })
    }

    pub(super) fn put_back(&mut self, memory: Raw) {
        let index = self.chunks.partition_point(|chunk| chunk.pages.begin() <= memory) - 1;
        let chunk = &mut self.chunks[index];
        chunk.free |= 1 << ((memory.addr() - chunk.pages.begin().addr()) / BLOCK);
        self.free += 1;
        self.first = self.first.min(index);
    }

    pub(super) fn give_back(&mut self, keep: usize) {
        let free = &mut self.free;
        self.chunks.retain(|chunk| {
            let goes = chunk.free == u16::MAX && *free >= keep + IN_CHUNK;
            if goes {
                *free -= IN_CHUNK;
            }
            !goes
        });
        self.first = 0;
    }

    /// Gives the pages of free blocks back to the system, but for `keep` blocks. The blocks stay free, and get new pages when they are
    /// used.
    pub(super) fn give_back_pages(&mut self, keep: usize) {
        let mut left = keep;
        for chunk in &self.chunks {
            for index in (0..IN_CHUNK).filter(|index| chunk.free & (1 << index) != 0) {
                if left > 0 {
                    left -= 1;
                    continue;
                }
                let begin = chunk.pages.begin().addr() + index * BLOCK;
                // SAFETY: the block is free, so it has nothing that is needed.
                unsafe { give_back(begin..begin + BLOCK) };
            }
        }
    }
}
