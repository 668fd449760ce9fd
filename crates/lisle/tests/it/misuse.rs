//! User-defined events that pass the branch of one object to another object. A branch knows its
//! object, so this panics instead of creating two guards of one value.

use lisle::Event;
use lisle::event::{Attempt, Step};
use lisle::sync::{LockEvt, MVar, Mutex, RwLock};
use std::pin::Pin;

/// Defines an event that takes all steps with `taken`, except the last, which it takes with
/// `given`. Both have branches of the same type.
macro_rules! crossed {
    ($name:ident, $taken:ty, $given:ty, $output:ty) => {
        struct $name {
            taken: $taken,
            given: $given,
        }

        impl Event for &'static $name {
            type Output = $output;
            type Branch<'e> = <$taken as Event>::Branch<'static>;

            fn is_single(&self) -> bool {
                true
            }
            fn branch(&self) -> Self::Branch<'static> {
                let this: &'static $name = self;
                this.taken.branch()
            }
            fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
                let this: &'static $name = self;
                this.taken.try_commit(branch, attempt)
            }
            fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
                let this: &'static $name = self;
                this.taken.publish(branch, attempt)
            }
            fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
                let this: &'static $name = self;
                this.taken.withdraw(branch, attempt)
            }
            fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
                let this: &'static $name = self;
                this.given.complete(branch)
            }
        }
    };
}

/// Leaks `value`, because crossed user-defined events outlive the test.
fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

crossed!(Mutexes, LockEvt<'static, u32>, LockEvt<'static, u32>, lisle::sync::MutexGuard<'static, u32>);

#[test]
#[should_panic(expected = "a branch of another mutex")]
fn a_guard_of_a_mutex_that_somebody_holds() {
    let (free, held) = (forever(Mutex::new(1)), forever(Mutex::new(2)));
    let _guard = held.lock();
    let crossed: &'static Mutexes = forever(Mutexes { taken: free.lock_evt(), given: held.lock_evt() });
    let _second = Event::sync(&crossed);
}

crossed!(
    Locks,
    lisle::sync::ReadLockEvt<'static, u32>,
    lisle::sync::WriteLockEvt<'static, u32>,
    lisle::sync::RwLockWriteGuard<'static, u32>
);

#[test]
#[should_panic(expected = "a branch of another")]
fn a_write_guard_beside_a_reader() {
    let lock = forever(RwLock::new(1));
    let _reader = lock.read();
    let crossed: &'static Locks = forever(Locks { taken: lock.read_evt(), given: lock.write_evt() });
    let _writer = Event::sync(&crossed);
}

crossed!(
    Leases,
    lisle::sync::LeaseEvt<'static, u32>,
    lisle::sync::LeaseEvt<'static, u32>,
    lisle::sync::Lease<'static, u32>
);

#[test]
#[should_panic(expected = "a branch of another event")]
fn a_second_lease() {
    let (free, lent) = (forever(MVar::full(1)), forever(MVar::full(2)));
    let _lease = lent.lease_evt().sync();
    let crossed: &'static Leases = forever(Leases { taken: free.lease_evt(), given: lent.lease_evt() });
    let _second = Event::sync(&crossed);
}
