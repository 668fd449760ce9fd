//! Moving the young objects that are reachable to the old space.
//!
//! One thread begins. When it has moved many objects and more wait, it calls the threads that are held, and the objects that
//! wait are shared out ([`pool`]).

mod pool;

use crate::object::{Cell, Header, each_word, header_cell, header_of, set_header};
use crate::raw::{Raw, is_pointer, moved, untagged};
use crate::space::nursery::Range;
use crate::space::old::{Cells, Old};
use std::hint;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

pub(crate) use pool::Pool;

/// After so many objects the others are called. To wake them takes as long as to move a thousand.
const ALONE: usize = 1_000;

/// At most so many objects are given away at once.
const SHARED: usize = 64;

/// Moves objects.
///
/// An object that has moved, and whose words have not been looked at, is *pending*. The pending objects
/// are a list through their old places, whose first word is not needed any more. So the depth of the
/// graph takes neither stack nor memory.
pub(crate) struct Mover<'a> {
    nursery: Range,
    cells: Cells<'a>,
    pending: Raw,
}

// SAFETY: the thread that has the value is the only one that uses the objects of the list.
unsafe impl Send for Mover<'_> {}

impl<'a> Mover<'a> {
    pub(crate) fn new(nursery: Range, old: &'a Mutex<Old>) -> Self {
        Self { nursery, cells: Cells::new(old), pending: ptr::null_mut() }
    }

    /// Moves the object to which the word points, if it is young, and corrects the word.
    #[inline]
    pub(crate) fn correct(&mut self, cell: &Cell) {
        self.correct_beside::<false>(cell);
    }

    /// Does so for each word of an object.
    ///
    /// # Safety
    ///
    /// `payload` is that of an old object.
    pub(crate) unsafe fn correct_all(&mut self, payload: Raw) {
        // SAFETY: passed on to the caller.
        unsafe { self.correct_all_beside::<false>(payload) };
    }

    /// `OTHERS` says that other threads move objects, too.
    #[inline]
    fn correct_beside<const OTHERS: bool>(&mut self, cell: &Cell) {
        let raw = cell.load(Ordering::Relaxed);
        if is_pointer(raw) && self.nursery.contains(raw) {
            // SAFETY: the word points to an object, since all words do or are immediates.
            let to = unsafe {
                if OTHERS { self.move_once_beside(untagged(raw)) } else { self.move_once(untagged(raw)) }
            };
            cell.store(moved(raw, to), Ordering::Relaxed);
        }
    }

    unsafe fn correct_all_beside<const OTHERS: bool>(&mut self, payload: Raw) {
        // SAFETY: passed on to the caller.
        unsafe {
            let desc = header_of(payload).desc();
            each_word(desc, payload, 0, usize::MAX, |cell| self.correct_beside::<OTHERS>(cell));
        }
    }

    /// Returns the new place of a young object.
    #[inline]
    unsafe fn move_once(&mut self, from: Raw) -> Raw {
        // SAFETY: the object has a header.
        unsafe {
            let header = header_of(from);
            if let Some(to) = header.new_place() {
                return to;
            }
            let to = self.copy(from, header);
            set_header(from, Header::moved_to(to));
            self.add_pending(from);
            to
        }
    }

    /// Does so while other threads may move the object.
    #[inline]
    unsafe fn move_once_beside(&mut self, from: Raw) -> Raw {
        // SAFETY: the object has a header. One thread changes it to `MOVING`, and after that nobody else looks at
        // the object until it has moved, and then at its header only.
        unsafe {
            let cell = header_cell(from);
            let mut header = Header(cell.load(Ordering::Acquire));
            loop {
                if header == Header::MOVING {
                    header = wait_until_moved(cell);
                }
                if let Some(to) = header.new_place() {
                    return to;
                }
                match cell.compare_exchange(header.0, Header::MOVING.0, Ordering::Acquire, Ordering::Acquire)
                {
                    Ok(_) => break,
                    Err(now) => header = Header(now),
                }
            }
            let to = self.copy(from, header);
            cell.store(Header::moved_to(to).0, Ordering::Release);
            self.add_pending(from);
            to
        }
    }

