//! What a world is behind its handles: the streams, who waits for whom, and the frame under way.
//!
//! Everything here belongs to one thread. The user's code runs while a frame is under way and may
//! call back at any time, so that no part is borrowed while it does; what such code may remove is
//! only noted, and buried where no stream is being polled.

use crate::clock::Clock;
use crate::error::{Failure, Origin, StreamError, message};
use crate::foreign::Foreigns;
use crate::streams::group::{Group, Key, Kind};
use crate::streams::slot::{GREATEST, Head, Phase, State};
use crate::streams::waits::{Living, Waits};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

/// What the futures of a stream tell about the poll under way, and what is to do after it.
pub(crate) mod flags {
    /// The stream waits for something within this frame.
    pub(crate) const WITHIN: u8 = 1;
    /// The stream has read or called what has failed; `Core::failure` says what.
    pub(crate) const FAILED: u8 = 2;
    /// The queue of streams to poll is not empty, or something is to be buried.
    pub(crate) const QUEUED: u8 = 4;
}

/// So deep may streams that read each other be polled within each other, in bytes of the stack. What
/// is deeper is polled from the queue.
const DEEPEST: usize = 24 << 10;

/// The waker that streams are polled with. It does nothing: what they wait for knows them.
///
/// It is told by its address from those of executors within streams, and so is not `Waker::noop`, of
/// which there may be several.
pub(crate) static WAKER: Waker = {
    // SAFETY: the functions do nothing.
    unsafe { Waker::new(std::ptr::null(), &VTABLE) }
};
static VTABLE: RawWakerVTable =
    RawWakerVTable::new(|_| RawWaker::new(std::ptr::null(), &VTABLE), |_| {}, |_| {}, |_| {});

/// A world.
pub(crate) struct Core {
    /// Tells worlds apart; it is not 0.
    pub(crate) id: u32,
    /// The number of the frame, counted from 1, as far as it fits beside a phase.
    pub(crate) epoch: Cell<u32>,
    /// How many frames there have been.
    pub(crate) frames: Cell<u64>,
    /// The state of a stream that has its value for this frame.
    pub(crate) ready: Cell<State>,
    /// The stream that is being polled.
    pub(crate) current: Cell<Option<NonNull<Head>>>,
    /// A byte, since the compiler sets bits of it by instructions for bytes: a wider load soon after
    /// would wait for the store.
    pub(crate) flags: Cell<u8>,
    failure: RefCell<Option<StreamError>>,
    errors: RefCell<HashMap<NonNull<Head>, StreamError>>,
    queue: RefCell<VecDeque<Living>>,
    /// How many streams wait, or are in the queue and have waited.
    waiting: Cell<usize>,
    pub(crate) waits: Waits,
    groups: RefCell<Vec<Rc<Group>>>,
    by_key: RefCell<HashMap<Key, Rc<Group>>>,
    /// The groups that are run before all others.
    early: RefCell<Vec<Rc<Group>>>,
    /// What was made by each owner.
    owned: RefCell<HashMap<NonNull<Head>, Vec<Living>>>,
    has_owners: Cell<bool>,
    graves: RefCell<Vec<NonNull<Head>>>,
    /// Streams that are run anew, and wait over frames.
    restless: RefCell<HashSet<NonNull<Head>>>,
    has_restless: Cell<bool>,
    /// How many functions of the user's look at values.
    pub(crate) looking: Cell<usize>,
    /// Wakers of executors within streams, with the stream.
    wakers: RefCell<Vec<(NonNull<Head>, Waker)>>,
    has_wakers: Cell<bool>,
    /// Where the stack was at the start of the frame.
    stack: Cell<usize>,
    in_frame: Cell<bool>,
    pub(crate) closed: Cell<bool>,
    foreigns: Foreigns,
    pub(crate) evaluated: Cell<usize>,
    pub(crate) clock: Clock,
}

thread_local! {
    /// The worlds whose frames are under way on this thread, the innermost last. Fibers may end their
    /// frames in another order than they have begun them.
    static ENTERED: RefCell<Vec<Rc<Core>>> = const { RefCell::new(Vec::new()) };
    /// The one whose streams run.
    static CURRENT: Cell<*const Core> = const { Cell::new(std::ptr::null()) };
}

