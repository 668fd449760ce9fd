//! Groups: all streams of one type that are made at one place, side by side, run by one loop that
//! the compiler has made for that type.

use super::slot::{Head, Phase, Slot, State, Valued, vacant};
use super::waits::Living;
use super::{Core, flags};
use crate::current::unsuspended;
use crate::error::Origin;
use crate::foreign::Ended;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Context;

/// Pieces begin at multiples of this, and so do not the slots: the piece of a slot is found by
/// rounding down.
const ALIGN: usize = 1 << 16;
/// So many streams are run between two looks at the clock.
const SPAN: u32 = 256;

/// What a group knows of its type.
pub(crate) struct Methods {
    run: unsafe fn(&Core, &Group),
    polls: unsafe fn(&Core, &Polls<'_>),
    drop_future: unsafe fn(NonNull<Head>),
    drop_value: unsafe fn(NonNull<Head>),
    clone_value: unsafe fn(NonNull<Head>) -> Box<dyn Any>,
    go_back: unsafe fn(Living, State, Option<&dyn Any>),
}

/// What a stream is between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All its state is its value, unless it waits over frames.
    AtRest,
    /// The same, and it runs before all others.
    Early,
    /// Its body lives over frames.
    Living,
}

/// What tells groups apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) future: TypeId,
    pub(crate) value: TypeId,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
}

/// The beginning of a piece.
struct Piece {
    group: NonNull<Group>,
    capacity: u32,
    /// So many slots have been initialized.
    used: Cell<u32>,
    /// The position of the first slot in the group.
    first: u32,
    layout: Layout,
}

/// Streams of one type.
pub(crate) struct Group {
    methods: &'static Methods,
    pub(crate) key: Key,
    pub(crate) kind: Kind,
    /// How many groups of the world were made before.
    number: u32,
    slot: Layout,
    pieces: RefCell<Vec<NonNull<Piece>>>,
    vacant: RefCell<Vec<NonNull<Head>>>,
    live: Cell<usize>,
}

fn slots_begin(slot: Layout) -> usize {
    size_of::<Piece>().next_multiple_of(slot.align())
}

impl Group {
    /// Makes a group of streams with values of type `T` and futures of type `F`.
    pub(crate) fn new<T: Clone + 'static, F: Future<Output = ()> + 'static>(
        key: Key,
        kind: Kind,
        number: u32,
    ) -> Group {
        let slot = Layout::new::<Slot<T, F>>();
        assert!(slot.align() <= ALIGN / 2, "a stream's future cannot be aligned to {} bytes", slot.align());
        Group {
            methods: &Methods {
                run: run::<T, F>,
                polls: polls::<T, F>,
                drop_future: drop_future::<T, F>,
                drop_value: drop_value::<T>,
                clone_value: clone_value::<T>,
                go_back: go_back::<T>,
            },
            key,
            kind,
            number,
            slot,
            pieces: RefCell::default(),
            vacant: RefCell::default(),
            live: Cell::new(0),
        }
    }

    /// Returns the group of a stream.
    ///
    /// # Safety
    ///
    /// `head` is in a slot of a group that is alive, with the provenance of its piece.
    pub(crate) unsafe fn of<'a>(head: NonNull<Head>) -> &'a Group {
        // SAFETY: the piece of a slot begins where its address is rounded down to.
        unsafe { Piece::of(head).as_ref().group.as_ref() }
    }

