//! A host's control block: one block of recycled memory that holds everything about a host but its
//! stack, from spawn until the last handle is gone.
//!
//! The closure and later its result lie in the block's body, behind a small table of functions that
//! know their types. Ownership is by count: the host itself until it has finished, its join handle,
//! and events that refer to it. Whoever lets go last drops an unclaimed result and recycles the block.
//!
//! All `Cell`s belong to one thread at a time: the spawner's until the host is handed over, then that
//! of the domain it begins on. The handing over (ring, inbox) carries release and acquire.

use super::hooks::HookLocals;
use super::local::Locals;
use super::report::PanicPolicy;
use super::scope::ScopeState;
use super::slots;
use super::stack::{Lent, Stack};
use crate::domain::Domain;
use crate::domain::runnable::{Kind, Runnable};
use crate::event::parker::{self, Parker, Suspend};
use crate::event::{Interrupted, Label, Source};
use crate::panics::forget_panic;
use crate::parasite::Parasite;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    /// The closure: the host has not run.
    Closure,
    /// A value or a panic.
    Done,
    /// Nothing, since its runtime shut down before it was done.
    Cancelled,
    /// Nothing: it is running, or its result has been taken.
    Nothing,
}

#[repr(C)]
pub(crate) struct Host {
    pub(crate) runnable: Runnable,
    /// Neighbours in the list of all hosts that have begun on the domain.
    pub(crate) siblings: Cell<(*mut Host, *mut Host)>,
    /// The domain it is pinned to, from when it begins or was placed there.
    pub(crate) domain: Cell<*const Domain>,
    pub(crate) parker: Parker,
    pub(crate) coroutine: UnsafeCell<Option<Stackful>>,
    /// The stack that the coroutine runs on.
    pub(crate) stack: UnsafeCell<Option<Stack>>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) locals: Locals,
    /// What its runtime's hooks keep for it: from when it begins, if there are any.
    #[allow(clippy::box_collection, reason = "a word, for what most hosts do not have")]
    pub(crate) hooked: Cell<Option<Box<HookLocals>>>,
    /// True once finished.
    pub(crate) finished: Source<bool, ()>,
    /// True once asked to cancel.
    pub(crate) cancelled: Source<bool, ()>,
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) panic_policy: PanicPolicy,
    /// Whether the host or its handle is done with the other; used with a scope only.
    parted: AtomicBool,
    outcome: Cell<Outcome>,
    references: AtomicUsize,
    table: &'static Table,
}

struct Table {
    run: unsafe fn(NonNull<Host>),
    take: unsafe fn(NonNull<Host>, *mut ()),
    drop_body: unsafe fn(NonNull<Host>) -> Option<Box<dyn Any + Send>>,
    layout: Layout,
}

#[repr(C)]
struct Block<F, T> {
    host: Host,
    body: UnsafeCell<Body<F, T>>,
}

union Body<F, T> {
    closure: ManuallyDrop<F>,
    result: ManuallyDrop<std::thread::Result<T>>,
}

/// What a new host is given besides its closure.
#[derive(Default)]
pub(crate) struct Traits {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) scope: Option<NonNull<ScopeState>>,
    pub(crate) panic_policy: PanicPolicy,
    /// A host like any other, if none.
    pub(crate) kind: Option<Kind>,
}

