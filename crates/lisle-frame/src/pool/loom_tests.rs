//! Loom models of the data that a world and its workers share: rings, seats, batches, the sleep of
//! a thread.
//!
//! A call counts in a cell that loom watches, so that a call that is run twice, or whose effect is
//! not seen with its result, is found. Loom also watches the memory of batches, and the references
//! that are their arguments and results: it finds memory that is freed twice or never.

use super::inbox::Inbox;
use super::link::Link;
use super::ring::Ring;
use super::table::Table;
use super::work::{Pool, Progress, Work};
use crate::batch::Batch;
use crate::batch::class::{Class, Deadline};
use crate::batch::lane::Lane;
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread::{self, JoinHandle};
use std::ptr::NonNull;
use std::time::Duration;

/// Explores `model` with at most `preemptions` forced switches a run. The number for each model is
/// the highest with which it ends within seconds.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// How often something has happened. Two that count at once are a race.
#[derive(Clone)]
struct Count(Arc<UnsafeCell<u32>>);

// SAFETY: loom watches whether the accesses are in order.
unsafe impl Send for Count {}
// SAFETY: as above.
unsafe impl Sync for Count {}

impl Count {
    fn new() -> Count {
        Count(Arc::new(UnsafeCell::new(0)))
    }
    fn up(&self) {
        // SAFETY: as above.
        self.0.with_mut(|count| unsafe { *count += 1 });
    }
    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|count| unsafe { *count })
    }
}

/// The foreign function.
fn up(count: Count) -> Count {
    count.up();
    count
}

type Signature = fn(Count) -> Count;

/// A pool that runs each work once, on a thread of its own, and drops it.
#[derive(Clone)]
struct Once {
    workers: usize,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Once {
    fn new(workers: usize) -> Once {
        Once { workers, threads: Arc::new(Mutex::new(Vec::new())) }
    }
    fn join(&self) {
        loop {
            let thread = self.threads.lock().unwrap().pop();
            match thread {
                Some(thread) => thread.join().unwrap(),
                None => return,
            }
        }
    }
}

impl Pool for Once {
    fn workers(&self) -> usize {
        self.workers
    }
    fn submit(&self, work: Work) {
        let thread = thread::spawn(move || {
            work.run();
        });
        self.threads.lock().unwrap().push(thread);
    }
    fn help(&self) {
        thread::yield_now();
    }
}

/// The state of a world for its calls.
struct Calls {
    link: Link,
    lane: Lane,
}

impl Calls {
    fn new(pool: impl Pool, places: usize) -> Calls {
        let class = Class {
            name: "up",
            id: 0,
            deadline: Deadline::Wait,
            unordered: false,
            homed: false,
            batch: 2,
            delay: Duration::ZERO,
        };
        let lane = Lane::new::<fn(Count) -> Count, Signature>(Box::leak(Box::new(class)));
        Calls { link: Link::new(Box::new(pool), places), lane }
    }

    /// Returns a batch with a call for each count.
    fn batch(&self, counts: &[&Count]) -> NonNull<Batch> {
        let batch = self.lane.empty(counts.len() as u32);
        for count in counts {
            // SAFETY: the lane is of this function, and the batch has room and is not published.
            unsafe { Batch::add::<fn(Count) -> Count, Signature>(batch, up, (*count).clone(), None) };
        }
        batch
    }

    /// Waits as a world does, and helps.
    fn wait(&self, batch: NonNull<Batch>) {
        // SAFETY: alive: the lane has it.
        while !unsafe { batch.as_ref() }.is_complete() {
            match self.link.take_as_world() {
                // SAFETY: taken out, it is ours.
                Some(batch) => unsafe { Batch::run(batch) },
                None => self.link.relax(),
            }
        }
    }

    /// Returns the result of a call. It says that the results before it are gone, too.
    fn result(&self, batch: NonNull<Batch>, at: u32) -> Count {
        // SAFETY: the caller has waited for the batch.
        unsafe {
            batch.as_ref().own.delivered.set(at + 1);
            Batch::take::<fn(Count) -> Count, Signature>(batch, at)
        }
    }