    /// Returns a slot for a new stream. Its generation is even, and it is vacant.
    pub(crate) fn take_slot(&self) -> NonNull<Head> {
        self.live.set(self.live.get() + 1);
        if let Some(head) = self.vacant.borrow_mut().pop() {
            return head;
        }
        let mut pieces = self.pieces.borrow_mut();
        let room = pieces.last().filter(|piece| {
            // SAFETY: pieces live as long as their group.
            let piece = unsafe { piece.as_ref() };
            piece.used.get() < piece.capacity
        });
        let piece = match room {
            Some(piece) => *piece,
            None => {
                let piece = self.new_piece(pieces.last().copied());
                pieces.push(piece);
                piece
            }
        };
        // SAFETY: alive; the slot is within the piece, which has room for it, and is initialized
        // here.
        unsafe {
            let used = &piece.as_ref().used;
            let head = self.slot_at(piece, used.get());
            head.write(Head { generation: Cell::new(0), state: Cell::new(State::new(Phase::Vacant, 0)) });
            used.set(used.get() + 1);
            head
        }
    }

    fn new_piece(&self, last: Option<NonNull<Piece>>) -> NonNull<Piece> {
        let begin = slots_begin(self.slot);
        let most = ((ALIGN - begin.min(ALIGN)) / self.slot.size()).max(1);
        // SAFETY: pieces live as long as their group.
        let (wanted, first) = last.map_or((16, 0), |last| unsafe {
            let last = last.as_ref();
            (last.capacity as usize * 2, last.first + last.capacity)
        });
        let capacity = wanted.min(most);
        let layout = Layout::from_size_align(begin + capacity * self.slot.size(), ALIGN)
            .expect("a stream's future is larger than the memory");
        // SAFETY: the layout is not empty.
        let Some(piece) = NonNull::new(unsafe { alloc(layout) }.cast::<Piece>()) else {
            handle_alloc_error(layout)
        };
        let (group, capacity) = (NonNull::from(self), capacity as u32);
        // SAFETY: just allocated, and large enough.
        unsafe { piece.write(Piece { group, capacity, used: Cell::new(0), first, layout }) };
        piece
    }

    /// # Safety
    ///
    /// The piece is this group's, and has more than `index` slots.
    #[inline(always)]
    unsafe fn slot_at(&self, piece: NonNull<Piece>, index: u32) -> NonNull<Head> {
        let offset = slots_begin(self.slot) + index as usize * self.slot.size();
        // SAFETY: within the piece, by the caller's promise.
        unsafe { piece.byte_add(offset).cast() }
    }

    /// Makes a slot vacant whose future and value are gone.
    pub(crate) fn give_slot(&self, head: NonNull<Head>) {
        // SAFETY: slots live as long as their group.
        let this = unsafe { head.as_ref() };
        this.state.set(State::new(Phase::Vacant, this.state.get().number() & vacant::MAKER_RAN_AGAIN));
        self.live.set(self.live.get() - 1);
        // The slot of a generation that would come again is not used any more.
        if this.generation.get() != u32::MAX - 1 {
            self.vacant.borrow_mut().push(head);
        }
    }

    /// Runs all streams that are due in this frame.
    pub(crate) fn run(&self, core: &Core) {
        if self.live.get() > 0 {
            // SAFETY: the methods are those of this group's type.
            unsafe { (self.methods.run)(core, self) }
        }
    }

