//! Choices: exactly one of the alternatives happens, in every shape, and nothing of the others.

use crate::support::{Cx, Semaphore, scaled, worlds};
use lisle::event::BoxEvent;
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    a_choice_does_not_talk_to_itself,
    an_empty_choice_is_never_ready,
    the_third_of_three_in_any_shape,
    a_waiting_choice_of_any_shape_is_granted_once,
    the_shorter_of_two_timers_wins,
    the_same_semaphore_twice_is_taken_once,
    wraps_run_inside_out,
    twelve_alternatives_of_different_types,
    a_million_syncs_do_not_grow_the_stack,
    a_wrap_may_block,
);

/// Case 4.
async fn a_choice_does_not_talk_to_itself(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receive = || rx.recv_evt().wrap(|_| 'r');
    let send = || tx.send_evt(1).wrap(|_| 's');
    let make = || tx.send_with_evt(|| 2).wrap(|_| 's');
    let time = || after(Duration::from_millis(1)).wrap(|()| 't');
    assert_eq!(choose((receive(), send())).poll(), None);
    assert_eq!(choose((make(), receive())).poll(), None);
    for _ in 0..10 {
        assert_eq!(cx.sync(choose((receive(), send(), time()))).await, 't');
        assert_eq!(cx.sync(choose((send(), make(), receive(), time()))).await, 't');
        assert_eq!(cx.sync(choose((choose((receive(), send())), choose((send(), time()))))).await, 't');
        let vector = vec![send().boxed(), receive().boxed(), make().boxed(), time().boxed()];
        assert_eq!(cx.sync(choose(vector)).await, 't');
    }
}

/// Case 6.
async fn an_empty_choice_is_never_ready(cx: Cx) {
    fn empty() -> lisle::event::Choose<Vec<BoxEvent<'static, u32>>> {
        choose(Vec::new())
    }
    assert_eq!(empty().poll(), None);
    assert_eq!(choose([empty(), empty()]).poll(), None);
    assert_eq!(choose(vec![choose(vec![empty(), empty()]), choose(vec![])]).poll(), None);
    assert_eq!(choose((empty(), never())).poll(), None);
    let time = after(Duration::from_millis(1)).wrap(|()| 1);
    assert_eq!(cx.sync(choose((choose(vec![empty()]), time, choose([empty(), empty()])))).await, 1);
    assert_eq!(cx.sync(choose((empty(), always(2)))).await, 2);
}

/// Returns every shape in which three events can be nested into a choice, and a few deeper ones.
fn shapes<'a>(three: &'a [Semaphore; 3]) -> Vec<BoxEvent<'a, usize>> {
    let take = |index: usize| three[index].take_evt().wrap(move |()| index).boxed();
    let (a, b, c) = (|| take(0), || take(1), || take(2));
    let nothing = || choose(Vec::<BoxEvent<'a, usize>>::new()).boxed();
    vec![
        choose((a(), b(), c())).boxed(),
        choose([a(), b(), c()]).boxed(),
        choose(vec![a(), b(), c()]).boxed(),
        choose((choose((a(), b())), c())).boxed(),
        choose((a(), choose((b(), c())))).boxed(),
        choose((choose([a(), c()]), b())).boxed(),
        choose(vec![choose(vec![a()]).boxed(), choose([b(), c()]).boxed()]).boxed(),
        choose([choose([choose([a(), b(), c()])])]).boxed(),
        choose((nothing(), choose((a(), nothing(), choose((b(), choose((nothing(), c())))))))).boxed(),
        choose((choose((a(), b(), c())), choose((c(), b(), a())))).boxed(),
    ]
}

/// Case 7, and case 10 without its guard: the semaphore has been posted before the sync.
async fn the_third_of_three_in_any_shape(cx: Cx) {
    let three = [0; 3].map(Semaphore::new);
    for event in shapes(&three) {
        for (index, semaphore) in three.iter().enumerate() {
            assert_eq!(event.poll(), None);
            semaphore.post();
            assert_eq!(cx.sync(&event).await, index);
            assert_eq!(event.poll(), None);
        }
    }
}

/// Case 7: the post comes while several performers wait, in all shapes.
async fn a_waiting_choice_of_any_shape_is_granted_once(cx: Cx) {
    let three = std::sync::Arc::new([0; 3].map(Semaphore::new));
    let count = shapes(&three).len();
    let (won, winners) = lisle::channel::bounded::<usize>(count);
    let performers: Vec<_> = (0..count)
        .map(|shape| {
            let (three, won) = (three.clone(), won.clone());
            cx.spawn(move |cx| async move {
                let event = shapes(&three).swap_remove(shape);
                let index = cx.sync(event).await;
                cx.sync(won.send_evt(index)).await.unwrap();
            })
        })
        .collect();
    for round in 0..count {
        three[round % 3].post();
        assert_eq!(cx.sync(winners.recv_evt()).await, Ok(round % 3));
        assert!(winners.is_empty(), "one post, two winners");
    }
    cx.join_all(performers).await;
    assert!(shapes(&three).iter().all(|event| event.poll().is_none()));
}

