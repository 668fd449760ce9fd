//! Streams are made and dropped by handle and by scope, between frames and in them.

use crate::worlds::{Counter, Later, Make, OnDrop, Tokens, count};
use lisle_frame::{Failure, Foreign, Scope, Stream, here, next_frame};
use std::cell::RefCell;
use std::rc::Rc;

in_all_worlds!(
    what_is_made_in_a_frame_is_evaluated_when_it_is_read,
    what_a_run_has_made_lives_until_the_next,
    what_is_removed_in_a_frame_is_not_evaluated_any_more,
    what_an_owner_has_made_is_not_evaluated_once_the_owner_is_removed,
    a_handle_of_what_was_dropped_is_an_error,
    the_error_of_what_was_removed_names_it_and_says_why,
    a_place_is_used_again_for_others,
    a_stream_removes_itself,
    a_stream_removes_its_reader,
    a_stream_that_waits_is_removed,
    a_scope_is_dropped_by_its_owner,
    an_owner_that_makes_and_removes_does_not_grow,
    values_of_any_size_and_alignment,
    everything_is_dropped_with_the_world,
);

/// 5. In the frame in which it was made only if it is read there, and from then on in any case.
fn what_is_made_in_a_frame_is_evaluated_when_it_is_read(make: Make<'_>) {
    for is_read in [false, true] {
        let mut world = make();
        let runs = Counter::default();
        let counted = runs.clone();
        let maker = world.live(None, async move |out| {
            next_frame().await;
            let made = here().stream(async move || counted.add());
            if is_read {
                assert_eq!(made.await, 1);
                assert_eq!(made.await, 1);
            }
            out.set(Some(made));
            std::future::pending().await
        });
        world.frame();
        assert_eq!((runs.get(), world.get(maker).unwrap()), (0, None));
        for frame in 0..3 {
            world.frame();
            assert_eq!(runs.get(), frame + usize::from(is_read));
        }
    }
}

fn what_a_run_has_made_lives_until_the_next(make: Make<'_>) {
    let mut world = make();
    let (tokens, runs) = (Tokens::default(), Counter::default());
    let (made, counted) = (tokens.clone(), runs.clone());
    let sum = world.stream(async move || {
        let run = counted.add();
        let streams = (0..10).map(|n| {
            let token = made.make();
            here().stream(async move || {
                let _token = &token;
                run * 100 + n
            })
        });
        let streams = streams.collect::<Vec<Stream<usize>>>();
        let mut sum = 0;
        for stream in streams {
            sum += stream.await;
        }
        sum
    });
    for frame in 1..=count(100, 5) {
        world.frame();
        assert_eq!(world.get(sum).unwrap(), frame * 1_000 + 45);
        assert_eq!(tokens.alive(), 10);
    }
    world.remove(sum).unwrap();
    assert_eq!(tokens.alive(), 0);
}

/// 5. A removed stream after the remover in the order is not run; one before it has already run.
fn what_is_removed_in_a_frame_is_not_evaluated_any_more(make: Make<'_>) {
    let mut world = make();
    let (before, after) = (Counter::default(), Counter::default());
    let (counts_before, counts_after) = (before.clone(), after.clone());
    let early = world.stream(async move || counts_before.add());
    let late = Later::<usize>::new();
    let removes = late.clone();
    let remover = world.live(false, async move |out| {
        next_frame().await;
        here().remove(early).unwrap();
        here().remove(removes.stream()).unwrap();
        assert!(here().remove(early).is_err());
        let errors = (early.try_get().await.unwrap_err(), removes.stream().try_get().await.unwrap_err());
        out.set(matches!(
            (errors.0.failure(), errors.1.failure()),
            (Failure::Removed { .. }, Failure::Removed { .. })
        ));
    });
    late.is(world.stream(async move || counts_after.add()));
    for _ in 0..3 {
        world.frame();
    }
    assert_eq!((before.get(), after.get()), (2, 1));
    assert!(world.get(remover).unwrap());
}

