//! The items that the crates above this one use and that programs do not.
//!
//! They have conditions that their signatures do not state, so a program that calls them has none of
//! the guarantees of safe code. They change without notice.
//!
//! A name stands here only if another crate uses it, or a macro that expands there.

/// Ends of the process.
pub mod abort {
    pub use crate::abort::{if_it_unwinds, process};
}

/// Where threads run.
#[cfg(not(lisle_loom))]
pub mod affinity {
    pub use crate::affinity::{Pinned, elsewhere, processors, unpinned};
}

/// Exceptions of C++ on the stacks of fibers and computations.
#[cfg(all(feature = "fibers", not(lisle_loom)))]
pub mod exceptions {
    pub use crate::exceptions::{Exceptions, OfThread, Suspended, are_possible};
}

/// State of the process, which begins anew in a forked child.
pub mod fork {
    pub use crate::fork::{Handlers, PerProcess, generation, watch};
}

/// Recycled memory.
pub mod memory {
    #[cfg(not(lisle_loom))]
    pub use crate::memory::{
        Blocks, Guard, Kind, LARGEST_STEP, Local, Memory, class_of, for_each, give_back, give_back_all,
        give_slot, pages, take_slot,
    };
    pub use crate::memory::{give, take};
}

/// The library's threads.
#[cfg(not(lisle_loom))]
pub mod own_threads {
    pub use crate::own_threads::{Owner, enlist, has_strangers};
}

/// Panics of the user's code.
pub mod panics {
    pub use crate::panics::{forget_panic, message, told};
}

/// The functions by which a runtime serves this crate.
pub mod seam {
    pub use crate::seam::{Seam, set, write};
}

/// What performs the code that runs here.
#[cfg(not(lisle_loom))]
pub mod performer {
    pub use crate::event::performer::id::{Here, here};
}

/// Switches between stacks.
#[cfg(all(feature = "fibers", not(lisle_loom)))]
pub mod segment {
    pub use crate::segment::{Request, ResumerLink, Segment, StackSpan};
}

/// The only access to atomics, parking, the clock and randomness.
pub mod shim {
    #[cfg(not(lisle_loom))]
    pub use crate::shim::ticks;
    pub use crate::shim::{
        Backoff, CachePadded, asymmetric, atomic, cell, clock, const_fn, hint, model, random, sync, thread,
        unreported, unseen,
    };
}

/// Ends of threads.
#[cfg(all(feature = "fibers", not(lisle_loom)))]
pub mod thread_end {
    pub use crate::thread_end::is_ending;
}

/// How threads start.
#[cfg(not(lisle_loom))]
pub mod threads {
    pub use crate::threads::{refused, start, start_as};
}

/// Facts that the stack tells about unwinding.
#[cfg(all(feature = "fibers", not(lisle_loom)))]
pub mod unwinding {
    pub use crate::unwinding::{is_possible_within, outermost};
}
