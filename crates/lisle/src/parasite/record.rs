//! A parasite's record: what its slot holds, and its life once it has had to wait.
//!
//! While it runs for the first time the record is little more than the place of its future; `spawn.rs` polls that as
//! part of the spawner. Only when it waits does it become a thread that others know of: it is *reified*. From then on
//! everything in it belongs to whoever owns it in the sense of `event/resident/state.rs`; the handle may look at
//! `finished`, which has a lock.

use super::local::Locals;
use super::slots;
use crate::domain::Domain;
use crate::domain::runnable::{Kind, Runnable};
use crate::domain::runtime::{Shared, default_runtime};
use crate::domain::worker::{Worker, with_current};
use crate::event::parker::{Bearing, bearing};
use crate::event::resident::{Resident, State};
use crate::event::{Interrupted, Label, Source, Waits};
use crate::fiber::{ScopeState, report};
use crate::shim::atomic::{AtomicPtr, Ordering};
use crate::shim::sync::Arc;
use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::future::Future;
use std::mem::{ManuallyDrop, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The head of a slot.
#[repr(C)]
pub(crate) struct Parasite {
    runnable: Runnable,
    resident: Resident,
    outcome: Cell<Outcome>,
    /// It has become a thread that is scheduled by itself.
    inflated: Cell<bool>,
    /// How many of the next parasites that it spawns are not to begin on its stack.
    pub(super) penalty: Cell<u32>,
    /// Where it had its last turn.
    domain: Cell<usize>,
    table: Cell<Option<&'static Table>>,
    site: Cell<Option<&'static Location<'static>>>,
    /// The runtime it belongs to, from when it is reified. That does not end before it.
    home: AtomicPtr<Shared>,
    pub(super) locals: Locals,
    scope: Cell<Option<NonNull<ScopeState>>>,
    /// True once it has ended, if it was reified.
    pub(super) finished: Source<bool, ()>,
}

/// What the body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The future.
    Future,
    /// A value or a panic.
    Done,
    /// Nothing: whoever has the handle did not want it to go on.
    Cancelled,
    /// Nothing: its runtime has ended before.
    ShutDown,
    /// Nothing: the result has been taken.
    Taken,
}

/// How a slot is used for one type of future.
pub(super) struct Table {
    poll: unsafe fn(NonNull<Parasite>, &mut Context<'_>) -> Progress,
    drop_future: unsafe fn(NonNull<Parasite>) -> std::thread::Result<()>,
    take: unsafe fn(NonNull<Parasite>, *mut ()),
    drop_result: unsafe fn(NonNull<Parasite>) -> Option<Box<dyn Any + Send>>,
    class: usize,
    size: usize,
}

enum Progress {
    Waits,
    Ended,
    /// By the interruption of the host on whose stack it ran, which is to go on.
    Interrupted(Box<dyn Any + Send>),
}

#[repr(C)]
struct Block<F: Future> {
    parasite: Parasite,
    body: UnsafeCell<Body<F>>,
}

union Body<F: Future> {
    future: ManuallyDrop<F>,
    result: ManuallyDrop<std::thread::Result<F::Output>>,
}

/// How a future of this type is kept.
pub(super) struct Kept<F>(std::marker::PhantomData<F>);

impl<F: Future> Kept<F> {
    const LAYOUT: Layout = Layout::new::<Block<F>>();
    pub(super) const CLASS: usize = slots::class_of(Self::LAYOUT);
    /// Too large to be kept for ever.
    pub(super) const IS_LARGE: bool =
        size_of::<F>() > size_of::<F::Output>() && Self::LAYOUT.size() > slots::LARGEST_STEP;
    pub(super) const TABLE: &'static Table = &Table {
        poll: poll::<F>,
        drop_future: drop_future::<F>,
        take: take::<F>,
        drop_result: drop_result::<F>,
        class: Self::CLASS,
        size: Self::LAYOUT.size(),
    };
}

