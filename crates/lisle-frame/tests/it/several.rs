//! Several worlds at once: they know nothing of each other.

use crate::worlds::{Make, count};
use lisle_frame::{Failure, Foreign, StreamError, World, next_frame};
use std::thread;

in_all_worlds!(a_handle_of_one_world_used_in_another, a_thread_ends_and_drops_its_world);

/// 9.
fn a_handle_of_one_world_used_in_another(make: Make<'_>) {
    let (mut one, mut two) = (make(), make());
    // The second world has a stream in the same place of its memory.
    let here = one.named("here").stream(async || 1);
    let there = two.named("here").stream(async || 2);
    let input = one.input(5);
    let scope = one.scope();
    let is_other = |error: &StreamError| matches!(error.failure(), Failure::OtherWorld);
    let reads = two.stream(async move || here.await);
    let looks = two.stream(async move || here.with(|n| *n).await);
    let tries = two.stream(async move || here.try_get().await.unwrap_err().to_string());
    let previous = two.previous(here, 7);
    for _ in 0..3 {
        one.frame();
        two.frame();
        assert!(is_other(&two.get(here).unwrap_err()));
        assert!(is_other(&two.with(here, |_| ()).unwrap_err()));
        assert!(is_other(&two.remove(here).unwrap_err()));
        assert!(is_other(&two.set(input, 6).unwrap_err()));
        assert!(is_other(two.get(reads).unwrap_err().root()));
        assert!(is_other(two.get(looks).unwrap_err().root()));
        assert_eq!(two.get(tries).unwrap(), "the stream belongs to another world");
        assert_eq!(two.get(previous).unwrap(), 7);
        assert_eq!((one.get(here).unwrap(), two.get(there).unwrap()), (1, 2));
        assert_eq!(one.get(input.stream()).unwrap(), 5);
    }
    let inside = scope.stream(async || 1);
    two.remove_scope(scope);
    assert!(one.get(inside).is_err());
    drop(one);
    assert!(is_other(&two.get(here).unwrap_err()));
    two.frame();
    assert!(is_other(two.get(reads).unwrap_err().root()));
}

/// Runs a world for `frames` frames and checks its values.
fn run(world: &mut World, seed: u64, frames: usize) {
    let mix = Foreign::new("mix", |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(9)).batch(5);
    let streams = (0..20).map(|n| {
        world.live(seed + n, async move |out| {
            let mut value = seed + n;
            loop {
                value = mix.call(value).await;
                out.set(value);
                next_frame().await;
            }
        })
    });
    let streams = streams.collect::<Vec<_>>();
    let sum = streams.clone();
    let sum = world.stream(async move || {
        let mut total = 0_u64;
        for stream in &sum {
            total = total.wrapping_add(stream.get().await);
        }
        total
    });
    let mut expected = (0..20).map(|n| seed + n).collect::<Vec<_>>();
    for _ in 0..frames {
        let report = world.frame();
        assert_eq!(report.calls, 20);
        expected.iter_mut().for_each(|n| *n = mix(*n));
        assert_eq!(world.get(sum).unwrap(), expected.iter().fold(0_u64, |sum, n| sum.wrapping_add(*n)));
    }
    assert!(expected.iter().zip(&streams).all(|(n, stream)| world.get(*stream).unwrap() == *n));
}

/// 9.
#[test]
fn worlds_on_several_threads_at_once() {
    let threads = (0..3).map(|seed| thread::spawn(move || run(&mut World::new(), seed, count(300, 3))));
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
}

/// 9. They share a pool.
#[cfg(feature = "threads")]
#[test]
fn worlds_on_several_threads_with_one_pool() {
    let workers = lisle_frame::Workers::new(2).unwrap();
    thread::scope(|scope| {
        for seed in 0..3 {
            let workers = &workers;
            scope.spawn(move || run(&mut World::builder().pool(workers).build(), seed, count(300, 3)));
        }
    });
}

/// 9. Worlds come and go while the pool stays, and the pool goes while a world stays.
#[cfg(feature = "threads")]
#[test]
fn worlds_and_pools_come_and_go() {
    let workers = lisle_frame::Workers::new(2).unwrap();
    for seed in 0..count(30, 3) as u64 {
        run(&mut World::builder().pool(&workers).build(), seed, 3);
    }
    let mut last = World::builder().pool(&workers).build();
    run(&mut last, 1, 3);
    drop(workers);
    let work = Foreign::new("work", |n: u32| n + 1);
    let long = last.stream(async move || work.call_over_frames(1).await + work.call(1).await);
    last.frame();
    last.frame();
    assert_eq!(last.get(long).unwrap(), 4);
}

/// 9.
#[cfg(all(feature = "runtime", not(miri)))]
#[test]
fn sixty_four_worlds_on_the_domains_of_one_runtime() {
    lisle_runtime::Runtime::builder().domains(4).run(|| {
        let fibers = (0..64_u64).map(|seed| {
            lisle_runtime::spawn(move || {
                let mut world = World::builder().pool(lisle_frame::Domains::current()).build();
                run(&mut world, seed << 32, 30);
                seed
            })
        });
        let fibers = fibers.collect::<Vec<_>>();
        let ended = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>();
        assert_eq!(ended, 63 * 32);
    });
}

/// Whatever pool the world has, or none.
#[cfg(all(feature = "runtime", not(miri)))]
#[test]
fn frames_without_a_pause_let_the_others_of_their_domain_pass() {
    use std::sync::atomic::{AtomicBool, Ordering};
    lisle_runtime::Runtime::builder().domains(1).stall_report(None).run(|| {
        for pool in [true, false] {
            let builder = World::builder();
            let mut world =
                if pool { builder.pool(lisle_frame::Domains::current()) } else { builder }.build();
            let counter = world.live(0, async |out| {
                for frame in 1.. {
                    out.set(frame);
                    lisle_frame::next_frame().await;
                }
            });
            let passed = std::sync::Arc::new(AtomicBool::new(false));
            let passes = passed.clone();
            drop(lisle_runtime::spawn(move || {
                lisle_core::time::sleep(std::time::Duration::from_micros(1));
                passes.store(true, Ordering::Relaxed);
            }));
            let mut frames = 0;
            while !passed.load(Ordering::Relaxed) {
                world.frame();
                frames += 1;
            }
            assert_eq!(world.get(counter).unwrap(), frames);
        }
    });
}

/// The world is kept by the thread, and is dropped when the thread ends.
fn a_thread_ends_and_drops_its_world(_: Make<'_>) {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    thread_local! {
        static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
    }
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let counts = dropped.clone();
    let thread = thread::spawn(move || {
        let mut world = World::new();
        for n in 0..10 {
            let guard = Counts(counts.clone());
            world.stream(async move || {
                let _guard = &guard;
                n
            });
        }
        WORLD.set(Some(World::new()));
        world.frame();
        WORLD.set(Some(world));
    });
    thread.join().unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}
