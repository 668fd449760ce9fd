//! Where fibers go that are spawned where others before them have lived long, and have talked to
//! their neighbours or their children.

use crate::support::watched;
use lisle::{Runtime, channel};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::{Arc, Barrier};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The messages that make a fiber one that has lived long: some samples of its wakes are taken.
const MANY: u32 = 3_000;

fn here() -> ThreadId {
    thread::current().id()
}

/// Exchanges messages with a child, and returns where the two ran.
fn pair() -> (ThreadId, ThreadId) {
    let (question, asked) = channel::<u32>();
    let (answer, answered) = channel();
    let child = lisle::spawn(move || {
        asked.iter().for_each(|n| answer.send(n + 1).unwrap());
        here()
    });
    for n in 0..MANY {
        question.send(n).unwrap();
        assert_eq!(answered.recv(), Ok(n + 1));
    }
    drop(question);
    (here(), child.join().unwrap())
}

/// Spawns `count` pairs, and returns the threads on which the two of each ran.
fn pairs(count: usize) -> Vec<(ThreadId, ThreadId)> {
    let fibers: Vec<_> = (0..count).map(|_| lisle::spawn(pair)).collect();
    fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect()
}

/// Sends messages through a chain of fibers, and returns where each of them ran.
fn chain(relays: usize) -> Vec<ThreadId> {
    let (first, mut last) = channel::<u32>();
    let mut fibers = Vec::new();
    for _ in 0..relays {
        let (tx, rx) = channel();
        let before = std::mem::replace(&mut last, rx);
        fibers.push(lisle::spawn(move || {
            before.iter().for_each(|n| tx.send(n).unwrap());
            here()
        }));
    }
    let source = lisle::spawn(move || (0..MANY).for_each(|n| first.send(n).unwrap()));
    assert!(last.iter().eq(0..MANY));
    source.join().unwrap();
    fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect()
}

/// Counts how often neighbours differ.
fn changes(places: &[ThreadId]) -> usize {
    places.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Runs `f` on `domains` domains. All but the first take nothing over until `f` has called its
/// argument.
fn on(domains: usize, f: impl FnOnce(&dyn Fn())) {
    let barrier = Arc::new(Barrier::new(domains));
    Runtime::builder().domains(domains).stall_report(None).run(|| {
        let keep = |domain| {
            let waits = barrier.clone();
            lisle::fiber::spawn_on(domain, move || {
                waits.wait();
            })
        };
        let kept = Cell::new((1..domains).map(keep).collect::<Vec<_>>());
        f(&|| {
            barrier.wait();
            kept.take().into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    });
}

#[test]
fn parents_that_live_long_are_dealt_out_to_the_domains() {
    let _watched = watched();
    on(2, |let_go| {
        assert!(pairs(8).iter().all(|&places| places == (here(), here())));
        let_go();
        let parents: Vec<_> = pairs(8).into_iter().map(|(parent, _)| parent).collect();
        assert_eq!(changes(&parents), 1, "{parents:?}");
        assert_ne!(parents[3], parents[4]);
    });
}

/// More would take turns on the processors, and wait for the system at each message that crosses.
#[test]
fn they_are_dealt_out_to_no_more_domains_than_there_are_processors() {
    let _watched = watched();
    let processors = thread::available_parallelism().unwrap().get();
    on(4 * processors, |let_go| {
        pairs(4 * processors);
        let_go();
        let parents: HashSet<_> = pairs(4 * processors).into_iter().map(|(parent, _)| parent).collect();
        assert_eq!(parents.len(), processors);
    });
}

#[test]
fn a_long_chain_is_cut_in_two() {
    let _watched = watched();
    on(2, |let_go| {
        assert_eq!(changes(&chain(100)), 0);
        let_go();
        let places = chain(100);
        assert_eq!(changes(&places), 1, "{places:?}");
        assert_ne!(places[49], places[50]);
    });
}

#[test]
fn a_short_chain_stays_together() {
    let _watched = watched();
    on(2, |let_go| {
        chain(10);
        assert_eq!(changes(&chain(10)), 0);
        let_go();
    });
}

#[test]
fn scoped_fibers_are_dealt_out_as_well() {
    let _watched = watched();
    let parents = || {
        lisle::fiber::scope(|scope| {
            let fibers = [(); 4].map(|()| scope.spawn(|| pair().0));
            fibers.map(|fiber| fiber.join().unwrap())
        })
    };
    on(2, |let_go| {
        assert_eq!(changes(&parents()), 0);
        let_go();
        let places = parents();
        assert_eq!(changes(&places), 1);
        assert_ne!(places[1], places[2]);
    });
}

#[test]
fn on_one_domain_all_stay_together() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        for _ in 0..2 {
            assert_eq!(changes(&chain(100)), 0);
            assert!(pairs(4).iter().all(|&places| places == (here(), here())));
        }
    });
}

/// A fiber that is handed over to a domain begins there and nowhere else.
#[test]
fn none_is_dealt_out_to_a_domain_that_is_in_a_long_turn() {
    let _watched = watched();
    let (reported, report) = std::sync::mpsc::channel();
    let runtime = Runtime::builder().domains(2).stall_report(Some(Duration::from_millis(150)));
    runtime.on_report(move |_| _ = reported.send(())).run(|| {
        let waits = Arc::new(Barrier::new(2));
        let kept_by = waits.clone();
        let kept = lisle::fiber::spawn_on(1, move || {
            kept_by.wait();
        });
        let first = pairs(8);
        // Another one waits for that domain, so that its turn is reported.
        let delayed = lisle::fiber::spawn_on(1, || ());
        report.recv().unwrap();
        let second = pairs(8);
        waits.wait();
        kept.join().unwrap();
        delayed.join().unwrap();
        assert!([first, second].concat().iter().all(|&places| places == (here(), here())));
    });
}