/// Makes a world the current one until it is dropped.
pub(crate) struct Entered(Rc<Core>);

impl Entered {
    pub(crate) fn new(core: &Rc<Core>) -> Entered {
        ENTERED.with_borrow_mut(|entered| entered.push(core.clone()));
        CURRENT.set(Rc::as_ptr(core));
        Entered(core.clone())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(at) = entered.iter().rposition(|core| Rc::ptr_eq(core, &self.0)) {
                entered.remove(at);
            }
            CURRENT.set(entered.last().map_or(std::ptr::null(), Rc::as_ptr));
        });
    }
}

/// Calls a function of the host program's in a frame, between streams. Other fibers of the thread may
/// run meanwhile, and are in no frame.
pub(crate) fn outside_of_frames(f: impl FnOnce()) {
    struct Back(*const Core);
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _back = Back(CURRENT.replace(std::ptr::null()));
    f();
}

/// Returns the current world.
#[inline(always)]
pub(crate) fn current<'a>() -> Option<&'a Core> {
    let core = CURRENT.get();
    // SAFETY: null, or kept alive by an `Entered`. Who calls this is called by its frame; who runs
    // other streams meanwhile counts the reference.
    unsafe { core.as_ref() }
}

/// Returns the current world.
pub(crate) fn current_counted() -> Option<Rc<Core>> {
    let core = CURRENT.get();
    if core.is_null() {
        return None;
    }
    // SAFETY: not null, hence of an `Rc`, and kept alive by an `Entered`.
    Some(unsafe {
        Rc::increment_strong_count(core);
        Rc::from_raw(core)
    })
}