    /// Polls a stream. It sets the stream's phase.
    ///
    /// # Safety
    ///
    /// The stream lives in this group, has a future, and is not running.
    pub(crate) unsafe fn poll(&self, core: &Core, head: NonNull<Head>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.polls)(core, &Polls::One(Cell::new(Some(head)))) }
    }

    /// Polls the streams whose calls have ended, up to the first one that is not of this group or
    /// has given up its call.
    ///
    /// # Safety
    ///
    /// The owners of the calls are streams of this world.
    pub(crate) unsafe fn deliver(&self, core: &Core, ended: &Ended<'_>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.polls)(core, &Polls::Ended { group: self, ended }) }
    }

    /// # Safety
    ///
    /// The stream lives in this group, has a future, which is not used after that, and is not
    /// running.
    pub(crate) unsafe fn drop_future(&self, head: NonNull<Head>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.drop_future)(head) }
    }

    /// # Safety
    ///
    /// The stream lives in this group and has a value, which is not used after that.
    pub(crate) unsafe fn drop_value(&self, head: NonNull<Head>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.drop_value)(head) }
    }

    /// # Safety
    ///
    /// The stream lives in this group and has a value.
    pub(crate) unsafe fn clone_value(&self, head: NonNull<Head>) -> Box<dyn Any> {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.clone_value)(head) }
    }

    /// Sets the value and the state of a stream to what they were, unless it has been removed.
    ///
    /// # Safety
    ///
    /// The slot is in this group; nothing refers to its value. `value` was made by `clone_value` of
    /// this group, and is there if the state says so.
    pub(crate) unsafe fn go_back(&self, stream: Living, state: State, value: Option<&dyn Any>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.go_back)(stream, state, value) }
    }

    /// Calls a function for each slot that has been used.
    pub(crate) fn each_slot(&self, mut f: impl FnMut(NonNull<Head>)) {
        let mut index = 0;
        loop {
            let Some(piece) = self.piece(index) else { return };
            // SAFETY: pieces live as long as their group.
            let used = || unsafe { piece.as_ref() }.used.get();
            let mut at = 0;
            while at < used() {
                // SAFETY: within the piece.
                f(unsafe { self.slot_at(piece, at) });
                at += 1;
            }
            index += 1;
        }
    }

    fn piece(&self, index: usize) -> Option<NonNull<Piece>> {
        self.pieces.borrow().get(index).copied()
    }

    /// Returns the position of a slot in the group.
    ///
    /// # Safety
    ///
    /// The slot is in this group.
    unsafe fn ordinal(&self, head: NonNull<Head>) -> usize {
        // SAFETY: by the caller's promise.
        let piece = unsafe { Piece::of(head) };
        let offset = head.addr().get() - piece.addr().get() - slots_begin(self.slot);
        // SAFETY: pieces live as long as their group.
        let first = unsafe { piece.as_ref() }.first as usize;
        first + offset / self.slot.size()
    }

    /// Returns which stream is meant.
    ///
    /// # Safety
    ///
    /// As for [`ordinal`](Group::ordinal).
    pub(crate) unsafe fn origin(&self, head: NonNull<Head>) -> Origin {
        // SAFETY: passed on to the caller.
        let ordinal = unsafe { self.ordinal(head) };
        Origin { name: self.key.name, ordinal, site: self.key.site }
    }

    /// Returns where a slot is among all of its world. Addresses differ between equal worlds; this
    /// does not.
    ///
    /// # Safety
    ///
    /// As for [`ordinal`](Group::ordinal).
    pub(crate) unsafe fn place(&self, head: NonNull<Head>) -> (u32, usize) {
        // SAFETY: passed on to the caller.
        (self.number, unsafe { self.ordinal(head) })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for piece in self.pieces.get_mut().drain(..) {
            // SAFETY: made by `new_piece` with this layout; the world has emptied its slots.
            unsafe {
                let layout = piece.as_ref().layout;
                dealloc(piece.as_ptr().cast(), layout);
            }
        }
    }
}

impl Piece {
    /// # Safety
    ///
    /// As for [`Group::of`].
    #[inline(always)]
    unsafe fn of(head: NonNull<Head>) -> NonNull<Piece> {
        let piece = head.as_ptr().map_addr(|addr| addr & !(ALIGN - 1)).cast();
        // SAFETY: a piece is not at address zero.
        unsafe { NonNull::new_unchecked(piece) }
    }
}

/// Streams of a group that are to be polled, one after the other.
enum Polls<'a> {
    /// Those of a span that are due.
    Due(Span),
    /// Those whose calls have ended.
    Ended { group: &'a Group, ended: &'a Ended<'a> },
    /// This one, whether it has waited or is due. It may be polled while others are.
    One(Cell<Option<NonNull<Head>>>),
}

/// Streams that lie side by side.
struct Span {
    first: NonNull<Head>,
    at: Cell<u32>,
    end: u32,
    /// So many of them were due.
    evaluated: Cell<usize>,
}

