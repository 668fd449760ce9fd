//! Second stages, handlers of panics, priorities, and alternatives that are switched off.

use crate::support::{Cx, Semaphore, scaled, watched, worlds};
use lisle::channel::bounded;
use lisle::event::{BoxEvent, Nack, choose_biased, guard, with_nack};
use lisle::time::after;
use lisle::{Event, Runtime, always, channel, choose, never};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

worlds!(
    the_second_stage_gives_the_value,
    others_go_on_competing_with_the_second_stage,
    a_first_stage_that_is_overtaken_has_happened_once,
    nothing_is_published_between_the_stages,
    the_first_of_two_second_stages_wins,
    a_hundred_stages,
    guards_and_nacks_of_both_stages,
    a_second_stage_that_starts_over_does_not_redo_the_first,
    a_maker_of_the_second_stage_that_panics,
    a_panic_is_handled_by_the_innermost_handler,
    a_handler_is_asked_after_the_event_has_happened,
    the_first_of_those_that_are_ready_has_priority,
    a_biased_choice_that_waits_has_no_order,
    an_absent_event_is_never_ready,
    alternatives_are_switched_on_and_off,
);

fn quiet<T>(message: &'static str) -> T {
    resume_unwind(Box::new(message))
}

async fn the_second_stage_gives_the_value(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (reply, replies) = bounded::<u32>(1);
    let sender = cx.spawn(move |cx| async move {
        for i in 0..20 {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    // Receives a number and then sends it on.
    let pass = rx.recv_evt().replace(|n| reply.send_evt(n.unwrap() + 100)).wrap(|sent| sent.is_ok());
    for i in 0..20 {
        let passed = match i % 4 {
            0 => cx.sync(&pass).await,
            1 => cx.sync(choose((never(), &pass))).await,
            2 => cx.sync((&pass).boxed()).await,
            _ => cx.sync(choose(vec![(&pass).boxed(), never().boxed()])).await,
        };
        assert!(passed);
        assert_eq!(replies.try_recv(), Ok(i + 100));
    }
    cx.join(sender).await;
    assert_eq!(always(1).replace(always).poll(), Some(1));
    assert_eq!(always(1).replace(|_| never::<u32>()).poll(), None);
}

async fn others_go_on_competing_with_the_second_stage(cx: Cx) {
    let (first, firsts) = channel::<u32>();
    let (second, seconds) = channel::<u32>();
    let (other, others) = channel::<u32>();
    let performer = cx.spawn(move |cx| async move {
        let staged = firsts.recv_evt().replace(|n| seconds.recv_evt().wrap(move |m| (n, m)));
        let event = choose((
            staged.wrap(|both| (both.0.unwrap(), both.1.unwrap())),
            others.recv_evt().wrap(|n| (0, n.unwrap())),
        ));
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(cx.sync(&event).await);
        }
        seen
    });
    // The first stage alone decides nothing.
    cx.sync(first.send_evt(1)).await.unwrap();
    cx.sync(other.send_evt(2)).await.unwrap();
    // That was one performance. The next begins with its first stage again.
    cx.sync(other.send_evt(3)).await.unwrap();
    cx.sync(first.send_evt(4)).await.unwrap();
    assert!(first.send_evt(9).poll().is_none(), "it waits for its second stage");
    cx.sync(second.send_evt(5)).await.unwrap();
    assert_eq!(cx.join(performer).await, [(0, 2), (0, 3), (4, 5)]);
}

/// The value of the first stage is dropped once, and the message that it took is gone.
async fn a_first_stage_that_is_overtaken_has_happened_once(cx: Cx) {
    let token = Arc::new(());
    let (tx, rx) = bounded::<Arc<()>>(4);
    let timeout = || after(Duration::from_millis(1)).wrap(|()| false);
    for round in 0..8 {
        tx.try_send(token.clone()).unwrap();
        let staged = rx.recv_evt().replace(|token| match round % 3 {
            // Kept in the event of the second stage, by its function, or not at all.
            0 => always(token).replace(|_| never()).boxed(),
            1 => never::<()>().wrap(move |()| token.is_ok()).boxed(),
            _ => never().boxed(),
        });
        assert!(!cx.sync(choose((timeout(), staged))).await);
        assert!(rx.is_empty(), "the first stage has happened");
        assert_eq!(Arc::strong_count(&token), 1);
    }
    tx.try_send(token.clone()).unwrap();
    assert!(rx.recv_evt().replace(|_| never::<()>()).poll().is_none());
    assert!(rx.is_empty(), "of a failed poll the first stage has happened as well");
    assert_eq!(Arc::strong_count(&token), 1);
    // In time for neither: nothing has happened.
    let staged = rx.recv_evt().replace(|_| always(true));
    assert!(!cx.sync(choose((staged, timeout()))).await);
    tx.try_send(token.clone()).unwrap();
    assert!(rx.try_recv().is_ok());
}

/// While the second stage is made, no partner can commit another alternative, and the function that
/// makes the second stage may wait.
async fn nothing_is_published_between_the_stages(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (go, gone) = channel::<u32>();
    let performer = cx.spawn(move |cx| async move {
        let staged = gone.recv_evt().replace(|first| {
            let second = gone.recv().unwrap();
            always(first.unwrap() + second)
        });
        cx.sync(choose((rx.recv_evt().wrap(|_| 0), staged, rx.recv_evt().wrap(|_| 0)))).await
    });
    cx.sync(go.send_evt(40)).await.unwrap();
    for _ in 0..10 {
        cx.yield_now().await;
        assert!(tx.try_send(1).is_err());
    }
    cx.sync(go.send_evt(2)).await.unwrap();
    assert_eq!(cx.join(performer).await, 42);
}

async fn the_first_of_two_second_stages_wins(cx: Cx) {
    let shared = Arc::new(([0; 4].map(Semaphore::new), AtomicUsize::new(0)));
    let performer = {
        let shared = shared.clone();
        cx.spawn(move |cx| async move {
            let (semaphores, made) = &*shared;
            let stages = |first: usize, second: usize| {
                let make = move |()| {
                    made.fetch_add(1, Ordering::SeqCst);
                    semaphores[second].take_evt()
                };
                semaphores[first].take_evt().replace(make).wrap(move |()| first)
            };
            cx.sync(choose((stages(0, 2), stages(1, 3)))).await
        })
    };
    let (semaphores, made) = &*shared;
    // Both first stages happen, in either order.
    for (before, first) in [1, 0].into_iter().enumerate() {
        semaphores[first].post();
        cx.until(|| made.load(Ordering::SeqCst) > before).await;
    }
    semaphores[3].post();
    assert_eq!(cx.join(performer).await, 1);
    semaphores[2].post();
    assert!(semaphores[2].take_evt().poll().is_some(), "the loser has not taken it");
    assert!(semaphores[3].take_evt().poll().is_none());
}

async fn a_hundred_stages(cx: Cx) {
    fn count_down(left: u32, sum: u32) -> BoxEvent<'static, u32> {
        match left {
            0 => always(sum).boxed(),
            _ => always(left).replace(move |n| count_down(left - 1, sum + n)).boxed(),
        }
    }
    assert_eq!(cx.sync(count_down(100, 0)).await, 5_050);
    assert_eq!(cx.sync(choose((never(), count_down(100, 0)))).await, 5_050);
    assert_eq!(count_down(100, 0).poll(), Some(5_050));
    // Stages in the first stage.
    let inner = always(1).replace(|n| always(n + 1)).replace(|n| always(n * 10).replace(|n| always(n + 2)));
    assert_eq!(cx.sync(inner.replace(|n| always(n * 2))).await, 44);
}

/// The nacks of the first stage are decided when it has happened. The guards of the second stage
/// run then, and its nacks are decided with the whole.
async fn guards_and_nacks_of_both_stages(cx: Cx) {
    let nacks = Mutex::new(Vec::<Nack>::new());
    let noted = |event: BoxEvent<'static, u32>| {
        let (event, nacks) = (Arc::new(event), &nacks);
        with_nack(move |nack| {
            nacks.lock().unwrap().push(nack);
            Shared(event.clone())
        })
    };
    let semaphore = Semaphore::new(0);
    let fates =
        || nacks.lock().unwrap().iter().map(|nack| (nack.is_taken(), nack.is_lost())).collect::<Vec<_>>();
    let (open, taken, lost) = ((false, false), (true, false), (false, true));
    for win in [true, false] {
        nacks.lock().unwrap().clear();
        let first = choose((noted(always(1).boxed()), noted(never().boxed())));
        let whole = first.replace(|n| {
            assert_eq!(fates(), [taken, lost, open]);
            semaphore.post();
            choose((
                noted(never().boxed()).wrap(|_| 0),
                noted(if win { always(n + 1).boxed() } else { never().boxed() }),
            ))
        });
        let whole_noted = |n: u32| {
            assert_eq!(fates(), [taken, lost, lost, lost, taken]);
            n
        };
        let outer = choose((
            whole.wrap(whole_noted),
            noted(never().boxed()),
            if win { never().boxed() } else { semaphore.take_evt().wrap(|()| 9).boxed() },
        ));
        assert_eq!(cx.sync(&outer).await, if win { 2 } else { 9 });
        assert_eq!(fates(), [taken, lost, lost, lost, if win { taken } else { lost }]);
        drop(outer);
        if win {
            semaphore.take_evt().poll().unwrap();
        }
    }
}

