//! Listing waiters: the entry of each kind of performer, and that listing disturbs nothing.

use crate::support::{scaled, watched};
use lisle::event::Source;
use lisle::net::{Pollable, TcpListener};
use lisle::sync::{Condition, IVar};
use lisle::time::{after, at, sleep};
use lisle::{Blocked, Event, Runtime, WaitGraph, channel, choose, fiber, never};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Repeats the survey until its result satisfies `condition`.
#[track_caller]
fn until(look: impl Fn() -> WaitGraph, condition: impl Fn(&WaitGraph) -> bool) -> WaitGraph {
    let begun = Instant::now();
    loop {
        let graph = look();
        if condition(&graph) {
            return graph;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "never came to be; now:\n{graph}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn named<'a>(waiters: &'a [Blocked], name: &str) -> Option<&'a Blocked> {
    waiters.iter().find(|waiter| waiter.name.as_deref() == Some(name))
}

/// Returns the descriptions of the waits of the waiter with this name.
#[track_caller]
fn says(graph: &WaitGraph, name: &str) -> Vec<String> {
    let waiter = named(&graph.fibers, name).or_else(|| named(&graph.threads, name));
    let waiter = waiter.unwrap_or_else(|| panic!("'{name}' is not listed:\n{graph}"));
    waiter.waits.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(graph: &WaitGraph, name: &str, expected: &[(&str, &str)]) {
    let said = says(graph, name);
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for (said, (start, end)) in said.iter().zip(expected) {
        assert!(said.starts_with(start) && said.ends_with(end), "{said:?} is not {start:?}...{end:?}");
    }
}

fn fiber(name: &str) -> fiber::Builder {
    fiber::Builder::new().name(name)
}

/// Each kind of event describes the wait, its object, and the place where the object was created.
#[test]
fn each_kind_of_wait_is_told() {
    let _watched = watched();
    let here = "(made at crates/lisle/tests/it/waiting.rs:";
    for domains in [1, 3] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let stop = Arc::new(Condition::new().named("stop"));
        let (tx, rx) = channel::named::<u32>("numbers", 0);
        let (full, _keeps) = lisle::channel::bounded::<u32>(1);
        full.send(1).unwrap();
        let cell: Arc<IVar<u32>> = Arc::new(IVar::new().named("cell"));
        let gate: Arc<Source<bool, ()>> = Arc::new(Source::new(false).named("gate"));
        let blocked = Arc::new(AtomicBool::new(true));
        let (stop_here, cell_here, gate_here, blocked_here) =
            (stop.clone(), cell.clone(), gate.clone(), blocked.clone());
        let (rx_here, full_here) = (rx.clone(), full.clone());
        runtime.run(move || {
            let (stop, cell, gate, blocked) = (stop_here, cell_here, gate_here, blocked_here);
            let (rx, full) = (rx_here, full_here);
            drop(fiber("receives").spawn({
                let rx = rx.clone();
                move || rx.recv()
            }));
            drop(fiber("sends").spawn({
                let full = full.clone();
                move || full.send(2)
            }));
            drop(fiber("sends with").spawn(move || full.send_with_evt(|| 3).sync()));
            drop(fiber("reads").spawn(move || *cell.get()));
            drop(fiber("passes").spawn(move || gate.event(|open| open.then_some(())).sync()));
            drop(fiber("sleeps").spawn(|| sleep(Duration::from_secs(3_600))));
            drop(fiber("sleeps until").spawn(|| at(Instant::now() + Duration::from_secs(3_600)).sync()));
            drop(fiber("never").spawn(|| never::<()>().sync()));
            drop(fiber("cancelled").spawn(|| fiber::cancelled_evt().sync()));
            let waits = stop.clone();
            let waiting = fiber("waits").spawn(move || waits.wait());
            drop(fiber("joins").spawn(move || waiting.join().unwrap()));
            drop(fiber("joins with").spawn(|| {
                let other = lisle::spawn(|| never::<()>().sync());
                other.join_evt().sync().unwrap();
            }));
            drop(fiber("chooses").spawn({
                let (rx, stop) = (rx.clone(), stop.clone());
                move || {
                    let hour = after(Duration::from_secs(3_600)).wrap(|()| None);
                    let stopped = stop.wait_evt().wrap(|()| None).boxed();
                    choose((rx.recv_evt().wrap(Result::ok), hour, stopped)).sync()
                }
            }));
            drop(fiber("scopes").spawn({
                let stop = stop.clone();
                move || fiber::scope(|scope| drop(scope.spawn(|| stop.wait())))
            }));
            drop(fiber("blocks").spawn(move || {
                lisle::blocking(move || {
                    while blocked.load(Ordering::SeqCst) {
                        thread::sleep(Duration::from_millis(1));
                    }
                });
            }));
            drop(fiber("accepts").spawn(|| TcpListener::bind("127.0.0.1:0").unwrap().accept().unwrap()));
            drop(fiber("accepts with").spawn(|| {
                TcpListener::bind("127.0.0.1:0").unwrap().accept_evt().sync().unwrap();
            }));
            drop(fiber("is readable").spawn(|| {
                let (reader, _writer) = std::io::pipe().unwrap();
                Pollable::new(reader).unwrap().readable_evt().sync().unwrap();
            }));
        });
        // All of these, the fiber that is joined, and the one in the scope.
        let graph = until(|| runtime.waiting(), |graph| graph.fibers.len() == 20);
        assert!(graph.silent.is_empty() && graph.running.is_empty(), "{graph}");
        assert_eq!((graph.ready, graph.unbegun), (0, 0), "{graph}");
        for waiter in &graph.fibers {
            assert!(waiter.site.unwrap().file().ends_with("waiting.rs") && waiter.domain < Some(domains));
        }
        let numbers = ("receive from channel 'numbers' (made at crates/lisle/tests/it/waiting.rs:", "");
        check(&graph, "receives", &[(numbers.0, "; it has 1 sender and 3 receivers")]);
        check(&graph, "sends", &[(&format!("send to a channel {here}"), "receiver")]);
        check(&graph, "sends with", &[(&format!("send to a channel {here}"), "receiver")]);
        check(&graph, "reads", &[(&format!("read IVar 'cell' {here}"), ")")]);
        check(&graph, "passes", &[(&format!("take from source 'gate' {here}"), ")")]);
        check(&graph, "sleeps", &[("wait for a point in time; in 3", "s")]);
        check(&graph, "sleeps until", &[("wait for a point in time; in 3", "s")]);
        check(&graph, "never", &[("wait for an event that never happens", "")]);
        check(&graph, "cancelled", &[("wait for a cancellation of fiber 'cancelled' (spawned at", ")")]);
        let stop_wait = format!("wait for condition 'stop' {here}");
        check(&graph, "waits", &[(&stop_wait, ")")]);
        let spawned = "(spawned at crates/lisle/tests/it/waiting.rs:";
        check(&graph, "joins", &[(&format!("join fiber 'waits' {spawned}"), ")")]);
        check(&graph, "joins with", &[(&format!("join a fiber {spawned}"), ")")]);
        check(
            &graph,
            "chooses",
            &[(numbers.0, "receivers"), ("wait for a point in time; in", "s"), (&stop_wait, "")],
        );
        check(
            &graph,
            "scopes",
            &[(&format!("wait for the end of a scope {here}"), "; 1 of its fibers has not ended")],
        );
        check(&graph, "blocks", &[(&format!("wait for a blocking call {here}"), ")")]);
        check(&graph, "accepts", &[("read from a TcpListener; fd ", "")]);
        check(&graph, "accepts with", &[("read from a TcpListener; fd ", "")]);
        check(&graph, "is readable", &[("read from a PipeReader; fd ", "")]);
        // The owners of the objects that are waited for.
        let id = |name| named(&graph.fibers, name).unwrap().id;
        assert_eq!(named(&graph.fibers, "joins").unwrap().waits[0].held_by, [id("waits")]);
        let scoped = &named(&graph.fibers, "scopes").unwrap().waits[0].held_by;
        assert!(graph.fibers.iter().any(|fiber| fiber.name.is_none() && [fiber.id] == scoped[..]), "{graph}");
        assert!(graph.cycle().is_none());
        blocked.store(false, Ordering::SeqCst);
        drop(tx);
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}

/// Fibers with the same description share a block of text.
#[test]
fn alike_fibers_are_grouped() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let (tx, rx) = channel::named::<u32>("jobs", 0);
    runtime.run(|| {
        for _ in 0..1_000 {
            let rx = rx.clone();
            drop(lisle::spawn(move || rx.recv()));
        }
        drop(fiber("other").spawn(|| sleep(Duration::from_secs(3_600))));
    });
    let graph = until(|| runtime.waiting(), |graph| graph.fibers.len() == 1_001);
    let text = graph.to_string();
    let blocks: Vec<&str> =
        text.lines().filter(|line| !line.starts_with(' ') && line.contains("spawned")).collect();
    assert_eq!(blocks.len(), 2, "{text}");
    assert!(text.starts_with("1,001 fibers and "), "{text}");
    assert!(text.contains("\n1,000 fibers (spawned at crates/lisle/tests/it/waiting.rs:"), "{text}");
    assert!(text.contains("; it has 1 sender and 1001 receivers\n"), "{text}");
    assert!(text.contains("\nfiber 'other' (spawned at crates/lisle/tests/it/waiting.rs:"), "{text}");
    drop(tx);
    drop(rx);
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}

/// Plain threads are listed by their names when they sleep, also when they wait for a runtime's
/// fiber.
#[test]
fn plain_threads_are_listed() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let stop = Arc::new(Condition::new().named("threads stop"));
    let (tx, rx) = channel::named::<u32>("to threads", 0);
    thread::scope(|scope| {
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn_scoped(scope, run).unwrap();
        };
        // Its event cannot be shared between threads, but is described nevertheless.
        let (receiver, stopped) = (rx.clone(), stop.clone());
        spawn(
            "chooser",
            Box::new(move || {
                let local = std::rc::Rc::new(std::cell::Cell::new(0));
                let received = receiver.recv_evt().wrap(|_| local.set(1));
                choose((received, stopped.wait_evt())).sync();
                assert_eq!(local.get(), 0);
            }),
        );
        let fiber = runtime.spawn({
            let stop = stop.clone();
            move || stop.wait()
        });
        spawn("joiner", Box::new(move || fiber.join().unwrap()));
        let listed = |graph: &WaitGraph| {
            named(&graph.threads, "chooser").is_some() && named(&graph.threads, "joiner").is_some()
        };
        for look in [|_: &Runtime| lisle::waiting(), Runtime::waiting] {
            let graph = until(|| look(&runtime), listed);
            let waits = "wait for condition 'threads stop' (made at crates/lisle/tests/it/waiting.rs:";
            check(&graph, "chooser", &[("receive from channel 'to threads' (made at", ""), (waits, "")]);
            check(&graph, "joiner", &[("join a fiber (spawned at crates/lisle/tests/it/waiting.rs:", ")")]);
            assert!(graph.to_string().contains("thread 'chooser':\n    receive from"), "{graph}");
        }
        stop.signal();
    });
    drop(tx);
    until(lisle::waiting, |graph| named(&graph.threads, "chooser").is_none());
}

