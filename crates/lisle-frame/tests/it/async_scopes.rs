//! A future that runs beside a body ends with the async scope that has started it.

use crate::worlds::{Counter, Make, Tokens};
use lisle_frame::{Foreign, World, all, async_scope, branch, frames, here, next_frame, race, rush, spawn};
use std::cell::RefCell;
use std::future::pending;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

in_all_worlds!(
    a_skipped_scene_takes_along_what_it_has_started,
    a_branch_ends_when_its_part_of_all_is_done,
    branches_end_when_their_body_returns,
    branches_of_a_body_that_is_run_anew_end_with_each_run,
    branches_end_when_their_body_fails_or_panics,
    branches_of_branches_end_with_them,
    what_is_spawned_lives_as_long_as_its_stream,
    a_function_is_a_scope_if_it_is_made_one,
    futures_of_other_libraries_are_no_scopes,
    a_stream_that_is_read_in_a_scope_has_its_own,
    a_branch_for_a_member_belongs_to_the_member,
    a_scope_is_dropped_outside_of_frames,
    a_scope_outlives_its_world,
    a_branch_that_ends_its_own_scope,
);

/// Counts frames until it is dropped.
async fn music(steps: Counter, tokens: Tokens) {
    let _token = tokens.make();
    loop {
        steps.add();
        next_frame().await;
    }
}

fn a_skipped_scene_takes_along_what_it_has_started(make: Make<'_>) {
    for form in 0..3 {
        let mut world = make();
        let (steps, tokens, late) = (Counter::default(), Tokens::default(), Counter::default());
        let (played, kept, acts) = (steps.clone(), tokens.clone(), late.clone());
        let scene = world.live("", async move |out| {
            let play = async {
                branch(music(played.clone(), kept.clone()));
                let actor = |n| {
                    let acts = acts.clone();
                    async move {
                        frames(n).await;
                        acts.add();
                    }
                };
                rush((actor(1), actor(50), actor(60))).await;
                branch(music(played.clone(), kept.clone()));
                pending().await
            };
            let skip = async {
                frames(3).await;
                "skipped"
            };
            out.set(match form {
                0 => race((play, skip)).await,
                1 => {
                    let both: [Pin<Box<dyn Future<Output = &str>>>; 2] = [Box::pin(skip), Box::pin(play)];
                    race(both).await
                }
                _ => race((pending(), async { race((skip, play)).await })).await,
            });
            pending::<()>().await;
        });
        for frame in 1..=3 {
            world.frame();
            assert_eq!((steps.get(), tokens.alive()), (2 * frame - 1, if frame == 1 { 1 } else { 2 }));
        }
        // In a race, the scene has its turn before or after the skip.
        for _ in 0..80 {
            world.frame();
            assert_eq!((world.get(scene).unwrap(), tokens.alive(), late.get()), ("skipped", 0, 1));
        }
        assert!((5..=7).contains(&steps.get()), "{}", steps.get());
    }
}

fn a_branch_ends_when_its_part_of_all_is_done(make: Make<'_>) {
    for form in 0..2 {
        let mut world = make();
        let (steps, tokens) = (Counter::default(), Tokens::default());
        let (played, kept) = (steps.clone(), tokens.clone());
        world.live((), async move |_| {
            let part = |n| {
                let (played, kept) = (played.clone(), kept.clone());
                async move {
                    branch(music(played, kept));
                    frames(n).await;
                }
            };
            if form == 0 {
                all((part(2), part(4), part(0))).await;
            } else {
                all(vec![part(2), part(4), part(0)]).await;
            }
            pending::<()>().await;
        });
        let alive = [0; 6].map(|_| {
            world.frame();
            tokens.alive()
        });
        assert_eq!(alive, [2, 2, 1, 1, 0, 0]);
    }
}

fn branches_end_when_their_body_returns(make: Make<'_>) {
    let mut world = make();
    let (steps, tokens) = (Counter::default(), Tokens::default());
    let (played, kept) = (steps.clone(), tokens.clone());
    let body = world.live(0, async move |out| {
        let seen = branch(async { 7 });
        branch(music(played.clone(), kept.clone()));
        rush((async { 1 }, async move {
            music(played, kept).await;
            2
        }))
        .await;
        frames(2).await;
        out.set(seen.await.unwrap());
    });
    let alive = [0; 5].map(|_| {
        world.frame();
        tokens.alive()
    });
    assert_eq!((alive, world.get(body).unwrap()), ([2, 2, 0, 0, 0], 7));
    assert!((4..=6).contains(&steps.get()));
}