impl Core {
    pub(crate) fn new(foreigns: Foreigns) -> Rc<Core> {
        static IDS: AtomicU32 = AtomicU32::new(1);
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        assert_ne!(id, 0, "a program can have four billion worlds");
        Rc::new(Core {
            id,
            epoch: Cell::new(0),
            frames: Cell::new(0),
            ready: Cell::new(State::new(Phase::Settled, 0).and_value()),
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
            owned: RefCell::default(),
            graves: RefCell::default(),
            restless: RefCell::default(),
            has_restless: Cell::new(false),
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

    /// Returns `true` if the stream has not run in this frame, and is to.
    #[inline(always)]
    pub(crate) fn is_due(&self, state: State) -> bool {
        if state.phase() == Phase::Settled {
            return state.number() != self.epoch.get();
        }
        match state.phase() {
            Phase::Fresh => state.number() != self.epoch.get(),
            Phase::Failed => state.number() != 0 && state.number() != self.epoch.get(),
            _ => false,
        }
    }

    /// Returns the group for streams of a kind, which is made if it is the first.
    pub(crate) fn group<T: Clone + 'static, F: Future<Output = ()> + 'static>(
        &self,
        key: Key,
        kind: Kind,
    ) -> Rc<Group> {
        let mut by_key = self.by_key.borrow_mut();
        by_key
            .entry(key)
            .or_insert_with(|| {
                let group = Rc::new(Group::new::<T, F>(key, kind));
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

    pub(crate) fn own(&self, owner: Option<Living>, child: Living) {
        let running = self.current.get().filter(|_| self.in_frame.get());
        // SAFETY: what runs lives in a piece of this world.
        let owner = owner.or_else(|| running.map(|head| unsafe { Living::new(head) }));
        if let Some(owner) = owner {
            if owner.get().is_none() {
                return self.remove(child);
            }
            self.has_owners.set(true);
            self.owned.borrow_mut().entry(owner.head).or_default().push(child);
        }
    }

    /// Removes what a stream has made.
    #[inline(always)]
    pub(crate) fn remove_owned(&self, owner: NonNull<Head>) {
        if self.has_owners.get() {
            self.remove_all_owned(owner);
        }
    }

    #[cold]
    fn remove_all_owned(&self, owner: NonNull<Head>) {
        let children = self.owned.borrow_mut().remove(&owner);
        children.into_iter().flatten().for_each(|child| self.remove(child));
        self.has_owners.set(!self.owned.borrow().is_empty());
    }

    /// Removes a stream. Its future and its value are dropped as soon as no stream is being polled
    /// and no function of the user's looks at a value.
    pub(crate) fn remove(&self, stream: Living) {
        let Some(head) = stream.get() else { return };
        head.generation.set(head.generation.get() + 1);
        let state = head.state.get();
        let (phase, list) = (state.phase(), state.number());
        if phase != Phase::Running {
            self.becomes_vacant(stream.head, state);
        }
        if matches!(phase, Phase::Running | Phase::Waiting | Phase::Queued) {
            if phase == Phase::Running {
                head.state.set(State::new(phase, 0).with_value(state));
            } else {
                self.waiting.set(self.waiting.get() - 1);
            }
            self.wake_readers(list);
        }
        if !self.in_frame.get() && self.looking.get() == 0 {
            self.bury();
        }
    }

    /// Notes that a removed stream is to be buried.
    fn becomes_vacant(&self, pointer: NonNull<Head>, state: State) {
        let has_future = match state.phase() {
            Phase::Ended => false,
            Phase::Failed => state.number() != 0,
            _ => true,
        };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        head.state.set(State::new(Phase::Vacant, u32::from(has_future)).with_value(state));
        self.graves.borrow_mut().push(pointer);
        self.flag(flags::QUEUED);
    }

    /// Drops what has been removed. No stream is being polled, and no value is being looked at.
    fn bury(&self) {
        loop {
            let Some(pointer) = self.graves.borrow_mut().pop() else { return };
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            let state = head.state.get();
            if state.number() == 1 {
                // SAFETY: it has a future, which is not being polled.
                self.guarded(|| unsafe { group.drop_future(pointer) });
            }
            if state.has_value() {
                // SAFETY: it has a value, which nobody looks at.
                self.guarded(|| unsafe { group.drop_value(pointer) });
            }
            self.errors.borrow_mut().remove(&pointer);
            self.restless.borrow_mut().remove(&pointer);
            self.remove_owned(pointer);
            group.give_slot(pointer);
        }
    }

    /// Runs a destructor of the user's. Its panic has been reported by the panic hook.
    fn guarded(&self, f: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            forget_panic(panic);
        }
    }

    /// Notes that a stream waits within the frame.
    #[inline(always)]
    pub(crate) fn waits(&self, head: &Head) {
        self.flags.set(0);
        self.waiting.set(self.waiting.get() + 1);
        head.state.set(head.state.get().in_phase(Phase::Waiting));
    }

    /// Notes what came of a poll, where that is not simply a value.
    #[inline(never)]
    pub(crate) fn settle(&self, pointer: NonNull<Head>, ended: bool) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        let (flags, state) = (self.flags.get(), head.state.get());
        self.flags.set(flags & flags::QUEUED);
        let failure = self.failure.borrow_mut().take();
        if !head.is_alive() {
            if ended {
                // SAFETY: it has one, and its poll is over.
                self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
                return self.becomes_vacant(pointer, State::new(Phase::Ended, 0).with_value(state));
            }
            return self.becomes_vacant(pointer, state);
        }
        let next = if ended {
            head.state.set(State::new(Phase::Ended, 0).with_value(state));
            // SAFETY: it has one, and its poll is over.
            self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
            State::new(Phase::Ended, 0)
        } else if let Some(error) = failure.filter(|_| flags & flags::FAILED != 0) {
            self.errors.borrow_mut().insert(pointer, error);
            State::new(Phase::Failed, self.epoch.get())
        } else if flags & flags::WITHIN != 0 {
            self.waiting.set(self.waiting.get() + 1);
            return head.state.set(state.in_phase(Phase::Waiting));
        } else {
            State::new(Phase::Settled, self.epoch.get())
        };
        head.state.set(next.with_value(state));
        self.wake_readers(state.number());
    }

    /// Notes that the body that is being polled has panicked. It will not run again.
    pub(crate) fn has_panicked(&self, panic: &(dyn Any + Send)) {
        let Some(pointer) = self.current.get() else { return };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        self.flags.set(self.flags.get() & flags::QUEUED);
        self.failure.borrow_mut().take();
        if head.phase() != Phase::Running {
            return;
        }
        let error = StreamError::new(Failure::Panicked(self.origin(pointer), message(panic)));
        self.fail_for_good(pointer, error);
    }

    fn fail_for_good(&self, pointer: NonNull<Head>, error: StreamError) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        let state = head.state.get();
        head.state.set(State::new(Phase::Failed, 0).with_value(state));
        // SAFETY: its poll is over; it has one, since what has none is not polled.
        self.guarded(|| unsafe { Group::of(pointer).drop_future(pointer) });
        if !head.is_alive() {
            return self.becomes_vacant(pointer, State::new(Phase::Failed, 0).with_value(state));
        }
        self.errors.borrow_mut().insert(pointer, error);
        self.wake_readers(state.number());
    }

    /// Lets the stream that is being polled fail in this frame.
    pub(crate) fn fail_current(&self, error: StreamError) {
        // The first failure is the reason of what follows.
        self.failure.borrow_mut().get_or_insert(error);
        self.flag(flags::FAILED);
    }

    /// Returns `true` if the poll under way has met something to wait for within the frame.
    pub(crate) fn waits_within(&self) -> bool {
        self.flags.get() & flags::WITHIN != 0
    }

    /// Returns `true` if the poll under way has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.flags.get() & flags::FAILED != 0
    }

    pub(crate) fn error_of(&self, pointer: NonNull<Head>) -> StreamError {
        let error = self.errors.borrow().get(&pointer).cloned();
        error.unwrap_or_else(|| StreamError::new(Failure::Removed))
    }

    pub(crate) fn origin(&self, pointer: NonNull<Head>) -> Origin {
        // SAFETY: slots live as long as the world.
        unsafe { Group::of(pointer).origin(pointer) }
    }

    pub(crate) fn current_origin(&self) -> Option<Origin> {
        self.current.get().map(|pointer| self.origin(pointer))
    }

    fn wake_readers(&self, mut list: u32) {
        while let Some((reader, rest)) = self.waits.pop(list) {
            list = rest;
            if let Some(head) = reader.get()
                && head.phase() == Phase::Waiting
            {
                head.state.set(head.state.get().in_phase(Phase::Queued));
                self.enqueue(reader);
            }
        }
    }

    fn enqueue(&self, stream: Living) {
        self.queue.borrow_mut().push_back(stream);
        self.flag(flags::QUEUED);
    }

    /// Notes that the stream that is being polled waits for another one.
    pub(crate) fn block_on(&self, target: NonNull<Head>) {
        self.flag(flags::WITHIN);
        let Some(reader) = self.current.get() else { return };
        // SAFETY: slots live as long as the world.
        let (reader, target) = unsafe { (Living::new(reader), Living::new(target)) };
        let Some(head) = target.get() else { return };
        let state = head.state.get();
        let list = self.waits.add(state.number(), reader, target);
        head.state.set(State::new(state.phase(), list).with_value(state));
    }

    /// Runs a stream because it is read, unless that is too deep in the stack: then it is queued.
    /// Returns `true` if it has run.
    pub(crate) fn demand(&self, pointer: NonNull<Head>) -> bool {
        let here = 0u8;
        if (&raw const here).addr().abs_diff(self.stack.get()) > DEEPEST {
            return false;
        }
        let (current, flags) = (self.current.get(), self.flags.replace(0));
        let failure = self.failure.borrow_mut().take();
        self.count_evaluated(1);
        // SAFETY: what is due has a future and is not running.
        let poll = || unsafe { Group::of(pointer).poll(self, pointer) };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(poll)) {
            self.has_panicked(&*panic);
            forget_panic(panic);
        }
        self.current.set(current);
        self.flag(flags);
        *self.failure.borrow_mut() = failure;
        true
    }

    /// Runs a stream that was just made, as if it were read.
    pub(crate) fn start(&self, pointer: NonNull<Head>) {
        if !self.demand(pointer) {
            self.demand_later(pointer);
        }
    }

    /// Queues a stream that is due, and read from too deep in the stack.
    pub(crate) fn demand_later(&self, pointer: NonNull<Head>) {
        // SAFETY: slots live as long as the world.
        let (stream, head) = unsafe { (Living::new(pointer), pointer.as_ref()) };
        self.count_evaluated(1);
        self.waiting.set(self.waiting.get() + 1);
        head.state.set(State::new(Phase::Queued, 0).with_value(head.state.get()));
        self.enqueue(stream);
    }

    /// Returns `true` if the stream can be run, and has not run in this frame.
    pub(crate) fn is_runnable(&self, state: State) -> bool {
        state.phase() == Phase::Fresh || self.is_due(state)
    }

    /// Polls a stream that was queued.
    fn poll(&self, stream: Living) {
        let Some(head) = stream.get() else { return };
        if !matches!(head.phase(), Phase::Waiting | Phase::Queued) {
            return;
        }
        self.waiting.set(self.waiting.get() - 1);
        self.wake_executors(stream.head);
        // SAFETY: alive and waiting, and hence with a future and not running.
        unsafe { Group::of(stream.head).poll(self, stream.head) };
    }

    /// Polls a stream one of whose calls has ended. A panic of it goes on.
    #[inline]
    pub(crate) fn deliver_to(&self, pointer: NonNull<Head>) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        if matches!(head.phase(), Phase::Waiting | Phase::Queued) {
            self.waiting.set(self.waiting.get() - 1);
            if self.has_wakers.get() {
                self.wake_executors(pointer);
            }
            // SAFETY: it waits, and hence has a future and is not running.
            unsafe { Group::of(pointer).poll(self, pointer) };
        }
    }

