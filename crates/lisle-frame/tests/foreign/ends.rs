//! Cancelled calls, and the end of worlds with calls under way. Each argument and each result is
//! dropped once, and not before the call is over.

use crate::support::{Counted, Gate, Idle, scaled, until, watched, world_with};
use lisle_frame::{Call, Deadline, Foreign, Native, World, here};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Returns a function that takes and gives something that is counted.
fn pass_on(
    gate: Option<&Gate>,
    runs: &Arc<AtomicUsize>,
) -> Foreign<impl Fn(Counted) -> Counted + Clone + Send + 'static> {
    let (gate, runs) = (gate.cloned(), runs.clone());
    Foreign::new("pass_on", move |counted: Counted| {
        runs.fetch_add(1, Ordering::SeqCst);
        if let Some(gate) = &gate {
            gate.pass();
        }
        counted
    })
}

fn zero() -> Arc<AtomicUsize> {
    Arc::default()
}

#[test]
fn a_call_that_has_not_begun_is_cancelled_with_its_stream() {
    let _watched = watched();
    let (there, runs) = (zero(), zero());
    let pool = Idle::new(1);
    let mut world = World::builder().pool(pool.clone()).build();
    let work = pass_on(None, &runs);
    let streams = [0, 1].map(|_| {
        let (work, there) = (work.clone(), there.clone());
        world.live((), async move |_| drop(work.call_over_frames(Counted::new(&there)).await))
    });
    world.frame();
    assert_eq!((there.load(Ordering::SeqCst), runs.load(Ordering::SeqCst)), (2, 0));
    world.remove(streams[0]).unwrap();
    pool.run_elsewhere();
    assert_eq!(runs.load(Ordering::SeqCst), 1, "one was cancelled");
    world.frame();
    assert_eq!(there.load(Ordering::SeqCst), 0);
}