fn branches_of_a_body_that_is_run_anew_end_with_each_run(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n).batch(10);
    let (tokens, inner) = (Tokens::default(), Tokens::default());
    let (kept, kept_within) = (tokens.clone(), inner.clone());
    let body = world.stream(async move || {
        branch(music(Counter::default(), kept.clone()));
        let sum = all((
            async {
                branch(music(Counter::default(), kept_within.clone()));
                work.call(1).await
            },
            work.call(2),
        ));
        let (one, two) = sum.await;
        assert_eq!(kept.alive(), 1);
        one + two
    });
    for _ in 0..3 {
        world.frame();
        assert_eq!((world.get(body).unwrap(), tokens.alive(), inner.alive()), (3, 0, 0));
    }
}

fn branches_end_when_their_body_fails_or_panics(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let bad = world.stream(async || -> u32 { panic!("on purpose") });
    let (kept, start) = (tokens.clone(), move |tokens: &Tokens| {
        branch(music(Counter::default(), tokens.clone()));
    });
    world.live((), async move |_| {
        start(&kept);
        next_frame().await;
        panic!("on purpose");
    });
    let kept = tokens.clone();
    world.stream(async move || {
        start(&kept);
        bad.await
    });
    let kept = tokens.clone();
    world.retrying().stream(async move || {
        race((
            async {
                start(&kept);
                panic!("on purpose");
            },
            pending::<u32>(),
        ))
        .await
    });
    world.frame();
    assert_eq!(tokens.alive(), 1);
    world.frame();
    assert_eq!(tokens.alive(), 0);
}

fn branches_of_branches_end_with_them(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let kept = tokens.clone();
    world.live((), async move |_| {
        let outer = kept.clone();
        branch(async move {
            branch(music(Counter::default(), outer.clone()));
            frames(2).await;
        });
        race((frames(4), async {
            branch(async move {
                branch(music(Counter::default(), kept.clone()));
                music(Counter::default(), kept).await;
            });
            pending().await
        }))
        .await;
        pending().await
    });
    let alive = [0; 6].map(|_| {
        world.frame();
        tokens.alive()
    });
    assert_eq!(alive, [3, 3, 2, 2, 0, 0]);
}

fn what_is_spawned_lives_as_long_as_its_stream(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let kept = tokens.clone();
    let body = world.live((), async move |_| {
        let within = kept.clone();
        race((async move { _ = spawn(music(Counter::default(), within)) }, pending())).await;
        spawn(music(Counter::default(), kept));
    });
    for _ in 0..5 {
        world.frame();
        assert_eq!(tokens.alive(), 2);
    }
    world.remove(body).unwrap();
    assert_eq!(tokens.alive(), 0);
    let (kept, runs) = (tokens.clone(), Counter::default());
    let counted = runs.clone();
    world.stream(async move || {
        counted.add();
        spawn(music(Counter::default(), kept.clone()));
    });
    for frame in 1..5 {
        world.frame();
        assert_eq!((tokens.alive(), runs.get()), (1, frame));
    }
}

fn a_function_is_a_scope_if_it_is_made_one(make: Make<'_>) {
    async fn scene(tokens: Tokens) -> u32 {
        branch(music(Counter::default(), tokens));
        frames(1).await;
        7
    }
    let mut world = make();
    let [bound, loose] = [(); 2].map(|()| Tokens::default());
    let (inside, outside) = (bound.clone(), loose.clone());
    let body = world.live(0, async move |out| {
        out.set(async_scope(scene(inside)).await + scene(outside).await);
        frames(1).await;
    });
    let alive = [0; 5].map(|_| {
        world.frame();
        (bound.alive(), loose.alive())
    });
    assert_eq!((alive, world.get(body).unwrap()), ([(1, 0), (0, 1), (0, 1), (0, 0), (0, 0)], 14));
}