/// 5, 6. Also in the rest of the poll that has removed the owner.
fn what_an_owner_has_made_is_not_evaluated_once_the_owner_is_removed(make: Make<'_>) {
    let mut world = make();
    let runs = Counter::default();
    let scope = world.scope();
    let inner = scope.scope();
    let counted = runs.clone();
    let stream = inner.stream(async move || counted.add());
    let mut scope = Some(scope);
    let remover = world.stream(async move || {
        if let Some(scope) = scope.take() {
            here().remove_scope(scope);
        }
        stream.try_get().await.is_err()
    });
    // The remover is run first, and reads a stream that would be run after it.
    let first = Later::new();
    let demands = first.clone();
    world.remove(world.stream(async move || demands.stream().await)).unwrap();
    first.is(remover);
    let before = runs.get();
    world.frame();
    assert!(world.get(remover).unwrap());
    assert!(world.get(stream).is_err());
    let in_first_frame = runs.get() - before;
    world.frame();
    assert_eq!(runs.get() - before, in_first_frame);
    assert!(in_first_frame <= 1);
    drop(inner);
}

/// 5. However often the place is used again.
fn a_handle_of_what_was_dropped_is_an_error(make: Make<'_>) {
    let mut world = make();
    let mut old = Vec::<Stream<usize>>::new();
    for n in 0..count(1_000, 30) {
        let stream = world.stream(async move || n);
        world.frame();
        assert_eq!(world.get(stream).unwrap(), n);
        for dropped in &old {
            let error = world.get(*dropped).unwrap_err();
            assert!(matches!(error.failure(), Failure::Removed { .. }), "{error}");
        }
        assert!(old.iter().all(|dropped| *dropped != stream));
        let last = old.last().copied();
        let reader = world.stream(async move || match last {
            Some(last) => last.try_get().await.is_err(),
            None => true,
        });
        world.frame();
        assert!(world.get(reader).unwrap());
        world.remove(reader).unwrap();
        world.remove(stream).unwrap();
        assert!(world.remove(stream).is_err());
        old.push(stream);
        if old.len() > 20 {
            old.remove(0);
        }
    }
}

/// 5. It says that the body that made it has run again as long as its place is not used again.
fn the_error_of_what_was_removed_names_it_and_says_why(make: Make<'_>) {
    let mut world = make();
    let mut made = None;
    let mut begin = true;
    let keeps = world.stream(async move || {
        if std::mem::take(&mut begin) {
            let of_it = here().stream(async || here().named("of the kept").stream(async || 1));
            made = Some((here().named("kept").stream(async || 1), of_it, of_it.await));
        }
        let (kept, of_it, of_that) = made.unwrap();
        let tries = (kept.try_get().await, of_that.try_get().await);
        (tries.0.err(), tries.1.err(), of_it.try_get().await.err())
    });
    let by_hand = world.named("by hand").stream(async || 1);
    let reader = world.stream(async move || by_hand.try_get().await);
    world.frame();
    assert_eq!(world.get(keeps).unwrap(), (None, None, None));
    world.remove(by_hand).unwrap();
    for _ in 0..3 {
        world.frame();
        let (kept, of_that, of_it) = world.get(keeps).unwrap();
        let why = "the body that made it has run again";
        let kept = kept.unwrap().to_string();
        assert!(kept.contains("stream 'kept' made at") && kept.contains(why), "{kept}");
        assert!(kept.contains("lifetimes.rs:"), "{kept}");
        assert!(of_it.unwrap().to_string().contains(why));
        // That one was not made by the body that has run again.
        let of_that = of_that.unwrap().to_string();
        assert!(of_that.contains("'of the kept'") && !of_that.contains(why), "{of_that}");
        let errors = [world.get(by_hand).unwrap_err(), world.get(reader).unwrap().unwrap_err()];
        for error in errors {
            let text = error.to_string();
            assert!(text.starts_with("stream 'by hand' made at") && text.ends_with("was removed"), "{text}");
        }
    }
}

