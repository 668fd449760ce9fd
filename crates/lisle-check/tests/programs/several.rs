//! Several workers find the same as one, and explorations end early, are saved, and go on.

use lisle::sync::{Condvar, IVar, Mutex, RwLock, Semaphore};
use lisle::time::after;
use lisle::{Event, channel, choose, spawn, spawn_task};
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use lisle_check::{Checker, Counts, Limit, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

type Program = fn();

fn variables<const N: usize>() -> Arc<[AtomicU32; N]> {
    Arc::new([const { AtomicU32::new(0) }; N])
}

/// Runs these as fibers, and waits for all of them.
fn all<const N: usize>(fibers: [Box<dyn FnOnce() + Send>; N]) {
    let _ = fibers.map(spawn).map(|fiber| fiber.join().unwrap());
}

pub(crate) fn store_buffering() {
    let x = variables::<2>();
    let x_too = x.clone();
    let other = spawn(move || {
        x_too[0].store(1, SeqCst);
        x_too[1].load(SeqCst)
    });
    x[1].store(1, SeqCst);
    x[0].load(SeqCst);
    other.join().unwrap();
}

pub(crate) fn two_writers_and_two_readers() {
    let x = variables::<2>();
    let [a, b, c, d] = [(); 4].map(|()| x.clone());
    all([
        Box::new(move || a[0].store(1, SeqCst)),
        Box::new(move || b[1].store(1, SeqCst)),
        Box::new(move || assert!(c[0].load(SeqCst) + c[1].load(SeqCst) <= 2)),
        Box::new(move || assert!(d[1].load(SeqCst) + d[0].load(SeqCst) <= 2)),
    ]);
}

fn readers() {
    let x = variables::<1>();
    let writer = x.clone();
    let writer = spawn(move || writer[0].store(1, SeqCst));
    let readers = [(); 7].map(|()| {
        let x = x.clone();
        spawn(move || x[0].load(SeqCst))
    });
    writer.join().unwrap();
    let _ = readers.map(|reader| reader.join().unwrap());
}

fn last_zero() {
    let array = variables::<6>();
    let of_reader = array.clone();
    let reader = spawn(move || {
        let mut i = 5;
        while of_reader[i].load(SeqCst) != 0 {
            i -= 1;
        }
    });
    let writers = [1, 2, 3, 4, 5].map(|i| {
        let array = array.clone();
        spawn(move || array[i].store(array[i - 1].load(SeqCst) + 1, SeqCst))
    });
    let _ = writers.map(|writer| writer.join().unwrap());
    reader.join().unwrap();
}

/// Philosophers, of whom the first `mended` take the other fork first.
fn dine<const N: usize>(mended: usize) {
    let forks = [(); N].map(|()| Arc::new(Mutex::new(())));
    let philosophers: Vec<_> = (0..N)
        .map(|n| {
            let (mut one, mut other) = (forks[n].clone(), forks[(n + 1) % N].clone());
            if n < mended {
                std::mem::swap(&mut one, &mut other);
            }
            spawn(move || {
                let _one = one.lock();
                let _other = other.lock();
            })
        })
        .collect();
    philosophers.into_iter().for_each(|philosopher| philosopher.join().unwrap());
}

fn an_update_is_lost() {
    let x = variables::<1>();
    let adders = [(); 3].map(|()| {
        let x = x.clone();
        spawn(move || x[0].store(x[0].load(SeqCst) + 1, SeqCst))
    });
    let _ = adders.map(|adder| adder.join().unwrap());
    assert_eq!(x[0].load(SeqCst), 3);
}

fn one_of_two_waiters_is_woken() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let waiters = [(); 2].map(|()| {
        let pair = pair.clone();
        spawn(move || drop(pair.1.wait_while(pair.0.lock(), |ready| !*ready)))
    });
    *pair.0.lock() = true;
    pair.1.notify_one();
    let _ = waiters.map(|waiter| waiter.join().unwrap());
}

fn senders_to_a_queue() {
    let (tx, rx) = channel::bounded(2);
    for n in [1, 2, 3] {
        let tx = tx.clone();
        spawn(move || tx.send(n).unwrap());
    }
    drop(tx);
    assert_eq!(rx.iter().sum::<u32>(), 6);
}

