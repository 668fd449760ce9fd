//! The old space: objects that have survived a collection, and large ones.
//!
//! Small objects lie in [blocks] of cells of one size. A collection of the whole heap marks what is
//! reachable, by a colour in the header, and then frees the cells of the other colour. Colours
//! change their meaning with each cycle, so no mark needs to be taken away. An object with more words
//! than the largest cell is *large*, and has an allocation of its own.

pub(crate) mod blocks;
mod sizes;

use crate::object::{Colour, Header, WORD, header_of, set_header};
use crate::raw::Raw;
use blocks::{BLOCK, Block, Blocks};
use sizes::{CLASSES, class_of, words_of_class};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr;

pub(crate) use sizes::LARGEST_CELL;

/// The cells of one size.
struct Class {
    words: usize,
    blocks: Vec<Block>,
    /// The free cells: each contains the address of the next in the word behind its header.
    free: Raw,
}

struct Large {
    /// The address of the header.
    begin: Raw,
    layout: Layout,
}

pub(crate) struct Old {
    classes: [Class; CLASSES],
    large: Vec<Large>,
    blocks: Blocks,
    /// The bytes of the cells that have an object, and of large objects.
    bytes: usize,
    /// The colour of live objects. New ones get it.
    pub(crate) colour: Colour,
}

/// Returns the largest number of blocks that objects of `bytes` bytes can need: each size may
/// need a new block that it fills only in part, and cells may be a quarter larger than their objects.
pub(crate) fn blocks_for(bytes: usize) -> usize {
    (bytes + bytes / 4).div_ceil(BLOCK - LARGEST_CELL * WORD) + CLASSES
}

