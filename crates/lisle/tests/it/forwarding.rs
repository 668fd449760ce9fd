//! User-defined events that contain other events. An event that forwards every step behaves as the
//! contained event does. An event that forgets a step panics with a message, or has fewer features.

use crate::support::{Cx, block_on, watched, worlds};
use lisle::event::{Attempt, Description, Nack, Step, guard, with_nack};
use lisle::{Event, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex;

worlds!(forwarded_events_are_as_good_as_the_originals);

/// The steps that every event has.
macro_rules! forwarded {
    () => {
        type Output = E::Output;
        type Branch<'e>
            = E::Branch<'e>
        where
            Self: 'e;

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
        fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
            self.0.complete(branch)
        }
        fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
            self.0.describe(branch, waits);
        }
    };
}

macro_rules! force {
    () => {
        fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
            self.0.force(branch);
        }
    };
}

macro_rules! advance {
    () => {
        fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
            self.0.advance(branch)
        }
    };
}

macro_rules! lose {
    () => {
        fn lose<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
            self.0.lose(branch);
        }
    };
}

/// Forwards every step.
struct Forward<E>(E);

impl<E: Event> Event for Forward<E> {
    forwarded!();
    const STAGED: bool = E::STAGED;
    force!();
    advance!();
    lose!();
}

/// Forwards no step of stages, as events did before there were stages.
struct Plain<E>(E);

impl<E: Event> Event for Plain<E> {
    forwarded!();
}

/// Forgets to run the guards.
struct WithoutForce<E>(E);

impl<E: Event> Event for WithoutForce<E> {
    forwarded!();
    const STAGED: bool = E::STAGED;
    advance!();
    lose!();
}

/// Forgets the second stage.
struct WithoutAdvance<E>(E);

impl<E: Event> Event for WithoutAdvance<E> {
    forwarded!();
    const STAGED: bool = E::STAGED;
    force!();
    lose!();
}

/// Forgets to notify the losers.
struct WithoutLose<E>(E);

impl<E: Event> Event for WithoutLose<E> {
    forwarded!();
    const STAGED: bool = E::STAGED;
    force!();
    advance!();
}

async fn forwarded_events_are_as_good_as_the_originals(cx: Cx) {
    let nacks = Mutex::new(Vec::<Nack>::new());
    let (tx, rx) = channel::<u32>();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..20 {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    // One event receives two numbers, each behind a guard, a nack and a forwarding event. The other
    // one loses.
    let both = Forward(guard(|| {
        let receive = Forward(with_nack(|nack| (nacks.lock().unwrap().push(nack), Forward(rx.recv_evt())).1));
        Forward(receive.replace(|first| Forward(Forward(rx.recv_evt()).wrap(move |second| (first, second)))))
    }));
    let loses = Forward(with_nack(|nack| (nacks.lock().unwrap().push(nack), never()).1));
    let checked = |both| {
        let told = std::mem::take(&mut *nacks.lock().unwrap());
        assert_eq!(told.iter().map(Nack::is_taken).collect::<Vec<_>>(), [true, false]);
        assert_eq!(told.iter().map(Nack::is_lost).collect::<Vec<_>>(), [false, true]);
        both
    };
    let event = Forward(choose((Forward(Some(both)), Forward(loses.boxed())))).wrap(checked);
    for i in (0..20).step_by(4) {
        assert_eq!(cx.sync(&event).await, (Ok(i), Ok(i + 1)));
        assert_eq!(cx.sync(Forward((&event).boxed())).await, (Ok(i + 2), Ok(i + 3)));
    }
    cx.join(sender).await;
    assert_eq!(cx.sync(Plain(choose((never(), Plain(always(1)))))).await, 1);
}

/// Performs `event` in every way. Each performance ends with a panic that names the mistake.
fn says_what_is_wrong<E: Event>(event: impl Fn() -> E) {
    let ways: [&dyn Fn(); 3] =
        [&|| drop(event().sync()), &|| drop(event().poll()), &|| drop(block_on(event().future()))];
    for way in ways {
        let panic = catch_unwind(AssertUnwindSafe(way)).unwrap_err();
        let text = panic.downcast_ref::<&str>().expect("a text");
        assert!(text.contains("does not forward `force`"), "{text}");
    }
}

#[test]
fn a_guard_that_was_forgotten_says_so() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    says_what_is_wrong(|| WithoutForce(guard(|| always(1))));
    says_what_is_wrong(|| Plain(guard(|| always(1))));
    says_what_is_wrong(|| Plain(with_nack(|_| always(1))));
    says_what_is_wrong(|| choose((never(), Plain(guard(|| always(1))), rx.recv_evt().wrap(|_| 2))));
    says_what_is_wrong(|| choose(vec![WithoutForce(guard(|| always(1)).boxed())]).wrap(|n| n));
    // The events around it have left nothing behind.
    assert!(tx.try_send(1).is_err());
    assert_eq!(Plain(always(1)).sync(), 1);
}

#[test]
fn a_second_stage_that_was_forgotten_says_so() {
    let _watched = watched();
    says_what_is_wrong(|| WithoutAdvance(always(1).replace(always)));
    says_what_is_wrong(|| Plain(always(1).replace(always)));
    says_what_is_wrong(|| choose((never(), WithoutAdvance(always(1).replace(always)))));
}

/// The nack is sent later, when the branch is dropped.
#[test]
fn a_loser_that_was_forgotten_is_told_in_the_end() {
    let _watched = watched();
    let nacks = Mutex::new(Vec::<Nack>::new());
    let loses = || WithoutLose(with_nack(|nack| (nacks.lock().unwrap().push(nack), never()).1));
    let event = choose((loses(), always(1))).wrap(|n| {
        assert!(!nacks.lock().unwrap()[0].is_lost(), "it has been told after all");
        n
    });
    assert_eq!(event.sync(), 1);
    assert!(nacks.lock().unwrap().iter().all(Nack::is_lost));
    let event = choose((loses(), always(1)));
    assert_eq!(block_on(event.future()), 1);
    assert!(nacks.lock().unwrap().iter().all(Nack::is_lost));
}