impl Parasite {
    /// The head of a slot of so many bytes in which nobody lives.
    pub(super) fn vacant(size: usize) -> Self {
        let size = size - offset_of!(Parasite, resident);
        Parasite {
            runnable: Runnable::new(Kind::Parasite),
            // SAFETY: slots are never given back, and `ready_resident` asks for what is promised.
            resident: unsafe { Resident::new(ready_resident, size) },
            outcome: Cell::new(Outcome::Taken),
            inflated: Cell::new(false),
            penalty: Cell::new(0),
            domain: Cell::new(usize::MAX),
            table: Cell::new(None),
            site: Cell::new(None),
            home: AtomicPtr::new(std::ptr::null_mut()),
            locals: Locals::new(),
            scope: Cell::new(None),
            finished: Source::labelled(Label::anywhere("parasite"), false),
        }
    }

    pub(super) fn next_vacant(&self) -> *mut Parasite {
        self.runnable.next().cast()
    }

    pub(super) fn set_next_vacant(&self, next: *mut Parasite) {
        self.runnable.set_next(next.cast());
    }

    /// The parasite whose `resident` this is.
    pub(crate) fn of(resident: NonNull<Resident>) -> NonNull<Parasite> {
        // SAFETY: the only residents are those in slots.
        unsafe { resident.byte_sub(offset_of!(Parasite, resident)) }.cast()
    }

    #[inline(always)]
    pub(super) fn resident(parasite: NonNull<Parasite>) -> NonNull<Resident> {
        // SAFETY: within the slot.
        unsafe { parasite.byte_add(offset_of!(Parasite, resident)) }.cast()
    }

    pub(super) fn as_resident(&self) -> &Resident {
        &self.resident
    }

    /// Its number as a performer, see `event/waits.rs`.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(&self.resident).addr()
    }

    #[inline(always)]
    pub(super) fn state(&self) -> &State {
        self.resident.state()
    }

    /// Where it was spawned.
    pub(crate) fn site(&self) -> &'static Location<'static> {
        self.site.get().expect("a parasite has been spawned somewhere")
    }

    /// The number of the scope it belongs to.
    pub(super) fn scope(&self) -> Option<usize> {
        self.scope.get().map(|scope| scope.addr().get())
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.get()
    }

    pub(super) fn label(&self) -> Label {
        Label::anywhere("parasite").made_at(self.site())
    }

    fn table(&self) -> &'static Table {
        self.table.get().expect("a parasite has a future")
    }

    /// The runtime it belongs to.
    ///
    /// # Safety
    ///
    /// It has been reified and has not been counted out.
    unsafe fn home(&self) -> &Shared {
        // SAFETY: a runtime does not go before its parasites.
        unsafe { &*self.home.load(Ordering::Relaxed) }
    }

    /// Is it of this runtime? For those who do not know whether anybody lives in the slot.
    pub(super) fn is_of(&self, shared: &Shared) -> bool {
        std::ptr::eq(self.home.load(Ordering::Relaxed), shared)
    }

    /// It has a turn on this domain.
    #[inline]
    fn note_domain(&self, domain: &Domain) {
        domain.running_code_of(self.site());
        let before = self.domain.replace(domain.index);
        if before != domain.index && before != usize::MAX {
            domain.counts.tally.migrations.add(1);
        }
    }

    /// What it waits for.
    ///
    /// # Safety
    ///
    /// It has been claimed.
    pub(super) unsafe fn describe(&self, waits: &mut Waits) {
        if let Some(parked) = self.resident.parked() {
            // SAFETY: it is parked and claimed: its future has what it waits for, and only we have the future.
            unsafe { parked.describe(waits) };
        }
    }
}

