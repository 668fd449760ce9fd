//! Code of the user's that comes back at odd moments: in clones, destructors, wakers and closures.

use futures::FutureExt;
use lisle_frame::{Foreign, Input, Stream, World, call, here, next_frame};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};

#[test]
fn inputs_of_two_types_are_made_at_one_place() {
    fn make<T: Clone + 'static>(world: &World, first: T) -> Input<T> {
        world.input(first)
    }
    let mut world = World::new();
    let (small, text, large) =
        (make(&world, 1_u8), make(&world, String::from("hello")), make(&world, [7_u64; 9]));
    world.frame();
    assert_eq!(world.get(small.stream()), Ok(1));
    assert_eq!(world.get(text.stream()).unwrap(), "hello");
    assert_eq!(world.get(large.stream()), Ok([7; 9]));
}

#[test]
fn a_stream_with_a_value_removes_itself() {
    let mut world = World::new();
    let (runs, alive) = (Rc::new(Cell::new(0)), Rc::new(()));
    let me = Rc::new(Cell::new(None::<Stream<i32>>));
    let stream = {
        let (me, runs, alive) = (me.clone(), runs.clone(), alive.clone());
        world.stream(async move || {
            let _alive = &alive;
            runs.set(runs.get() + 1);
            if let Some(me) = me.take() {
                here().remove(me).unwrap();
            }
            1
        })
    };
    world.frame();
    me.set(Some(stream));
    (0..3).for_each(|_| _ = world.frame());
    assert_eq!((runs.get(), Rc::strong_count(&alive)), (2, 1));
}

/// The body of a stream that fails in one circle removes a stream of another one.
#[test]
fn a_circle_ends_another_one() {
    let mut world = World::new();
    let circles = Rc::<[Cell<Option<Stream<Box<i32>>>>; 4]>::default();
    for at in 0..4_usize {
        let all = circles.clone();
        let stream = world.live(Box::new(0), async move |out| {
            loop {
                let other = all[at ^ 1].get().unwrap();
                if other.try_get().await.is_err() && at == 0 {
                    let _ = here().remove(all[2].get().unwrap());
                }
                out.set(Box::new(1));
                next_frame().await;
            }
        });
        circles[at].set(Some(stream));
    }
    (0..3).for_each(|_| _ = world.frame());
    assert!(world.get(circles[2].get().unwrap()).is_err());
}

type Kept = Pin<Box<dyn Future<Output = Box<i32>>>>;

/// A value whose clone makes a call, and keeps its future.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Option<Kept>>>, Rc<Cell<bool>>);

struct Calling(Shared);

impl Clone for Calling {
    fn clone(&self) -> Self {
        let Shared(kept, armed) = &self.0;
        if armed.replace(false) {
            let mut future: Kept = Box::pin(call(|| Box::new(5)));
            assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            *kept.borrow_mut() = Some(future);
        }
        Calling(self.0.clone())
    }
}

/// No stream runs then.
#[test]
fn a_call_is_made_while_last_values_are_cloned() {
    let mut world = World::new();
    let shared = Shared::default();
    let input = world.input(Calling(shared.clone()));
    world.previous(input.stream(), Calling(Shared::default()));
    world.frame();
    shared.1.set(true);
    world.frame();
    assert!(shared.0.borrow().is_some());
    drop(shared.0.borrow_mut().take());
    world.frame();
}

struct Removes(OnceLock<Stream<Box<i32>>>);

impl Wake for Removes {
    fn wake(self: Arc<Self>) {
        here().remove(*self.0.get().unwrap()).unwrap();
    }
}

#[test]
fn an_executors_waker_removes_the_stream_that_it_wakes() {
    let mut world = World::new();
    let work = Foreign::new("work", |n: i32| n);
    let removes = Arc::new(Removes(OnceLock::new()));
    let waker = Waker::from(removes.clone());
    let alive = Rc::new(());
    let lives = alive.clone();
    let stream = world.live(Box::new(0), async move |_| {
        let _lives = lives;
        let mut call = pin!(work.call(1));
        poll_fn(|_| call.as_mut().poll(&mut Context::from_waker(&waker))).await;
        unreachable!("the stream was removed before it went on");
    });
    removes.0.set(stream).unwrap();
    (0..2).for_each(|_| _ = world.frame());
    assert!(world.get(stream).is_err());
    assert_eq!(Rc::strong_count(&alive), 1);
}

