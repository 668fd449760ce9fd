//! Going back to when there were things that have gone since.

use crate::worlds::{Counter, Make, OnDrop, Tokens, count};
use lisle_frame::{Foreign, Input, List, Snapshot, SnapshotError, Stream, World, find_dependence, here};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

in_all_worlds!(
    a_world_of_things_that_come_and_go_comes_to_the_same,
    handles_are_those_of_the_same_streams_again,
    what_is_removed_by_hand_comes_back,
    what_bodies_make_anew_comes_back,
    what_is_aside_is_dropped_with_the_last_snapshot,
    snapshots_outlive_their_world,
    a_snapshot_is_dropped_in_a_frame,
    an_older_snapshot_and_then_a_younger_one,
    bodies_that_wait_are_dropped_on_the_way_back,
    what_was_looked_at_before_a_snapshot,
    what_has_failed_in_a_frame_goes_back,
    what_has_failed_for_good_does_not,
    destructors_that_remove_on_the_way_back,
);

type View = (Vec<(u32, u32, u32)>, Vec<u32>, Vec<u32>, u32);

struct Game {
    world: World,
    keys: Input<Vec<u32>>,
    view: Stream<View>,
}

/// Lists of all kinds, in each other, with calls and with state in folds and delays.
fn game(make: Make<'_>) -> Game {
    let work = Foreign::new("work", |n: u32| n.wrapping_mul(31) + 7).batch(3);
    let world = make();
    let keys = world.input(vec![1, 2, 3]);
    let one = world.stream(async || 1_u32);
    let members: List<(u32, u32, u32)> = world.named("member").keyed(keys.stream(), move |key| {
        let age = here().fold(one, 0, |age, one| *age += one);
        let last = here().delay(key);
        let before = last.stream();
        let sum = here().stream(async move || work.call(before.await % 1_000 + age.await).await);
        last.follow(sum);
        async move || (key, age.await, sum.await)
    });
    let doubles = world.map_list(members, move |member| {
        let ages = here().fold(member, 0, |ages, (_, age, _)| *ages += age);
        async move || ages.await * 2
    });
    let within = world.keyed_of(keys.stream(), move |key| {
        let parts = world_of_parts(key, one);
        here().map(parts, |parts| parts.into_iter().sum::<u32>())
    });
    let odd = world.filter(within, |n| n % 2 == 1);
    let mut old = world.scope();
    let scoped = old.fold(one, 0, |n, one| *n += one);
    let total = world.stream(async move || scoped.try_get().await.unwrap_or(0));
    old = world.scope();
    drop(old);
    let lists = world.zip(world.values(members), world.values(doubles));
    let others = world.zip(world.values(odd), total);
    let view = world.zip(lists, others);
    let view = world.map(view, |((members, doubles), (odd, total))| (members, doubles, odd, total));
    Game { world, keys, view }
}

fn world_of_parts(key: u32, one: Stream<u32>) -> Stream<Vec<u32>> {
    let count = here().fold(one, 0_u32, |count, one| *count += one);
    let keys = here().map(count, move |count| (count / 2..count / 2 + key % 4).collect());
    let parts = here().keyed(keys, move |part| {
        let age = here().fold(one, 0, |age, one| *age += one);
        async move || part * 10 + age.await
    });
    here().values(parts)
}

fn keys_of(frame: u64) -> Vec<u32> {
    let mut random = frame / 3 * 0x9e37_79b9 + 1;
    let keys = (0..6).map(|_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as u32 % 12
    });
    keys.collect()
}

impl Game {
    fn step(&mut self, frame: u64) -> View {
        self.world.set(self.keys, keys_of(frame)).unwrap();
        self.world.frame();
        self.world.get(self.view).unwrap()
    }
}

