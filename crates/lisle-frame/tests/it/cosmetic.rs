//! Streams that are left out of snapshots.

use crate::worlds::{Counter, Make, Tokens};
use lisle_frame::{Failure, Foreign, SnapshotError, World, branch, frames, here, next_frame, race, spawn};
use std::cell::RefCell;
use std::rc::Rc;

in_all_worlds!(
    cosmetic_streams_live_on_when_the_world_goes_back,
    each_frame_is_theirs_once,
    what_cosmetic_streams_make_is_cosmetic,
    cosmetic_lists_follow_the_keys,
    a_cosmetic_stream_may_fail,
    who_is_not_cosmetic_cannot_read_them,
    reads_that_wait_over_a_way_back,
    cosmetic_and_other_streams_made_at_one_place,
);

fn cosmetic_streams_live_on_when_the_world_goes_back(make: Make<'_>) {
    let mut world = make();
    let one = world.stream(async || 1);
    let place = world.fold(one, 0, |place, one| *place += one);
    let living = world.live(0, async |_| std::future::pending().await);
    let error = world.snapshot().unwrap_err();
    assert!(error.to_string().contains("`cosmetic`"), "{error}");
    world.remove(living).unwrap();
    let ui = world.named("ui").cosmetic().live((0, 0), async move |out| {
        loop {
            let place = place.await;
            out.update(|(frames, seen)| {
                *frames += 1;
                *seen = place;
            });
            next_frame().await;
        }
    });
    world.frame();
    let then = world.snapshot().unwrap();
    world.frame();
    assert_eq!(world.get(ui).unwrap(), (2, 2));
    world.restore(&then).unwrap();
    assert_eq!((world.get(ui).unwrap(), world.get(place).unwrap()), ((2, 2), 1));
    world.frame();
    assert_eq!(world.get(ui).unwrap(), (3, 2));
}

fn each_frame_is_theirs_once(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n * 10).batch(2);
    let keys = world.input(0);
    let place = world.fold(keys.stream(), 0, |place, n| *place += n);
    let log = Rc::new(RefCell::new(Vec::new()));
    let (anew, steps, all) = (log.clone(), Counter::default(), Counter::default());
    world.cosmetic().stream(async move || {
        let value = work.call(place.await).await;
        anew.borrow_mut().push(value);
    });
    let last = world.cosmetic().live(0, {
        let steps = steps.clone();
        async move |_| {
            loop {
                frames(2).await;
                steps.add();
            }
        }
    });
    let counted = all.clone();
    world.stream(async move || counted.add());
    for round in 1..=4 {
        let then = world.snapshot().unwrap();
        world.set(keys, 100).unwrap();
        for _ in 0..3 {
            world.frame();
        }
        world.restore(&then).unwrap();
        world.set(keys, 1).unwrap();
        let reports = [0; 3].map(|_| world.resimulate().streams);
        // The key, its fold and what counts.
        assert_eq!((reports, log.borrow().len()), ([3; 3], 3 * round));
        assert_eq!(world.frames(), 3 * round as u64);
    }
    assert_eq!((all.get(), steps.get()), (4 * 6, 5));
    world.frame();
    assert_eq!((log.borrow()[12], steps.get()), (130, 6));
    assert_eq!(world.get(last).unwrap(), 0);
}

fn what_cosmetic_streams_make_is_cosmetic(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let (kept, steps) = (tokens.clone(), Counter::default());
    let counted = steps.clone();
    let count = move |token| {
        let counted = counted.clone();
        async move {
            let _token = token;
            loop {
                counted.add();
                next_frame().await;
            }
        }
    };
    let script = world.cosmetic().live(0, async move |out| {
        branch(count(kept.make()));
        spawn(count(kept.make()));
        let made = here().live(0, async |out| {
            for n in 1.. {
                out.set(n);
                next_frame().await;
            }
        });
        loop {
            out.set(made.await);
            race((frames(1), frames(2))).await;
        }
    });
    let scope = world.cosmetic().scope();
    let inside = scope.live(0, async |_| std::future::pending().await);
    for frame in 1..5 {
        world.frame();
        let then = world.snapshot().unwrap();
        world.restore(&then).unwrap();
        assert_eq!((world.get(script).unwrap(), steps.get(), tokens.alive()), (frame, 2 * frame as usize, 2));
        assert_eq!(world.get(inside).unwrap(), 0);
    }
    world.remove_scope(scope);
    assert!(world.get(inside).is_err());
}

