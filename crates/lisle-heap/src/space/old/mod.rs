//! The old space: objects that have survived a collection, and large ones.
//!
//! Small objects lie in [blocks] of cells of one size. A cycle marks the reachable objects, by a colour in the header, and then
//! [sweeps](sweep) the cells of the other colour, block by block. [Colours](Colours) change their meaning with each cycle, so
//! no mark needs to be taken away. An object with more words than the largest cell is *large*, and has an allocation of its own.

pub(crate) mod blocks;
mod cells;
mod compact;
mod sizes;
mod sweep;

use crate::object::{Colour, Colours, WORD, header_of};
use crate::raw::Raw;
use blocks::{BLOCK, Block, Blocks};
use sizes::{CLASSES, words_of_class};
use std::alloc::{Layout, alloc, dealloc};
use std::mem::take;

pub(crate) use cells::Cells;
pub(crate) use sizes::LARGEST_CELL;

/// The blocks with cells of one size, but for those that a collector has borrowed or that a thread sweeps.
#[derive(Default)]
struct Class {
    with_room: Vec<Block>,
    full: Vec<Block>,
    /// Those that may have dead objects, and from which no cells are taken.
    unswept: Vec<Block>,
    /// Each list has room for so many blocks.
    room: usize,
}

impl Class {
    /// Makes room for `more` blocks in each list, so that none grows while memory may be short.
    fn reserve(&mut self, more: usize) -> bool {
        let all = self.with_room.len() + self.full.len() + self.unswept.len() + more;
        all <= self.room || self.grow(all)
    }

    #[cold]
    fn grow(&mut self, all: usize) -> bool {
        let mut lists = [&mut self.with_room, &mut self.full, &mut self.unswept];
        let have_room = lists.iter_mut().all(|list| list.try_reserve(all - list.len()).is_ok());
        self.room = lists.map(|list| list.capacity()).into_iter().fold(usize::MAX, usize::min);
        have_room
    }
}

pub(crate) struct Large {
    /// The address of the header.
    begin: Raw,
    layout: Layout,
}

impl Large {
    fn payload(&self) -> Raw {
        // SAFETY: the allocation has the header and a payload.
        unsafe { self.begin.add(WORD) }
    }
}

/// All objects of the old space.
pub(crate) struct All {
    /// The blocks of each size, and the number of those that are not swept, which come first.
    blocks: [(Vec<Block>, usize); CLASSES],
    large: Vec<Large>,
    unswept_large: Vec<Large>,
}

impl All {
    /// Calls `visit` for the payload of each object, the dead ones included that are not swept.
    pub(crate) fn each_object(&self, mut visit: impl FnMut(Raw)) {
        for payload in self.blocks.iter().flat_map(|(blocks, _)| blocks).flat_map(Block::cells) {
            // SAFETY: each cell that was taken has a header, or is free.
            if !unsafe { header_of(payload) }.is_free() {
                visit(payload);
            }
        }
        self.large.iter().chain(&self.unswept_large).for_each(|large| visit(large.payload()));
    }
}

pub(crate) struct Old {
    classes: [Class; CLASSES],
    /// Each of the two lists has room for all large objects, so that neither grows in a sweep, when memory may be short.
    large: Vec<Large>,
    unswept_large: Vec<Large>,
    /// No class before this one has a block that is not swept.
    first_unswept: usize,
    /// The number of blocks and large objects that threads sweep now.
    in_sweep: usize,
    blocks: Blocks,
    /// The bytes of the cells that have an object, and of large objects.
    bytes: usize,
    /// The bytes that old objects own elsewhere, as the last mark has found them, and the bytes of objects that have grown old since.
    external: usize,
    /// The used bytes at which the next cycle begins.
    pub(crate) threshold: usize,
    pub(crate) colours: Colours,
    /// The colour of new objects.
    pub(crate) born: Colour,
}

// SAFETY: the memory is the heap's own. Objects are `Send` and `Sync`.
unsafe impl Send for Old {}

/// Returns the largest number of blocks that objects of `bytes` bytes can need if `threads` threads move them: each
/// thread may need a new block of each size that it fills only in part, and cells may be a quarter larger than their
/// objects.
pub(crate) fn blocks_for(bytes: usize, threads: usize) -> usize {
    (bytes + bytes / 4).div_ceil(BLOCK - LARGEST_CELL * WORD) + threads * CLASSES
}

