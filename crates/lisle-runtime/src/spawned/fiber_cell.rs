//! A fiber's control block: one block of recycled memory that holds everything about a fiber but its
//! stack, from spawn until the last handle is gone.
//!
//! The closure and later its result lie in the block's body, behind a small table of functions that
//! know their types. Ownership is by count: the fiber itself until it has finished, its join handle,
//! and events that refer to it. Whoever lets go last drops an unclaimed result and recycles the block.
//!
//! All `Cell`s belong to one thread at a time: the spawner's until the fiber is handed over, then that
//! of the domain it begins on. The handing over (ring, inbox) carries release and acquire.

use super::locals::Locals;
use super::runnable::{Kind, Runnable};
use super::scope_state::ScopeState;
use super::slots;
use super::stack_state::StackState;
use crate::event::parker::{self, Parker, Suspend};
use crate::event::{Interrupted, Label, Source};
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

/// What the body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The closure: the fiber has not run.
    Closure,
    /// A value or a panic.
    Done,
    /// Nothing, since its runtime shut down before it was done.
    Cancelled,
    /// Nothing: it is running, or its result has been taken.
    Nothing,
}

/// What the hooks of a runtime keep for a fiber, in the order of the hooks.
pub(crate) type HookLocals = Vec<Box<dyn Any>>;

#[repr(C)]
pub(crate) struct Fiber {
    pub(crate) runnable: Runnable,
    /// Neighbours in the list of all fibers that have begun on the domain.
    pub(crate) siblings: Cell<(*mut Fiber, *mut Fiber)>,
    /// The domain it is pinned to, from when it begins or was placed there.
    pub(crate) domain: Cell<*const ()>,
    pub(crate) parker: Parker,
    /// What its stack keeps for the tasks and loops that run on it.
    pub(crate) stack_state: StackState,
    pub(crate) coroutine: UnsafeCell<Option<Stackful>>,
    /// The stack that the coroutine runs on.
    pub(crate) stack: UnsafeCell<Option<Stack>>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) locals: Locals,
    /// What its runtime's hooks keep for it: from when it begins, if there are any.
    #[allow(clippy::box_collection, reason = "a word, for what most fibers do not have")]
    pub(crate) hooked: Cell<Option<Box<HookLocals>>>,
    /// True once finished.
    pub(crate) finished: Source<bool, ()>,
    /// True once asked to cancel.
    pub(crate) cancelled: Source<bool, ()>,
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) panic_policy: PanicPolicy,
    /// Whether the fiber or its handle is done with the other; used with a scope only.
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
    /// A fiber like any other, if none.
    pub(crate) kind: Option<Kind>,
}

impl Fiber {
    /// Makes a fiber that will run `f`. There are two references: the fiber's own and the caller's.
    pub(crate) fn new<F: FnOnce() -> T, T>(
        f: F,
        traits: Traits,
        site: &'static Location<'static>,
    ) -> NonNull<Fiber> {
        let block = slots::take(Layout::new::<Block<F, T>>()).cast::<Block<F, T>>();
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

    /// What it is called where somebody waits for it.
    pub(crate) fn label(&self) -> Label {
        let label = Label::anywhere("fiber").made_at(self.site);
        self.name.as_ref().map_or(label.clone(), |name| label.named(name))
    }

    /// Is it a worker's own, on whose stack that runs what has none?
    pub(crate) fn is_runner(&self) -> bool {
        self.runnable.kind() == Kind::Runner
    }

    /// Where the code comes from that runs on it: a runner's may be a part of a loop.
    pub(crate) fn code_site(&self) -> &'static Location<'static> {
        // SAFETY: a job is in place while it runs.
        unsafe { self.stack_state.pending.job.get().as_ref() }.map_or(self.site, |job| job.site)
    }

    /// Its number as a performer, see `event/waits.rs`.
    pub(crate) fn performer_id(&self) -> usize {
        std::ptr::from_ref(&self.parker).addr()
    }

    /// For messages: `fiber 'name'` or `a fiber`, and where it was spawned.
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

/// A fiber's life on its stack: runs the closure, leaves the result in the body, and drops what nobody
/// will ask for, here where destructors may still block. A fiber whose runtime is already shutting down
/// drops the closure instead.
///
/// # Safety
///
/// The fiber has not run, and nobody else touches its body until `finish`.
pub(crate) unsafe fn live(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    // SAFETY: the table belongs to this fiber; the rest is the caller's promise.
    unsafe { (this.table.run)(fiber) };
    clear_locals(this);
    let unclaimed = match this.scope {
        // What a scoped fiber leaves must not outlive the scope it may borrow from: an unclaimed result
        // is dropped by whoever comes second, this fiber or its handle, and both come within the scope.
        Some(_) => this.parted.swap(true, Ordering::AcqRel),
        None => this.references.load(Ordering::Acquire) == 1,
    };
    if unclaimed {
        // SAFETY: the handle is gone, so nobody else looks at the body.
        unsafe { drop_unclaimed(fiber) };
        // A result's destructor may have used locals, which must not leave this thread.
        clear_locals(this);
    }
}

/// Drops a fiber's locals in the fiber, whatever their destructors do.
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

/// Ends a fiber that has lived: joiners go on, and the fiber's own reference is let go. True if that was
/// the last one: then the caller has to [`free`] the fiber.
///
/// # Safety
///
/// `live` has returned; unless the answer is true, the fiber is not used by the caller afterwards.
#[must_use]
pub(crate) unsafe fn finish(fiber: NonNull<Fiber>) -> bool {
    // SAFETY: the fiber's own reference keeps it alive until it is let go below.
    let this = unsafe { fiber.as_ref() };
    this.finished.update_plain(|finished, waiters| {
        *finished = true;
        while waiters.grant(()).is_ok() {}
    });
    let scope = this.scope;
    // SAFETY: the own reference, given up here.
    let last = unsafe { let_go(fiber) };
    if let Some(scope) = scope {
        // SAFETY: a scope waits for its fibers before it goes, and what a scoped fiber leaves does not
        // borrow from it any more.
        unsafe { ScopeState::exit(scope) };
    }
    last
}

/// Lets go of a scoped fiber's handle: the other side of [`live`].
///
/// # Safety
///
/// The fiber has a scope; the caller owns the handle's reference and gives it up.
pub(crate) unsafe fn part(fiber: NonNull<Fiber>) {
    // SAFETY: the handle's reference keeps it alive.
    if unsafe { fiber.as_ref() }.parted.swap(true, Ordering::AcqRel) {
        // SAFETY: the fiber has run, so nobody else looks at the body.
        unsafe { drop_unclaimed(fiber) };
    }
    // SAFETY: given up by the caller.
    unsafe { release(fiber) };
}

/// Drops an unclaimed result; a panic is reported, or noted in the scope.
///
/// # Safety
///
/// Nobody else refers to the body.
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
            // What it was raised with is the user's, and may panic in turn.
            forget_panic(panic);
        }
        None => detached(this, panic),
    }
}