/// An event with several owners.
struct Shared<T>(Arc<BoxEvent<'static, T>>);

impl<T> Event for Shared<T> {
    type Output = T;
    type Branch<'e>
        = <BoxEvent<'static, T> as Event>::Branch<'e>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn branch(&self) -> Self::Branch<'_> {
        self.0.branch()
    }
    fn force<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) {
        self.0.force(branch);
    }
    fn try_commit<'e>(
        &'e self,
        branch: std::pin::Pin<&mut Self::Branch<'e>>,
        attempt: &lisle::event::Attempt<'_>,
    ) -> lisle::event::Step {
        self.0.try_commit(branch, attempt)
    }
    fn publish<'e>(
        &'e self,
        branch: std::pin::Pin<&mut Self::Branch<'e>>,
        attempt: &lisle::event::Attempt<'_>,
    ) -> lisle::event::Step {
        self.0.publish(branch, attempt)
    }
    fn withdraw<'e>(
        &'e self,
        branch: std::pin::Pin<&mut Self::Branch<'e>>,
        attempt: &lisle::event::Attempt<'_>,
    ) -> bool {
        self.0.withdraw(branch, attempt)
    }
    fn advance<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) -> bool {
        self.0.advance(branch)
    }
    fn lose<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) {
        self.0.lose(branch);
    }
    fn complete<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) -> T {
        self.0.complete(branch)
    }
}