    /// Polls what is in the queue, and buries what has been removed. No stream is being polled.
    pub(crate) fn drain(&self) {
        while self.has_queued() {
            self.flags.set(self.flags.get() & !flags::QUEUED);
            let all = || {
                loop {
                    let Some(next) = self.queue.borrow_mut().pop_front() else { return };
                    self.poll(next);
                }
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(all)) {
                self.has_panicked(&*panic);
                forget_panic(panic);
                self.flag(flags::QUEUED);
            }
            if self.looking.get() == 0 {
                self.bury();
            }
        }
    }

    pub(crate) fn count_evaluated(&self, streams: usize) {
        self.evaluated.set(self.evaluated.get() + streams);
    }

    /// Keeps the waker of an executor within the stream that is being polled.
    #[inline(always)]
    pub(crate) fn keep_waker(&self, waker: &Waker) {
        if !std::ptr::eq(waker.vtable(), &VTABLE) {
            self.keep_executors_waker(waker);
        }
    }

    #[cold]
    fn keep_executors_waker(&self, waker: &Waker) {
        if let Some(current) = self.current.get() {
            self.has_wakers.set(true);
            self.wakers.borrow_mut().push((current, waker.clone()));
        }
    }

    /// Wakes the executors within a stream, since it is polled next.
    fn wake_executors(&self, pointer: NonNull<Head>) {
        loop {
            let mut wakers = self.wakers.borrow_mut();
            let Some(at) = wakers.iter().position(|(head, _)| *head == pointer) else { return };
            let (_, waker) = wakers.swap_remove(at);
            drop(wakers);
            self.guarded(|| waker.wake());
        }
    }

