//! Deadlocks that are detected, and situations that only look like one.
//!
//! Each case is a process of its own. Its only threads are the runtime's and the threads that the
//! case starts. The process runs this program again, with the name of the case in its environment.
//! The parent checks how it ends and its output.

use lisle::net::Pollable;
use lisle::sync::Condition;
use lisle::time::{after, sleep};
use lisle::{Event, OnDeadlock, Runtime, channel, choose, fiber, never};
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

const PART: &str = "LISLE_TEST_DEADLOCK";

/// The expected result of a case.
enum Expected {
    /// It ends by itself with a success and prints all of this. It prints no deadlock unless one is
    /// in this list.
    Ends(&'static [&'static str]),
    /// It ends by a panic with this message.
    Panics(&'static [&'static str]),
    /// It reports this and does not end.
    Stays(&'static [&'static str]),
}
use Expected::{Ends, Panics, Stays};

struct Case {
    name: &'static str,
    run: fn(),
    expected: Expected,
}

const DEAD: &str = "a deadlock: every fiber waits, and nothing can wake any\n";
const HERE: &str = "at crates/lisle/tests/deadlock.rs:";

const CASES: &[Case] = &[
    Case {
        name: "nobody_sends",
        run: || {
            let deadlock = Runtime::builder().domains(2).try_run(nobody_sends).unwrap_err();
            eprintln!("found {deadlock}");
            assert!(deadlock.waiting().cycle().is_none());
        },
        expected: Ends(&[
            DEAD,
            "found a deadlock",
            "fiber 'listens' (spawned at crates/lisle/tests/deadlock.rs:",
            "    receive from channel 'orders' (made at crates/lisle/tests/deadlock.rs:",
            "; it has 1 sender and 1 receiver\n",
            "    join fiber 'listens' (spawned at crates/lisle/tests/deadlock.rs:",
        ]),
    },
    Case {
        name: "a_destructor_waits_in_a_foreign_call_that_is_unwound",
        run: || {
            let runtime = Runtime::builder().domains(1);
            eprintln!("found {}", runtime.try_run(unwound_in_a_foreign_call).unwrap_err());
        },
        expected: Ends(&[DEAD, "found a deadlock"]),
    },
    Case {
        name: "the_last_wait_before_it_was_for_time",
        run: || {
            // Shorter and longer than the time in which the monitor notices that all fibers sleep,
            // and falls asleep itself.
            for millis in [1, 40, 60, 100, 150, 200, 230, 300, 1_000] {
                let run = move || {
                    lisle::time::sleep(Duration::from_millis(millis));
                    nobody_sends();
                };
                Runtime::builder().domains(1).try_run(run).unwrap_err();
            }
            eprintln!("found all");
        },
        expected: Ends(&["found all"]),
    },
    Case {
        name: "a_signal_at_which_a_runtime_tells_wakes_nobody",
        run: || {
            let builder = Runtime::builder().domains(2).dump_on(lisle::signal::SIGUSR2);
            eprintln!("found {}", builder.try_run(nobody_sends).unwrap_err());
        },
        expected: Ends(&[DEAD, "found a deadlock", "'orders'"]),
    },
    Case {
        name: "a_report_is_made_once_and_the_program_stays",
        run: || Runtime::builder().domains(2).on_deadlock(OnDeadlock::Report).run(nobody_sends),
        expected: Stays(&["lisle: a deadlock", DEAD, "'orders'", HERE]),
    },
    Case {
        name: "a_panic_is_raised_by_default",
        run: || Runtime::builder().domains(1).run(nobody_sends),
        expected: Panics(&["panicked at crates/lisle/tests/deadlock.rs:", DEAD, "'orders'"]),
    },
    Case {
        name: "those_who_have_a_stack_wait_for_one_without",
        run: || eprintln!("found {}", Runtime::builder().domains(2).try_run(no_stack_is_left).unwrap_err()),
        expected: Ends(&[
            DEAD,
            "fibers wait for a stack",
            "found a deadlock",
            "    wait for a stack; cannot reserve ",
            "    wait for condition 'go'",
        ]),
    },
    Case {
        name: "a_started_runtime_panics",
        run: || Runtime::builder().domains(2).closed_world(true).start().unwrap().run(nobody_sends),
        expected: Panics(&[DEAD, "thread 'main':\n    join a fiber (spawned at"]),
    },
    Case {
        name: "a_started_runtime_in_which_nobody_is_reports_and_ends",
        run: || {
            let runtime = Runtime::builder().domains(2).closed_world(true).start().unwrap();
            let fiber = runtime.spawn(nobody_sends);
            drop(fiber.join());
            assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        },
        expected: Ends(&["lisle: a deadlock", DEAD, "'orders'"]),
    },
    Case {
        name: "tasks_that_wait_are_told_and_dropped",
        run: || {
            let dropped = Arc::new(());
            let held = dropped.clone();
            let run = move || {
                let (tx, rx) = channel::named::<u32>("orders", 0);
                let listens = lisle::spawn_task(async move {
                    let _held = held;
                    rx.recv_evt().await.unwrap()
                });
                let joins = lisle::spawn_task(async move { listens.await.unwrap() });
                let _ = joins.join();
                drop(tx);
            };
            let deadlock = Runtime::builder().domains(2).try_run(run).unwrap_err();
            eprintln!("found {deadlock}");
            assert_eq!(deadlock.waiting().tasks.len(), 2);
            assert_eq!(Arc::strong_count(&dropped), 1);
        },
        expected: Ends(&[
            DEAD,
            "found a deadlock",
            "a task (spawned at crates/lisle/tests/deadlock.rs:",
            "    receive from channel 'orders' (made at crates/lisle/tests/deadlock.rs:",
            "    join a task (spawned at crates/lisle/tests/deadlock.rs:",
        ]),
    },
    Case { name: "fibers_are_unwound", run: fibers_are_unwound, expected: Ends(&[]) },
    Case {
        name: "a_cycle_is_told",
        run: || {
            let joins = || {
                let (tx, rx) = channel::<fiber::JoinHandle<()>>();
                let first = named("first").spawn(move || drop(rx.recv().unwrap().join()));
                let second = named("second").spawn(move || drop(first.join()));
                tx.send(second).unwrap();
                never::<()>().sync();
            };
            let deadlock = Runtime::builder().domains(2).try_run(joins).unwrap_err();
            eprintln!("found {deadlock}");
            assert_eq!(deadlock.waiting().cycle().unwrap().len(), 2);
        },
        expected: Ends(&[
            DEAD,
            "a cycle of 2, each waiting for the next:\n    fiber '",
            "    wait for an event that never happens\n",
            ": join fiber 'first' (spawned at crates/lisle/tests/deadlock.rs:",
        ]),
    },
    Case {
        name: "fibers_that_are_left_may_be_dead",
        run: || {
            let leaves = || {
                let (tx, rx) = channel::<u32>();
                drop(named("left").spawn(move || (rx.recv(), drop(tx))));
                5
            };
            let deadlock = Runtime::builder().domains(2).drain(true).try_run(leaves).unwrap_err();
            eprintln!("found {deadlock}");
            assert_eq!(Runtime::builder().domains(2).try_run(leaves).unwrap(), 5, "nobody waits for them");
        },
        expected: Ends(&[DEAD, "fiber 'left'"]),
    },
    Case {
        name: "a_thread_that_has_ended_wakes_nobody",
        run: || {
            let thread = thread::spawn(|| thread::sleep(Duration::from_millis(300)));
            let deadlock = Runtime::builder().domains(1).try_run(nobody_sends).unwrap_err();
            assert!(thread.is_finished());
            eprintln!("found {deadlock}");
        },
        expected: Ends(&[DEAD]),
    },
    Case {
        name: "threads_for_foreign_calls_that_rest_wake_nobody",
        run: || {
            let calls = || {
                let calls = (0..3).map(|_| lisle::spawn(|| lisle::blocking(|| ())));
                calls.collect::<Vec<_>>().into_iter().for_each(|call| call.join().unwrap());
                nobody_sends();
            };
            let deadlock = Runtime::builder().domains(2).try_run(calls).unwrap_err();
            // The calls last much longer than the detection of a deadlock takes.
            assert!(threads_named("lisle-blocking") > 0, "it was noticed only when they had ended");
            eprintln!("found {deadlock}");
        },
        expected: Ends(&[DEAD, "'orders'"]),
    },
    Case {
        name: "a_foreign_call_that_has_sent_is_none_and_wakes_nobody",
        run: || {
            let collects = || {
                let (tx, rx) = channel::named::<u32>("numbers", 0);
                let sum = AtomicUsize::new(0);
                fiber::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| rx.iter().for_each(|_| sum.store(1, Ordering::SeqCst)));
                    }
                    let sends = tx.clone();
                    lisle::blocking(move || (0..100).for_each(|i| sends.send(i).unwrap()));
                });
                drop(tx); // too late: the scope waits for this
            };
            let deadlock = Runtime::builder().domains(2).try_run(collects).unwrap_err();
            assert!(threads_named("lisle-blocking") > 0, "it was noticed only when they had ended");
            eprintln!("found {deadlock}");
        },
        expected: Ends(&[DEAD, "'numbers'", "; it has 1 sender and 1 receiver"]),
    },
    Case {
        name: "a_foreign_call_that_waits_for_a_fiber_wakes_nobody",
        run: || {
            let both_wait = || {
                let (tx, rx) = channel::named::<u32>("numbers", 0);
                let (answers, answered) = channel::named::<u32>("answers", 0);
                fiber::scope(|scope| {
                    scope.spawn(|| assert!(answered.recv().is_err()));
                    let sends = tx.clone();
                    scope.spawn(|| lisle::blocking(move || sends.send(1)));
                });
                drop((rx, answers));
            };
            let deadlock = Runtime::builder().domains(2).try_run(both_wait).unwrap_err();
            eprintln!("found {deadlock}");
        },
        expected: Ends(&[DEAD, "'answers'", "'numbers'"]),
    },
    Case {
        name: "it_may_be_ignored",
        run: || {
            exit_after(Duration::from_secs(1));
            let ignores = Runtime::builder().domains(1).on_deadlock(OnDeadlock::Ignore);
            ignores.closed_world(true).run(nobody_sends);
        },
        expected: Ends(&[]),
    },
    Case {
        name: "a_thread_could_wake_it",
        run: || {
            exit_after(Duration::from_secs(1));
            Runtime::builder().domains(1).run(nobody_sends);
        },
        expected: Ends(&[]),
    },
    Case { name: "a_timer_is_none", run: || in_all(timers), expected: Ends(&[]) },
    Case { name: "a_thread_is_none", run: || in_all(threads), expected: Ends(&[]) },
    Case { name: "a_foreign_call_is_none", run: || in_all(foreign_calls), expected: Ends(&[]) },
    Case { name: "a_descriptor_is_none", run: || in_all(descriptors), expected: Ends(&[]) },
    Case { name: "a_future_is_none", run: || in_all(futures), expected: Ends(&[]) },
    Case { name: "a_storm_is_none", run: || in_all(storm), expected: Ends(&[]) },
];