fn a_place_is_used_again_for_others(make: Make<'_>) {
    let mut world = make();
    let rounds = count(50, 4);
    let mut places = std::collections::HashSet::new();
    for round in 0..rounds {
        let streams = (0..100).map(|n| world.stream(async move || (round, n))).collect::<Vec<_>>();
        world.frame();
        for (n, stream) in streams.iter().enumerate() {
            assert_eq!(world.get(*stream).unwrap(), (round, n));
            // The handle says where the stream lies, when it is formatted.
            places.insert(format!("{stream:?}"));
        }
        streams.into_iter().for_each(|stream| world.remove(stream).unwrap());
    }
    assert!(places.len() <= 100, "{} places for 100 streams at a time", places.len());
}

/// 5. The body is dropped where it waits next.
fn a_stream_removes_itself(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    for waits in 0..4 {
        let mut world = make();
        let (tokens, runs) = (Tokens::default(), Counter::default());
        let itself = Later::<u32>::new();
        let (token, counted, me) = (tokens.make(), runs.clone(), itself.clone());
        let stream = world.stream(async move || {
            let _token = &token;
            here().remove(me.stream()).unwrap();
            match waits {
                0 => {}
                1 => _ = work.call(1).await,
                2 => next_frame().await,
                _ => panic!("after it has removed itself"),
            }
            counted.add();
            1
        });
        itself.is(stream);
        let reader = world.stream(async move || stream.try_get().await.is_err());
        for _ in 0..3 {
            world.frame();
            assert!(world.get(stream).is_err());
            assert!(world.get(reader).unwrap());
        }
        assert_eq!((tokens.alive(), runs.get()), (0, usize::from(waits == 0)));
    }
}

fn a_stream_removes_its_reader(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(1);
    let mut world = make();
    let (tokens, later) = (Tokens::default(), Later::<u32>::new());
    let (token, read) = (tokens.make(), later.clone());
    let reader = world.stream(async move || {
        let _token = &token;
        read.stream().await
    });
    let mut frames = 0;
    let source = world.stream(async move || {
        frames += 1;
        let n = work.call(frames).await;
        if frames == 2 {
            here().remove(reader).unwrap();
        }
        // The reader waits for it all the same.
        work.call(n).await
    });
    later.is(source);
    world.frame();
    assert_eq!(world.get(reader).unwrap(), 1);
    for frame in 2..5 {
        world.frame();
        assert!(world.get(reader).is_err());
        assert_eq!((world.get(source).unwrap(), tokens.alive()), (frame, 0));
    }
}

/// 6. It waits for a call, or for a stream that waits for a call, and its place is taken meanwhile.
fn a_stream_that_waits_is_removed(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| vec![n; 10]).batch(1);
    let mut world = make();
    let tokens = Tokens::default();
    for round in 0..count(50, 5) {
        let victims = (0..10).map(|n| {
            let token = tokens.make();
            world.stream(async move || {
                let _token = &token;
                work.call(n).await.len()
            })
        });
        let victims = victims.collect::<Vec<_>>();
        let (first, readers) = (victims[0], 0..5);
        let readers = readers.map(|_| world.stream(async move || first.try_get().await.is_err()));
        let readers = readers.collect::<Vec<_>>();
        let removes = victims.clone();
        let killer = world.stream(async move || {
            for victim in &removes {
                here().remove(*victim).unwrap();
            }
            // The places are used again while the calls of the others are on their way.
            let new = (0..10).map(|n| here().stream(async move || work.call(n).await[0]));
            let mut sum = 0;
            for stream in new.collect::<Vec<_>>() {
                sum += stream.await;
            }
            sum
        });
        world.frame();
        assert_eq!((world.get(killer).unwrap(), tokens.alive()), (45, 0), "round {round}");
        assert!(readers.iter().all(|reader| world.get(*reader).unwrap()));
        assert!(victims.iter().all(|victim| world.get(*victim).is_err()));
        readers.into_iter().for_each(|reader| world.remove(reader).unwrap());
        world.remove(killer).unwrap();
    }
}