/// Puts a future into a vacant slot.
///
/// # Safety
///
/// The slot is vacant, of the future's class, and the caller's alone.
#[inline(always)]
pub(super) unsafe fn settle<F: Future>(
    slot: NonNull<Parasite>,
    future: F,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    // SAFETY: slots are never given back.
    let this = unsafe { slot.as_ref() };
    this.table.set(Some(Kept::<F>::TABLE));
    this.site.set(Some(site));
    this.scope.set(scope);
    this.outcome.set(Outcome::Future);
    this.resident.move_in();
    // SAFETY: the slot is large enough, and nothing is in its body.
    unsafe { (&raw mut (*body::<F>(slot)).future).write(ManuallyDrop::new(future)) };
}

#[inline(always)]
fn body<F: Future>(parasite: NonNull<Parasite>) -> *mut Body<F> {
    // SAFETY: the slot is such a block; no reference to the body is made.
    unsafe { UnsafeCell::raw_get(&raw const (*parasite.cast::<Block<F>>().as_ptr()).body) }
}

/// Polls the future of a parasite once, on this stack.
///
/// # Safety
///
/// The caller runs the parasite, whose body holds a future of this type.
#[inline(always)]
pub(super) unsafe fn poll_future<F: Future>(
    parasite: NonNull<Parasite>,
    context: &mut Context<'_>,
) -> std::thread::Result<Poll<F::Output>> {
    // SAFETY: by the caller's promise; a slot does not move.
    let future = unsafe { &mut *(&raw mut (*body::<F>(parasite)).future).cast::<F>() };
    // SAFETY: as above.
    let future = unsafe { Pin::new_unchecked(future) };
    catch_unwind(AssertUnwindSafe(|| future.poll(context)))
}

/// # Safety
///
/// As for [`poll_future`].
unsafe fn poll<F: Future>(parasite: NonNull<Parasite>, context: &mut Context<'_>) -> Progress {
    // SAFETY: passed on to the caller.
    let polled = unsafe { poll_future::<F>(parasite, context) };
    let result = match polled {
        Ok(Poll::Pending) => return Progress::Waits,
        Ok(Poll::Ready(value)) => Ok(value),
        Err(panic) => Err(panic),
    };
    // SAFETY: as above; it is not polled again.
    unsafe { end_body::<F>(parasite, result) }
}

/// Puts the result of a future that has ended where that was.
///
/// # Safety
///
/// As for [`poll_future`]; the future is not used again.
unsafe fn end_body<F: Future>(
    parasite: NonNull<Parasite>,
    result: std::thread::Result<F::Output>,
) -> Progress {
    // SAFETY: by the caller's promise.
    let dropped = unsafe { drop_future::<F>(parasite) };
    let result = with_drop(result, dropped);
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    match result {
        Err(panic) if panic.is::<Interrupted>() => {
            this.outcome.set(Outcome::ShutDown);
            Progress::Interrupted(panic)
        }
        result => {
            // SAFETY: the body is empty since the future was dropped.
            unsafe { (&raw mut (*body::<F>(parasite)).result).write(ManuallyDrop::new(result)) };
            this.outcome.set(Outcome::Done);
            Progress::Ended
        }
    }
}

/// # Safety
///
/// The caller runs the parasite, whose body holds a future of this type, which is not used again.
#[inline(always)]
pub(super) unsafe fn drop_future<F: Future>(parasite: NonNull<Parasite>) -> std::thread::Result<()> {
    let drop = || {
        // SAFETY: the slot is such a block.
        let future = unsafe { &raw mut (*body::<F>(parasite)).future };
        // SAFETY: by the caller's promise.
        unsafe { ManuallyDrop::drop(&mut *future) };
    };
    if std::mem::needs_drop::<F>() { catch_unwind(AssertUnwindSafe(drop)) } else { Ok(()) }
}

/// The result of a future whose destructor has run. Its panic counts, unless the future had panicked before.
#[inline(always)]
pub(super) fn with_drop<T>(
    result: std::thread::Result<T>,
    dropped: std::thread::Result<()>,
) -> std::thread::Result<T> {
    match dropped {
        Ok(()) => result,
        Err(panic) => first_panic(result, panic),
    }
}

