//! Case 20: threads end, runtimes end and heaps go, in each order, and leave nothing behind.

use crate::support::{churn, crowded, message, small, together, watched};
#[cfg(not(miri))]
use crate::{scheme::numbers, support::LIST};
use lisle_heap::{Global, Heap, Kind, Object, Scope};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
#[cfg(not(miri))]
use std::time::Duration;

#[derive(Object)]
struct Held {
    _count: Arc<()>,
}

/// Makes objects with destructors, of which some grow old. Returns one.
fn hold(s: &mut Scope<'_>, count: &Arc<()>) -> Global<Held> {
    s.scope(|s| {
        let old = s.alloc::<Held>(Held::init(count.clone()));
        s.collect(Kind::Minor);
        for _ in 0..10 {
            s.alloc::<Held>(Held::init(count.clone()));
        }
        s.global::<Held>(old)
    })
}

#[test]
fn case_20_threads_end_and_leave_nothing_behind() {
    let _watched = watched();
    let (heap, count) = (crowded(), Arc::new(()));
    let mut reserved = 0;
    for round in 0..if cfg!(miri) { 2 } else { 100 } {
        let kept = together(4, |me, meeting| {
            meeting.wait();
            let kept = heap.enter(|s| {
                churn(s);
                hold(s, &count)
            });
            if me == 0 {
                // A thread may also end by a panic inside.
                message(|| {
                    heap.enter(|s| {
                        hold(s, &count);
                        panic!("inside");
                    })
                });
            }
            kept
        });
        heap.collect(Kind::Full);
        // What the threads have made is alive where somebody has it, although the threads have ended.
        assert_eq!((Arc::strong_count(&count), kept.len()), (5, 4));
        drop(kept);
        heap.collect(Kind::Full);
        assert_eq!((Arc::strong_count(&count), heap.stats().live_bytes), (1, 0));
        if round < 10 {
            reserved = reserved.max(heap.stats().reserved_bytes);
        }
    }
    // Threads that come find the memory of those that have gone.
    let now = heap.stats().reserved_bytes;
    assert!(now <= reserved + (4 << 20), "{now} bytes, and {reserved} before");
    assert_eq!(heap.verify(), Ok(()));
}

/// Threads come and go while one collects all the time.
fn threads_end_beside_collections(stays_inside: bool) {
    let (heap, count, done) = (crowded(), Arc::new(()), AtomicBool::new(false));
    together(2, |me, meeting| {
        if me == 0 {
            let collect = |s: &mut Scope<'_>, round: usize| {
                meeting.check();
                s.collect(if round.is_multiple_of(16) { Kind::Full } else { Kind::Minor });
            };
            if stays_inside {
                heap.enter(|s| {
                    (0..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(|n| collect(s, n))
                });
            } else {
                for round in (0..).take_while(|_| !done.load(Ordering::Relaxed)) {
                    heap.enter(|s| collect(s, round));
                    thread::yield_now();
                }
            }
            return;
        }
        let mut handles = Vec::new();
        for _ in 0..if cfg!(miri) { 3 } else { 200 } {
            let ends = |count: &Arc<()>| heap.enter(|s| hold(s, count));
            handles.push(thread::scope(|t| t.spawn(|| ends(&count)).join().unwrap()));
        }
        assert!(Arc::strong_count(&count) > handles.len());
        done.store(true, Ordering::Relaxed);
    });
    heap.collect(Kind::Full);
    assert_eq!((Arc::strong_count(&count), heap.verify()), (1, Ok(())));
}

#[test]
fn case_20_threads_end_beside_collections() {
    let _watched = watched();
    threads_end_beside_collections(false);
}

#[test]
fn case_20_threads_end_beside_one_that_collects_inside() {
    let _watched = watched();
    threads_end_beside_collections(true);
}