fn futures_of_other_libraries_are_no_scopes(make: Make<'_>) {
    let mut world = make();
    let [bound, loose] = [(); 2].map(|()| Tokens::default());
    let (inside, outside) = (bound.clone(), loose.clone());
    world.live((), async move |_| {
        let scene = |tokens: Tokens| async move {
            branch(music(Counter::default(), tokens));
            pending::<()>().await;
        };
        race((frames(3), async {
            let both = futures::future::join(scene(outside), async_scope(scene(inside)));
            futures::future::select(Box::pin(both), Box::pin(frames(1))).await;
            pending().await
        }))
        .await;
        pending().await
    });
    let alive = [0; 5].map(|_| {
        world.frame();
        (bound.alive(), loose.alive())
    });
    assert_eq!(alive, [(1, 1), (0, 1), (0, 1), (0, 0), (0, 0)]);
}

fn a_stream_that_is_read_in_a_scope_has_its_own(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let kept = tokens.clone();
    let reads = world.delay(0);
    let early = reads.stream();
    let reader = world.live(0, async move |out| {
        let made = here().named("made").live(0, {
            let kept = kept.clone();
            async move |out| {
                branch(music(Counter::default(), kept));
                out.set(5);
                pending().await
            }
        });
        let (value, ()) = all((
            async {
                // It runs here, for the first time.
                made.await
            },
            async { _ = early.await },
        ))
        .await;
        out.set(value);
        pending().await
    });
    for _ in 0..4 {
        world.frame();
        assert_eq!((world.get(reader).unwrap(), tokens.alive()), (5, 1));
    }
}

fn a_branch_for_a_member_belongs_to_the_member(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let kept = tokens.clone();
    let keys = world.input(vec![1, 2]);
    let list = world.keyed(keys.stream(), move |key| {
        branch(music(Counter::default(), kept.clone()));
        async move || key
    });
    let values = world.values(list);
    for _ in 0..3 {
        world.frame();
        assert_eq!((world.get(values).unwrap().len(), tokens.alive()), (2, 2));
    }
    world.set(keys, vec![2]).unwrap();
    world.frame();
    assert_eq!(tokens.alive(), 1);
}

fn a_scope_is_dropped_outside_of_frames(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let (kept, both) = (tokens.clone(), tokens.clone());
    let body = world.live((), async move |_| {
        race((async_scope(music(Counter::default(), both)), async {
            branch(music(Counter::default(), kept));
            pending().await
        }))
        .await;
    });
    world.frame();
    assert_eq!(tokens.alive(), 2);
    world.remove(body).unwrap();
    assert_eq!(tokens.alive(), 0);
}

type Held = Rc<RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>>>;

/// Polls a future that somebody else holds.
async fn poll_held(held: Held) {
    std::future::poll_fn(|cx| {
        let future = held.borrow_mut().take();
        let Some(mut future) = future else { return Poll::Ready(()) };
        let polled = future.as_mut().poll(cx);
        held.borrow_mut().get_or_insert(future);
        polled
    })
    .await;
}

fn a_scope_outlives_its_world(make: Make<'_>) {
    let tokens = Tokens::default();
    let held = Held::default();
    let (mut first, mut second) = (make(), World::new());
    let kept = tokens.clone();
    *held.borrow_mut() = Some(Box::pin(async_scope(async move {
        loop {
            branch(music(Counter::default(), kept.clone()));
            let mut has_passed = false;
            std::future::poll_fn(|_| {
                if std::mem::replace(&mut has_passed, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    })));
    for world in [&first, &second] {
        let held = held.clone();
        world.live((), async move |_| poll_held(held).await);
    }
    for _ in 0..2 {
        first.frame();
        second.frame();
    }
    // It has started two in each.
    assert_eq!(tokens.alive(), 4);
    drop(first);
    assert_eq!(tokens.alive(), 2);
    held.take();
    assert_eq!(tokens.alive(), 0);
    second.frame();
}

fn a_branch_that_ends_its_own_scope(make: Make<'_>) {
    let mut world = make();
    let (tokens, held) = (Tokens::default(), Held::default());
    let (kept, ends) = (tokens.clone(), held.clone());
    *held.borrow_mut() = Some(Box::pin(async_scope(async move {
        branch(async move {
            let _token = kept.make();
            next_frame().await;
            ends.take();
            next_frame().await;
            unreachable!("the scope has ended");
        });
        pending().await
    })));
    let polls = held.clone();
    world.live((), async move |_| poll_held(polls).await);
    world.frame();
    assert_eq!(tokens.alive(), 1);
    for _ in 0..3 {
        world.frame();
        assert_eq!(tokens.alive(), 0);
    }
    assert!(held.borrow().is_none());
}
