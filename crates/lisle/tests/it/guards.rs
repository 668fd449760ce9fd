//! Guards: run for each performance, all of them, from left to right, before anything is tried.

use crate::support::{Cx, Random, Semaphore, scaled, worlds};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{BoxEvent, Source, guard, with_nack};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

worlds!(
    a_ready_event_in_a_guard_in_a_choice_of_ten,
    a_guard_may_give_a_choice_of_choices,
    guards_run_from_left_to_right_before_anything_is_tried,
    guards_of_every_shape_run_in_order,
    a_guard_runs_once_for_each_performance,
    a_guard_runs_once_however_often_its_performance_starts_over,
    a_panicking_guard_has_done_nothing,
    a_guard_may_wait,
    a_guard_in_a_guard,
    a_swap_channel_of_guard_and_choice,
);

/// A log of events in their order.
#[derive(Default)]
struct Log(Mutex<Vec<usize>>);

impl Log {
    fn note(&self, what: usize) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns an event that is never ready, behind a guard that logs `what`.
fn noted(log: &Log, what: usize) -> impl Event<Output = usize> + Send + Sync + '_ {
    guard(move || {
        log.note(what);
        never()
    })
}

/// Case 8: ready at once, and ready later.
async fn a_ready_event_in_a_guard_in_a_choice_of_ten(cx: Cx) {
    let semaphore = Arc::new(Semaphore::new(0));
    for place in 0..10 {
        let ten = |ready: &dyn Fn() -> BoxEvent<'static, usize>| {
            choose((0..10).map(|i| if i == place { ready() } else { never().boxed() }).collect::<Vec<_>>())
        };
        let event = ten(&|| guard(move || always(place).wrap(|place| place * 7)).boxed());
        assert_eq!(event.poll(), Some(place * 7));
        assert_eq!(cx.sync(&event).await, place * 7);

        let taking = semaphore.clone();
        let poster = cx.spawn(|_| async move { taking.post() });
        let waiting = choose(
            (0..10)
                .map(|i| (i == place).then(|| guard(|| semaphore.take_evt().wrap(move |()| place * 3))))
                .collect::<Vec<_>>(),
        );
        assert_eq!(cx.sync(&waiting).await, place * 3);
        cx.join(poster).await;
    }
}

/// Case 10.
async fn a_guard_may_give_a_choice_of_choices(cx: Cx) {
    let leaves: Arc<Vec<Semaphore>> = Arc::new((0..9).map(|_| Semaphore::new(0)).collect());
    let made = guard(|| {
        let take = |leaf: usize| leaves[leaf].take_evt().wrap(move |()| leaf);
        choose((
            choose([0, 1, 2].map(take)),
            choose((3..6).map(take).collect::<Vec<_>>()),
            choose((take(6), choose((take(7), take(8))))),
        ))
    });
    let mut random = Random::new(10);
    for _ in 0..scaled(500, 60) {
        let leaf = random.below(9);
        assert_eq!(made.poll(), None);
        let poster = (random.below(2) == 0).then(|| {
            let leaves = leaves.clone();
            cx.spawn(move |_| async move { leaves[leaf].post() })
        });
        if poster.is_none() {
            leaves[leaf].post();
        }
        assert_eq!(cx.sync(&made).await, leaf);
        assert_eq!(made.poll(), None);
        if let Some(poster) = poster {
            cx.join(poster).await;
        }
    }
}

/// This includes the guards of alternatives that lose, and those to the right of one that is ready.
async fn guards_run_from_left_to_right_before_anything_is_tried(cx: Cx) {
    let log = Log::default();
    let state = Source::<(), ()>::new(());
    let tried = || {
        state.event(|()| {
            log.note(99);
            Some(())
        })
    };
    let event = choose((
        tried().wrap(|()| 0),
        noted(&log, 1),
        choose((noted(&log, 2), always(7), noted(&log, 3))),
        noted(&log, 4),
    ));
    for round in 0..20 {
        let value = if round % 2 == 0 { cx.sync(&event).await } else { event.poll().unwrap() };
        let mut seen = log.take();
        if value == 0 {
            assert_eq!(seen.pop(), Some(99), "the winner was tried last");
        }
        seen.retain(|&what| what != 99);
        assert_eq!(seen, [1, 2, 3, 4]);
    }
    // Only the guards are in order: the alternatives are tried after the last guard, in any order.
    let alone = choose((tried().wrap(|()| 0), noted(&log, 1), noted(&log, 2)));
    for _ in 0..20 {
        cx.sync(&alone).await;
        assert_eq!(log.take(), [1, 2, 99]);
    }
}

