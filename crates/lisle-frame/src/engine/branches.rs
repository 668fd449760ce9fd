//! Async scopes: what the branches that are started in one end with.
//!
//! The body of a stream is a scope. Within it, futures may be scopes of their own: while one is
//! polled, its branches are collected in the world, in place of those of the scope around it.

use super::Core;
use super::slot::Head;
use super::waits::Living;
use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

/// The branches of a future that is a scope. They end with it.
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

/// The scope in which streams are polled.
#[derive(Default)]
pub(super) enum AsyncScope {
    /// The body of the stream that is being polled.
    #[default]
    Body,
    /// A future within it, with its branches if it has any.
    Within(Option<Box<Branches>>),
}

/// Marks that a scope within a body is being polled.
pub(crate) struct InScope<'a> {
    core: Rc<Core>,
    outer: AsyncScope,
    branches: &'a mut Option<Box<Branches>>,
}

impl<'a> InScope<'a> {
    pub(crate) fn new(core: Rc<Core>, branches: &'a mut Option<Box<Branches>>) -> Self {
        let outer = core.scope.replace(AsyncScope::Within(branches.take()));
        InScope { core, outer, branches }
    }
}

impl Drop for InScope<'_> {
    fn drop(&mut self) {
        if let AsyncScope::Within(branches) = self.core.scope.replace(std::mem::take(&mut self.outer)) {
            *self.branches = branches;
        }
    }
}

impl Core {
    /// Lets a stream that was just made end with the scope in which it was made. It belongs to the
    /// stream that is being polled in any case.
    pub(crate) fn end_with_scope(self: &Rc<Core>, branch: Living) {
        let Some(current) = self.current.get() else { return };
        if self.for_member.borrow().as_ref().is_some_and(|(list, _)| *list == current) {
            // It belongs to the member that is being made.
            return;
        }
        match self.scope.take() {
            AsyncScope::Within(branches) => {
                let mut branches = branches.unwrap_or_default();
                branches.0.retain(|branch| branch.stream.get().is_some());
                branches.0.push(Branch { core: self.clone(), stream: branch });
                self.scope.set(AsyncScope::Within(Some(branches)));
            }
            AsyncScope::Body => {
                let mut all = self.branches.borrow_mut();
                let branches = all.entry(current).or_default();
                branches.retain(|branch| branch.get().is_some());
                branches.push(branch);
                self.has_loose_ends.set(true);
            }
        }
    }

    /// Calls a function that polls another stream, in whose body it is.
    pub(super) fn in_another_body<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Back<'a>(&'a Cell<AsyncScope>, AsyncScope);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.set(std::mem::take(&mut self.1));
            }
        }
        let _back = Back(&self.scope, self.scope.take());
        f()
    }

    /// Ends the branches of a stream's body, which has ended.
    pub(super) fn end_branches(&self, pointer: NonNull<Head>) {
        let branches = self.branches.borrow_mut().remove(&pointer);
        branches.into_iter().flatten().for_each(|branch| self.remove(branch));
    }
}
