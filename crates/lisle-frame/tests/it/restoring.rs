//! Snapshots whose values call back when they are cloned or dropped.

use crate::worlds::{Make, Tokens, count};
use lisle_frame::{Here, Input, Stream, World, here};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

in_all_worlds!(
    a_clone_that_removes_streams_while_a_snapshot_is_taken,
    a_clone_that_removes_its_stream_while_a_snapshot_is_restored,
    a_drop_that_removes_its_stream_while_a_snapshot_is_restored,
    many_frames_back_and_forward_give_the_same,
    a_list_that_has_grown_goes_back,
    a_list_that_has_shrunk_goes_back,
);

/// The function that a value calls when it is cloned or dropped.
type Then = Rc<RefCell<Option<Box<dyn FnOnce()>>>>;

/// A value that calls back.
struct Calls {
    number: Box<usize>,
    on_clone: Then,
    on_drop: Then,
}

fn call(then: &Then) {
    let then = then.borrow_mut().take();
    if let Some(then) = then {
        then();
    }
}

impl Clone for Calls {
    fn clone(&self) -> Self {
        call(&self.on_clone);
        let (on_clone, on_drop) = (self.on_clone.clone(), self.on_drop.clone());
        Calls { number: self.number.clone(), on_clone, on_drop }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        call(&self.on_drop);
        *self.number = usize::MAX;
    }
}

struct Setting {
    world: lisle_frame::World,
    outside: Rc<Here>,
    streams: Vec<Stream<Calls>>,
    on_clone: Then,
    on_drop: Then,
}

fn setting(make: Make<'_>) -> Setting {
    let mut world = make();
    let (on_clone, on_drop) = (Then::default(), Then::default());
    let handles = world.named("handle").stream(async || Rc::new(here()));
    let streams = (0..10).map(|n| {
        let (on_clone, on_drop) = (on_clone.clone(), on_drop.clone());
        let value = Calls { number: Box::new(n), on_clone, on_drop };
        world.fold(handles, value, |value, _| *value.number += 10)
    });
    let streams = streams.collect::<Vec<_>>();
    world.frame();
    let outside = world.get(handles).unwrap();
    Setting { world, outside, streams, on_clone, on_drop }
}

fn number(setting: &Setting, stream: usize) -> Option<usize> {
    setting.world.with(setting.streams[stream], |value| *value.number).ok()
}

/// 23. The first value that is cloned removes all streams.
fn a_clone_that_removes_streams_while_a_snapshot_is_taken(make: Make<'_>) {
    let mut setting = setting(make);
    let (outside, all) = (setting.outside.clone(), setting.streams.clone());
    *setting.on_clone.borrow_mut() = Some(Box::new(move || {
        all.iter().for_each(|stream| outside.remove(*stream).unwrap());
    }));
    let snapshot = setting.world.snapshot().unwrap();
    assert!((0..10).all(|n| number(&setting, n).is_none()));
    setting.world.frame();
    // It has cloned the values of all.
    setting.world.restore(&snapshot).unwrap();
    assert!((0..10).all(|n| number(&setting, n) == Some(n + 10)));
    setting.world.frame();
    assert!((0..10).all(|n| number(&setting, n) == Some(n + 20)));
}

fn a_clone_that_removes_its_stream_while_a_snapshot_is_restored(make: Make<'_>) {
    let mut setting = setting(make);
    let snapshot = setting.world.snapshot().unwrap();
    setting.world.frame();
    let (outside, all) = (setting.outside.clone(), setting.streams.clone());
    *setting.on_clone.borrow_mut() = Some(Box::new(move || {
        all.iter().for_each(|stream| outside.remove(*stream).unwrap());
    }));
    let _ = setting.world.restore(&snapshot);
    for _ in 0..3 {
        setting.world.frame();
        assert!((0..10).all(|n| number(&setting, n).is_none()));
    }
    for n in 0..10 {
        let handles = setting.world.stream(async || ());
        let (on_clone, on_drop) = (Then::default(), Then::default());
        let value = Calls { number: Box::new(n), on_clone, on_drop };
        setting.streams[n] = setting.world.fold(handles, value, |value, ()| *value.number += 10);
    }
    setting.world.frame();
    assert!((0..10).all(|n| number(&setting, n) == Some(n + 10)));
}