/// A fiber makes the request in its turn. It is listed as running, and its neighbours as waiting.
#[test]
fn a_fiber_may_ask() {
    let _watched = watched();
    for domains in [1, 2] {
        Runtime::builder().domains(domains).run(|| {
            let (_tx, rx) = channel::<u32>();
            let waiting = lisle::spawn(move || rx.recv());
            let asking = fiber("asks").spawn(|| {
                for _ in 0..3 {
                    let mut graph = lisle::waiting();
                    while graph.fibers.len() < 2 {
                        fiber::yield_now();
                        graph = lisle::waiting();
                    }
                    assert_eq!(graph.running.len(), 1, "{graph}");
                    assert_eq!(graph.running[0].name.as_deref(), Some("asks"));
                    assert!(graph.silent.is_empty());
                    fiber::yield_now();
                }
            });
            asking.join().unwrap();
            drop((waiting, _tx));
        });
    }
}

/// Fibers on several domains make requests at once. Each domain answers the others while it waits
/// for their answers.
#[test]
fn all_ask_at_once() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(4).start().unwrap();
    let silent = Arc::new(AtomicUsize::new(0));
    let asking: Vec<_> = (0..4)
        .map(|domain| {
            let silent = silent.clone();
            runtime.run(move || {
                lisle::fiber::spawn_on(domain, move || {
                    for _ in 0..scaled(50, 20) {
                        let graph = lisle::waiting();
                        silent.fetch_add(graph.silent.len(), Ordering::Relaxed);
                        assert!(!graph.running.is_empty(), "{graph}");
                        fiber::yield_now();
                    }
                })
            })
        })
        .collect();
    for _ in 0..scaled(50, 20) {
        let _ = runtime.waiting();
    }
    asking.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}

