//! Calls that may take longer than a frame.

use crate::support::{Gate, Idle, watched, world_with};
use lisle_frame::{Foreign, Workers, World};
use std::time::Duration;

#[test]
fn the_stream_keeps_its_value_meanwhile() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let gate = Gate::default();
    let passes = gate.clone();
    let load = Foreign::new("load", move |n: u32| {
        if n == 2 {
            passes.pass();
        }
        n
    });
    let stream = world.live(0, async move |out| {
        for n in 1.. {
            out.set(load.call_over_frames(n).await);
        }
    });
    while gate.entered() == 0 {
        world.frame();
    }
    for _ in 0..10 {
        let report = world.frame();
        assert_eq!(world.get(stream).unwrap(), 1);
        assert_eq!((report.stalls, report.late), (0, 0), "the frame does not wait for it");
    }
    gate.open();
    while world.get(stream).unwrap() < 5 {
        world.frame();
    }
}

/// Without workers it is run at once, and its result comes with the next frame all the same.
#[test]
fn without_workers() {
    let _watched = watched();
    let mut world = World::new();
    let load = Foreign::new("load", |n: u32| n * 2);
    let stream = world.live(0, async move |out| {
        for n in 1.. {
            out.set(load.call_over_frames(n).await);
        }
    });
    for frame in 0..10 {
        world.frame();
        assert_eq!(world.get(stream).unwrap(), frame * 2);
    }
}

/// The world's thread runs calls that the frame waits for, and never a call that may take longer.
#[test]
fn they_are_for_workers_only() {
    let _watched = watched();
    let pool = Idle::new(1);
    let mut world = World::builder().pool(pool.clone()).build();
    let here = std::thread::current().id();
    let thread = Foreign::new("thread", || std::thread::current().id()).batch(1);
    let long = world.live(None, async move |out| out.set(Some(thread.call_over_frames(()).await)));
    let short = world.stream(async move || thread.call(()).await);
    for _ in 0..3 {
        world.frame();
        assert_eq!((world.get(long).unwrap(), world.get(short).unwrap()), (None, here));
    }
    pool.run_elsewhere();
    world.frame();
    assert_ne!(world.get(long).unwrap().unwrap(), here);
}

/// The world itself runs the calls that a pool's threads have left when the pool ended.
#[test]
fn a_pool_that_has_ended() {
    let _watched = watched();
    let workers = Workers::new(2).unwrap();
    let mut world = World::builder().pool(&workers).build();
    let work = Foreign::new("work", |n: u32| n + 1).batch(1);
    let within = world.stream(async move || work.call(1).await);
    let over = world.live(0, async move |out| {
        for n in 0.. {
            out.set(work.call_over_frames(n).await);
        }
    });
    world.frame();
    drop(workers);
    let before = world.get(over).unwrap();
    for _ in 0..4 {
        world.frame();
        assert_eq!(world.get(within).unwrap(), 2);
    }
    assert!(world.get(over).unwrap() >= before + 3);
}

/// A host's pool that says it has ended, with work that it never ran.
#[test]
fn a_pool_that_ends_with_work() {
    use std::cell::Cell;
    use std::rc::Rc;
    struct Ending(Idle, Rc<Cell<bool>>);
    impl lisle_frame::Pool for Ending {
        fn workers(&self) -> usize {
            if self.1.get() { 0 } else { 1 }
        }
        fn submit(&self, work: lisle_frame::Work) {
            self.0.submit(work);
        }
    }
    let _watched = watched();
    let ended = Rc::new(Cell::new(false));
    let mut world = World::builder().pool(Ending(Idle::new(1), ended.clone())).build();
    let work = Foreign::new("work", |n: u32| n + 1).batch(1);
    let stream = world.live(0, async move |out| out.set(work.call_over_frames(1).await));
    world.frame();
    world.frame();
    assert_eq!(world.get(stream).unwrap(), 0);
    ended.set(true);
    world.frame();
    assert_eq!(world.get(stream).unwrap(), 2);
}

/// A stream waits for a call over frames and one within the frame at once.
#[test]
fn both_kinds_in_one_stream() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let gate = Gate::default();
    let passes = gate.clone();
    let long = Foreign::new("long", move || passes.pass());
    let short = Foreign::new("short", |n: u32| n).delay(Duration::ZERO);
    let stream = world.live(0, async move |out| {
        let mut long = Box::pin(long.call_over_frames(()));
        let mut n = 0;
        loop {
            let is_ready =
                std::future::poll_fn(|cx| std::task::Poll::Ready(long.as_mut().poll(cx).is_ready()));
            if is_ready.await {
                return out.set(u32::MAX);
            }
            n += 1;
            out.set(short.call(n).await);
            lisle_frame::next_frame().await;
        }
    });
    for n in 1..5 {
        world.frame();
        assert_eq!(world.get(stream).unwrap(), n);
    }
    gate.open();
    while world.get(stream).unwrap() != u32::MAX {
        world.frame();
    }
}