#[cold]
fn first_panic<T>(result: std::thread::Result<T>, second: Box<dyn Any + Send>) -> std::thread::Result<T> {
    let (panic, other) = match result {
        Ok(value) => (second, catch_unwind(AssertUnwindSafe(|| drop(value)))),
        Err(first) => (first, Err(second)),
    };
    if let Err(other) = other {
        drop_payload(other);
    }
    Err(panic)
}

/// Drops the payload of a panic, which may have a destructor that panics, too.
fn drop_payload(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(another);
    }
}

/// # Safety
///
/// The outcome is `Done`, the place is for a `std::thread::Result<F::Output>`, and nobody else looks at the body.
unsafe fn take<F: Future>(parasite: NonNull<Parasite>, place: *mut ()) {
    // SAFETY: alive, by the caller's promise.
    unsafe { parasite.as_ref() }.outcome.set(Outcome::Taken);
    // SAFETY: the outcome was `Done`, so the body holds a result, which is moved out here, once.
    let result = unsafe { (&raw mut (*body::<F>(parasite)).result).read() };
    // SAFETY: by the caller's promise.
    unsafe { place.cast::<std::thread::Result<F::Output>>().write(ManuallyDrop::into_inner(result)) };
}

/// Empties the body of a parasite that has ended. An unclaimed panic is returned.
///
/// # Safety
///
/// Nobody else refers to the body.
unsafe fn drop_result<F: Future>(parasite: NonNull<Parasite>) -> Option<Box<dyn Any + Send>> {
    // SAFETY: alive, by the caller's promise.
    if unsafe { parasite.as_ref() }.outcome.replace(Outcome::Taken) != Outcome::Done {
        return None;
    }
    // SAFETY: the body holds the result, which is moved out here, once.
    let result = ManuallyDrop::into_inner(unsafe { (&raw mut (*body::<F>(parasite)).result).read() });
    match catch_unwind(AssertUnwindSafe(|| result.map(drop))) {
        Ok(result) => result.err(),
        Err(panic) => Some(panic),
    }
}

/// Moves the result into `place`, a `std::thread::Result` of the future's output. The outcome must be
/// [`Outcome::Done`].
///
/// # Safety
///
/// As said; and nobody else takes it.
pub(super) unsafe fn take_result(parasite: NonNull<Parasite>, place: *mut ()) {
    // SAFETY: alive, by the caller's promise.
    let table = unsafe { parasite.as_ref() }.table();
    // SAFETY: passed on to the caller.
    unsafe { (table.take)(parasite, place) }
}

/// Ends the process if it is dropped: a parasite waits, and cannot become a thread. What it waits for may refer to it, and
/// to what its spawner has lent it.
struct Whole;

impl Drop for Whole {
    fn drop(&mut self) {
        eprintln!("lisle: a parasite waits, and the runtime that it would belong to cannot be started");
        std::process::abort();
    }
}

/// Makes a thread of a parasite: from now on its runtime knows of it.
///
/// # Safety
///
/// The caller owns the parasite, which has not been reified.
pub(super) unsafe fn reify(parasite: NonNull<Parasite>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    let size = this.table().size;
    let whole = Whole;
    with_current(|worker| match worker {
        Some(worker) => {
            this.home.store(Arc::as_ptr(worker.shared()).cast_mut(), Ordering::Relaxed);
            this.domain.set(worker.domain.index);
            worker.domain.counts.begun_parasite(size);
        }
        None => {
            let shared = default_runtime();
            this.home.store(Arc::as_ptr(shared).cast_mut(), Ordering::Relaxed);
            shared.parasite_from_outside(size);
        }
    });
    std::mem::forget(whole);
    if let Some(scope) = this.scope.get() {
        // SAFETY: who spawned it is within the scope.
        unsafe { scope.as_ref() }.enter();
    }
}