/// A domain whose fiber does not block cannot answer, and is listed with that fiber.
#[test]
fn a_busy_domain_is_silent() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).stall_report(None).start().unwrap();
    let (begun, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (begins, stopped) = (begun.clone(), stop.clone());
    let busy = runtime.run(move || {
        fiber("busy").domain(1).spawn(move || {
            begins.store(true, Ordering::SeqCst);
            while !stopped.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        })
    });
    while !begun.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    let graph = runtime.waiting();
    assert!(graph.silent.contains(&1), "{graph}");
    let running = graph.running.iter().find(|fiber| fiber.domain == 1).unwrap();
    assert_eq!(running.name.as_deref(), Some("busy"));
    assert!(
        graph.to_string().contains("fiber 'busy' (spawned at crates/lisle/tests/it/waiting.rs:"),
        "{graph}"
    );
    stop.store(true, Ordering::SeqCst);
    busy.join().unwrap();
    until(|| runtime.waiting(), |graph| graph.silent.is_empty());
}

/// It answers at a checkpoint, in the middle of that fiber's turn.
#[test]
fn a_domain_that_answers_in_a_turn_names_the_fiber_that_runs() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).stall_report(None).start().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let busy = runtime.run(move || {
        fiber("busy").domain(1).spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                lisle::fiber::checkpoint();
            }
        })
    });
    let is_named = |graph: &lisle::WaitGraph| {
        graph.silent.is_empty() && graph.running.iter().any(|fiber| fiber.name.as_deref() == Some("busy"))
    };
    until(|| runtime.waiting(), is_named);
    stop.store(true, Ordering::SeqCst);
    busy.join().unwrap();
}