impl Host {
    /// Makes a host that will run `f`. There are two references: the host's own and the caller's.
    pub(crate) fn new<F: FnOnce() -> T, T>(
        f: F,
        traits: Traits,
        site: &'static Location<'static>,
    ) -> NonNull<Host> {
        let block = slots::take(Layout::new::<Block<F, T>>()).cast::<Block<F, T>>();
        let host = Host {
            runnable: Runnable::new(traits.kind.unwrap_or(Kind::Host)),
            siblings: Cell::new((std::ptr::null_mut(), std::ptr::null_mut())),
            domain: Cell::new(std::ptr::null()),
            parker: Parker::new(),
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
        unsafe { block.write(Block { host, body }) };
        block.cast()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome.get()
    }

    /// What it is called where somebody waits for it.
    pub(crate) fn label(&self) -> Label {
        let label = Label::anywhere("host").made_at(self.site);
        self.name.as_ref().map_or(label.clone(), |name| label.named(name))
    }

    /// Is it a worker's own, on whose stack that runs what has none?
    pub(crate) fn is_bearer(&self) -> bool {
        self.runnable.kind() == Kind::Bearer
    }

    /// The parasite on its stack, if it is a worker's bearer.
    pub(crate) fn borne(&self) -> Option<&Parasite> {
        let borne = NonNull::new(self.parker.bearing.parasite.get().cast_mut());
        let borne = borne.filter(|_| self.is_bearer())?;
        // SAFETY: what runs on the stack of a host is alive.
        Some(unsafe { Parasite::of(borne).as_ref() })
    }

    /// Where the code comes from that runs on it: a bearer's may be a part of a loop.
    pub(crate) fn code_site(&self) -> &'static Location<'static> {
        // SAFETY: a job is in place while it runs.
        unsafe { self.parker.bearing.pending.job.get().as_ref() }.map_or(self.site, |job| job.site)
    }

    /// Its number as a performer, see `event/waits.rs`.
    pub(crate) fn performer_id(&self) -> usize {
        std::ptr::from_ref(&self.parker).addr()
    }

    /// For messages: `host 'name'` or `a host`, and where it was spawned.
    pub(crate) fn describe(&self) -> String {
        describe(self.name.as_deref(), self.site)
    }
}

pub(crate) fn describe(name: Option<&str>, site: &Location<'_>) -> String {
    match name {
        Some(name) => format!("host '{name}' (spawned at {site})"),
        None => format!("a host (spawned at {site})"),
    }
}

/// A host's life on its stack: runs the closure, leaves the result in the body, and drops what nobody
/// will ask for, here where destructors may still block. A host whose runtime is already shutting down
/// drops the closure instead.
///
/// # Safety
///
/// The host has not run, and nobody else touches its body until `finish`.
pub(crate) unsafe fn live(host: NonNull<Host>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { host.as_ref() };
    // SAFETY: the table belongs to this host; the rest is the caller's promise.
    unsafe { (this.table.run)(host) };
    clear_locals(this);
    let unclaimed = match this.scope {
        // What a scoped host leaves must not outlive the scope it may borrow from: an unclaimed result
        // is dropped by whoever comes second, this host or its handle, and both come within the scope.
        Some(_) => this.parted.swap(true, Ordering::AcqRel),
        None => this.references.load(Ordering::Acquire) == 1,
    };
    if unclaimed {
        // SAFETY: the handle is gone, so nobody else looks at the body.
        unsafe { drop_unclaimed(host) };
        // A result's destructor may have used locals, which must not leave this thread.
        clear_locals(this);
    }
}

/// Drops a host's locals in the host, whatever their destructors do.
#[inline]
pub(crate) fn clear_locals(host: &Host) {
    if !host.locals.is_empty() {
        clear_some_locals(host);
    }
}

#[cold]
fn clear_some_locals(host: &Host) {
    let _masked = parker::masked();
    host.locals.clear_for_good(|panic| super::report::detached(host, panic));
}

/// Ends a host that has lived: joiners go on, and the host's own reference is let go. True if that was
/// the last one: then the caller has to [`free`] the host.
///
/// # Safety
///
/// `live` has returned; unless the answer is true, the host is not used by the caller afterwards.
#[must_use]
pub(crate) unsafe fn finish(host: NonNull<Host>) -> bool {
    // SAFETY: the host's own reference keeps it alive until it is let go below.
    let this = unsafe { host.as_ref() };
    this.finished.update_plain(|finished, waiters| {
        *finished = true;
        while waiters.grant(()).is_ok() {}
    });
    let scope = this.scope;
    // SAFETY: the own reference, given up here.
    let last = unsafe { let_go(host) };
    if let Some(scope) = scope {
        // SAFETY: a scope waits for its hosts before it goes, and what a scoped host leaves does not
        // borrow from it any more.
        unsafe { ScopeState::exit(scope) };
    }
    last
}

/// Lets go of a scoped host's handle: the other side of [`live`].
///
/// # Safety
///
/// The host has a scope; the caller owns the handle's reference and gives it up.
pub(crate) unsafe fn part(host: NonNull<Host>) {
    // SAFETY: the handle's reference keeps it alive.
    if unsafe { host.as_ref() }.parted.swap(true, Ordering::AcqRel) {
        // SAFETY: the host has run, so nobody else looks at the body.
        unsafe { drop_unclaimed(host) };
    }
    // SAFETY: given up by the caller.
    unsafe { release(host) };
}

/// Drops an unclaimed result; a panic is reported, or noted in the scope.
///
/// # Safety
///
/// Nobody else refers to the body.
unsafe fn drop_unclaimed(host: NonNull<Host>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { host.as_ref() };
    let _masked = parker::masked();
    // SAFETY: by the caller's promise.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { (this.table.drop_body)(host) }));
    let Some(panic) = dropped.unwrap_or_else(Some) else { return };
    if panic.is::<Interrupted>() {
        return;
    }
    match this.scope {
        Some(scope) => {
            // SAFETY: neither a scoped host nor its handle outlives the scope.
            unsafe { scope.as_ref() }.note_panic();
            // What it was raised with is the user's, and may panic in turn.
            forget_panic(panic);
        }
        None => super::report::detached(this, panic),
    }
}

/// Moves the result into `place`, a `std::thread::Result<T>` to be written, `T` being the type that
/// the host was made with. The outcome must be [`Outcome::Done`].
///
/// # Safety
///
/// As said; and the host has finished, and nobody else takes its result.
pub(crate) unsafe fn take_result(host: NonNull<Host>, place: *mut ()) {
    // SAFETY: alive by the caller's promise.
    let table = unsafe { host.as_ref() }.table;
    // SAFETY: by the caller's promise.
    unsafe { (table.take)(host, place) }
}

/// Adds a reference.
///
/// # Safety
///
/// The host is alive.
pub(crate) unsafe fn retain(host: NonNull<Host>) {
    // SAFETY: alive by the caller's promise.
    unsafe { host.as_ref() }.references.fetch_add(1, Ordering::Relaxed);
}

/// Gives up a reference; the last one drops what is in the body and recycles the block.
///
/// # Safety
///
/// The caller owns a reference and does not use it again.
pub(crate) unsafe fn release(host: NonNull<Host>) {
    // SAFETY: passed on to the caller.
    if unsafe { let_go(host) } {
        // SAFETY: that was the last reference.
        unsafe { free(host) };
    }
}

/// Gives up a reference. True if it was the last.
///
/// # Safety
///
/// The caller owns a reference and, unless it was the last, does not use the host again.
unsafe fn let_go(host: NonNull<Host>) -> bool {
    // SAFETY: the reference keeps the host alive. Release: what we did happens before the freeing. Acquire: and so does what
    // others did.
    unsafe { host.as_ref() }.references.fetch_sub(1, Ordering::AcqRel) == 1
}

/// Ends a host that has not begun and never will: its closure is dropped, its joiners learn it.
///
/// # Safety
///
/// The host has not begun and is in no list; the caller does not use it afterwards.
pub(crate) unsafe fn refuse(host: NonNull<Host>) {
    // SAFETY: alive by the caller's promise.
    unsafe { host.as_ref() }.parker.interrupted.set(true);
    // SAFETY: it has not begun, and is run here once.
    unsafe { live(host) };
    // SAFETY: it has just lived.
    if unsafe { finish(host) } {
        // SAFETY: that was the last reference.
        unsafe { free(host) };
    }
}

/// Drops what is in the body and recycles the block.
///
/// # Safety
///
/// The last reference is gone.
pub(crate) unsafe fn free(host: NonNull<Host>) {
    // SAFETY: still alive.
    let table = unsafe { host.as_ref() }.table;
    // SAFETY: the last reference is gone.
    unsafe { drop_unclaimed(host) };
    // SAFETY: the header is not used again.
    unsafe { host.drop_in_place() };
    slots::give(host.cast(), table.layout);
}

/// The body of a host that was made with these types.
fn body<F, T>(host: NonNull<Host>) -> *mut Body<F, T> {
    // SAFETY: `host` is the header of such a block; no reference to the body is made.
    unsafe { UnsafeCell::raw_get(&raw const (*host.cast::<Block<F, T>>().as_ptr()).body) }
}

/// # Safety
///
/// As for [`live`], the types being those of `new`.
unsafe fn run<F: FnOnce() -> T, T>(host: NonNull<Host>) {
    // SAFETY: alive by the caller's promise.
    let this = unsafe { host.as_ref() };
    let body = body::<F, T>(host);
    this.outcome.set(Outcome::Nothing);
    // SAFETY: a host that has not run holds its closure, which is moved out here, once.
    let closure = ManuallyDrop::into_inner(unsafe { (&raw mut (*body).closure).read() });
    // A bearer has been given a parasite, which is to end in it.
    let stopped = this.parker.interrupted.get() && !this.is_bearer();
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
unsafe fn take<F, T>(host: NonNull<Host>, place: *mut ()) {
    // SAFETY: alive by the caller's promise.
    unsafe { host.as_ref() }.outcome.set(Outcome::Nothing);
    // SAFETY: the outcome was `Done`, so the body holds a result, which is moved out here, once.
    let result = unsafe { (&raw mut (*body::<F, T>(host)).result).read() };
    // SAFETY: the caller's place is of this type.
    unsafe { place.cast::<std::thread::Result<T>>().write(ManuallyDrop::into_inner(result)) };
}

/// Empties the body. An unclaimed panic is returned.
///
/// # Safety
///
/// Nobody else refers to the body; the types are those of `new`.
unsafe fn drop_body<F, T>(host: NonNull<Host>) -> Option<Box<dyn Any + Send>> {
    // SAFETY: alive by the caller's promise.
    let outcome = unsafe { host.as_ref() }.outcome.replace(Outcome::Nothing);
    let body = body::<F, T>(host);
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

/// A reference to a host.
pub(crate) struct HostRef(NonNull<Host>);

// SAFETY: through a reference only what may be touched from any thread is touched: the sources.
unsafe impl Send for HostRef {}
// SAFETY: as above.
unsafe impl Sync for HostRef {}

impl HostRef {
    /// # Safety
    ///
    /// The host is alive.
    pub(crate) unsafe fn new(host: NonNull<Host>) -> Self {
        // SAFETY: alive by the caller's promise.
        unsafe { retain(host) };
        HostRef(host)
    }

    pub(crate) fn cancelled(&self) -> &Source<bool, ()> {
        // SAFETY: the reference keeps the host alive.
        unsafe { &(*self.0.as_ptr()).cancelled }
    }

    pub(crate) fn id(&self) -> usize {
        self.0.addr().get()
    }

    pub(crate) fn label(&self) -> Label {
        // SAFETY: the reference keeps the host alive, and what the label tells does not change.
        unsafe { self.0.as_ref() }.label()
    }
}

impl Drop for HostRef {
    fn drop(&mut self) {
        // SAFETY: this reference is given up.
        unsafe { release(self.0) };
    }
}
