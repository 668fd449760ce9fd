//! The pieces of memory that slots are cut from, and the slots that no thread keeps.
//!
//! Slots of up to a kilobyte are cut from pieces of 64 KiB. A piece starts at a multiple of its
//! size, so the address of a slot gives its piece. A piece has the list of its slots that no thread
//! has. When all its slots are in that list, the piece is *empty*. Pieces that have been empty for
//! about a second give their memory back: all pages but the first, where the piece's own head is. A
//! piece without its memory is *cold*, like a piece that nothing has been cut from.
//!
//! Giving memory back unmaps nothing. Code that may look at a vacant slot then finds zeros, or, on
//! systems that free lazily, perhaps the old contents: both are valid for a vacant slot. For such
//! code, the kind of a slot makes the slot vacant when it is cut again, without writing words that
//! others may read meanwhile.
//!
//! Larger slots are few. They are allocated one by one.
//!
//! A forked child has pieces of its own, since another thread may have been changing the lists of
//! its parent's. Slots of inherited pieces that are given back to it lie in a list of their own.

use super::classes::{CLASSES, STEP, STEPS, layout_of, size_of};
use super::pages;
use super::threads::{Kind, List};
use crate::fork::{self, PerProcess};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

const PIECE: usize = 64 * 1024;
/// The number of bytes that are mapped at a time, and aligned within.
const CHUNK: usize = 64 * PIECE;
/// The number of slots that are cut at a time.
const CUT: u32 = 32;
/// The number of empty pieces of a size that keep their memory in any case.
const WARM: usize = 16;
/// The number of pieces that give their memory back before other threads may use the lists again.
const BATCH: usize = 16;

/// The head of a piece, in its first step. All of it belongs to the thread that has the lock.
struct Head {
    class: usize,
    /// The process that has cut it, see `fork.rs`.
    generation: u32,
    /// The number of slots that have been cut.
    cut: Cell<u32>,
    vacant: List,
    /// The neighbours in the list of pieces with vacant slots.
    next: Cell<Option<Piece>>,
    previous: Cell<Option<Piece>>,
}

const _: () = assert!(std::mem::size_of::<Head>() <= STEP);

/// A piece: the address of its head, as a pointer that may be used for the whole piece. A reference
/// to the head may not be, and no slot is cut from one.
#[derive(Clone, Copy)]
struct Piece(NonNull<Head>);

impl Deref for Piece {
    type Target = Head;
    fn deref(&self) -> &Head {
        // SAFETY: pieces stay, with their heads, which are changed only through cells.
        unsafe { self.0.as_ref() }
    }
}

impl Piece {
    /// Returns the piece that a slot of up to a kilobyte was cut from.
    fn of(slot: NonNull<u8>) -> Self {
        let start = slot.as_ptr().map_addr(|address| address & !(PIECE - 1));
        Piece(NonNull::new(start.cast()).expect("a piece is somewhere"))
    }

    fn start(self) -> NonNull<u8> {
        self.0.cast()
    }

    fn most(self) -> u32 {
        u32::try_from((PIECE - STEP) / size_of(self.class)).expect("few")
    }

    fn is_empty(self) -> bool {
        self.vacant.count() == self.most()
    }

    /// Cuts a slot. At least one must be left to be cut.
    fn cut<K: Kind>(self) -> NonNull<u8> {
        let cut = self.cut.get();
        assert!(cut < self.most(), "an open piece has something left");
        self.cut.set(cut + 1);
        let slot = self.slot(cut);
        // SAFETY: the slot is within the piece and in no list. It is of zeros, or was a vacant slot
        // there.
        unsafe { K::make_vacant(slot, size_of(self.class)) };
        slot
    }

    fn slot(self, index: u32) -> NonNull<u8> {
        // SAFETY: the slot is within the piece.
        unsafe { self.start().add(STEP + index as usize * size_of(self.class)) }
    }

    /// Gives all pages back but the first.
    ///
    /// # Safety
    ///
    /// All slots of the piece are vacant and the caller's, and none is cut from it.
    unsafe fn cool(self) {
        let start = self.start().addr().get();
        // SAFETY: these are whole pages of the library's own mapping, which hold only vacant slots.
        unsafe { pages::give_back(start + pages::page_size().min(PIECE)..start + PIECE) };
    }
}

/// The slots of one size that no thread keeps.
struct Class {
    /// The first of the pieces that have some vacant slots, but not only such.
    partial: Option<Piece>,
    /// The piece that new slots are cut from, as long as any are left.
    open: Option<Piece>,
    empty: Vec<Piece>,
    cold: Vec<Piece>,
    /// The smallest number of pieces that were empty since memory was last given back.
    unused: usize,
    /// The slots that are not cut from pieces of this process.
    others: List,
}

