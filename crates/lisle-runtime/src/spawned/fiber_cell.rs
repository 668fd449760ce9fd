//! A fiber's control block: one block of recycled memory that holds everything of a fiber but its
//! stack, from its spawning until the last handle is gone.
//!
//! The closure and later its result are in the block's body, behind a small table of functions that
//! know their types. The owners are counted: the fiber itself until it has finished, its join
//! handle, and events that refer to it. The last owner that lets go drops an unclaimed result and
//! recycles the block.
//!
//! All `Cell`s belong to one thread at a time: to the spawner's until the fiber is handed over,
//! then to that of the domain that it begins on. The ring or inbox that hands it over provides
//! release and acquire.

use super::locals::Locals;
use super::runnable::{Kind, Runnable};
use super::scope_state::ScopeState;
use super::stack_state::StackState;
use crate::event::parker::{self, Parker, Suspend};
use crate::event::{Interrupted, Label, Source};
use crate::memory;
use crate::panics::forget_panic;
use crate::report::{PanicPolicy, nobody_joins};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::stack::{Lent, Stack};
use corosensei::Coroutine;
use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) type Stackful = Coroutine<(), Suspend, (), Lent>;

/// What the body of a fiber holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The closure: the fiber has not run.
    Closure,
    /// A value, or the payload of a panic.
    Done,
    /// Nothing, since the runtime shut down before the fiber was done.
    Cancelled,
    /// Nothing, since the fiber runs, or its result has been taken.
    Nothing,
}

/// What the hooks of a runtime keep for a fiber, in the order of the hooks.
pub(crate) type HookLocals = Vec<Box<dyn Any>>;

#[repr(C)]
pub(crate) struct Fiber {
    pub(crate) runnable: Runnable,
    /// The neighbours in the list of all fibers that have begun on the domain.
    pub(crate) siblings: Cell<(*mut Fiber, *mut Fiber)>,
    /// The domain that the fiber stays on, set when it begins or is placed there.
    pub(crate) domain: Cell<*const ()>,
    pub(crate) parker: Parker,
    /// What the stack keeps for the tasks and loops that run on it.
    pub(crate) stack_state: StackState,
    pub(crate) coroutine: UnsafeCell<Option<Stackful>>,
    /// The stack that the coroutine runs on.
    pub(crate) stack: UnsafeCell<Option<Stack>>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) locals: Locals,
    /// What the hooks of the runtime keep for the fiber, from its beginning, if there are any.
    #[allow(clippy::box_collection, reason = "a word, for what most fibers do not have")]
    pub(crate) hooked: Cell<Option<Box<HookLocals>>>,
    /// `true` once the fiber has finished.
    pub(crate) finished: Source<bool, ()>,
    /// `true` once the fiber has been asked to cancel.
    pub(crate) cancelled: Source<bool, ()>,
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) panic_policy: PanicPolicy,
    /// `true` once the fiber or its handle no longer needs the other. Used only with a scope.
    parted: AtomicBool,
    outcome: Cell<Outcome>,
    references: AtomicUsize,
    table: &'static Table,
}

struct Table {
    run: unsafe fn(NonNull<Fiber>),
    take: unsafe fn(NonNull<Fiber>, *mut ()),
    drop_body: unsafe fn(NonNull<Fiber>) -> Option<Box<dyn Any + Send>>,
    layout: Layout,
}

#[repr(C)]
struct Block<F, T> {
    fiber: Fiber,
    body: UnsafeCell<Body<F, T>>,
}

union Body<F, T> {
    closure: ManuallyDrop<F>,
    result: ManuallyDrop<std::thread::Result<T>>,
}

