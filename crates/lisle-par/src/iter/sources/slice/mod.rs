//! Parallel iterators over slices, and over their chunks, windows and pieces.

mod chunks;
mod iter;
mod runs;
mod shared;
mod unique;
mod windows;

pub use chunks::{
    Chunks, ChunksExact, ChunksExactMut, ChunksMut, RChunks, RChunksExact, RChunksExactMut, RChunksMut,
};
pub use iter::{Iter, IterMut};
pub use runs::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut};
pub use shared::ParallelSlice;
pub use unique::ParallelSliceMut;
pub use windows::{ArrayWindows, Windows};