/// Two fibers join each other, and one waits for them.
#[test]
fn fibers_that_join_each_other_are_a_cycle() {
    let _watched = watched();
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        runtime.run(|| {
            let (tx, rx) = channel::<fiber::JoinHandle<()>>();
            let first = fiber("first").spawn(move || rx.recv().unwrap().join().unwrap());
            let second = fiber("second").spawn(move || first.join().unwrap());
            tx.send(second).unwrap();
        });
        let graph = until(|| runtime.waiting(), |graph| graph.cycle().is_some());
        let mut cycle: Vec<_> = graph.cycle().unwrap().iter().filter_map(|one| one.name.clone()).collect();
        cycle.sort();
        assert_eq!(cycle, ["first", "second"]);
        let text = graph.to_string();
        assert!(text.contains("a cycle of 2, each waiting for the next:\n    fiber '"), "{text}");
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}

/// The graph is requested again and again while everything runs. Nothing is lost, and every entry
/// is complete.
#[test]
fn looking_disturbs_nobody() {
    let _watched = watched();
    for domains in [1, 2, 8] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let rounds = scaled(3_000, 400);
        let (tx, rx) = channel::named::<usize>("traffic", 0);
        let sums = Arc::new(Mutex::new(Vec::new()));
        let mut fibers = Vec::new();
        for i in 0..8 {
            let (tx, rx, sums) = (tx.clone(), rx.clone(), sums.clone());
            fibers.push(runtime.spawn(move || {
                for round in 0..rounds {
                    let hour = after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long"));
                    match (i + round) % 3 {
                        0 => choose((tx.send_evt(1), hour)).sync().unwrap(),
                        1 => tx.send_with_evt(|| 1).sync().unwrap(),
                        _ => tx.send(1).unwrap(),
                    }
                    if round % 64 == 0 {
                        lisle::spawn(|| sleep(Duration::from_micros(10))).join().unwrap();
                    }
                }
            }));
            fibers.push(runtime.spawn(move || {
                let mut sum = 0;
                for round in 0..rounds {
                    let received = rx.recv_evt().wrap(Result::unwrap);
                    sum += if round % 2 == 0 {
                        choose((received, never())).boxed().sync()
                    } else {
                        received.sync()
                    };
                }
                sums.lock().unwrap().push(sum);
            }));
        }
        let done = Arc::new(AtomicBool::new(false));
        let looker = {
            let done = done.clone();
            runtime.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let graph = lisle::waiting();
                    assert!(graph.fibers.iter().all(|fiber| !fiber.waits.is_empty()), "{graph}");
                    fiber::yield_now();
                }
            })
        };
        let mut looks = 0;
        while !fibers.iter().all(fiber::JoinHandle::is_finished) {
            let graph = runtime.waiting();
            assert!(graph.fibers.iter().all(|fiber| !fiber.waits.is_empty()), "{graph}");
            assert!(graph.cycle().is_none(), "{graph}");
            looks += 1;
        }
        done.store(true, Ordering::SeqCst);
        looker.join().unwrap();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(looks > 0);
        assert_eq!(sums.lock().unwrap().iter().sum::<usize>(), 8 * rounds);
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}