fn a_choice_and_a_time_out() {
    let (tx, rx) = channel::bounded(1);
    let (other_tx, other_rx) = channel::bounded(1);
    let senders = [tx, other_tx].map(|tx| spawn(move || tx.send(1).is_ok()));
    for _ in 0..2 {
        let second = Duration::from_secs(1);
        choose((rx.recv_evt().wrap(drop), other_rx.recv_evt().wrap(drop), after(second))).sync();
    }
    let _ = senders.map(|sender| sender.join().is_ok());
}

fn a_task_is_cancelled() {
    let value = Arc::new(AtomicU32::new(0));
    let of_task = value.clone();
    let task = spawn_task(async move {
        of_task.store(1, SeqCst);
        lisle::task::yield_now().await;
        of_task.store(2, SeqCst);
    });
    task.cancel();
    drop(task.join());
    value.load(SeqCst);
}

fn a_lock_for_readers_and_a_semaphore() {
    let shared = Arc::new((RwLock::new(0), Semaphore::new(1), IVar::new()));
    let fibers = [0, 1, 2].map(|n| {
        let shared = shared.clone();
        spawn(move || {
            let _seat = shared.1.acquire();
            if n == 0 {
                *shared.0.write() += 1;
                shared.2.put(*shared.0.read()).unwrap();
            } else {
                let _ = *shared.0.read();
            }
        })
    });
    shared.2.get();
    let _ = fibers.map(|fiber| fiber.join().unwrap());
}

/// Loops that ask again, one of which gives up: how often they do is learnt, and the exploration
/// begins anew.
fn loops_that_ask() {
    let flags = variables::<2>();
    let of_other = flags.clone();
    let other = spawn(move || {
        of_other[0].store(1, SeqCst);
        while of_other[1].load(SeqCst) == 0 {
            lisle::fiber::yield_now();
        }
    });
    for _ in 0..3 {
        if flags[0].load(SeqCst) == 1 {
            break;
        }
        lisle::fiber::yield_now();
    }
    flags[1].store(1, SeqCst);
    other.join().unwrap();
}

fn orders_of_ten() {
    let total = Arc::new(Mutex::new(0));
    let adders = [(); 10].map(|()| {
        let total = total.clone();
        spawn(move || *total.lock() += 1)
    });
    let _ = adders.map(|adder| adder.join().unwrap());
}

/// Objects that two fibers may be the first to name: the exploration begins anew.
fn fibers_meet_at_what_neither_has_made() {
    let (one, other) = (Arc::new(Mutex::new(0)), variables::<1>());
    let fibers = [(); 3].map(|()| {
        let (one, other) = (one.clone(), other.clone());
        spawn(move || {
            *one.lock() += 1;
            other[0].fetch_add(1, SeqCst);
        })
    });
    let _ = fibers.map(|fiber| fiber.join().unwrap());
}

const PROGRAMS: [(&str, Program); 16] = [
    ("store buffering", store_buffering),
    ("two writers and two readers", two_writers_and_two_readers),
    ("readers", readers),
    ("last zero", last_zero),
    ("philosophers who wait for each other", || dine::<4>(0)),
    ("philosophers", || dine::<4>(1)),
    ("two philosophers", || dine::<2>(0)),
    ("a lost update", an_update_is_lost),
    ("one of two waiters", one_of_two_waiters_is_woken),
    ("senders", senders_to_a_queue),
    ("a choice", a_choice_and_a_time_out),
    ("a task", a_task_is_cancelled),
    ("a lock for readers", a_lock_for_readers_and_a_semaphore),
    ("fibers meet", fibers_meet_at_what_neither_has_made),
    ("loops that ask", loops_that_ask),
    ("one fiber", || spawn(|| ()).join().unwrap()),
];

fn distinct(verdict: &Verdict) -> Counts {
    Counts { redundant: 0, ..verdict.counts() }
}

#[test]
fn the_counts_do_not_depend_on_the_number_of_workers() {
    for (name, program) in PROGRAMS {
        let explore = |workers| Checker::new().past_failures().workers(workers).explore(program);
        let alone = explore(1);
        println!("{name}: {:?}", alone.counts());
        assert!(alone.is_exhaustive(), "{name}: {alone}");
        for workers in [2, 3] {
            let together = explore(workers);
            assert!(together.is_exhaustive());
            assert_eq!(distinct(&together), distinct(&alone), "{workers} workers: {name}");
        }
    }
}

