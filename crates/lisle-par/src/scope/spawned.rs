//! A job: a function that is to be called, or its result, in recycled memory.
//!
//! Two parties have an interest in the memory: the [frame](super::frame) on which the job was
//! spawned, which makes sure that the job ends, and the promise. The last one to give up its
//! interest frees the memory. Three parties may want to begin the job: the frame, the thread that
//! has taken its `Job`, and a thread that waits for the promise on another stack. The first to set
//! [`CLAIMED`] begins it. If the frame's own stack waits for the promise and the job has not been
//! offered, no other party exists, and neither the interests nor [`CLAIMED`] is looked at.

use super::Core;
use super::frame::Frame;
use super::list::{Linked, Links};
use crate::cell::{Block, Contents};
use crate::event::{declare, gone, visible_on};
use crate::job::{Ancestor, Job};
use crate::shim::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::cell::{Cell, UnsafeCell};
use std::mem::{MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{NonNull, null};
use std::thread;

/// The job has been begun.
pub(super) const CLAIMED: u8 = 1;
/// The result lies in the memory of the job.
const DONE: u8 = 2;
/// The promise is gone.
pub(super) const PROMISE_GONE: u8 = 4;
/// The frame has settled the job.
const FRAME_GONE: u8 = 8;
/// The result has been taken out, or was never written.
pub(super) const TAKEN: u8 = 16;

/// The part that is the same for all jobs.
pub(super) struct Header {
    /// Accessed by the frame's thread, or under the lock of the list of strays.
    links: Links<Header>,
    state: AtomicU8,
    /// Whether the `Job` has been offered. Accessed by the frame's thread.
    pub(super) is_offered: Cell<bool>,
    /// Whether the job is in the list of strays. Accessed under the lock of that list.
    pub(super) is_astray: Cell<bool>,
    /// The frame in whose list the job is, if it was spawned there. Null for a stray, and from when
    /// the frame settles the job.
    home: AtomicPtr<Frame>,
    pub(super) core: NonNull<Core>,
    /// The level of the code on the frame's stack that spawned the job; 0 for a stray.
    pub(super) level: Cell<u64>,
    site: &'static Location<'static>,
    verbs: &'static Verbs,
    /// Initialized when the job is offered, or when its frame begins it while there is a promise.
    job: UnsafeCell<MaybeUninit<Job>>,
}

/// The functions that depend on the types of a job.
struct Verbs {
    call: unsafe fn(NonNull<Header>, Rest, *mut ()),
    run: unsafe fn(NonNull<Header>),
    run_alone: unsafe fn(NonNull<Header>) -> thread::Result<()>,
    contents: Contents,
}

/// What happens to the memory once the function has been taken out.
#[derive(Clone, Copy)]
pub(super) enum Rest {
    /// It is freed: no other party has an interest.
    Free,
    /// The promise's interest is released: the frame still has one.
    Release,
}

/// Creates a job that calls `function`.
#[inline]
pub(super) fn new<F: FnOnce() -> T, T>(
    function: F,
    core: &Core,
    home: *const Frame,
    site: &'static Location<'static>,
) -> NonNull<Header> {
    let place = Block::<Header, F, T>::room();
    let header = Header {
        links: Links::new(),
        state: AtomicU8::new(0),
        is_offered: Cell::new(false),
        is_astray: Cell::new(false),
        home: AtomicPtr::new(home.cast_mut()),
        core: NonNull::from(core),
        level: Cell::new(0),
        site,
        verbs: const {
            &Verbs {
                call: call_of::<F, T>,
                run: run::<F, T>,
                run_alone: run_alone_of::<F, T>,
                contents: Block::<Header, F, T>::CONTENTS,
            }
        },
        job: UnsafeCell::new(MaybeUninit::uninit()),
    };
    // SAFETY: the memory is for such a cell, and the caller's alone.
    unsafe { place.write(header) };
    // SAFETY: as above.
    unsafe { Block::<Header, F, T>::fill(place, function) };
    // A model has to see which thread asks whether the job has ended. SAFETY: just written.
    declare(&unsafe { place.as_ref() }.state);
    place
}

impl Linked for Header {
    #[inline]
    fn links(&self) -> &Links<Header> {
        &self.links
    }
}

impl Header {
    /// Returns `true` if the caller has claimed the job and may begin it. Returns `false` if
    /// another party has claimed it. If that party is not the holder of the promise, the `Job` has
    /// been initialized.
    pub(super) fn claim(&self) -> bool {
        // Release: the `Job` was initialized before. Acquire: a thread that finds the job claimed
        // may wait for the `Job`.
        self.state.fetch_or(CLAIMED, Ordering::AcqRel) & CLAIMED == 0
    }

    /// Returns `true` if the job has not begun, and only its frame could begin it, unless it is
    /// offered.
    #[inline]
    fn is_unpromised(&self) -> bool {
        self.state.load(Ordering::Acquire) & (PROMISE_GONE | CLAIMED) == PROMISE_GONE
    }

    /// Marks the job as offered. Returns `false` if it has been offered or has begun already. Only
    /// the frame's thread may call this.
    pub(super) fn is_to_be_offered(&self) -> bool {
        self.state.load(Ordering::Relaxed) & CLAIMED == 0 && !self.is_offered.replace(true)
    }

    /// Returns `true` if `frame` is where the job was spawned, and the job is still in its list.
    /// Only the thread of `frame` may call this.
    #[inline]
    pub(super) fn is_at_home(&self, frame: *const Frame) -> bool {
        // A frame that is gone may have had the same address as one that exists now, but its jobs
        // left home before.
        std::ptr::eq(self.home.load(Ordering::Relaxed), frame)
    }

    /// Marks the job as taken out of the list of its frame, which settles it. The function of the
    /// job, which runs then, may hold the job's own promise.
    pub(super) fn leave_home(&self) {
        self.home.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Lets other threads go on before the caller asks whether the job has ended, if a model wants
    /// that.
    pub(super) fn before_looking(&self) {
        visible_on(&self.state);
    }

    pub(super) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// Returns the `Job`.
    ///
    /// # Safety
    ///
    /// The `Job` has been initialized.
    pub(super) unsafe fn job(&self) -> &Job {
        // SAFETY: the `Job` was initialized, and since then it has been changed only by its own
        // methods.
        unsafe { (*self.job.get()).assume_init_ref() }
    }
}

/// Returns the address of the `Job` of `spawned`.
fn job_of(spawned: NonNull<Header>) -> NonNull<Job> {
    // SAFETY: the `Job` is a field of the value at the pointer.
    unsafe { spawned.byte_add(offset_of!(Header, job)) }.cast()
}

/// Initializes the `Job`, as a descendant of `within`.
///
/// # Safety
///
/// The job is in place and its `Job` is not initialized. The frame's thread calls this, before any
/// other thread could look for the `Job`.
pub(super) unsafe fn make_job(spawned: NonNull<Header>, within: *const Ancestor) -> NonNull<Job> {
    let job = job_of(spawned);
    // SAFETY: the job is in place.
    let this = unsafe { spawned.as_ref() };
    // SAFETY: the memory belongs to the job, and no other thread reads it yet.
    unsafe { job.write(Job::new(run_job, Ancestor::new(within, this.level.get()), this.site)) };
    job
}

/// Runs a job whose `Job` was taken by another thread.
///
/// # Safety
///
/// It is the `Job` of a job, and the caller has taken it.
unsafe fn run_job(job: NonNull<Job>) {
    // SAFETY: the `Job` is this field of a job, which stays in place until the `Job` is done.
    let spawned = unsafe { job.byte_sub(offset_of!(Header, job)) }.cast::<Header>();
    // SAFETY: the job is in place, as above.
    let this = unsafe { spawned.as_ref() };
    if this.claim() {
        // SAFETY: a scope stays in place until all its jobs have ended.
        let core = unsafe { this.core.as_ref() };
        // SAFETY: the caller has claimed the job. `run` does not unwind.
        let _ = Frame::within(core, false, || unsafe { (this.verbs.run)(spawned) });
        this.state.fetch_or(DONE, Ordering::Release);
    }
}

/// Makes sure that a job ends, and gives up the interest of its frame. `settle` takes an offered
/// `Job` back and returns `true`, or waits until the thread that has taken it has run it and
/// returns `false`.
///
/// # Safety
///
/// The thread of the frame has taken the job out of the frame's list, and the frame does not use it
/// afterwards.
pub(super) unsafe fn settle(spawned: NonNull<Header>, settle: impl FnOnce(&Job) -> bool) {
    // SAFETY: the frame has an interest in the job, so it is in place.
    let this = unsafe { spawned.as_ref() };
    let is_offered = this.is_offered.get();
    if !is_offered && this.is_unpromised() {
        // SAFETY: there is neither a promise nor an offered `Job`, so no other party exists.
        return unsafe { run_alone(spawned) };
    }
    if !is_offered {
        // The holder of the promise may wait for the `Job`. SAFETY: it has not been initialized,
        // and no other thread reads it before the job has been claimed.
        unsafe { make_job(spawned, null()) };
    }
    // SAFETY: the `Job` was initialized just now, or when it was offered.
    let is_ours = !is_offered || settle(unsafe { this.job() });
    if is_ours && this.claim() {
        // SAFETY: the caller has claimed the job.
        unsafe { run_at_home(spawned) };
    }
    // SAFETY: the interest is the frame's, and is given up once.
    unsafe { release(spawned, FRAME_GONE) };
}

/// Returns the result of a job that another party has begun, after `wait` has waited for its `Job`.
///
/// # Safety
///
/// The caller holds the promise, on another stack than the frame's, has found the job claimed, and
/// does not use it afterwards. `T` is the result type of the job.
pub(super) unsafe fn fetch<T>(spawned: NonNull<Header>, wait: impl FnOnce(&Job)) -> thread::Result<T> {
    // SAFETY: the promise has an interest in the job. The job was claimed by a party that does not
    // hold the promise, so the `Job` has been initialized.
    wait(unsafe { spawned.as_ref().job() });
    // SAFETY: the job is done.
    let result = unsafe { take(spawned) };
    // SAFETY: the interest is the promise's.
    unsafe { release(spawned, PROMISE_GONE | TAKEN) };
    result
}

/// Runs a job in its own frame, while there may be a promise and its holder may wait for the `Job`.
///
/// # Safety
///
/// The caller, which is the frame's thread, has claimed the job.
unsafe fn run_at_home(spawned: NonNull<Header>) {
    // SAFETY: the frame has an interest, so the job is in place.
    let this = unsafe { spawned.as_ref() };
    // SAFETY: the caller has claimed the job.
    unsafe { (this.verbs.run)(spawned) };
    this.state.fetch_or(DONE, Ordering::Release);
    // SAFETY: the `Job` was initialized before the job was claimed, and no other thread has it: it
    // was taken back if it had been offered.
    unsafe { Job::finish(job_of(spawned)) };
}

/// Runs a job in which only the caller has an interest.
///
/// # Safety
///
/// Only the caller has an interest in the job, and the job has not been claimed.
unsafe fn run_alone(spawned: NonNull<Header>) {
    // SAFETY: the job is in place.
    let this = unsafe { spawned.as_ref() };
    let core = this.core;
    // SAFETY: no other party claims the job, or has an interest in it.
    if let Err(panic) = unsafe { (this.verbs.run_alone)(spawned) } {
        // SAFETY: a scope stays in place until all its jobs have been settled.
        unsafe { core.as_ref() }.note(panic);
    }
}

/// Calls the function of a job and returns its result.
///
/// # Safety
///
/// The caller owns the job: it has claimed it or, if `rest` says so, no other party has an interest
/// in it. It does not use the job afterwards. `T` is the result type of the job.
#[inline]
pub(super) unsafe fn call<T>(spawned: NonNull<Header>, rest: Rest) -> T {
    let mut result = MaybeUninit::<T>::uninit();
    // SAFETY: the job is in place.
    let call = unsafe { spawned.as_ref() }.verbs.call;
    // SAFETY: the caller's contract is passed on.
    unsafe { call(spawned, rest, result.as_mut_ptr().cast()) };
    // SAFETY: the call has not unwound, so the result has been written.
    unsafe { result.assume_init() }
}

/// Takes the result of a job.
///
/// # Safety
///
/// The job is done, `T` is its result type, and only the holder of the promise calls this, once.
pub(super) unsafe fn take<T>(spawned: NonNull<Header>) -> thread::Result<T> {
    let mut result = MaybeUninit::uninit();
    // SAFETY: the job is in place.
    let contents = &unsafe { spawned.as_ref() }.verbs.contents;
    // SAFETY: passed on to the caller.
    unsafe { contents.take(spawned, &mut result) };
    // SAFETY: just written.
    unsafe { result.assume_init() }
}

/// Drops the result of a job. A panic is noted in the scope.
///
/// # Safety
///
/// The job is done, and its result has not been taken and will not be.
unsafe fn discard(spawned: NonNull<Header>) {
    // SAFETY: the job is in place.
    let this = unsafe { spawned.as_ref() };
    // SAFETY: passed on to the caller.
    if let Err(panic) = unsafe { this.verbs.contents.drop_result(spawned) } {
        // SAFETY: a scope stays in place until all its jobs have been settled and all its promises
        // are gone.
        unsafe { this.core.as_ref() }.note(panic);
    }
}

/// Frees the memory of a job out of which everything has been taken.
///
/// # Safety
///
/// Everything has been taken out of the job, and no other party has an interest in it.
pub(super) unsafe fn free(spawned: NonNull<Header>) {
    // SAFETY: the job is in place.
    let this = unsafe { spawned.as_ref() };
    gone(&this.state);
    // SAFETY: passed on to the caller.
    unsafe { this.verbs.contents.free(spawned) };
}

/// Gives up an interest: `interest` is [`PROMISE_GONE`], perhaps with [`TAKEN`], or [`FRAME_GONE`].
///
/// # Safety
///
/// The interest belonged to the caller, which does not use the job afterwards.
pub(super) unsafe fn release(spawned: NonNull<Header>, interest: u8) {
    // SAFETY: the caller has an interest, so the job is in place.
    let this = unsafe { spawned.as_ref() };
    let state = this.state.fetch_or(interest, Ordering::AcqRel) | interest;
    if state & (PROMISE_GONE | FRAME_GONE) == PROMISE_GONE | FRAME_GONE {
        if state & (DONE | TAKEN) == DONE {
            // SAFETY: there is a result, and no other party will take it.
            unsafe { discard(spawned) };
        }
        // SAFETY: that was the last interest, and the job is empty.
        unsafe { free(spawned) };
    }
}

/// # Safety
///
/// As for [`free`]. The types are those of `new`.
unsafe fn free_of<F: FnOnce() -> T, T>(spawned: NonNull<Header>) {
    // SAFETY: the job is in place.
    gone(&unsafe { spawned.as_ref() }.state);
    // SAFETY: passed on to the caller.
    unsafe { Block::<Header, F, T>::CONTENTS.free(spawned) };
}

/// # Safety
///
/// As for [`call`]. The types are those of `new`, and `result` has room for a `T`.
unsafe fn call_of<F: FnOnce() -> T, T>(spawned: NonNull<Header>, rest: Rest, result: *mut ()) {
    // SAFETY: the caller owns the job, whose function has not been taken out.
    let function = unsafe { Block::<Header, F, T>::take_start(spawned) };
    match rest {
        // SAFETY: no other party has an interest, and nothing is left in the job.
        Rest::Free => unsafe { free_of::<F, T>(spawned) },
        // SAFETY: the caller holds the promise, and nothing is left in the job.
        Rest::Release => unsafe { release(spawned, PROMISE_GONE | TAKEN) },
    }
    let value = function();
    // SAFETY: the caller guarantees that `result` has room for a `T`.
    unsafe { result.cast::<T>().write(value) };
}

/// # Safety
///
/// The caller has claimed the job, or no other party can. The types are those of `new`.
unsafe fn run<F: FnOnce() -> T, T>(spawned: NonNull<Header>) {
    // SAFETY: the function has not been taken out, and no other code refers to the body.
    let function = unsafe { Block::<Header, F, T>::take_start(spawned) };
    let result = catch_unwind(AssertUnwindSafe(function));
    // SAFETY: the function has been taken out, and no other thread reads the result yet.
    unsafe { Block::<Header, F, T>::put_result(spawned, result) };
}

/// Runs a job, drops its result, and frees it. Returns a panic as the error.
///
/// # Safety
///
/// As for [`run_alone`]. The types are those of `new`.
unsafe fn run_alone_of<F: FnOnce() -> T, T>(spawned: NonNull<Header>) -> thread::Result<()> {
    // SAFETY: the function has not been taken out, and no other code refers to the body.
    let function = unsafe { Block::<Header, F, T>::take_start(spawned) };
    let result = catch_unwind(AssertUnwindSafe(function));
    // SAFETY: nothing is left in the job.
    unsafe { free_of::<F, T>(spawned) };
    Block::<Header, F, T>::discard(result)
}