    fn wake_all_executors(&self) {
        if !self.has_wakers.replace(false) {
            return;
        }
        let wakers = std::mem::take(&mut *self.wakers.borrow_mut());
        wakers.into_iter().for_each(|(_, waker)| self.guarded(|| waker.wake()));
    }

    pub(crate) fn set_epoch(&self, epoch: u32) {
        self.epoch.set(epoch);
        self.ready.set(State::new(Phase::Settled, epoch).and_value());
    }

    /// Notes whether the stream that is being polled, which is run anew in each frame, waits over
    /// frames.
    #[inline(always)]
    pub(crate) fn waits_over_frames(&self, waits: bool) {
        if waits || self.has_restless.get() {
            self.note_restless(waits);
        }
    }

    #[cold]
    fn note_restless(&self, waits: bool) {
        let Some(current) = self.current.get() else { return };
        let mut restless = self.restless.borrow_mut();
        if waits {
            restless.insert(current);
        } else {
            restless.remove(&current);
        }
        self.has_restless.set(!restless.is_empty());
    }

    /// Returns `true` if all the state of a stream is its value.
    pub(crate) fn rests(&self, group: &Group, pointer: NonNull<Head>) -> bool {
        group.kind != Kind::Living && !self.restless.borrow().contains(&pointer)
    }