fn a_drop_that_removes_its_stream_while_a_snapshot_is_restored(make: Make<'_>) {
    let mut setting = setting(make);
    let snapshot = setting.world.snapshot().unwrap();
    setting.world.frame();
    let (outside, all) = (setting.outside.clone(), setting.streams.clone());
    *setting.on_drop.borrow_mut() = Some(Box::new(move || {
        all.iter().for_each(|stream| outside.remove(*stream).unwrap());
    }));
    let _ = setting.world.restore(&snapshot);
    for _ in 0..3 {
        setting.world.frame();
        assert!((0..10).all(|n| number(&setting, n).is_none()));
    }
}

/// 23. Eight frames back and forward again, in each frame.
fn many_frames_back_and_forward_give_the_same(make: Make<'_>) {
    let mut world = make();
    let input = world.input(0_u64);
    let mixed = world.fold(input.stream(), 1_u64, |state, n| {
        *state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ n;
    });
    let before = world.previous(mixed, 5);
    let both = world.stream(async move || (mixed.await, before.await));
    let seen = Rc::new(Cell::new(0));
    let mut history = vec![world.snapshot().unwrap()];
    let mut values = vec![];
    for frame in 0..count(200, 20) as u64 {
        world.set(input, frame * frame).unwrap();
        world.frame();
        values.push(world.get(both).unwrap());
        history.push(world.snapshot().unwrap());
        let back = frame.saturating_sub(8);
        world.restore(&history[back as usize]).unwrap();
        assert_eq!(world.frames(), back);
        for again in back..=frame {
            world.set(input, again * again).unwrap();
            world.frame();
            assert_eq!(world.get(both).unwrap(), values[again as usize]);
            seen.set(seen.get() + 1);
        }
    }
    assert!(seen.get() > count(200, 20));
}

/// The values of two lists.
type Both = Stream<(Vec<u32>, Vec<u32>)>;

/// Makes lists whose members are made of folds, and a stream of their values.
fn counting_lists(world: &World, tokens: &Tokens) -> (Input<Vec<u32>>, Both) {
    let keys = world.input(vec![1]);
    let one = world.stream(async || 1);
    let made = tokens.clone();
    let count = move |key: u32| {
        let token = made.make();
        here().fold(one, key * 100, move |count, one| {
            let _token = &token;
            *count += one;
        })
    };
    let counts = count.clone();
    let plain = world.keyed(keys.stream(), move |key| {
        let count = counts(key);
        async move || count.await
    });
    let made_otherwise = world.keyed_of(keys.stream(), count);
    (keys, world.zip(world.values(plain), world.values(made_otherwise)))
}

/// 23. The streams made for the new members go with them, and are made again.
fn a_list_that_has_grown_goes_back(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let (keys, all) = counting_lists(&world, &tokens);
    world.frame();
    world.frame();
    let then = world.snapshot().unwrap();
    let before = world.get(all).unwrap();
    let mut seen = Vec::new();
    for round in 0..3 {
        assert_eq!((world.get(all).unwrap(), tokens.alive()), (before.clone(), 2));
        world.set(keys, vec![2, 1]).unwrap();
        for frame in 0..4 {
            world.frame();
            assert_eq!(tokens.alive(), 4);
            let values = world.get(all).unwrap();
            if round == 0 {
                seen.push(values);
            } else {
                assert_eq!(values, seen[frame]);
            }
        }
        world.restore(&then).unwrap();
    }
}

/// 23. The streams made for members that have gone come back with them.
fn a_list_that_has_shrunk_goes_back(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let (keys, all) = counting_lists(&world, &tokens);
    world.set(keys, vec![3, 1, 2]).unwrap();
    world.frame();
    world.frame();
    let then = world.snapshot().unwrap();
    let before = world.get(all).unwrap();
    for keys_then in [vec![], vec![2], vec![1, 7, 2], vec![2, 1, 3]] {
        world.set(keys, keys_then).unwrap();
        for _ in 0..3 {
            world.frame();
            // They are kept aside.
            assert!(tokens.alive() >= 6);
        }
        world.restore(&then).unwrap();
        assert_eq!((world.get(all).unwrap(), tokens.alive()), (before.clone(), 6));
        world.frame();
        let after = vec![303, 103, 203];
        assert_eq!(world.get(all).unwrap(), (after.clone(), after));
        world.restore(&then).unwrap();
    }
    drop(then);
    world.set(keys, vec![]).unwrap();
    world.frame();
    assert_eq!((world.get(all).unwrap(), tokens.alive()), ((vec![], vec![]), 0));
}
