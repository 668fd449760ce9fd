//! The memory of objects, and what moves and marks them. It knows neither sessions nor roots.

mod cycle;
mod mark;
mod minor;
mod nursery;
pub(crate) mod old;
mod pages;
mod young;

pub(crate) use cycle::{Cycle, Phase};
pub(crate) use mark::Stack;
pub(crate) use minor::{Mover, Pool};
pub(crate) use nursery::{BLOCK, Nursery, Range};
pub(crate) use old::{LARGEST_CELL, Old, blocks_for};
pub(crate) use young::{Logged, NO_SHADE, Young, shade_of};
