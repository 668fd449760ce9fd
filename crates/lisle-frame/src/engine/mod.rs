//! The core of a world, to which its handles refer: the streams, which stream waits for which, and
//! the frame under way.
//!
//! The core belongs to one thread. The user's code runs while a frame is under way, and may call
//! back at any time, so no part of the core is borrowed while it runs. Streams that such code
//! removes are only noted; they are buried when no stream is being polled.

pub(crate) mod body;
pub(crate) mod branches;
mod by_head;
mod clock;
mod columns;
mod executors;
mod following;
mod frame;
pub(crate) mod group;
mod polling;
mod removing;
mod running;
pub(crate) mod saved;
mod settling;
pub(crate) mod slot;
pub(crate) mod waits;

use crate::current::unsuspended;
use crate::error::{Failure, Origin, StreamError};
use crate::foreign::Foreigns;
use crate::panics::forget_panic;
use body::Body;
use branches::OwnBranches;
use by_head::{ByHead, Heads};
use clock::Clock;
use columns::Column;
pub(crate) use following::Follows;
use group::{Group, Key, Kind};
use saved::Saved;
use slot::{Head, Phase, StateWord};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;
use waits::{Living, Waits};

/// Notes of a stream's futures about the poll under way, and about the work after it.
pub(crate) mod flags {
    /// The stream waits for a stream or a call within this frame.
    pub(crate) const WITHIN: u8 = 1;
    /// The stream has read a stream that has failed, or its call has failed; `Core::failure` has
    /// the error.
    pub(crate) const FAILED: u8 = 2;
    /// The queue of streams to poll is not empty, or there are streams to bury.
    pub(crate) const QUEUED: u8 = 4;
}

/// The functions of the waker with which streams are polled. They do nothing: the stream or call
/// that a stream waits for knows the stream.
static VTABLE: RawWakerVTable =
    RawWakerVTable::new(|_| RawWaker::new(std::ptr::null(), &VTABLE), |_| {}, |_| {}, |_| {});

/// A bit that no number of a world has.
pub(crate) const COSMETIC: u32 = 1 << 31;

/// A world.
pub(crate) struct Core {
    /// A number that only this world has; it is not 0.
    pub(crate) id: u32,
    /// The number of the frame, counted from 1, as far as it fits beside a phase.
    pub(crate) epoch: Cell<u32>,
    /// How many frames there have been. `restore` sets it back.
    pub(crate) frames: Cell<u64>,
    /// Whether there is a group of cosmetic streams.
    has_cosmetic: Cell<bool>,
    /// The number of frames of the cosmetic streams.
    turns: Cell<u64>,
    /// The time in the game. `restore` sets it back.
    pub(crate) time: Cell<Duration>,
    /// The time for cosmetic streams.
    time_of_turns: Cell<Duration>,
    /// How long a frame lasts in the game.
    pub(crate) step: Cell<Duration>,
    /// The state of a stream that has its value for this frame.
    pub(crate) ready: Cell<StateWord>,
    /// The state of a stream that had its value for the frame before, and so is due in this frame.
    usual: Cell<StateWord>,
    /// The stream that is being polled.
    pub(crate) current: Cell<Option<NonNull<Head>>>,
    /// A byte, because the compiler sets its bits by instructions for bytes: a wider load soon
    /// after would wait for the store.
    pub(crate) flags: Cell<u8>,
    failure: RefCell<Option<StreamError>>,
    errors: RefCell<ByHead<StreamError>>,
    queue: RefCell<VecDeque<Living>>,
    /// The number of streams that wait, or have waited and are in the queue.
    waiting: Cell<usize>,
    pub(crate) waits: Waits,
    groups: RefCell<Vec<Rc<Group>>>,
    by_key: RefCell<HashMap<Key, Rc<Group>>>,
    /// The groups that are run before all others.
    early: RefCell<Vec<Rc<Group>>>,
    /// The streams of last values, with the connections to their sources.
    follows: RefCell<Vec<(Living, Rc<dyn Follows>)>>,
    /// Whether the streams of last values have looked at their sources since the last frame.
    has_looked: Cell<bool>,
    /// The streams that each owner has made.
    owned: RefCell<ByHead<Vec<Living>>>,
    /// The streams that were made for each owner before it existed. They live as long as the owner.
    /// Of the streams that an owner has made itself, only the streams of its last run exist.
    kept: RefCell<ByHead<Vec<Living>>>,
    /// The list that runs and makes a member, with the streams that were made for the member so
    /// far.
    for_member: RefCell<Option<(NonNull<Head>, Vec<Living>)>>,
    has_owners: Cell<bool>,
    graves: RefCell<Vec<NonNull<Head>>>,
    /// The snapshots.
    saved: RefCell<Vec<Weak<Saved>>>,
    has_saved: Cell<bool>,
    /// Memory for the next snapshots: empty columns.
    spare_columns: RefCell<Vec<Vec<Option<Column>>>>,
    /// Whether removed streams are being buried. Streams that destructors remove meanwhile are
    /// buried by the same loop.
    burying: Cell<bool>,
    /// The streams whose bodies are run anew, and that wait over frames.
    restless: RefCell<Heads>,
    /// The branches of the scope that is being polled. Null stands for the branches of the stream's
    /// body.
    scope: Cell<*const OwnBranches>,
    /// The branches of bodies, by their streams.
    branches: RefCell<ByHead<Vec<Living>>>,
    /// Whether there is more work when a body ends, because some bodies wait over frames or have
    /// branches.
    has_loose_ends: Cell<bool>,
    /// The number of functions of the user that look at values.
    pub(crate) looking: Cell<usize>,
    /// Wakers of executors within streams, by the stream.
    wakers: RefCell<ByHead<Vec<Waker>>>,
    has_wakers: Cell<bool>,
    /// The position of the stack at the start of the frame.
    stack: Cell<usize>,
    in_frame: Cell<bool>,
    pub(crate) closed: Cell<bool>,
    foreigns: Foreigns,
    pub(crate) evaluated: Cell<usize>,
    pub(crate) clock: Clock,
}

