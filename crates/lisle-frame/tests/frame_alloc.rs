//! A frame that is warm allocates nothing: neither on the world's thread nor on its workers', with
//! foreign calls of all kinds. Streams and calls do not grow.
#![cfg(feature = "threads")]

use lisle_frame::{Deadline, Foreign, Report, Workers, World, call, next_frame};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The system's allocator, with a count of the allocations of the threads that are watched.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// The allocations of a page and more.
static LARGE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

fn count(size: usize) {
    if WATCHED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        LARGE.fetch_add(usize::from(size >= 4096), Ordering::SeqCst);
    }
}

// SAFETY: all calls are passed on to the system's allocator unchanged. The counters have no
// destructor, and so allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// No batch leaves because of its age, so that there are as many in each frame.
const NEVER: Duration = Duration::from_secs(3600);

/// Waits until the other tests have ended.
fn my_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many frames are watched.
const FRAMES: usize = 200;

/// Asserts that frames allocate nothing.
fn allocates_nothing(workers: usize, fill: impl Fn(&World)) -> Report {
    let (report, frames) = allocating_frames(workers, fill);
    assert_eq!(frames, 0, "frames have allocated, with {workers} workers");
    report
}

/// Makes a world with `workers` workers, watches the threads, and warms it up. Returns how many of
/// the frames after that have allocated, and the report of the last.
fn allocating_frames(workers: usize, fill: impl Fn(&World)) -> (Report, usize) {
    let _turn = my_turn();
    let pool = Workers::new(workers).unwrap();
    let mut world = World::builder().pool(&pool).build();
    watch_workers(&mut world, workers);
    fill(&world);
    for _ in 0..50 {
        world.frame();
    }
    WATCHED.set(true);
    let (mut last, mut frames) = (Report::default(), 0);
    for _ in 0..FRAMES {
        let before = ALLOCATIONS.load(Ordering::SeqCst);
        last = world.frame();
        frames += usize::from(ALLOCATIONS.load(Ordering::SeqCst) != before);
    }
    WATCHED.set(false);
    (last, frames)
}

/// Runs frames until each worker has run a call that has it watched.
fn watch_workers(world: &mut World, workers: usize) {
    let watched = std::sync::Arc::new(AtomicUsize::new(0));
    let watch = Foreign::new("watch", {
        let watched = watched.clone();
        move || {
            if !WATCHED.replace(true) {
                watched.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    // Only workers run calls that may take longer than a frame.
    let stream = world.live((), async move |_| {
        loop {
            watch.call_over_frames(()).await;
        }
    });
    while watched.load(Ordering::SeqCst) < workers {
        world.frame();
    }
    world.remove(stream).unwrap();
}

#[test]
fn the_watch_sees_allocations() {
    let _turn = my_turn();
    WATCHED.set(true);
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    drop(std::hint::black_box(Box::new(1)));
    WATCHED.set(false);
    assert!(ALLOCATIONS.load(Ordering::SeqCst) > before);
}

#[test]
fn batches_of_fixed_sizes() {
    for workers in [0, 1, 3] {
        let report = allocates_nothing(workers, |world| {
            for size in [1, 10, 100, 1_000] {
                let work = Foreign::new("work", |n: u64| n * 3).batch(size).delay(NEVER);
                for n in 0..500 {
                    world.stream(async move || work.call(work.call(n).await).await);
                }
            }
        });
        assert_eq!(report.calls, 4_000);
    }
}

#[test]
fn what_does_not_go_to_a_fixed_place() {
    for workers in [0, 2] {
        let report = allocates_nothing(workers, |world| {
            let work = || Foreign::new("work", |n: u64| n * 3).batch(10).delay(NEVER);
            let (homed, unordered, chain) = (work().homed(), work().unordered(), work().then(work()));
            for n in 0..500 {
                let chain = chain.clone();
                world.stream(async move || {
                    let n = homed.call(unordered.call(n).await).await;
                    chain.call(n).await
                });
            }
        });
        assert_eq!(report.calls, 1_500);
    }
}

/// In each frame a call has a deadline, one fails, and one may take longer. No call panics, because
/// the error of a panic allocates its text.
#[test]
fn calls_with_deadlines_and_over_frames() {
    for workers in [0, 2] {
        let report = allocates_nothing(workers, |world| {
            let keeps = Foreign::new("keeps", |n: u64| n).batch(5).delay(NEVER);
            let keeps = keeps.deadline(Deadline::KeepLast(NEVER));
            let fails = Foreign::new("fails", |n: u64| Err::<u64, u64>(n)).batch(5).delay(NEVER);
            let over = Foreign::new("over", |n: u64| n);
            for n in 0..100 {
                world.stream(async move || keeps.call(n).await + fails.call(n).await.unwrap_or(1));
            }
            world.live(0, async move |out| {
                loop {
                    out.set(over.call_over_frames(1).await);
                    next_frame().await;
                }
            });
        });
        assert_eq!(report.calls, 200);
    }
}

/// Where sizes follow the cost, and batches leave because of their age, more of them may be under
/// way in a frame than in any before it. Then some are made, with others to spare, so that this
/// ends.
#[test]
fn batches_of_changing_sizes() {
    for workers in [0, 2] {
        let (report, frames) = allocating_frames(workers, |world| {
            let cheap = Foreign::new("cheap", |n: u64| n);
            for n in 0..500 {
                let one = world.stream(async move || cheap.call(n).await);
                world.stream(async move || one.await + call(move || n + 1).await);
            }
        });
        assert_eq!(report.calls, 1_000);
        assert!(frames < FRAMES / 10, "{frames} of {FRAMES} frames have allocated");
    }
}

/// A world that goes back and forth takes its snapshots into the memory of those that are gone.
#[test]
fn snapshots_use_the_memory_of_others() {
    let _turn = my_turn();
    let mut world = World::new();
    let one = world.stream(async || 1_u64);
    let sums: Vec<_> = (0..10_000).map(|n| world.fold(one, n, |sum, one| *sum += one)).collect();
    world.frame();
    let mut kept = std::collections::VecDeque::new();
    for round in 0..20 {
        let before = LARGE.load(Ordering::SeqCst);
        WATCHED.set(true);
        kept.push_back(world.snapshot().unwrap());
        world.frame();
        if kept.len() > 3 {
            kept.pop_front();
            world.restore(&kept[0]).unwrap();
            kept.truncate(1);
            for _ in 0..2 {
                world.frame();
                kept.push_back(world.snapshot().unwrap());
            }
        }
        WATCHED.set(false);
        let allocated = LARGE.load(Ordering::SeqCst) - before;
        assert!(round < 10 || allocated == 0, "{allocated} in round {round}");
    }
    assert_eq!(world.get(sums[7]).unwrap(), 7 + world.frames());
}
