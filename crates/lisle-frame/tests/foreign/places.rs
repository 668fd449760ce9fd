//! The threads that run calls: the world's thread helps with its own calls, and a call for which
//! the pool has no place runs in place.

use crate::support::{Gate, Idle, scaled, watched, world_with};
use lisle_frame::{Foreign, ForeignCallError, Pool, Work, Workers, World};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

/// Nobody else runs anything, so the world's thread does.
#[test]
fn the_world_helps_while_it_waits() {
    let _watched = watched();
    let mut world = World::builder().pool(Idle::new(3)).build();
    let here = thread::current().id();
    let who = Foreign::new("who", || thread::current().id());
    for foreign in [who.batch(1), who.batch(10), who.batch(7).homed(), who.batch(7).unordered()] {
        for _ in 0..scaled(100, 100, 10) {
            world.stream(async move || assert_eq!(foreign.call(()).await, here));
        }
    }
    for _ in 0..3 {
        let report = world.frame();
        assert!(report.stalls > 0);
        world.each_is_fine();
    }
}

/// Two worlds on two threads share the workers. Neither world's thread runs calls of the other.
#[test]
fn the_world_helps_with_nothing_else() {
    let _watched = watched();
    let workers = Workers::new(2).unwrap();
    let threads = Arc::new(Mutex::new(Vec::new()));
    let run = |_| {
        let (workers, threads) = (workers.clone(), threads.clone());
        move || {
            let mut world = World::builder().pool(&workers).build();
            let who = Foreign::new("who", || thread::current().id()).batch(2);
            let seen = Rc::new(RefCell::new(HashSet::<ThreadId>::new()));
            for _ in 0..scaled(200, 200, 10) {
                let seen = seen.clone();
                world.stream(async move || {
                    let thread = who.call(()).await;
                    seen.borrow_mut().insert(thread)
                });
            }
            for _ in 0..scaled(100, 30, 2) {
                world.frame();
                world.each_is_fine();
            }
            threads.lock().unwrap().push((thread::current().id(), seen.take()));
        }
    };
    let worlds = [0, 1].map(run).map(thread::spawn);
    worlds.into_iter().for_each(|world| world.join().unwrap());
    let threads = threads.lock().unwrap();
    let [(first, by_first), (second, by_second)] = &threads[..] else { panic!("two worlds") };
    assert!(!by_first.contains(second) && !by_second.contains(first));
    assert!(!by_first.is_empty() && !by_second.is_empty());
}

/// There is one place, and many batches; the workers do nothing, or are all in calls that do not
/// return. Everything is run, and nothing waits for itself.
#[test]
fn all_places_are_taken() {
    let _watched = watched();
    let calls = scaled(5_000, 2_000, 50);
    let check = |world: &mut World| {
        let double = Foreign::new("double", |n: usize| n * 2).batch(1);
        let streams = (0..calls)
            .map(|n| world.stream(async move || double.call(double.call(n).await).await))
            .collect::<Vec<_>>();
        for _ in 0..2 {
            let report = world.frame();
            assert_eq!((report.calls, report.batches), (2 * calls, 2 * calls));
            for (n, stream) in streams.iter().enumerate() {
                assert_eq!(world.get(*stream).unwrap(), 4 * n);
            }
        }
    };
    check(&mut World::builder().pool(Idle::new(2)).places(1).build());

    let workers = Workers::new(2).unwrap();
    let mut world = World::builder().pool(&workers).places(2).build();
    let gate = Gate::default();
    let passes = gate.clone();
    let stuck = Foreign::new("stuck", move || passes.pass());
    for _ in 0..2 {
        let stuck = stuck.clone();
        world.live((), async move |_| stuck.call_over_frames(()).await);
    }
    while gate.entered() < 2 {
        world.frame();
    }
    check(&mut world);
    gate.open();
}

