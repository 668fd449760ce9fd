//! Receivers of every kind that leave at any moment, while senders make messages for them.

use crate::support::{Cx, Random, poll_once, scaled, watched, worlds};
use lisle::channel::{Receiver, SendWithError, Sender, bounded};
use lisle::event::WaitSet;
use lisle::time::after;
use lisle::{Event, Runtime, choose, never, spawn_task};
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

worlds!(every_message_is_somewhere_and_no_sender_is_kept);

/// The counts of the messages by fate.
#[derive(Debug, Default)]
struct Ledger {
    made: AtomicUsize,
    received: AtomicUsize,
    returned: AtomicUsize,
    /// Messages that were lost with a receiver that left after it had been granted one.
    taken_along: AtomicUsize,
    sent: AtomicUsize,
}

struct Message {
    ledger: Arc<Ledger>,
    settled: bool,
}

impl Message {
    fn new(ledger: &Arc<Ledger>) -> Self {
        ledger.made.fetch_add(1, SeqCst);
        Message { ledger: ledger.clone(), settled: false }
    }

    fn settle(mut self, place: fn(&Ledger) -> &AtomicUsize) {
        assert!(!std::mem::replace(&mut self.settled, true));
        place(&self.ledger).fetch_add(1, SeqCst);
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if !self.settled {
            self.ledger.taken_along.fetch_add(1, SeqCst);
        }
    }
}

impl Ledger {
    fn check(&self) {
        let of = |count: &AtomicUsize| count.load(SeqCst);
        assert_eq!(of(&self.made), of(&self.sent) + of(&self.returned), "{self:?}");
        assert_eq!(of(&self.sent), of(&self.received) + of(&self.taken_along), "{self:?}");
    }
}

fn short(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(60) as u64)
}

/// Sends messages that take a moment to make, until `over`.
async fn send(cx: Cx, tx: Sender<Message>, ledger: Arc<Ledger>, over: Arc<AtomicBool>, seed: u64) {
    let mut random = Random::new(seed);
    while !over.load(SeqCst) {
        let turns = random.below(4);
        let make = || {
            (0..turns).for_each(|_| std::thread::yield_now());
            Message::new(&ledger)
        };
        let made = tx.send_with_evt(make).wrap(Some);
        let sent = match random.below(3) {
            0 => made.poll().flatten(),
            1 => cx.sync(choose((made, after(short(&mut random)).wrap(|()| None)))).await,
            _ => cx.sync(choose((made, after(Duration::from_millis(1)).wrap(|()| None), never()))).await,
        };
        match sent {
            None => {}
            Some(Ok(())) => drop(ledger.sent.fetch_add(1, SeqCst)),
            Some(Err(SendWithError::Left(message))) => message.settle(|ledger| &ledger.returned),
            Some(Err(_)) => unreachable!("nobody closes the channel"),
        }
    }
}

/// Receives once in one of several ways, and may leave at any moment.
async fn receive(cx: &Cx, rx: &Receiver<Message>, random: &mut Random) -> Option<Message> {
    let timeout = after(short(random)).wrap(|()| None);
    let taken = || rx.recv_evt().wrap(Result::ok);
    match random.below(5) {
        0 => cx.sync(choose((taken(), timeout))).await,
        1 => {
            // A future that is dropped halfway.
            let mut future = Box::pin(choose((taken(), never())).into_future());
            for _ in 0..random.below(4) {
                if let std::task::Poll::Ready(message) = poll_once(future.as_mut()) {
                    return message;
                }
                cx.yield_now().await;
            }
            None
        }
        2 => {
            let mut set = WaitSet::new();
            set.insert(taken());
            set.insert(timeout);
            let first = {
                let mut future = Box::pin(set.evt().into_future());
                poll_once(future.as_mut())
            };
            cx.yield_now().await;
            match first {
                std::task::Poll::Ready((_, message)) => message,
                std::task::Poll::Pending => cx.sync(set.evt()).await.1,
            }
        }
        3 => {
            let waiting = spawn_task({
                let rx = rx.clone();
                async move { rx.recv_evt().await.ok() }
            });
            (0..random.below(3)).for_each(|_| std::thread::yield_now());
            waiting.cancel();
            let _ended = cx.sync(&waiting).await;
            waiting.join().ok().flatten()
        }
        _ => choose((taken(), never())).poll().flatten(),
    }
}

async fn every_message_is_somewhere_and_no_sender_is_kept(cx: Cx) {
    for round in 0..scaled(60, 12) as u64 {
        let ledger = Arc::new(Ledger::default());
        let over = Arc::new(AtomicBool::new(false));
        let (tx, rx) = bounded::<Message>([0, 0, 1, 3][round as usize % 4]);
        let senders = [0, 1, 2].map(|id| {
            let (tx, ledger, over) = (tx.clone(), ledger.clone(), over.clone());
            cx.spawn(move |cx| send(cx, tx, ledger, over, round * 10 + id))
        });
        let receivers = [3, 4, 5].map(|id| {
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(round * 10 + id);
                for _ in 0..40 {
                    if let Some(message) = receive(&cx, &rx, &mut random).await {
                        message.settle(|ledger| &ledger.received);
                    }
                    cx.yield_now().await;
                }
            })
        });
        cx.join_all(receivers).await;
        // No performer receives any more, and the channel has not been closed.
        over.store(true, SeqCst);
        cx.join_all(senders).await;
        while let Ok(message) = rx.try_recv() {
            message.settle(|ledger| &ledger.received);
        }
        ledger.check();
    }
}

/// Fibers receive, and their runtimes end in the meantime.
#[test]
fn runtimes_that_end_leave_no_sender_behind() {
    let _watched = watched();
    for round in 0..scaled(100, 20) as u64 {
        let mut random = Random::new(round);
        let ledger = Arc::new(Ledger::default());
        let over = AtomicBool::new(false);
        let (tx, rx) = bounded::<Message>(round as usize % 2);
        let runtime = Runtime::builder().domains(2).start().expect("a runtime starts");
        for _ in 0..4 {
            let rx = rx.clone();
            drop(runtime.spawn(move || {
                loop {
                    // The message is settled in the wrap, where nothing can interrupt it.
                    let _taken = rx
                        .recv_evt()
                        .wrap(|message| message.ok().map(|message| message.settle(|l| &l.received)))
                        .sync();
                }
            }));
        }
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // A fiber that always finds a message is not interrupted, so the senders stop
                    // by themselves.
                    let mut more = 20;
                    while more > 0 {
                        more -= usize::from(over.load(SeqCst));
                        let made = tx.send_with_evt(|| {
                            std::thread::yield_now();
                            Message::new(&ledger)
                        });
                        match choose((made.wrap(Some), after(Duration::from_millis(1)).wrap(|()| None)))
                            .sync()
                        {
                            None => {}
                            Some(Ok(())) => drop(ledger.sent.fetch_add(1, SeqCst)),
                            Some(Err(refused)) => {
                                refused.into_inner().expect("made").settle(|ledger| &ledger.returned);
                            }
                        }
                    }
                });
            }
            while ledger.received.load(SeqCst) < 1 + random.below(50) {
                std::thread::yield_now();
            }
            over.store(true, SeqCst);
            assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        });
        while let Ok(message) = rx.try_recv() {
            message.settle(|ledger| &ledger.received);
        }
        ledger.check();
    }
}
