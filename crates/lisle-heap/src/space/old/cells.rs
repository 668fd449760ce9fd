//! Taking cells for objects that move to the old space.
//!
//! A collection may have several threads. Each borrows blocks, one of each size, and takes cells from them without a lock.

use super::Old;
use super::blocks::Block;
use super::sizes::{CLASSES, class_of, words_of_class};
use crate::lock::lock;
use crate::object::{Colour, WORD};
use crate::raw::Raw;
use std::ptr;
use std::sync::Mutex;

/// A block that a collector takes cells from.
struct Borrowed {
    /// The first free cell, or null.
    free: Raw,
    /// The next cell that was never taken, and the end of the last one.
    next: Raw,
    end: Raw,
    block: Option<Block>,
}

impl Borrowed {
    const NONE: Self =
        Self { free: ptr::null_mut(), next: ptr::null_mut(), end: ptr::null_mut(), block: None };
}

/// The blocks from which one thread of the collector takes cells: one of each size at most.
pub(crate) struct Cells<'a> {
    old: &'a Mutex<Old>,
    borrowed: [Borrowed; CLASSES],
    /// The bytes of the cells that were taken.
    bytes: usize,
    /// The colour of the objects in them.
    pub(crate) colour: Colour,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(old: &'a Mutex<Old>) -> Self {
        Self { old, borrowed: [Borrowed::NONE; CLASSES], bytes: 0, colour: lock(old).born }
    }

    /// Takes a cell for an object of `words` words, the header included, which are at most
    /// `LARGEST_CELL`. Returns the payload.
    #[inline]
    pub(crate) fn take(&mut self, words: usize) -> Raw {
        let class = class_of(words);
        let size = words_of_class(class) * WORD;
        self.bytes += size;
        loop {
            let block = &mut self.borrowed[class];
            if !block.free.is_null() {
                let payload = block.free;
                // SAFETY: the word behind the header of a free cell is the address of the next.
                block.free = unsafe { payload.cast::<Raw>().read() };
                return payload;
            }
            if block.next != block.end {
                // SAFETY: a cell begins here and ends within the block.
                unsafe {
                    let payload = block.next.add(WORD);
                    block.next = block.next.add(size);
                    return payload;
                }
            }
            self.next_block(class);
        }
    }

    #[cold]
    fn next_block(&mut self, class: usize) {
        let mut old = lock(self.old);
        old.return_block(class, &mut self.borrowed[class]);
        self.borrowed[class] = old.borrow_block(class);
    }
}

impl Drop for Cells<'_> {
    fn drop(&mut self) {
        let mut old = lock(self.old);
        for (class, borrowed) in self.borrowed.iter_mut().enumerate() {
            old.return_block(class, borrowed);
        }
        old.bytes += self.bytes;
    }
}

impl Old {
    /// Lends a block of this size with free cells.
    ///
    /// # Panics
    ///
    /// If there is no free block. `reserve` has made sure of that.
    fn borrow_block(&mut self, class: usize) -> Borrowed {
        let block = self.classes[class].with_room.pop().unwrap_or_else(|| {
            let memory = self.blocks.take().expect("the collector has reserved enough blocks");
            Block::new(memory, words_of_class(class))
        });
        let (next, end) = block.untaken();
        Borrowed { free: block.free, next, end, block: Some(block) }
    }

    /// Takes a block back.
    fn return_block(&mut self, class: usize, borrowed: &mut Borrowed) {
        if let Some(mut block) = borrowed.block.take() {
            block.note_left(borrowed.free, borrowed.next);
            self.add(class, block);
        }
    }
}
