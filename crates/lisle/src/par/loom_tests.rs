//! Models of what is offered, explored by loom: offering against taking and taking back, and the end of a job
//! against its owner's waiting for it.

use super::job::{Course, Extent, Job};
use super::offers::{Offers, ROOM};
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;
use std::panic::Location;
use std::ptr::{NonNull, null};

/// In models of what is built on joins they are two calls.
pub(super) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

pub(super) fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A job that counts how often it was run. Loom sees it if two do so at once, or the owner looks too early.
#[repr(C)]
struct Counted {
    job: Job,
    runs: UnsafeCell<u32>,
}

impl Counted {
    #[track_caller]
    fn new(within: *const Course) -> Self {
        unsafe fn run(job: NonNull<Job>) {
            // SAFETY: it is the first field of this, which its owner keeps until it is done.
            unsafe { job.cast::<Counted>().as_ref() }.run();
        }
        Counted { job: Job::new(run, Course::new(within, 0), Location::caller()), runs: UnsafeCell::new(0) }
    }

    fn job(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    fn run(&self) {
        // SAFETY: loom checks that nobody else is here.
        self.runs.with_mut(|runs| unsafe { *runs += 1 });
    }

    fn offer(&self, offers: &Offers) -> bool {
        // SAFETY: `settle` is called before it goes.
        unsafe { offers.offer(|| Some(self.job())) }
    }

    /// What its owner does when it is its turn.
    fn settle(&self, offers: &Offers) {
        if offers.take_back(self.job()) {
            self.run();
        } else {
            self.job.wait();
        }
    }

    fn runs(&self) -> u32 {
        // SAFETY: loom checks that nobody else is here.
        self.runs.with(|runs| unsafe { *runs })
    }
}

/// Takes what is offered, once, and runs it.
fn thief(offers: &Arc<Offers>) -> thread::JoinHandle<()> {
    let offers = offers.clone();
    thread::spawn(move || {
        if let Some(job) = offers.take(|_| true) {
            // SAFETY: taken just now.
            unsafe { Job::run(job) };
        }
    })
}

#[test]
fn what_is_offered_is_run_once() {
    explore(4, || {
        let offers = Arc::new(Offers::new());
        let thief = thief(&offers);
        {
            let counted = Counted::new(null());
            assert!(counted.offer(&offers));
            counted.settle(&offers);
            assert_eq!(counted.runs(), 1);
        }
        // The memory is gone; whoever ran it does not touch it any more.
        thief.join().unwrap();
        assert_eq!(offers.len(), 0);
    });
}

#[test]
fn two_thieves_and_the_owner() {
    explore(2, || {
        let offers = Arc::new(Offers::new());
        let thieves = [thief(&offers), thief(&offers)];
        {
            let (one, two) = (Counted::new(null()), Counted::new(null()));
            assert!(one.offer(&offers));
            assert!(two.offer(&offers));
            two.settle(&offers);
            one.settle(&offers);
            assert_eq!((one.runs(), two.runs()), (1, 1));
        }
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
    });
}

/// Threads that are no workers share a place for their offers.
#[test]
fn two_owners_of_one_place_that_is_left() {
    fn owner(offers: &Offers) -> bool {
        let own = Counted::new(null());
        let has_offered = own.offer(offers);
        if has_offered {
            own.settle(offers);
        }
        has_offered
    }
    explore(3, || {
        let offers = Arc::new(Offers::new());
        let others: Vec<_> = (1..ROOM).map(|_| Counted::new(null())).collect();
        assert!(others.iter().all(|other| other.offer(&offers)));
        let second = {
            let offers = offers.clone();
            thread::spawn(move || owner(&offers))
        };
        let first = owner(&offers);
        assert!(second.join().unwrap() || first);
        others.iter().for_each(|other| other.settle(&offers));
        assert_eq!(offers.len(), 0);
    });
}

#[test]
fn what_is_taken_back_is_out_of_reach() {
    explore(3, || {
        let offers = Arc::new(Offers::new());
        let thief = thief(&offers);
        {
            let first = Counted::new(null());
            assert!(first.offer(&offers));
            first.settle(&offers);
        }
        {
            let second = Counted::new(null());
            assert!(second.offer(&offers));
            second.settle(&offers);
            assert_eq!(second.runs(), 1);
        }
        thief.join().unwrap();
    });
}

/// Of a job, on its way to another thread.
struct Whole(Extent);

// SAFETY: only compared.
unsafe impl Send for Whole {}

#[test]
fn only_what_is_part_of_a_job_is_taken() {
    explore(3, || {
        let offers = Arc::new(Offers::new());
        let ancestor = Counted::new(null());
        let (part, other) = (Counted::new(Job::course_of(ancestor.job().as_ptr())), Counted::new(null()));
        let thief = {
            let offers = offers.clone();
            let whole = Whole(ancestor.job.extent());
            thread::spawn(move || {
                let whole = whole;
                // SAFETY: asked about what is offered, whose ancestors are in place.
                let may = |job: &Job| unsafe { job.is_part_of(whole.0) };
                if let Some(job) = offers.take(may) {
                    // SAFETY: taken just now.
                    unsafe { Job::run(job) };
                }
            })
        };
        assert!(other.offer(&offers));
        assert!(part.offer(&offers));
        part.settle(&offers);
        assert!(offers.take_back(other.job()), "nobody may take it");
        thief.join().unwrap();
        assert_eq!((part.runs(), other.runs()), (1, 0));
    });
}
