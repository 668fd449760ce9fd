//! Async scopes. The branches that are started in a scope end with it.
//!
//! The body of a stream is a scope. Within it, futures may be scopes of their own: while one is
//! polled, the world collects its branches, in place of the branches of the scope around it.

use super::Core;
use super::slot::Head;
use super::waits::Living;
use std::cell::Cell;
use std::ptr::{NonNull, null};
use std::rc::Rc;

/// The branches of a future that is a scope. They end with the future.
#[derive(Default)]
pub(crate) struct Branches(Vec<Branch>);

struct Branch {
    core: Rc<Core>,
    stream: Living,
}

impl Drop for Branches {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|branch| branch.core.remove(branch.stream));
    }
}

/// The branches that a scope within a body has, if any.
pub(crate) type OwnBranches = Cell<Option<Box<Branches>>>;

/// Marks that a scope within a body is being polled.
pub(crate) struct InScope<'a> {
    core: &'a Core,
    outer: *const OwnBranches,
}

impl<'a> InScope<'a> {
    #[inline(always)]
    pub(crate) fn new(core: &'a Core, branches: &'a OwnBranches) -> Self {
        InScope { core, outer: core.scope.replace(branches) }
    }
}

impl Drop for InScope<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.core.scope.set(self.outer);
    }
}

impl Core {
    /// Notes that a stream that was just made ends with the scope in which it was made. In any
    /// case it belongs to the stream that is being polled.
    pub(crate) fn end_with_scope(self: &Rc<Core>, branch: Living) {
        let Some(current) = self.current.get() else { return };
        if self.for_member.borrow().as_ref().is_some_and(|(list, _)| *list == current) {
            // It belongs to the member that is being made.
            return;
        }
        // SAFETY: null, or set by an `InScope`, which borrows it and sets it back. Nested scopes
        // end in the opposite order of their beginnings.
        if let Some(scope) = unsafe { self.scope.get().as_ref() } {
            let mut branches = scope.take().unwrap_or_default();
            branches.0.retain(|branch| branch.stream.get().is_some());
            branches.0.push(Branch { core: self.clone(), stream: branch });
            return scope.set(Some(branches));
        }
        let mut all = self.branches.borrow_mut();
        let branches = all.entry(current).or_default();
        branches.retain(|branch| branch.get().is_some());
        branches.push(branch);
        self.has_loose_ends.set(true);
    }

    /// Calls a function that polls another stream, and so is in the body of that stream.
    #[inline]
    pub(super) fn in_another_body<R>(&self, f: impl FnOnce() -> R) -> R {
        let _back = InScope { core: self, outer: self.scope.replace(null()) };
        f()
    }

    /// Ends the branches of a stream's body, which has ended.
    pub(super) fn end_branches(&self, pointer: NonNull<Head>) {
        let branches = self.branches.borrow_mut().remove(&pointer);
        branches.into_iter().flatten().for_each(|branch| self.remove(branch));
    }
}
