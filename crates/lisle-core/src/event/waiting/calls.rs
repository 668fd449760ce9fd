//! Foreign calls whose threads sleep in the library, waiting for an event.
//!
//! As long as a call given to `blocking` runs, it may do anything, including waking any fiber. When
//! it waits for an event it is one more waiting performer, which continues only if a partner
//! commits it. Therefore its thread notes here that it sleeps; the search for a party that could
//! still wake a fiber reads these notes. The thread also enlists (`own_threads`) for that time:
//! while it sleeps here it does not count as a thread of the program that could wake a fiber.
//!
//! A note refers to the word by which the sleeper is woken. The waking thread sets the word before
//! it wakes the sleeper, and a reader of the notes checks the words. Therefore a thread that was
//! woken and has not yet returned from its sleep is not seen as asleep.

use super::wake_word::WakeWord;
use crate::fork::PerProcess;
use crate::own_threads::{self, Enlisted};
use crate::shim::{
    atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::{Arc, Mutex, MutexGuard},
    thread,
};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// One call, as seen by its caller, its thread and readers of the notes.
#[derive(Debug, Default)]
pub struct Call {
    /// The runtime whose fiber has made it.
    runtime: usize,
    /// The number of the thread that sleeps in it, see [`performer_id`](crate::event::performer_id); 0
    /// while it does not sleep.
    sleeper: AtomicUsize,
    /// Whether the call must stop waiting.
    interrupted: AtomicBool,
}

/// The note of a thread that sleeps.
struct Note {
    call: Arc<Call>,
    thread: thread::Thread,
    /// The word of its wait, which lies on its stack and stays there until the note is removed.
    woken: NonNull<WakeWord>,
}

// SAFETY: the pointer leads to a word that threads share, which stays in place as long as the note
// is in the list.
unsafe impl Send for Note {}

#[derive(Default)]
struct Notes {
    asleep: Vec<Note>,
    /// The number of sleeps so far.
    sleeps: u64,
}

static NOTES: PerProcess<Mutex<Notes>> = PerProcess::new(Mutex::default);

thread_local! {
    /// It has no destructor, so it is there for the destructors of other locals.
    static CURRENT: RefCell<Option<ManuallyDrop<Arc<Call>>>> = const { RefCell::new(None) };
}

fn notes() -> MutexGuard<'static, Notes> {
    NOTES.get().lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Call {
    pub fn new(runtime: usize) -> Arc<Self> {
        Arc::new(Call { runtime, ..Call::default() })
    }

    /// Returns the number of the thread that sleeps in it, waiting for an event.
    pub fn sleeper(&self) -> Option<usize> {
        Some(self.sleeper.load(Ordering::Acquire)).filter(|&sleeper| sleeper != 0)
    }

    /// Runs `f` as this call: the call waits for the events that this thread waits for meanwhile.
    pub fn run<T>(self: Arc<Self>, f: impl FnOnce() -> T) -> T {
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                drop(CURRENT.take().map(ManuallyDrop::into_inner));
            }
        }
        CURRENT.set(Some(ManuallyDrop::new(self)));
        let _ends = Ends;
        f()
    }
}

/// Returns the call that this thread is in.
pub(in crate::event) fn current() -> Option<Arc<Call>> {
    CURRENT.with_borrow(|current| current.as_deref().cloned())
}

/// A guard for the note that this thread sleeps in a call.
pub(in crate::event) struct Asleep {
    call: Arc<Call>,
    woken: NonNull<WakeWord>,
    /// Dropped when the note is removed, before the thread continues.
    _enlisted: Enlisted,
}

impl Asleep {
    /// Notes that this thread sleeps in `call`, as the performer with number `sleeper`, until
    /// `woken` is set.
    ///
    /// # Safety
    ///
    /// The word stays in place until the note is dropped.
    pub(in crate::event) unsafe fn note(call: Arc<Call>, sleeper: usize, woken: &WakeWord) -> Self {
        let enlisted = own_threads::enlist(own_threads::Owner::Everybody);
        let woken = NonNull::from(woken);
        call.sleeper.store(sleeper, Ordering::Release);
        let mut notes = notes();
        notes.sleeps += 1;
        notes.asleep.push(Note { call: call.clone(), thread: thread::current(), woken });
        Asleep { call, woken, _enlisted: enlisted }
    }

    /// Returns `true` if the call must stop waiting.
    pub(in crate::event) fn is_interrupted(&self) -> bool {
        self.call.interrupted.load(Ordering::Acquire)
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        notes().asleep.retain(|note| note.woken != self.woken);
        self.call.sleeper.store(0, Ordering::Release);
    }
}

/// Returns the number of calls that sleep and the number of sleeps so far, or `None` if one of the
/// calls is about to continue.
pub fn stillness() -> Option<(u64, u64)> {
    let notes = notes();
    let goes_on = |note: &Note| {
        // SAFETY: a note is removed, under the lock, before its word is freed.
        let woken = unsafe { note.woken.as_ref() };
        woken.is_set() || note.call.interrupted.load(Ordering::Acquire)
    };
    (!notes.asleep.iter().any(goes_on)).then_some((notes.asleep.len() as u64, notes.sleeps))
}

/// Makes the sleeping calls of this runtime unwind from their waits. It is for a runtime for which
/// it is certain that nothing will wake them.
pub fn interrupt(runtime: usize) {
    for note in notes().asleep.iter().filter(|note| note.call.runtime == runtime) {
        note.call.interrupted.store(true, Ordering::Release);
        note.thread.unpark();
    }
}
