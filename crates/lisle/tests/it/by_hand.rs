//! Manual use of the steps of the library's events: without a commit, twice, out of order, on
//! another event's branch. Such use panics, or ends the process with a message that names the
//! mistake. It never accesses memory that is gone.

use crate::support::child::{Ended, part};
use crate::support::{Cx, World, worlds};
use lisle::event::{Attempt, Source, Step, Waiting};
use lisle::{Event, channel, spawn_task};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

worlds!(a_result_is_not_taken_before_it_is_there, a_result_is_not_taken_by_anothers_branch);

/// Returns the result of `complete` on a fresh branch, or `None` if it panics.
fn complete<E: Event>(event: &E) -> Option<E::Output> {
    let branch = pin!(event.branch());
    catch_unwind(AssertUnwindSafe(|| event.complete(branch))).ok()
}

/// The result of a fiber or task that is still running or waiting cannot be taken: it is still
/// being written.
async fn a_result_is_not_taken_before_it_is_there(cx: Cx) {
    for _ in 0..100 {
        let (go, gone) = channel::<()>();
        let fiber = {
            let gone = gone.clone();
            lisle::spawn(move || {
                let _ = gone.recv();
                vec!["a result".to_owned(); 40]
            })
        };
        let task = spawn_task(async move {
            let _ = gone.recv_evt().await;
            vec!["a result".to_owned(); 40]
        });
        assert!(complete(&fiber.join_evt()).is_none());
        assert!(complete(&task).is_none());
        drop(go);
        // It cannot be taken while it is being written, either.
        while !(fiber.is_finished() && task.is_finished()) {
            black_box(complete(&fiber.join_evt()));
            black_box(complete(&task));
            cx.yield_now().await;
        }
        // The loop above may have taken the result already.
        if let Ok(result) = cx.sync(fiber.join_evt()).await {
            assert_eq!(result.len(), 40);
        }
        if let Ok(result) = cx.sync(&task).await {
            assert_eq!(result.len(), 40);
        }
        assert!(complete(&fiber.join_evt()).unwrap().is_err(), "it is had once");
        assert!(complete(&task).unwrap().is_err(), "it is had once");
    }
}

/// A user-defined event that performs `taken` and then completes `given` with the branch of
/// `taken`.
struct Crossed<'a, E> {
    taken: &'a E,
    given: &'a E,
}

impl<E: Event> Event for Crossed<'_, E> {
    type Output = Option<E::Output>;
    type Branch<'e>
        = E::Branch<'e>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        self.taken.is_single()
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.taken.branch()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.taken.try_commit(branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.taken.publish(branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.taken.withdraw(branch, attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        catch_unwind(AssertUnwindSafe(|| self.given.complete(branch))).ok()
    }
}

/// The branch that has won belongs to a fiber that has ended, and the result to one that has not.
async fn a_result_is_not_taken_by_anothers_branch(cx: Cx) {
    for _ in 0..20 {
        let (go, gone) = channel::<()>();
        let gone = [gone.clone(), gone];
        let fibers = [lisle::spawn(String::new), {
            let gone = gone[0].clone();
            lisle::spawn(move || {
                let _ = gone.recv();
                "a result".repeat(10)
            })
        }];
        let slow = gone[1].clone();
        let tasks = [false, true].map(|waits| {
            let slow = slow.clone();
            spawn_task(async move {
                if waits {
                    let _ = slow.recv_evt().await;
                } else {
                    lisle::task::inflate().await;
                }
                "a result".repeat(10)
            })
        });
        let events = [fibers[0].join_evt(), fibers[1].join_evt()];
        assert!(cx.sync(Crossed { taken: &events[0], given: &events[1] }).await.is_none());
        assert!(cx.sync(Crossed { taken: &tasks[0], given: &tasks[1] }).await.is_none());
        drop(go);
        assert_eq!(cx.sync(fibers[1].join_evt()).await.unwrap().len(), 80);
        assert_eq!(cx.sync(&tasks[1]).await.unwrap().len(), 80);
    }
}

/// The step of [`Strange`] that is out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangeness {
    /// It publishes in `try_commit`.
    Publishes,
    /// When a partner has committed it, it withdraws in `publish` and waits for something else.
    Waits,
    /// When a partner has committed it, it withdraws in `publish` and panics.
    Panics,
}