/// 23. In each frame it goes back by up to eight.
fn a_world_of_things_that_come_and_go_comes_to_the_same(make: Make<'_>) {
    let frames = count(120, 12) as u64;
    let mut truth = game(make);
    let truth = (0..frames).map(|frame| truth.step(frame)).collect::<Vec<_>>();
    let mut again = game(make);
    let mut saved = VecDeque::<(u64, Snapshot)>::new();
    for frame in 0..frames {
        saved.push_back((frame, again.world.snapshot().unwrap()));
        assert_eq!(again.step(frame), truth[frame as usize]);
        // A guess that is wrong, before it goes back.
        again.step(frame + 1_000);
        let back = frame.saturating_sub(frame % 9);
        let at = saved.iter().position(|(frame, _)| *frame == back).unwrap();
        again.world.restore(&saved[at].1).unwrap();
        saved.truncate(at + 1);
        for frame in back..=frame {
            if frame > back {
                saved.push_back((frame, again.world.snapshot().unwrap()));
            }
            assert_eq!(again.world.frames(), frame);
            assert_eq!(again.step(frame), truth[frame as usize]);
        }
        while saved.len() > 9 {
            saved.pop_front();
        }
    }
    let watched = || {
        let mut game = game(make);
        game.world.watch(game.view).unwrap();
        game.world
    };
    find_dependence(10, 0..2, watched).unwrap();
}

fn handles_are_those_of_the_same_streams_again(make: Make<'_>) {
    let mut world = make();
    let keys = world.input(vec![1]);
    let one = world.stream(async || 1);
    let list = world.keyed_of(keys.stream(), move |key| here().fold(one, key, |sum, one| *sum += one));
    world.frame();
    world.frame();
    let then = world.snapshot().unwrap();
    let first = world.with(list.members(), |members| members[0]).unwrap();
    let held = world.previous(first, 0);
    world.set(keys, vec![100]).unwrap();
    world.frame();
    world.frame();
    let second = world.with(list.members(), |members| members[0]).unwrap();
    assert_ne!(first, second);
    assert!(world.get(first).is_err());
    assert_eq!(world.get(second).unwrap(), 101);
    world.restore(&then).unwrap();
    assert_eq!(world.get(first).unwrap(), 2);
    assert!(world.get(second).is_err() && world.get(held).is_err());
    world.set(keys, vec![1, 100]).unwrap();
    world.frame();
    world.frame();
    assert_eq!(world.get(first).unwrap(), 4);
    // It is another one, in the same timeline that never was.
    assert!(world.get(second).is_err());
    let third = world.with(list.members(), |members| members[1]).unwrap();
    assert_eq!(world.get(third).unwrap(), 101);
}

fn what_is_removed_by_hand_comes_back(make: Make<'_>) {
    let mut world = make();
    let one = world.stream(async || 1);
    let scope = world.scope();
    let (inside, outside) =
        (scope.fold(one, 0, |sum, one| *sum += one), world.fold(one, 10, |sum, one| *sum += one));
    let last = world.previous(outside, 0);
    world.frame();
    let then = world.snapshot().unwrap();
    world.frame();
    world.remove(outside).unwrap();
    world.remove(last).unwrap();
    world.remove_scope(scope);
    for _ in 0..3 {
        world.frame();
        assert!(world.get(inside).is_err() && world.get(outside).is_err() && world.get(last).is_err());
    }
    for _ in 0..2 {
        world.restore(&then).unwrap();
        let values = [inside, outside, last].map(|stream| world.get(stream).unwrap());
        assert_eq!(values, [1, 11, 0]);
        world.frame();
        world.frame();
        let values = [inside, outside, last].map(|stream| world.get(stream).unwrap());
        assert_eq!(values, [3, 13, 12]);
    }
}

/// The streams that a run has made go with the next run.
fn what_bodies_make_anew_comes_back(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let runs = world.stream(async || 1);
    let number = world.fold(runs, 0, |number, one| *number += one);
    let maker = world.stream(async move || {
        let (token, number) = (made.make(), number.await);
        let stream = here().stream(async move || {
            let _token = &token;
            number
        });
        stream.await;
        stream
    });
    world.frame();
    let mut saved = Vec::new();
    for frame in 1..=4 {
        let stream = world.get(maker).unwrap();
        assert_eq!(world.get(stream).unwrap(), frame);
        saved.push((stream, world.snapshot().unwrap()));
        world.frame();
    }
    assert_eq!(tokens.alive(), 5);
    for at in [2, 0, 3, 1] {
        let (stream, then) = &saved[at];
        world.restore(then).unwrap();
        assert_eq!(world.get(*stream).unwrap(), at as i32 + 1);
        for other in (0..4).filter(|other| *other != at) {
            assert!(world.get(saved[other].0).is_err());
        }
        world.frame();
        assert!(world.get(*stream).is_err());
        let next = world.get(maker).unwrap();
        assert_eq!(world.get(next).unwrap(), at as i32 + 2);
    }
    saved.clear();
    world.frame();
    assert_eq!(tokens.alive(), 1);
}

