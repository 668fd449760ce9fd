//! Groups: all streams of one type that are made at one place of the program. They lie side by
//! side, and one loop runs them, which the compiler has made for their type.

use super::Core;
use super::body::Body;
use super::columns::{Column, Epochs, clone_values, go_back};
use super::polling::{Polls, polls, run};
use super::slot::{Head, Phase, Slot, StateWord, Valued, vacant};
use crate::error::Origin;
use crate::foreign::Ended;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;

/// Pieces begin at multiples of this, and slots do not: the piece of a slot is found by rounding
/// down.
const ALIGN: usize = 1 << 16;

/// The functions of a group that know its types.
pub(crate) struct Methods {
    run: unsafe fn(&Core, &Group),
    polls: unsafe fn(&Core, &Polls<'_>),
    drop_future: unsafe fn(NonNull<Head>),
    drop_value: unsafe fn(NonNull<Head>),
    rest: unsafe fn(NonNull<Head>),
    clone_values: unsafe fn(&Group, &mut Column),
    go_back: unsafe fn(&Core, &Group, &Column, Epochs),
}

/// The state of a stream between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All its state is its value, unless it waits over frames.
    AtRest,
    /// As `AtRest`, and it runs before all other streams.
    Early,
    /// Its body lives over frames.
    Living,
}

/// The key of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) future: TypeId,
    pub(crate) value: TypeId,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
    /// Whether its streams are left out of snapshots.
    pub(crate) is_cosmetic: bool,
}

/// The beginning of a piece.
pub(super) struct Piece {
    group: NonNull<Group>,
    capacity: u32,
    /// The number of slots that were initialized.
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
    /// The number of groups of the world that were made before.
    pub(super) number: u32,
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
    pub(crate) fn new<T: Clone + 'static, F: Body>(key: Key, kind: Kind, number: u32) -> Group {
        let slot = Layout::new::<Slot<T, F>>();
        assert!(
            slot.align() <= ALIGN / 2,
            "the future of a stream cannot be aligned to {} bytes",
            slot.align()
        );
        Group {
            methods: &Methods {
                run: run::<T, F>,
                polls: polls::<T, F>,
                drop_future: drop_future::<T, F>,
                drop_value: drop_value::<T>,
                rest: rest::<T, F>,
                clone_values: clone_values::<T>,
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
        // SAFETY: the address of a slot, rounded down, is the beginning of its piece.
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
            head.write(Head { generation: Cell::new(0), state: Cell::new(StateWord::new(Phase::Vacant, 0)) });
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
            .expect("the future of a stream does not fit into memory");
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
    pub(super) unsafe fn slot_at(&self, piece: NonNull<Piece>, index: u32) -> NonNull<Head> {
        let offset = slots_begin(self.slot) + index as usize * self.slot.size();
        // SAFETY: within the piece, by the caller's promise.
        unsafe { piece.byte_add(offset).cast() }
    }

    /// Makes a slot vacant; its future and value were dropped.
    pub(crate) fn give_slot(&self, head: NonNull<Head>) {
        // SAFETY: slots live as long as their group.
        let this = unsafe { head.as_ref() };
        this.state.set(StateWord::new(Phase::Vacant, this.state.get().number() & vacant::MAKER_RAN_AGAIN));
        self.live.set(self.live.get() - 1);
        // A slot whose generation would overflow is not used any more.
        if this.generation.get() != u32::MAX - 1 {
            self.vacant.borrow_mut().push(head);
        }
    }

    /// Runs all streams that are due in this frame.
    pub(crate) fn run(&self, core: &Core) {
        if self.live.get() > 0 {
            // SAFETY: the methods belong to this group's type.
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

    /// Polls the streams whose calls have ended, up to the first stream that is not of this group
    /// or has given up its call.
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

    /// Ends the last run of a stream's body: drops the state of the run, so that a new run comes
    /// next.
    ///
    /// # Safety
    ///
    /// The stream lives in this group, has a future, and is not running.
    pub(super) unsafe fn rest(&self, head: NonNull<Head>) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.rest)(head) }
    }

    /// Clones the values of the streams that are marked.
    ///
    /// # Safety
    ///
    /// Each stream that is marked with a value has one, which is not changed meanwhile.
    pub(super) unsafe fn clone_values(&self, column: &mut Column) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.clone_values)(self, column) }
    }

    /// Sets the values and the states of streams back to the snapshot's.
    ///
    /// # Safety
    ///
    /// No code refers to values of the group.
    pub(super) unsafe fn go_back(&self, core: &Core, column: &Column, epochs: Epochs) {
        // SAFETY: passed on to the caller.
        unsafe { (self.methods.go_back)(core, self, column, epochs) }
    }

    /// Returns how many slots have been used.
    pub(super) fn used(&self) -> usize {
        let last = self.pieces.borrow().last().copied();
        // SAFETY: pieces live as long as their group.
        last.map_or(0, |last| unsafe { (last.as_ref().first + last.as_ref().used.get()) as usize })
    }

    /// Returns how many slots of a piece have been used.
    #[inline(always)]
    pub(super) fn used_of(&self, piece: NonNull<Piece>) -> u32 {
        // SAFETY: pieces live as long as their group.
        unsafe { piece.as_ref() }.used.get()
    }

    /// Calls a function for each slot that has been used.
    pub(crate) fn each_slot(&self, mut f: impl FnMut(NonNull<Head>)) {
        let mut index = 0;
        loop {
            let Some(piece) = self.piece(index) else { return };
            let mut at = 0;
            while at < self.used_of(piece) {
                // SAFETY: within the piece.
                f(unsafe { self.slot_at(piece, at) });
                at += 1;
            }
            index += 1;
        }
    }

    pub(super) fn piece(&self, index: usize) -> Option<NonNull<Piece>> {
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

    /// Returns the origin of a stream.
    ///
    /// # Safety
    ///
    /// As for [`ordinal`](Group::ordinal).
    pub(crate) unsafe fn origin(&self, head: NonNull<Head>) -> Origin {
        // SAFETY: passed on to the caller.
        let ordinal = unsafe { self.ordinal(head) };
        Origin { name: self.key.name, ordinal, site: self.key.site }
    }

    /// Returns the position of a slot among all slots of its world. Addresses differ between equal
    /// worlds; this position does not.
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
/// The slot is for streams with values of this type.
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
/// As for [`Group::rest`].
unsafe fn rest<T, F: Body>(head: NonNull<Head>) {
    let slot = head.cast::<Slot<T, F>>();
    // SAFETY: passed on to the caller; slots are not moved.
    unsafe {
        let future = UnsafeCell::raw_get(&raw const (*slot.as_ptr()).future).cast::<F>();
        Pin::new_unchecked(&mut *future).rest();
    }
}