/// What follows a poll that came to no end: the parasite is parked, or queued again if it has been woken meanwhile.
///
/// # Safety
///
/// The caller runs the parasite, which has been reified, and does not use it afterwards.
pub(super) unsafe fn wait(parasite: NonNull<Parasite>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    if this.resident.is_leaving() {
        // SAFETY: passed on to the caller.
        return unsafe { inflate(parasite) };
    }
    if this.state().park() {
        return;
    }
    // Cancelled or not: that is seen when it is taken.
    this.state().absorb();
    // SAFETY: ours still, and not used afterwards.
    unsafe { queue_at_home(parasite, Worker::postpone) };
}

/// Queues a parasite as `here` does, if this is a worker of its runtime, and else for whichever domain comes first there.
///
/// # Safety
///
/// The caller owns it, and does not use it afterwards.
unsafe fn queue_at_home(parasite: NonNull<Parasite>, here: fn(&Worker, NonNull<Runnable>)) {
    // SAFETY: ours, by the caller's promise.
    let home = unsafe { parasite.as_ref() }.home.load(Ordering::Relaxed).cast_const();
    with_current(|worker| match worker {
        Some(worker) if std::ptr::eq(Arc::as_ptr(worker.shared()), home) => here(worker, parasite.cast()),
        // SAFETY: its home does not go before it.
        _ => unsafe { Shared::push_common_at(home, parasite.cast()) },
    });
}

/// Lets go of a parasite that was claimed.
///
/// # Safety
///
/// The caller has claimed it, and does not use it afterwards.
pub(super) unsafe fn release(parasite: NonNull<Parasite>) {
    // SAFETY: claimed by the caller.
    let this = unsafe { parasite.as_ref() };
    if !this.state().park() {
        this.state().absorb();
        // SAFETY: it is ours still.
        unsafe { ready(parasite) };
    }
}

/// Has a parasite that waits go on here. False: it does not wait, or this is not the place.
pub(super) fn attach(parasite: NonNull<Parasite>) -> bool {
    // SAFETY: slots are never given back.
    let this = unsafe { parasite.as_ref() };
    with_current(|worker| {
        let Some(worker) = worker.filter(|worker| this.is_of(worker.shared())) else { return false };
        if !super::spawn::has_room(bearing()) || !this.state().claim() {
            return false;
        }
        let is_here = this.is_of(worker.shared());
        if is_here {
            // SAFETY: claimed, so it is ours, and this is its worker.
            unsafe { run(parasite, worker) };
        } else {
            // Another has moved in meanwhile.
            // SAFETY: just claimed.
            unsafe { release(parasite) };
        }
        is_here
    })
}

/// Queues a parasite that waits for whichever domain comes first. False: it does not wait.
pub(super) fn inflate_parked(parasite: NonNull<Parasite>) -> bool {
    // SAFETY: slots are never given back.
    let claimed = unsafe { parasite.as_ref() }.state().claim();
    if claimed {
        // SAFETY: claimed, so it is ours, and reified as it was parked.
        unsafe { inflate(parasite) };
    }
    claimed
}

/// Queues a parasite that runs for whichever domain comes first.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn inflate(parasite: NonNull<Parasite>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    // Cancelled or not: that is seen when it is taken.
    if !this.inflated.replace(true) {
        count_inflation(this);
    }
    this.state().absorb();
    // SAFETY: reified, and queued by us, for it.
    unsafe { Shared::push_common_at(this.home.load(Ordering::Relaxed), parasite.cast()) };
}

fn count_inflation(this: &Parasite) {
    with_current(|worker| match worker {
        Some(worker) => worker.domain.counts.tally.inflations.add(1),
        // SAFETY: who counts is about to queue it, so it is alive, and has been reified.
        None => unsafe { this.home() }.outside.lock().inflations.add(1),
    });
}

