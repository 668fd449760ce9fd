//! A job: a function that is to be called, or what came of it, in recycled memory.
//!
//! Two have an interest in the memory: the [frame](super::frame) on which the job was spawned, which sees to it that it ends, and
//! the promise. The last of them gives it back. Three may want to begin the job: the frame, whoever has taken it as a
//! job, and whoever waits for the promise elsewhere. The first to set [`CLAIMED`] has it. If the frame's own stack waits for the
//! promise, and the job has not been offered, then there is nobody else, and neither is looked at.

use super::Core;
use super::frame::Frame;
use super::list::Links;
use super::slots;
use crate::job::{Ancestor, Job};
use crate::shim::atomic::{AtomicPtr, AtomicU8, Ordering};
use crate::shim::cell;
use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{NonNull, null};
use std::thread;

/// Somebody has begun it.
pub(super) const CLAIMED: u8 = 1;
/// What came of it lies in its memory.
const DONE: u8 = 2;
/// There is no promise any more.
pub(super) const PROMISE_GONE: u8 = 4;
/// The frame has settled it.
const FRAME_GONE: u8 = 8;
/// What came of it has been taken out, or was never put there.
pub(super) const TAKEN: u8 = 16;

/// What is the same for all jobs.
pub(super) struct Header {
    /// Of the frame's thread, or under the lock of the list of strays.
    pub(super) links: Links,
    state: AtomicU8,
    /// Its job has been offered. Of the frame's thread.
    pub(super) is_offered: Cell<bool>,
    /// It is in the list of strays. Under the lock of that.
    pub(super) is_astray: Cell<bool>,
    /// The frame in whose list it is, if that is where it was spawned; null for a stray, and once the frame settles it.
    home: AtomicPtr<Frame>,
    pub(super) core: NonNull<Core>,
    /// By which code of its frame's stack it was spawned; 0 for a stray.
    pub(super) level: Cell<u64>,
    site: &'static Location<'static>,
    verbs: &'static Verbs,
    /// Made when it is offered, or when its frame begins it while there is a promise.
    job: UnsafeCell<MaybeUninit<Job>>,
}

/// What depends on the types of a job.
struct Verbs {
    call: unsafe fn(NonNull<Header>, Rest, *mut ()),
    run: unsafe fn(NonNull<Header>),
    take: unsafe fn(NonNull<Header>, *mut ()),
    discard: unsafe fn(NonNull<Header>),
    layout: Layout,
}

/// What is to become of the memory, once the function has been taken out.
#[derive(Clone, Copy)]
pub(super) enum Rest {
    /// Nobody else has an interest.
    Free,
    /// The frame has.
    Release,
}

#[repr(C)]
struct Spawned<F, T> {
    header: Header,
    body: cell::UnsafeCell<Body<F, T>>,
}

union Body<F, T> {
    function: ManuallyDrop<F>,
    result: ManuallyDrop<thread::Result<T>>,
}

/// A job that calls `function`.
#[inline]
pub(super) fn new<F: FnOnce() -> T, T>(
    function: F,
    core: &Core,
    home: *const Frame,
    site: &'static Location<'static>,
) -> NonNull<Header> {
    let block = slots::take(Layout::new::<Spawned<F, T>>()).cast::<Spawned<F, T>>();
    let spawned = Spawned::<F, T> {
        header: Header {
            links: Links::new(),
            state: AtomicU8::new(0),
            is_offered: Cell::new(false),
            is_astray: Cell::new(false),
            home: AtomicPtr::new(home.cast_mut()),
            core: NonNull::from(core),
            level: Cell::new(0),
            site,
            verbs: &Spawned::<F, T>::VERBS,
            job: UnsafeCell::new(MaybeUninit::uninit()),
        },
        body: cell::UnsafeCell::new(Body { function: ManuallyDrop::new(function) }),
    };
    // SAFETY: a block of this layout, which nobody else has.
    unsafe { block.write(spawned) };
    block.cast()
}

