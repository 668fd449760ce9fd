//! The traits of parallel iterators, to be imported together.
//!
//! ```
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let squares: Vec<u64> = (0..1_000).into_par_iter().map(|i| i * i).collect();
//! assert_eq!(squares.par_iter().max(), Some(&998_001));
//! ```

pub use super::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelBridge, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
    ParallelIterator,
};
pub use super::slice::{ParallelSlice, ParallelSliceMut};
pub use super::str::ParallelString;
