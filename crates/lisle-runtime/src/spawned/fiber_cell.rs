//! A fiber's control block: one block of recycled memory that holds everything of a fiber but its
//! stack, from its spawning until the last handle is gone.
//!
//! The closure and later its result are in the block's body, behind a small table of functions that
//! know their types. The owners are counted: the fiber itself until it has finished, its join
//! handle, and events that refer to it. The last owner that lets go drops an unclaimed result and
//! recycles the block.
//!
//! All `Cell`s belong to one thread at a time: to the spawner's until the fiber is handed over,
//! then to the thread of the domain on which it begins. The ring or inbox that hands it over
//! provides release and acquire.

use super::cell::{Block, Contents};
use super::head::{Head, Outcome};
use super::kept::{Kept, Left};
use super::kin::Kin;
use super::locals::Owner;
use super::runnable::Kind;
use super::scope_state::ScopeState;
use super::stack_state::{StackState, state_of_thread};
use crate::event::parker::{self, Parker};
use crate::event::{Interrupted, Label, Source, Unlabelled, limit};
use crate::masked;
use crate::report::{PanicPolicy, nobody_joins};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::shim::unseen::AtomicPtr;
use crate::stack::Stack;
use lisle_core::internal::segment::Segment;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

/// The state of a runtime's hooks for a fiber, in the order of the hooks.
pub(crate) type HookLocals = Vec<Box<dyn Any>>;

#[repr(C)]
pub(crate) struct Fiber {
    head: Head,
    /// The neighbours in the list of all fibers that have begun on the domain.
    pub(crate) siblings: Cell<(*mut Fiber, *mut Fiber)>,
    pub(crate) parker: Parker,
    /// The stack's state for the tasks and loops that run on it.
    pub(crate) stack_state: StackState,
    /// The domain that the fiber stays on, set when it begins or is placed there. It stays when the
    /// fiber has ended. Any thread may read it, and compare it with the domains that it knows. It
    /// lies among words that are only read while the fiber lives, so threads that wake the fiber
    /// again and again keep the cache line.
    pub(crate) domain: AtomicPtr<()>,
    pub(crate) segment: UnsafeCell<Option<Segment>>,
    /// The stack that the segment runs on.
    pub(crate) stack: UnsafeCell<Option<Stack>>,
    name: Option<Arc<str>>,
    /// The state of the runtime's hooks for the fiber, from its beginning, if there are any.
    #[allow(clippy::box_collection, reason = "a word, for what most fibers do not have")]
    pub(crate) hooked: Cell<Option<Box<HookLocals>>>,
    /// `true` once the fiber has been asked to cancel.
    pub(crate) cancelled: Source<bool, (), Unlabelled>,
    pub(crate) panic_policy: PanicPolicy,
    /// Set if the fiber counts among the spread ones of its domain, see `sched/destination.rs`.
    pub(crate) is_spread: Cell<bool>,
    /// `true` once the fiber or its handle no longer needs the other. Used only with a scope.
    parted: AtomicBool,
    pub(crate) kin: Kin,
    references: AtomicUsize,
    table: &'static Table,
}

struct Table {
    run: unsafe fn(NonNull<Fiber>),
    contents: Contents,
}

impl Deref for Fiber {
    type Target = Head;

    #[inline(always)]
    fn deref(&self) -> &Head {
        &self.head
    }
}

/// The properties of a new fiber besides its closure.
#[derive(Default)]
pub(crate) struct Traits {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) panic_policy: PanicPolicy,
    /// `None` means `Kind::Fiber`.
    pub(crate) kind: Option<Kind>,
}