/// Senders break their promise to the second stage.
async fn a_second_stage_that_starts_over_does_not_redo_the_first(cx: Cx) {
    let (first, firsts) = bounded::<u32>(4);
    let (second, seconds) = channel::<u32>();
    let made = Arc::new(AtomicUsize::new(0));
    (1..=4).for_each(|n| first.try_send(n).unwrap());
    let performer = {
        let (made, firsts) = (made.clone(), firsts.clone());
        cx.spawn(move |cx| async move {
            let staged = firsts.recv_evt().replace(|n| {
                made.fetch_add(1, Ordering::SeqCst);
                seconds.recv_evt().wrap(move |m| (n.unwrap(), m.unwrap()))
            });
            cx.sync(choose((staged, never()))).await
        })
    };
    for _ in 0..3 {
        let second = second.clone();
        let failing =
            cx.spawn(move |cx| async move { cx.sync(second.send_with_evt(|| quiet("no message"))).await });
        assert!(cx.join_caught(failing).await.is_err());
    }
    cx.sync(second.send_evt(7)).await.unwrap();
    assert_eq!(cx.join(performer).await, (1, 7));
    assert_eq!((made.load(Ordering::SeqCst), firsts.len()), (1, 3));
}

async fn a_maker_of_the_second_stage_that_panics(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let nacks = Arc::new(Mutex::new(Vec::<Nack>::new()));
    let performer = {
        let (nacks, rx) = (nacks.clone(), rx.clone());
        cx.spawn(move |cx| async move {
            let noted = || {
                with_nack(|nack| {
                    nacks.lock().unwrap().push(nack);
                    rx.recv_evt().wrap(|_| 0)
                })
            };
            let broken = always(()).replace(|()| quiet::<BoxEvent<'static, u32>>("no second stage"));
            // A handler around it is not called: the event has not happened.
            cx.sync(choose((noted(), broken.wrap_panic(|_| 1), noted()))).await
        })
    };
    let panic = cx.join_caught(performer).await.unwrap_err();
    assert_eq!(*panic.downcast::<&str>().unwrap(), "no second stage");
    let told = nacks.lock().unwrap();
    assert!(told.len() == 2 && told.iter().all(Nack::is_lost));
    assert!(tx.try_send(1).is_err() && rx.try_recv().is_err());
}

async fn a_panic_is_handled_by_the_innermost_handler(cx: Cx) {
    let text = |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<&str>().unwrap();
    let order = Mutex::new(Vec::new());
    let handled = always(1)
        .wrap(|_| quiet::<&str>("first"))
        .wrap_panic(|panic| (order.lock().unwrap().push("inner"), text(panic)).1)
        .wrap(|seen| {
            order.lock().unwrap().push(seen);
            quiet::<&str>("second")
        })
        .wrap_panic(|panic| {
            order.lock().unwrap().push(text(panic));
            quiet("third")
        })
        .wrap_panic(text);
    let event = choose((never(), handled, never()));
    assert_eq!(cx.sync(&event).await, "third");
    assert_eq!(std::mem::take(&mut *order.lock().unwrap()), ["inner", "first", "second"]);
    assert_eq!(event.poll(), Some("third"));
    // Around a choice it handles a panic of the winning branch. Without a panic it is not called.
    let either = choose((always(1).wrap(|_| quiet::<u32>("one")), always(2))).wrap_panic(|_| 3);
    let mut seen = [false; 4];
    while !(seen[2] && seen[3]) {
        seen[cx.sync(&either).await as usize] = true;
    }
    assert!(!seen[1]);
    // A guard's panic is not handled: nothing has happened.
    let performer = cx.spawn(|cx| async move {
        let guarded = guard(|| quiet::<lisle::event::Always<u32>>("a guard")).wrap_panic(|_| 0);
        cx.sync(choose((guarded, never()))).await
    });
    assert!(cx.join_caught(performer).await.is_err());
}

/// The message is gone. If its maker panicked, it never existed, and the receiver loses nothing.
async fn a_handler_is_asked_after_the_event_has_happened(cx: Cx) {
    let (tx, rx) = bounded::<u32>(2);
    tx.try_send(1).unwrap();
    let event = rx.recv_evt().wrap(|n| if n == Ok(1) { quiet("one") } else { n.unwrap() }).wrap_panic(|_| {
        assert!(rx.is_empty(), "it was received");
        0
    });
    assert_eq!(cx.sync(&event).await, 0);
    tx.try_send(2).unwrap();
    assert_eq!(cx.sync(choose((&event, never()))).await, 2);

    let (tx, rx) = channel::<u32>();
    let receiver = cx.spawn(move |cx| async move { cx.sync(rx.recv_evt()).await });
    let made = tx.send_with_evt(|| quiet("no message")).wrap(|sent| sent.is_ok()).wrap_panic(|_| false);
    assert!(!cx.sync(&made).await);
    cx.sync(tx.send_evt(5)).await.unwrap();
    assert_eq!(cx.join(receiver).await, Ok(5));
}

/// Unwinding at shutdown is not a panic of user code.
#[test]
fn handlers_are_not_asked_when_fibers_are_shut_down() {
    let _watched = watched();
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let asked = Arc::new(AtomicBool::new(false));
        let (begin, begun) = channel::<()>();
        let fibers: Vec<_> = (0..6)
            .map(|i| {
                let (asked, begin) = (asked.clone(), begin.clone());
                runtime.spawn(move || {
                    let (_tx, rx) = channel::<()>();
                    let handle = |_| asked.store(true, Ordering::SeqCst);
                    match i % 2 {
                        // In the function of a wrap, and in the event itself.
                        0 => always(())
                            .wrap(|()| (begin.send(()).unwrap(), rx.recv().unwrap()).1)
                            .wrap_panic(handle)
                            .sync(),
                        _ => guard(|| (begin.send(()).unwrap(), never()).1).wrap_panic(handle).sync(),
                    }
                })
            })
            .collect();
        fibers.iter().for_each(|_| begun.recv().unwrap());
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(fibers.into_iter().all(|fiber| fiber.join().is_err_and(|error| error.is_cancelled())));
        assert!(!asked.load(Ordering::SeqCst));
    }
}

