//! Sweeping: freeing the objects that a cycle has found dead.
//!
//! When a mark is complete, all blocks and large objects are put aside, and are swept one after the other by the threads that allocate.
//! No cell of a block is taken before the block is swept. The thread that sweeps a block has it for itself, and runs the destructors of
//! dead objects without a lock. Live objects in the block may be used and marked meanwhile.

use super::blocks::Block;
use super::sizes::words_of_class;
use super::{Large, Old};
use crate::object::{Colour, Header, WORD, header_of, set_header};
use crate::raw::Raw;
use std::alloc::dealloc;
use std::mem::swap;
use std::ptr;

/// A part of the old space that a thread sweeps.
pub(crate) enum Part {
    Block(usize, Block),
    Large(Large),
}

/// What is left of a part after it is swept.
pub(crate) struct Swept {
    part: Part,
    alive: usize,
    freed: usize,
}

impl Part {
    /// Frees the objects with the colour of dead ones. Calls `destroy` for each of them that has a destructor.
    pub(crate) fn sweep(mut self, dead: Colour, mut destroy: impl FnMut(Raw)) -> Swept {
        // SAFETY: each cell that was taken has a header, or is free. Nobody refers to a dead object.
        let mut is_dead = |payload| unsafe {
            let header = header_of(payload);
            let dead = header.colour() == dead;
            if dead && header.desc().drop.is_some() {
                destroy(payload);
            }
            dead
        };
        let (mut alive, mut freed) = (0, 0);
        match &mut self {
            Self::Block(class, block) => {
                let mut free = ptr::null_mut();
                for payload in block.cells() {
                    // SAFETY: as above.
                    let is_free = unsafe { header_of(payload) }.is_free();
                    if !is_free && !is_dead(payload) {
                        alive += 1;
                        continue;
                    }
                    // SAFETY: the cell is free, or its object is dead.
                    unsafe {
                        if !is_free {
                            freed += words_of_class(*class) * WORD;
                            set_header(payload, Header::FREE);
                        }
                        payload.cast::<Raw>().write(free);
                    }
                    free = payload;
                }
                block.free = free;
            }
            Self::Large(large) => {
                if is_dead(large.payload()) {
                    freed = large.layout.size();
                    // SAFETY: the allocation is the heap's own, and nobody refers to the object.
                    unsafe { dealloc(large.begin, large.layout) };
                } else {
                    alive = 1;
                }
            }
        }
        Swept { part: self, alive, freed }
    }
}

impl Old {
    /// Puts all blocks and large objects aside, after a mark is complete.
    pub(crate) fn put_aside(&mut self) {
        debug_assert!(self.is_swept());
        for class in &mut self.classes {
            // Each list keeps its memory. The first block is swept first, and so used first.
            class.unswept.append(&mut class.with_room);
            class.unswept.append(&mut class.full);
        }
        swap(&mut self.unswept_large, &mut self.large);
        self.first_unswept = 0;
        self.skip_swept();
    }

    fn skip_swept(&mut self) {
        while self.classes.get(self.first_unswept).is_some_and(|class| class.unswept.is_empty()) {
            self.first_unswept += 1;
        }
    }

    /// Returns `true` if all blocks and large objects are swept.
    pub(crate) fn is_swept(&self) -> bool {
        self.in_sweep == 0 && self.first_unswept == self.classes.len() && self.unswept_large.is_empty()
    }

    /// Takes a part that is not swept.
    pub(crate) fn take_unswept(&mut self) -> Option<Part> {
        let part = match self.unswept_large.pop() {
            Some(large) => Part::Large(large),
            None => {
                let class = self.first_unswept;
                let block = self.classes.get_mut(class)?.unswept.pop()?;
                self.skip_swept();
                Part::Block(class, block)
            }
        };
        self.in_sweep += 1;
        Some(part)
    }

    /// Takes a part back. Returns `true` if it was the last one.
    pub(crate) fn put_back(&mut self, swept: Swept) -> bool {
        let Swept { part, alive, freed } = swept;
        self.in_sweep -= 1;
        self.bytes -= freed;
        match part {
            // It may get cells of another size.
            Part::Block(_, block) if alive == 0 => self.blocks.put_back(block.memory()),
            Part::Block(class, block) => self.add(class, block),
            Part::Large(_) if alive == 0 => {}
            Part::Large(large) => self.large.push(large),
        }
        self.is_swept()
    }

    /// Adds a block that is swept.
    pub(super) fn add(&mut self, class: usize, block: Block) {
        let class = &mut self.classes[class];
        if block.has_room() { class.with_room.push(block) } else { class.full.push(block) }
    }
}
