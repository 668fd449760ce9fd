//! Panics, destructors and `catch_unwind` between a wait and its deadline.

use super::{LONG, SOON, everywhere};
use lisle::channel::bounded;
use lisle::time::{DeadlinePassed, sleep, with_deadline};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn what_catches_the_unwinding_is_unwound_again() {
    everywhere(|| {
        let caught = Cell::new(0);
        let ended = with_deadline(SOON, || {
            for _ in 0..20 {
                let unwound = catch_unwind(|| sleep(LONG)).unwrap_err();
                assert!(!unwound.is::<&str>() && !unwound.is::<String>());
                caught.set(caught.get() + 1);
            }
            sleep(LONG);
        });
        assert_eq!((ended, caught.get()), (Err(DeadlinePassed), 20));
        // Code that waits for nothing after it has its value.
        assert_eq!(with_deadline(SOON, || catch_unwind(|| sleep(LONG)).is_err()), Ok(true));
        // The caught unwinding goes on later, where its call has ended.
        let payload = with_deadline(SOON, || catch_unwind(|| sleep(LONG)).unwrap_err()).unwrap();
        let passed_on = with_deadline(LONG, || {
            catch_unwind(AssertUnwindSafe(|| with_deadline(SOON, || resume_unwind(payload)))).is_err()
        });
        assert_eq!(passed_on, Ok(true));
    });
}

#[test]
fn one_that_catches_it_for_ever_lets_others_run() {
    let _watched = crate::support::watched();
    lisle::Runtime::builder().domains(1).run(|| {
        let (tx, rx) = bounded(1);
        let stubborn = lisle::spawn(move || {
            with_deadline(SOON, || {
                while rx.try_recv().is_err() {
                    let _ = catch_unwind(|| sleep(LONG));
                }
            })
        });
        sleep(2 * SOON);
        tx.send(()).unwrap();
        assert_eq!(stubborn.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_panic_passes() {
    everywhere(|| {
        let panic = catch_unwind(|| with_deadline(SOON, || -> () { resume_unwind(Box::new(5)) }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&5));
        assert_eq!(lisle::time::deadline(), None);
        sleep(2 * SOON); // nothing is left that would end this
    });
}

/// Invariant 6: a destructor completes.
#[test]
fn destructors_get_what_they_wait_for() {
    everywhere(|| {
        let waited = Cell::new(0);
        let wait = || {
            for _ in 0..3 {
                sleep(Duration::from_micros(100));
                waited.set(waited.get() + 1);
            }
        };
        let ended = with_deadline(SOON, || {
            let _outer = OnDrop(wait);
            let _inner = OnDrop(wait);
            sleep(LONG);
        });
        assert_eq!((ended, waited.get()), (Err(DeadlinePassed), 6));

        // Also one that runs because of a panic.
        let panic = catch_unwind(AssertUnwindSafe(|| {
            with_deadline(Duration::ZERO, || {
                let _waits = OnDrop(wait);
                resume_unwind(Box::new(5));
            })
        }));
        assert_eq!((panic.is_err(), waited.get()), (true, 9));

        // One that ends its own waits, while the deadline around it unwinds.
        let inner = Cell::new(None);
        let ended = with_deadline(Duration::ZERO, || {
            let _bounded = OnDrop(|| {
                inner.set(Some(with_deadline(SOON, || sleep(LONG))));
                wait();
            });
            sleep(LONG);
        });
        assert_eq!((ended, inner.take(), waited.get()), (Err(DeadlinePassed), Some(Err(DeadlinePassed)), 12));
    });
}

#[test]
fn a_wait_in_an_ordinary_destructor_ends() {
    everywhere(|| {
        let after = Cell::new(false);
        let ended = with_deadline(Duration::ZERO, || {
            drop(OnDrop(|| sleep(LONG)));
            after.set(true);
        });
        assert_eq!((ended, after.get()), (Err(DeadlinePassed), false));
    });
}
