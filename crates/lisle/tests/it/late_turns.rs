//! The turn at a mutex belongs to a fiber or a task whose domain is busy with another fiber. Others
//! have the mutex meanwhile: the busy fiber ends only when they had it.

use crate::support::{at_once, poll_once, watched};
use lisle::event::WaitSet;
use lisle::fiber::{spawn_on, yield_now};
use lisle::sync::{Condvar, Mutex, MutexGuard};
use lisle::{Event, Runtime, choose, never};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// Longer than any test takes.
const AGES: Duration = Duration::from_secs(3_600);

/// How a performer locks the mutex.
#[derive(Debug, Clone, Copy)]
enum Way {
    Fiber,
    /// A fiber that waits for something else, too.
    Choice,
    TimeLimit,
    Task,
    Thread,
    /// A thread that tries again and again, and never waits in the queue.
    Tries,
}

/// Locks the mutex in a performer of its own, which is of `domain` if it is a fiber or a task. It
/// calls `begins` before, and `has` while it has the mutex. Returns a function that waits for its
/// end.
fn lock(
    way: Way,
    domain: usize,
    mutex: &Arc<Mutex<()>>,
    begins: impl FnOnce() + Send + 'static,
    has: impl FnOnce() + Send + 'static,
) -> Box<dyn FnOnce()> {
    type InPlace = fn(&Mutex<()>) -> MutexGuard<'_, ()>;

    let mutex = mutex.clone();
    let in_place: Option<InPlace> = match way {
        Way::Fiber | Way::Thread => Some(|mutex| mutex.lock()),
        Way::Choice => Some(|mutex| choose((never(), mutex.lock_evt())).sync()),
        Way::TimeLimit => Some(|mutex| mutex.lock_timeout(AGES).unwrap()),
        Way::Tries => Some(|mutex| {
            loop {
                match mutex.try_lock() {
                    Some(guard) => break guard,
                    None => thread::yield_now(),
                }
            }
        }),
        Way::Task => None,
    };
    let performer = async move {
        begins();
        let _guard = match in_place {
            Some(lock) => lock(&mutex),
            None => mutex.lock_evt().await,
        };
        has();
    };
    match way {
        Way::Fiber | Way::Choice | Way::TimeLimit => {
            let fiber = spawn_on(domain, || at_once(performer));
            Box::new(|| fiber.join().unwrap())
        }
        Way::Task => {
            let fiber = spawn_on(domain, || lisle::spawn_task(performer).join().unwrap());
            Box::new(|| fiber.join().unwrap())
        }
        Way::Thread | Way::Tries => {
            let thread = thread::spawn(|| at_once(performer));
            Box::new(|| lisle::blocking(|| thread.join().unwrap()))
        }
    }
}

/// `late` waits first, on a domain that is then kept until `other` has had the mutex. If one is
/// `ahead`, that has the first turn and leaves it: where the lock has just been kept for somebody, the
/// next is only told.
fn others_have_it(late: Way, other: Way, ahead: bool) {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.lock();
    let mut first = ahead.then(|| Box::pin(mutex.lock_evt().into_future()));
    assert!(first.iter_mut().all(|first| poll_once(first.as_mut()).is_pending()));
    let [is_kept, is_coming, had_it] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let keep = {
        let (is_kept, had_it) = (is_kept.clone(), had_it.clone());
        // It begins once the domain has nothing else to do: when the late one waits.
        || {
            drop(spawn_on(0, move || {
                is_kept.store(true, Ordering::Release);
                while !had_it.load(Ordering::Acquire) {
                    spin_loop();
                }
            }))
        }
    };
    let late_ends = lock(late, 0, &mutex, keep, || ());
    while !is_kept.load(Ordering::Acquire) {
        yield_now();
    }
    let comes = {
        let is_coming = is_coming.clone();
        move || is_coming.store(true, Ordering::Release)
    };
    let other_ends = lock(other, 1, &mutex, comes, move || had_it.store(true, Ordering::Release));
    while !is_coming.load(Ordering::Acquire) {
        yield_now();
    }
    drop((guard, first));
    other_ends();
    late_ends();
}

fn others_have_it_in_a_runtime(late: Way, other: Way, ahead: bool) {
    let case = move || others_have_it(late, other, ahead);
    Runtime::builder().domains(2).run(move || spawn_on(1, case).join().unwrap());
}

#[test]
fn others_have_a_mutex_whose_turn_is_that_of_a_domain_that_is_kept() {
    let _watched = watched();
    for late in [Way::Fiber, Way::Choice, Way::TimeLimit, Way::Task] {
        for other in [Way::Fiber, Way::Choice, Way::TimeLimit, Way::Task, Way::Thread, Way::Tries] {
            for ahead in [false, true] {
                others_have_it_in_a_runtime(late, other, ahead);
            }
        }
    }
}

