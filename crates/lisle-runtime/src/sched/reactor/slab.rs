//! The table from tokens to the readiness of descriptors.
//!
//! A token consists of the number of a slot and the slot's generation, which changes when its
//! content is removed. So a token names one registration, and never a later one in the same slot.

use super::Readiness;
use crate::shim::sync::Arc;
use mio::Token;
use std::io;

/// How many bits of a token number the slot: four thousand million slots where tokens are wide,
/// else a million.
const INDEX_BITS: u32 = if usize::BITS == 64 { 32 } else { 20 };
const INDEX_MASK: usize = (1 << INDEX_BITS) - 1;
/// The end of the list of free slots. It also keeps the token of a wake out of the table.
const NONE: usize = INDEX_MASK;

#[derive(Debug)]
pub(super) struct Slab {
    slots: Vec<Slot>,
    free: usize,
}

#[derive(Debug)]
struct Slot {
    generation: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Free { next: usize },
    Used(Arc<Readiness>),
}

impl Slab {
    pub(super) const fn new() -> Self {
        Slab { slots: Vec::new(), free: NONE }
    }

    /// Puts `readiness` into a free slot and returns its token.
    pub(super) fn insert(&mut self, readiness: Arc<Readiness>) -> io::Result<Token> {
        let index = self.free;
        if let Some(slot) = self.slots.get_mut(index) {
            let Content::Free { next } = slot.content else { unreachable!("a slot in the list is free") };
            self.free = next;
            slot.content = Content::Used(readiness);
            return Ok(token(index, slot.generation));
        }
        let index = self.slots.len();
        if index >= NONE {
            return Err(io::Error::other("a reactor has more descriptors than its tokens can tell apart"));
        }
        self.slots.push(Slot { generation: 0, content: Content::Used(readiness) });
        Ok(token(index, 0))
    }

    /// Returns the entry of `token`, if its registration has not ended.
    pub(super) fn get(&self, token: Token) -> Option<&Arc<Readiness>> {
        let slot = self.slots.get(token.0 & INDEX_MASK)?;
        match &slot.content {
            Content::Used(readiness) if slot.generation == token.0 >> INDEX_BITS => Some(readiness),
            _ => None,
        }
    }

    /// Returns all that are registered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Readiness>> {
        self.slots.iter().filter_map(|slot| match &slot.content {
            Content::Used(readiness) => Some(readiness),
            Content::Free { .. } => None,
        })
    }

    /// Frees the slot of `token` and ends its generation. Returns `None` if that has been done
    /// before.
    pub(super) fn remove(&mut self, token: Token) -> Option<Arc<Readiness>> {
        self.get(token)?;
        let index = token.0 & INDEX_MASK;
        let slot = &mut self.slots[index];
        slot.generation = slot.generation.wrapping_add(1) & (usize::MAX >> INDEX_BITS);
        let content = std::mem::replace(&mut slot.content, Content::Free { next: self.free });
        self.free = index;
        match content {
            Content::Used(readiness) => Some(readiness),
            Content::Free { .. } => None,
        }
    }
}

fn token(index: usize, generation: usize) -> Token {
    Token(generation << INDEX_BITS | index)
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, Readiness, Wakes};
    use super::Slab;
    use crate::shim::sync::Arc;

    fn readiness() -> Arc<Readiness> {
        Arc::new(Readiness::new(Wakes::Commit, Direction::Read, 0))
    }

    #[test]
    fn a_slot_is_reused_and_its_old_tokens_name_nothing() {
        let mut slab = Slab::new();
        let mut old = Vec::new();
        for _ in 0..1000 {
            let token = slab.insert(readiness()).unwrap();
            assert!(slab.get(token).is_some());
            assert!(old.iter().all(|&token| slab.get(token).is_none()));
            assert!(slab.remove(token).is_some());
            assert!(slab.remove(token).is_none());
            old.push(token);
        }
        assert_eq!(slab.slots.len(), 1);
    }

    #[test]
    fn slots_keep_apart() {
        let mut slab = Slab::new();
        let contents: Vec<_> = (0..100).map(|_| readiness()).collect();
        let tokens: Vec<_> = contents.iter().map(|content| slab.insert(content.clone()).unwrap()).collect();
        for index in (0..100).step_by(3) {
            assert!(slab.remove(tokens[index]).is_some());
        }
        for (index, content) in contents.iter().enumerate() {
            let found = slab.get(tokens[index]).is_some_and(|found| Arc::ptr_eq(found, content));
            assert_eq!(found, index % 3 != 0);
        }
    }
}