#[test]
#[cfg(not(miri))] // Miri follows no switch of stacks
fn case_20_runtimes_end_and_leave_nothing_behind() {
    let _watched = watched();
    let (heap, count) = (crowded(), Arc::new(()));
    let mut reserved = 0;
    for round in 0..30 {
        let runtime = lisle::Runtime::builder().domains(2).start().unwrap();
        let (waits, waiting) = mpsc::channel();
        let (mut makers, mut waiters) = (Vec::new(), Vec::new());
        for _ in 0..8 {
            let (the_heap, the_count) = (heap.clone(), count.clone());
            makers.push(runtime.spawn(move || the_heap.enter(|s| hold(s, &the_count))));
            let (heap, count, waits) = (heap.clone(), count.clone(), waits.clone());
            waiters.push(runtime.spawn(move || {
                heap.enter(|s| {
                    hold(s, &count);
                    numbers(s, LIST);
                    waits.send(()).unwrap();
                    s.outside(|| lisle::Event::sync(&lisle::never::<()>()));
                });
            }));
        }
        let handles: Vec<_> = makers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
        waiting.iter().take(waiters.len()).for_each(drop);
        // The sessions of the others are open when the runtime ends.
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(waiters.into_iter().all(|fiber| fiber.join().is_err()));
        heap.collect(Kind::Full);
        assert_eq!(Arc::strong_count(&count), 1 + handles.len());
        drop(handles);
        heap.collect(Kind::Full);
        assert_eq!((Arc::strong_count(&count), heap.stats().live_bytes), (1, 0));
        if round < 5 {
            reserved = reserved.max(heap.stats().reserved_bytes);
        }
    }
    let now = heap.stats().reserved_bytes;
    assert!(now <= reserved + (4 << 20), "{now} bytes, and {reserved} before");
    assert_eq!(heap.verify(), Ok(()));
}

#[test]
fn case_20_a_heap_goes_while_others_hold_handles_to_it() {
    let _watched = watched();
    let count = Arc::new(());
    let heap = Mutex::new(Some(small()));
    together(4, |me, meeting| {
        let handle = {
            let heap = heap.lock().unwrap().clone().unwrap();
            heap.enter(|s| hold(s, &count))
        };
        meeting.wait();
        if me == 0 {
            assert!(Arc::strong_count(&count) > 4);
            // The last handle to the heap itself, while each thread has been in it and has a handle to an object.
            *heap.lock().unwrap() = None;
            assert_eq!(Arc::strong_count(&count), 1);
        }
        meeting.wait();
        // The handle is refused elsewhere, and can be dropped, and its thread may use another heap, and end.
        let other = small();
        other.enter(|s| {
            let refused = s.try_take(handle).unwrap_err();
            assert!(refused.to_string().starts_with("a global handle of the heap"));
            drop(refused);
            churn(s);
        });
        assert_eq!(other.verify(), Ok(()));
    });
}

#[test]
fn case_20_the_last_of_several_threads_drops_the_heap() {
    let _watched = watched();
    let count = Arc::new(());
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let heap = Mutex::new(Some(small()));
        together(4, |_, meeting| {
            let mine = heap.lock().unwrap().clone().unwrap();
            meeting.wait();
            *heap.lock().unwrap() = None;
            meeting.wait();
            // Each one leaves and drops its handle at about the same time.
            let kept = mine.enter(|s| hold(s, &count));
            drop(mine);
            drop(kept);
        });
        assert_eq!(Arc::strong_count(&count), 1);
    }
}

/// Returns the size of this process in bytes, where the system tells it.
fn size_of_process() -> Option<usize> {
    let statm = if cfg!(miri) { None } else { std::fs::read_to_string("/proc/self/statm").ok() };
    Some(statm?.split_whitespace().next()?.parse::<usize>().ok()? * 4096)
}

/// A thread has a place in each heap that it has entered. Places go with their heaps, not with the thread.
#[test]
fn case_20_a_thread_outlives_its_heaps() {
    const NURSERY: usize = 64 << 20;
    let _watched = watched();
    let heaps = if cfg!(miri) { 3 } else { 1_000 };
    let before = size_of_process();
    let (other, drops) = mpsc::channel::<(Heap, Global<Held>)>();
    let dropper = thread::spawn(move || {
        for (index, (heap, held)) in drops.into_iter().enumerate() {
            if index % 2 == 0 {
                heap.enter(|s| assert_eq!(Arc::strong_count(&s.take(held).get(s)._count), 11));
            }
        }
    });
    let lasting = small();
    for index in 0..heaps {
        let count = Arc::new(());
        let heap = Heap::builder().nursery(if cfg!(miri) { 1 << 16 } else { NURSERY }).build();
        let held = heap.enter(|s| hold(s, &count));
        if index % 3 == 0 {
            drop((heap, held));
            assert_eq!(Arc::strong_count(&count), 1);
        } else {
            drop(count);
            other.send((heap, held)).unwrap();
        }
        lasting.enter(churn);
    }
    drop(other);
    dropper.join().unwrap();
    assert_eq!(lasting.verify(), Ok(()));
    // Other tests run in this process; these heaps would be larger by far than all of them.
    if let Some((before, now)) = before.zip(size_of_process()) {
        assert!(now < before + heaps * NURSERY / 4, "{now} bytes, and {before} before");
    }
}