impl Fiber {
    /// Creates a fiber that will run `f`, with two references: the fiber's own and the caller's.
    pub(crate) fn new<F: FnOnce() -> T, T>(
        f: F,
        traits: Traits,
        site: &'static Location<'static>,
    ) -> NonNull<Fiber> {
        let kind = traits.kind.unwrap_or(Kind::Fiber);
        let place = Block::<Fiber, F, T>::room();
        let fiber = Fiber {
            head: Head::new(kind, traits.scope, site),
            siblings: Cell::new((std::ptr::null_mut(), std::ptr::null_mut())),
            domain: AtomicPtr::new(std::ptr::null_mut()),
            parker: Parker::new(),
            stack_state: StackState::new(),
            segment: UnsafeCell::new(None),
            stack: UnsafeCell::new(None),
            name: traits.name,
            hooked: Cell::new(None),
            cancelled: Source::unlabelled(false),
            panic_policy: traits.panic_policy,
            is_spread: Cell::new(false),
            parted: AtomicBool::new(false),
            kin: Kin::new(),
            references: AtomicUsize::new(2),
            table: const { &Table { run: run::<F, T>, contents: Block::<Fiber, F, T>::CONTENTS } },
        };
        // SAFETY: the memory is for such a cell, and the caller's alone.
        unsafe { place.write(fiber) };
        // SAFETY: as above.
        unsafe { Block::<Fiber, F, T>::fill(place, f) };
        place
    }

    /// Returns the fiber that runs this code, if a fiber runs it.
    #[inline(always)]
    pub(crate) fn running() -> Option<NonNull<Fiber>> {
        let parker = NonNull::new(parker::running_ptr().cast_mut())?;
        // SAFETY: domains set the parkers of fibers, as pointers that may be used for all of the
        // fiber.
        Some(unsafe { parker.byte_sub(offset_of!(Fiber, parker)) }.cast())
    }

    /// Returns the functions for the fiber's result.
    pub(crate) fn contents(&self) -> &'static Contents {
        &self.table.contents
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the name that waits show for the fiber.
    pub(crate) fn label(&self) -> Label {
        let label = Label::anywhere("fiber").made_at(self.site());
        self.name.as_ref().map_or(label.clone(), |name| label.named(name))
    }

    /// Returns `true` if the fiber is a domain's own, on whose stack it runs tasks and parts of
    /// loops.
    pub(crate) fn is_runner(&self) -> bool {
        self.runnable.kind() == Kind::Runner
    }

    /// Returns the site of the code that runs on the fiber. On a runner that may be a part of a
    /// loop.
    pub(crate) fn code_site(&self) -> &'static Location<'static> {
        // SAFETY: a job stays in place while it runs.
        unsafe { self.stack_state.pending.job.get().as_ref() }.map_or_else(|| self.site(), |job| job.site)
    }

    /// Returns the fiber's number as a performer, see `event/telling/waits.rs`.
    pub(crate) fn performer_id(&self) -> usize {
        std::ptr::from_ref(&self.parker).addr()
    }

    /// Returns `fiber 'name'` or `a fiber`, and where it was spawned, for messages.
    pub(crate) fn describe(&self) -> String {
        describe(self.name(), self.site())
    }
}

pub(crate) fn describe(name: Option<&str>, site: &Location<'_>) -> String {
    match name {
        Some(name) => format!("fiber '{name}' (spawned at {site})"),
        None => format!("a fiber (spawned at {site})"),
    }
}

/// Runs a fiber's life on its stack: runs the closure, leaves the result in the body, and drops
/// values for which no other code can ask, here where destructors may still block. If the runtime
/// is already shutting down, drops the closure instead.
///
/// # Safety
///
/// The fiber has not run, and no other code touches its body until `finish`.
pub(crate) unsafe fn live(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    // SAFETY: the table belongs to this fiber. The rest is the caller's promise.
    unsafe { (this.table.run)(fiber) };
    clear_locals(this);
    let unclaimed = match this.scope.get() {
        // The result of a scoped fiber must not outlive the scope from which it may borrow. This
        // fiber or its handle, whichever comes second, drops an unclaimed result. Both come within
        // the scope.
        Some(_) => this.parted.swap(true, Ordering::AcqRel),
        None => this.references.load(Ordering::Acquire) == 1,
    };
    if unclaimed {
        // SAFETY: the handle is gone, so no other code refers to the body.
        unsafe { drop_unclaimed(fiber) };
        // A destructor of the result may have used locals, which must not leave this thread.
        clear_locals(this);
    }
}

/// Unwinds the computations that wait in a fiber, and drops its locals, in the fiber. Reports panics
/// of their destructors.
#[inline]
pub(crate) fn clear_locals(fiber: &Fiber) {
    fiber.locals.clear(fiber, &|panic| detached(fiber, panic));
}

