//! Reports show a schedule in columns.

use lisle::sync::{Condvar, IVar, Mutex};
use lisle::time::after;
use lisle::{Event, channel, choose, fiber, spawn, spawn_task, task};
use lisle_check::Checker;
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Returns the report of a failure, with the white space of each line made one space: the tests do
/// not ask where the columns begin.
fn report(program: impl Fn() + Send + Sync + 'static) -> String {
    let verdict = Checker::new().explore(program);
    let text = verdict.failure().expect("something goes wrong").to_string();
    println!("{text}");
    assert!(text.lines().all(|line| !line.ends_with(' ')), "{text:?}");
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[track_caller]
fn has(report: &str, parts: &[&str]) {
    for part in parts {
        assert!(report.contains(part), "`{part}` is not in:\n{report}");
    }
}

#[test]
fn each_step_says_its_operation_its_object_and_its_place() {
    let line = line!();
    let report = report(|| {
        let (one, other) = (Arc::new(Mutex::new(1).named("one")), Arc::new(Mutex::new(2).named("other")));
        let (a, b) = (one.clone(), other.clone());
        let fiber = fiber::Builder::new().name("crosser").spawn(move || {
            let first = b.lock();
            *first + *a.lock()
        });
        let sum = {
            let first = one.lock();
            *first + *other.lock()
        };
        assert_eq!(sum, fiber.join().unwrap());
    });
    let at = |place: u32| format!("reports.rs:{}", line + place);
    has(
        &report,
        &[
            "\nthe program crosser\n",
            &format!("spawned at {}", at(4)),
            "1 begins\n- spawns crosser",
            &format!("lock mutex 'one' ({})\n", at(9)),
            &format!("lock mutex 'other' ({})\n- then waits: lock mutex 'one'\n", at(5)),
            "end waits for ever: lock mutex 'other', held by waits for ever: lock mutex 'one', held by the program\ncrosser",
            &format!("made at: mutex 'one' {}, mutex 'other' {}", at(2), at(2)),
            "LISLE_CHECK_REPLAY=1",
        ],
    );
}

#[test]
fn the_program_is_where_check_is_called() {
    let place = format!("reports.rs:{}", line!() + 1);
    let checked = catch_unwind(|| lisle_check::check(|| drop(IVar::<u32>::new().get().to_string())));
    let report = checked.unwrap_err().downcast::<String>().unwrap();
    assert!(report.contains(&place) && !report.contains("checker.rs"), "{report}");
}

#[test]
fn who_waits_and_who_is_woken_is_said() {
    let report = report(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let waiters = [(); 2].map(|()| {
            let pair = pair.clone();
            spawn(move || drop(pair.1.wait_while(pair.0.lock(), |ready| !*ready)))
        });
        *pair.0.lock() = true;
        pair.1.notify_one();
        let _ = waiters.map(|waiter| waiter.join().unwrap());
    });
    has(
        &report,
        &[
            "- spawns fiber 1, fiber 2",
            "wait for condition variable",
            "- waits",
            "- wakes fiber",
            "goes on: wait for condition",
            "end waits for ever: join fiber",
            "waits for ever for condition",
        ],
    );
}

#[test]
fn atomics_are_told_by_their_types_and_a_panic_by_its_step() {
    let report = report(|| {
        let counts = Arc::new([const { AtomicU32::new(0) }; 2]);
        let of_other = counts.clone();
        let other = spawn(move || {
            of_other[1].store(1, SeqCst);
            of_other[0].store(of_other[0].load(SeqCst) + 1, SeqCst)
        });
        counts[0].store(counts[0].load(SeqCst) + 1, SeqCst);
        counts[1].fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(counts[0].load(SeqCst), 2, "one is lost");
    });
    has(
        &report,
        &["load AtomicU32 #1", "store AtomicU32 #1", "change AtomicU32 #2", "- panics at reports.rs:"],
    );
    has(&report, &["one is lost"]);
}

#[test]
fn time_has_a_column_and_a_choice_says_its_arm() {
    let report = report(|| {
        let (tx, rx) = channel::bounded(0);
        spawn(move || tx.send(1));
        let soon = after(Duration::from_millis(5)).wrap(|()| None);
        let _ = choose((rx.recv_evt().wrap(Result::ok), soon)).sync();
        // Receivers that are gone would release the sender: this one is kept.
        std::mem::forget(rx);
    });
    has(
        &report,
        &[
            "\nthe program fiber 1 time\n",
            "receive from channel, or wait for",
            "- choice: arm 1 of 2",
            "5ms after the beginning",
            "- wakes the program",
            "waits for ever: send to channel (it",
        ],
    );
}