    /// Copies an object with this header to the old space.
    #[inline]
    unsafe fn copy(&mut self, from: Raw, header: Header) -> Raw {
        // SAFETY: the object has so many words, and the cell has room for them.
        unsafe {
            let words = header.desc().words(from);
            let to = self.cells.take(words + 1);
            copy(from, to, words);
            set_header(to, header.with_colour(self.cells.colour));
            to
        }
    }

    #[inline]
    unsafe fn add_pending(&mut self, from: Raw) {
        // SAFETY: the object has moved, and its payload has at least a word.
        unsafe { from.cast::<Raw>().write(self.pending) };
        self.pending = from;
    }

    /// Moves all that can be reached from the objects that have moved, alone. Returns `false` if it has moved so
    /// many that others should help.
    pub(crate) fn finish_alone(&mut self) -> bool {
        let mut left = ALONE;
        while !self.pending.is_null() && left > 0 {
            // SAFETY: the object is pending.
            unsafe { self.look_at_next::<false>() };
            left -= 1;
        }
        self.pending.is_null()
    }

    /// Moves the rest, while others do the same.
    pub(crate) fn finish_beside(&mut self, pool: &Pool) {
        loop {
            let mut looks = 0_u32;
            while !self.pending.is_null() {
                looks = looks.wrapping_add(1);
                if looks.is_multiple_of(32) && pool.wants() {
                    self.share(pool);
                }
                // SAFETY: the object is pending.
                unsafe { self.look_at_next::<true>() };
            }
            match pool.take() {
                Some(list) => self.pending = list,
                None => return,
            }
        }
    }

    /// Takes part in the work of other threads.
    pub(crate) fn join(&mut self, pool: &Pool) {
        if let Some(list) = pool.join() {
            self.pending = list;
            self.finish_beside(pool);
        }
    }

    /// Gives away each second one of the first pending objects. The later ones in the list were found earlier, so more can be
    /// reached from them; both threads get some of these.
    fn share(&mut self, pool: &Pool) {
        let (mut given, mut kept) = (ptr::null_mut(), self.pending);
        // SAFETY: these objects are pending.
        unsafe {
            for _ in 0..SHARED {
                let second = next_of(kept);
                if second.is_null() {
                    break;
                }
                let third = next_of(second);
                kept.cast::<Raw>().write(third);
                second.cast::<Raw>().write(given);
                given = second;
                if third.is_null() {
                    break;
                }
                kept = third;
            }
            if !given.is_null() && !pool.give(given) {
                // No thread waits any more.
                while !given.is_null() {
                    let next = next_of(given);
                    self.add_pending(given);
                    given = next;
                }
            }
        }
    }

    /// Moves what the next pending object refers to.
    #[inline]
    unsafe fn look_at_next<const OTHERS: bool>(&mut self) {
        let from = self.pending;
        // SAFETY: a pending object has moved, and its first word is the next pending object.
        unsafe {
            self.pending = next_of(from);
            let to = header_of(from).new_place().expect("a pending object has moved");
            self.correct_all_beside::<OTHERS>(to);
        }
    }
}

/// Returns the pending object after this one, or null.
///
/// # Safety
///
/// The object is pending.
#[inline]
unsafe fn next_of(pending: Raw) -> Raw {
    // SAFETY: its first word is the next one.
    unsafe { pending.cast::<Raw>().read() }
}

/// Waits until another thread has moved the object, and returns its header.
#[cold]
fn wait_until_moved(header: &Cell) -> Header {
    let mut looks = 0;
    loop {
        let now = Header(header.load(Ordering::Acquire));
        if now != Header::MOVING {
            return now;
        }
        // The other thread copies some words, unless the system has taken its processor away.
        looks += 1;
        if looks < 100 { hint::spin_loop() } else { thread::yield_now() }
    }
}

/// Copies so many words. Most objects are small, and a call of `memcpy` costs more than they do.
///
/// # Safety
///
/// `from` and `to` have so many words, and do not overlap.
#[inline]
unsafe fn copy(from: Raw, to: Raw, words: usize) {
    let (from, to) = (from.cast::<MaybeUninit<usize>>(), to.cast::<MaybeUninit<usize>>());
    // SAFETY: passed on to the caller.
    unsafe {
        if words <= 4 {
            for index in 0..words {
                to.add(index).write(from.add(index).read());
            }
        } else {
            to.copy_from_nonoverlapping(from, words);
        }
    }
}