/// Runs what is due in the group.
///
/// # Safety
///
/// The group is one of streams with these types.
unsafe fn run<T, F: Future<Output = ()>>(core: &Core, group: &Group) {
    let mut index = 0;
    while let Some(piece) = group.piece(index) {
        // SAFETY: pieces live as long as their group.
        let used = || unsafe { piece.as_ref() }.used.get();
        let mut begin = 0;
        while begin < used() {
            let end = used().min(begin + SPAN);
            // SAFETY: pieces have a slot.
            let first = unsafe { group.slot_at(piece, 0) };
            let span = Span { first, at: Cell::new(begin), end, evaluated: Cell::new(0) };
            let due = Polls::Due(span);
            // SAFETY: passed on to the caller; the slots are within the piece.
            while core.caught(|| unsuspended(|| unsafe { polls::<T, F>(core, &due) })) {
                core.drain();
            }
            if let Polls::Due(span) = due {
                core.count_evaluated(span.evaluated.get());
            }
            core.look_at_the_clock();
            begin = end;
        }
        index += 1;
    }
}

/// Polls streams. It is the only place where their future is polled: the compiler makes the code of
/// the future part of this loop then, and of no other.
///
/// # Safety
///
/// The streams have these types. Those that are not looked at here have a future and are not
/// running.
unsafe fn polls<T, F: Future<Output = ()>>(core: &Core, polls: &Polls<'_>) {
    let waker = core.waker();
    let mut cx = Context::from_waker(&waker);
    loop {
        let next = match polls {
            // SAFETY: passed on to the caller.
            Polls::Due(span) => unsafe { span.next(core, size_of::<Slot<T, F>>()) },
            // SAFETY: passed on to the caller.
            Polls::Ended { group, ended } => unsafe { group.next_of(core, ended) },
            // SAFETY: passed on to the caller.
            Polls::One(head) => head.take().map(|head| (head, running(unsafe { head.as_ref() }))),
        };
        let Some((head, running)) = next else { return };
        // SAFETY: what is due or has waited has a future and is not running.
        unsafe { step(core, head.cast::<Slot<T, F>>(), &mut cx, running) };
        if core.has_queued() && !matches!(polls, Polls::One(_)) {
            core.drain();
        }
    }
}

/// Returns the state with which a stream is polled.
fn running(head: &Head) -> State {
    let state = head.state.get();
    match state.phase() {
        Phase::Waiting | Phase::Queued => state.in_phase(Phase::Running),
        _ => State::new(Phase::Running, 0).with_value(state),
    }
}

impl Span {
    /// Returns the next stream that is due.
    ///
    /// # Safety
    ///
    /// There are at least `end` slots of this size from `first` on.
    #[inline(always)]
    unsafe fn next(&self, core: &Core, size: usize) -> Option<(NonNull<Head>, State)> {
        loop {
            let at = self.at.get();
            if at >= self.end {
                return None;
            }
            self.at.set(at + 1);
            // SAFETY: by the caller's promise.
            let head = unsafe { self.first.byte_add(at as usize * size) };
            // SAFETY: heads of used slots are initialized.
            let state = unsafe { head.as_ref() }.state.get();
            if core.is_as_usual(state) || core.is_due(state) {
                self.evaluated.set(self.evaluated.get() + 1);
                return Some((head, State::new(Phase::Running, 0).with_value(state)));
            }
        }
    }
}

impl Group {
    /// Returns the next stream whose call has ended and which waits, if it is in this group.
    ///
    /// # Safety
    ///
    /// As for [`Group::deliver`].
    #[inline(always)]
    unsafe fn next_of(&self, core: &Core, ended: &Ended<'_>) -> Option<(NonNull<Head>, State)> {
        loop {
            let pointer = ended.owner()?.cast::<Head>();
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            if !std::ptr::eq(group, self) {
                return None;
            }
            ended.pass();
            if core.is_resumed(pointer, head) {
                return Some((pointer, head.state.get().in_phase(Phase::Running)));
            }
        }
    }
}