async fn the_first_of_those_that_are_ready_has_priority(cx: Cx) {
    for ready in 0..4 {
        let events = || (0..4).map(|i| (i >= ready).then(|| always(i)));
        let listed = choose_biased(events().collect::<Vec<_>>());
        let e: Vec<_> = events().collect();
        let tuple = choose_biased((&e[0], &e[1], choose_biased((&e[2], &e[3]))));
        for _ in 0..50 {
            assert_eq!(cx.sync(&listed).await, ready);
            assert_eq!(cx.sync(&tuple).await, ready);
            assert_eq!(listed.poll(), Some(ready));
        }
    }
    // A fair choice inside a biased one is fair, and the other way round.
    let mixed = choose_biased((never(), choose((always(1), always(2))), always(3)));
    let turned = choose((choose_biased((always(4), always(5))), choose_biased((always(6), always(7)))));
    let mut seen = [false; 8];
    for _ in 0..200 {
        seen[cx.sync(&mixed).await] = true;
        seen[cx.sync(&turned).await] = true;
    }
    assert_eq!(seen, [false, true, true, false, true, false, true, false]);
    // An alternative that is always ready starves those after it, so the stop event comes before
    // the work.
    let (stop, stopped) = bounded::<()>(1);
    let (work, works) = bounded::<()>(100);
    (0..100).for_each(|_| work.try_send(()).unwrap());
    let next = choose_biased((stopped.recv_evt().wrap(|_| false), works.recv_evt().wrap(|_| true)));
    (0..10).for_each(|_| assert!(next.poll().unwrap()));
    stop.try_send(()).unwrap();
    assert!(!cx.sync(&next).await);
    assert_eq!(works.len(), 90);
}