/// Returns the current world.
#[inline(always)]
pub(crate) fn current<'a>() -> Option<&'a Core> {
    // SAFETY: null, or kept alive because it is entered, and only worlds are entered. The caller is
    // called by the world's frame; a caller that runs other streams meanwhile counts the reference.
    unsafe { crate::current::current().cast::<Core>().as_ref() }
}

/// Returns the current world.
pub(crate) fn current_counted() -> Option<Rc<Core>> {
    // The pointer is not made from a reference, because the counts beside the world could not be
    // reached through one.
    let core = crate::current::current().cast::<Core>();
    if core.is_null() {
        return None;
    }
    // SAFETY: worlds are in an `Rc`, and this one is alive.
    Some(unsafe {
        Rc::increment_strong_count(core);
        Rc::from_raw(core)
    })
}

impl Core {
    pub(crate) fn new(foreigns: Foreigns) -> Rc<Core> {
        static IDS: AtomicU32 = AtomicU32::new(1);
        // A number is never used again: a handle would be taken for a handle of the later world.
        let next = |id: u32| id.checked_add(1).filter(|next| *next < COSMETIC);
        let id = IDS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let id = id.expect("a program has made more than two billion worlds");
        Rc::new(Core {
            id,
            epoch: Cell::new(0),
            frames: Cell::new(0),
            has_cosmetic: Cell::new(false),
            turns: Cell::new(0),
            time: Cell::default(),
            time_of_turns: Cell::default(),
            step: Cell::new(Duration::from_nanos(16_666_667)),
            ready: Cell::new(StateWord::new(Phase::Settled, 0).and_value()),
            usual: Cell::new(StateWord::new(Phase::Vacant, 0)),
            current: Cell::new(None),
            flags: Cell::new(0),
            failure: RefCell::default(),
            errors: RefCell::default(),
            queue: RefCell::default(),
            waiting: Cell::new(0),
            waits: Waits::default(),
            groups: RefCell::default(),
            by_key: RefCell::default(),
            early: RefCell::default(),
            follows: RefCell::default(),
            has_looked: Cell::new(false),
            owned: RefCell::default(),
            kept: RefCell::default(),
            for_member: RefCell::default(),
            graves: RefCell::default(),
            saved: RefCell::default(),
            has_saved: Cell::new(false),
            spare_columns: RefCell::default(),
            burying: Cell::new(false),
            restless: RefCell::default(),
            scope: Cell::new(std::ptr::null()),
            branches: RefCell::default(),
            has_loose_ends: Cell::new(false),
            looking: Cell::new(0),
            wakers: RefCell::default(),
            has_wakers: Cell::new(false),
            has_owners: Cell::new(false),
            stack: Cell::new(0),
            in_frame: Cell::new(false),
            closed: Cell::new(false),
            foreigns,
            evaluated: Cell::new(0),
            clock: Clock::default(),
        })
    }