fn what_is_aside_is_dropped_with_the_last_snapshot(make: Make<'_>) {
    let mut world = make();
    let (tokens, keys) = (Tokens::default(), world.input((0..10).collect::<Vec<_>>()));
    let made = tokens.clone();
    world.keyed(keys.stream(), move |_| {
        let (one, two) = (made.make(), made.make());
        here().stream(async move || {
            let _token = &one;
        });
        async move || {
            let _token = &two;
        }
    });
    world.frame();
    let first = world.snapshot().unwrap();
    let second = world.snapshot().unwrap();
    world.set(keys, vec![1, 2]).unwrap();
    world.frame();
    let third = world.snapshot().unwrap();
    assert_eq!(tokens.alive(), 20);
    drop(first);
    assert_eq!(tokens.alive(), 20);
    drop(second);
    assert_eq!(tokens.alive(), 4);
    drop(third);
    // None is kept where there are no snapshots.
    world.set(keys, vec![7]).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 2);
    // Each snapshot that has the restored value keeps it alive.
    let first = world.snapshot().unwrap();
    world.set(keys, vec![]).unwrap();
    world.frame();
    world.restore(&first).unwrap();
    let second = world.snapshot().unwrap();
    drop(first);
    assert_eq!(tokens.alive(), 2);
    world.set(keys, vec![]).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 2);
    drop(second);
    assert_eq!(tokens.alive(), 0);
}

fn snapshots_outlive_their_world(make: Make<'_>) {
    let mut world = make();
    let (tokens, keys) = (Tokens::default(), world.input(vec![1, 2]));
    let made = tokens.clone();
    world.keyed(keys.stream(), move |_| {
        let token = made.make();
        async move || {
            let _token = &token;
        }
    });
    world.frame();
    let then = world.snapshot().unwrap();
    world.set(keys, vec![]).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 2);
    drop(world);
    assert_eq!(tokens.alive(), 0);
    let error = make().restore(&then).unwrap_err();
    assert!(matches!(error, SnapshotError::OtherWorld));
}

fn a_snapshot_is_dropped_in_a_frame(make: Make<'_>) {
    let mut world = make();
    let (tokens, keys) = (Tokens::default(), world.input(vec![1, 2]));
    let made = tokens.clone();
    let then = Rc::new(RefCell::new(None::<Snapshot>));
    world.keyed(keys.stream(), move |_| {
        let token = made.make();
        async move || {
            let _token = &token;
        }
    });
    let drops = (world.input(false), then.clone());
    let stream = drops.0;
    world.stream(async move || {
        if stream.stream().await {
            drops.1.take();
        }
    });
    world.frame();
    *then.borrow_mut() = Some(world.snapshot().unwrap());
    world.set(keys, vec![]).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 2);
    world.set(stream, true).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 0);
}

/// As *undo* and *redo*.
fn an_older_snapshot_and_then_a_younger_one(make: Make<'_>) {
    let mut world = make();
    let keys = world.input(vec![0]);
    let one = world.stream(async || 1);
    let list = world.keyed_of(keys.stream(), move |key| here().fold(one, key * 100, |sum, one| *sum += one));
    let values = world.values(list);
    let mut saved = Vec::new();
    for frame in 0..6 {
        world.set(keys, (frame..frame + 3).collect()).unwrap();
        world.frame();
        saved.push((world.get(values).unwrap(), world.snapshot().unwrap()));
    }
    for at in [0, 5, 3, 4, 0, 1, 5] {
        let (expected, then) = &saved[at];
        world.restore(then).unwrap();
        assert_eq!(world.get(values).unwrap(), *expected);
        if at < 5 {
            world.set(keys, (at as i32 + 1..at as i32 + 4).collect()).unwrap();
            world.frame();
            assert_eq!(world.get(values).unwrap(), saved[at + 1].0);
        }
    }
}