/// A user-defined event may panic while it describes its wait. That does no harm.
#[test]
fn a_panic_in_a_description_is_caught() {
    use lisle::event::{Attempt, Description, Step};
    use std::pin::Pin;

    struct Shy;
    impl Event for Shy {
        type Output = ();
        type Branch<'e> = ();
        fn branch(&self) {}
        fn try_commit(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> Step {
            Step::Waiting
        }
        fn publish(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> Step {
            Step::Waiting
        }
        fn withdraw(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> bool {
            false
        }
        fn complete(&self, _: Pin<&mut ()>) {}
        fn describe(&self, (): &(), _: &mut Description) {
            std::panic::resume_unwind(Box::new("do not look at me"));
        }
    }
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (tx, rx) = channel::<u32>();
    runtime.run(move || {
        drop(
            fiber("shy").spawn(move || choose((Shy.wrap(|()| 0), rx.recv_evt().wrap(Result::unwrap))).sync()),
        )
    });
    let graph = until(|| runtime.waiting(), |graph| graph.fibers.len() == 1);
    assert_eq!(graph.fibers[0].waits.len(), 0, "{graph}");
    tx.send(1).unwrap();
    until(|| runtime.waiting(), |graph| graph.fibers.is_empty());
}

/// A task that waits by a call keeps the fiber that runs it, be that its spawner or one of the
/// library's. The report names the task, and the form of the wait that it should have used.
#[test]
fn a_task_that_waits_by_a_call_is_told_with_its_fiber() {
    let _watched = watched();
    for begins in [true, false] {
        let builder = Runtime::builder().domains(1).closed_world(true);
        let outcome = builder.try_run(|| {
            let (tx, rx) = channel::<u32>();
            let task = lisle::spawn_task(async move {
                if !begins {
                    lisle::task::yield_now().await;
                }
                rx.recv().ok() // not `rx.recv_evt().await`
            });
            let _ = task.join();
            drop(tx);
        });
        let deadlock = outcome.unwrap_err();
        let graph = deadlock.waiting();
        let in_place: Vec<_> = graph.fibers.iter().filter_map(|waiter| waiter.in_place).collect();
        let [task] = in_place[..] else { panic!("one task waits in place: {deadlock}") };
        let text = deadlock.to_string();
        let named = if begins { "which runs a task (spawned at " } else { "a task (spawned at " };
        for says in [&format!("{named}{task}"), "the task waits by a call", "write `.await`"] {
            assert!(text.contains(says), "no {says:?} in: {text}");
        }
    }
}

/// A task that awaits its event keeps no fiber, and a fiber that waits runs no task.
#[test]
fn a_task_that_awaits_is_not_told_so() {
    let _watched = watched();
    let outcome = Runtime::builder().domains(1).closed_world(true).try_run(|| {
        let (tx, rx) = channel::<u32>();
        let task = lisle::spawn_task(async move { rx.recv_evt().await.ok() });
        let _ = task.join();
        drop(tx);
    });
    let text = outcome.unwrap_err().to_string();
    assert!(!text.contains("waits by a call"), "{text}");
}
