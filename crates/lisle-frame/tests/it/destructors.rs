//! Destructors of the user's that call back: they run where the world is between two steps.

use crate::worlds::{Counter, Later, Make, OnDrop, Tokens, count};
use lisle_frame::{Foreign, Here, Stream, World, here, next_frame};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

in_all_worlds!(
    a_destructor_removes_its_own_failed_stream,
    a_destructor_removes_its_own_ended_stream,
    a_destructor_makes_a_stream_in_the_same_group,
    a_destructor_removes_the_next_stream,
    a_destructor_that_panics_hurts_nobody,
    a_value_whose_destructor_panics_is_replaced,
    a_destructor_at_the_end_of_the_world_finds_it_closed,
    a_world_is_dropped_by_the_destructor_of_one_of_its_streams,
);

/// Makes many streams of one kind, and checks that each has a place of its own.
fn check_group(world: &mut World, make: impl Fn(&Here, usize) -> Stream<usize>) {
    let streams = (0..count(200, 20)).map(|n| make(world, n)).collect::<Vec<_>>();
    for _ in 0..2 {
        world.frame();
        for (n, stream) in streams.iter().enumerate() {
            assert_eq!(world.get(*stream).unwrap(), n);
        }
    }
}

/// Makes a stream that panics in its second frame, or gives its number, or ends, as `kind` says. A
/// value in its body removes the stream when it is dropped.
fn self_removing(here: &Here, n: usize, kind: Kind) -> Stream<usize> {
    let itself = Later::new();
    let removing = itself.clone();
    let armed = Rc::new(Cell::new(false));
    let arms = armed.clone();
    let guard = OnDrop(move || {
        if armed.get() {
            armed.set(false);
            lisle_frame::here().remove(removing.stream()).unwrap();
        }
    });
    let stream = here.live(n, async move |out| {
        let _guard = guard;
        out.set(n);
        next_frame().await;
        arms.set(kind != Kind::Stays);
        match kind {
            Kind::Panics => panic!("as it was told"),
            Kind::Ends => {}
            Kind::Stays => std::future::pending().await,
        }
    });
    itself.is(stream);
    stream
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Panics,
    Ends,
    Stays,
}

/// The place of such a stream is used again once, not twice.
fn a_destructor_removes_its_own_failed_stream(make: Make<'_>) {
    let mut world = make();
    let streams = (0..5).map(|n| self_removing(&world, n, Kind::Panics)).collect::<Vec<_>>();
    (0..3).for_each(|_| _ = world.frame());
    assert!(streams.iter().all(|stream| world.get(*stream).is_err()));
    check_group(&mut world, |here, n| self_removing(here, n, Kind::Stays));
}

fn a_destructor_removes_its_own_ended_stream(make: Make<'_>) {
    let mut world = make();
    let streams = (0..5).map(|n| self_removing(&world, n, Kind::Ends)).collect::<Vec<_>>();
    (0..3).for_each(|_| _ = world.frame());
    assert!(streams.iter().all(|stream| world.get(*stream).is_err()));
    check_group(&mut world, |here, n| self_removing(here, n, Kind::Stays));
}

/// Each stream that is removed is replaced by a new one of its kind, in the destructor.
fn a_destructor_makes_a_stream_in_the_same_group(make: Make<'_>) {
    fn heir(here: &Here, lives: usize, last: Later<usize>) -> Stream<usize> {
        let next = last.clone();
        let guard = OnDrop(move || {
            if lives > 0 {
                heir(&lisle_frame::here(), lives - 1, next.clone());
            }
        });
        let stream = here.stream(async move || {
            let _guard = &guard;
            lives
        });
        last.is(stream);
        stream
    }
    let mut world = make();
    let last = Later::new();
    heir(&world, 100, last.clone());
    let read = last.clone();
    let killer = world.live(0, async move |out| {
        for _ in 0..=100 {
            out.set(read.stream().await);
            here().remove(read.stream()).unwrap();
            next_frame().await;
        }
    });
    for frame in 0..=100 {
        world.frame();
        assert_eq!(world.get(killer).unwrap(), 100 - frame);
    }
    world.frame();
    assert_eq!(world.frame().streams, 0);
}

