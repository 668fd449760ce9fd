//! Foreign calls whose threads sleep in the library, waiting for an event.
//!
//! A call that `blocking` has been given may do anything, and so may wake any fiber, as long as it
//! runs. Once it waits for an event it is one more of those that wait: it goes on if somebody commits it, and by nothing
//! else. So its thread notes here that it sleeps, for those who ask whether anybody is left who could wake a fiber. It
//! enlists for that time, too: what sleeps here is no stranger.
//!
//! A note names the flag by which the sleeper is woken. Who wakes it raises the flag before anything else, and who looks
//! through the notes looks at the flags, so one that was woken and has not come up yet is seen not to sleep.

use crate::own_threads::{self, Enlisted};
use crate::shim::{
    atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::{Arc, Mutex, MutexGuard},
    thread,
};
use std::cell::RefCell;
use std::ptr::NonNull;

/// One call, as its caller, its thread and those who ask see it.
#[derive(Debug, Default)]
pub struct Call {
    /// The runtime whose fiber has made it.
    runtime: usize,
    /// The number of the thread that sleeps in it, see [`performer_id`](super::performer_id); 0 while it does not sleep.
    sleeper: AtomicUsize,
    /// What it waits for is not to be waited for any more.
    interrupted: AtomicBool,
}

/// The note of a thread that sleeps.
struct Note {
    call: Arc<Call>,
    thread: thread::Thread,
    /// The flag of its wait, which lies on its stack: there until the note is taken back.
    woken: NonNull<AtomicBool>,
}

// SAFETY: the pointer leads to an atomic, which is there as long as the note is in the list.
unsafe impl Send for Note {}

struct Notes {
    asleep: Vec<Note>,
    /// How many there have been.
    sleeps: u64,
}

static NOTES: Mutex<Notes> = Mutex::new(Notes { asleep: Vec::new(), sleeps: 0 });

thread_local! {
    static CURRENT: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

fn notes() -> MutexGuard<'static, Notes> {
    NOTES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Call {
    pub fn new(runtime: usize) -> Arc<Self> {
        Arc::new(Call { runtime, ..Call::default() })
    }

    /// The number of the thread that sleeps in it, waiting for an event.
    pub fn sleeper(&self) -> Option<usize> {
        Some(self.sleeper.load(Ordering::Acquire)).filter(|&sleeper| sleeper != 0)
    }

    /// Runs `f` as this call: events that this thread waits for meanwhile are waited for by the call.
    pub fn run<T>(self: Arc<Self>, f: impl FnOnce() -> T) -> T {
        struct Ends;
        impl Drop for Ends {
            fn drop(&mut self) {
                CURRENT.take();
            }
        }
        CURRENT.set(Some(self));
        let _ends = Ends;
        f()
    }
}

/// The call that this thread is in.
pub(super) fn current() -> Option<Arc<Call>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// A note that this thread sleeps in a call, until dropped.
pub(super) struct Asleep {
    call: Arc<Call>,
    woken: NonNull<AtomicBool>,
    /// Let go of when the note is gone, but before the thread goes on.
    _enlisted: Enlisted,
}

impl Asleep {
    /// Notes that this thread sleeps in `call`, as the performer with number `sleeper`, until `woken`.
    ///
    /// # Safety
    ///
    /// The flag stays where it is until the note is dropped.
    pub(super) unsafe fn note(call: Arc<Call>, sleeper: usize, woken: &AtomicBool) -> Self {
        let enlisted = own_threads::enlist(own_threads::Owner::Everybody);
        let woken = NonNull::from(woken);
        call.sleeper.store(sleeper, Ordering::Release);
        let mut notes = notes();
        notes.sleeps += 1;
        notes.asleep.push(Note { call: call.clone(), thread: thread::current(), woken });
        Asleep { call, woken, _enlisted: enlisted }
    }

    /// Is the call not to wait any more?
    pub(super) fn is_interrupted(&self) -> bool {
        self.call.interrupted.load(Ordering::Acquire)
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        notes().asleep.retain(|note| note.woken != self.woken);
        self.call.sleeper.store(0, Ordering::Release);
    }
}

/// How many calls sleep, and how often one has fallen asleep; `None` if one of them is about to go on.
pub fn stillness() -> Option<(u64, u64)> {
    let notes = notes();
    let goes_on = |note: &Note| {
        // SAFETY: a note is taken back, under the lock, before the flag goes.
        let woken = unsafe { note.woken.as_ref() };
        woken.load(Ordering::Acquire) || note.call.interrupted.load(Ordering::Acquire)
    };
    (!notes.asleep.iter().any(goes_on)).then_some((notes.asleep.len() as u64, notes.sleeps))
}

/// Has the calls of this runtime that sleep unwind from where they wait. For a runtime of which it is certain that nobody
/// will wake them.
pub fn interrupt(runtime: usize) {
    for note in notes().asleep.iter().filter(|note| note.call.runtime == runtime) {
        note.call.interrupted.store(true, Ordering::Release);
        note.thread.unpark();
    }
}