/// Each time that its turn comes a future is not polled in time, and when it is polled the mutex is
/// held. Then the mutex is kept for it until it comes.
#[test]
fn one_that_always_comes_late_has_it_in_the_end() {
    let _watched = watched();
    // A lock is kept for the first time when the library's clock, which has begun with the process, has
    // gone on for a while.
    lisle::time::sleep(Duration::from_millis(1));
    let mutex = Mutex::new(());
    let mut guard = mutex.lock();
    let mut slow = Box::pin(mutex.lock_evt().into_future());
    assert!(poll_once(slow.as_mut()).is_pending());
    let mut turns = 0;
    loop {
        drop(guard);
        let Some(taken) = mutex.lock_timeout(Duration::from_secs(1)) else { break };
        guard = taken;
        turns += 1;
        assert!(turns <= 10, "it has come {turns} times in vain");
        assert!(poll_once(slow.as_mut()).is_pending());
    }
    assert!(turns >= 3, "the mutex is kept for it, though it has come late {turns} times only");
    assert!(poll_once(slow.as_mut()).is_ready());
}

/// As the one before, with a choice, whose commit is taken back.
#[test]
fn a_choice_that_comes_late_starts_over_and_has_either() {
    let _watched = watched();
    for elsewhere in [false, true] {
        let (mutex, other) = (Mutex::new(()), Mutex::new(()));
        let (guard, elsewhere_held) = (mutex.lock(), other.lock());
        let both = choose((mutex.lock_evt().wrap(|_| false), other.lock_evt().wrap(|_| true)));
        let mut slow = Box::pin(both.into_future());
        assert!(poll_once(slow.as_mut()).is_pending());
        drop(guard);
        let guard = mutex.lock(); // the turn is taken back
        assert!(poll_once(slow.as_mut()).is_pending());
        if elsewhere {
            drop(elsewhere_held);
            assert_eq!(poll_once(slow.as_mut()), Poll::Ready(true));
            drop(guard);
        } else {
            drop(guard);
            assert_eq!(poll_once(slow.as_mut()), Poll::Ready(false));
        }
        // It has left nothing behind.
        assert!(mutex.try_lock().is_some() && (!elsewhere || other.try_lock().is_some()));
    }
}

/// A notified waiter locks its mutex again, and is late. Others have the mutex meanwhile.
#[test]
fn a_waiter_of_a_condition_variable_is_late() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), AtomicBool::new(false)));
        let waiter = spawn_on(0, {
            let shared = shared.clone();
            move || {
                let (mutex, changed, _) = &*shared;
                let guard = mutex.lock();
                let has_ended = shared.clone();
                // It begins when the waiter waits.
                drop(spawn_on(0, move || {
                    let (mutex, _, had_it) = &*has_ended;
                    *mutex.lock() = 1;
                    while !had_it.load(Ordering::Acquire) {
                        spin_loop();
                    }
                }));
                drop(changed.wait_while(guard, |step| *step < 2));
            }
        });
        let other = spawn_on(1, move || {
            let (mutex, changed, had_it) = &*shared;
            let is_kept = || *mutex.lock() == 1;
            while !is_kept() {
                yield_now();
            }
            // Several times, so that the turn is the waiter's when this locks once more.
            for _ in 0..20 {
                let mut guard = mutex.lock();
                *guard = 2;
                changed.notify_all();
                yield_now();
            }
            had_it.store(true, Ordering::Release);
        });
        other.join().unwrap();
        waiter.join().unwrap();
    });
}

/// A wait set keeps its places elsewhere when the turn of one source is taken back.
#[test]
fn a_wait_set_that_comes_late_starts_over() {
    let _watched = watched();
    let (mutex, other) = (Mutex::new(()), Mutex::new(()));
    let (mut guard, elsewhere) = (mutex.lock(), other.lock());
    let mut set = WaitSet::new();
    set.insert(mutex.lock_evt().wrap(|_| 0));
    set.insert(other.lock_evt().wrap(|_| 1));
    let next = set.evt().wrap(|(_, source)| source);
    let mut slow = Box::pin(next.into_future());
    for _ in 0..3 {
        assert!(poll_once(slow.as_mut()).is_pending());
        drop(guard);
        guard = mutex.lock(); // the turn is taken back
    }
    assert!(poll_once(slow.as_mut()).is_pending());
    drop(elsewhere);
    assert_eq!(poll_once(slow.as_mut()), Poll::Ready(1));
}

/// A forgotten future stays in the queue of a mutex that then goes elsewhere, or goes. The thread that
/// sees to late turns does not look there: it has looked at another mutex since.
#[test]
fn a_mutex_may_go_when_those_that_wait_for_it_are_forgotten() {
    let _watched = watched();
    for moves in [false, true] {
        let mutex = Box::new(Mutex::new(7));
        let guard = mutex.lock();
        let mut set = WaitSet::new();
        set.insert(mutex.lock_evt().wrap(drop));
        assert!(set.poll().is_none());
        let [first, second] = [(), ()].map(|()| {
            let mut waits = Box::pin(mutex.lock_evt().into_future());
            assert!(poll_once(waits.as_mut()).is_pending());
            waits
        });
        drop(guard);
        std::mem::forget((set, first, second));
        let moved = if moves {
            Some(*mutex)
        } else {
            drop(mutex);
            None
        };
        others_have_it_in_a_runtime(Way::Fiber, Way::Thread, false);
        // The turn belongs to a waiter that does not come.
        assert!(moved.is_none_or(|mutex| *mutex.lock() == 7));
    }
}