/// A chain of destructors, each of which removes the next stream, does not overflow the stack.
fn a_destructor_removes_the_next_stream(make: Make<'_>) {
    for in_frame in [true, false] {
        let mut world = make();
        let dropped = Counter::default();
        // It stays when the world's frame is over, as a handle of the world.
        let keeper = world.stream(async || Rc::new(here()));
        world.frame();
        let outside = world.get(keeper).unwrap();
        let mut next = None::<Stream<()>>;
        for _ in 0..count(100_000, 100) {
            let (dropped, outside, following) = (dropped.clone(), outside.clone(), next);
            let guard = OnDrop(move || {
                dropped.add();
                if let Some(next) = following {
                    outside.remove(next).unwrap();
                }
            });
            next = Some(world.live((), async move |_| {
                let _guard = guard;
                std::future::pending().await
            }));
        }
        world.frame();
        let first = next.unwrap();
        if in_frame {
            let once = world.live((), async move |_| here().remove(first).unwrap());
            world.frame();
            world.remove(once).unwrap();
        } else {
            world.remove(first).unwrap();
        }
        assert_eq!(dropped.get(), count(100_000, 100));
    }
}

fn a_destructor_that_panics_hurts_nobody(make: Make<'_>) {
    let mut world = make();
    let dropped = Counter::default();
    let streams = (0..10).map(|n| {
        let dropped = dropped.clone();
        let guard = OnDrop(move || {
            dropped.add();
            panic!("the destructor of {n}");
        });
        world.stream(async move || {
            let _guard = &guard;
            n
        })
    });
    let streams = streams.collect::<Vec<_>>();
    world.frame();
    world.remove(streams[3]).unwrap();
    let (five, six) = (streams[5], streams[6]);
    let remover = world.live((), async move |_| {
        here().remove(five).unwrap();
        here().remove(six).unwrap();
    });
    world.frame();
    assert_eq!(dropped.get(), 3);
    assert_eq!(world.get(streams[9]).unwrap(), 9);
    assert!(world.get(five).is_err());
    world.get(remover).unwrap();
    drop(world);
    assert_eq!(dropped.get(), 10);
}

/// 7. The stream has failed, and has the new value no less: it was set before the old one was
///    dropped.
fn a_value_whose_destructor_panics_is_replaced(make: Make<'_>) {
    #[derive(Clone)]
    struct Loud(usize, Rc<Cell<bool>>);
    impl Drop for Loud {
        fn drop(&mut self) {
            if self.1.replace(false) {
                panic!("the destructor of a value");
            }
        }
    }
    let mut world = make();
    let armed = Rc::new(Cell::new(false));
    let (arm, mut n) = (armed.clone(), 0);
    let stream = world.retrying().stream(async move || {
        n += 1;
        Loud(n, arm.clone())
    });
    world.frame();
    armed.set(true);
    world.frame();
    assert!(!armed.get());
    world.frame();
    let _ = world.with(stream, |value| value.0);
    world.remove(stream).unwrap();
    world.frame();
}

fn a_destructor_at_the_end_of_the_world_finds_it_closed(make: Make<'_>) {
    let mut world = make();
    let tried = Counter::default();
    let trying = tried.clone();
    let guard = OnDrop(move || {
        trying.add();
        here().stream(async || 1);
        unreachable!("a stream was made in a world that was dropped");
    });
    world.stream(async move || {
        let _guard = &guard;
        1
    });
    world.frame();
    drop(world);
    assert_eq!(tried.get(), 1);
}

fn a_world_is_dropped_by_the_destructor_of_one_of_its_streams(make: Make<'_>) {
    let tokens = Tokens::default();
    let place = Rc::new(RefCell::new(None::<World>));
    let mut world = make();
    let work = Foreign::new("work", |n: usize| n).batch(4);
    let outside = world.stream(async || Rc::new(here()));
    for n in 0..20 {
        let token = tokens.make();
        world.stream(async move || {
            let _token = &token;
            work.call(n).await
        });
    }
    let (inside, token) = (place.clone(), tokens.make());
    let guard = OnDrop(move || drop(inside.borrow_mut().take()));
    let last = world.stream(async move || {
        let _both = (&guard, &token);
    });
    world.frame();
    let outside = world.get(outside).unwrap();
    *place.borrow_mut() = Some(world);
    outside.remove(last).unwrap();
    assert!(place.borrow().is_none());
    assert_eq!(tokens.alive(), 0);
}