impl Class {
    const fn new() -> Self {
        Class {
            partial: None,
            open: None,
            empty: Vec::new(),
            cold: Vec::new(),
            unused: 0,
            others: List::new(),
        }
    }

    /// Adds a piece that has some vacant slots, but not only such, to the list of these.
    fn list(&mut self, piece: Piece) {
        let next = self.partial.replace(piece);
        piece.next.set(next);
        piece.previous.set(None);
        if let Some(next) = next {
            next.previous.set(Some(piece));
        }
    }

    fn unlist(&mut self, piece: Piece) {
        let (next, previous) = (piece.next.get(), piece.previous.get());
        match previous {
            Some(previous) => previous.next.set(next),
            None => self.partial = next,
        }
        if let Some(next) = next {
            next.previous.set(previous);
        }
    }

    /// Returns a piece that has vacant slots.
    fn vacant(&mut self) -> Option<Piece> {
        if let Some(piece) = self.partial {
            return Some(piece);
        }
        let piece = self.empty.pop()?;
        self.unused = self.unused.min(self.empty.len());
        self.list(piece);
        Some(piece)
    }
}

/// All pieces of a kind, and its slots that no thread keeps.
pub(super) struct Shared<K> {
    classes: Box<[Class]>,
    pieces: Vec<Piece>,
    larges: Vec<NonNull<u8>>,
    /// The rest of the last chunk that was mapped.
    chunk: Option<(NonNull<u8>, usize)>,
    generation: u32,
    kind: PhantomData<fn() -> K>,
}

/// The pieces of a kind, for all threads.
#[allow(missing_debug_implementations, reason = "not for users")]
pub struct Memory<K: 'static>(PerProcess<Mutex<Shared<K>>>);

impl<K: Kind> Memory<K> {
    /// Creates the pieces of a kind, of which there are none.
    #[allow(clippy::new_without_default, reason = "for statics")]
    pub const fn new() -> Self {
        Memory(PerProcess::new(|| Mutex::new(Shared::new())))
    }

    pub(super) fn lock(&self) -> MutexGuard<'static, Shared<K>> {
        self.0.get().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: vacant slots and heads of pieces are plain memory. The lists belong to the thread that
// has the lock.
unsafe impl<K> Send for Shared<K> {}

impl<K: Kind> Shared<K> {
    fn new() -> Self {
        Shared {
            // Not by way of the stack: the caller may be a fiber with a small one.
            classes: (0..CLASSES).map(|_| Class::new()).collect(),
            pieces: Vec::new(),
            larges: Vec::new(),
            chunk: None,
            generation: fork::watch(),
            kind: PhantomData,
        }
    }

    /// Moves vacant slots to `to`: at least one, and at most `most`.
    pub(super) fn take(&mut self, class: usize, to: &List, most: u32) {
        if class >= STEPS {
            let slot = self.classes[class].others.pop().unwrap_or_else(|| self.allocate(class));
            // SAFETY: the slot has just left its list, or has just been allocated.
            return unsafe { to.push(slot) };
        }
        let mut left = most;
        while left > 0
            && let Some(slot) = self.classes[class].others.pop()
        {
            // SAFETY: the slot has just left its list.
            unsafe { to.push(slot) };
            left -= 1;
        }
        while left > 0
            && let Some(piece) = self.classes[class].vacant()
        {
            while left > 0
                && let Some(slot) = piece.vacant.pop()
            {
                // SAFETY: the slot has just left its list.
                unsafe { to.push(slot) };
                left -= 1;
            }
            if piece.vacant.count() == 0 {
                self.classes[class].unlist(piece);
            }
        }
        if left == most {
            for _ in 0..most.min(CUT) {
                // SAFETY: the slot has just been cut.
                unsafe { to.push(self.cut(class)) };
            }
        }
    }

    /// Takes up to `most` vacant slots out of `from`.
    pub(super) fn give(&mut self, class: usize, from: &List, most: u32) {
        let lists = &mut self.classes[class];
        for _ in 0..most {
            let Some(slot) = from.pop() else { return };
            let piece = (class < STEPS).then(|| Piece::of(slot));
            let Some(piece) = piece.filter(|piece| piece.generation == self.generation) else {
                // SAFETY: the slot has just left its list.
                unsafe { lists.others.push(slot) };
                continue;
            };
            // SAFETY: as above.
            unsafe { piece.vacant.push(slot) };
            if piece.vacant.count() == 1 {
                lists.list(piece);
            }
            if piece.is_empty() {
                lists.unlist(piece);
                lists.empty.push(piece);
            }
        }
    }