/// In tuples, arrays, vectors, slices; behind references, boxes, wraps, options; in guards.
async fn guards_of_every_shape_run_in_order(cx: Cx) {
    let log = Log::default();
    let (first, second) = (noted(&log, 0), noted(&log, 9));
    let listed: Box<[_]> = (3..5).map(|what| noted(&log, what)).collect();
    let event = choose((
        &first,
        choose([1, 2].map(|what| noted(&log, what))),
        choose(&*listed),
        choose(vec![
            noted(&log, 5).boxed(),
            choose((noted(&log, 6).wrap(|n| n), noted(&log, 7).wrap_panic(|_| 0))).boxed(),
            Some(noted(&log, 8)).boxed().boxed(),
            (&second).boxed(),
        ]),
        Some(noted(&log, 10)),
        (log.0.lock().unwrap().len() > 1_000).then(|| noted(&log, 77)),
        guard(|| {
            log.note(11);
            choose((noted(&log, 12), noted(&log, 13)))
        }),
        noted(&log, 14).replace(always),
        with_nack(|_| {
            log.note(15);
            noted(&log, 16)
        }),
        always(1),
    ));
    for _ in 0..5 {
        assert_eq!(cx.sync(&event).await, 1);
        assert_eq!(log.take(), (0..=16).collect::<Vec<_>>());
        assert_eq!(event.poll(), Some(1));
        assert_eq!(log.take(), (0..=16).collect::<Vec<_>>());
    }
}

