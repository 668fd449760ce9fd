//! Parallel loops that are written as iterators.
//!
//! ```
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let words = ["a", "few", "words", "of", "text"];
//! let lengths: Vec<usize> = words.par_iter().map(|word| word.len()).collect();
//! let longest = words.par_iter().max_by_key(|word| word.len());
//! let small: u64 = (1..=1_000_u64).into_par_iter().filter(|n| n % 3 == 0).map(|n| n * n).sum();
//! assert_eq!(lengths, [1, 3, 5, 2, 4]);
//! assert_eq!(longest, Some(&"words"));
//! assert_eq!(small, 111_277_611);
//! ```
//!
//! Names and signatures are the same as in rayon unless there was a reason against it. The main
//! properties:
//!
//! - *The order is kept.* Results are always merged from neighbouring ranges, the first one on the
//!   left. An associative operation gives the same result as in a plain loop; it need not be
//!   commutative.
//! - *The division depends on timing.* A domain gives half of its remaining steps to a domain that
//!   asks for work. An operation that is not associative, such as the addition of floating-point
//!   numbers, may give another result each time; [`deterministic`](ParallelIterator::deterministic)
//!   divides in the same way each time.
//! - *Nothing is copied.* Closures and collections stay where they are, in the frame of the caller,
//!   and the participants borrow them.
//! - *A panic* in one of the closures ends the loop, and is resumed in the caller when all
//!   participants have stopped. Items that have not been consumed are dropped.
//! - *Events stop a loop*, see [`until`](ParallelIterator::until).
//!   [`progress`](ParallelIterator::progress) lets other threads watch how far a loop has come.
//!
//! A loop runs over a [`Part`] and feeds the items to a [`Consumer`]; adapters are parts that wrap
//! other parts. [`plumbing`] shows how to write both. Only iterators that know their length,
//! [`IndexedParallelIterator`]s, can be zipped, numbered, reversed and cut. A plain iterator becomes a
//! parallel one by [`par_bridge`](ParallelBridge::par_bridge).
//!
//! # What does not compile
//!
//! Several threads run the body of a loop at once. Hence the body cannot change values that it has
//! borrowed from outside:
//!
//! ```compile_fail,E0594
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let mut sum = 0;
//! (0..10).into_par_iter().for_each(|n| sum += n);
//! ```
//!
//! ```compile_fail,E0596
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let mut seen = Vec::new();
//! (0..10).into_par_iter().for_each(|n| seen.push(n));
//! ```
//!
//! It cannot consume a value of which there is only one:
//!
//! ```compile_fail,E0507
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let name = String::from("a");
//! (0..10).into_par_iter().for_each(move |_| drop(name));
//! ```
//!
//! It cannot share a value that is not `Sync`, nor send one that is not `Send`:
//!
//! ```compile_fail,E0277
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let sum = std::cell::Cell::new(0);
//! (0..10).into_par_iter().for_each(|n| sum.set(sum.get() + n));
//! ```
//!
//! ```compile_fail,E0277
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let shared = std::rc::Rc::new(5);
//! (0..10).into_par_iter().for_each(|n| assert!(n != *shared + 10));
//! ```
//!
//! ```compile_fail,E0277
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! (0..10).into_par_iter().map(std::rc::Rc::new).for_each(drop);
//! ```
//!
//! ```compile_fail,E0599
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let cells = [std::cell::Cell::new(1), std::cell::Cell::new(2)];
//! cells.par_iter().for_each(|cell| cell.set(3));
//! ```
//!
//! The number of items of a filter is not known, so a filter cannot be zipped or numbered:
//!
//! ```compile_fail,E0277
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let odd = (0..10).into_par_iter().filter(|n| n % 2 == 1);
//! (0..5).into_par_iter().zip(odd).for_each(drop);
//! ```
//!
//! ```compile_fail,E0599
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! (0..10).into_par_iter().filter(|n| n % 2 == 1).enumerate().for_each(drop);
//! ```
//!
//! An iterator does nothing by itself, and the compiler warns of it:
//!
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! (0..10).into_par_iter().map(|n| println!("{n}"));
//! ```
//!
//! An item cannot outlive the value from which it was made:
//!
//! ```compile_fail,E0597
//! # use lisle_par::facade as lisle;
//! use lisle::par::prelude::*;
//!
//! let longest = {
//!     let words = vec![String::from("a")];
//!     words.par_iter().max_by_key(|word| word.len())
//! };
//! assert!(longest.is_some());
//! ```

mod adapters;
mod collect;
mod drain;
mod ends;
mod exact;
mod indexed;
mod into;
mod parallel;
pub mod plumbing {
    #![doc = include_str!("plumbing.md")]
}
mod run;
mod shown;
pub(crate) mod sources;
#[cfg(test)]
mod tests;
mod tries;

pub use super::at::At;
pub use super::consumer::Consumer;
pub use super::part::Part;
pub use super::plan::Plan;
pub use ::either::Either;
pub use adapters::blocks::Blocks;
pub use adapters::chain::Chain;
pub use adapters::chunked::{Chunked, FoldChunks, FoldChunksWith, Gathering};
pub use adapters::counted::Counted;
pub use adapters::cut::{Skip, Take};
pub use adapters::enumerate::Enumerate;
pub use adapters::flat_map::{FlatMap, Flatten};
pub use adapters::fold::{FoldWith, Folded, Folding, Folds, TryFoldWith, TryFolded};
pub use adapters::init::{Clones, Init};
pub use adapters::interleave::{Interleave, InterleaveShortest};
pub use adapters::intersperse::Intersperse;
pub use adapters::map_init::{MapInit, MapInitItems, MapInitPart, MapWith};
pub use adapters::panic_fuse::PanicFuse;
pub use adapters::planned::Planned;
pub use adapters::rev::Rev;
pub use adapters::stages;
pub use adapters::step_by::StepBy;
pub use adapters::until::{Stoppable, Stopped, Until};
pub use adapters::zip::Zip;
pub use collect::{FromParallelIterator, ParallelExtend};
pub use drain::{ParallelDrainFull, ParallelDrainRange};
pub use exact::ExactPart;
pub use indexed::IndexedParallelIterator;
pub use into::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator};
pub use parallel::ParallelIterator;
pub use sources::bridge::{IterBridge, ParallelBridge};
#[allow(deprecated)]
pub use sources::few::repeatn;
pub use sources::few::{AtMostOne, Empty, Once, Repeat, RepeatN, Repeated, empty, once, repeat, repeat_n};
pub use sources::pieces::{Split, split};
pub use sources::tree::{
    WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix,
};
pub use tries::Try;
