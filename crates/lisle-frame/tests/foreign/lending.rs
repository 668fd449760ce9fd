//! The values that a host lends to a frame.

use crate::support::{scaled, until, watched, world_with};
use lisle_frame::{Deadline, Foreign, Lent, Stream, World, call, frames, next_frame, race};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn message<T: Clone>(world: &World, stream: Stream<T>) -> String {
    world.get(stream).err().expect("it has failed").to_string()
}

#[test]
fn calls_and_bodies_read_what_is_lent_to_their_frame() {
    let _watched = watched();
    for threads in [0, 1, 2, 4] {
        let (mut world, _workers) = world_with(threads);
        let (grid, names) = (Lent::<[u64]>::new("grid"), Lent::<dyn Fn(u64) -> u64 + Sync>::new("names"));
        let at =
            Foreign::new("at", move |at: usize| grid.with(|grid| names.with(|name| name(grid[at])))).batch(7);
        let cells = world.list(100, move |n| async move || at.call(n).await);
        let in_body = world.stream(async move || grid.with(<[u64]>::len));
        let in_closure = world.stream(async move || call(move || grid.with(|grid| grid[99])).await);
        let values = world.values(cells);
        let mut ours = vec![0; 100];
        for frame in 1..scaled(50, 50, 4) as u64 {
            ours.iter_mut().for_each(|cell| *cell += frame);
            world.lend(grid, &ours).lend(names, &move |cell| cell + frame).frame();
            let expected = ours[0] + frame;
            assert!(world.get(values).unwrap().iter().all(|cell| *cell == expected), "{threads} workers");
            assert_eq!((world.get(in_body), world.get(in_closure)), (Ok(100), Ok(ours[99])));
        }
    }
}

#[test]
fn what_is_not_lent_fails_the_call_or_the_body_by_name() {
    let _watched = watched();
    for threads in [0, 2] {
        let (mut world, _workers) = world_with(threads);
        let (grid, other) = (Lent::<u32>::new("grid"), Lent::<u32>::new("other"));
        let read = Foreign::new("read", move || grid.with(|grid| *grid)).batch(1);
        let called = world.stream(async move || read.call(()).await);
        let body = world.named("body").retrying().stream(async move || grid.with(|grid| *grid));
        let asks = world.stream(async move || grid.try_with(|grid| *grid));
        world.frame();
        assert!(message(&world, called).contains("'grid' is not lent here"));
        assert!(message(&world, body).contains("'grid' is not lent here"));
        assert_eq!(world.get(asks), Ok(None));
        // Not from the frame before, nor by another name.
        world.lend(grid, &7).frame();
        assert_eq!((world.get(called), world.get(body), world.get(asks)), (Ok(7), Ok(7), Ok(Some(7))));
        world.lend(other, &7).frame();
        assert_eq!(world.get(asks), Ok(None));
        world.frame();
        assert_eq!(world.get(asks), Ok(None));
        // A frame that does not come takes nothing with it.
        drop(world.lend(grid, &8));
        mem::forget(world.lend(grid, &Box::new(9)));
        world.frame();
        assert_eq!(world.get(asks), Ok(None));
        mem::forget(world.lend(grid, &10));
        world.lend(grid, &11).frame();
        assert_eq!(world.get(asks), Ok(Some(11)));
    }
    assert_eq!(Lent::<u32>::new("nowhere").try_with(|n| *n), None);
}

#[test]
#[should_panic = "'grid' is lent to this frame already"]
fn one_name_is_lent_once() {
    let grid = Lent::<u32>::new("grid");
    World::new().lend(grid, &1).lend(grid, &2).frame();
}