/// Sounds, one for each thing as long as it is there.
fn cosmetic_lists_follow_the_keys(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2]);
    let one = world.stream(async || 1);
    let things = world.keyed(keys.stream(), move |key| {
        let age = here().fold(one, 0, |age, one| *age += one);
        async move || (key, age.await)
    });
    let made = tokens.clone();
    let sounds = world.cosmetic().keyed_of(keys.stream(), move |key| {
        let token = made.make();
        here().live(0, async move |out| {
            let _token = token;
            loop {
                out.update(|played| *played += key);
                next_frame().await;
            }
        })
    });
    let played = world.cosmetic().values(sounds);
    let ages = world.values(things);
    let shown = world.cosmetic().map_list(things, |thing| async move || thing.await.1);
    let shown = world.cosmetic().values(shown);
    world.frame();
    world.frame();
    let then = world.snapshot().unwrap();
    world.set(keys, vec![2]).unwrap();
    world.frame();
    assert_eq!((world.get(played).unwrap().len(), tokens.alive()), (1, 1));
    world.restore(&then).unwrap();
    world.frame();
    assert_eq!(world.get(ages).unwrap(), [(1, 3), (2, 3)]);
    // The sound of the first has gone with it, and begins anew.
    let played = world.get(played).unwrap();
    assert_eq!((played[0], played[1] > 2, tokens.alive()), (1, true, 2));
    assert_eq!(world.get(shown).unwrap(), [3, 3]);
}

fn a_cosmetic_stream_may_fail(make: Make<'_>) {
    let mut world = make();
    let one = world.input(1);
    let bad = world.cosmetic().named("bad").stream(async || -> u8 { panic!("on purpose") });
    world.frame();
    let then = world.snapshot().unwrap();
    world.frame();
    world.restore(&then).unwrap();
    world.frame();
    assert!(matches!(world.get(bad).unwrap_err().failure(), Failure::Panicked(..)));
    assert_eq!(world.get(one.stream()).unwrap(), 1);
}

fn who_is_not_cosmetic_cannot_read_them(make: Make<'_>) {
    let mut world = make();
    let ui = world.named("ui").cosmetic().stream(async || 1);
    let reads = world.named("reads").stream(async move || ui.await);
    let looks = world.stream(async move || ui.with(|n| *n).await);
    let tries = world.stream(async move || ui.try_get().await.unwrap_err().to_string());
    let lists = world.values(world.list_of(vec![ui]));
    let last = world.named("last").previous(ui, 0);
    let second = world.stream(async move || reads.await);
    let may = world.cosmetic().map(ui, |n| n + 1);
    let last_of_may = world.cosmetic().previous(may, 0);
    for frame in 1..=3 {
        world.frame();
        let error = world.get(reads).unwrap_err();
        assert!(
            matches!(error.failure(), Failure::Cosmetic { reader, stream }
                if reader.name() == Some("reads") && stream.name() == Some("ui")),
            "{error}"
        );
        assert!(error.to_string().contains("stream 'ui' made at"));
        assert!(matches!(world.get(second).unwrap_err().failure(), Failure::Read { reader, .. }
            if reader.name().is_none()));
        assert!(matches!(world.get(second).unwrap_err().root().failure(), Failure::Cosmetic { .. }));
        for error in [world.get(looks).unwrap_err(), world.get(lists).unwrap_err()] {
            assert!(matches!(error.failure(), Failure::Cosmetic { .. }), "{error}");
        }
        let is_told = world.get(last).map_err(|error| error.to_string().contains("stream 'last' made at"));
        assert_eq!(is_told, Err(true));
        assert!(world.get(tries).unwrap().contains("cosmetic"));
        let before = if frame == 1 { 0 } else { 2 };
        assert_eq!((world.get(may).unwrap(), world.get(last_of_may).unwrap()), (2, before));
    }
    assert!(matches!(world.snapshot(), Err(SnapshotError::NotAtRest(_))));
}

/// A read that waits in one frame is not taken for one of the frame with the same number.
fn reads_that_wait_over_a_way_back(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n).batch(100);
    let one = world.stream(async || 1);
    let slow = world.fold(one, 0, |sum, one| *sum += one);
    let slow = world.stream(async move || work.call(slow.await).await);
    let ui = world.cosmetic().live(Vec::new(), async move |out| {
        loop {
            // The loser is dropped, or read again in the next round.
            let seen = race((slow.get(), async { slow.await + 100 })).await;
            out.update(|all| all.push(seen));
            next_frame().await;
        }
    });
    world.frame();
    let then = world.snapshot().unwrap();
    for _ in 0..5 {
        world.frame();
        world.restore(&then).unwrap();
        world.frame();
        world.restore(&then).unwrap();
    }
    assert_eq!(world.get(ui).unwrap(), [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
}

fn cosmetic_and_other_streams_made_at_one_place(make: Make<'_>) {
    let mut world = make();
    let one = world.stream(async || 1);
    let count = |world: &World, is_cosmetic| {
        let making = world.named("both");
        let making = if is_cosmetic { making.cosmetic() } else { making };
        making.fold(one, 0, |sum, one| *sum += one)
    };
    let all = [true, false, true, false].map(|is_cosmetic| count(&world, is_cosmetic));
    world.frame();
    let then = world.snapshot().unwrap();
    world.frame();
    world.restore(&then).unwrap();
    assert_eq!(all.map(|stream| world.get(stream).unwrap()), [2, 1, 2, 1]);
}