    /// Returns a slot that has just been cut.
    fn cut(&mut self, class: usize) -> NonNull<u8> {
        let piece = self.classes[class].open.take().unwrap_or_else(|| self.uncut(class));
        let slot = piece.cut::<K>();
        self.classes[class].open = (piece.cut.get() < piece.most()).then_some(piece);
        slot
    }

    /// Returns a piece from which nothing has been cut.
    fn uncut(&mut self, class: usize) -> Piece {
        self.classes[class].cold.pop().unwrap_or_else(|| self.piece(class))
    }

    fn piece(&mut self, class: usize) -> Piece {
        let (start, pieces) = self.chunk.take().unwrap_or_else(map);
        // SAFETY: the next piece is within the chunk.
        self.chunk = (pieces > 1).then(|| (unsafe { start.add(PIECE) }, pieces - 1));
        let (next, previous) = (Cell::new(None), Cell::new(None));
        let (generation, cut) = (self.generation, Cell::new(0));
        let head = Head { class, generation, cut, vacant: List::new(), next, previous };
        let place = start.cast::<Head>();
        // SAFETY: this memory has not been used before, and is large and aligned enough.
        unsafe { place.write(head) };
        let piece = Piece(place);
        self.pieces.push(piece);
        piece
    }

    fn allocate(&mut self, class: usize) -> NonNull<u8> {
        let layout = layout_of(class, true);
        // SAFETY: slots are not empty.
        let slot =
            NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the memory is of zeros, and has just been allocated.
        unsafe { K::make_vacant(slot, layout.size()) };
        self.larges.push(slot);
        slot
    }
}

/// Maps a chunk. Returns the start of its first piece, and the number of its pieces.
#[cold]
fn map() -> (NonNull<u8>, usize) {
    let Ok(start) = pages::map(CHUNK + PIECE) else {
        handle_alloc_error(Layout::from_size_align(CHUNK, PIECE).expect("a layout"))
    };
    let start = start.cast::<u8>();
    // SAFETY: the mapping has room for one piece more than are used.
    (unsafe { start.add(start.align_offset(PIECE)) }, CHUNK / PIECE)
}

/// Gives the memory back that has not been used since the last call. Others may take and give slots
/// meanwhile.
pub fn give_back<K: Kind>() {
    for class in 0..STEPS {
        let mut spare = {
            let mut shared = K::memory().lock();
            let lists = &mut shared.classes[class];
            std::mem::replace(&mut lists.unused, lists.empty.len())
                .min(lists.empty.len())
                .saturating_sub(WARM)
        };
        while spare > 0 {
            let pieces = {
                let lists = &mut K::memory().lock().classes[class];
                // The pieces that have been empty longest. Others may have taken some.
                let count = lists.empty.len().saturating_sub(WARM).min(BATCH).min(spare);
                let pieces = lists.empty.drain(..count).collect::<Vec<_>>();
                // They are empty, and in no list any more.
                for piece in &pieces {
                    piece.vacant.forget();
                    piece.cut.set(0);
                }
                pieces
            };
            if pieces.is_empty() {
                break;
            }
            for piece in &pieces {
                // SAFETY: the piece was empty, and is in no list.
                unsafe { piece.cool() };
            }
            spare -= pieces.len();
            let mut shared = K::memory().lock();
            let lists = &mut shared.classes[class];
            lists.unused = lists.unused.min(lists.empty.len());
            lists.cold.extend(pieces);
        }
    }
}

/// Gives all memory back that is not in use, except for a little.
pub fn give_back_all<K: Kind>() {
    // The first call starts the count of used pieces.
    give_back::<K>();
    give_back::<K>();
}

/// Calls `look` with every slot that has been cut, vacant or not. Others may use them, or give
/// their memory back, meanwhile.
pub fn for_each<K: Kind>(mut look: impl FnMut(NonNull<u8>)) {
    let (pieces, larges) = {
        let shared = K::memory().lock();
        let cut = |piece: &Piece| (*piece, piece.cut.get());
        (shared.pieces.iter().map(cut).collect::<Vec<_>>(), shared.larges.clone())
    };
    for (piece, cut) in pieces {
        // The class of a piece does not change.
        (0..cut).for_each(|index| look(piece.slot(index)));
    }
    larges.into_iter().for_each(look);
}