impl Owner for Fiber {
    fn describe(&self) -> String {
        Fiber::describe(self)
    }

    fn home(&self) -> &Cell<u64> {
        &self.stack_state.handled.home
    }

    #[inline(always)]
    fn kept(&self) -> Option<&Kept> {
        Some(&self.stack_state.handled.kept)
    }

    fn leaves(&self, left: Left) {
        self.stack_state.is_referred_to.set(true);
        if left == Left::OfStack {
            // Outside of tasks, a `task_local!` has the thread's value.
            state_of_thread().is_referred_to.set(true);
        }
    }

    fn is_referred_to(&self) -> bool {
        self.stack_state.is_referred_to.get()
    }
}

/// Ends a fiber that has lived: wakes its joiners and lets go of the fiber's own reference. Returns
/// `true` if that was the last one. The caller then has to [`free`] the fiber.
///
/// # Safety
///
/// `live` has returned. Unless this returns `true`, the caller does not use the fiber afterwards.
#[must_use]
pub(crate) unsafe fn finish(fiber: NonNull<Fiber>) -> bool {
    // SAFETY: the fiber's own reference keeps it alive until it is let go below.
    let this = unsafe { fiber.as_ref() };
    this.head.finish();
    let scope = this.scope.get();
    // SAFETY: the fiber's own reference is given up here.
    let last = unsafe { let_go(fiber) };
    if let Some(scope) = scope {
        // SAFETY: a scope waits for its fibers before it ends, and nothing of a scoped fiber
        // borrows from it any more.
        unsafe { ScopeState::exit(scope) };
    }
    last
}

/// Lets go of a scoped fiber's handle: the other side of [`live`].
///
/// # Safety
///
/// The fiber has a scope. The caller owns the handle's reference and gives it up.
pub(crate) unsafe fn part(fiber: NonNull<Fiber>) {
    // SAFETY: the handle's reference keeps the fiber alive.
    if unsafe { fiber.as_ref() }.parted.swap(true, Ordering::AcqRel) {
        // SAFETY: the fiber has run, so no other code refers to the body.
        unsafe { drop_unclaimed(fiber) };
    }
    // SAFETY: the caller gives up this reference.
    unsafe { release(fiber) };
}

/// Drops an unclaimed result. A panic is reported, or noted in the scope.
///
/// # Safety
///
/// No other code refers to the body.
unsafe fn drop_unclaimed(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    // SAFETY: passed on to the caller.
    unsafe { this.head.drop_result(fiber, this.contents(), |panic| detached(this, panic)) };
}

/// Adds a reference.
///
/// # Safety
///
/// The fiber is alive.
pub(crate) unsafe fn retain(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.references.fetch_add(1, Ordering::Relaxed);
}

/// Gives up a reference. The last one drops the content of the body and recycles the block.
///
/// # Safety
///
/// The caller owns a reference and does not use it again.
pub(crate) unsafe fn release(fiber: NonNull<Fiber>) {
    // SAFETY: passed on to the caller.
    if unsafe { let_go(fiber) } {
        // SAFETY: that was the last reference.
        unsafe { free(fiber) };
    }
}

/// Gives up a reference. Returns `true` if it was the last.
///
/// # Safety
///
/// The caller owns a reference. Unless it was the last, the caller does not use the fiber again.
unsafe fn let_go(fiber: NonNull<Fiber>) -> bool {
    // SAFETY: the reference keeps the fiber alive.
    let references = &unsafe { fiber.as_ref() }.references;
    // Only the owner of the last reference could add another: so a load tells, and costs less than
    // an exchange. Release: this thread's accesses to the fiber happen before the freeing. Acquire:
    // so do the accesses of other threads.
    references.load(Ordering::Acquire) == 1 || references.fetch_sub(1, Ordering::AcqRel) == 1
}

/// Ends a fiber that has not begun and never will: drops its closure and wakes its joiners.
///
/// # Safety
///
/// The fiber has not begun and is in no list. The caller does not use it afterwards.
pub(crate) unsafe fn refuse(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.parker.set_interrupted(true);
    // SAFETY: the fiber has not begun, and is run only here, once.
    unsafe { live(fiber) };
    // SAFETY: `live` has just returned.
    if unsafe { finish(fiber) } {
        // SAFETY: that was the last reference.
        unsafe { free(fiber) };
    }
}