    /// Ends the world.
    fn end(self) {
        while let Some(batch) = self.link.take_any() {
            // SAFETY: taken out, it is ours.
            unsafe { Batch::skip(batch) };
        }
        // SAFETY: the table is empty.
        unsafe { self.lane.end() };
        self.link.leave();
    }
}

/// A count that a ring holds, and that others refer to.
fn item(count: &Count) -> NonNull<UnsafeCell<u32>> {
    NonNull::from(&*count.0)
}

/// More items than places: one of two takers takes each, and sees the pushed item.
#[test]
fn each_item_of_a_ring_is_taken_once() {
    explore(3, || {
        let counts = [Count::new(), Count::new(), Count::new()];
        let ring = Arc::new(Ring::new(2));
        let taker = |ring: &Ring<UnsafeCell<u32>>| {
            let mut taken = 0;
            while let Some(item) = ring.take() {
                // SAFETY: the counts outlive the threads; loom watches the access.
                unsafe { item.as_ref().with_mut(|count| *count += 1) };
                taken += 1;
            }
            taken
        };
        let other = {
            let ring = ring.clone();
            thread::spawn(move || taker(&ring))
        };
        let mut full = 0;
        for count in &counts {
            // Written before it is pushed.
            count.up();
            // SAFETY: only this thread pushes.
            full += u32::from(!unsafe { ring.push(item(count)) });
        }
        let taken = taker(&ring) + other.join().unwrap();
        assert_eq!(taken + full, 3);
        assert_eq!(counts.iter().map(Count::get).sum::<u32>(), 3 + taken);
        assert!(ring.is_empty());
    });
}

/// A place is used again at once, while another taker may still look at its old item.
#[test]
fn a_place_is_used_again() {
    explore(3, || {
        let counts = [Count::new(), Count::new()];
        let ring = Arc::new(Ring::new(1));
        let take = |ring: &Ring<UnsafeCell<u32>>| {
            if let Some(item) = ring.take() {
                // SAFETY: the counts outlive the threads; loom watches the access.
                unsafe { item.as_ref().with_mut(|count| *count += 1) };
            }
        };
        let takers = [0, 1].map(|_| {
            let ring = ring.clone();
            thread::spawn(move || take(&ring))
        });
        for count in &counts {
            // SAFETY: only this thread pushes.
            while !unsafe { ring.push(item(count)) } {
                take(&ring);
            }
        }
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        take(&ring);
        assert_eq!(counts.each_ref().map(Count::get), [1, 1]);
    });
}

/// Two workers and the world take from all rings; each call is run once, and its effect is there
/// with its result.
#[test]
fn two_takers_and_the_world() {
    explore(1, || {
        let pool = Once::new(2);
        let calls = Calls::new(pool.clone(), 2);
        let counts = [Count::new(), Count::new()];
        calls.link.begin_frame();
        let batches = [calls.batch(&[&counts[0]]), calls.batch(&[&counts[1]])];
        assert!(calls.link.send(batches[0], None));
        assert!(calls.link.send(batches[1], Some(0)));
        for (batch, count) in batches.into_iter().zip(&counts) {
            calls.wait(batch);
            assert_eq!((calls.result(batch, 0).get(), count.get()), (1, 1));
        }
        calls.link.end_frame();
        calls.end();
        pool.join();
    });
}

/// The world sends batches, and does not wait for them. If a batch was sent while a worker was
/// about to leave, this worker runs it, or the world finds the seat free and submits work. So when
/// all workers have left, all batches are done.
#[test]
fn nothing_that_was_sent_is_left() {
    explore(3, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 2);
        let counts = [Count::new(), Count::new(), Count::new()];
        calls.link.begin_frame();
        for count in &counts {
            let batch = calls.batch(&[count]);
            if !calls.link.send_long(batch) {
                // SAFETY: not published.
                unsafe { Batch::run(batch) };
            }
        }
        calls.link.end_frame();
        pool.join();
        assert_eq!(counts.each_ref().map(Count::get), [1, 1, 1]);
        assert!(calls.link.take_any().is_none());
        calls.end();
    });
}