/// A loan must not be read after the frame. So no call that the frame does not wait for may read
/// it.
#[test]
fn calls_that_may_outlast_the_frame_are_lent_nothing() {
    let _watched = watched();
    for threads in [0, 1] {
        let (mut world, _workers) = world_with(threads);
        let grid = Lent::<u32>::new("grid");
        let asks = move || grid.try_with(|grid| *grid);
        let long = Foreign::new("long", asks);
        let long = world.live(Some(0), async move |out| {
            loop {
                out.set(long.call_over_frames(()).await);
                next_frame().await;
            }
        });
        let keeps = Foreign::new("keeps", asks).deadline(Deadline::KeepLast(Duration::from_secs(100)));
        let keeps = world.stream(async move || keeps.call(()).await);
        let cancels = Foreign::new("cancels", asks).deadline(Deadline::Cancel(Duration::from_secs(100)));
        let cancels = world.stream(async move || cancels.call(()).await);
        let unordered = Foreign::new("unordered", asks).unordered().batch(1);
        let unordered = world.stream(async move || unordered.call(()).await);
        while world.get(long) != Ok(None) {
            world.lend(grid, &1).frame();
        }
        assert_eq!((world.get(keeps), world.get(cancels)), (Ok(None), Ok(None)));
        assert_eq!(world.get(unordered), Ok(Some(1)));
    }
}

/// A call whose result nobody wants any more runs on. The frame waits for it.
#[test]
fn a_frame_ends_after_the_calls_that_were_given_up() {
    let _watched = watched();
    for unordered in [false, true] {
        let (mut world, _workers) = world_with(1);
        let grid = Lent::<AtomicUsize>::new("grid");
        let (begun, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begins, ends) = (begun.clone(), ended.clone());
        let slow = move || {
            grid.with(|grid| {
                begins.store(true, Ordering::SeqCst);
                // Until the frame has nothing else to do, and then some.
                for _ in 0..100 {
                    std::thread::yield_now();
                    grid.fetch_add(1, Ordering::Relaxed);
                }
            });
            ends.store(true, Ordering::SeqCst);
        };
        let slow = Foreign::new("slow", slow).batch(1);
        let slow = if unordered { slow.unordered() } else { slow };
        let begins = begun.clone();
        let gives_up = world.live(0, async move |out| {
            let waits = async {
                // It is given up while it runs.
                let mut call = Box::pin(slow.call(()));
                let mut polled = false;
                std::future::poll_fn(|cx| {
                    if !polled {
                        polled = true;
                        assert!(call.as_mut().poll(cx).is_pending());
                    }
                    until(|| begins.load(Ordering::SeqCst));
                    std::task::Poll::Ready(())
                })
                .await;
            };
            race((waits, frames(10))).await;
            out.set(1);
            std::future::pending().await
        });
        let ours = AtomicUsize::new(0);
        world.lend(grid, &ours).frame();
        assert!(begun.load(Ordering::SeqCst) && ended.load(Ordering::SeqCst), "unordered: {unordered}");
        assert_eq!((ours.into_inner(), world.get(gives_up)), (100, Ok(1)));
    }
}

#[test]
fn a_panic_of_a_call_or_of_the_pool_leaves_nothing_lent() {
    let _watched = watched();
    use lisle_frame::{Pool, Work};
    struct Panics;
    impl Pool for Panics {
        fn workers(&self) -> usize {
            1
        }
        fn submit(&self, work: Work) {
            drop(work);
            panic!("a pool's");
        }
        fn wake(&self) {}
    }
    let mut world = World::builder().pool(Panics).build();
    let grid = Lent::<u32>::new("grid");
    let read = Foreign::new("read", move |fails: bool| {
        grid.with(|grid| if fails { panic!("on purpose") } else { *grid })
    });
    let read = read.batch(1);
    let good = world.stream(async move || read.call(false).await);
    let bad = world.stream(async move || read.call(true).await);
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.lend(grid, &1).frame()));
    assert!(unwound.is_err());
    assert_eq!(world.get(good), Ok(1));
    assert!(message(&world, bad).contains("on purpose"));
    assert_eq!(grid.try_with(|grid| *grid), None);
    let asks = world.stream(async move || grid.try_with(|grid| *grid));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.frame()));
    assert_eq!(world.get(asks), Ok(None));
}