/// Drops an unclaimed result and recycles the block.
///
/// # Safety
///
/// The last reference is gone, and the fiber has lived.
pub(crate) unsafe fn free(fiber: NonNull<Fiber>) {
    // SAFETY: the fiber is still alive.
    let contents = unsafe { fiber.as_ref() }.contents();
    // SAFETY: the last reference is gone.
    unsafe { drop_unclaimed(fiber) };
    // SAFETY: the header is not used again.
    unsafe { fiber.drop_in_place() };
    // SAFETY: nothing is left in the cell.
    unsafe { contents.free(fiber) };
}

/// # Safety
///
/// As for [`live`]. The types are the types given to `new`.
unsafe fn run<F: FnOnce() -> T, T>(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    // SAFETY: a fiber that has not run holds its closure, which is moved out here, once.
    let closure = unsafe { Block::<Fiber, F, T>::take_start(fiber) };
    // A runner that is interrupted has been given a task, which has to end in it.
    let stopped = this.parker.is_interrupted() && !this.is_runner();
    // The closure is dropped instead, and its destructor runs to its end.
    masked!(_masked if stopped);
    // SAFETY: a scope stays until its fibers have ended.
    let deadline = this.scope.get().and_then(|scope| unsafe { scope.as_ref() }.deadline);
    let limit = deadline.filter(|_| !stopped).map(limit::OfFiber::enter);
    let result = catch_unwind(AssertUnwindSafe(|| if stopped { Err(Interrupted) } else { Ok(closure()) }));
    let is_late = limit.is_some_and(|limit| matches!(&result, Err(panic) if limit.is_reason_for(&**panic)));
    let result = match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Interrupted)) => return this.outcome().set(Outcome::ShutDown),
        Err(panic) if panic.is::<Interrupted>() => return this.outcome().set(Outcome::ShutDown),
        Err(_) if is_late => return this.outcome().set(Outcome::Late),
        Err(panic) => Err(panic),
    };
    // SAFETY: the body is empty since the closure was moved out.
    unsafe { Block::<Fiber, F, T>::put_result(fiber, result) };
    this.outcome().set(Outcome::Done);
}

/// A counted reference to a fiber.
pub(crate) struct FiberRef(NonNull<Fiber>);

// SAFETY: a reference touches only fields that any thread may touch: the sources, and fields that
// do not change.
unsafe impl Send for FiberRef {}
// SAFETY: as above.
unsafe impl Sync for FiberRef {}

impl FiberRef {
    /// # Safety
    ///
    /// The fiber is alive.
    pub(crate) unsafe fn new(fiber: NonNull<Fiber>) -> Self {
        // SAFETY: alive by the caller's promise.
        unsafe { retain(fiber) };
        FiberRef(fiber)
    }

    pub(crate) fn cancelled(&self) -> &Source<bool, (), Unlabelled> {
        // SAFETY: the reference keeps the fiber alive.
        unsafe { &(*self.0.as_ptr()).cancelled }
    }

    pub(crate) fn id(&self) -> usize {
        self.0.addr().get()
    }

    pub(crate) fn label(&self) -> Label {
        // SAFETY: the reference keeps the fiber alive, and the label's fields do not change.
        unsafe { self.0.as_ref() }.label()
    }
}

impl Drop for FiberRef {
    fn drop(&mut self) {
        // SAFETY: this reference is given up here.
        unsafe { release(self.0) };
    }
}

/// Reports the panic of `fiber`, whose handle is gone.
#[cold]
pub(super) fn detached(fiber: &Fiber, panic: Box<dyn Any + Send>) {
    nobody_joins(fiber.describe(), fiber.name(), fiber.site(), fiber.panic_policy, panic);
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Spawning writes all of a cell, and cells are recycled by sizes that differ by 64 bytes.
    #[test]
    fn a_fiber_that_returns_two_words_takes_seven_steps() {
        assert_eq!(Block::<Fiber, fn(), ()>::LAYOUT.size().div_ceil(64), 7);
    }
}