fn named(name: &str) -> fiber::Builder {
    fiber::Builder::new().name(name)
}

fn nobody_sends() {
    let (tx, rx) = channel::named::<u32>("orders", 0);
    let listens = named("listens").spawn(move || assert!(rx.recv().is_err()));
    let _ = listens.join();
    drop(tx);
}

/// The fibers that have all the stacks wait for one that gets none.
fn no_stack_is_left() {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').next().unwrap().parse().unwrap();
    let limit = pages * 4096 + (100 << 20);
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let go = Arc::new(Condition::new().named("go"));
    let waits = |go: Arc<Condition>| move || go.wait();
    let waiting: Vec<_> = (0..300).map(|_| fiber::spawn_on(0, waits(go.clone()))).collect();
    // The other domain is to find none left.
    while !lisle::waiting().to_string().contains("wait for a stack") {
        fiber::yield_now();
    }
    let signals = fiber::spawn_on(1, move || go.signal());
    let _ = signals.join();
    waiting.into_iter().for_each(|fiber| drop(fiber.join()));
}

/// Returns the number of threads of this process with this name.
fn threads_named(name: &str) -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|found| found.trim() == name).count()
}

/// Ends the process from a thread that could just as well wake a fiber.
fn exit_after(duration: Duration) {
    thread::spawn(move || {
        thread::sleep(duration);
        std::process::exit(0);
    });
}

