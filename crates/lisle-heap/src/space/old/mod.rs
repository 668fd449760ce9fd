//! The old space: objects that have survived a collection, and large ones.
//!
//! Small objects lie in [blocks] of cells of one size. A collection of the whole heap marks what is
//! reachable, by a colour in the header, and then frees the cells of the other colour. Colours
//! change their meaning with each cycle, so no mark needs to be taken away. An object with more words
//! than the largest cell is *large*, and has an allocation of its own.

pub(crate) mod blocks;
mod cells;
mod sizes;

use crate::object::{Colour, Header, WORD, header_of, set_header};
use crate::raw::Raw;
use blocks::{BLOCK, Block, Blocks};
use sizes::{CLASSES, words_of_class};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use cells::Cells;
pub(crate) use sizes::LARGEST_CELL;

/// The cells of one size.
struct Class {
    words: usize,
    blocks: Vec<Block>,
    /// The blocks with free cells that no collector has borrowed.
    with_room: Vec<usize>,
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
    /// The bytes at which the old space is to be collected.
    pub(crate) threshold: usize,
    /// The colour of live objects. New ones get it.
    pub(crate) colour: Colour,
}

// SAFETY: the memory is the heap's own. Objects are `Send` and `Sync`.
unsafe impl Send for Old {}

/// Returns the largest number of blocks that objects of `bytes` bytes can need if `threads` threads move them: each
/// thread may need a new block of each size that it fills only in part, and cells may be a quarter larger than their
/// objects.
pub(crate) fn blocks_for(bytes: usize, threads: usize) -> usize {
    (bytes + bytes / 4).div_ceil(BLOCK - LARGEST_CELL * WORD) + threads * CLASSES
}

/// Locks the old space.
pub(crate) fn lock<T>(old: &Mutex<T>) -> MutexGuard<'_, T> {
    old.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Old {
    pub(crate) fn new(threshold: usize) -> Self {
        let class = |class| Class { words: words_of_class(class), blocks: Vec::new(), with_room: Vec::new() };
        Self {
            classes: std::array::from_fn(class),
            large: Vec::new(),
            blocks: Blocks::default(),
            bytes: 0,
            threshold,
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
            let cell = class.words * WORD;
            class.blocks.retain_mut(|block| {
                let (mut free, mut alive) = (ptr::null_mut(), 0);
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
                        payload.cast::<Raw>().write(free);
                        free = payload;
                    }
                }
                bytes += alive * cell;
                block.free = free;
                if alive == 0 {
                    // It may get cells of another size.
                    blocks.put_back(block.memory());
                }
                alive > 0
            });
            class.with_room.clear();
            // The first is taken first.
            let has_room = |index: &usize| class.blocks[*index].has_room();
            class.with_room.extend((0..class.blocks.len()).rev().filter(has_room));
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
            class.blocks.iter().flat_map(Block::free_cells).map(|payload| (class.words, payload))
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