impl Old {
    pub(crate) fn new(threshold: usize) -> Self {
        let colours = Colours::default();
        Self {
            classes: std::array::from_fn(|_| Class::default()),
            large: Vec::new(),
            unswept_large: Vec::new(),
            first_unswept: CLASSES,
            in_sweep: 0,
            blocks: Blocks::default(),
            bytes: 0,
            external: 0,
            threshold,
            colours,
            born: colours.unmarked,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes that old objects own elsewhere.
    pub(crate) fn external(&self) -> usize {
        self.external
    }

    /// Sets the bytes that old objects own elsewhere.
    pub(crate) fn set_external(&mut self, bytes: usize) {
        self.external = bytes;
    }

    /// Returns the bytes of old objects, with those that they own elsewhere.
    pub(crate) fn used(&self) -> usize {
        self.bytes.saturating_add(self.external)
    }

    /// Returns the number of bytes that the heap has from the system.
    pub(crate) fn reserved(&self) -> usize {
        self.blocks.bytes() + self.large_bytes()
    }

    /// Returns the bytes of large objects.
    pub(crate) fn large_bytes(&self) -> usize {
        self.each_large().map(|large| large.layout.size()).sum()
    }

    /// Makes sure that the next collection has `blocks` free blocks, and room for them in the lists. Returns `false` if the system has
    /// no memory for that.
    pub(crate) fn reserve(&mut self, blocks: usize) -> bool {
        let more = blocks + self.in_sweep;
        self.blocks.reserve(blocks) && self.classes.iter_mut().all(|class| class.reserve(more))
    }

    /// Takes all objects out, so that others can be added while these are looked at. It allocates nothing, and the lists to which
    /// blocks are added meanwhile keep their room: `reserve` has made room for all blocks in each.
    pub(crate) fn take_all(&mut self) -> All {
        let blocks = self.classes.each_mut().map(|Class { with_room, full, unswept, .. }| {
            let count = unswept.len();
            unswept.append(with_room);
            unswept.append(full);
            (take(unswept), count)
        });
        All { blocks, large: take(&mut self.large), unswept_large: take(&mut self.unswept_large) }
    }

    /// Puts them back.
    pub(crate) fn put_back_all(&mut self, all: All) {
        let All { blocks, large, unswept_large } = all;
        for (class, (mut blocks, unswept)) in blocks.into_iter().enumerate() {
            blocks.drain(unswept..).for_each(|block| self.add(class, block));
            self.classes[class].unswept = blocks;
        }
        (self.large, self.unswept_large) = (large, unswept_large);
    }

    /// Gives memory back to the system, but for `keep` free blocks.
    pub(crate) fn give_back(&mut self, keep: usize) {
        self.blocks.give_back(keep);
    }

    /// Makes room for a large object of `words` words, the header included. Returns the payload, or
    /// `None` if the system has no memory for it. The memory is not initialized.
    pub(crate) fn take_large(&mut self, words: usize) -> Option<Raw> {
        let layout = Layout::array::<usize>(words).ok()?;
        let all = self.large.len() + self.unswept_large.len() + self.in_sweep + 1;
        self.large.try_reserve(all - self.large.len()).ok()?;
        self.unswept_large.try_reserve(all - self.unswept_large.len()).ok()?;
        // SAFETY: the size is not 0, since an object has a header.
        let begin = unsafe { alloc(layout) };
        if begin.is_null() {
            return None;
        }
        self.bytes += layout.size();
        let large = Large { begin, layout };
        let payload = large.payload();
        self.large.push(large);
        Some(payload)
    }

    fn each_large(&self) -> impl Iterator<Item = &Large> {
        self.large.iter().chain(&self.unswept_large)
    }

    /// Returns all blocks, with the number of the class of each, and whether it is swept.
    fn each_block(&self) -> impl Iterator<Item = (usize, &Block, bool)> {
        self.classes.iter().enumerate().flat_map(|(index, class)| {
            let swept = class.with_room.iter().chain(&class.full).map(move |block| (index, block, true));
            swept.chain(class.unswept.iter().map(move |block| (index, block, false)))
        })
    }

    /// Calls `visit` for the payload of each object, the dead ones included that are not swept.
    pub(crate) fn each_object(&self, mut visit: impl FnMut(Raw)) {
        for (_, block, _) in self.each_block() {
            for payload in block.cells() {
                // SAFETY: each cell that was taken has a header, or is free.
                if !unsafe { header_of(payload) }.is_free() {
                    visit(payload);
                }
            }
        }
        self.each_large().for_each(|large| visit(large.payload()));
    }

    /// Returns the free cells that are listed: the size of each in words, and its payload. For the check of
    /// the heap.
    pub(crate) fn free_cells(&self) -> impl Iterator<Item = (usize, Raw)> {
        self.each_block().flat_map(|(class, block, _)| {
            block.free_cells().map(move |payload| (words_of_class(class), payload))
        })
    }

    /// Calls `visit` for each cell that was ever taken: its size in words, its payload, and whether it is swept. For the
    /// check of the heap.
    pub(crate) fn each_cell(&self, mut visit: impl FnMut(usize, Raw, bool)) {
        for (class, block, swept) in self.each_block() {
            block.cells().for_each(|payload| visit(words_of_class(class), payload, swept));
        }
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        for large in self.large.drain(..).chain(self.unswept_large.drain(..)) {
            // SAFETY: the allocation is the heap's own, which is not used any more.
            unsafe { dealloc(large.begin, large.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, Old};
    use crate::object::{Header, set_header};
    use std::sync::Mutex;

    #[test]
    fn lists_keep_their_room_while_all_objects_are_taken_out() {
        let old = Mutex::new(Old::new(0));
        assert!(old.lock().unwrap().reserve(5));
        let mut cells = Cells::new(&old);
        // SAFETY: the cell is there, and has no object.
        unsafe { set_header(cells.take(4), Header::FREE) };
        drop(cells);
        let old = &mut *old.lock().unwrap();
        let blocks = |old: &Old| old.each_block().filter(|(_, _, is_swept)| *is_swept).count();
        assert_eq!(blocks(old), 1);
        let all = old.take_all();
        assert_eq!(blocks(old), 0);
        assert!(
            old.classes.iter().all(|class| class.with_room.capacity() >= 5 && class.full.capacity() >= 5)
        );
        old.put_back_all(all);
        assert_eq!(blocks(old), 1);
        assert!(old.classes.iter().all(|class| class.unswept.capacity() >= 5));
    }
}