async fn a_biased_choice_that_waits_has_no_order(cx: Cx) {
    let semaphores = Arc::new([0; 3].map(Semaphore::new));
    let event = choose_biased([0, 1, 2].map(|i| semaphores[i].take_evt().wrap(move |()| i)));
    for round in 0..scaled(300, 60) {
        let posted = {
            let semaphores = semaphores.clone();
            cx.spawn(move |_| async move { semaphores[round % 3].post() })
        };
        assert_eq!(cx.sync(&event).await, round % 3);
        cx.join(posted).await;
        assert_eq!(event.poll(), None);
    }
}

async fn an_absent_event_is_never_ready(cx: Cx) {
    assert_eq!(None::<lisle::event::Always<u32>>.poll(), None);
    assert_eq!(Some(always(1)).poll(), Some(1));
    assert_eq!(cx.sync(Some(always(1))).await, 1);
    assert_eq!(cx.sync(Some(Some(guard(|| always(2))))).await, 2);
    assert_eq!(choose(vec![None::<lisle::event::Never<u32>>; 3]).poll(), None);
    let absent: Option<lisle::event::Never<u32>> = None;
    let time = || after(Duration::from_millis(1)).wrap(|()| 3);
    assert_eq!(cx.sync(choose((absent, time()))).await, 3);
    assert_eq!(cx.sync(choose((Some(absent), absent.boxed(), time(), absent.wrap(|n| n)))).await, 3);
    let ran = AtomicBool::new(false);
    let guarded = guard(|| (ran.store(true, Ordering::SeqCst), always(0)).1);
    let off = Some(guarded).filter(|_| ran.load(Ordering::SeqCst));
    assert_eq!(cx.sync(choose((off, always(4)))).await, 4);
    assert!(!ran.load(Ordering::SeqCst), "the guard of what is switched off does not run");
}

/// Like nil channels in Go: receives from each of two channels until it is closed, and then no
/// more.
async fn alternatives_are_switched_on_and_off(cx: Cx) {
    let count = scaled(500, 60);
    let ends = [0, 1].map(|_| channel::<usize>());
    let senders: Vec<_> = ends
        .iter()
        .map(|(tx, _)| {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                for i in 0..count {
                    cx.sync(tx.send_evt(i)).await.unwrap();
                }
            })
        })
        .collect();
    let receivers = ends.map(|(_, rx)| rx);
    let mut next = [0; 2];
    let mut open = [true; 2];
    while open.contains(&true) {
        let event =
            choose([0, 1].map(|i| open[i].then(|| receivers[i].recv_evt().wrap(move |got| (i, got)))));
        match cx.sync(event).await {
            (i, Ok(got)) => {
                assert_eq!(got, next[i], "in order");
                next[i] += 1;
            }
            (i, Err(_)) => open[i] = false,
        }
    }
    assert_eq!(next, [count; 2]);
    cx.join_all(senders).await;
}
