//! The memory models, and the detail that a program needs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The memory model of a checked program's atomics.
///
/// It decides which values the operations of [`atomic`](crate::atomic) may read. The library's own
/// objects always run in one order on which all fibers agree, and give the orders that they
/// promise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Memory {
    /// Sequential consistency: an operation sees all earlier operations, whatever its `Ordering`,
    /// and a read comes after the write from which it reads.
    Sc,
    /// x86-TSO, the model of x86 processors and of compiled code for them: later loads of a fiber
    /// may overtake a store that is not sequentially consistent. Loads acquire and stores release.
    Tso,
    /// RC11, the repaired model of C11, which is the model of Rust, with the release sequences of
    /// C++20: each operation promises its `Ordering`, and nothing else. It forbids load buffering,
    /// where each of two loads reads the store after the other load; ISO C++ does not, and some
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

/// The detail of the memory that is modelled. The first execution that needs more sets it, and the
/// exploration begins anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::program) enum Detail {
    /// Nothing: all operations are sequentially consistent, and there are no cells.
    #[default]
    None,
    /// Happens-before, for races.
    Clocks,
    /// Also old values that an operation may see.
    Weak,
}

/// The use of the memory model in an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::program) enum Used {
    /// Every operation was sequentially consistent.
    Newest,
    /// There were operations of weaker orders, which ran as sequentially consistent.
    Sc,
    /// There were operations that could see old values.
    Weak {
        memory: Memory,
        /// The number of complete executions that the model distinguishes.
        graphs: u64,
    },
}
