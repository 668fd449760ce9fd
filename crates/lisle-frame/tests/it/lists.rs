//! Lists, and the streams that belong to their members.

use crate::worlds::{Make, Tokens, count};
use lisle_frame::{Failure, List, Stream, World, here, next_frame};

in_all_worlds!(
    what_is_made_for_a_member_lives_as_long_as_the_member,
    what_is_made_for_a_member_goes_with_a_member_that_is_removed_by_hand,
    what_is_made_for_a_member_goes_with_the_list,
    what_was_made_before_a_panic_for_a_member_is_removed,
    what_a_member_makes_in_a_run_lives_until_its_next_run,
    lists_within_members_go_with_them,
    members_are_told_by_where_their_list_was_made,
    members_that_live_over_frames_come_and_go,
    members_that_are_not_made_for_their_key_stay,
    members_have_the_name_of_their_list,
    members_of_a_list_that_is_retried_come_back,
);

/// Makes a list whose members each read a stream that was made for them, and a second list of this
/// kind, made of the first.
fn lists(world: &World, keys: Stream<Vec<u32>>, tokens: &Tokens) -> [List<u32>; 2] {
    let made = tokens.clone();
    let list = world.keyed(keys, move |key| {
        let token = made.make();
        let inner = here().stream(async move || {
            let _token = &token;
            key
        });
        async move || inner.await
    });
    let made = tokens.clone();
    let mapped = world.map_list(list, move |member| {
        let token = made.make();
        let inner = here().stream(async move || {
            let _token = &token;
            member.try_get().await.unwrap_or(0)
        });
        async move || inner.await * 10
    });
    [list, mapped]
}

/// 5. It is not removed when the member runs again, but with the member.
fn what_is_made_for_a_member_lives_as_long_as_the_member(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![]);
    let [_, mapped] = lists(&world, keys.stream(), &tokens);
    let all = world.stream(async move || mapped.values().await);
    let mut streams = None;
    for round in 0..count(20, 3) {
        for now in [vec![1, 2, 3], vec![1, 2, 3], vec![2, 3], vec![3], vec![], vec![1], vec![]] {
            world.set(keys, now.clone()).unwrap();
            world.frame();
            let report = world.frame();
            assert_eq!(world.get(all).unwrap(), now.iter().map(|key| key * 10).collect::<Vec<_>>());
            assert_eq!(tokens.alive(), 2 * now.len() as isize, "round {round}");
            if now.is_empty() {
                assert_eq!(report.streams, *streams.get_or_insert(report.streams), "round {round}");
            }
        }
    }
}

fn what_is_made_for_a_member_goes_with_a_member_that_is_removed_by_hand(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2]);
    let [list, mapped] = lists(&world, keys.stream(), &tokens);
    world.frame();
    assert_eq!(tokens.alive(), 4);
    let first = world.get(list.members()).unwrap()[0];
    world.remove(first).unwrap();
    assert_eq!(tokens.alive(), 3);
    // The member is made again, and the mapped value of the old one goes.
    world.frame();
    world.frame();
    assert_eq!(tokens.alive(), 4);
    world.remove(world.get(mapped.members()).unwrap()[1]).unwrap();
    assert_eq!(tokens.alive(), 3);
}

fn what_is_made_for_a_member_goes_with_the_list(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2, 3]);
    let level = world.scope();
    let [list, mapped] = lists(&world, keys.stream(), &tokens);
    let made = tokens.clone();
    level.keyed(keys.stream(), move |_: u32| {
        let token = made.make();
        let inner = here().stream(async move || _ = &token);
        async move || inner.await
    });
    world.frame();
    assert_eq!(tokens.alive(), 9);
    world.remove_scope(level);
    assert_eq!(tokens.alive(), 6);
    world.remove(mapped.members()).unwrap();
    assert_eq!(tokens.alive(), 3);
    world.remove(list.members()).unwrap();
    assert_eq!(tokens.alive(), 0);
}

fn what_was_made_before_a_panic_for_a_member_is_removed(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2, 3]);
    let made = tokens.clone();
    let list = world.named("a list").keyed(keys.stream(), move |key| {
        let token = made.make();
        here().stream(async move || _ = &token);
        assert!(key != 2, "two");
        async move || key
    });
    world.frame();
    let error = world.with(list.members(), |_| ()).unwrap_err();
    assert!(matches!(error.failure(), Failure::Panicked(origin, _) if origin.name() == Some("a list")));
    assert_eq!(tokens.alive(), 1);
    world.remove(list.members()).unwrap();
    assert_eq!(tokens.alive(), 0);
}

fn what_a_member_makes_in_a_run_lives_until_its_next_run(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2]);
    let made = tokens.clone();
    let list = world.keyed(keys.stream(), move |key| {
        let (made, kept) = (made.clone(), made.make());
        let kept = here().stream(async move || {
            let _kept = &kept;
            key
        });
        async move || {
            let token = made.make();
            let inner = here().stream(async move || {
                let _token = &token;
                1
            });
            kept.await + inner.await
        }
    });
    let all = world.stream(async move || list.values().await);
    for _ in 0..count(10, 3) {
        world.frame();
        assert_eq!((world.get(all).unwrap(), tokens.alive()), (vec![2, 3], 4));
    }
    world.set(keys, vec![2]).unwrap();
    world.frame();
    assert_eq!((world.get(all).unwrap(), tokens.alive()), (vec![3], 2));
}