/// What a new fiber is given besides its closure.
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
        let block = memory::take(Layout::new::<Block<F, T>>()).cast::<Block<F, T>>();
        let fiber = Fiber {
            runnable: Runnable::new(traits.kind.unwrap_or(Kind::Fiber)),
            siblings: Cell::new((std::ptr::null_mut(), std::ptr::null_mut())),
            domain: Cell::new(std::ptr::null()),
            parker: Parker::new(),
            stack_state: StackState::new(),
            coroutine: UnsafeCell::new(None),
            stack: UnsafeCell::new(None),
            site,
            name: traits.name,
            locals: Locals::new(),
            hooked: Cell::new(None),
            finished: Source::new(false),
            cancelled: Source::new(false),
            scope: traits.scope,
            panic_policy: traits.panic_policy,
            parted: AtomicBool::new(false),
            outcome: Cell::new(Outcome::Closure),
            references: AtomicUsize::new(2),
            table: const {
                &Table {
                    run: run::<F, T>,
                    take: take::<F, T>,
                    drop_body: drop_body::<F, T>,
                    layout: Layout::new::<Block<F, T>>(),
                }
            },
        };
        let body = UnsafeCell::new(Body { closure: ManuallyDrop::new(f) });
        // SAFETY: the block is fresh memory of this layout.
        unsafe { block.write(Block { fiber, body }) };
        block.cast()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome.get()
    }

    /// Returns the name that waits show for the fiber.
    pub(crate) fn label(&self) -> Label {
        let label = Label::anywhere("fiber").made_at(self.site);
        self.name.as_ref().map_or(label.clone(), |name| label.named(name))
    }

    /// Returns `true` if the fiber is a worker's own, on whose stack it runs tasks and parts of
    /// loops.
    pub(crate) fn is_runner(&self) -> bool {
        self.runnable.kind() == Kind::Runner
    }

    /// Returns the site of the code that runs on the fiber. On a runner that may be a part of a
    /// loop.
    pub(crate) fn code_site(&self) -> &'static Location<'static> {
        // SAFETY: a job stays in place while it runs.
        unsafe { self.stack_state.pending.job.get().as_ref() }.map_or(self.site, |job| job.site)
    }

    /// Returns the fiber's number as a performer, see `event/waits.rs`.
    pub(crate) fn performer_id(&self) -> usize {
        std::ptr::from_ref(&self.parker).addr()
    }

    /// Returns `fiber 'name'` or `a fiber`, and where it was spawned, for messages.
    pub(crate) fn describe(&self) -> String {
        describe(self.name.as_deref(), self.site)
    }
}

pub(crate) fn describe(name: Option<&str>, site: &Location<'_>) -> String {
    match name {
        Some(name) => format!("fiber '{name}' (spawned at {site})"),
        None => format!("a fiber (spawned at {site})"),
    }
}