/// Queues a parasite that has not begun for whichever domain comes first.
///
/// # Safety
///
/// The caller has just settled it.
pub(super) unsafe fn queue(parasite: NonNull<Parasite>) {
    // SAFETY: passed on to the caller.
    unsafe { reify(parasite) };
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    this.inflated.set(true);
    // It has had no turn.
    this.domain.set(usize::MAX);
    count_inflation(this);
    this.state().begin();
    // SAFETY: as above.
    unsafe { Shared::push_common_at(this.home.load(Ordering::Relaxed), parasite.cast()) };
}

/// As [`ready`], by the part of the parasite that wakers know.
///
/// # Safety
///
/// As there.
unsafe fn ready_resident(resident: NonNull<Resident>) {
    // SAFETY: passed on to the caller.
    unsafe { ready(Parasite::of(resident)) };
}

/// Queues a parasite that was parked: to run next here, if this is a worker of its runtime.
///
/// # Safety
///
/// The caller owns it, by a wake, a cancellation or a claim, and does not use it afterwards.
pub(super) unsafe fn ready(parasite: NonNull<Parasite>) {
    // SAFETY: passed on to the caller.
    unsafe { queue_at_home(parasite, Worker::put_next) };
}

/// A turn of a parasite that has left its queue, on this stack.
///
/// # Panics
///
/// When the runtime interrupts the host on whose stack it runs.
///
/// # Safety
///
/// The caller owns it: it was taken out of its queue for this, or claimed. This is the thread of `worker`, one of its
/// runtime.
pub(crate) unsafe fn run(parasite: NonNull<Parasite>, worker: &Worker) {
    // SAFETY: slots are never given back.
    let this = unsafe { parasite.as_ref() };
    this.note_domain(&worker.domain);
    // SAFETY: it is ours.
    unsafe { turn(parasite, worker.shared()) };
}

/// Says that a parasite's code runs on this stack, until dropped.
pub(super) struct Aboard<'a> {
    bearing: &'a Bearing,
    pub(super) before: *const Resident,
}

impl<'a> Aboard<'a> {
    #[inline(always)]
    pub(super) fn new(bearing: &'a Bearing, resident: NonNull<Resident>) -> Self {
        Aboard { bearing, before: bearing.parasite.replace(resident.as_ptr()) }
    }
}

impl Drop for Aboard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.bearing.parasite.set(self.before);
    }
}

/// A turn of a parasite, on this stack.
///
/// # Safety
///
/// The caller runs the parasite, which has been reified and is at home here, and does not use it afterwards.
unsafe fn turn(parasite: NonNull<Parasite>, home: &Shared) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    let resident = Parasite::resident(parasite);
    let _aboard = Aboard::new(bearing(), resident);
    this.resident.begin_turn();
    let is_cancelled = this.state().is_cancelled();
    if is_cancelled || home.is_stopping() {
        let outcome = if is_cancelled { Outcome::Cancelled } else { Outcome::ShutDown };
        // SAFETY: passed on to the caller.
        return unsafe { drop_and_end(parasite, outcome) };
    }
    let waker = ManuallyDrop::new(Resident::waker(resident));
    // SAFETY: it holds a future, and runs here.
    match unsafe { (this.table().poll)(parasite, &mut Context::from_waker(&waker)) } {
        // SAFETY: passed on to the caller.
        Progress::Waits => unsafe { wait(parasite) },
        // SAFETY: passed on to the caller.
        Progress::Ended => unsafe { end(parasite) },
        Progress::Interrupted(payload) => {
            // SAFETY: passed on to the caller.
            unsafe { end(parasite) };
            resume_unwind(payload)
        }
    }
}

/// Ends a parasite that was parked and has been cancelled, on this stack.
///
/// # Safety
///
/// The caller owns it, and does not use it afterwards.
pub(super) unsafe fn end_here(parasite: NonNull<Parasite>) {
    let _aboard = Aboard::new(bearing(), Parasite::resident(parasite));
    // SAFETY: passed on to the caller.
    unsafe { drop_and_end(parasite, Outcome::Cancelled) };
}

