//! Models that loom explores: offering against taking and taking back, the end of a job against its
//! owner's waiting for it, and a thread that looks at pending entries from outside against their
//! owner.

use super::job::{Ancestor, Descendants, Job};
use super::offers::{Offers, ROOM};
use super::pending::{Entry, Offer, Pending};
use super::stacks::Stacks;
use crate::shim::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;
use std::panic::Location;
use std::ptr::{NonNull, null};

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A job that counts how often it was run. Loom notices if two threads run it at once, or if the
/// owner looks too early.
#[repr(C)]
struct Counted {
    job: Job,
    runs: UnsafeCell<u32>,
}

impl Counted {
    #[track_caller]
    fn new(within: *const Ancestor) -> Self {
        unsafe fn run(job: NonNull<Job>) {
            // SAFETY: the job is the first field of this, which its owner keeps until it is done.
            unsafe { job.cast::<Counted>().as_ref() }.run();
        }
        Counted { job: Job::new(run, Ancestor::new(within, 0), Location::caller()), runs: UnsafeCell::new(0) }
    }

    fn job(&self) -> NonNull<Job> {
        NonNull::from(self).cast()
    }

    fn run(&self) {
        // SAFETY: loom checks that no other thread is here.
        self.runs.with_mut(|runs| unsafe { *runs += 1 });
    }

    fn offer(&self, offers: &Offers) -> bool {
        // SAFETY: `settle` is called before the job goes.
        unsafe { offers.offer(|| Some(self.job())) }
    }

    /// Takes the owner's steps when it comes back to the job.
    fn settle(&self, offers: &Offers) {
        if offers.take_back(self.job()) {
            self.run();
        } else {
            self.job.wait();
        }
    }

    fn runs(&self) -> u32 {
        // SAFETY: loom checks that no other thread is here.
        self.runs.with(|runs| unsafe { *runs })
    }
}

