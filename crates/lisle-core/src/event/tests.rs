//! Implementations of [`Event`] that break the contract, and functions that misbehave: they end the
//! process with a message, panic in the performer, or have no effect. They never harm a partner or
//! memory.

use crate::channel;
use crate::event::choose;
use crate::event::combinators::basic::never;
use crate::event::{Attempt, Event, Source, Step, Waiting};
use crate::sync::Condition;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// The program of these tests once more: by way of the emulator that runs this one, if
/// `LISLE_TEST_RUNNER` names one with its arguments. The system cannot start it otherwise.
fn this_program() -> Command {
    let program = std::env::current_exe().expect("the test binary has a path");
    let runner = std::env::var("LISLE_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}

/// Runs `act` in a process of its own, which must end with a message about `broken`.
fn ends_the_process(test: &str, broken: &str, act: impl FnOnce()) {
    if std::env::var_os("LISLE_BREAKS_CONTRACT").is_some() {
        act();
        return;
    }
    let (_, path) = module_path!().split_once("::").expect("a module of the crate");
    let output = this_program()
        .args(["--exact", &format!("{path}::{test}"), "--nocapture"])
        .env("LISLE_BREAKS_CONTRACT", "1")
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it went through: {message}");
    let expected = format!("lisle: an implementation of `Event` breaks its contract: {broken}");
    assert!(message.contains(&expected), "{message}");
}

type Tokens = Source<usize, usize>;
type Kept = Pin<Box<Waiting<'static, usize, usize>>>;

fn take(tokens: &mut usize) -> Option<usize> {
    let token = *tokens;
    *tokens = token.checked_sub(1)?;
    Some(token)
}

fn source() -> &'static Tokens {
    Box::leak(Box::new(Tokens::new(0)))
}

/// The way in which a [`Broken`] breaks the contract.
#[derive(Clone, Copy, PartialEq)]
enum How {
    PublishesTwoAsSingle,
    ForgetsToWithdraw,
    DropsWhatItPublished,
    PublishesAgain,
    TriesWhatItPublished,
    WaitsWhilePublished,
    ClaimsACommit,
    TakesEarly,
    WithdrawsForAnother,
}

/// An event that forwards to boxed branches, which it may use in any way.
struct Broken {
    source: &'static Tokens,
    how: How,
    /// A place for branches that outlive the performance that they were made for.
    elsewhere: Mutex<Vec<Kept>>,
}

impl Broken {
    fn new(how: How) -> Self {
        Broken { source: source(), how, elsewhere: Mutex::default() }
    }
}

impl Event for Broken {
    type Output = ();
    type Branch<'e> = Vec<Kept>;

    fn is_single(&self) -> bool {
        self.how == How::PublishesTwoAsSingle
    }
    fn branch(&self) -> Vec<Kept> {
        (0..2).map(|_| Box::pin(self.source.waiting())).collect()
    }
    fn try_commit(&self, _: Pin<&mut Vec<Kept>>, _: &Attempt<'_>) -> Step {
        Step::Waiting
    }
    fn publish(&self, branch: Pin<&mut Vec<Kept>>, attempt: &Attempt<'_>) -> Step {
        let branch = branch.get_mut();
        let step = branch[0].as_mut().publish(attempt, take);
        match self.how {
            How::PublishesTwoAsSingle => return branch[1].as_mut().publish(attempt, take),
            How::ForgetsToWithdraw => {}
            How::DropsWhatItPublished => branch.clear(),
            How::PublishesAgain => return branch[0].as_mut().publish(attempt, take),
            How::TriesWhatItPublished => return branch[0].as_mut().try_commit(attempt, take),
            How::WaitsWhilePublished => {
                let (_tx, rx) = channel::<()>();
                let _ = choose((rx.recv_evt(), never())).sync();
            }
            How::ClaimsACommit => return Step::Committed,
            How::TakesEarly => {
                let taken = catch_unwind(AssertUnwindSafe(|| branch[0].as_mut().take()));
                assert!(taken.is_err());
            }
            How::WithdrawsForAnother => {
                let mut elsewhere = self.elsewhere.lock().unwrap();
                for kept in elsewhere.iter_mut() {
                    kept.as_mut().withdraw(attempt);
                }
                elsewhere.append(branch);
                // Nothing is granted: the first performer waits until the other one withdraws its
                // branch.
                return step;
            }
        }
        self.source.update(|_, waiters| assert!(waiters.grant(7).is_ok()));
        step
    }
    fn withdraw(&self, branch: Pin<&mut Vec<Kept>>, attempt: &Attempt<'_>) -> bool {
        match self.how {
            How::ForgetsToWithdraw => {
                self.elsewhere.lock().unwrap().append(branch.get_mut());
                true
            }
            _ => branch.get_mut().iter_mut().any(|kept| kept.as_mut().withdraw(attempt)),
        }
    }
    fn complete(&self, branch: Pin<&mut Vec<Kept>>) {
        if let Some(kept) = branch.get_mut().first_mut() {
            assert_eq!(kept.as_mut().take(), 7);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_single_event_that_publishes_two() {
    ends_the_process("a_single_event_that_publishes_two", "`is_single` is true", || {
        Broken::new(How::PublishesTwoAsSingle).sync();
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_branch_that_outlives_its_performance() {
    ends_the_process("a_branch_that_outlives_its_performance", "its `withdraw` does not take back", || {
        Broken::new(How::ForgetsToWithdraw).sync();
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_branch_that_is_dropped_while_published() {
    ends_the_process("a_branch_that_is_dropped_while_published", "it drops a branch", || {
        Broken::new(How::DropsWhatItPublished).sync();
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_branch_that_is_published_twice() {
    ends_the_process("a_branch_that_is_published_twice", "it tries or publishes a branch again", || {
        Broken::new(How::PublishesAgain).sync();
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_branch_that_is_tried_while_published() {
    ends_the_process(
        "a_branch_that_is_tried_while_published",
        "it tries or publishes a branch again",
        || {
            Broken::new(How::TriesWhatItPublished).sync();
        },
    );
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_commit_that_was_not_made() {
    ends_the_process("a_commit_that_was_not_made", "it claims a commit", || {
        Broken::new(How::ClaimsACommit).sync();
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_branch_that_is_withdrawn_in_another_performance() {
    ends_the_process(
        "a_branch_that_is_withdrawn_in_another_performance",
        "it withdraws a branch in another",
        || {
            let event = Broken::new(How::WithdrawsForAnother);
            std::thread::scope(|scope| {
                scope.spawn(|| event.sync());
                scope.spawn(|| event.sync());
            });
        },
    );
}

#[test]
fn a_value_is_not_to_be_had_before_its_branch_is_withdrawn() {
    Broken::new(How::TakesEarly).sync();
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_function_that_waits_while_its_choice_is_published() {
    ends_the_process(
        "a_function_that_waits_while_its_choice_is_published",
        "a function that it calls in `publish` or `withdraw` waits",
        || Broken::new(How::WaitsWhilePublished).sync(),
    );
}

#[test]
fn a_function_may_wait_after_the_commit() {
    let (tx, rx) = channel::bounded(1);
    let (other_tx, other_rx) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| other_tx.send(2).unwrap());
        tx.send(1).unwrap();
        let both = choose((rx.recv_evt().wrap(|n| n.unwrap() + other_rx.recv().unwrap()), never()));
        assert_eq!(both.sync(), 3);
    });
}

/// The maker receives from the channel that it sends to: it has committed to one receiver and meets
/// a sender.
#[test]
fn a_maker_may_use_its_own_channel() {
    let (tx, rx) = channel();
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| rx.recv());
        let make = || {
            std::thread::scope(|inner| {
                inner.spawn(|| tx.send(1).unwrap());
                rx.recv().unwrap() + 10
            })
        };
        assert!(tx.send_with_evt(make).sync().is_ok());
        assert_eq!(receiver.join().unwrap(), Ok(11));
    });
}

#[test]
fn a_panic_in_a_later_branch_leaves_the_earlier_ones_queue() {
    let (tx, rx) = channel::<u32>();
    let (tokens, calls) = (Tokens::new(0), Cell::new(0));
    let panics = tokens.event(|_| -> Option<usize> {
        calls.set(calls.get() + 1);
        // Which branch comes first is random; this publishes both a few times.
        assert!(calls.get() < 2, "the function panics");
        None
    });
    let choice = choose((rx.recv_evt().wrap(|_| 0), panics));
    assert!(catch_unwind(AssertUnwindSafe(|| choice.sync())).is_err());
    assert!(tx.try_send(1).is_err(), "nobody waits");
    tokens.update(|_, waiters| assert!(waiters.is_empty()));
}

/// While the function of the second branch runs a partner wants to commit the first; then the
/// function panics.
#[test]
fn a_panic_after_the_commit_of_an_earlier_branch_consumes_its_wake() {
    for _ in 0..20 {
        let gate = Source::<bool, ()>::new(false);
        let (tokens, calls) = (Tokens::new(0), Cell::new(0));
        let panics = tokens.event(|_| -> Option<usize> {
            calls.set(calls.get() + 1);
            assert!(calls.get() < 2, "the function panics");
            None
        });
        let choice = choose((gate.event(|_| None).wrap(|()| 0), panics));
        std::thread::scope(|scope| {
            // It comes before or after everything, or waits for the claim under which the function
            // panics, or commits before the second branch is published, whose function is not
            // called then.
            let partner = scope.spawn(|| gate.update(|_, waiters| waiters.grant(()).is_ok()));
            let chosen = catch_unwind(AssertUnwindSafe(|| choice.sync()));
            let granted = partner.join().unwrap();
            assert!(chosen.is_err() || (granted && matches!(chosen, Ok(0))));
        });
        gate.update(|_, waiters| assert!(waiters.is_empty()));
        // The thread's next performance is not disturbed.
        assert_eq!(tokens.event(|_| Some(3)).sync(), 3);
    }
}

#[test]
fn a_panicking_wrap_has_received() {
    let (tx, rx) = channel::bounded(2);
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    let event = rx.recv_evt().wrap(|n| assert_ne!(n, Ok(1), "the wrap panics"));
    assert!(catch_unwind(AssertUnwindSafe(|| event.sync())).is_err());
    event.sync();
    assert!(rx.is_empty());
}

/// Clones are counted; withdrawing a branch that was never made must not make it.
#[test]
fn nothing_is_cloned_after_the_commit() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Clone for Counted<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::Relaxed);
            Counted(self.0)
        }
    }
    let clones = AtomicUsize::new(0);
    let (ready, _keep) = channel::bounded(1);
    let (never_ready, _keep_too) = channel();
    for _ in 0..50 {
        let before = clones.load(Ordering::Relaxed);
        let events = [
            ready.send_evt(Counted(&clones)).wrap(|sent| assert!(sent.is_ok())).boxed(),
            never_ready.send_evt(Counted(&clones)).wrap(|sent| assert!(sent.is_ok())).boxed(),
        ];
        choose(events).sync();
        assert!(_keep.try_recv().is_ok());
        assert!(clones.load(Ordering::Relaxed) - before <= 2);
    }
}

/// A vector of zero-sized events can be longer than memory has room for a branch of each.
#[test]
fn more_branches_than_memory_is_a_panic() {
    struct Large;
    impl Event for Large {
        type Output = ();
        type Branch<'e> = [u64; 16];
        fn branch(&self) -> [u64; 16] {
            [0; 16]
        }
        fn try_commit(&self, _: Pin<&mut [u64; 16]>, _: &Attempt<'_>) -> Step {
            Step::Waiting
        }
        fn publish(&self, _: Pin<&mut [u64; 16]>, _: &Attempt<'_>) -> Step {
            Step::Waiting
        }
        fn withdraw(&self, _: Pin<&mut [u64; 16]>, _: &Attempt<'_>) -> bool {
            false
        }
        fn complete(&self, _: Pin<&mut [u64; 16]>) {}
    }
    // 2^58 branches of 2^7 bytes: their size does not fit into a word.
    let mut many: Vec<Large> = Vec::with_capacity(1 << 58);
    // SAFETY: a vector of zero-sized values has room for any number of them, and they need no
    // initialization.
    unsafe { many.set_len(1 << 58) };
    assert!(catch_unwind(AssertUnwindSafe(|| choose(&many[..]).poll())).is_err());
}

// Tests of futures.

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// An event that is published, committed by a partner, and then panics.
struct CommittedThenPanics<'a>(&'a Tokens);

impl Event for CommittedThenPanics<'_> {
    type Output = usize;
    type Branch<'e>
        = Waiting<'e, usize, usize>
    where
        Self: 'e;

    fn branch(&self) -> Self::Branch<'_> {
        self.0.waiting()
    }
    fn try_commit<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>, _: &Attempt<'_>) -> Step {
        Step::Waiting
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        assert_eq!(branch.publish(attempt, take), Step::Waiting);
        self.0.update(|_, waiters| assert!(waiters.grant(7).is_ok()));
        panic!("it panics after a partner has committed it");
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> usize {
        branch.take()
    }
}

#[test]
fn a_future_that_panicked_after_its_commit_is_dropped_without_waiting() {
    let tokens = Tokens::new(0);
    let mut future = Box::pin(CommittedThenPanics(&tokens).future());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(future.as_mut(), Waker::noop()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(future.as_mut(), Waker::noop()))).is_err(), "it is over");
    drop(future);
    assert!(catch_unwind(AssertUnwindSafe(|| CommittedThenPanics(&tokens).sync())).is_err());
    tokens.update(|_, waiters| assert!(waiters.is_empty()));
}

#[test]
fn a_waiting_future_moves_between_threads() {
    let (tx, rx) = channel();
    let mut future = Box::pin(choose((rx.recv_evt(), never())).future());
    assert!(poll(future.as_mut(), Waker::noop()).is_pending());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            assert!(poll(future.as_mut(), Waker::noop()).is_pending());
            future
        });
        let mut future = waiting.join().unwrap();
        tx.send(1).unwrap();
        scope.spawn(move || assert_eq!(poll(future.as_mut(), Waker::noop()), Poll::Ready(Ok(1))));
    });
}

/// A forgotten future keeps its place in the queue, in memory that is never freed.
#[test]
fn a_forgotten_future_may_be_committed() {
    let (tx, rx) = channel();
    let mut future = Box::pin(rx.recv_evt().future());
    assert!(poll(future.as_mut(), Waker::noop()).is_pending());
    std::mem::forget(future);
    assert!(tx.try_send(Box::new(1)).is_ok(), "the forgotten future has it");
    assert!(tx.try_send(Box::new(2)).is_err());
}

/// Dropping the waker that was left at the first poll wakes the same future: no lock may be held.
#[test]
fn a_waker_may_do_anything_when_it_is_dropped() {
    struct Closes(channel::Sender<u32>);
    impl Wake for Closes {
        fn wake(self: std::sync::Arc<Self>) {}
    }
    impl Drop for Closes {
        fn drop(&mut self) {
            self.0.close();
        }
    }
    let (tx, rx) = channel::<u32>();
    let mut future = pin!(rx.recv_evt().future());
    let waker = Waker::from(std::sync::Arc::new(Closes(tx)));
    assert!(poll(future.as_mut(), &waker).is_pending());
    drop(waker);
    // This poll replaces the last reference to the first waker, which closes the channel.
    assert!(poll(future.as_mut(), Waker::noop()).is_pending());
    assert_eq!(poll(future.as_mut(), Waker::noop()), Poll::Ready(Err(channel::RecvError)));
}

/// A future that is told to start over, by a sender whose message did not come, waits again.
#[test]
fn a_future_survives_a_broken_promise() {
    let (tx, rx) = channel();
    let left = Condition::new();
    let mut future = pin!(rx.recv_evt().future());
    assert!(poll(future.as_mut(), Waker::noop()).is_pending());
    let broken = tx.send_with_evt(|| -> u32 {
        left.signal();
        panic!("the maker panics")
    });
    assert!(catch_unwind(AssertUnwindSafe(|| broken.sync())).is_err());
    assert!(left.is_signalled(), "it had committed");
    assert!(poll(future.as_mut(), Waker::noop()).is_pending());
    tx.send(4).unwrap();
    assert_eq!(poll(future.as_mut(), Waker::noop()), Poll::Ready(Ok(4)));
}
