//! Whether what is put off could be of use to anybody: a word for each domain, which the loops there look at.
//!
//! A half of a join that nobody could take is not even noted down: then a join is a look at this word and two calls. The
//! word belongs to the domain on which the code runs, and is reached through the thread, so looking at it costs two
//! loads, of memory that hardly ever changes.

use super::stacks::Stacks;
use crate::shim::atomic::{AtomicU8, Ordering};
use crate::shim::{CachePadded, const_fn};

/// Nobody could take anything, and nothing else wants this domain. Only where enough is noted down already, see
/// [`FIRST_LEVELS`](super::pending::FIRST_LEVELS).
const OFF: u8 = 0;
/// The same, but halves and rests are to be noted down.
const QUIET: u8 = 1;
/// Halves and rests are to be noted down, and the clock is to be looked at now and then.
const ON: u8 = 2;
/// Somebody looks for work: give something away at once.
const WANTED: u8 = 3;

/// The word of one domain, and what is to be found by whoever looks at it.
#[derive(Debug)]
pub struct Beat {
    word: AtomicU8,
    /// Where something may be put off.
    pub(crate) stacks: CachePadded<Stacks>,
}

impl Beat {
    const_fn! {
        /// For one domain, or if `is_shared`, for several threads.
        pub(crate) fn new(is_shared: bool) -> Self {
            Beat { word: AtomicU8::new(WANTED), stacks: CachePadded(Stacks::new(is_shared)) }
        }
    }

    #[inline(always)]
    pub fn is_off(&self) -> bool {
        self.word.load(Ordering::Relaxed) == OFF
    }

    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.word.load(Ordering::Relaxed) == WANTED
    }

    /// Is nobody to be asked now whether anything is wanted?
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Relaxed) <= QUIET
    }

    /// Somebody looks for work. He has been counted before, so an owner that turns the word off at the same time sees
    /// either this or him.
    #[inline]
    pub(crate) fn want(&self) {
        if self.word.load(Ordering::SeqCst) != WANTED {
            self.word.store(WANTED, Ordering::SeqCst);
        }
    }

    /// The wish has been heard. Owner only, who then looks who wishes.
    pub(crate) fn heard(&self) {
        self.word.swap(ON, Ordering::SeqCst);
    }

    /// Nobody seems to want anything. Owner only, who then has to look once more.
    pub(crate) fn quieten(&self) {
        // Not if somebody has come to want something meanwhile.
        let _ = self.word.compare_exchange(ON, QUIET, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// Nobody is asked, whoever looks for work, until what this gives is dropped. Owner only, for so short a while that it is
    /// not worth the asking.
    #[inline]
    pub fn silence(&self) -> Silence<'_> {
        let was_quiet = self.is_quiet();
        if !was_quiet {
            self.word.store(QUIET, Ordering::Relaxed);
        }
        Silence { word: self, was_quiet }
    }

    /// What is put off from here on need not be noted down as long as it is quiet. Owner only.
    #[inline]
    pub fn turn_off(&self) {
        self.exchange(QUIET, OFF);
    }

    /// What is put off from here on is to be noted down, even if it is quiet. Owner only.
    #[inline]
    pub fn note_down(&self) {
        self.exchange(OFF, QUIET);
    }

    /// Something else wants the domain: it is to look at the clock again.
    #[inline]
    pub(crate) fn turn_on(&self) {
        if self.is_quiet() {
            // The words are in this order, and its owner may just be going up or down a level.
            self.word.fetch_max(ON, Ordering::SeqCst);
        }
    }

    #[inline]
    fn exchange(&self, from: u8, to: u8) {
        if self.word.load(Ordering::Relaxed) == from {
            let _ = self.word.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
        }
    }
}

/// See [`Beat::silence`].
pub struct Silence<'a> {
    word: &'a Beat,
    was_quiet: bool,
}

impl Drop for Silence<'_> {
    #[inline]
    fn drop(&mut self) {
        // Whoever has written in between is lost, as was who had written before; the monitor sees to both.
        if !self.was_quiet && self.word.is_quiet() {
            self.word.word.store(ON, Ordering::Relaxed);
        }
    }
}

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use here::{OUTSIDE, here, set_here};

#[cfg(not(lisle_loom))]
mod here {
    use super::Beat;
    use std::cell::Cell;
    use std::ptr::NonNull;

    /// That of all threads that are no workers: somebody might always take what they put off.
    pub static OUTSIDE: Beat = Beat::new(true);

    thread_local! {
        static HERE: Cell<*const Beat> = const { Cell::new(&raw const OUTSIDE) };
    }

    /// The word of the domain whose code runs on this thread. To be used within the current call.
    #[inline(always)]
    pub fn here<'a>() -> &'a Beat {
        // SAFETY: it is `OUTSIDE`, or what `set_here` was given, which is there until it is taken back.
        unsafe { &*HERE.with(Cell::get) }
    }

    /// Makes `heartbeat` the word of this thread, or with `None` that of the threads that are no workers.
    ///
    /// # Safety
    ///
    /// It stays in place until it is taken back.
    #[inline]
    pub unsafe fn set_here(heartbeat: Option<NonNull<Beat>>) {
        HERE.with(|here| {
            here.set(heartbeat.map_or(&raw const OUTSIDE, |heartbeat| heartbeat.as_ptr().cast_const()))
        });
    }
}