#[test]
fn a_scope_goes_back_to_before_its_first_frame() {
    let mut world = World::new();
    let scope = world.scope();
    let one = scope.stream(async || 1);
    let before = world.snapshot().unwrap();
    world.frame();
    world.restore(&before).unwrap();
    world.frame();
    assert_eq!(world.get(one), Ok(1));
    assert!(world.snapshot().is_ok());
}

#[test]
fn lists_go_on_after_going_back() {
    let mut world = World::new();
    let add = world.input(0);
    let keys = world.input(vec![1, 2, 3]);
    let sums = world.keyed(keys.stream(), move |key| async move || key * 10 + add.stream().await);
    let even = world.filter(sums, |sum| sum % 2 == 0);
    let all = world.stream(async move || (sums.values().await, even.values().await));
    world.frame();
    let before = world.snapshot().unwrap();
    let mut play = || {
        let values = (1..5).map(|n| {
            world.set(add, n).unwrap();
            world.frame();
            world.get(all).unwrap()
        });
        let values = values.collect::<Vec<_>>();
        world.restore(&before).unwrap();
        values
    };
    let first = play();
    assert_eq!(first[0], (vec![11, 21, 31], vec![]));
    assert_eq!(first[1], (vec![12, 22, 32], vec![12, 22, 32]));
    assert_eq!(play(), first);
}

#[test]
fn a_filter_begins_anew_after_a_member_has_failed() {
    let mut world = World::new();
    let fails = world.input(false);
    let value = world.input(1);
    let list = world.list(2, move |at| {
        async move || {
            let value = value.stream().await;
            if at == 1 && fails.stream().await {
                here().retrying().stream::<(), _>(async || panic!("on purpose")).await;
            }
            value
        }
    });
    let small = world.filter(list, |value| *value < 10);
    let found = world.stream(async move || small.values().await);
    world.frame();
    assert_eq!(world.get(found).unwrap(), [1, 1]);
    world.set(fails, true).unwrap();
    world.frame();
    assert!(world.get(found).is_err());
    world.set(fails, false).unwrap();
    world.set(value, 20).unwrap();
    world.frame();
    assert_eq!(world.get(found).unwrap(), [0; 0]);
}

#[test]
fn a_fold_polls_by_hand_what_waits() {
    let mut world = World::new();
    let one = world.stream(async || 1);
    let work = Foreign::new("work", |n: i32| n);
    let slow = world.stream(async move || work.call(1).await);
    let count = world.fold(one, 0, move |count, one| {
        let _ = slow.get().now_or_never();
        *count += one;
    });
    for frame in 1..=5 {
        world.frame();
        assert_eq!(world.get(count), Ok(frame));
    }
}

#[test]
fn a_report_counts_the_streams_before_and_after_one_that_panics() {
    let mut world = World::new();
    let streams = (0..600).map(|n| world.stream(async move || assert_ne!(n, 300, "on purpose")));
    let streams = streams.collect::<Vec<_>>();
    assert_eq!(world.frame().streams, streams.len());
    // It is not tried again.
    assert_eq!(world.frame().streams, streams.len() - 1);
}

#[test]
fn a_closure_is_named_by_its_place() {
    let mut world = World::new();
    let failing = world.stream(async || call(|| panic!("on purpose")).await);
    world.frame();
    let error = world.get::<()>(failing).unwrap_err().to_string();
    assert!(error.contains(concat!("'", file!(), ":")), "{error}");
}

struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The futures that the destructor polls do not concern the streams that run next.
#[test]
fn a_destructor_polls_by_hand_what_fails() {
    let mut world = World::new();
    let gone = world.stream(async || 1);
    world.remove(gone).unwrap();
    let finally = Finally(move || _ = gone.get().now_or_never());
    let victim = world.stream(async move || {
        let _finally = &finally;
        1
    });
    world.frame();
    world.live((), async move |_| here().remove(victim).unwrap());
    let others = (0..3).map(|n| world.stream(async move || n)).collect::<Vec<_>>();
    world.frame();
    assert!((0..3).all(|n| world.get(others[n]) == Ok(n)));
}

/// Otherwise the other fibers of the thread would be in the frame.
#[test]
#[cfg(all(feature = "runtime", not(miri)))]
fn a_body_does_not_suspend_its_fiber() {
    lisle_runtime::Runtime::builder().domains(1).run(|| {
        let mut world = World::new();
        let waits = world.stream(async || lisle_runtime::fiber::yield_now());
        let fine = world.stream(async || 1);
        world.frame();
        assert_eq!(world.get(fine), Ok(1));
        assert!(world.get(waits).unwrap_err().to_string().contains("no_suspend"));
    });
}