/// Drops the future of a parasite that is not to go on.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn drop_and_end(parasite: NonNull<Parasite>, outcome: Outcome) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    // SAFETY: it holds a future, which is not polled again.
    let dropped = unsafe { (this.table().drop_future)(parasite) };
    this.outcome.set(outcome);
    let interrupted = match dropped {
        Err(panic) if panic.is::<Interrupted>() => Some(panic),
        Err(panic) => {
            report::unclaimed(&describe(this.site()), panic);
            None
        }
        Ok(()) => None,
    };
    // SAFETY: passed on to the caller.
    unsafe { end(parasite) };
    if let Some(payload) = interrupted {
        resume_unwind(payload);
    }
}

/// Ends a reified parasite whose body holds no future any more: joiners go on.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn end(parasite: NonNull<Parasite>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    let scope = this.scope.get();
    let home = this.home.load(Ordering::Relaxed);
    this.locals.clear();
    if this.state().is_detached() {
        // Nobody can wait for it, or ask.
        // SAFETY: it has ended, and its handle is gone.
        unsafe { vacate(parasite) };
    } else {
        this.finished.update(|finished, waiters| {
            *finished = true;
            while waiters.grant(()).is_ok() {}
        });
        if this.state().finish() {
            // SAFETY: it has ended, and its handle is gone.
            unsafe { vacate_joinable(parasite) };
        }
    }
    if let Some(scope) = scope {
        // SAFETY: the scope waits for what has entered it, and this was all.
        unsafe { ScopeState::exit(scope) };
    }
    // SAFETY: counted out here, and its home was alive until then.
    unsafe { Shared::parasite_ended(home) };
}

/// Makes the slot vacant of a parasite whose handle went when it could be joined already.
///
/// # Safety
///
/// As for [`vacate`].
pub(super) unsafe fn vacate_joinable(parasite: NonNull<Parasite>) {
    // SAFETY: the caller's alone.
    unsafe { parasite.as_ref() }.finished.update(|finished, _| *finished = false);
    // SAFETY: passed on to the caller.
    unsafe { vacate(parasite) };
}

/// Makes a slot vacant. What is unclaimed is dropped: where destructors may block, if its host is still there.
///
/// # Safety
///
/// The parasite was reified and has ended, and its handle is gone; the caller does not use it afterwards.
unsafe fn vacate(parasite: NonNull<Parasite>) {
    // SAFETY: the caller's alone.
    let this = unsafe { parasite.as_ref() };
    // SAFETY: nobody else looks at the body.
    unsafe { drop_unclaimed(parasite) };
    this.locals.clear();
    this.inflated.set(false);
    this.penalty.set(0);
    this.domain.set(usize::MAX);
    this.home.store(std::ptr::null_mut(), Ordering::Relaxed);
    this.state().vacate();
    // SAFETY: everything in it has been dropped.
    unsafe { slots::give(parasite, this.table().class) };
}

/// Drops an unclaimed result; a panic is reported, or noted in the scope.
///
/// # Safety
///
/// Nobody else refers to the body, which holds no future.
unsafe fn drop_unclaimed(parasite: NonNull<Parasite>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { parasite.as_ref() };
    // SAFETY: passed on to the caller.
    if let Some(panic) = unsafe { (this.table().drop_result)(parasite) } {
        unclaimed(panic, this.scope.get(), this.site());
    }
}

/// Deals with a panic that nobody has asked for.
#[cold]
pub(super) fn unclaimed(
    panic: Box<dyn Any + Send>,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    match scope {
        Some(scope) => {
            // SAFETY: neither a scoped parasite nor its handle outlives the scope.
            unsafe { scope.as_ref() }.note_panic();
            drop_payload(panic);
        }
        None => report::unclaimed(&describe(site), panic),
    }
}

/// For messages: what it is, and where it was spawned.
pub(super) fn describe(site: &Location<'_>) -> String {
    format!("a parasite (spawned at {site})")
}
