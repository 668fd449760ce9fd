//! The plain OS threads that sleep until an event happens, so that they can be listed with the fibers that wait.
//!
//! A thread that really goes to sleep says so by one store. What it waits for it tells only if asked, and tells it
//! itself: its event need not be `Sync`, so nobody else may look at it. Whoever asks unparks the thread, which sees
//! that it was not its wake, answers, and sleeps on.

use super::calls;
use super::context::Unparked;
use super::parker;
use super::waits::{BlockedOn, Description, ParkedEvent, performer_id};
use crate::own_threads;
use crate::panics;
use crate::shim::{
    atomic::{AtomicBool, AtomicU64, Ordering},
    clock,
    sync::{Arc, Mutex, MutexGuard},
    thread,
};
use std::time::Duration;

/// A thread that has slept.
struct Sleeper {
    thread: thread::Thread,
    id: usize,
    asleep: AtomicBool,
    /// How often it has been asked.
    asked: AtomicU64,
    /// The number of the question it has answered last, and the answer.
    answer: Mutex<(u64, Vec<BlockedOn>)>,
}

/// What a thread has told.
pub struct Told {
    pub id: usize,
    pub name: Option<String>,
    pub waits: Vec<BlockedOn>,
}

static ALL: Mutex<Vec<Arc<Sleeper>>> = Mutex::new(Vec::new());

/// A thread's place in the list, until it ends.
struct Place(Arc<Sleeper>);

impl Drop for Place {
    fn drop(&mut self) {
        lock(&ALL).retain(|sleeper| !Arc::ptr_eq(sleeper, &self.0));
    }
}

thread_local! {
    static PLACE: Place = Place::new();
}

impl Place {
    fn new() -> Self {
        let sleeper = Arc::new(Sleeper {
            thread: thread::current(),
            id: performer_id(),
            asleep: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            answer: Mutex::default(),
        });
        lock(&ALL).push(sleeper.clone());
        Place(sleeper)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Parks this thread until `woken`, or, if it is in a foreign call and `interruptible`, until that is not to wait any more.
pub(super) fn sleep(parked: Option<ParkedEvent>, woken: &AtomicBool, interruptible: bool) -> Unparked {
    let is_woken = || woken.load(Ordering::Acquire);
    // A thread that is ending has no place any more, and is not listed; nor are the library's own.
    let sleeper = if own_threads::is_own() { None } else { PLACE.try_with(|place| place.0.clone()).ok() };
    let Some(sleeper) = sleeper else {
        while !is_woken() {
            thread::park();
        }
        return Unparked::Woken;
    };
    sleeper.asleep.store(true, Ordering::Release);
    // SAFETY: the flag is borrowed for longer than this function takes.
    let in_call = calls::current().map(|call| unsafe { calls::Asleep::note(call, sleeper.id, woken) });
    // One that waits where nothing can be unwound, in a destructor that runs because of a panic, goes on waiting.
    let is_interrupted = || {
        interruptible
            && in_call.as_ref().is_some_and(calls::Asleep::is_interrupted)
            && parker::can_be_unwound()
    };
    let unparked = loop {
        if is_woken() {
            break Unparked::Woken;
        }
        if is_interrupted() {
            break Unparked::Interrupted;
        }
        sleeper.answer(parked);
        thread::park();
    };
    drop(in_call);
    sleeper.asleep.store(false, Ordering::Release);
    unparked
}

impl Sleeper {
    /// Answers if there is a question.
    fn answer(&self, parked: Option<ParkedEvent>) {
        // Acquire: pairs with the question, whose unpark may have come before this park.
        let asked = self.asked.load(Ordering::Acquire);
        if asked == 0 || lock(&self.answer).0 == asked {
            return;
        }
        let mut waits = Description::default();
        if let Some(parked) = parked {
            // SAFETY: this thread is the performer, and in the park that this was made for.
            let describe = || unsafe { parked.describe(&mut waits) };
            panics::told("an event that was to tell what a thread waits for", describe);
        }
        *lock(&self.answer) = (asked, waits.all);
    }
}

/// Asks all threads that sleep what they wait for. Who does not answer within `adaptive_spin`, since it has been woken,
/// waits no more.
pub fn ask(adaptive_spin: Duration) -> Vec<Told> {
    let mut asked: Vec<(Arc<Sleeper>, u64)> = Vec::new();
    for sleeper in lock(&ALL).iter().filter(|sleeper| sleeper.asleep.load(Ordering::Acquire)) {
        let question = sleeper.asked.fetch_add(1, Ordering::AcqRel) + 1;
        sleeper.thread.unpark();
        asked.push((sleeper.clone(), question));
    }
    let mut told = Vec::new();
    let end = clock::now().saturating_add(clock::saturating_nanos(adaptive_spin));
    let mut pause = Duration::from_micros(20);
    loop {
        asked.retain(|(sleeper, question)| {
            let answer = lock(&sleeper.answer);
            if answer.0 < *question {
                return sleeper.asleep.load(Ordering::Acquire);
            }
            let name = sleeper.thread.name().map(str::to_owned);
            told.push(Told { id: sleeper.id, name, waits: answer.1.clone() });
            false
        });
        if asked.is_empty() || clock::now() >= end {
            return told;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}