fn fibers_are_unwound() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    for domains in [1, 3] {
        dropped.store(0, Ordering::SeqCst);
        let counts = || Counts(dropped.clone());
        let outcome = Runtime::builder().domains(domains).try_run(|| {
            let _first = counts();
            let borrowed = counts();
            fiber::scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|| {
                        let _own = counts();
                        never::<()>().sync();
                        assert_eq!(Arc::strong_count(&borrowed.0), 0, "never gets here");
                    });
                }
                never::<()>().sync();
            });
        });
        assert!(outcome.is_err());
        assert_eq!(dropped.load(Ordering::SeqCst), 12);
    }
}

/// Runs `run`, a few seconds of situations that look like a deadlock: its pauses are about as long
/// as the detection takes.
fn in_all(run: fn()) {
    for domains in [1, 2] {
        Runtime::builder().domains(domains).try_run(run).unwrap();
    }
}

/// Returns pauses that end before, at and after the moment of a check.
fn pauses() -> impl Iterator<Item = Duration> {
    (40..90).step_by(4).chain([2, 250, 460, 300]).map(Duration::from_millis)
}

fn timers() {
    pauses().for_each(sleep);
    let hour = lisle::spawn(|| sleep(Duration::from_secs(3_600)));
    sleep(Duration::from_millis(400));
    let late = after(Duration::from_millis(600)).wrap(|()| false);
    assert!(!choose((hour.join_evt().wrap(|_| true), late)).sync());
    // The timer is one of several alternatives, and a scope waits for the fiber.
    let (_tx, rx) = channel::<u32>();
    fiber::scope(|scope| {
        scope.spawn(|| {
            let soon = after(Duration::from_millis(400)).wrap(|()| ());
            choose((rx.recv_evt().wrap(drop), soon)).sync();
        });
    });
}

