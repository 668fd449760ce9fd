//! The limits of a stack, and the choice of the limit that ends a wait; `limit.rs` makes and explains
//! them.

use super::parker;
use super::parker::Parker;
use crate::event::ends::{Ends, Interrupted};
use crate::fork;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::const_fn;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::null;

/// The limits of the code on one stack. Only that code uses it.
pub(in crate::event) struct Limits {
    innermost: Cell<*const Node>,
}

/// A mask: it keeps the limits around the code that runs, and the end of its runtime, from ending its waits.
/// The code must complete. Limits within it end its waits.
#[doc(hidden)]
pub struct Mask {
    node: Node,
    _pinned: PhantomPinned,
}

impl Mask {
    const_fn! {
        #[doc(hidden)]
        #[inline]
        pub fn new() -> Self {
            let node = Node {
                kind: Kind::Mask,
                deadline: u64::MAX,
                task: 0,
                below: Cell::new(null()),
                generation: 0,
                passed: Cell::new(false),
                fired: AtomicBool::new(false),
            };
            Mask { node, _pinned: PhantomPinned }
        }
    }

    /// Masks the code that runs on this stack until the returned guard is dropped.
    #[doc(hidden)]
    #[inline]
    pub fn enter(self: Pin<&mut Self>) -> Masked<'_> {
        let mask = self.into_ref().get_ref();
        let limits = Limits::here();
        mask.node.below.set(limits.innermost.get());
        // SAFETY: it is pinned, and the guard takes it out. It has just been linked.
        unsafe { limits.push(&mask.node) };
        Masked(mask)
    }
}

impl Default for Mask {
    fn default() -> Self {
        Mask::new()
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// A guard that keeps a mask in place.
#[doc(hidden)]
#[derive(Debug)]
pub struct Masked<'a>(&'a Mask);

impl Drop for Masked<'_> {
    #[inline]
    fn drop(&mut self) {
        Limits::here().pop(&self.0.node);
    }
}

/// Masks the code that follows in its block, if a condition holds, until the guard with this name is dropped.
#[doc(hidden)]
#[macro_export]
macro_rules! masked {
    ($guard:ident) => {
        let mask = ::std::pin::pin!($crate::event::Mask::new());
        let $guard = mask.enter();
    };
    ($guard:ident if $condition:expr) => {
        let mask = ::std::pin::pin!($crate::event::Mask::new());
        let $guard = ($condition).then(|| mask.enter());
    };
}

/// The purpose of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::event) enum Kind {
    /// A call that catches the unwinding, in the function at this address.
    Call(usize),
    /// All the code of a fiber.
    Fiber,
    /// A call that the limits around it do not reach. It never passes.
    Shield,
    /// A [`Mask`]. It never passes.
    Mask,
}

/// A limit, without its timer.
pub(in crate::event) struct Node {
    pub(in crate::event) kind: Kind,
    pub(in crate::event) deadline: u64,
    /// The task that the call is part of; 0 for none.
    task: usize,
    /// The limit that was the innermost before.
    below: Cell<*const Node>,
    /// The generation of the limit's process. The limit does not belong to a forked child.
    generation: u32,
    /// Set when the performer has found by itself that the deadline has passed.
    passed: Cell<bool>,
    /// The mark of the timer that has fired: the last thing that the firing thread does to the limit.
    fired: AtomicBool,
}

/// The properties of the code that runs here.
pub(in crate::event) struct Surroundings {
    /// Returns the number of the task whose code it is; 0 if it is none's.
    pub(in crate::event) task: fn() -> usize,
    /// Returns `true` if it runs because a panic unwinds its stack.
    pub(in crate::event) is_unwinding: fn() -> bool,
    /// Returns `true` if a panic raised here would reach the root of its fiber.
    pub(in crate::event) can_be_unwound: fn() -> bool,
    /// Returns `true` if a panic raised here would reach the given number of calls of the function at
    /// an address.
    pub(in crate::event) can_be_unwound_to: fn(usize, usize) -> bool,
}

