//! Which memory model, and how much of it a program asks for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the atomics of a checked program may do: a memory model.
///
/// It decides what the operations of [`atomic`](crate::atomic) may read. The library's own objects
/// are always run in one order in which all agree, and order what the program does as they promise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Memory {
    /// Sequential consistency: an operation sees all that was done before it, whatever its order
    /// says, and whoever reads what another one has written comes after it.
    Sc,
    /// x86-TSO, as processors of that kind work and compilers translate for them: a store that is
    /// not sequentially consistent may wait while later loads of its fiber are done. Loads acquire
    /// and stores release.
    Tso,
    /// RC11, the repaired model of C11, which is that of Rust, with the release sequences of C++20:
    /// each operation promises what its order says, and nothing else. It forbids load buffering,
    /// where each of two loads reads the store after the other one; ISO C++ does not, and some
    /// processors do it.
    ///
    /// Programs whose operations are all sequentially consistent are run as under
    /// [`Sc`](Memory::Sc).
    #[default]
    Rc11,
}

impl Memory {
    /// Returns the name, as tokens have it.
    pub(in crate::program) fn name(self) -> &'static str {
        match self {
            Memory::Sc => "sc",
            Memory::Tso => "tso",
            Memory::Rc11 => "rc11",
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much of the memory is modelled. It is learnt in the first execution that asks for more; then
/// the exploration begins anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::program) enum Detail {
    /// Nothing: all operations are sequentially consistent, and there are no cells.
    #[default]
    None,
    /// What happens before what, for races.
    Clocks,
    /// Also that an operation may see what is not the newest.
    Weak,
}

/// What the memory model has come to in an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::program) enum Used {
    /// Every operation was sequentially consistent.
    Newest,
    /// There were operations of weaker orders, which were taken for sequentially consistent.
    Sc,
    /// There were operations that could see what is not the newest.
    Weak {
        memory: Memory,
        /// How many complete executions differ in what the model distinguishes.
        graphs: u64,
    },
}