/// Runs a fiber's life on its stack: runs the closure, leaves the result in the body, and drops
/// what no other code can ask for, here where destructors may still block. If the runtime is
/// already shutting down, drops the closure instead.
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
    let unclaimed = match this.scope {
        // What a scoped fiber leaves must not outlive the scope that it may borrow from. Of this
        // fiber and its handle, the one that comes second drops an unclaimed result. Both come
        // within the scope.
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

/// Drops a fiber's locals in the fiber. Reports panics of their destructors.
#[inline]
pub(crate) fn clear_locals(fiber: &Fiber) {
    if !fiber.locals.is_empty() {
        clear_some_locals(fiber);
    }
}

#[cold]
fn clear_some_locals(fiber: &Fiber) {
    let _masked = parker::masked();
    fiber.locals.clear_for_good(|panic| detached(fiber, panic));
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
    this.finished.update_plain(|finished, waiters| {
        *finished = true;
        while waiters.grant(()).is_ok() {}
    });
    let scope = this.scope;
    // SAFETY: the fiber's own reference is given up here.
    let last = unsafe { let_go(fiber) };
    if let Some(scope) = scope {
        // SAFETY: a scope waits for its fibers before it ends, and what a scoped fiber leaves does
        // not borrow from it any more.
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
    let _masked = parker::masked();
    // SAFETY: by the caller's promise.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { (this.table.drop_body)(fiber) }));
    let Some(panic) = dropped.unwrap_or_else(Some) else { return };
    if panic.is::<Interrupted>() {
        return;
    }
    match this.scope {
        Some(scope) => {
            // SAFETY: neither a scoped fiber nor its handle outlives the scope.
            unsafe { scope.as_ref() }.note_panic();
            // The payload is the user's, and may panic in its destructor.
            forget_panic(panic);
        }
        None => detached(this, panic),
    }
}

/// Moves the result into `place`, a `std::thread::Result<T>` to be written, where `T` is the type
/// that the fiber was made with. The outcome must be [`Outcome::Done`].
///
/// # Safety
///
/// The above holds, the fiber has finished, and no other code takes its result.
pub(crate) unsafe fn take_result(fiber: NonNull<Fiber>, place: *mut ()) {
    // SAFETY: alive by the caller's promise.
    let table = unsafe { fiber.as_ref() }.table;
    // SAFETY: by the caller's promise.
    unsafe { (table.take)(fiber, place) }
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

/// Gives up a reference. The last one drops what is in the body and recycles the block.
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
    // SAFETY: the reference keeps the fiber alive. Release: what this thread did to the fiber
    // happens before the freeing. Acquire: so does what other threads did.
    unsafe { fiber.as_ref() }.references.fetch_sub(1, Ordering::AcqRel) == 1
}

/// Ends a fiber that has not begun and never will: drops its closure and wakes its joiners.
///
/// # Safety
///
/// The fiber has not begun and is in no list. The caller does not use it afterwards.
pub(crate) unsafe fn refuse(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.parker.interrupted.set(true);
    // SAFETY: the fiber has not begun, and is run only here, once.
    unsafe { live(fiber) };
    // SAFETY: `live` has just returned.
    if unsafe { finish(fiber) } {
        // SAFETY: that was the last reference.
        unsafe { free(fiber) };
    }
}

/// Drops what is in the body and recycles the block.
///
/// # Safety
///
/// The last reference is gone.
pub(crate) unsafe fn free(fiber: NonNull<Fiber>) {
    // SAFETY: the fiber is still alive.
    let table = unsafe { fiber.as_ref() }.table;
    // SAFETY: the last reference is gone.
    unsafe { drop_unclaimed(fiber) };
    // SAFETY: the header is not used again.
    unsafe { fiber.drop_in_place() };
    // SAFETY: `new` has taken the block with this layout.
    unsafe { memory::give(fiber.cast(), table.layout) };
}

/// Returns the body of a fiber that was made with these types.
fn body<F, T>(fiber: NonNull<Fiber>) -> *mut Body<F, T> {
    // SAFETY: `fiber` is the header of such a block. No reference to the body is made.
    unsafe { UnsafeCell::raw_get(&raw const (*fiber.cast::<Block<F, T>>().as_ptr()).body) }
}

/// # Safety
///
/// As for [`live`]. The types are those of `new`.
unsafe fn run<F: FnOnce() -> T, T>(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    let body = body::<F, T>(fiber);
    this.outcome.set(Outcome::Nothing);
    // SAFETY: a fiber that has not run holds its closure, which is moved out here, once.
    let closure = ManuallyDrop::into_inner(unsafe { (&raw mut (*body).closure).read() });
    // A runner that is interrupted has been given a task, which has to end in it.
    let stopped = this.parker.interrupted.get() && !this.is_runner();
    // The closure is dropped instead, and its destructor runs to its end.
    let _masked = if stopped { parker::masked() } else { None };
    let result = catch_unwind(AssertUnwindSafe(|| if stopped { Err(Interrupted) } else { Ok(closure()) }));
    let (result, outcome) = match result {
        Ok(Ok(value)) => (Ok(value), Outcome::Done),
        Ok(Err(Interrupted)) => return this.outcome.set(Outcome::Cancelled),
        Err(panic) if panic.is::<Interrupted>() => return this.outcome.set(Outcome::Cancelled),
        Err(panic) => (Err(panic), Outcome::Done),
    };
    // SAFETY: the body is empty since the closure was moved out.
    unsafe { (&raw mut (*body).result).write(ManuallyDrop::new(result)) };
    this.outcome.set(outcome);
}

/// # Safety
///
/// As for [`take_result`]. The types are those of `new`.
unsafe fn take<F, T>(fiber: NonNull<Fiber>, place: *mut ()) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.outcome.set(Outcome::Nothing);
    // SAFETY: the outcome was `Done`, so the body holds a result, which is moved out here, once.
    let result = unsafe { (&raw mut (*body::<F, T>(fiber)).result).read() };
    // SAFETY: the caller's place is of this type.
    unsafe { place.cast::<std::thread::Result<T>>().write(ManuallyDrop::into_inner(result)) };
}

/// Empties the body. Returns an unclaimed panic.
///
/// # Safety
///
/// No other code refers to the body. The types are those of `new`.
unsafe fn drop_body<F, T>(fiber: NonNull<Fiber>) -> Option<Box<dyn Any + Send>> {
    // SAFETY: alive by the caller's promise.
    let outcome = unsafe { fiber.as_ref() }.outcome.replace(Outcome::Nothing);
    let body = body::<F, T>(fiber);
    match outcome {
        // SAFETY: the body holds the closure, which is moved out here, once.
        Outcome::Closure => drop(ManuallyDrop::into_inner(unsafe { (&raw mut (*body).closure).read() })),
        Outcome::Done => {
            // SAFETY: the body holds the result, which is moved out here, once.
            return ManuallyDrop::into_inner(unsafe { (&raw mut (*body).result).read() }).err();
        }
        Outcome::Nothing | Outcome::Cancelled => {}
    }
    None
}

/// A counted reference to a fiber.
pub(crate) struct FiberRef(NonNull<Fiber>);

// SAFETY: a reference touches only what any thread may touch: the sources, and what does not
// change.
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

    pub(crate) fn cancelled(&self) -> &Source<bool, ()> {
        // SAFETY: the reference keeps the fiber alive.
        unsafe { &(*self.0.as_ptr()).cancelled }
    }

    pub(crate) fn id(&self) -> usize {
        self.0.addr().get()
    }

    pub(crate) fn label(&self) -> Label {
        // SAFETY: the reference keeps the fiber alive, and what the label shows does not change.
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
fn detached(fiber: &Fiber, panic: Box<dyn Any + Send>) {
    nobody_joins(fiber.describe(), fiber.name.as_deref(), fiber.site, fiber.panic_policy, panic);
}