    /// Evaluates each stream once.
    pub(crate) fn frame(self: &Rc<Core>) {
        let _entered = Entered::new(self);
        let _in_frame = InFrame::new(self);
        let here = 0u8;
        self.stack.set((&raw const here).addr());
        self.frames.set(self.frames.get() + 1);
        self.set_epoch(self.epoch.get() % GREATEST + 1);
        self.wake_all_executors();
        self.flag(flags::QUEUED);
        self.drain();
        for groups in [&self.early, &self.groups] {
            let mut index = 0;
            loop {
                let Some(group) = groups.borrow().get(index).cloned() else { break };
                group.run(self);
                index += 1;
            }
        }
        self.drain();
        self.clock.streams_have_run();
        loop {
            self.foreigns().retire_all(self);
            if self.waiting.get() == 0 {
                break;
            }
            self.end_circles();
            self.drain();
        }
    }

    /// Lets the streams fail that wait for each other, when nothing else is to be waited for.
    fn end_circles(&self) {
        let circles = self.waits.circles();
        for circle in &circles {
            let origins = circle.iter().map(|head| self.origin(*head)).collect::<Vec<_>>();
            let error = StreamError::new(Failure::Cycle(origins));
            for pointer in circle {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                self.waiting.set(self.waiting.get() - 1);
                self.errors.borrow_mut().insert(*pointer, error.clone());
                head.state.set(State::new(Phase::Failed, self.epoch.get()).with_value(state));
                self.wake_readers(state.number());
            }
        }
        if circles.is_empty() {
            self.end_lost_waits();
        }
    }

    /// Ends the waits of streams that wait within the frame for nothing that could end in it, as a
    /// stream does that has dropped what it waited for. They keep their values.
    fn end_lost_waits(&self) {
        for group in self.groups.borrow().iter().chain(self.early.borrow().iter()) {
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let state = head.state.get();
                if state.phase() == Phase::Waiting {
                    self.waiting.set(self.waiting.get() - 1);
                    head.state.set(State::new(Phase::Settled, self.epoch.get()).with_value(state));
                    self.wake_readers(state.number());
                }
            });
        }
    }

    /// Calls a function for each stream that is there.
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

    /// Removes all streams. Nothing can be made any more.
    pub(crate) fn close(self: &Rc<Core>) {
        self.closed.set(true);
        let _entered = Entered::new(self);
        let mut all = Vec::new();
        // SAFETY: slots live as long as the world.
        self.each_stream(|_, pointer, _| all.push(unsafe { Living::new(pointer) }));
        self.current.set(None);
        all.into_iter().for_each(|stream| self.remove(stream));
        self.bury();
        self.wakers.borrow_mut().clear();
    }

    /// Looks at the clock, between streams: calls that wait for their batch to fill may have waited
    /// long enough.
    #[inline]
    pub(crate) fn look_at_the_clock(&self) {
        self.foreigns().look_at_the_clock();
    }
}

/// Marks that a frame is under way.
struct InFrame<'a>(&'a Core);

impl<'a> InFrame<'a> {
    fn new(core: &'a Core) -> Self {
        assert!(!core.in_frame.replace(true), "a frame of this world is under way");
        InFrame(core)
    }
}

impl Drop for InFrame<'_> {
    fn drop(&mut self) {
        self.0.in_frame.set(false);
        self.0.current.set(None);
    }
}

/// Drops the payload of a panic, which may panic itself.
pub(crate) fn forget_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}
