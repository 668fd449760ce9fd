//! The handled computations that run on a stack.
//!
//! A handled computation has a stack of its own, and runs as a part of a fiber, or of a plain
//! thread. The computations that run there are in a chain, the innermost first, which grows and
//! shrinks at that end as they are resumed, and as they are left or end. The chain is a part of the
//! fiber's or thread's state for its stack. So fibers that take turns on a domain do not see each
//! other's.
//!
//! # Invariant
//!
//! The chain has the computations through which the running code has been called. It lacks
//! computations whose handler is just answering an effect on the stack of the performer: these are
//! the difference between `running` and `top`.

use super::kept::Kept;
use super::stack_state::StackState;
use crate::stack::overflow::decimal;
use crate::stack::taken::{Record, Taken};
use std::cell::Cell;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// The part of a handled computation that the runtime knows of.
#[derive(Debug)]
pub struct Link {
    /// The computation or stack that this one was resumed from; null for the fiber or thread.
    pub outer: Cell<*const Link>,
    /// No task begins on the computation's stack below this address.
    pub limit: usize,
    stack: NonNull<Record>,
    site: &'static Location<'static>,
}

impl Link {
    /// Creates the link of a computation that begins at `site` and runs on `stack`.
    #[inline(always)]
    pub fn new(stack: &Taken, site: &'static Location<'static>) -> Self {
        Link { outer: Cell::new(null()), limit: stack.room(), stack: stack.place(), site }
    }

    /// Returns the place where the computation has been begun.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }
}

/// The chain of the computations that run on the stack of a fiber or thread.
#[derive(Debug)]
pub struct Handled {
    /// The innermost computation whose handler takes effects.
    pub top: Cell<*const Link>,
    /// The innermost answer that is being given on the stack of its performer, or null.
    pub answering: Cell<*const Answering>,
    /// How often computations have gone on, be it in other surroundings than before.
    pub moves: Cell<u32>,
    /// How many of the computations that run are parts of joins or loops that others are not in.
    pub in_parts: Cell<u32>,
    /// See `Home`; 0 until one is needed.
    pub(crate) home: Cell<u64>,
    /// The computations that wait here and go on nowhere else.
    pub(crate) kept: Kept,
}

impl Handled {
    pub(crate) const fn new() -> Self {
        Handled {
            top: Cell::new(null()),
            answering: Cell::new(null()),
            moves: Cell::new(0),
            in_parts: Cell::new(0),
            home: Cell::new(0),
            kept: Kept::new(),
        }
    }

    /// Hides the computations from the running code until the returned guard is dropped.
    pub(crate) fn hidden(&self) -> Hidden<'_> {
        Hidden { handled: self, top: self.top.replace(null()) }
    }
}

/// An answer that a handler gives to an effect on the stack of the performer, where it lies.
#[derive(Debug)]
pub struct Answering {
    /// The computation that has performed the effect.
    performer: *const Link,
    /// The innermost computation around the handler that answers. The computations between the two
    /// are hidden.
    outer: *const Link,
    around: Cell<*const Answering>,
}

/// A guard: while it exists, code of a handler runs, although it runs on the stack of a computation
/// within.
#[derive(Debug)]
pub struct Answers<'a> {
    handled: &'a Handled,
    answering: &'a Answering,
}

impl Handled {
    /// Creates an entry for an answer to the running code, by the handler of the computation that
    /// is next within `outer`.
    #[inline(always)]
    pub fn performer(&self, outer: *const Link) -> Answering {
        Answering { performer: self.top.get(), outer, around: Cell::new(self.answering.get()) }
    }

    /// Makes the computation around the handler the innermost one whose handler takes effects,
    /// until the returned guard is dropped.
    #[inline(always)]
    pub fn answer<'a>(&'a self, answering: &'a Answering) -> Answers<'a> {
        self.answering.set(answering);
        self.top.set(answering.outer);
        Answers { handled: self, answering }
    }

    /// Takes out the answers within `limit`, which the suspended computation is giving. Returns
    /// them.
    ///
    /// # Safety
    ///
    /// The answers between the innermost one and `limit` are being given.
    pub unsafe fn put_aside(&self, limit: *const Answering) -> *const Answering {
        let innermost = self.answering.replace(limit);
        if std::ptr::eq(innermost, limit) { null() } else { innermost }
    }

    /// Puts back the answers that were taken out with the same limit. Calls `visit` for the
    /// computations that these answers hide.
    ///
    /// # Safety
    ///
    /// `aside` comes from [`put_aside`](Handled::put_aside), and `limit` was its argument.
    pub unsafe fn put_back(
        &self,
        aside: *const Answering,
        limit: *const Answering,
        visit: &dyn Fn(*const Link),
    ) {
        let mut next = aside;
        // SAFETY: the answers are on stacks that were suspended, and now go on.
        while let Some(answering) = unsafe { next.as_ref() } {
            let mut link = answering.performer;
            while !std::ptr::eq(link, answering.outer) {
                visit(link);
                // SAFETY: as above.
                link = unsafe { (*link).outer.get() };
            }
            next = answering.around.get();
            if std::ptr::eq(next, limit) {
                answering.around.set(self.answering.get());
                self.answering.set(aside);
                return;
            }
        }
    }
}

impl Drop for Answers<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.handled.top.set(self.answering.performer);
        self.handled.answering.set(self.answering.around.get());
    }
}

/// A guard that puts the chain of a stack back in place.
pub(crate) struct Hidden<'a> {
    handled: &'a Handled,
    top: *const Link,
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        self.handled.top.set(self.top);
    }
}

/// Describes the overflow of the stack of a computation that runs on the stack with this state, as
/// far as `overflowed its stack of`. Returns its size, or `None` if `fault` does not lie in its
/// guard. Called in a signal handler: it only reads plain memory.
pub(crate) fn describe(state: &StackState, fault: usize, out: &mut dyn FnMut(&[u8])) -> Option<usize> {
    let mut next = state.handled.answering.get();
    let mut link = state.handled.top.get();
    loop {
        // SAFETY: the computations of a chain stay while they are in it, and this thread's code,
        // which has been interrupted, runs on one of them.
        while let Some(found) = unsafe { link.as_ref() } {
            // SAFETY: it stays as long as the computation.
            let stack = unsafe { found.stack.as_ref() };
            if let Some(size) = stack.is_overflowed_by(fault) {
                let mut digits = [0; 20];
                out(b"a handled computation (begun at ");
                out(found.site.file().as_bytes());
                out(b":");
                out(decimal(found.site.line() as usize, &mut digits));
                out(b")");
                return Some(size);
            }
            link = found.outer.get();
        }
        // SAFETY: as above; it lies on the stack of such a computation.
        let answering = unsafe { next.as_ref() }?;
        (link, next) = (answering.performer, answering.around.get());
    }
}