/// The payload that unwinds to a limit. Like [`Interrupted`] it is no panic.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::event) struct PastLimit {
    /// The limit that it is for. The address alone might be used again.
    limit: (usize, u64),
}

/// Returns `true` if the code that runs here must complete.
#[doc(hidden)]
#[inline]
pub fn is_masked() -> bool {
    Limits::here().is_masked()
}

/// Returns `true` if the payload is not of a panic, but of code that is unwound from where it waits.
#[doc(hidden)]
#[must_use]
pub fn is_interruption(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Interrupted>() || payload.is::<PastLimit>()
}

#[cfg(not(lisle_loom))]
thread_local! {
    static OF_THREAD: Limits = const { Limits::none() };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static OF_THREAD: Limits = Limits::none();
}

impl Limits {
    pub(in crate::event) const fn none() -> Self {
        Limits { innermost: Cell::new(null()) }
    }

    /// Returns the limits of the stack that this runs on. Only code on that stack may use them.
    #[inline(always)]
    pub(in crate::event) fn here<'a>() -> &'a Limits {
        parker::running().map_or_else(Limits::of_thread, Parker::limits)
    }

    /// Returns the limits of the code that this thread runs outside of fibers.
    #[inline(always)]
    pub(in crate::event) fn of_thread<'a>() -> &'a Limits {
        // SAFETY: it has no destructor, so it stays as long as the thread does.
        unsafe { &*OF_THREAD.with(std::ptr::from_ref) }
    }

    #[inline]
    pub(in crate::event) fn is_empty(&self) -> bool {
        self.innermost.get().is_null()
    }

    /// Returns the innermost limit, or null.
    #[cfg_attr(not(feature = "fibers"), expect(dead_code, reason = "computations are of fibers' runtimes"))]
    #[inline(always)]
    pub(in crate::event) fn innermost(&self) -> *const Node {
        self.innermost.get()
    }

    /// Sets the innermost limit, when another computation goes on on this stack.
    #[cfg_attr(not(feature = "fibers"), expect(dead_code, reason = "computations are of fibers' runtimes"))]
    pub(in crate::event) fn set_innermost(&self, limit: *const Node) {
        self.innermost.set(limit);
    }

    /// Returns `true` if the code that runs now must complete.
    #[inline]
    pub(in crate::event) fn is_masked(&self) -> bool {
        self.all().any(|limit| limit.kind == Kind::Mask)
    }

    /// Makes a limit the innermost one.
    ///
    /// # Safety
    ///
    /// It stays until it is [taken out](Limits::pop), and was made on this stack since another was the
    /// innermost.
    pub(in crate::event) unsafe fn push(&self, limit: &Node) {
        self.innermost.set(limit);
    }

    /// Takes out the innermost limit.
    pub(in crate::event) fn pop(&self, limit: &Node) {
        self.innermost.set(limit.below.get());
    }

    /// Returns all limits, innermost first.
    pub(in crate::event) fn all(&self) -> impl Iterator<Item = &Node> {
        let mut next = self.innermost.get();
        std::iter::from_fn(move || {
            // SAFETY: a limit stays until the call that it is for has ended, and this code is below
            // that call.
            let limit = unsafe { next.as_ref() }?;
            next = limit.below.get();
            Some(limit)
        })
    }

    /// Returns the limits of the code that runs now, innermost first: the limits within its shields and
    /// masks.
    pub(in crate::event) fn of_this_code(&self, here: &Surroundings) -> impl Iterator<Item = &Node> {
        self.with_shields(here).take_while(|limit| !matches!(limit.kind, Kind::Shield | Kind::Mask))
    }

    /// Does the same, with the shields between and around them.
    pub(in crate::event) fn with_shields(&self, here: &Surroundings) -> impl Iterator<Item = &Node> {
        let task = (here.task)();
        self.all().take_while(move |limit| limit.task == task && !limit.is_inherited())
    }

    /// Returns `true` if any limit has passed, be it for the code that runs now or not.
    #[cfg_attr(not(feature = "fibers"), expect(dead_code, reason = "threads look each time"))]
    pub(in crate::event) fn any_has_passed(&self) -> bool {
        self.all().any(Node::has_passed)
    }