/// Polls the future of a stream, and notes what came of it.
///
/// # Safety
///
/// The stream lives there, has a future, and is not running.
#[inline(always)]
unsafe fn step<T, F: Future<Output = ()>>(
    core: &Core,
    slot: NonNull<Slot<T, F>>,
    cx: &mut Context<'_>,
    running: State,
) {
    let pointer = slot.cast::<Head>();
    // SAFETY: alive, by the caller's promise.
    let head = unsafe { pointer.as_ref() };
    head.state.set(running);
    core.current.set(Some(pointer));
    // SAFETY: slots are not moved. Only one poll refers to the future at a time, since it is not
    // running elsewhere; it stays until the poll is over.
    let polled = unsafe {
        let future = UnsafeCell::raw_get(&raw const (*slot.as_ptr()).future).cast::<F>();
        Pin::new_unchecked(&mut *future).poll(cx)
    };
    let with_value = State::new(Phase::Running, 0).and_value();
    let flags = core.flags.get();
    if polled.is_pending() && flags == 0 && head.state.get() == with_value {
        head.state.set(core.ready.get());
    } else if polled.is_pending() && flags == flags::WITHIN && head.is_alive() {
        core.flags.set(0);
        core.waits(head);
    } else {
        core.settle(pointer, polled.is_ready());
    }
}

/// # Safety
///
/// As for [`Group::drop_future`].
unsafe fn drop_future<T, F>(head: NonNull<Head>) {
    let slot = head.cast::<Slot<T, F>>();
    // SAFETY: passed on to the caller.
    unsafe { UnsafeCell::raw_get(&raw const (*slot.as_ptr()).future).cast::<F>().drop_in_place() };
}

/// Returns where the value of a stream lies.
///
/// # Safety
///
/// The slot is one of streams with values of this type.
#[inline(always)]
pub(crate) unsafe fn value_of<T>(head: NonNull<Head>) -> *mut T {
    let valued = head.cast::<Valued<T>>();
    // SAFETY: by the caller's promise.
    unsafe { UnsafeCell::raw_get(&raw const (*valued.as_ptr()).value).cast() }
}

/// # Safety
///
/// As for [`Group::drop_value`].
unsafe fn drop_value<T>(head: NonNull<Head>) {
    // SAFETY: passed on to the caller.
    unsafe { value_of::<T>(head).drop_in_place() };
}

/// # Safety
///
/// As for [`Group::clone_value`].
unsafe fn clone_value<T: Clone + 'static>(head: NonNull<Head>) -> Box<dyn Any> {
    // SAFETY: passed on to the caller.
    Box::new(unsafe { (*value_of::<T>(head)).clone() })
}

/// # Safety
///
/// As for [`Group::go_back`].
unsafe fn go_back<T: Clone + 'static>(stream: Living, state: State, value: Option<&dyn Any>) {
    let is_of_type = "a stream's value is of the group's type";
    let value = value.map(|value| value.downcast_ref::<T>().expect(is_of_type).clone());
    // Cloning is the user's code, which may have removed the stream.
    let Some(head) = stream.get() else { return };
    // SAFETY: the place holds a value if the state says so; nothing refers to it.
    let before = head.state.get().has_value().then(|| unsafe { value_of::<T>(stream.head).read() });
    if let Some(value) = value {
        // SAFETY: what was there has been read.
        unsafe { value_of::<T>(stream.head).write(value) };
    }
    // Its future is gone.
    let has_ended = head.phase() == Phase::Ended;
    head.state.set(if has_ended { State::new(Phase::Ended, 0).with_value(state) } else { state });
    // The destructor, which may remove the stream as well, comes last.
    drop(before);
}
