//! Adapters: parallel iterators that wrap others.

pub(super) mod blocks;
pub(super) mod chain;
pub(super) mod chunked;
pub(super) mod counted;
pub(super) mod cut;
pub(super) mod either;
pub(super) mod enumerate;
pub(super) mod flat_map;
pub(super) mod fold;
pub(super) mod gate;
pub(super) mod init;
pub(super) mod interleave;
pub(super) mod intersperse;
pub(super) mod map_init;
pub(super) mod multi_zip;
pub(super) mod panic_fuse;
pub(super) mod planned;
pub(super) mod rev;
pub(super) mod stage;
pub mod stages;
pub(super) mod step_by;
pub(super) mod until;
pub(super) mod zip;