/// A frame within a call of another frame sees the loans of both; its own go first.
#[test]
fn frames_within_frames() {
    let _watched = watched();
    for threads in [0, 1] {
        let (mut outer, _workers) = world_with(threads);
        let (both, only) = (Lent::<u32>::new("both"), Lent::<u32>::new("only"));
        let within = move || {
            let mut inner = World::new();
            let sees = inner.stream(async move || (both.with(|n| *n), only.try_with(|n| *n)));
            let ours = 2;
            inner.lend(both, &ours).frame();
            (inner.get(sees).unwrap(), both.with(|n| *n))
        };
        let nested = Foreign::new("nested", within).batch(1);
        let called = outer.stream(async move || nested.call(()).await);
        outer.lend(both, &1).lend(only, &5).frame();
        assert_eq!(outer.get(called), Ok(((2, Some(5)), 1)));
    }
}

/// Each worker reads at the same time: nothing is locked.
#[test]
fn all_workers_read_at_the_same_time() {
    let _watched = watched();
    let (mut world, _workers) = world_with(2);
    let meet = Lent::<Barrier>::new("meet");
    let read = Foreign::new("read", move |_: usize| meet.with(|meet| meet.wait().is_leader())).batch(1);
    let leaders = world
        .stream(async move || read.call_each(0..3).await.into_iter().filter(|is_leader| *is_leader).count());
    // The world's thread helps.
    world.lend(meet, &Barrier::new(3)).frame();
    assert_eq!(world.get(leaders), Ok(1));
}

/// Its calls run on the world's thread then.
#[test]
fn a_world_that_has_lost_its_workers_lends_as_well() {
    let _watched = watched();
    let (mut world, workers) = world_with(2);
    let grid = Lent::<u32>::new("grid");
    let read = Foreign::new("read", move || grid.with(|grid| *grid)).batch(1);
    let called = world.stream(async move || read.call(()).await);
    world.lend(grid, &3).frame();
    drop(workers);
    world.lend(grid, &4).frame();
    assert_eq!(world.get(called), Ok(4));
}

/// A destructor of a world that goes after a guard was forgotten finds nothing.
#[test]
fn a_world_that_goes_has_nothing_lent() {
    let _watched = watched();
    struct Asks(Lent<[u32]>, Arc<AtomicUsize>);
    impl Drop for Asks {
        fn drop(&mut self) {
            self.1.store(1 + usize::from(self.0.try_with(<[u32]>::len).is_some()), Ordering::SeqCst);
        }
    }
    let (mut world, found) = (World::new(), Arc::new(AtomicUsize::new(0)));
    let lent = Lent::<[u32]>::new("lent");
    let asks = Asks(lent, found.clone());
    world.stream(async move || {
        let _asks = &asks;
    });
    let ours = vec![1, 2, 3];
    mem::forget(world.lend(lent, &ours[..]));
    drop(ours);
    drop(world);
    assert_eq!(found.load(Ordering::SeqCst), 1);
}

/// A batch that was used again for a call over frames is not waited for.
#[test]
fn a_frame_does_not_wait_for_calls_over_frames() {
    let _watched = watched();
    let (mut world, _workers) = world_with(1);
    let (lent, goes_on) = (Lent::<u32>::new("lent"), Arc::new(AtomicBool::new(false)));
    let waits = goes_on.clone();
    let call = Foreign::new("call", move |waits_for_it: bool| {
        until(|| !waits_for_it || waits.load(Ordering::SeqCst));
    });
    let call = call.batch(1);
    let stream = world.live(0, async move |out| {
        call.call(false).await;
        call.call(false).await;
        out.set(1);
        call.call_over_frames(true).await;
        out.set(2);
        std::future::pending().await
    });
    world.lend(lent, &1).frame();
    assert_eq!(world.get(stream), Ok(1));
    goes_on.store(true, Ordering::SeqCst);
    while world.get(stream) != Ok(2) {
        world.frame();
    }
}