/// 5, 6.
fn a_scope_is_dropped_by_its_owner(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let kept = Rc::new(RefCell::new(None::<Scope>));
    let (keeps, made) = (kept.clone(), tokens.clone());
    let owner = world.live((), async move |_| {
        let scope = here().scope();
        let token = made.make();
        scope.stream(async move || {
            let _token = &token;
        });
        *keeps.borrow_mut() = Some(scope);
        std::future::pending().await
    });
    world.frame();
    let scope = kept.take().unwrap();
    let token = tokens.make();
    let stream = scope.stream(async move || {
        let _token = &token;
        5
    });
    world.frame();
    assert_eq!((world.get(stream).unwrap(), tokens.alive()), (5, 2));
    world.remove(owner).unwrap();
    assert!(world.get(stream).is_err());
    assert_eq!(tokens.alive(), 0);
    // A stream that is made in a scope that is gone is gone, too.
    let late = scope.stream(async || 6);
    world.frame();
    assert!(world.get(late).is_err());
    world.remove_scope(scope);
}

/// 17. Bodies that make streams and remove them by hand leave nothing behind.
fn an_owner_that_makes_and_removes_does_not_grow(make: Make<'_>) {
    let mut world = make();
    let tokens = Tokens::default();
    let made = tokens.clone();
    let owner = world.live(0, async move |out| {
        for round in 0.. {
            let token = made.make();
            let child = here().stream(async move || {
                let _token = &token;
                round
            });
            out.set(child.await);
            here().remove(child).unwrap();
            next_frame().await;
        }
    });
    for frame in 0..count(10_000, 20) {
        world.frame();
        assert_eq!((world.get(owner).unwrap(), tokens.alive()), (frame, 0));
    }
}

fn values_of_any_size_and_alignment(make: Make<'_>) {
    #[derive(Clone, Copy)]
    #[repr(align(4096))]
    struct Aligned([u8; 100]);
    fn is_aligned(value: &Aligned) -> bool {
        (&raw const *value).addr().is_multiple_of(4096) && value.0.iter().all(|byte| *byte == value.0[0])
    }
    let mut world = make();
    for n in 0..count(40, 3) as u8 {
        let aligned = world.stream(async move || Aligned([n; 100]));
        let reader = world.stream(async move || {
            // Larger than the memory in which streams usually lie.
            let large = [n; 100_000];
            let all = aligned.with(is_aligned).await;
            all && large.iter().all(|byte| *byte == n)
        });
        let nothing = world.stream(async || ());
        let pair = world.zip(aligned, nothing);
        world.frame();
        assert!(world.get(reader).unwrap());
        assert!(world.with(aligned, is_aligned).unwrap());
        assert!(world.with(pair, |(aligned, ())| is_aligned(aligned)).unwrap());
    }
}

/// 6. Also streams that wait, have failed or were never run, and values that only a destructor
///    holds.
fn everything_is_dropped_with_the_world(make: Make<'_>) {
    let work = Foreign::new("work", |n: u32| n).batch(2);
    let tokens = Tokens::default();
    let dropped = Counter::default();
    let mut world = make();
    for n in 0..60_u32 {
        let (token, made, counted) = (tokens.make(), tokens.clone(), dropped.clone());
        let guard = OnDrop(move || _ = counted.add());
        world.stream(async move || {
            let (_token, _guard) = (&token, &guard);
            match n % 6 {
                0 => _ = work.call(n).await,
                1 => next_frame().await,
                2 => std::future::pending().await,
                3 => panic!("as it was told"),
                4 => _ = work.call_over_frames(n).await,
                _ => {}
            }
            made.make()
        });
        if n == 30 {
            world.frame();
            world.frame();
        }
    }
    assert!(tokens.alive() > 0);
    drop(world);
    assert_eq!((tokens.alive(), dropped.get()), (0, 60));
}
