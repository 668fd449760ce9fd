//! The public type of this crate, and which auto traits it has: all. The list of all others is in
//! `lisle`.

use std::panic::{RefUnwindSafe, UnwindSafe};

const _: () = {
    const fn has_all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    has_all::<lisle_tracing::FiberSpans>();
};