/// Moves the result into `place`, a `std::thread::Result<T>` to be written, `T` being the type that
/// the fiber was made with. The outcome must be [`Outcome::Done`].
///
/// # Safety
///
/// As said; and the fiber has finished, and nobody else takes its result.
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

/// Gives up a reference; the last one drops what is in the body and recycles the block.
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

/// Gives up a reference. True if it was the last.
///
/// # Safety
///
/// The caller owns a reference and, unless it was the last, does not use the fiber again.
unsafe fn let_go(fiber: NonNull<Fiber>) -> bool {
    // SAFETY: the reference keeps the fiber alive. Release: what we did happens before the freeing. Acquire: and so does what
    // others did.
    unsafe { fiber.as_ref() }.references.fetch_sub(1, Ordering::AcqRel) == 1
}

/// Ends a fiber that has not begun and never will: its closure is dropped, its joiners learn it.
///
/// # Safety
///
/// The fiber has not begun and is in no list; the caller does not use it afterwards.
pub(crate) unsafe fn refuse(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.parker.interrupted.set(true);
    // SAFETY: it has not begun, and is run here once.
    unsafe { live(fiber) };
    // SAFETY: it has just lived.
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
    // SAFETY: still alive.
    let table = unsafe { fiber.as_ref() }.table;
    // SAFETY: the last reference is gone.
    unsafe { drop_unclaimed(fiber) };
    // SAFETY: the header is not used again.
    unsafe { fiber.drop_in_place() };
    slots::give(fiber.cast(), table.layout);
}

/// The body of a fiber that was made with these types.
fn body<F, T>(fiber: NonNull<Fiber>) -> *mut Body<F, T> {
    // SAFETY: `fiber` is the header of such a block; no reference to the body is made.
    unsafe { UnsafeCell::raw_get(&raw const (*fiber.cast::<Block<F, T>>().as_ptr()).body) }
}

/// # Safety
///
/// As for [`live`], the types being those of `new`.
unsafe fn run<F: FnOnce() -> T, T>(fiber: NonNull<Fiber>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { fiber.as_ref() };
    let body = body::<F, T>(fiber);
    this.outcome.set(Outcome::Nothing);
    // SAFETY: a fiber that has not run holds its closure, which is moved out here, once.
    let closure = ManuallyDrop::into_inner(unsafe { (&raw mut (*body).closure).read() });
    // A runner has been given a task, which is to end in it.
    let stopped = this.parker.interrupted.get() && !this.is_runner();
    // It is dropped instead, and that is to complete.
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
/// As for [`take_result`], the types being those of `new`.
unsafe fn take<F, T>(fiber: NonNull<Fiber>, place: *mut ()) {
    // SAFETY: alive by the caller's promise.
    unsafe { fiber.as_ref() }.outcome.set(Outcome::Nothing);
    // SAFETY: the outcome was `Done`, so the body holds a result, which is moved out here, once.
    let result = unsafe { (&raw mut (*body::<F, T>(fiber)).result).read() };
    // SAFETY: the caller's place is of this type.
    unsafe { place.cast::<std::thread::Result<T>>().write(ManuallyDrop::into_inner(result)) };
}

/// Empties the body. An unclaimed panic is returned.
///
/// # Safety
///
/// Nobody else refers to the body; the types are those of `new`.
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

/// A reference to a fiber.
pub(crate) struct FiberRef(NonNull<Fiber>);

// SAFETY: through a reference only what may be touched from any thread is touched: the sources.
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
        // SAFETY: the reference keeps the fiber alive, and what the label tells does not change.
        unsafe { self.0.as_ref() }.label()
    }
}

impl Drop for FiberRef {
    fn drop(&mut self) {
        // SAFETY: this reference is given up.
        unsafe { release(self.0) };
    }
}

/// Reports the panic of `fiber`, whose handle is gone.
#[cold]
fn detached(fiber: &Fiber, panic: Box<dyn Any + Send>) {
    nobody_joins(fiber.describe(), fiber.name.as_deref(), fiber.site, fiber.panic_policy, panic);
}
