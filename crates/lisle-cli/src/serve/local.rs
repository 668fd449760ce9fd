//! The buffers and the current date, which all connections of one domain use in turn.
//!
//! A connection that only waits for its next request holds no buffer, so thousands of idle
//! connections cost little more than their stacks. A request takes a buffer from here and returns
//! it. A fiber never changes its thread, so thread-local means domain-local, and two fibers of a
//! domain never run at the same time. Nothing here is borrowed across a wait.

use std::cell::RefCell;
use std::time::Instant;

use super::connection::input::Input;
use super::http::date::DateFields;

/// The number of unused buffers of each kind that a domain keeps.
const KEPT: usize = 256;

thread_local! {
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
    static DATE: RefCell<DateFields> = RefCell::new(DateFields::new());
}

/// The buffers of a request.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) input: Input,
    /// The head of the response, with the body if it is small.
    pub(crate) output: Vec<u8>,
    /// The name of the file.
    pub(crate) key: Vec<u8>,
}

impl Scratch {
    /// Takes a set of empty buffers.
    pub(crate) fn take() -> Scratch {
        SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_else(|| Scratch {
            input: Input::new(),
            output: Vec::with_capacity(1024),
            key: Vec::with_capacity(256),
        })
    }

    /// Returns the buffers for reuse, unless they have grown beyond the usual size.
    pub(crate) fn give_back(mut self) {
        if self.input.is_small() {
            self.input.clear();
            SCRATCH.with_borrow_mut(|kept| {
                if kept.len() < KEPT {
                    kept.push(self);
                }
            });
        }
    }
}

/// Calls `f` with the lines with which every response begins. `f` must not wait.
pub(crate) fn with_date<R>(now: Instant, f: impl FnOnce(&[u8]) -> R) -> R {
    DATE.with_borrow_mut(|date| f(date.lines(now)))
}

/// Returns the time of those lines, in seconds since 1970.
pub(crate) fn seconds(now: Instant) -> u64 {
    DATE.with_borrow_mut(|date| date.seconds(now))
}
