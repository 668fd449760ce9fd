//! The plain OS threads that sleep until an event happens. They can be listed with the fibers that
//! wait.
//!
//! A thread that really goes to sleep notes it by one store. It describes its wait only when asked,
//! and does so itself: its event need not be `Sync`, so no other thread may use it. The asking
//! thread unparks the sleeper, which sees that this was not its wake, answers, and sleeps again.

use super::calls;
use super::limit;
use super::wake_word::WakeWord;
use crate::event::ends::{Ends, Unparked};
use crate::event::performer::id::performer_id;
use crate::event::performer::parker;
use crate::event::telling::parked::ParkedEvent;
use crate::event::telling::waits::{BlockedOn, Description};
use crate::fork::{self, PerProcess};
use crate::own_threads;
use crate::panics;
use crate::shim::{
    atomic::{AtomicBool, AtomicU64, Ordering, fence},
    clock,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};
use std::cell::Cell;
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

static ALL: PerProcess<Mutex<Vec<Arc<Sleeper>>>> = PerProcess::new(Mutex::default);

/// The place where asking threads wait. It is notified when a thread has answered, or was asked and
/// has been woken.
#[derive(Default)]
struct Answers {
    lock: Mutex<()>,
    one_has: Condvar,
}

static ANSWERS: PerProcess<Answers> = PerProcess::new(Answers::default);

impl Answers {
    fn tell(&self) {
        // A thread that waits has looked before, or looks after this.
        drop(lock(&self.lock));
        self.one_has.notify_all();
    }
}

/// A thread's place in the list, until the thread ends.
struct Listed {
    sleeper: Arc<Sleeper>,
    /// The process of its list: the list of a forked child is empty at first.
    generation: Cell<u32>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(ALL.get()).retain(|sleeper| !Arc::ptr_eq(sleeper, &self.sleeper));
    }
}

thread_local! {
    static PLACE: Listed = Listed::new();
}

impl Listed {
    fn new() -> Self {
        let sleeper = Arc::new(Sleeper {
            thread: thread::current(),
            id: performer_id(),
            asleep: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            answer: Mutex::default(),
        });
        lock(ALL.get()).push(sleeper.clone());
        Listed { sleeper, generation: Cell::new(fork::generation()) }
    }

    /// Returns the sleeper, which is in the list of this process.
    fn listed(&self) -> Arc<Sleeper> {
        if self.generation.replace(fork::generation()) != fork::generation() {
            lock(ALL.get()).push(self.sleeper.clone());
        }
        self.sleeper.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Parks this thread until `woken` is set, or, if the wait `ends`, until one of the thread's limits has
/// passed or the foreign call that it is in must stop waiting.
pub(in crate::event) fn sleep(parked: Option<ParkedEvent>, woken: &WakeWord, ends: Ends) -> Unparked {
    // A thread that is ending has no place any more and is not listed; nor are the library's own
    // threads.
    let sleeper = if own_threads::is_own() { None } else { PLACE.try_with(Listed::listed).ok() };
    let Some(sleeper) = sleeper else {
        while !woken.is_set() {
            if limit::thread_ends_a_wait(ends) {
                return Unparked::Passed;
            }
            thread::park();
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
        thread::park();
    };
    drop(in_call);
    sleeper.wakes();
    unparked
}

impl Sleeper {
    /// Says that the thread sleeps no more, also to threads that have asked it.
    fn wakes(&self) {
        self.asleep.store(false, Ordering::Release);
        // The one that asks counts its question and looks at `asleep` after that.
        fence(Ordering::SeqCst);
        let asked = self.asked.load(Ordering::Relaxed);
        if asked != 0 && lock(&self.answer).0 != asked {
            ANSWERS.get().tell();
        }
    }

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
        ANSWERS.get().tell();
    }
}

/// Asks all sleeping threads for their waits. A thread that does not answer within `timeout` has
/// been woken and is not listed.
pub fn ask(timeout: Duration) -> Vec<Told> {
    let mut asked: Vec<(Arc<Sleeper>, u64)> = Vec::new();
    for sleeper in lock(ALL.get()).iter().filter(|sleeper| sleeper.asleep.load(Ordering::Acquire)) {
        let question = sleeper.asked.fetch_add(1, Ordering::AcqRel) + 1;
        sleeper.thread.unpark();
        asked.push((sleeper.clone(), question));
    }
    // The threads that are woken see the questions.
    fence(Ordering::SeqCst);
    let mut told = Vec::new();
    let end = clock::now().saturating_add(clock::saturating_nanos(timeout));
    let answers = ANSWERS.get();
    let mut waiting = lock(&answers.lock);
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
        let left = end.saturating_sub(clock::now());
        if asked.is_empty() || left == 0 {
            return told;
        }
        let waited = answers.one_has.wait_timeout(waiting, Duration::from_nanos(left));
        waiting = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
    }
}