/// Takes an offered job, once, and runs it.
fn thief(offers: &Arc<Offers>) -> thread::JoinHandle<()> {
    let offers = offers.clone();
    thread::spawn(move || {
        if let Some(job) = offers.take(|_| true) {
            // SAFETY: the job was taken just now.
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
        // The memory is gone. The thread that ran the job does not touch it any more.
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

/// Threads that run no domain share a place for their offers.
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

/// A pointer to a job, on its way to another thread.
struct Whole(Descendants);

// SAFETY: the pointer is only compared.
unsafe impl Send for Whole {}

#[test]
fn only_what_is_part_of_a_job_is_taken() {
    explore(3, || {
        let offers = Arc::new(Offers::new());
        let ancestor = Counted::new(null());
        let (part, other) = (Counted::new(Job::ancestor_of(ancestor.job().as_ptr())), Counted::new(null()));
        let thief = {
            let offers = offers.clone();
            let whole = Whole(ancestor.job.descendants());
            thread::spawn(move || {
                let whole = whole;
                // SAFETY: the question is about an offered job, whose ancestors are in place.
                let may = |job: &Job| unsafe { job.is_part_of(whole.0) };
                if let Some(job) = offers.take(may) {
                    // SAFETY: the job was taken just now.
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

/// Work that is put off, like the second half of a join.
#[repr(C)]
struct Half {
    entry: Entry,
    counted: Counted,
}

impl Half {
    #[track_caller]
    fn new() -> Self {
        unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
            // SAFETY: the entry is its first field.
            Offer::Last(unsafe { entry.cast::<Half>().as_ref() }.counted.job())
        }
        Half { entry: Entry::open(offer), counted: Counted::new(null()) }
    }

    /// Puts the work off while `first` runs, and then does it or waits for the thread that has
    /// taken it.
    fn beside(&self, pending: &Pending, offers: &Offers, first: impl FnOnce()) {
        // By way of the whole, which is found by its first field.
        let entry = NonNull::from(self).cast();
        // SAFETY: the entry is popped below, and entries that `first` puts off are popped before.
        let older = unsafe { pending.push(entry) };
        first();
        if pending.pop(&self.entry, older) {
            self.counted.run();
        } else {
            self.counted.settle(offers);
        }
        assert_eq!(self.counted.runs(), 1);
    }
}

/// A stack, and the place where its owner has a seat.
struct OwnersStack {
    stacks: Stacks,
    pending: Pending,
    offers: Offers,
}

// SAFETY: other threads leave the owner's fields alone.
unsafe impl Sync for OwnersStack {}
// SAFETY: as above.
unsafe impl Send for OwnersStack {}

impl OwnersStack {
    fn new(is_shared: bool) -> Arc<Self> {
        Arc::new(OwnersStack {
            stacks: Stacks::new(is_shared),
            pending: Pending::new(),
            offers: Offers::new(),
        })
    }

    /// Looks from outside, twice, since a stack that is new since the last look is left alone, and
    /// runs the jobs that it has offered.
    fn look(place: &Arc<Self>) -> thread::JoinHandle<()> {
        let place = place.clone();
        thread::spawn(move || {
            let given = (0..2).map(|_| place.stacks.look(&place.offers, 1)).sum::<usize>();
            for _ in 0..given {
                if let Some(job) = place.offers.take(|_| true) {
                    // SAFETY: the job was taken just now.
                    unsafe { Job::run(job) };
                }
            }
        })
    }
}

#[test]
fn a_half_is_found_from_outside_and_run_once() {
    explore(3, || {
        let place = OwnersStack::new(false);
        let seat = place.stacks.enter(&place.pending);
        let outsider = OwnersStack::look(&place);
        {
            let half = Half::new();
            half.beside(&place.pending, &place.offers, || ());
        }
        drop(seat);
        outsider.join().unwrap();
        assert_eq!(place.offers.len(), 0);
        assert!(place.stacks.is_empty());
    });
}

#[test]
fn a_half_and_one_within_it_are_found_from_outside() {
    explore(2, || {
        let place = OwnersStack::new(true);
        let seat = place.stacks.enter(&place.pending);
        let outsider = OwnersStack::look(&place);
        {
            let (half, inner) = (Half::new(), Half::new());
            half.beside(&place.pending, &place.offers, || {
                inner.beside(&place.pending, &place.offers, || ());
            });
        }
        drop(seat);
        outsider.join().unwrap();
        assert_eq!(place.offers.len(), 0);
    });
}

/// The owner offers an entry that another thread is about to offer.
#[test]
fn owner_and_outsider_offer_the_same() {
    explore(3, || {
        let place = OwnersStack::new(false);
        let seat = place.stacks.enter(&place.pending);
        let outsider = OwnersStack::look(&place);
        {
            let half = Half::new();
            half.beside(&place.pending, &place.offers, || {
                // SAFETY: the job is settled before it goes.
                unsafe { place.offers.offer(|| place.pending.offer()) };
            });
        }
        drop(seat);
        outsider.join().unwrap();
        assert_eq!(place.offers.len(), 0);
    });
}

/// The offer of an entry changes while the list is held.
#[test]
fn what_is_held_is_not_looked_at() {
    #[repr(C)]
    struct Chest {
        entry: Entry,
        inside: UnsafeCell<u32>,
    }
    unsafe fn offer(entry: NonNull<Entry>, _: *const Ancestor) -> Offer {
        // SAFETY: the entry is its first field.
        let chest = unsafe { entry.cast::<Chest>().as_ref() };
        // SAFETY: loom checks that no other thread is here.
        chest.inside.with_mut(|inside| unsafe { *inside += 1 });
        Offer::Nothing
    }
    explore(3, || {
        let place = OwnersStack::new(false);
        let seat = place.stacks.enter(&place.pending);
        let outsider = OwnersStack::look(&place);
        {
            let chest = Chest { entry: Entry::open(offer), inside: UnsafeCell::new(0) };
            // SAFETY: the entry is popped below.
            let older = unsafe { place.pending.push(NonNull::from(&chest).cast()) };
            for _ in 0..2 {
                let _held = place.pending.hold();
                // SAFETY: loom checks that no other thread is here.
                chest.inside.with_mut(|inside| unsafe { *inside += 1 });
            }
            assert!(place.pending.pop(&chest.entry, older));
        }
        drop(seat);
        outsider.join().unwrap();
    });
}
