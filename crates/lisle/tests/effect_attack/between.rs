//! Code that runs between the turns of fibers, or that a fiber asks to run as if it did: hooks, and
//! the descriptions of events. A computation that it suspends may refer to the locals of a fiber;
//! it must not go on when that fiber has ended.

use crate::support::{Yield, begin, message_of};
use lisle::effect::{Suspended, generator, perform};
use lisle::event::{Attempt, Description, Never, Step};
use lisle::fiber::{self, Hooks, Moment, Switch};
use lisle::{Event, Runtime};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A value that tells whether it has been dropped.
struct Flagged(&'static AtomicBool);

impl Flagged {
    fn new() -> Self {
        Flagged(Box::leak(Box::new(AtomicBool::new(true))))
    }
}

impl Drop for Flagged {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

lisle::fiber_local! {
    static LOCAL: Flagged = Flagged::new();
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

thread_local! {
    static KEPT: RefCell<Vec<Suspended<(), ()>>> = const { RefCell::new(Vec::new()) };
}

/// How many computations went on, and how many of them had borrowed locals that were gone.
struct Went {
    on: AtomicU32,
    astray: AtomicU32,
}

impl Went {
    const fn new() -> Self {
        Went { on: AtomicU32::new(0), astray: AtomicU32::new(0) }
    }

    /// Keeps a computation that refers to the local of the code that runs here.
    fn keep(&'static self) {
        let kept = begin(move || {
            LOCAL.with(|local| {
                let flag = local.0;
                perform(Yield);
                self.on.fetch_add(1, Ordering::SeqCst);
                self.astray.fetch_add(u32::from(!flag.load(Ordering::SeqCst)), Ordering::SeqCst);
            });
        });
        KEPT.with_borrow_mut(|all| all.extend(kept));
    }

    fn counts(&self) -> (u32, u32) {
        (self.on.load(Ordering::SeqCst), self.astray.load(Ordering::SeqCst))
    }
}

/// Tries to go on with the kept computations, and returns how many tries were refused.
fn go_on() -> usize {
    let all = KEPT.take();
    all.into_iter()
        .map(|kept| {
            let message = message_of(|| {
                kept.resume(());
                panic!("resumed");
            });
            assert!(message == "resumed" || message.contains("does not belong"), "{message}");
            usize::from(message != "resumed")
        })
        .sum()
}

/// A computation that a hook keeps does not go on in another call of a hook, nor on the thread: the
/// fiber may have ended.
#[test]
fn what_a_hook_keeps_goes_on_nowhere_else() {
    static WENT: Went = Went::new();
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    struct Keeps(Moment, Moment);
    impl Hooks for Keeps {
        type Local = ();
        fn resumed(&self, switch: &Switch<'_>, (): &mut ()) {
            self.suspended(switch, &mut ());
        }
        fn suspended(&self, switch: &Switch<'_>, (): &mut ()) {
            match switch.name() {
                Some("keeps") if switch.moment() == self.0 => WENT.keep(),
                Some("goes on") if switch.moment() == self.1 => {
                    REFUSED.fetch_add(u32::try_from(go_on()).unwrap(), Ordering::SeqCst);
                }
                _ => {}
            }
        }
    }
    let moments = [Moment::Begins, Moment::GoesOn, Moment::Waits, Moment::Ends];
    for keeps in moments {
        for goes_on in moments {
            Runtime::builder().domains(1).hooks(Keeps(keeps, goes_on)).run(|| {
                for name in ["keeps", "goes on", "keeps"] {
                    fiber::Builder::new().name(name).spawn(fiber::yield_now).join().unwrap();
                }
            });
            // On this thread, the one of that domain.
            assert_eq!(go_on(), 1);
        }
    }
    assert_eq!(REFUSED.load(Ordering::SeqCst), 16);
    assert_eq!(WENT.counts(), (0, 0));
}

/// Within one call of a hook, computations and generators work, and belong to the fiber's locals.
/// Outside of hooks, the thread's computations work, too.
#[test]
fn a_hook_goes_on_with_its_own() {
    static WENT: Went = Went::new();
    static CALLS: AtomicU32 = AtomicU32::new(0);
    struct Uses;
    impl Hooks for Uses {
        type Local = ();
        fn suspended(&self, _: &Switch<'_>, (): &mut ()) {
            let outside = KEPT.take();
            WENT.keep();
            assert_eq!(go_on(), 0);
            KEPT.set(outside);
            NUMBER.with(|number| number.set(number.get() + 10));
            let items = generator(|items| items.give(NUMBER.with(Cell::get)));
            assert_eq!(items.sum::<u32>(), NUMBER.with(Cell::get));
            CALLS.fetch_add(1, Ordering::SeqCst);
        }
    }
    std::thread::spawn(|| {
        WENT.keep();
        Runtime::builder().domains(1).hooks(Uses).run(|| {
            NUMBER.with(|number| number.set(7));
            fiber::yield_now();
            assert_eq!(NUMBER.with(Cell::get), 17);
        });
        assert_eq!(go_on(), 0);
    })
    .join()
    .unwrap();
    assert_eq!(WENT.counts(), (CALLS.load(Ordering::SeqCst) + 1, 0));
}

/// An event that never happens, and calls a function when it is asked to describe itself.
struct Tells(Never<()>, fn());

impl Event for Tells {
    type Output = ();
    type Branch<'e> = <Never<()> as Event>::Branch<'e>;
    fn is_single(&self) -> bool {
        self.0.is_single()
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.0.branch()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.try_commit(branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.publish(branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.0.withdraw(branch, attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.0.complete(branch);
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, _: &mut Description) {
        (self.1)();
    }
}

/// A fiber or a task waits for an event, and another fiber asks the event to describe itself. The description
/// runs with the locals of the thread. A computation that it keeps goes on there, when the asking fiber has
/// ended.
#[test]
fn what_an_event_keeps_that_describes_itself() {
    static OF_FIBER: Went = Went::new();
    static OF_TASK: Went = Went::new();
    static TOLD: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
    fn tell(of: usize, went: &'static Went) {
        assert_eq!(NUMBER.with(Cell::get), 1);
        went.keep();
        TOLD[of].fetch_add(1, Ordering::SeqCst);
    }
    let told = || TOLD.each_ref().map(|told| told.load(Ordering::SeqCst));
    std::thread::spawn(move || {
        NUMBER.with(|number| number.set(1));
        Runtime::builder().domains(1).run(|| {
            let fiber = lisle::spawn(|| Tells(lisle::never(), || tell(0, &OF_FIBER)).sync());
            let task =
                lisle::spawn_task(async { Tells(lisle::never(), || tell(1, &OF_TASK)).future().await });
            while told().contains(&0) {
                let asks = lisle::spawn(|| {
                    NUMBER.with(|number| number.set(2));
                    LOCAL.with(|_| ());
                    lisle::waiting();
                });
                asks.join().unwrap();
            }
            drop((fiber, task));
        });
        assert_eq!(go_on(), 0);
    })
    .join()
    .unwrap();
    assert_eq!([OF_FIBER.counts(), OF_TASK.counts()], told().map(|told| (told, 0)));
}
