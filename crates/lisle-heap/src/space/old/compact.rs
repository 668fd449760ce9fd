//! Emptying sparse blocks: their objects move into the free cells of other blocks.
//!
//! A cycle frees cells. A block goes back only when all of its cells are free, so a heap whose objects have died here and there keeps
//! many blocks with few objects. As many blocks of each size are left as its objects need, the densest; the others are emptied. The
//! header of a moved object is its new place, as in the nursery, until all words are corrected.

use super::Old;
use super::blocks::Block;
use super::sizes::words_of_class;
use crate::object::{Header, WORD, header_of, set_header};
use crate::raw::Raw;
use std::cmp::Reverse;

/// The blocks that were emptied. Their cells say where the objects are now.
pub(crate) struct Emptied(Vec<Block>);

impl Block {
    /// Returns the number of its objects.
    fn alive(&self) -> usize {
        self.cells().count() - self.free_cells().count()
    }

    /// Takes a cell, and returns its payload.
    fn take(&mut self) -> Option<Raw> {
        if !self.has_room() {
            return None;
        }
        let (free, (untaken, _)) = (self.free, self.untaken());
        // SAFETY: the block has room, so there is a free cell, whose word behind the header is the address of the next, or one that
        // was never taken.
        unsafe {
            if free.is_null() {
                self.note_left(free, untaken.add(self.cell()));
                Some(untaken.add(WORD))
            } else {
                self.free = free.cast::<Raw>().read();
                Some(free)
            }
        }
    }
}

impl Old {
    /// Moves the objects of sparse blocks. Their words still refer to the old places, and all other words do.
    ///
    /// If the system has no memory for the lists of the blocks of a size, they stay as they are.
    ///
    /// # Safety
    ///
    /// All threads have stopped, all is swept, and the nursery is empty.
    pub(crate) unsafe fn empty_sparse(&mut self) -> Emptied {
        debug_assert!(self.is_swept());
        let mut emptied = Vec::new();
        for class in 0..self.classes.len() {
            // SAFETY: passed on to the caller.
            unsafe { self.empty_sparse_of(class, &mut emptied) };
        }
        Emptied(emptied)
    }

    unsafe fn empty_sparse_of(&mut self, class: usize, emptied: &mut Vec<Block>) {
        let lists = &mut self.classes[class];
        let count = lists.with_room.len() + lists.full.len();
        let mut blocks = Vec::new();
        if blocks.try_reserve_exact(count).is_err() || emptied.try_reserve(count).is_err() {
            return;
        }
        let all = lists.with_room.drain(..).chain(lists.full.drain(..));
        blocks.extend(all.map(|block| (block.alive(), block)));
        blocks.sort_unstable_by_key(|(alive, _)| Reverse(*alive));
        let words = words_of_class(class);
        let objects: usize = blocks.iter().map(|(alive, _)| alive).sum();
        let needed = objects.div_ceil(super::BLOCK / (words * WORD));
        let (dense, sparse) = blocks.split_at_mut(needed);
        let mut with_room = dense.iter_mut().map(|(_, block)| block);
        let mut to = with_room.next();
        for payload in sparse.iter().flat_map(|(_, block)| block.cells()) {
            // SAFETY: a cell that was taken has a header, and one with an object as many words as each other one of its size.
            unsafe {
                let header = header_of(payload);
                if header.is_free() {
                    continue;
                }
                let cell = loop {
                    let block = to.as_mut().expect("the dense blocks have room for all objects");
                    match block.take() {
                        Some(cell) => break cell,
                        None => to = with_room.next(),
                    }
                };
                cell.cast::<usize>().copy_from_nonoverlapping(payload.cast(), words - 1);
                set_header(cell, header);
                set_header(payload, Header::moved_to(cell));
            }
        }
        emptied.extend(blocks.drain(needed..).map(|(_, block)| block));
        blocks.into_iter().for_each(|(_, block)| self.add(class, block));
    }

    /// Takes back the blocks that were emptied, when all words are corrected. All free memory but for `keep` blocks goes back
    /// to the system.
    pub(crate) fn give_back_emptied(&mut self, emptied: Emptied, keep: usize) {
        emptied.0.into_iter().for_each(|block| self.blocks.put_back(block.memory()));
        self.blocks.give_back(keep);
        self.blocks.give_back_pages(keep);
    }
}