/// Case 9.
async fn the_shorter_of_two_timers_wins(cx: Cx) {
    let short = after(Duration::from_millis(2)).wrap(|()| 's');
    let long = after(Duration::from_secs(3_600)).wrap(|()| 'l');
    assert_eq!(cx.sync(choose((short, long))).await, 's');
    assert_eq!(cx.sync(choose((long, short))).await, 's');
    assert_eq!(cx.sync(choose(vec![long.boxed(), choose((short, long)).boxed()])).await, 's');
}

/// Case 11.
async fn the_same_semaphore_twice_is_taken_once(cx: Cx) {
    let semaphore = Semaphore::new(0);
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |of: &AtomicUsize| of.fetch_add(1, Ordering::Relaxed);
    let twice = choose((
        semaphore.take_evt().wrap(|()| count(&first)),
        semaphore.take_evt().wrap(|()| count(&second)),
    ));
    let ran = || first.load(Ordering::Relaxed) + second.load(Ordering::Relaxed);
    for round in 0..100 {
        assert_eq!(twice.poll(), None);
        semaphore.post();
        cx.sync(&twice).await;
        assert_eq!(ran(), round + 1);
    }
    assert_eq!(semaphore.take_evt().poll(), None);
}

/// Case 12.
async fn wraps_run_inside_out(cx: Cx) {
    let order = std::sync::Mutex::new(Vec::new());
    let note = |what: &'static str| order.lock().unwrap().push(what);
    let event = choose((
        never::<u32>().wrap(|n| n),
        always(1).wrap(|n| (note("inner"), n + 1).1).wrap(|n| (note("middle"), n * 10).1),
    ))
    .wrap(|n| (note("outer"), n + 3).1);
    assert_eq!(cx.sync(&event).await, 23);
    assert_eq!(std::mem::take(&mut *order.lock().unwrap()), ["inner", "middle", "outer"]);

    let (left, right) = (Semaphore::new(0), Semaphore::new(0));
    let either = choose((left.take_evt().wrap(|()| 4), right.take_evt().wrap(|()| 5))).wrap(|n| n * 10);
    for (semaphore, value) in [(&left, 40), (&right, 50), (&right, 50), (&left, 40)] {
        semaphore.post();
        assert_eq!(cx.sync(&either).await, value);
    }
}

/// The largest tuple; each place is ready once.
async fn twelve_alternatives_of_different_types(cx: Cx) {
    let (tx, rx) = channel::<usize>();
    for turn in 0..12 {
        let ready = |place: usize| if place == turn { vec![always(place)] } else { vec![] };
        let event = choose((
            choose(ready(0)),
            choose((rx.recv_evt().wrap(|_| 99), choose(ready(1)))),
            tx.send_evt(0).wrap(|_| 99).boxed().wrap(|n| n).boxed(),
            never(),
            choose(Box::new([choose(ready(4))]) as Box<[_]>),
            choose(ready(5)).wrap(|n| n),
            choose([choose(ready(6))]),
            after(Duration::from_secs(3_600)).wrap(|()| 99),
            choose(ready(8)).boxed(),
            choose((never(), choose(ready(9)))),
            choose(ready(10).into_boxed_slice()),
            choose((choose(ready(2)), choose(ready(3)), choose(ready(7)), choose(ready(11)))),
        ));
        assert_eq!(cx.sync(event).await, turn);
    }
}

/// Case 13.
async fn a_million_syncs_do_not_grow_the_stack(cx: Cx) {
    let depth = || {
        let here = 0_u8;
        black_box(&raw const here) as usize
    };
    let (tx, rx) = lisle::channel::bounded::<usize>(1);
    let event = choose((rx.recv_evt().wrap(|_| depth()).wrap(|place| place), never()));
    let mut places = (usize::MAX, 0);
    for i in 0..scaled(1_000_000, 100_000) {
        tx.try_send(i).unwrap();
        let place = cx.sync(&event).await;
        places = (places.0.min(place), places.1.max(place));
    }
    if !cx.is_future() {
        assert!(places.1 - places.0 < 4096, "the stack has grown by {} bytes", places.1 - places.0);
    }
}

/// The function of a wrap runs after the commit, in the performer, and may wait there.
async fn a_wrap_may_block(cx: Cx) {
    let (first, firsts) = channel::<u32>();
    let (second, seconds) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move {
        let both =
            choose((firsts.recv_evt(), never())).wrap(|first| first.unwrap() + seconds.recv().unwrap());
        cx.sync(both).await
    });
    cx.sync(first.send_evt(40)).await.unwrap();
    cx.sync(second.send_evt(2)).await.unwrap();
    assert_eq!(cx.join(receiver).await, 42);
}