fn threads() {
    for pause in pauses() {
        let (tx, rx) = channel::<u32>();
        drop(thread::spawn(move || {
            thread::sleep(pause);
            tx.send(1).unwrap();
        }));
        assert_eq!(rx.recv(), Ok(1));
        // A thread starts another one and ends before that one wakes this fiber.
        let (tx, rx) = lisle::channel::bounded::<u32>(1);
        drop(thread::spawn(move || {
            thread::sleep(pause / 2);
            drop(thread::spawn(move || {
                thread::sleep(pause / 2);
                tx.try_send(2).unwrap();
            }));
        }));
        assert_eq!(rx.recv(), Ok(2));
    }
}

/// The call is unwound, and waits in a destructor for a fiber that is unwound, too.
fn unwound_in_a_foreign_call() {
    struct Waits(lisle::channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.recv().unwrap();
        }
    }
    let ((tx, rx), (release, released)) = (channel::<()>(), channel::<()>());
    drop(lisle::spawn(move || {
        let _tx = tx;
        let unwinding = catch_unwind(AssertUnwindSafe(|| never::<()>().sync())).unwrap_err();
        while release.send_ready_evt().poll().is_none() {
            fiber::yield_now();
        }
        release.send(()).unwrap();
        resume_unwind(unwinding)
    }));
    lisle::blocking(move || {
        let _waits = Waits(released);
        rx.recv()
    })
    .unwrap();
}

fn foreign_calls() {
    for pause in pauses() {
        lisle::blocking(move || thread::sleep(pause));
        let (tx, rx) = channel::<u32>();
        let sends = lisle::spawn(move || {
            lisle::blocking(move || {
                thread::sleep(pause);
                tx.send(3)
            })
        });
        assert_eq!(rx.recv(), Ok(3));
        sends.join().unwrap().unwrap();
        // A call waits for a fiber, which waits for a timer.
        let (tx, rx) = channel::<u32>();
        let receives = lisle::spawn(move || lisle::blocking(move || rx.recv()));
        sleep(pause);
        tx.send(4).unwrap();
        assert_eq!(receives.join().unwrap(), Ok(4));
    }
}

/// Starts a child process that writes a byte after each pause.
fn beats() -> Child {
    let script: String = pauses().map(|pause| format!("sleep {}; echo;", pause.as_secs_f64())).collect();
    Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("there is a shell")
}

