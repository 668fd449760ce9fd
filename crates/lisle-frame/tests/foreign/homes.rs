//! Homes of streams, and chains of calls.

use crate::support::{Gate, Idle, scaled, watched, world_with};
use lisle_frame::{Failure, Foreign, ForeignCallError, Pool, Work, Workers, World};
use std::cell::Cell;
use std::cell::RefCell;
use std::collections::HashSet;
use std::thread;

thread_local! {
    /// The seat whose work is being run.
    static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// A pool whose workers are the world's own thread, one after the other.
struct InTurn(RefCell<Vec<Work>>, usize);

impl Pool for InTurn {
    fn workers(&self) -> usize {
        self.1
    }
    fn submit(&self, work: Work) {
        self.0.borrow_mut().push(work);
    }
    fn help(&self) {
        for (seat, work) in self.0.borrow().iter().enumerate() {
            SEAT.set(Some(seat));
            work.run();
            SEAT.set(None);
        }
    }
}

/// All calls of a stream go to one worker, or to the world, in each frame.
#[test]
fn calls_go_home() {
    let _watched = watched();
    let mut world = World::builder().pool(InTurn(RefCell::default(), 3)).build();
    let seat = Foreign::new("seat", || SEAT.get()).batch(8).homed();
    let streams = (0..scaled(3_000, 3_000, 300))
        .map(|_| world.stream(async move || (seat.call(()).await, seat.call(()).await)))
        .collect::<Vec<_>>();
    world.frame();
    let homes = streams.iter().map(|stream| world.get(*stream).unwrap()).collect::<Vec<_>>();
    assert!(homes.iter().all(|(first, second)| first == second));
    let all = homes.iter().map(|(first, _)| *first).collect::<HashSet<_>>();
    assert!(all.len() > 1, "streams have several homes: {all:?}");
    for _ in 0..3 {
        world.frame();
        let now = streams.iter().map(|stream| world.get(*stream).unwrap());
        assert!(now.eq(homes.iter().copied()), "a stream has moved");
    }
}

/// The worker at home is in another call, or has never come: other workers run the calls that were
/// sent to it.
#[test]
fn what_is_sent_to_a_worker_that_is_busy_or_away() {
    let _watched = watched();
    let calls = scaled(3_000, 1_000, 30);
    let check = |world: &mut World| {
        let next = Foreign::new("next", |n: usize| n + 1).batch(5).homed();
        let streams = (0..calls).map(|n| world.stream(async move || next.call(n).await)).collect::<Vec<_>>();
        for _ in 0..2 {
            world.frame();
            for (n, stream) in streams.iter().enumerate() {
                assert_eq!(world.get(*stream).unwrap(), n + 1);
            }
        }
    };
    check(&mut World::builder().pool(Idle::new(3)).build());

    // The threads are in calls of this world.
    let workers = Workers::new(2).unwrap();
    let gate = Gate::default();
    let passes = gate.clone();
    let stuck = Foreign::new("stuck", move || passes.pass());
    let mut world = World::builder().pool(&workers).build();
    for _ in 0..2 {
        let stuck = stuck.clone();
        world.live((), async move |_| stuck.call_over_frames(()).await);
    }
    while gate.entered() < 2 {
        world.frame();
    }
    check(&mut world);
    // The calls that keep the workers busy may also be another world's, of which this one knows
    // nothing.
    check(&mut World::builder().pool(&workers).build());
    gate.open();
}

/// Both functions run one after the other, as one call, with one result.
#[test]
fn a_chain_travels_as_one_call() {
    let _watched = watched();
    for workers in [0, 2] {
        let (mut world, _workers) = world_with(workers);
        let first = Foreign::new("first", |n: usize| (n + 1, thread::current().id())).batch(10);
        let second = Foreign::new("second", |(n, thread): (usize, thread::ThreadId)| {
            assert_ne!(n, 8, "eight is too many");
            (n * 2, thread == thread::current().id())
        });
        let chain = first.then(second);
        assert_eq!(chain.name(), "first, then second");
        assert_eq!(chain(3), (8, true), "it is called as a function, too");
        let calls = scaled(1_000, 1_000, 40);
        let streams = (0..calls)
            .map(|n| {
                let chain = chain.clone();
                world.stream(async move || chain.call(n).await)
            })
            .collect::<Vec<_>>();
        let report = world.frame();
        assert_eq!(report.calls, calls);
        for (n, stream) in streams.iter().enumerate() {
            match world.get(*stream) {
                Ok(result) => assert_eq!(result, ((n + 1) * 2, true)),
                Err(error) => {
                    let Failure::Called(_, ForeignCallError::Panicked { function, message }) =
                        error.failure()
                    else {
                        panic!("{error}")
                    };
                    assert_eq!(n, 7);
                    assert_eq!(*function, "first, then second");
                    assert!(message.contains("eight is too many"), "{message}");
                }
            }
        }
        assert!(world.get(streams[7]).is_err());
    }
}

/// A chain of thirty, and the same calls one by one.
#[test]
fn long_chains() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let step = Foreign::new("step", |n: u64| n * 3 + 1);
    let two = step.then(step);
    let four = two.clone().then(two);
    let eight = four.clone().then(four);
    let chained = world.stream(async move || eight.call(eight.call(1).await).await);
    let plain = world.stream(async move || {
        let mut n = 1;
        for _ in 0..16 {
            n = step.call(n).await;
        }
        n
    });
    let report = world.frame();
    assert_eq!(report.calls, 2 + 16);
    assert_eq!(world.get(chained).unwrap(), world.get(plain).unwrap());
}
