//! An entry of a domain's queues: a fiber, or a task that is ready to go on.

use super::head::Outcome;
use crate::queue::inbox::Linked;
use std::cell::Cell;

/// The first field of everything that may lie in a domain's queue. It is in one queue at a time.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Runnable {
    /// The next entry in its list.
    link: Cell<*mut Runnable>,
    kind: Kind,
    /// Its outcome. The queues do not use it: it lies here since the word of `kind` has room.
    pub(super) outcome: Cell<Outcome>,
    /// Its number in the execution that a model runs.
    #[cfg(feature = "model")]
    pub(crate) process: Cell<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fiber,
    /// A fiber of the domain's own, on whose stack it runs tasks and parts of loops.
    Runner,
    Task,
}

impl Runnable {
    pub(crate) const fn new(kind: Kind) -> Self {
        Runnable {
            link: Cell::new(std::ptr::null_mut()),
            kind,
            outcome: Cell::new(Outcome::Start),
            #[cfg(feature = "model")]
            process: Cell::new(0),
        }
    }

    pub(crate) fn next(&self) -> *mut Runnable {
        self.link.get()
    }

    pub(crate) fn set_next(&self, next: *mut Runnable) {
        self.link.set(next);
    }

    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }
}

// SAFETY: `link` is read and written as the trait requires.
unsafe impl Linked for Runnable {
    #[inline]
    fn link(&self) -> *mut Self {
        self.next()
    }
    #[inline]
    fn set_link(&self, next: *mut Self) {
        self.set_next(next);
    }
}