impl Header {
    /// Has the caller begun it? Otherwise somebody else has, and if that was not the promise's holder, there is a job.
    pub(super) fn claim(&self) -> bool {
        // Release: the job was made before. Acquire: who finds it claimed may wait for the job.
        self.state.fetch_or(CLAIMED, Ordering::AcqRel) & CLAIMED == 0
    }

    /// Has it not begun, and is there nobody but its frame who could begin it, unless it is offered?
    #[inline]
    fn is_unpromised(&self) -> bool {
        self.state.load(Ordering::Acquire) & (PROMISE_GONE | CLAIMED) == PROMISE_GONE
    }

    /// Marks it as offered, unless it has been, or somebody has begun it. For its frame's thread.
    pub(super) fn is_to_be_offered(&self) -> bool {
        self.state.load(Ordering::Relaxed) & CLAIMED == 0 && !self.is_offered.replace(true)
    }

    /// Is `frame` where it was spawned, and is it still in the list of that? For the thread of that frame.
    #[inline]
    pub(super) fn is_at_home(&self, frame: *const Frame) -> bool {
        // A frame that has gone may have had the address of one that is there now, but has let its jobs leave before.
        std::ptr::eq(self.home.load(Ordering::Relaxed), frame)
    }

    /// Its frame has taken it out of its list, to settle it. Its own function, which runs then, may have its promise.
    pub(super) fn leave_home(&self) {
        self.home.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    pub(super) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The job.
    ///
    /// # Safety
    ///
    /// It has been made.
    pub(super) unsafe fn job(&self) -> &Job {
        // SAFETY: made, and changed but by its own rules.
        unsafe { (*self.job.get()).assume_init_ref() }
    }
}

/// Where the job of `spawned` lies.
fn job_of(spawned: NonNull<Header>) -> NonNull<Job> {
    // SAFETY: a field of what the pointer points at.
    unsafe { spawned.byte_add(offset_of!(Header, job)) }.cast()
}

/// Makes the job, as one that is done in the ancestor of `within`.
///
/// # Safety
///
/// The job is in place and has none; its frame's thread calls this, before somebody could look for it.
pub(super) unsafe fn make_job(spawned: NonNull<Header>, within: *const Ancestor) -> NonNull<Job> {
    let job = job_of(spawned);
    // SAFETY: in place.
    let this = unsafe { spawned.as_ref() };
    // SAFETY: memory of the job, and nobody looks.
    unsafe { job.write(Job::new(run_job, Ancestor::new(within, this.level.get()), this.site)) };
    job
}

/// Runs a job that was taken from elsewhere.
///
/// # Safety
///
/// It is the job of a job, and has been taken by the caller.
unsafe fn run_job(job: NonNull<Job>) {
    // SAFETY: it is this field of a job, which is in place until the job is done.
    let spawned = unsafe { job.byte_sub(offset_of!(Header, job)) }.cast::<Header>();
    // SAFETY: in place.
    let this = unsafe { spawned.as_ref() };
    if this.claim() {
        // SAFETY: a scope stays until all its jobs have ended.
        let core = unsafe { this.core.as_ref() };
        // SAFETY: claimed. It does not unwind.
        let _ = Frame::within(core, false, || unsafe { (this.verbs.run)(spawned) });
        this.state.fetch_or(DONE, Ordering::Release);
    }
}

/// Sees to it that a job ends, for its frame, and gives up the interest of that. `settle` takes an offered job back, or
/// waits until whoever has it has done it and says false.
///
/// # Safety
///
/// The job has been taken out of its frame's list, by the thread of that, and is not used afterwards.
pub(super) unsafe fn settle(spawned: NonNull<Header>, settle: impl FnOnce(&Job) -> bool) {
    // SAFETY: the frame has an interest in it.
    let this = unsafe { spawned.as_ref() };
    let is_offered = this.is_offered.get();
    if !is_offered && this.is_unpromised() {
        // SAFETY: neither a promise nor a job, so there is nobody else.
        return unsafe { run_alone(spawned) };
    }
    if !is_offered {
        // Whoever has the promise may wait for it.
        // SAFETY: it has none, and nobody looks before it has been claimed.
        unsafe { make_job(spawned, null()) };
    }
    // SAFETY: made just now, or when it was offered.
    let is_ours = !is_offered || settle(unsafe { this.job() });
    if is_ours && this.claim() {
        // SAFETY: claimed.
        unsafe { run_at_home(spawned) };
    }
    // SAFETY: the frame's, and given up once.
    unsafe { release(spawned, FRAME_GONE) };
}

/// Gives what a job has come to that somebody else has begun, once `wait` has waited for its job.
///
/// # Safety
///
/// For the holder of the promise, on another stack than the frame's, who has not found it unclaimed and does not use it
/// afterwards; `T` is what it gives.
pub(super) unsafe fn fetch<T>(spawned: NonNull<Header>, wait: impl FnOnce(&Job)) -> thread::Result<T> {
    // SAFETY: a promise has an interest in its job. It was claimed by somebody who does not hold the promise, so there
    // is a job.
    wait(unsafe { spawned.as_ref().job() });
    // SAFETY: it is done.
    let result = unsafe { take(spawned) };
    // SAFETY: the promise's interest.
    unsafe { release(spawned, PROMISE_GONE | TAKEN) };
    result
}

/// Runs a job of its own frame to which there may be a promise, and a job.
///
/// # Safety
///
/// It has been claimed by the caller, the frame's thread.
unsafe fn run_at_home(spawned: NonNull<Header>) {
    // SAFETY: the frame has an interest, so it is in place.
    let this = unsafe { spawned.as_ref() };
    // SAFETY: claimed.
    unsafe { (this.verbs.run)(spawned) };
    this.state.fetch_or(DONE, Ordering::Release);
    // SAFETY: made before it was claimed; whoever might have taken it has given it back.
    unsafe { Job::finish(job_of(spawned)) };
}

/// Runs a job in which nobody but the caller has an interest.
///
/// # Safety
///
/// As it says, and the job has not been claimed.
unsafe fn run_alone(spawned: NonNull<Header>) {
    // SAFETY: in place.
    let verbs = unsafe { spawned.as_ref() }.verbs;
    // SAFETY: nobody else claims it.
    unsafe { (verbs.run)(spawned) };
    // SAFETY: just put there.
    unsafe { (verbs.discard)(spawned) };
    slots::give(spawned.cast(), verbs.layout);
}

/// Calls the function of a job.
///
/// # Safety
///
/// The job is the caller's: claimed, or nobody else has an interest in it, if `rest` says so; he does not use it
/// afterwards, and `T` is what it gives.
#[inline]
pub(super) unsafe fn call<T>(spawned: NonNull<Header>, rest: Rest) -> T {
    let mut result = MaybeUninit::<T>::uninit();
    // SAFETY: in place.
    let call = unsafe { spawned.as_ref() }.verbs.call;
    // SAFETY: passed on to the caller.
    unsafe { call(spawned, rest, result.as_mut_ptr().cast()) };
    // SAFETY: it has not unwound, so the result is there.
    unsafe { result.assume_init() }
}

/// Takes what came of a job.
///
/// # Safety
///
/// It is done, `T` is what it gives, and only the promise's holder calls this, once.
pub(super) unsafe fn take<T>(spawned: NonNull<Header>) -> thread::Result<T> {
    let mut result = MaybeUninit::<thread::Result<T>>::uninit();
    // SAFETY: in place.
    let take = unsafe { spawned.as_ref() }.verbs.take;
    // SAFETY: passed on to the caller.
    unsafe { take(spawned, result.as_mut_ptr().cast()) };
    // SAFETY: just put there.
    unsafe { result.assume_init() }
}

/// Gives back the memory of a job out of which everything has been taken.
///
/// # Safety
///
/// As it says, and nobody else has an interest in it.
pub(super) unsafe fn free(spawned: NonNull<Header>) {
    // SAFETY: in place.
    let layout = unsafe { spawned.as_ref() }.verbs.layout;
    slots::give(spawned.cast(), layout);
}

/// Gives up an interest: `interest` is [`PROMISE_GONE`], perhaps with [`TAKEN`], or [`FRAME_GONE`].
///
/// # Safety
///
/// It was the caller's, who does not use the job afterwards.
pub(super) unsafe fn release(spawned: NonNull<Header>, interest: u8) {
    // SAFETY: in place, since the caller has an interest.
    let this = unsafe { spawned.as_ref() };
    let state = this.state.fetch_or(interest, Ordering::AcqRel) | interest;
    if state & (PROMISE_GONE | FRAME_GONE) == PROMISE_GONE | FRAME_GONE {
        if state & (DONE | TAKEN) == DONE {
            // SAFETY: there is a result, and nobody else will take it.
            unsafe { (this.verbs.discard)(spawned) };
        }
        // SAFETY: that was the last interest, and there is nothing in it.
        unsafe { free(spawned) };
    }
}

impl<F: FnOnce() -> T, T> Spawned<F, T> {
    const VERBS: Verbs = Verbs {
        call: Self::call,
        run: Self::run,
        take: Self::take,
        discard: Self::discard,
        layout: Layout::new::<Self>(),
    };

