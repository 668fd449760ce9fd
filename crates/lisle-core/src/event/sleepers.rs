//! The plain OS threads that sleep until an event happens. They can be listed with the fibers that
//! wait.
//!
//! A thread that really goes to sleep notes it by one store. It describes what it waits for only
//! when asked, and does so itself: its event need not be `Sync`, so no other thread may use it. The
//! asking thread unparks the sleeper, which sees that this was not its wake, answers, and sleeps
//! again.

use super::calls;
use super::context::{Ends, Unparked};
use super::limit;
use super::os_thread::WakeWord;
use super::parker;
use super::performer::performer_id;
use super::waits::{BlockedOn, Description, ParkedEvent};
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
    /// The number of questions to it.
    asked: AtomicU64,
    /// The number of the question that it has answered last, and the answer.
    answer: Mutex<(u64, Vec<BlockedOn>)>,
}

/// The answer of a thread.
pub struct Told {
    pub id: usize,
    pub name: Option<String>,
    pub waits: Vec<BlockedOn>,
}

static ALL: Mutex<Vec<Arc<Sleeper>>> = Mutex::new(Vec::new());

/// A thread's place in the list, until the thread ends.
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

/// The first and the longest pause before a thread that sleeps looks whether it could go on, if its
/// event wants that. Few sleeps for a lock are as long, even with many more threads than cores.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(160);

/// When a thread that sleeps looks next.
struct Looks {
    next: u64,
    pause: Duration,
}

impl Looks {
    fn new() -> Self {
        Looks { next: after(FIRST_LOOK), pause: FIRST_LOOK }
    }

    /// Parks until the thread is unparked or it is time to look, and then looks.
    fn park(&mut self, parked: ParkedEvent) {
        thread::park_timeout(Duration::from_nanos(self.next.saturating_sub(clock::now())));
        if clock::now() >= self.next {
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
            self.next = after(self.pause);
            // SAFETY: this thread is the performer, and in the park that this was made for.
            panics::told("an event that a thread sleeps for", || unsafe { parked.look_in_sleep() });
        }
    }
}

fn after(pause: Duration) -> u64 {
    clock::now().saturating_add(clock::saturating_nanos(pause))
}

/// Parks this thread until `woken` is set, or, if the wait `ends`, until one of the thread's limits has
/// passed or the foreign call that it is in must stop waiting. If it `looks`, it calls `look_in_sleep`
/// of its event now and then.
pub(super) fn sleep(parked: Option<ParkedEvent>, woken: &WakeWord, ends: Ends, looks: bool) -> Unparked {
    let mut looks = parked.filter(|_| looks).map(|parked| (Looks::new(), parked));
    let mut park = || match &mut looks {
        Some((looks, parked)) => looks.park(*parked),
        None => thread::park(),
    };
    // A thread that is ending has no place any more and is not listed; nor are the library's own
    // threads.
    let sleeper = if own_threads::is_own() { None } else { PLACE.try_with(|place| place.0.clone()).ok() };
    let Some(sleeper) = sleeper else {
        while !woken.is_set() {
            if limit::thread_ends_a_wait(ends) {
                return Unparked::Passed;
            }
            park();
        }
        return Unparked::Woken;
    };
    sleeper.asleep.store(true, Ordering::Release);
    // SAFETY: the word is borrowed for the whole of this function.
    let in_call = calls::current().map(|call| unsafe { calls::Asleep::note(call, sleeper.id, woken) });
    // A thread that cannot be unwound from here, in a destructor that runs because of a panic,
    // continues to wait.
    let is_interrupted = || {
        ends != Ends::Never
            && in_call.as_ref().is_some_and(calls::Asleep::is_interrupted)
            && parker::can_be_unwound()
    };
    let unparked = loop {
        if woken.is_set() {
            break Unparked::Woken;
        }
        if is_interrupted() {
            break Unparked::Interrupted;
        }
        if limit::thread_ends_a_wait(ends) {
            break Unparked::Passed;
        }
        sleeper.answer(parked);
        park();
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

/// Asks all threads that sleep what they wait for. A thread that does not answer within
/// `timeout` has been woken and is not listed.
pub fn ask(timeout: Duration) -> Vec<Told> {
    let mut asked: Vec<(Arc<Sleeper>, u64)> = Vec::new();
    for sleeper in lock(&ALL).iter().filter(|sleeper| sleeper.asleep.load(Ordering::Acquire)) {
        let question = sleeper.asked.fetch_add(1, Ordering::AcqRel) + 1;
        sleeper.thread.unpark();
        asked.push((sleeper.clone(), question));
    }
    let mut told = Vec::new();
    let end = clock::now().saturating_add(clock::saturating_nanos(timeout));
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