fn descriptors() {
    let mut child = beats();
    let output = OwnedFd::from(child.stdout.take().unwrap());
    let pipe = Pollable::new(PipeReader::from(output)).unwrap();
    let mut bytes = 0;
    loop {
        match pipe.read_with(|mut pipe| pipe.read(&mut [0; 8])).unwrap() {
            0 => break,
            count => bytes += count,
        }
    }
    assert_eq!(bytes, pauses().count());
    assert!(child.wait().unwrap().success());
}

struct Sends(lisle::channel::Sender<()>);

impl Wake for Sends {
    fn wake(self: Arc<Self>) {
        self.0.try_send(()).unwrap();
    }
}

/// The clock's thread makes a future ready that a fiber has begun, and its waker wakes the fiber.
fn futures() {
    for pause in pauses() {
        let (tx, rx) = lisle::channel::bounded(1);
        let waker = Waker::from(Arc::new(Sends(tx)));
        let mut future = Box::pin(after(pause).future());
        assert!(Future::poll(future.as_mut(), &mut Context::from_waker(&waker)).is_pending());
        rx.recv().unwrap();
        assert!(Future::poll(future.as_mut(), &mut Context::from_waker(&waker)).is_ready());
    }
}

/// All of these at the same time, and a crowd that waits for their end.
fn storm() {
    let stop = Arc::new(Condition::new());
    let crowd: Vec<_> = (0..200)
        .map(|_| {
            let stop = stop.clone();
            lisle::spawn(move || stop.wait())
        })
        .collect();
    let all = [timers, threads, foreign_calls, descriptors, futures].map(lisle::spawn);
    for fiber in all {
        fiber.join().unwrap();
    }
    stop.signal();
    crowd.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// The output of a child, and whether it ended with a success. `success` is `None` if it had to be
/// killed.
struct Ended {
    success: Option<bool>,
    stderr: String,
}

fn play(case: &Case) -> Ended {
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"))
        .env(PART, case.name)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program can be run again");
    let mut lines = BufReader::new(child.stderr.take().expect("piped"));
    let mut stderr = String::new();
    if let Stays(texts) = case.expected {
        // It has printed everything when it has printed all these texts. Anything else it would
        // print within the next checks.
        while texts.iter().any(|text| !stderr.contains(text)) && lines.read_line(&mut stderr).unwrap() > 0 {}
        thread::sleep(Duration::from_secs(1));
        child.kill().unwrap();
    }
    lines.read_to_string(&mut stderr).unwrap();
    let status = child.wait().unwrap();
    Ended { success: status.code().map(|code| code == 0), stderr }
}

fn judge(case: &Case, ended: &Ended) -> Result<(), String> {
    let (texts, success) = match case.expected {
        Ends(texts) => (texts, Some(true)),
        Panics(texts) => (texts, Some(false)),
        Stays(texts) => (texts, None),
    };
    if ended.success != success {
        return Err(format!("it has ended with {:?}", ended.success));
    }
    if let Some(missing) = texts.iter().find(|text| !ended.stderr.contains(**text)) {
        return Err(format!("it does not say {missing:?}"));
    }
    let times = ended.stderr.matches(DEAD).count();
    if times != usize::from(texts.contains(&DEAD)) {
        return Err(format!("it speaks of a deadlock {times} times"));
    }
    Ok(())
}

fn main() -> ExitCode {
    if let Ok(part) = std::env::var(PART) {
        let case = CASES.iter().find(|case| case.name == part).expect("a case of this name");
        (case.run)();
        return ExitCode::SUCCESS;
    }
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |case: &&Case| filters.is_empty() || filters.iter().any(|part| case.name.contains(part));
    let begun = Instant::now();
    let running = CASES.iter().filter(is_wanted).map(|case| (case, thread::spawn(|| play(case))));
    let running: Vec<_> = running.collect();
    let (played, mut failed) = (running.len(), 0);
    for (case, ended) in running {
        let ended = ended.join().expect("a case is played to its end");
        match judge(case, &ended) {
            Ok(()) => println!("test {} ... ok", case.name),
            Err(why) => {
                failed += 1;
                println!("test {} ... FAILED: {why}\n{}", case.name, ended.stderr);
            }
        }
    }
    let (verdict, passed) = (if failed == 0 { "ok" } else { "FAILED" }, played - failed);
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; finished in {:.2?}",
        begun.elapsed()
    );
    std::io::stdout().flush().expect("standard output takes it");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