fn lists_within_members_go_with_them(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1, 2]);
    let made = tokens.clone();
    let outer = world.keyed(keys.stream(), move |key: u32| {
        let made = made.clone();
        let numbers = here().stream(async move || (0..key).collect::<Vec<_>>());
        let inner = here().keyed(numbers, move |number| {
            let token = made.make();
            let stream = here().stream(async move || {
                let _token = &token;
                number
            });
            async move || stream.await
        });
        async move || inner.values().await
    });
    let all = world.stream(async move || outer.values().await);
    for now in [vec![1, 3], vec![3], vec![4, 2], vec![]] {
        world.set(keys, now.clone()).unwrap();
        world.frame();
        world.frame();
        let expected = now.iter().map(|key| (0..*key).collect::<Vec<_>>()).collect::<Vec<_>>();
        assert_eq!(world.get(all).unwrap(), expected);
        assert_eq!(tokens.alive(), now.iter().sum::<u32>() as isize);
    }
}

fn members_are_told_by_where_their_list_was_made(make: Make<'_>) {
    let mut world = make();
    let keys = world.input(vec![0]);
    let plain = world.list(3, |_| async || -> u32 { panic!("on purpose") });
    let keyed = world.keyed(keys.stream(), |_| async || -> u32 { panic!("on purpose") });
    let mapped = world.map_list(plain, |_| async || -> u32 { panic!("on purpose") });
    // Members that a list makes in a frame run from the next frame on.
    world.frame();
    world.frame();
    for list in [plain, keyed, mapped] {
        let members = world.get(list.members()).unwrap();
        let error = world.get(members[members.len() - 1]).unwrap_err();
        assert!(error.to_string().contains("tests/it/lists.rs:"), "{error}");
    }
}

fn members_have_the_name_of_their_list(make: Make<'_>) {
    let mut world = make();
    let keys = world.input(vec![0]);
    let plain = world.named("plain").list(3, |_| async || -> u32 { panic!("on purpose") });
    let keyed = world.named("keyed").keyed(keys.stream(), |_| async || -> u32 { panic!("on purpose") });
    let mapped = world.named("mapped").map_list(plain, |_| async || -> u32 { panic!("on purpose") });
    // Members that a list makes in a frame run from the next frame on.
    world.frame();
    world.frame();
    for (list, name) in [(plain, "plain"), (keyed, "keyed"), (mapped, "mapped")] {
        let members = world.get(list.members()).unwrap();
        let error = world.get(members[0]).unwrap_err();
        let Failure::Panicked(origin, _) = error.failure() else { panic!("{error}") };
        assert_eq!(origin.name(), Some(name));
        assert!(origin.site().file().ends_with("lists.rs"), "{error}");
    }
}

/// 7.
fn members_of_a_list_that_is_retried_come_back(make: Make<'_>) {
    let mut world = make();
    let list = world.retrying().list(3, |n| {
        let mut frame = 0;
        async move || {
            frame += 1;
            assert!(frame != 2, "frame {frame}");
            n + frame
        }
    });
    let all = world.named("all").values(list);
    world.frame();
    assert_eq!(world.get(all).unwrap(), [1, 2, 3]);
    world.frame();
    let error = world.get(all).unwrap_err();
    assert!(error.to_string().starts_with("stream 'all'"), "{error}");
    world.frame();
    assert_eq!(world.get(all).unwrap(), [3, 4, 5]);
}

/// 5. So do the streams that were made for them.
fn members_that_live_over_frames_come_and_go(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let keys = world.input(vec![1_u32, 2]);
    let made = tokens.clone();
    let list = world.keyed_of(keys.stream(), move |key| {
        let (token, made) = (made.make(), made.clone());
        let step = here().stream(async move || {
            let _token = &token;
            key
        });
        here().live(0, async move |sum| {
            let _token = made.make();
            loop {
                next_frame().await;
                let step = step.await;
                sum.update(|sum| *sum += step);
            }
        })
    });
    let all = world.values(list);
    for (now, expected) in [
        (vec![1, 2], vec![0, 0]),
        (vec![1, 2], vec![1, 2]),
        (vec![2], vec![4]),
        (vec![2, 1], vec![6, 0]),
        (vec![], vec![]),
    ] {
        world.set(keys, now).unwrap();
        world.frame();
        assert_eq!(world.get(all).unwrap(), expected);
        assert_eq!(tokens.alive(), 2 * expected.len() as isize);
    }
    // A member that the program removes is made again, with all streams that were made for it.
    world.set(keys, vec![5]).unwrap();
    world.frame();
    world.remove(world.get(list.members()).unwrap()[0]).unwrap();
    for expected in [0, 5, 10] {
        world.frame();
        assert_eq!((world.get(all).unwrap(), tokens.alive()), (vec![expected], 2));
    }
    world.remove(list.members()).unwrap();
    assert_eq!(tokens.alive(), 0);
}

fn members_that_are_not_made_for_their_key_stay(make: Make<'_>) {
    let mut world = make();
    let streams = [10, 20].map(|n| world.stream(async move || n));
    let keys = world.input(vec![0, 1]);
    let list = world.keyed_of(keys.stream(), move |key: usize| streams[key]);
    let all = world.values(list);
    for now in [vec![0, 1], vec![1], vec![], vec![1, 0]] {
        world.set(keys, now.clone()).unwrap();
        world.frame();
        assert_eq!(world.get(all).unwrap(), now.iter().map(|key| 10 + 10 * key).collect::<Vec<_>>());
        assert_eq!(streams.map(|stream| world.get(stream).unwrap()), [10, 20]);
    }
}