impl Old {
    pub(crate) fn new() -> Self {
        let class = |class| Class { words: words_of_class(class), blocks: Vec::new(), free: ptr::null_mut() };
        Self {
            classes: std::array::from_fn(class),
            large: Vec::new(),
            blocks: Blocks::default(),
            bytes: 0,
            colour: Colour::FIRST,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of bytes that the heap has from the system.
    pub(crate) fn reserved(&self) -> usize {
        self.blocks.bytes() + self.large_bytes()
    }

    /// Returns the bytes of large objects.
    pub(crate) fn large_bytes(&self) -> usize {
        self.large.iter().map(|large| large.layout.size()).sum()
    }

    /// Makes sure that the next collection has `blocks` free blocks. Returns `false` if the system has no
    /// memory for them.
    pub(crate) fn reserve(&mut self, blocks: usize) -> bool {
        self.blocks.reserve(blocks)
    }

    /// Gives memory back to the system, but for `keep` free blocks.
    pub(crate) fn give_back(&mut self, keep: usize) {
        self.blocks.give_back(keep);
    }

    /// Takes a cell for an object of `words` words, the header included, which are at most
    /// `LARGEST_CELL`. Returns the payload.
    ///
    /// # Panics
    ///
    /// If there is no free block. `reserve` has made sure of that.
    #[inline]
    pub(crate) fn take(&mut self, words: usize) -> Raw {
        let class = &mut self.classes[class_of(words)];
        self.bytes += class.words * WORD;
        if !class.free.is_null() {
            let payload = class.free;
            // SAFETY: the word behind the header of a free cell is the address of the next.
            class.free = unsafe { payload.cast::<Raw>().read() };
            return payload;
        }
        if let Some(payload) = class.blocks.last_mut().and_then(Block::take) {
            return payload;
        }
        let memory = self.blocks.take().expect("the collector has reserved enough blocks");
        let mut block = Block::new(memory, class.words);
        let payload = block.take().expect("a block has room for a cell");
        class.blocks.push(block);
        payload
    }

    /// Makes room for a large object of `words` words, the header included. Returns the payload, or
    /// `None` if the system has no memory for it. The memory is not initialized.
    pub(crate) fn take_large(&mut self, words: usize) -> Option<Raw> {
        let layout = Layout::array::<usize>(words).ok()?;
        self.large.try_reserve(1).ok()?;
        // SAFETY: the size is not 0, since an object has a header.
        let begin = unsafe { alloc(layout) };
        if begin.is_null() {
            return None;
        }
        self.bytes += layout.size();
        self.large.push(Large { begin, layout });
        // SAFETY: the allocation has the header and a payload.
        Some(unsafe { begin.add(WORD) })
    }

    /// Calls `visit` for the payload of each object.
    pub(crate) fn each_object(&self, mut visit: impl FnMut(Raw)) {
        for block in self.classes.iter().flat_map(|class| &class.blocks) {
            for payload in block.cells() {
                // SAFETY: each cell that was taken has a header, or is free.
                if !unsafe { header_of(payload) }.is_free() {
                    visit(payload);
                }
            }
        }
        for large in &self.large {
            // SAFETY: the allocation has the header and a payload.
            visit(unsafe { large.begin.add(WORD) });
        }
    }

    /// Frees all objects that have not the colour of live ones. Calls `destroy` for each of them that
    /// has a destructor.
    pub(crate) fn sweep(&mut self, mut destroy: impl FnMut(Raw)) {
        let live = self.colour;
        let mut bytes = 0;
        let Self { classes, blocks, large, .. } = self;
        for class in classes {
            class.free = ptr::null_mut();
            let cell = class.words * WORD;
            class.blocks.retain_mut(|block| {
                let (before, mut alive) = (class.free, 0);
                for payload in block.cells() {
                    // SAFETY: each cell that was taken has a header, or is free.
                    unsafe {
                        let header = header_of(payload);
                        if !header.is_free() && header.colour() == live {
                            alive += 1;
                            continue;
                        }
                        if !header.is_free() {
                            if header.desc().drop.is_some() {
                                destroy(payload);
                            }
                            set_header(payload, Header::FREE);
                        }
                        payload.cast::<Raw>().write(class.free);
                        class.free = payload;
                    }
                }
                bytes += alive * cell;
                if alive == 0 {
                    // None of its cells is in the list, and the block may get cells of another size.
                    class.free = before;
                    blocks.put_back(block.memory());
                }
                alive > 0
            });
        }
        large.retain(|large| {
            // SAFETY: the allocation has the header and a payload.
            unsafe {
                let payload = large.begin.add(WORD);
                let header = header_of(payload);
                let alive = header.colour() == live;
                if alive {
                    bytes += large.layout.size();
                } else {
                    if header.desc().drop.is_some() {
                        destroy(payload);
                    }
                    dealloc(large.begin, large.layout);
                }
                alive
            }
        });
        self.bytes = bytes;
    }

    /// Returns the free cells that are listed: the size of each in words, and its payload. For the check of
    /// the heap.
    pub(crate) fn free_cells(&self) -> impl Iterator<Item = (usize, Raw)> {
        self.classes.iter().flat_map(|class| {
            // SAFETY: the word behind the header of a free cell is the address of the next.
            let next = |payload: &Raw| unsafe { payload.cast::<Raw>().read() };
            let first = (!class.free.is_null()).then_some(class.free);
            std::iter::successors(first, move |payload| Some(next(payload)).filter(|next| !next.is_null()))
                .map(|payload| (class.words, payload))
        })
    }

    /// Calls `visit` for each cell that was ever taken: its size in words, and its payload. For the check
    /// of the heap.
    pub(crate) fn each_cell(&self, mut visit: impl FnMut(usize, Raw)) {
        for class in &self.classes {
            for block in &class.blocks {
                block.cells().for_each(|payload| visit(class.words, payload));
            }
        }
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        for large in self.large.drain(..) {
            // SAFETY: the allocation is the heap's own, which is not used any more.
            unsafe { dealloc(large.begin, large.layout) };
        }
    }
}
