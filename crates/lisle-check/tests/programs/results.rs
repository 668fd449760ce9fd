//! Whether a program returns the same in each schedule, and which two schedules differ if it does
//! not.

use lisle::sync::Mutex;
use lisle::{channel, spawn};
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use lisle_check::{Checker, Counts, Difference, Ending};
use std::fmt::Debug;
use std::sync::Arc;

/// Returns how two schedules differ that come to different results.
fn difference<R: PartialEq + Debug + Send + 'static>(
    program: impl Fn() -> R + Send + Sync + Clone + 'static,
) -> (Difference, String) {
    let verdict = Checker::new().same_result(program.clone());
    println!("{verdict}");
    let failure = verdict.failure().expect("the results differ");
    let difference = failure.difference().expect("nothing else goes wrong").clone();
    for (token, result) in difference.tokens().iter().zip(difference.results()) {
        let again = Checker::new().replay(token).unwrap().same_result(program.clone());
        assert_eq!(again.to_string(), format!("one schedule, which ends with {result}"));
    }
    (difference, failure.to_string())
}

/// loom's senders.
fn received() -> [i32; 2] {
    let (tx, rx) = channel::bounded(2);
    for n in [1, 2] {
        let tx = tx.clone();
        spawn(move || tx.send(n).unwrap());
    }
    [rx.recv().unwrap(), rx.recv().unwrap()]
}

#[test]
fn the_sum_is_the_same_in_every_schedule() {
    let verdict = Checker::new().check_same_result(|| received().iter().sum::<i32>());
    let text = format!("exhaustive: {} executions, all end, same result", verdict.counts().complete);
    assert!(verdict.is_exhaustive() && verdict.to_string().starts_with(&text), "{verdict}");
    let sampled = Checker::new().random(1).executions(50).same_result(|| received().iter().sum::<i32>());
    assert_eq!(sampled.to_string(), "sampled: 50 executions, all end, same result");
}

#[test]
fn the_first_value_differs_by_the_order_of_two_sends() {
    let (difference, text) = difference(received);
    assert!(difference.is_one_reversal(), "{text}");
    let mut results = difference.results();
    results.sort();
    assert_eq!(results, ["[1, 2]", "[2, 1]"]);
    assert!(text.contains("they differ in one reversal") && text.contains("send to channel"), "{text}");
    // Both have the same steps up to the reversal.
    assert!(text.contains("the second schedule, from step"), "{text}");
}

/// The two steps are far from each other in the schedules that are found first.
#[test]
fn the_reversal_is_found_among_steps_that_do_not_matter() {
    let (difference, text) = difference(|| {
        let values = Arc::new([const { AtomicU32::new(0) }; 3]);
        let busy = [0, 1].map(|n| {
            let values = values.clone();
            spawn(move || (0..2).map(|_| values[n].fetch_add(1, SeqCst)).sum::<u32>())
        });
        let setter = values.clone();
        let setter = spawn(move || setter[2].store(1, SeqCst));
        let seen = values[2].load(SeqCst);
        let _ = busy.map(|fiber| fiber.join().unwrap());
        setter.join().unwrap();
        seen
    });
    assert!(difference.is_one_reversal(), "{text}");
    assert!(text.contains("load AtomicU32") && text.contains("store AtomicU32"), "{text}");
    let [first, second] = difference.traces().map(|trace| trace.len());
    assert_eq!(first, second, "{text}");
}

/// Nobody can take a lock while another one holds it: all that is done under it changes its place.
#[test]
fn critical_sections_are_reversed_as_a_whole() {
    let (difference, text) = difference(|| {
        let last = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let fibers = [1, 2].map(|n| {
            let last = last.clone();
            spawn(move || {
                let _held = last.0.lock();
                last.1.load(SeqCst);
                last.1.store(n, SeqCst);
            })
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
        last.1.load(SeqCst)
    });
    assert!(difference.is_one_reversal(), "{text}");
    assert!(text.contains("lock mutex"), "{text}");
}

#[test]
fn a_choice_may_be_the_difference() {
    let (difference, text) = difference(|| {
        let ends = [1, 2].map(|n| {
            let (tx, rx) = channel::bounded(1);
            tx.send(n).unwrap();
            (tx, rx)
        });
        let [(_, one), (_, other)] = &ends;
        lisle::Event::sync(&lisle::choose((one.recv_evt(), other.recv_evt()))).unwrap()
    });
    assert!(difference.is_one_reversal(), "{text}");
    assert!(text.contains("they differ in one choice"), "{text}");
    assert!(text.contains("choice: arm 1 of 2") && text.contains("choice: arm 2 of 2"), "{text}");
}

#[test]
fn what_goes_wrong_comes_before_what_differs() {
    let verdict = Checker::new().same_result(|| {
        let [first, _] = received();
        assert_eq!(first, 1, "the first is another one");
        first
    });
    let failure = verdict.failure().unwrap();
    assert!(failure.panicked().is_some_and(|message| message.contains("another one")), "{verdict}");
    assert!(failure.difference().is_none());
}

#[test]
fn all_outcomes_are_counted() {
    let outcomes = Checker::new().outcomes(received);
    let text = outcomes.to_string();
    assert_eq!((outcomes.len(), outcomes.is_empty()), (2, false), "{text}");
    let sum: u64 = outcomes.iter().map(|outcome| outcome.count()).sum();
    assert_eq!(sum, outcomes.verdict().counts().complete);
    assert!(
        outcomes.verdict().is_exhaustive() && text.contains("times [1, 2] (LISLE_CHECK_REPLAY="),
        "{text}"
    );
    for outcome in &outcomes {
        let again = Checker::new().replay(&outcome.token()).unwrap().outcomes(received);
        assert_eq!(again.iter().map(|outcome| *outcome.result()).collect::<Vec<_>>(), [*outcome.result()]);
    }
}

#[test]
fn outcomes_end_at_a_failure() {
    let outcomes = Checker::new().outcomes(|| {
        let [first, _] = received();
        assert_eq!(first, 1);
        first
    });
    assert!(outcomes.verdict().failure().is_some());
    assert!(outcomes.iter().all(|outcome| *outcome.result() == 1));
}

/// Returns the ending of each execution, and the counts of the exploration.
fn endings(checker: &Checker) -> (Vec<Ending>, Counts) {
    let mut endings = Vec::new();
    let program = || assert_eq!(received()[0], 1);
    let verdict = checker.explore_each(program, |ending| endings.push(ending));
    assert!(verdict.failure().is_some());
    (endings, verdict.counts())
}

#[test]
fn each_execution_is_told_of_up_to_the_first_failure_or_past_it() {
    let (endings, _) = self::endings(&Checker::new());
    let (last, before) = endings.split_last().unwrap();
    assert_eq!(*last, Ending::Failed);
    assert!(before.iter().all(|ending| *ending == Ending::Complete), "{before:?}");

    let (endings, counts) = self::endings(&Checker::new().past_failures());
    let number = |which: Ending| endings.iter().filter(|ending| **ending == which).count() as u64;
    assert_eq!((number(Ending::Complete), number(Ending::Failed)), (counts.complete, counts.failed));
    assert_eq!(endings.len() as u64, counts.distinct());
}

/// An exploration whose results are not in the file cannot go on from it.
#[test]
#[should_panic(expected = "what each execution has come to is not in the file")]
fn what_is_told_of_each_execution_is_not_saved() {
    let checker = Checker::new().save_to(std::env::temp_dir().join("never-written.exploration"));
    checker.explore_each(|| _ = received(), |_| ());
}