#[test]
fn others_help_when_there_are_many_executions() {
    // More than the first worker runs alone.
    let program = || {
        let total = Arc::new(Mutex::new(0));
        let adders = [(); 7].map(|()| {
            let total = total.clone();
            spawn(move || *total.lock() += 1)
        });
        let _ = adders.map(|adder| adder.join().unwrap());
    };
    let verdict = Checker::new().explore(program);
    assert_eq!(verdict.to_string(), "exhaustive: 5,040 executions, all end");
}

#[test]
fn a_failure_stops_all_workers() {
    for (name, program) in PROGRAMS {
        let explore = |workers| Checker::new().workers(workers).explore(program);
        let kind = |verdict: &Verdict| {
            verdict
                .failure()
                .map(|failure| (failure.blocked().is_some(), failure.panicked().map(str::to_owned)))
        };
        let alone = explore(1);
        for workers in [2, 3] {
            let together = explore(workers);
            match (kind(&alone), kind(&together)) {
                (Some((true, None)), Some((true, None))) => {}
                // The message of an assertion depends on the schedule.
                (Some((false, Some(_))), Some((false, Some(_)))) => {}
                (None, None) => assert!(together.is_exhaustive()),
                (alone, together) => panic!("{workers} workers: {name}: {together:?}, and not {alone:?}"),
            }
        }
    }
}

#[test]
fn what_is_drawn_does_not_depend_on_the_number_of_workers() {
    let checkers = |seed| {
        let checker = Checker::new().executions(100);
        [
            checker.clone().random(seed),
            checker.clone().priorities(seed, 3),
            checker.clone().portfolio(seed),
            checker.preemptions(1),
        ]
    };
    for (name, program) in PROGRAMS {
        for checker in checkers(7) {
            let alone = checker.clone().workers(1).explore(program);
            let token = |verdict: &Verdict| verdict.failure().map(|failure| failure.token());
            for workers in [2, 3] {
                let together = checker.clone().workers(workers).explore(program);
                assert_eq!(together.counts(), alone.counts(), "{workers} workers: {name}, {checker:?}");
                assert_eq!(token(&together), token(&alone), "{workers} workers: {name}, {checker:?}");
            }
        }
    }
}

#[test]
fn a_number_of_executions_is_kept() {
    for workers in 1..=3 {
        let verdict = Checker::new().workers(workers).executions(20).explore(readers);
        assert_eq!((verdict.counts().all(), verdict.limit()), (20, Some(Limit::Executions(20))));
        assert!(!verdict.is_exhaustive() && verdict.explored() > 0.0 && verdict.explored() < 1.0);
        let text = verdict.to_string();
        assert!(
            text.starts_with("not exhaustive, given up before all was explored: 20 executions"),
            "{text}"
        );
        assert!(text.contains("% explored"), "{text}");
    }
}

#[test]
fn a_time_is_kept() {
    let time = Duration::from_millis(100);
    for checker in [Checker::new(), Checker::new().random(1), Checker::new().preemptions(9)] {
        for workers in 1..=2 {
            let verdict = checker.clone().time(time).workers(workers).explore(orders_of_ten);
            assert_eq!(verdict.limit(), Some(Limit::Time(time)), "{verdict}");
            assert!(verdict.elapsed() >= time);
            let text = verdict.to_string();
            assert!(
                text.starts_with("not exhaustive, given up after 0.") || text.starts_with("sampled for 0."),
                "{text}"
            );
        }
    }
}

/// The limit of time holds also where a caller hears of each of many short executions.
#[test]
fn a_time_is_kept_where_somebody_is_told() {
    let time = Duration::from_millis(300);
    let mut told = 0;
    let verdict = Checker::new().time(time).explore_each(orders_of_ten, |_| told += 1);
    assert_eq!(verdict.limit(), Some(Limit::Time(time)), "{verdict}");
    assert_eq!(verdict.counts().all(), told);
}