/// The same with two seats, and batches that are at home with either.
#[test]
fn nothing_is_left_at_a_home() {
    explore(1, || {
        let pool = Once::new(2);
        let calls = Calls::new(pool.clone(), 2);
        let counts = [Count::new(), Count::new()];
        calls.link.begin_frame();
        for (home, count) in counts.iter().enumerate() {
            assert!(calls.link.send(calls.batch(&[count]), Some(home)));
        }
        calls.link.end_frame();
        pool.join();
        assert_eq!(counts.each_ref().map(Count::get), [1, 1]);
        calls.end();
    });
}

/// All places are taken: the world runs the call itself, and loses nothing.
#[test]
fn a_full_table() {
    explore(2, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 1);
        let counts = [Count::new(), Count::new()];
        calls.link.begin_frame();
        let batches = counts.each_ref().map(|count| {
            let batch = calls.batch(&[count]);
            if !calls.link.send(batch, None) {
                // SAFETY: not published.
                unsafe { Batch::run(batch) };
            }
            batch
        });
        batches.into_iter().for_each(|batch| calls.wait(batch));
        assert_eq!(counts.each_ref().map(Count::get), [1, 1]);
        calls.link.end_frame();
        calls.end();
        pool.join();
    });
}

/// A batch that has retired is filled and sent again, while the thread that ran it may not have
/// gone yet.
#[test]
fn a_batch_is_used_again() {
    explore(3, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 2);
        let count = Count::new();
        calls.link.begin_frame();
        let mut before = None;
        for round in 1..=2 {
            let batch = calls.batch(&[&count]);
            assert!(before.replace(batch).is_none_or(|before| before == batch));
            assert!(calls.link.send(batch, None));
            calls.wait(batch);
            assert_eq!(calls.result(batch, 0).get(), round);
            calls.lane.recycle(batch);
        }
        calls.link.end_frame();
        calls.end();
        pool.join();
    });
}

/// The world ends with a call that is queued, runs, or is done: exactly one frees the batch, with
/// the argument or the result.
#[test]
fn the_end_of_a_world_with_calls() {
    explore(3, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 2);
        let counts = [Count::new(), Count::new()];
        calls.link.begin_frame();
        assert!(calls.link.send(calls.batch(&[&counts[0]]), None));
        assert!(calls.link.send_long(calls.batch(&[&counts[1]])));
        calls.link.end_frame();
        calls.end();
        pool.join();
        assert!(counts.iter().all(|count| count.get() <= 1));
    });
}

/// The same for a batch that a future still holds when its world has gone.
#[test]
fn the_end_of_a_world_before_that_of_a_future() {
    explore(3, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 2);
        let count = Count::new();
        let batch = calls.batch(&[&count]);
        // SAFETY: alive while it is held.
        unsafe { batch.as_ref() }.own.held.set(1);
        assert!(calls.link.send(batch, None));
        calls.end();
        // SAFETY: this is the last that holds it.
        unsafe { Batch::end(batch) };
        pool.join();
        assert!(count.get() <= 1);
    });
}

/// A call is cancelled before it begins, while it runs, or when it is done. Its argument or its
/// result is dropped once, and the other call of the batch does not notice.
#[test]
fn a_call_is_cancelled() {
    explore(3, || {
        let pool = Once::new(1);
        let calls = Calls::new(pool.clone(), 2);
        let counts = [Count::new(), Count::new()];
        calls.link.begin_frame();
        let batch = calls.batch(&[&counts[0], &counts[1]]);
        assert!(calls.link.send(batch, None));
        // SAFETY: the call is in the batch, and this is the world's thread.
        unsafe { Batch::abandon(batch, 1) };
        calls.wait(batch);
        assert_eq!(calls.result(batch, 0).get(), 1);
        // SAFETY: complete; the result was not taken.
        unsafe { Batch::drop_result(batch, 1) };
        // SAFETY: as above.
        unsafe { batch.as_ref() }.own.delivered.set(2);
        assert!(counts[1].get() <= 1);
        assert_eq!(Arc::strong_count(&counts[1].0), 1, "neither argument nor result is left");
        calls.link.end_frame();
        calls.end();
        pool.join();
    });
}