/// A user-defined event that another thread grants in the middle of its `publish`.
struct Strange {
    source: Arc<Source<(), u32>>,
    what: Strangeness,
    single: bool,
    linked: Arc<AtomicBool>,
    granted: Arc<AtomicBool>,
}

fn nothing(_: &mut ()) -> Option<u32> {
    None
}

impl Event for Strange {
    type Output = u32;
    type Branch<'e> = Waiting<'e, (), u32>;

    fn is_single(&self) -> bool {
        self.single
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.source.waiting()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        match self.what {
            Strangeness::Publishes => branch.publish(attempt, nothing),
            _ => branch.try_commit(attempt, nothing),
        }
    }
    fn publish<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let step = branch.as_mut().publish(attempt, nothing);
        self.linked.store(true, Ordering::Release);
        while !self.granted.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        assert!(branch.withdraw(attempt));
        if self.what == Strangeness::Panics {
            panic!("in the middle of it");
        }
        lisle::time::sleep(Duration::from_millis(1));
        step
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> u32 {
        branch.take()
    }
}

/// Performs a strange event in this world. The granter wakes the performer only after the performer
/// has gone.
fn perform(world: World, what: Strangeness, single: bool) {
    world.run(move |cx| async move {
        let source = Arc::new(Source::new(()));
        let [linked, granted, gone] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let strange = Strange { source, what, single, linked, granted };
        let granter = {
            let source = strange.source.clone();
            let [linked, granted, gone] = [&strange.linked, &strange.granted, &gone].map(Arc::clone);
            std::thread::spawn(move || {
                while !linked.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                source.update(|(), waiters| {
                    waiters.grant(7).unwrap();
                    granted.store(true, Ordering::Release);
                    while what == Strangeness::Panics && !gone.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
            })
        };
        let performer = cx.spawn(move |cx| async move {
            cx.go_apart().await;
            cx.sync(strange).await
        });
        let _ = cx.join_caught(performer).await;
        // The stack frame of the performer does not exist any more.
        black_box([0xa5_u8; 16 * 1024]);
        gone.store(true, Ordering::Release);
        granter.join().unwrap();
    });
}

/// Runs the strange event in all kinds of performers, and expects each time that the process ends
/// with this message.
#[track_caller]
fn ends(name: &str, what: Strangeness, singles: &[bool], message: &str) {
    let worlds = [World::TWO_DOMAINS, World::TASKS, World::Threads, World::Futures];
    match part() {
        None => {
            for part in 0..worlds.len() * singles.len() {
                Ended::of(&format!("by_hand::{name}"), &part.to_string())
                    .aborted()
                    .says("lisle: an implementation of `Event` breaks its contract: ")
                    .says(message);
            }
        }
        Some(part) => {
            let part: usize = part.parse().unwrap();
            perform(worlds[part / singles.len()], what, singles[part % singles.len()]);
        }
    }
}

/// Partners would see an attempt that does not expect them, in a performance that may end at any
/// time.
#[test]
fn nothing_is_published_outside_of_publish() {
    let message = "it publishes a branch in another step than `publish`";
    ends("nothing_is_published_outside_of_publish", Strangeness::Publishes, &[false], message);
}

/// The wake of the commit would end the wrong wait, or find the performer queued already.
#[test]
fn no_step_waits_when_a_partner_has_committed_it() {
    let message = "a function that it calls in `publish` or `withdraw` waits for something else";
    ends("no_step_waits_when_a_partner_has_committed_it", Strangeness::Waits, &[false, true], message);
}

/// The wake of the commit would find the stack of the performer unwound.
#[test]
fn no_step_panics_when_a_partner_has_committed_it() {
    let message = "a step of it panics when a partner has committed it";
    ends("no_step_panics_when_a_partner_has_committed_it", Strangeness::Panics, &[true], message);
}
