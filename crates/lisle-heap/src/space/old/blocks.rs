//! Blocks of memory, cut from chunks that the system gives.

use crate::object::WORD;
use crate::raw::Raw;
use crate::space::pages::Pages;

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
}

impl Block {
    pub(super) fn new(memory: Raw, words: usize) -> Self {
        Self { memory, cell: words * WORD, taken: 0 }
    }

    pub(super) fn memory(&self) -> Raw {
        self.memory
    }

    /// Takes the next cell that was never taken, and returns its payload.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Raw> {
        let begin = self.taken * self.cell;
        if begin + self.cell > BLOCK {
            return None;
        }
        self.taken += 1;
        // SAFETY: the cell ends within the block.
        Some(unsafe { self.memory.add(begin + WORD) })
    }

    /// Returns the payloads of the cells that were taken at least once.
    pub(super) fn cells(&self) -> impl Iterator<Item = Raw> + use<> {
        let (memory, cell) = (self.memory, self.cell);
        // SAFETY: these cells are in the block.
        (0..self.taken).map(move |index| unsafe { memory.add(index * cell + WORD) })
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
}