/// There are more long calls than places: the calls without one run in place.
#[test]
fn all_places_for_long_calls_are_taken() {
    let _watched = watched();
    let pool = Idle::new(1);
    let mut world = World::builder().pool(pool.clone()).places(2).build();
    let here = thread::current().id();
    let who = Foreign::new("who", || thread::current().id());
    let streams = (0..5)
        .map(|_| world.live(None, async move |out| out.set(Some(who.call_over_frames(()).await))))
        .collect::<Vec<_>>();
    world.frame();
    world.frame();
    let ran = |world: &World| streams.iter().filter(|stream| world.get(**stream).unwrap().is_some()).count();
    assert_eq!(ran(&world), 3);
    assert!(streams.iter().all(|stream| world.get(*stream).unwrap().is_none_or(|thread| thread == here)));
    pool.run_elsewhere();
    world.frame();
    assert_eq!(ran(&world), 5);
    assert!(streams.iter().any(|stream| world.get(*stream).unwrap() != Some(here)));
}

/// A host's pool that runs its work at once, on the world's thread, or drops it.
#[test]
fn pools_of_all_kinds() {
    struct AtOnce;
    impl Pool for AtOnce {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            work.run();
        }
    }
    struct Refusing;
    impl Pool for Refusing {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            drop(work);
        }
    }
    /// A thread for each work.
    struct Threads;
    impl Pool for Threads {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            thread::spawn(move || work.run());
        }
    }
    let _watched = watched();
    let worlds = [
        World::builder().pool(AtOnce).build(),
        World::builder().pool(Refusing).build(),
        World::builder().pool(Threads).build(),
    ];
    for mut world in worlds {
        let calls = scaled(500, 200, 10);
        let twice = Foreign::new("twice", |n: usize| n * 2).batch(3).homed();
        let streams = (0..calls).map(|n| world.stream(async move || twice.call(n).await)).collect::<Vec<_>>();
        let over = world.live(0, async move |out| {
            for n in 1.. {
                out.set(twice.call_over_frames(n).await);
            }
        });
        let mut frames = 0;
        while frames < 3 || world.get(over).unwrap() < 6 {
            frames += 1;
            assert_eq!(world.frame().calls, calls);
            for (n, stream) in streams.iter().enumerate() {
                assert_eq!(world.get(*stream).unwrap(), 2 * n);
            }
        }
    }
}

/// A function is in no frame, on whichever thread it runs: also in place.
#[test]
fn a_function_is_in_no_frame() {
    let _watched = watched();
    for workers in [0, 1] {
        let (mut world, _workers) = world_with(workers);
        let inner = Foreign::new("inner", |n: u32| n);
        let outer = Foreign::new("outer", move || {
            let mut call = Box::pin(inner.try_call(1));
            match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Err(ForeignCallError::Outside)) => "outside",
                _ => "within",
            }
        });
        let here = Foreign::new("here", || drop(lisle_frame::here()));
        for foreign in [outer, outer.homed(), outer.batch(1), outer.batch(2).homed()] {
            for _ in 0..20 {
                world.stream(async move || assert_eq!(foreign.call(()).await, "outside"));
            }
        }
        let here = world.stream(async move || here.try_call(()).await.is_err());
        for _ in 0..3 {
            world.frame();
            world.each_is_fine();
            assert!(world.get(here).unwrap());
        }
    }
}

/// A thread that comes back while the world runs, between two frames, and after it has gone.
#[test]
fn work_may_outlive_its_world() {
    let _watched = watched();
    let pool = Idle::new(2);
    let mut world = World::builder().pool(pool.clone()).build();
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let stream = world.stream(async move || work.call(3).await);
    world.frame();
    assert_eq!(world.get(stream).unwrap(), 3);
    assert_eq!(pool.kept.borrow().len(), 2, "one for each worker");
    assert!(pool.kept.borrow().iter().all(|work| !work.has_ended() && !work.is_ready()));
    drop(world);
    assert!(pool.kept.borrow().iter().all(Work::has_ended));
    pool.run_elsewhere();
}

/// Whether the streams have failed; their bodies assert.
trait Fine {
    fn each_is_fine(&self);
}

impl Fine for World {
    fn each_is_fine(&self) {
        // A stream that has panicked has state beside its value.
        if let Err(error) = self.snapshot() {
            panic!("{error}");
        }
    }
}