    #[inline(always)]
    pub(crate) fn foreigns(&self) -> &Foreigns {
        &self.foreigns
    }

    #[inline(always)]
    pub(crate) fn flag(&self, flag: u8) {
        self.flags.set(self.flags.get() | flag);
    }

    #[inline(always)]
    pub(crate) fn has_queued(&self) -> bool {
        self.flags.get() & flags::QUEUED != 0
    }

    /// Returns the waker with which streams are polled. The address of its functions tells it from
    /// the wakers of executors within streams. It leads back to the core: see
    /// [`of_context`](Core::of_context).
    #[inline(always)]
    fn waker(&self) -> Waker {
        // SAFETY: the functions do nothing.
        unsafe { Waker::new(std::ptr::from_ref(self).cast(), &VTABLE) }
    }

    /// Returns the world that polls a stream.
    ///
    /// # Safety
    ///
    /// The context is the one with which the stream itself is polled.
    #[inline(always)]
    pub(crate) unsafe fn of_context<'a>(cx: &Context<'a>) -> &'a Core {
        // SAFETY: made by `waker` of a world that runs its streams, by the caller's promise.
        unsafe { &*cx.waker().data().cast() }
    }

    /// Returns `true` if the stream had its value for the frame before, as most have.
    #[inline(always)]
    fn is_as_usual(&self, state: StateWord) -> bool {
        state == self.usual.get()
    }

    /// Returns `true` if the stream has to run in this frame, and has not run yet.
    #[inline(always)]
    pub(crate) fn is_due(&self, state: StateWord) -> bool {
        match state.phase() {
            Phase::Settled | Phase::Fresh => state.number() != self.epoch.get(),
            Phase::Failed => state.number() != 0 && state.number() != self.epoch.get(),
            _ => false,
        }
    }

    /// Returns the group for streams of a kind. The group is made for the first stream of the kind.
    pub(crate) fn group<T: Clone + 'static, F: Body>(&self, key: Key, kind: Kind) -> Rc<Group> {
        let mut by_key = self.by_key.borrow_mut();
        let number = by_key.len() as u32;
        by_key
            .entry(key)
            .or_insert_with(|| {
                let group = Rc::new(Group::new::<T, F>(key, kind, number));
                self.has_cosmetic.set(self.has_cosmetic.get() || key.is_cosmetic);
                let groups = if kind == Kind::Early { &self.early } else { &self.groups };
                groups.borrow_mut().push(group.clone());
                group
            })
            .clone()
    }

    /// Returns the number for a stream that is made now: it is due from the next frame on.
    pub(crate) fn birth(&self) -> u32 {
        if self.in_frame.get() { self.epoch.get() } else { 0 }
    }

    /// Runs a destructor of the user. The panic hook has reported its panic.
    fn guarded(&self, f: impl FnOnce()) {
        let (current, flags, failure) = (self.current.take(), self.flags.get(), self.failure.take());
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| unsuspended(f))) {
            forget_panic(panic);
        }
        self.current.set(current);
        self.flags.set(flags | self.flags.get() & flags::QUEUED);
        *self.failure.borrow_mut() = failure;
    }

    pub(crate) fn error_of(&self, pointer: NonNull<Head>) -> StreamError {
        let error = self.errors.borrow().get(&pointer).cloned();
        // SAFETY: slots live as long as the world.
        error.unwrap_or_else(|| self.removed(unsafe { Living::new(pointer) }))
    }

    fn forget_error(&self, pointer: NonNull<Head>) {
        let mut errors = self.errors.borrow_mut();
        if !errors.is_empty() {
            errors.remove(&pointer);
        }
    }

    /// Returns `true` if a stream is left out of snapshots.
    pub(crate) fn is_cosmetic(&self, pointer: NonNull<Head>) -> bool {
        // SAFETY: slots live as long as the world.
        unsafe { Group::of(pointer) }.key.is_cosmetic
    }

    /// Returns `true` if the stream that is being polled is left out of snapshots.
    #[inline]
    pub(crate) fn runs_cosmetic(&self) -> bool {
        self.has_cosmetic.get() && self.current.get().is_some_and(|pointer| self.is_cosmetic(pointer))
    }

    /// Returns the error of the stream that is being polled, which has read a cosmetic stream.
    #[cold]
    pub(crate) fn reads_cosmetic(&self, read: NonNull<Head>) -> StreamError {
        match self.current_origin() {
            Some(reader) => StreamError::new(Failure::Cosmetic { reader, stream: self.origin(read) }),
            None => StreamError::new(Failure::Outside),
        }
    }

    /// Returns the number of the frame, for the stream that is being polled.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        if self.has_cosmetic.get() { self.now_of_current() } else { self.frames.get() }
    }

    #[inline(never)]
    fn now_of_current(&self) -> u64 {
        if self.runs_cosmetic() { self.turns.get() } else { self.frames.get() }
    }

    /// Returns the time in the game, for the stream that is being polled.
    pub(crate) fn time_of_current(&self) -> Duration {
        if self.runs_cosmetic() { self.time_of_turns.get() } else { self.time.get() }
    }

    pub(crate) fn origin(&self, pointer: NonNull<Head>) -> Origin {
        // SAFETY: slots live as long as the world.
        unsafe { Group::of(pointer).origin(pointer) }
    }

    /// Returns the position of a slot in the world. It is the same in equal worlds.
    pub(crate) fn place(&self, pointer: NonNull<Head>) -> (u32, usize) {
        // SAFETY: slots live as long as the world.
        unsafe { Group::of(pointer).place(pointer) }
    }

    pub(crate) fn current_origin(&self) -> Option<Origin> {
        self.current.get().map(|pointer| self.origin(pointer))
    }

    pub(crate) fn count_evaluated(&self, streams: usize) {
        self.evaluated.set(self.evaluated.get() + streams);
    }

    pub(crate) fn set_epoch(&self, epoch: u32) {
        self.epoch.set(epoch);
        self.ready.set(StateWord::new(Phase::Settled, epoch).and_value());
    }

    /// Notes that the stream that is being polled, which is run anew in each frame, waits over
    /// frames.
    #[cold]
    pub(crate) fn waits_over_frames(&self) {
        if let Some(current) = self.current.get() {
            self.restless.borrow_mut().insert(current);
            self.has_loose_ends.set(true);
        }
    }

    /// Notes that the body of the stream that is being polled has ended.
    #[inline(always)]
    pub(crate) fn body_has_ended(&self) {
        if self.has_loose_ends.get()
            && let Some(current) = self.current.get()
        {
            self.end_loosely(current);
        }
    }

    /// Notes that the body of a stream has ended that may have waited over frames and may have
    /// branches.
    #[cold]
    fn end_loosely(&self, pointer: NonNull<Head>) {
        self.restless.borrow_mut().remove(&pointer);
        self.end_branches(pointer);
        let has_loose_ends = !self.restless.borrow().is_empty() || !self.branches.borrow().is_empty();
        self.has_loose_ends.set(has_loose_ends);
    }

    /// Returns `true` if all the state of a stream is its value.
    pub(crate) fn rests(&self, group: &Group, pointer: NonNull<Head>) -> bool {
        group.kind != Kind::Living && !self.restless.borrow().contains(&pointer)
    }

    /// Calls a function for each stream of the world.
    pub(crate) fn each_stream(&self, mut f: impl FnMut(&Group, NonNull<Head>, &Head)) {
        for group in self.early.borrow().iter().chain(self.groups.borrow().iter()) {
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                if head.is_alive() {
                    f(group, pointer, head);
                }
            });
        }
    }

    /// Looks at the clock, between streams: calls that wait for their batch to fill may have waited
    /// long enough.
    #[inline]
    pub(crate) fn look_at_the_clock(&self) {
        self.foreigns().look_at_the_clock();
    }
}
