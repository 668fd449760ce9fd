//! The word of each domain that tells its loops whether another domain could use the work that they
//! put off.
//!
//! If no domain could take the second half of a join, the join does not even note it down. Such a
//! join is a look at this word and two calls. The word belongs to the domain on which the code
//! runs, and is reached through a thread-local. A look costs two loads, of memory that hardly ever
//! changes.

use super::stacks::Stacks;
use crate::shim::unseen::{AtomicU8, Ordering};
use crate::shim::{CachePadded, const_fn};

/// No domain could take anything, and nothing else wants this domain. Set only where enough is
/// noted down already, see [`FIRST_LEVELS`](super::pending::FIRST_LEVELS).
const OFF: u8 = 0;
/// The same as `OFF`, but halves and rests are noted down.
const QUIET: u8 = 1;
/// Halves and rests are noted down, and the clock is looked at now and then.
const ON: u8 = 2;
/// Another domain looks for work: the owner gives something away at once.
const WANTED: u8 = 3;

/// The word of one domain, and the stacks that other threads look at.
#[derive(Debug)]
pub struct Beat {
    word: AtomicU8,
    /// The stacks where something may be put off.
    pub(crate) stacks: CachePadded<Stacks>,
}

impl Beat {
    const_fn! {
        /// Creates the word of one domain, or, if `is_shared`, of several threads.
        pub(crate) fn new(is_shared: bool) -> Self {
            Beat { word: AtomicU8::new(WANTED), stacks: CachePadded(Stacks::new(is_shared)) }
        }
    }

    /// Forgets the stacks of threads that this process, a forked child, does not have.
    #[cfg(not(lisle_loom))]
    pub(crate) fn forget_inherited(&self) {
        self.word.store(WANTED, Ordering::Relaxed);
        self.stacks.forget_inherited();
    }

    #[inline(always)]
    pub fn is_off(&self) -> bool {
        self.word.load(Ordering::Relaxed) == OFF
    }

    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.word.load(Ordering::Relaxed) == WANTED
    }

    /// Returns `true` if a look whether anything is wanted would not pay.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Relaxed) <= QUIET
    }

    /// Says that the caller looks for work. The caller has been counted before. So an owner that
    /// turns the word off at the same time sees either the word or the count.
    #[inline]
    pub(crate) fn want(&self) {
        if self.word.load(Ordering::SeqCst) != WANTED {
            self.word.store(WANTED, Ordering::SeqCst);
        }
    }

    /// Says that the owner has seen `WANTED`. Only the owner calls this, and then looks which
    /// domains want work.
    pub(crate) fn heard(&self) {
        self.word.swap(ON, Ordering::SeqCst);
    }

    /// Says that no domain seems to want anything. Only the owner calls this, and has to look once
    /// more afterwards.
    pub(crate) fn quieten(&self) {
        // This fails if another domain has begun to look for work meanwhile.
        let _ = self.word.compare_exchange(ON, QUIET, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// Makes the word quiet, whatever looks for work, until the returned guard is dropped. Only the
    /// owner calls this, for code that most likely ends before a look would pay.
    #[inline]
    pub fn silence(&self) -> Silence<'_> {
        let was_quiet = self.is_quiet();
        if !was_quiet {
            self.word.store(QUIET, Ordering::Relaxed);
        }
        Silence { word: self, was_quiet }
    }

    /// Says that joins from here on need not note down their second halves as long as the word is
    /// quiet. Only the owner calls this.
    #[inline]
    pub fn turn_off(&self) {
        self.exchange(QUIET, OFF);
    }

    /// Says that joins from here on note down their second halves, even if the word is quiet. Only
    /// the owner calls this.
    #[inline]
    pub fn note_down(&self) {
        self.exchange(OFF, QUIET);
    }

    /// Makes the owner look at the clock again, since something else wants the domain.
    #[inline]
    pub(crate) fn turn_on(&self) {
        if self.is_quiet() {
            // The values are in this order, and the owner may be changing the word at the same
            // time.
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

/// A guard, see [`Beat::silence`].
pub struct Silence<'a> {
    word: &'a Beat,
    was_quiet: bool,
}

impl Drop for Silence<'_> {
    #[inline]
    fn drop(&mut self) {
        // This overwrites a value that another thread has written in between, and the value before
        // `silence`. The monitor makes up for both.
        if !self.was_quiet && self.word.is_quiet() {
            self.word.word.store(ON, Ordering::Relaxed);
        }
    }
}

#[cfg(not(lisle_loom))]
pub use here::{OUTSIDE, here, set_here};

#[cfg(not(lisle_loom))]
mod here {
    use super::Beat;
    use std::cell::Cell;
    use std::ptr::NonNull;

    /// The word of all threads that run no domain. Some domain might always take their pending
    /// work.
    pub static OUTSIDE: Beat = Beat::new(true);

    thread_local! {
        static HERE: Cell<*const Beat> = const { Cell::new(&raw const OUTSIDE) };
    }

    /// Returns the word of the domain whose code runs on this thread, for use within the current
    /// call.
    #[inline(always)]
    pub fn here<'a>() -> &'a Beat {
        // SAFETY: the pointer is to `OUTSIDE`, or was given to `set_here` and stays valid until
        // taken back.
        unsafe { &*HERE.with(Cell::get) }
    }

    /// Makes `heartbeat` the word of this thread, or with `None` the word of all threads that run
    /// no domain.
    ///
    /// # Safety
    ///
    /// The word stays in place until it is taken back.
    #[inline]
    pub unsafe fn set_here(heartbeat: Option<NonNull<Beat>>) {
        HERE.with(|here| {
            here.set(heartbeat.map_or(&raw const OUTSIDE, |heartbeat| heartbeat.as_ptr().cast_const()))
        });
    }
}
