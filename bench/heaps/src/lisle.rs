//! The settings of `lisle-heap`.

use crate::job::Memory;
use lisle_heap::Heap;

/// Creates a heap that takes so much memory: by the size of its nursery, and by how far its old space grows until a mark is complete.
pub fn heap(memory: Memory) -> Heap {
    let builder = match memory {
        Memory::Small => Heap::builder().nursery(2 << 20).ratio(1.4),
        Memory::Medium => Heap::builder(),
        Memory::Large => Heap::builder().nursery(16 << 20).ratio(3.0),
    };
    builder.build()
}