#[test]
fn a_call_that_runs_keeps_its_argument() {
    let _watched = watched();
    let (there, runs, gate) = (zero(), zero(), Gate::default());
    let (mut world, _workers) = world_with(1);
    let (work, counts) = (pass_on(Some(&gate), &runs), there.clone());
    let scope = world.scope();
    scope.live((), async move |_| drop(work.call_over_frames(Counted::new(&counts)).await));
    while gate.entered() == 0 {
        world.frame();
    }
    world.remove_scope(scope);
    world.frame();
    assert_eq!(there.load(Ordering::SeqCst), 1, "the call has it");
    gate.open();
    while there.load(Ordering::SeqCst) > 0 {
        world.frame();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// A stream is removed by another while both wait within the frame.
#[test]
fn a_stream_is_removed_while_its_call_waits() {
    let _watched = watched();
    for workers in [0, 1] {
        let (there, runs) = (zero(), zero());
        let (mut world, _workers) = world_with(workers);
        let work = pass_on(None, &runs);
        for _ in 0..scaled(50, 50, 5) {
            let (first, second, counts) = (work.clone(), work.clone(), there.clone());
            let also = there.clone();
            let victim = Rc::new(RefCell::new(None));
            let knows = victim.clone();
            world.live((), async move |_| {
                drop(first.call(Counted::new(&counts)).await);
                here().remove(knows.take().unwrap()).unwrap();
            });
            let stream = world.live((), async move |_| {
                drop(second.call(Counted::new(&also)).await);
                unreachable!("the first has the first result, and removes this one");
            });
            victim.replace(Some(stream));
        }
        world.frame();
        // The results of the removed are dropped when their turn comes.
        assert_eq!(there.load(Ordering::SeqCst), 0);
        world.frame();
    }
}

#[test]
fn a_world_ends_with_calls_that_are_queued() {
    let _watched = watched();
    let (there, runs) = (zero(), zero());
    let pool = Idle::new(2);
    let mut world = World::builder().pool(pool.clone()).build();
    let work = pass_on(None, &runs);
    for _ in 0..10 {
        let (work, there) = (work.clone(), there.clone());
        world.live((), async move |_| drop(work.call_over_frames(Counted::new(&there)).await));
    }
    world.frame();
    assert_eq!(there.load(Ordering::SeqCst), 10);
    drop(world);
    assert_eq!(there.load(Ordering::SeqCst), 0);
    pool.run_elsewhere();
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

/// The end of a world does not wait for calls that run. Their arguments stay until they are over.
#[test]
fn a_world_ends_with_calls_that_run_or_are_late() {
    let _watched = watched();
    let (there, runs, gate) = (zero(), zero(), Gate::default());
    let (mut world, workers) = world_with(3);
    let (over, late, failed) = (
        pass_on(Some(&gate), &runs),
        pass_on(Some(&gate), &runs).deadline(Deadline::KeepLast(Duration::ZERO)).batch(1),
        pass_on(Some(&gate), &runs).deadline(Deadline::Cancel(Duration::ZERO)).batch(1),
    );
    let counts = there.clone();
    world.live((), async move |_| drop(over.call_over_frames(Counted::new(&counts)).await));
    let counts = there.clone();
    world.live((), async move |_| drop(late.call(Counted::new(&counts)).await));
    let counts = there.clone();
    world.live((), async move |_| drop(failed.call(Counted::new(&counts)).await));
    // The cancelled call may not have begun.
    while gate.entered() < 2 {
        world.frame();
    }
    drop(world);
    assert_eq!(there.load(Ordering::SeqCst), gate.entered(), "those that run are there, and no others");
    gate.open();
    until(|| there.load(Ordering::SeqCst) == 0);
    assert_eq!(runs.load(Ordering::SeqCst), gate.entered());
    drop(workers);
}

/// Worlds come and go on one pool.
#[test]
fn many_worlds_end() {
    let _watched = watched();
    let workers = lisle_frame::Workers::new(2).unwrap();
    let (there, runs) = (zero(), zero());
    let work = pass_on(None, &runs);
    for n in 0..scaled(500, 100, 5) {
        let mut world = World::builder().pool(&workers).places(4).build();
        for _ in 0..n % 7 {
            let (over, counts) = (work.clone(), there.clone());
            world.live((), async move |_| drop(over.call_over_frames(Counted::new(&counts)).await));
            let (work, counts) = (work.clone(), there.clone());
            world.stream(async move || drop(work.call(Counted::new(&counts)).await));
        }
        for _ in 0..n % 3 {
            world.frame();
        }
    }
    until(|| there.load(Ordering::SeqCst) == 0);
}

/// The pool ends before the world, after it, and by a call of its own.
#[test]
fn pools_end_in_any_order() {
    let _watched = watched();
    for order in 0..3 {
        let (mut world, workers) = world_with(2);
        let workers = Arc::new(std::sync::Mutex::new(workers));
        let (there, runs) = (zero(), zero());
        let (work, counts) = (pass_on(None, &runs), there.clone());
        let stream = world.stream(async move || drop(work.call(Counted::new(&counts)).await));
        let ends = workers.clone();
        let end = Foreign::new("end", move || drop(ends.lock().unwrap().take())).batch(1);
        if order == 0 {
            world.live((), async move |_| end.call(()).await);
        }
        world.frame();
        if order == 1 {
            workers.lock().unwrap().take();
        }
        world.frame();
        assert!(world.get(stream).is_ok());
        assert_eq!((there.load(Ordering::SeqCst), runs.load(Ordering::SeqCst)), (0, 2));
        drop(world);
        assert_eq!(workers.lock().unwrap().is_some(), order == 2);
    }
}

type Stash<F, S> = Rc<RefCell<Option<Pin<Box<Call<F, S>>>>>>;

/// Makes a stream that makes a call, and puts its future where others find it.
fn stashes<F: Native<S> + Clone, S: 'static>(
    world: &World,
    work: Foreign<F>,
    argument: impl Fn() -> F::Args + 'static,
) -> Stash<F, S> {
    let stash = Stash::default();
    let puts = stash.clone();
    world.live((), async move |_| {
        let mut call = Box::pin(work.call(argument()));
        std::future::poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        *puts.borrow_mut() = Some(call);
    });
    stash
}

/// A future that is carried into another world and dropped there belongs to its own world still.
#[test]
fn a_future_in_another_world() {
    let _watched = watched();
    for ends_first in [false, true] {
        let (there, runs) = (zero(), zero());
        let work = pass_on(None, &runs).batch(2);
        let (mut a, mut b) = (World::new(), World::new());
        let counts = there.clone();
        let stash = stashes(&a, work.clone(), move || Counted::new(&counts));
        a.frame();
        assert_eq!(there.load(Ordering::SeqCst), 1, "nobody has taken the result");
        if ends_first {
            drop(std::mem::replace(&mut a, World::new()));
        }
        let (drops, counts) = (stash.clone(), there.clone());
        let (again, in_a) = (work.clone(), work.clone());
        b.stream(async move || {
            drop(again.call(Counted::new(&counts)).await);
            drops.take();
        });
        let counts = there.clone();
        a.stream(async move || drop(in_a.call(Counted::new(&counts)).await));
        for _ in 0..3 {
            b.frame();
            a.frame();
            assert_eq!(there.load(Ordering::SeqCst), 0);
        }
        drop(a);
        b.frame();
        assert_eq!(there.load(Ordering::SeqCst), 0);
    }
}

/// A future that is left when its world has gone frees the batch, whenever it is dropped.
#[test]
fn a_future_that_outlives_its_world() {
    let _watched = watched();
    for workers in [0, 1] {
        let (there, runs, gate) = (zero(), zero(), Gate::default());
        let (mut world, workers) = world_with(workers);
        let quick = pass_on(None, &runs).batch(2);
        let slow = pass_on(Some(&gate), &runs).batch(1).deadline(Deadline::KeepLast(Duration::ZERO));
        let mut stashed = Vec::new();
        for _ in 0..3 {
            let counts = there.clone();
            stashed.push(stashes(&world, quick.clone(), move || Counted::new(&counts)));
        }
        let counts = there.clone();
        let late = stashes(&world, slow, move || Counted::new(&counts));
        if workers.is_none() {
            // In place it would not return.
            gate.open();
        }
        world.frame();
        drop(world);
        stashed.pop();
        drop(stashed);
        until(|| there.load(Ordering::SeqCst) <= 1);
        late.take();
        gate.open();
        until(|| there.load(Ordering::SeqCst) == 0);
    }
}

/// Streams are removed between frames while results are there that they have not taken: their
/// batches are used again all the same.
#[test]
fn futures_that_are_dropped_between_frames() {
    let _watched = watched();
    let (there, runs) = (zero(), zero());
    let mut world = World::new();
    let work = pass_on(None, &runs);
    for _ in 0..scaled(100, 100, 5) {
        let (work, counts) = (work.clone(), there.clone());
        let stream = world.live((), async move |_| {
            drop(work.call_over_frames(Counted::new(&counts)).await);
        });
        world.frame();
        world.remove(stream).unwrap();
        world.frame();
        assert_eq!(there.load(Ordering::SeqCst), 0);
    }
}