/// An execution is not waited for: this one would take some minutes.
#[test]
fn a_time_is_kept_within_an_execution() {
    let time = Duration::from_millis(500);
    for checker in [Checker::new(), Checker::new().random(1), Checker::new().preemptions(1)] {
        let begun = Instant::now();
        let verdict = checker.time(time).steps(usize::MAX).explore(|| {
            let x = variables::<1>();
            let other = x.clone();
            spawn(move || (0..u64::MAX).for_each(|_| other[0].store(1, SeqCst)));
            (0..u64::MAX).for_each(|_| x[0].store(2, SeqCst));
        });
        assert_eq!(verdict.limit(), Some(Limit::Time(time)), "{verdict}");
        assert_eq!(verdict.counts(), Counts::default());
        assert!(verdict.is_bounded() && !verdict.is_exhaustive());
        assert!(verdict.to_string().ends_with("no execution has come to its end"), "{verdict}");
        assert!(begun.elapsed() < 20 * time, "{:?}", begun.elapsed());
    }
}

/// An execution that the limit of time has cut is run when the exploration goes on.
#[test]
fn what_time_has_cut_is_run_another_time() {
    let path = std::env::temp_dir().join(format!("lisle-check-cut-{}.exploration", std::process::id()));
    for checker in [Checker::new(), Checker::new().preemptions(9)] {
        let (begun, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
        let (of_program, waits) = (begun.clone(), is_over.clone());
        let program = move || {
            let nth = of_program.fetch_add(1, SeqCst);
            store_buffering();
            if nth == 2 && !waits.swap(true, SeqCst) {
                std::thread::sleep(Duration::from_millis(700));
            }
            let lock = Mutex::new(());
            drop(lock.lock());
        };
        let program = Arc::new(program);
        let run = |checker: Checker| {
            let program = program.clone();
            checker.workers(1).explore(move || program())
        };
        let all = run(checker.clone()).counts();
        // An execution waits until time is over, and comes to no end.
        begun.store(0, SeqCst);
        is_over.store(false, SeqCst);
        let verdict = run(checker.clone().time(Duration::from_millis(500)).save_to(&path));
        assert!(verdict.is_bounded() && is_over.load(SeqCst), "{verdict}");
        let verdict = run(checker.resume(&path).unwrap());
        assert!(verdict.is_exhaustive(), "{verdict}");
        assert_eq!(Counts { redundant: 0, ..verdict.counts() }, Counts { redundant: 0, ..all });
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn preemptions_that_are_all_there_are_make_it_exhaustive() {
    let verdict = Checker::new().preemptions(9).explore(store_buffering);
    assert!(verdict.is_exhaustive(), "{verdict}");
    let verdict = Checker::new().preemptions(1).explore(two_writers_and_two_readers);
    assert!(verdict.to_string().starts_with("not exhaustive, bounded by 1 interruptions: "), "{verdict}");
    let without = Checker::new().preemptions(0).explore(two_writers_and_two_readers).counts().all();
    let limited = |most| Checker::new().preemptions(1).executions(most).explore(two_writers_and_two_readers);
    let verdict = limited(without + 1);
    let text = "all with up to 0 interruptions, and a part of those with up to 1: ";
    assert!(verdict.to_string().contains(text), "{verdict}");
    let verdict = limited(without - 1);
    assert!(verdict.to_string().contains("not even all without interruptions"), "{verdict}");
}

#[test]
#[should_panic = "the number of workers cannot be 0"]
fn nobody_cannot_explore() {
    let _ = Checker::new().workers(0);
}

#[test]
fn a_bound_that_was_hit_is_seen() {
    let bounded = [Checker::new().executions(20), Checker::new().preemptions(0), Checker::new().random(1)];
    for checker in bounded.map(|checker| checker.executions(20)) {
        let verdict = checker.explore(readers);
        assert!(verdict.is_bounded() && !verdict.is_exhaustive(), "{verdict}");
        let text = verdict.to_string();
        assert!(text.starts_with("not exhaustive") || text.starts_with("sampled"), "{text}");
        checker.check(readers);
        let checked = std::panic::catch_unwind(|| checker.must_be_exhaustive().check(readers));
        let panic = checked.expect_err("not all was explored");
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("the check is to be exhaustive"), "{text}");
    }
    assert!(!Checker::new().must_be_exhaustive().check(readers).is_bounded());
    // A failure counts, whatever was left out.
    let failed = Checker::new().executions(20).explore(an_update_is_lost);
    assert!(failed.failure().is_some() && !failed.is_bounded(), "{failed}");
}