    /// Returns `true` if a wait that may end in this way ends now.
    pub(in crate::event) fn end_a_wait(&self, ends: Ends, here: &Surroundings) -> bool {
        match ends {
            Ends::Never => false,
            Ends::Error => self.of_this_code(here).any(Node::has_passed) && !(here.is_unwinding)(),
            Ends::Unwinding => self.target(here).is_some(),
        }
    }

    /// Returns the outermost limit that has passed and that the code can be unwound to.
    pub(in crate::event) fn target(&self, here: &Surroundings) -> Option<&Node> {
        self.reachable(Node::has_passed, here).last()
    }

    /// Returns the limits that are `wanted` and that the code can be unwound to, innermost first.
    pub(in crate::event) fn reachable(
        &self,
        wanted: impl Fn(&Node) -> bool,
        here: &Surroundings,
    ) -> impl Iterator<Item = &Node> {
        let mut calls = 0;
        self.of_this_code(here).filter(move |limit| match limit.kind {
            Kind::Call(frame) => {
                calls += 1;
                wanted(limit) && (here.can_be_unwound_to)(frame, calls)
            }
            Kind::Fiber => wanted(limit) && (here.can_be_unwound)(),
            Kind::Shield | Kind::Mask => false,
        })
    }
}

impl Node {
    /// Makes a limit to be pushed next.
    pub(in crate::event) fn new(kind: Kind, deadline: u64, limits: &Limits, here: &Surroundings) -> Self {
        Node {
            kind,
            deadline,
            task: (here.task)(),
            below: Cell::new(limits.innermost.get()),
            generation: fork::generation(),
            passed: Cell::new(false),
            fired: AtomicBool::new(false),
        }
    }

    /// Returns `true` if it is of a process that this one was forked from: nothing fires its timer here.
    pub(in crate::event) fn is_inherited(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Returns `true` if only masks are between this limit, or null, and `outer`, which is around it.
    #[cfg_attr(not(feature = "fibers"), expect(dead_code, reason = "computations are of fibers' runtimes"))]
    pub(in crate::event) fn masks_only(mut limit: *const Node, outer: *const Node) -> bool {
        while limit != outer {
            // SAFETY: as for `all`.
            match unsafe { limit.as_ref() } {
                Some(mask) if mask.kind == Kind::Mask => limit = mask.below.get(),
                _ => return false,
            }
        }
        true
    }

    /// Puts the limits from `limit` out to `before`, which is not one of them, within `now`:
    /// the code that made them goes on in other surroundings. Returns the innermost one.
    #[cfg_attr(not(feature = "fibers"), expect(dead_code, reason = "computations are of fibers' runtimes"))]
    pub(in crate::event) fn moved(limit: *const Node, before: *const Node, now: *const Node) -> *const Node {
        let mut outermost = None;
        let mut next = limit;
        while next != before {
            // SAFETY: as for `all`.
            let Some(limit) = (unsafe { next.as_ref() }) else { break };
            outermost = Some(limit);
            next = limit.below.get();
        }
        match outermost {
            None => now,
            Some(outermost) => {
                outermost.below.set(now);
                limit
            }
        }
    }

    pub(in crate::event) fn has_passed(&self) -> bool {
        self.passed.get() || self.has_fired()
    }

    pub(in crate::event) fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Notes that the performer has found that the deadline has passed.
    pub(in crate::event) fn pass(&self) {
        self.passed.set(true);
    }

    /// Sets the mark. From then on the performer may take the limit away. Therefore the limit is given by
    /// its address, as in `WakeWord::set`.
    ///
    /// # Safety
    ///
    /// The limit is there until it has its mark.
    pub(in crate::event) unsafe fn fire(node: *const Self) {
        // SAFETY: by the caller's promise.
        let fired = unsafe { &raw const (*node).fired };
        // SAFETY: as above. An atomic may go while a call on it ends.
        unsafe { &*fired }.store(true, Ordering::Release);
    }

    pub(in crate::event) fn payload(&self) -> PastLimit {
        PastLimit { limit: (std::ptr::from_ref(self).addr(), self.deadline) }
    }
}