#[test]
fn tasks_have_columns() {
    let report = report(|| {
        let (tx, rx) = channel::named::<u32>("jobs", 1);
        let (ready, is_ready) = channel();
        let task = spawn_task(async move {
            is_ready.recv_evt().await.unwrap();
            rx.recv_evt().await.unwrap()
        });
        ready.send(()).unwrap();
        std::mem::forget(tx);
        task.join().unwrap();
    });
    has(&report, &["\nthe program task 1\n", "- wakes task 1", "channel 'jobs'", "join task 1"]);
}

/// The object for the end of a fiber or a task has no label of its own: the report names the fiber
/// or the task.
#[test]
fn who_is_asked_whether_it_has_ended_is_named() {
    let report = report(|| {
        let first = spawn(fiber::yield_now);
        let second = spawn(fiber::yield_now);
        let task = spawn_task(async { task::yield_now().await });
        first.cancel();
        let has_ended = [second.is_finished(), task.is_finished()];
        assert!(has_ended == [true, false] && has_ended == [false, true], "never both");
    });
    has(&report, &["change fiber 1", "look at fiber 2", "look at task 1", "never both"]);
}

#[test]
fn of_many_columns_those_in_the_cycle_are_shown() {
    let report = report(|| {
        let forks: Vec<_> = (0..3).map(|_| Arc::new(Mutex::new(()))).collect();
        for n in 0..8 {
            fiber::Builder::new().name(format!("guest {n}")).spawn(fiber::yield_now);
        }
        let philosophers: Vec<_> = (0..3)
            .map(|n| {
                let (one, other) = (forks[n].clone(), forks[(n + 1) % 3].clone());
                fiber::Builder::new().name(format!("philosopher {n}")).spawn(move || {
                    let _one = one.lock();
                    let _other = other.lock();
                })
            })
            .collect();
        philosophers.into_iter().for_each(|philosopher| philosopher.join().unwrap());
    });
    let header = report.lines().find(|line| line.contains("others")).expect("some share a column");
    has(header, &["philosopher 0", "philosopher 1", "philosopher 2", "others"]);
    has(&report, &["mutex #1", "mutex #2", "mutex #3"]);
}

#[test]
fn a_long_schedule_is_cut_in_the_middle() {
    let verdict = Checker::new().explore(|| {
        let count = AtomicU32::new(0);
        for _ in 0..100 {
            count.fetch_add(1, SeqCst);
        }
        assert_eq!(count.load(SeqCst), 1);
    });
    let failure = verdict.failure().unwrap();
    let text = failure.to_string();
    assert_eq!(failure.trace().len(), 102);
    assert!(text.contains("(62 steps)") && text.contains("panics") && text.lines().count() < 60, "{text}");
    assert!(text.contains("\n 12 ") && text.contains("\n 75 ") && !text.contains("\n 13 "), "{text}");
}

#[test]
fn of_an_endless_execution_the_beginning_and_the_end_are_kept() {
    let verdict = Checker::new().steps(20_000).explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let setter = flag.clone();
        let fiber = fiber::Builder::new().name("setter").spawn(move || setter.store(true, SeqCst));
        while !flag.load(SeqCst) {}
        fiber.join().unwrap();
    });
    let failure = verdict.failure().expect("a loop that asks again and again");
    let text = failure.to_string();
    assert_eq!(failure.trace().len(), 20_000, "{text}");
    assert!(
        text.contains("does not end") && text.contains("load AtomicBool") && text.contains("20000"),
        "{text}"
    );
    assert!(failure.html().len() < 2_000_000);
}

#[test]
fn what_is_left_that_cannot_be_unwound_is_shown_all_the_same() {
    let verdict = Checker::new().explore(|| {
        let lock = Arc::new(Mutex::new(0).named("kept"));
        let stubborn = lock.clone();
        let _held = lock.lock();
        loop {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(stubborn.lock())));
        }
    });
    let text = verdict.failure().unwrap().to_string();
    assert!(text.contains("lock mutex 'kept'") && text.contains("could not be unwound"), "{text}");
}

#[test]
fn a_replay_tells_what_the_schedule_does() {
    let program = || {
        let (tx, rx) = channel::bounded(1);
        let sender = spawn(move || tx.send(1).unwrap());
        let got = rx.try_recv().is_ok();
        sender.join().unwrap();
        got
    };
    let outcomes = Checker::new().outcomes(program);
    let waited = outcomes.iter().find(|outcome| *outcome.result()).expect("the sender may be first");
    let replay = Checker::new().replay(&waited.token()).unwrap().same_result(program);
    assert_eq!(replay.to_string(), "one schedule, which ends with true");
    let trace = replay.trace().expect("it is one schedule").to_string();
    let (sent, received) = (trace.find("send to channel"), trace.find("receive from channel"));
    assert!(sent.is_some() && sent < received, "{trace}");
}
