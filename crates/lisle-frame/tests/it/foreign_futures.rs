//! Streams that wait for events outside of the world: channels, timers, other threads.

use crate::worlds::{Counter, Make, Tokens, count};
use futures::channel::{mpsc, oneshot};
use futures::future::join_all;
use futures::stream::{FuturesUnordered, StreamExt};
use lisle_core::Event;
use lisle_frame::{Foreign, next_frame};
use std::thread;

in_all_worlds!(
    what_has_happened_by_the_start_of_the_frame_is_seen,
    a_stream_waits_for_a_thread,
    an_executor_waits_for_threads_and_for_calls,
    messages_go_to_a_world_and_back,
    events_of_channels_are_futures,
    a_timer_of_the_core_ends_a_wait,
    nothing_is_lost_at_the_end_of_the_world,
);

/// 13. A live stream that waits holds up no reader.
fn what_has_happened_by_the_start_of_the_frame_is_seen(make: Make<'_>) {
    let mut world = make();
    let (sender, receiver) = oneshot::channel::<u32>();
    let waits = world.live(0, async move |out| out.set(receiver.await.unwrap()));
    let other = Counter::default();
    let counted = other.clone();
    let reader = world.stream(async move || (counted.add(), waits.await));
    for frame in 1..=5 {
        world.frame();
        assert_eq!(world.get(reader).unwrap(), (frame, 0));
    }
    sender.send(7).unwrap();
    world.frame();
    assert_eq!(world.get(reader).unwrap(), (6, 7));
}

/// 13. Frames go on until it has answered.
fn a_stream_waits_for_a_thread(make: Make<'_>) {
    let mut world = make();
    let work = Foreign::new("work", |n: u32| n * 2).batch(1);
    let answers = world.stream(async move || {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(21).unwrap());
        let answer = receiver.await.unwrap();
        thread.join().unwrap();
        work.call(answer).await
    });
    while world.get(answers).is_err() {
        world.frame();
        thread::yield_now();
    }
    assert_eq!(world.get(answers).unwrap(), 42);
}

/// 13. Each future has a waker of its own, which the other threads wake.
fn an_executor_waits_for_threads_and_for_calls(make: Make<'_>) {
    let mut world = make();
    let square = Foreign::new("square", |n: u64| n * n).batch(3);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..20).map(|_| oneshot::channel::<u64>()).unzip();
    let sum = world.live(0, async move |out| {
        let mut futures = receivers.into_iter().enumerate().map(|(n, receiver)| async move {
            let sent = receiver.await.unwrap();
            if n % 2 == 0 { square.call(sent).await } else { sent }
        });
        let unordered = futures.by_ref().take(10).collect::<FuturesUnordered<_>>();
        let first = unordered.fold(0, async |sum, n| sum + n).await;
        let second = join_all(futures).await.into_iter().sum::<u64>();
        out.set(first + second);
    });
    let thread = thread::spawn(move || {
        for (n, sender) in (0..).zip(senders).collect::<Vec<_>>().into_iter().rev() {
            sender.send(n).unwrap();
            thread::yield_now();
        }
    });
    while world.get(sum).unwrap() == 0 {
        world.frame();
        thread::yield_now();
    }
    thread.join().unwrap();
    let expected = (0..20).map(|n| if n % 2 == 0 { n * n } else { n }).sum::<u64>();
    assert_eq!(world.get(sum).unwrap(), expected);
}

/// 13. Both ways are bounded, so that each side waits for the other.
fn messages_go_to_a_world_and_back(make: Make<'_>) {
    let messages = count(500, 20) as u64;
    let (mut to_world, mut inbox) = mpsc::channel::<u64>(3);
    let (mut outbox, from_world) = mpsc::channel::<u64>(3);
    let host = thread::spawn(move || {
        let sender = thread::spawn(move || {
            futures::executor::block_on(async {
                for n in 0..messages {
                    futures::SinkExt::send(&mut to_world, n).await.unwrap();
                }
            });
        });
        let received = futures::executor::block_on(from_world.collect::<Vec<_>>());
        sender.join().unwrap();
        received
    });
    let mut world = make();
    let double = Foreign::new("double", |n: u64| n * 2);
    let answered = world.live(0, async move |out| {
        while let Some(n) = inbox.next().await {
            let answer = double.call(n).await;
            futures::SinkExt::send(&mut outbox, answer).await.unwrap();
            out.update(|answered| *answered += 1);
        }
    });
    while world.get(answered).unwrap() < messages {
        world.frame();
        thread::yield_now();
    }
    drop(world);
    let received = host.join().unwrap();
    assert_eq!(received, (0..messages).map(|n| n * 2).collect::<Vec<_>>());
}

/// 13. The channels of the core, on which plain threads block.
fn events_of_channels_are_futures(make: Make<'_>) {
    let messages = count(300, 10) as u64;
    let (to_world, inbox) = lisle_core::channel::<u64>();
    let (outbox, from_world) = lisle_core::channel::<u64>();
    let host = thread::spawn(move || {
        let mut received = Vec::new();
        for n in 0..messages {
            to_world.send(n).unwrap();
            received.push(from_world.recv().unwrap());
        }
        received
    });
    let mut world = make();
    let answered = world.live(0, async move |out| {
        for _ in 0..messages {
            let n = inbox.recv_evt().future().await.unwrap();
            outbox.send_evt(n + 1).future().await.unwrap();
            out.update(|answered| *answered += 1);
        }
    });
    while world.get(answered).unwrap() < messages {
        world.frame();
        thread::yield_now();
    }
    assert_eq!(host.join().unwrap(), (1..=messages).collect::<Vec<_>>());
}

/// 12, 13. Whichever of two events comes first.
fn a_timer_of_the_core_ends_a_wait(make: Make<'_>) {
    use lisle_core::time::after;
    use std::time::Duration;
    let (_never, inbox) = lisle_core::channel::<u64>();
    let mut world = make();
    let ended = world.live("", async move |out| {
        let message = async { inbox.recv_evt().future().await.map_or("closed", |_| "a message") };
        let timer = async {
            after(Duration::from_millis(2)).future().await;
            "the time is over"
        };
        out.set(lisle_frame::race((message, timer)).await);
    });
    while world.get(ended).unwrap().is_empty() {
        world.frame();
        thread::yield_now();
    }
    assert_eq!(world.get(ended).unwrap(), "the time is over");
}

/// 13. A message that was sent and not received is dropped once; hosts hear that the world has
///     gone.
fn nothing_is_lost_at_the_end_of_the_world(make: Make<'_>) {
    let tokens = Tokens::default();
    let mut world = make();
    let (sender, mut inbox) = mpsc::unbounded();
    let (gone, hears) = oneshot::channel::<()>();
    let received = world.live(0, async move |out| {
        let _gone = gone;
        while inbox.next().await.is_some() {
            out.update(|received| *received += 1);
            if world_has_enough(out) {
                next_frame().await;
            }
        }
    });
    for _ in 0..100 {
        sender.unbounded_send(tokens.make()).unwrap();
    }
    world.frame();
    world.frame();
    let received = world.get(received).unwrap();
    assert_eq!((received, tokens.alive()), (20, 80));
    drop(world);
    assert_eq!(tokens.alive(), 0);
    assert!(sender.unbounded_send(tokens.make()).is_err());
    assert!(futures::executor::block_on(hears).is_err());
}

/// Ten messages a frame.
fn world_has_enough(out: &mut lisle_frame::Out<isize>) -> bool {
    out.update(|received| *received % 10 == 0) == Some(true)
}
