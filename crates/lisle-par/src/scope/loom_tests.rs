//! Models of a job of a scope: which party begins it (its frame, the holder of its promise, or the
//! thread that has taken it), and which frees its memory. Loom follows the function, its effect and
//! its result, and checks that the memory is freed once. That the memory is not accessed afterwards
//! is left to the address sanitizer.

#[path = "list.rs"]
mod list;
#[path = "spawned.rs"]
mod spawned;

use super::job::Job;
use super::loom_support::explore;
use super::offers::Offers;
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;
use spawned::{Header, PROMISE_GONE, Rest};
use std::any::Any;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// Stands for the state that the frames of a scope share.
struct Core;

impl Core {
    fn note(&self, panic: Box<dyn Any + Send>) {
        std::panic::resume_unwind(panic);
    }
}

mod frame {
    use super::Core;

    /// Stands for a frame in which nothing is spawned.
    pub(super) struct Frame;

    impl Frame {
        pub(super) fn within<R>(_: &Core, _: bool, f: impl FnOnce() -> R) -> std::thread::Result<R> {
            Ok(f())
        }
    }
}

/// A job on its way between threads.
#[derive(Clone, Copy)]
struct Sent(NonNull<Header>);

// SAFETY: each thread that has the job has an interest in it.
unsafe impl Send for Sent {}

impl Sent {
    fn spawned(self) -> NonNull<Header> {
        self.0
    }
}

/// The result of the function: loom reports it if it is not dropped.
type Given = Arc<u32>;

struct Model {
    spawned: NonNull<Header>,
    runs: Arc<UnsafeCell<u32>>,
    offers: Arc<Offers>,
}

impl Model {
    #[track_caller]
    fn new() -> Self {
        let runs = Arc::new(UnsafeCell::new(0));
        let own = runs.clone();
        let function = move || {
            // SAFETY: loom checks that no other thread accesses it.
            own.with_mut(|runs| unsafe { *runs += 1 });
            Given::new(7)
        };
        let spawned = spawned::new(function, &Core, null(), Location::caller());
        Model { spawned, runs, offers: Arc::new(Offers::new()) }
    }

    /// Does what the frame does when another domain searches for work.
    fn offer(&self) {
        // SAFETY: the frame's interest keeps the job in place.
        unsafe { self.spawned.as_ref() }.is_offered.set(true);
        // SAFETY: the job stays in place until it has been settled, and its `Job` is not
        // initialized yet.
        assert!(unsafe { self.offers.offer(|| Some(spawned::make_job(self.spawned, null()))) });
    }

    fn thief(&self) -> thread::JoinHandle<()> {
        let offers = self.offers.clone();
        thread::spawn(move || {
            if let Some(job) = offers.take(|_| true) {
                // SAFETY: the `Job` was taken just now.
                unsafe { Job::run(job) };
            }
        })
    }

    /// Waits for the promise on a stack of its own.
    fn holder(&self) -> thread::JoinHandle<()> {
        let sent = Sent(self.spawned);
        thread::spawn(move || {
            let spawned = sent.spawned();
            // SAFETY: the promise has an interest in the job.
            let given: Given = if unsafe { spawned.as_ref() }.claim() {
                // SAFETY: the caller has claimed the job, and the frame has an interest.
                unsafe { spawned::call(spawned, Rest::Release) }
            } else {
                // SAFETY: another party has claimed the job.
                unsafe { spawned::fetch(spawned, Job::wait) }.unwrap()
            };
            assert_eq!(*given, 7);
        })
    }

    /// Drops the promise.
    fn drop_promise(spawned: NonNull<Header>) {
        // SAFETY: the interest is the promise's.
        unsafe { spawned::release(spawned, PROMISE_GONE) };
    }

    /// Does what the frame does at its end.
    fn settle(&self) {
        let take_back = |job: &Job| {
            self.offers.take_back(NonNull::from(job)) || {
                job.wait();
                false
            }
        };
        // SAFETY: the interest is the frame's, and is given up here.
        unsafe { spawned::settle(self.spawned, take_back) };
    }

    fn runs(&self) -> u32 {
        // SAFETY: loom checks that no other thread accesses it.
        self.runs.with(|runs| unsafe { *runs })
    }
}

#[test]
fn frame_and_holder() {
    explore(4, || {
        let model = Model::new();
        let holder = model.holder();
        model.settle();
        holder.join().unwrap();
        assert_eq!(model.runs(), 1);
    });
}

#[test]
fn frame_and_thief_without_a_promise() {
    explore(4, || {
        let model = Model::new();
        Model::drop_promise(model.spawned);
        model.offer();
        let thief = model.thief();
        model.settle();
        assert_eq!(model.runs(), 1);
        thief.join().unwrap();
    });
}

#[test]
fn frame_thief_and_holder() {
    explore(2, || {
        let model = Model::new();
        model.offer();
        let (thief, holder) = (model.thief(), model.holder());
        model.settle();
        holder.join().unwrap();
        assert_eq!(model.runs(), 1);
        thief.join().unwrap();
    });
}

#[test]
fn a_promise_is_dropped_while_the_task_runs() {
    explore(3, || {
        let model = Model::new();
        model.offer();
        let thief = model.thief();
        let sent = Sent(model.spawned);
        let dropper = thread::spawn(move || Model::drop_promise(sent.spawned()));
        model.settle();
        assert_eq!(model.runs(), 1);
        dropper.join().unwrap();
        thief.join().unwrap();
    });
}