async fn a_guard_runs_once_for_each_performance(cx: Cx) {
    let runs = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = channel::<usize>();
    let sender = cx.spawn(|cx| async move {
        for i in 0..50 {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    let event = choose((
        guard(|| {
            runs.fetch_add(1, Ordering::SeqCst);
            rx.recv_evt()
        }),
        never(),
    ));
    assert_eq!(runs.load(Ordering::SeqCst), 0, "making an event performs nothing");
    for i in 0..50 {
        assert_eq!(cx.sync(&event).await, Ok(i));
        assert_eq!(runs.load(Ordering::SeqCst), i + 1);
    }
    cx.join(sender).await;
    // A poll that fails is a performance, too.
    let unready = guard(|| (runs.fetch_add(1, Ordering::SeqCst), never::<()>()).1);
    assert_eq!(unready.poll(), None);
    assert_eq!(runs.load(Ordering::SeqCst), 51);
}

/// Senders that break their promise make the receiver start over. That is still one performance.
async fn a_guard_runs_once_however_often_its_performance_starts_over(cx: Cx) {
    let broken = 3;
    let runs = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = channel::<u32>();
    let receiver = {
        let runs = runs.clone();
        cx.spawn(move |cx| async move {
            let received = guard(|| {
                runs.fetch_add(1, Ordering::SeqCst);
                rx.recv_evt()
            });
            cx.sync(choose((received, never()))).await
        })
    };
    for _ in 0..broken {
        let tx = tx.clone();
        // Only a receiver that waits is promised a message.
        let failing = cx.spawn(move |cx| async move {
            let make = || -> u32 { resume_unwind(Box::new("no message")) };
            cx.sync(tx.send_with_evt(make)).await
        });
        assert!(cx.join_caught(failing).await.is_err());
    }
    cx.sync(tx.send_evt(8)).await.unwrap();
    assert_eq!(cx.join(receiver).await, Ok(8));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Nothing is taken, the guards to its right do not run, and the next performance is not disturbed.
async fn a_panicking_guard_has_done_nothing(cx: Cx) {
    let (tx, rx) = bounded::<u32>(1);
    let log = Arc::new(Log::default());
    tx.try_send(3).unwrap();
    let performer = {
        let (rx, log) = (rx.clone(), log.clone());
        cx.spawn(move |cx| async move {
            let broken = guard(|| -> lisle::event::Always<usize> {
                log.note(2);
                resume_unwind(Box::new("no event"))
            });
            let event = choose((
                rx.recv_evt().wrap(|_| 0),
                noted(&log, 1),
                choose(vec![broken.boxed(), noted(&log, 3).boxed()]),
                noted(&log, 4),
            ));
            cx.sync(event).await
        })
    };
    let panic = cx.join_caught(performer).await.unwrap_err();
    assert_eq!(*panic.downcast::<&str>().unwrap(), "no event");
    assert_eq!(log.take(), [1, 2]);
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(3));
}

/// While a guard waits, its performance is not visible: it could be neither committed nor woken.
async fn a_guard_may_wait(cx: Cx) {
    let (go, gone) = channel::<u32>();
    let (tx, rx) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move {
        cx.go_apart().await;
        let slow = guard(|| {
            let first = gone.recv().unwrap();
            let second = gone.recv().unwrap();
            always(first + second)
        });
        cx.sync(choose((rx.recv_evt().wrap(|_| 0), slow))).await
    });
    // Directly, since the guard of a future has only its executor's thread to wait on.
    assert!(tx.try_send(1).is_err());
    go.send(40).unwrap();
    assert!(tx.try_send(1).is_err(), "nothing is published before all guards have run");
    go.send(2).unwrap();
    assert_eq!(cx.join(receiver).await, 42);
}

async fn a_guard_in_a_guard(cx: Cx) {
    fn nested(log: &Log, depth: usize) -> BoxEvent<'_, usize> {
        guard(move || {
            log.note(depth);
            match depth {
                0 => always(5).boxed(),
                _ => nested(log, depth - 1),
            }
        })
        .boxed()
    }
    let log = Log::default();
    let event = choose((noted(&log, 1_000), nested(&log, 20), noted(&log, 2_000)));
    assert_eq!(cx.sync(&event).await, 5);
    let seen = log.take();
    assert_eq!((seen[0], seen[22]), (1_000, 2_000));
    assert_eq!(seen[1..22], (0..=20).rev().collect::<Vec<_>>());
    assert_eq!(event.poll(), Some(5));
}

/// A value, and the sender for the other performer's value.
type Offer = (u32, Sender<u32>);

/// Returns the event of swapping `value` with another performer of this event. Each performance
/// creates its own reply channel, so many performers may perform the same event.
fn swap_evt(
    ends: &(Sender<Offer>, Receiver<Offer>),
    value: u32,
) -> impl Event<Output = Result<u32, Receiver<u32>>> + Send + Sync + use<'_> {
    let (tx, rx) = ends;
    guard(move || {
        let (reply, replies) = bounded::<u32>(1);
        choose((
            rx.recv_evt().wrap(move |offer| {
                let (theirs, reply) = offer.expect("the channel stays open");
                reply.try_send(value).expect("there is room for one");
                Ok(theirs)
            }),
            tx.send_evt((value, reply)).wrap(move |sent| {
                sent.expect("the channel stays open");
                Err(replies.clone())
            }),
        ))
    })
}

/// Case 24.
async fn a_swap_channel_of_guard_and_choice(cx: Cx) {
    for _ in 0..scaled(100, 10) {
        let ends = channel::<Offer>();
        let performers: Vec<_> = (0..10)
            .map(|value| {
                let ends = ends.clone();
                cx.spawn(move |cx| async move {
                    let hour = after(Duration::from_secs(3_600)).wrap(|()| panic!("nobody came"));
                    match cx.sync(choose((swap_evt(&ends, value), hour))).await {
                        Ok(theirs) => theirs,
                        Err(replies) => cx.sync(replies.recv_evt()).await.unwrap(),
                    }
                })
            })
            .collect();
        let got = cx.join_all(performers).await;
        for (value, theirs) in got.iter().enumerate() {
            assert_ne!(*theirs as usize, value);
            assert_eq!(got[*theirs as usize] as usize, value, "{got:?}");
        }
    }
}