fn bodies_that_wait_are_dropped_on_the_way_back(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n + 1).batch(4);
    let tokens = Tokens::default();
    let (keys, waits) = (world.input(vec![1, 2]), world.input(false));
    let made = tokens.clone();
    let list = world.keyed(keys.stream(), move |key| {
        let made = made.clone();
        async move || {
            let _token = made.make();
            if waits.stream().await {
                std::future::pending::<()>().await;
            }
            work.call(key).await
        }
    });
    // It waits for a call, and so removes members that wait for theirs.
    let late = world.stream(async move || {
        work.call(0).await;
        keys.stream().await
    });
    let made = tokens.clone();
    let others = world.keyed(late, move |key| {
        let made = made.clone();
        async move || {
            let _token = made.make();
            work.call(key).await
        }
    });
    let values = world.zip(world.values(list), world.values(others));
    world.frame();
    let then = world.snapshot().unwrap();
    let before = world.get(values).unwrap();
    for keys_then in [vec![1, 2], vec![2], vec![]] {
        world.set(waits, true).unwrap();
        world.frame();
        assert!(tokens.alive() > 0);
        world.set(keys, keys_then).unwrap();
        world.frame();
        world.restore(&then).unwrap();
        assert_eq!((world.get(values).unwrap(), tokens.alive()), (before.clone(), 0));
        world.frame();
        assert_eq!(world.get(values).unwrap(), before);
        world.snapshot().unwrap();
    }
}

/// An input is set, and then a snapshot taken: `previous` has the value from before.
fn what_was_looked_at_before_a_snapshot(make: Make<'_>) {
    let mut world = make();
    let input = world.input(1);
    let last = world.previous(input.stream(), 0);
    world.frame();
    world.set(input, 5).unwrap();
    let then = world.snapshot().unwrap();
    for _ in 0..3 {
        world.frame();
        assert_eq!((world.get(last).unwrap(), world.get(input.stream()).unwrap()), (1, 5));
        world.frame();
        assert_eq!(world.get(last).unwrap(), 5);
        world.restore(&then).unwrap();
    }
    world.set(input, 7).unwrap();
    world.frame();
    assert_eq!(world.get(last).unwrap(), 1);
}

fn what_has_failed_in_a_frame_goes_back(make: Make<'_>) {
    let mut world = make();
    let input = world.input(1);
    let careful = world.retrying().stream(async move || 10 / input.stream().await);
    let sum = world.fold(careful, 0, |sum, n| *sum += n);
    world.frame();
    let then = world.snapshot().unwrap();
    world.set(input, 0).unwrap();
    world.frame();
    assert!(world.get(careful).is_err() && world.get(sum).is_err());
    assert!(matches!(world.snapshot(), Err(SnapshotError::NotAtRest(_))));
    world.restore(&then).unwrap();
    assert_eq!((world.get(careful).unwrap(), world.get(sum).unwrap()), (10, 10));
    world.frame();
    assert_eq!((world.get(careful).unwrap(), world.get(sum).unwrap()), (10, 20));
}

fn what_has_failed_for_good_does_not(make: Make<'_>) {
    let mut world = make();
    let input = world.input(1);
    let count = world.fold(input.stream(), 0, |count, _| *count += 1);
    let bad = world.named("bad").stream(async move || 10 / input.stream().await);
    world.frame();
    let then = world.snapshot().unwrap();
    world.set(input, 0).unwrap();
    world.frame();
    let error = world.restore(&then).unwrap_err();
    assert!(matches!(&error, SnapshotError::NotAtRest(origin) if origin.name() == Some("bad")), "{error}");
    assert!(error.to_string().contains("`cosmetic`"));
    world.remove(bad).unwrap();
    let error = world.restore(&then).unwrap_err();
    assert!(matches!(error, SnapshotError::Removed(1)), "{error}");
    // Nothing has changed.
    assert_eq!((world.frames(), world.get(count).unwrap()), (2, 2));
}

fn destructors_that_remove_on_the_way_back(make: Make<'_>) {
    let mut world = make();
    let steps = Counter::default();
    let input = world.input(false);
    let one = world.stream(async || 1);
    let victim = world.fold(one, 0, |sum, one| *sum += one);
    let counted = steps.clone();
    world.stream(async move || {
        if input.stream().await {
            let outside = here();
            let counted = counted.clone();
            let _guard = OnDrop(move || {
                counted.add();
                _ = outside.remove(victim);
            });
            std::future::pending::<()>().await;
        }
    });
    world.frame();
    let then = world.snapshot().unwrap();
    world.set(input, true).unwrap();
    world.frame();
    world.restore(&then).unwrap();
    assert_eq!(steps.get(), 1);
    assert!(world.get(victim).is_err());
    // It was removed after the way back.
    world.frame();
    world.restore(&then).unwrap();
    assert_eq!(world.get(victim).unwrap(), 1);
}