/// A thread sees submitted work, and the reason of a wake, before it sleeps, or is woken.
#[test]
fn a_thread_sleeps_and_is_woken() {
    explore(3, || {
        let inbox = Arc::new(Inbox::new());
        let ended = Arc::new(AtomicBool::new(false));
        let sleeper = {
            let (inbox, ended) = (inbox.clone(), ended.clone());
            thread::spawn(move || {
                inbox.is_for_this_thread();
                let mut kept = Vec::new();
                while !ended.load(Ordering::Relaxed) || kept.len() < 2 {
                    inbox.take(&mut kept);
                    inbox.sleep(|| ended.load(Ordering::SeqCst));
                    if ended.load(Ordering::Relaxed) {
                        inbox.take(&mut kept);
                    }
                }
                kept
            })
        };
        inbox.submit(1);
        inbox.submit(2);
        ended.store(true, Ordering::SeqCst);
        inbox.wake();
        assert_eq!(sleeper.join().unwrap(), [1, 2]);
    });
}

/// A pool of one thread that keeps its work and sleeps between frames, as `Workers` does.
struct Keeping(Arc<Inbox<Work>>);

impl Pool for Keeping {
    fn workers(&self) -> usize {
        1
    }
    fn submit(&self, work: Work) {
        self.0.submit(work);
    }
    fn wake(&self) {
        self.0.wake();
    }
    fn help(&self) {
        thread::yield_now();
    }
}

/// The world sends the calls that it does not run itself, and waits for them between frames: the
/// thread is not asleep while there is a batch to run. When the world was dropped, the thread
/// drops its work.
#[test]
fn a_worker_sleeps_between_frames() {
    explore(2, || {
        let inbox = Arc::new(Inbox::<Work>::new());
        let worker = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                inbox.is_for_this_thread();
                let mut kept = Vec::<Work>::new();
                loop {
                    inbox.take(&mut kept);
                    if kept.iter().any(Work::has_ended) {
                        return;
                    }
                    match kept.first().map(Work::run) {
                        Some(Progress::Ran) => {}
                        Some(Progress::Idle) => thread::yield_now(),
                        Some(Progress::Over) | None => {
                            inbox.sleep(|| kept.iter().any(|work| work.is_ready() || work.has_ended()));
                        }
                    }
                }
            })
        };
        let calls = Calls::new(Keeping(inbox), 2);
        let counts = [Count::new(), Count::new()];
        for count in &counts {
            calls.link.begin_frame();
            let batch = calls.batch(&[count]);
            assert!(calls.link.send_long(batch));
            calls.link.end_frame();
            // SAFETY: alive: the lane has it.
            while !unsafe { batch.as_ref() }.is_complete() {
                thread::yield_now();
            }
            assert_eq!(count.get(), 1);
        }
        calls.end();
        worker.join().unwrap();
    });
}

/// A seat is taken by one, and is free again when that one has left.
#[test]
fn a_seat_is_taken_by_one() {
    explore(3, || {
        let table = Arc::new(Table::<u32>::new(1, 1));
        let other = {
            let table = table.clone();
            thread::spawn(move || {
                let seat = table.take_seat();
                seat.map(|seat| table.leave(seat)).is_some()
            })
        };
        let seat = table.take_seat();
        if let Some(seat) = seat {
            assert!(!table.may_have_free_seats());
            assert!(!table.sit(seat));
            table.leave(seat);
        }
        assert!(other.join().unwrap() | seat.is_some());
        assert!(table.may_have_free_seats());
        assert_eq!(table.take_seat(), Some(0));
        assert!(!table.may_have_free_seats());
    });
}