    /// # Safety
    ///
    /// Nobody has taken it out before, and nobody else will.
    #[inline]
    unsafe fn function(spawned: NonNull<Header>) -> F {
        // SAFETY: a job of these types, in place.
        let body = &unsafe { spawned.cast::<Self>().as_ref() }.body;
        // SAFETY: it is there until it is taken out.
        ManuallyDrop::into_inner(body.with_mut(|body| unsafe { (&raw mut (*body).function).read() }))
    }

    unsafe fn call(spawned: NonNull<Header>, rest: Rest, result: *mut ()) {
        // SAFETY: passed on to the caller.
        let function = unsafe { Self::function(spawned) };
        match rest {
            Rest::Free => slots::give(spawned.cast(), Layout::new::<Self>()),
            // SAFETY: the caller holds the promise, and nothing is left in the job.
            Rest::Release => unsafe { release(spawned, PROMISE_GONE | TAKEN) },
        }
        let value = function();
        // SAFETY: room for it, by the caller's promise.
        unsafe { result.cast::<T>().write(value) };
    }

    unsafe fn run(spawned: NonNull<Header>) {
        // SAFETY: passed on to the caller.
        let function = unsafe { Self::function(spawned) };
        let result = catch_unwind(AssertUnwindSafe(function));
        // SAFETY: a job of these types, in place.
        let body = &unsafe { spawned.cast::<Self>().as_ref() }.body;
        // SAFETY: the function has been taken out, and nobody looks for the result yet.
        body.with_mut(|body| unsafe { (&raw mut (*body).result).write(ManuallyDrop::new(result)) });
    }

    unsafe fn take(spawned: NonNull<Header>, result: *mut ()) {
        // SAFETY: a job of these types, in place.
        let body = &unsafe { spawned.cast::<Self>().as_ref() }.body;
        // SAFETY: it is there, and taken once.
        let taken =
            ManuallyDrop::into_inner(body.with_mut(|body| unsafe { (&raw mut (*body).result).read() }));
        // SAFETY: room for it, by the caller's promise.
        unsafe { result.cast::<thread::Result<T>>().write(taken) };
    }

    unsafe fn discard(spawned: NonNull<Header>) {
        let mut result = MaybeUninit::<thread::Result<T>>::uninit();
        // SAFETY: passed on to the caller.
        unsafe { Self::take(spawned, result.as_mut_ptr().cast()) };
        // SAFETY: just put there.
        let result = unsafe { result.assume_init() };
        let panic = result.and_then(|value| catch_unwind(AssertUnwindSafe(|| drop(value)))).err();
        if let Some(panic) = panic {
            // SAFETY: a scope stays until all its jobs have been settled and all its promises have gone.
            unsafe { spawned.as_ref().core.as_ref() }.note(panic);
        }
    }
}
