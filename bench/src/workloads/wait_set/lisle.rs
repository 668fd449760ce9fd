//! Lisle: the set in a fiber, a choice in a fiber, and the set in a future, in a task or on tokio.

use super::{Asker, Plan, Server, Tally, ask};
use crate::{
    job::{Job, Outcome},
    peers::{self, Executor},
};
use lisle::{
    Event,
    channel::{Receiver, Sender, bounded},
    event::WaitSet,
};
use std::time::Duration;

type Asks = Asker<Sender<u64>, Receiver<u64>>;
type Serves = Server<Sender<u64>, Receiver<u64>>;

pub(super) fn wait_set(job: &Job) -> Outcome {
    fibers(job, |n, server| {
        let mut set = set(&server);
        serve(n, &server.answer, || set.sync().1)
    })
}

/// The alternatives are events of one type, so a vector of them needs no pointers.
pub(super) fn choose(job: &Job) -> Outcome {
    fibers(job, |n, server| {
        let choice = lisle::choose(sources(&server).collect::<Vec<_>>());
        serve(n, &server.answer, || choice.sync())
    })
}

fn fibers(job: &Job, server: fn(u64, Serves) -> Tally) -> Outcome {
    let plan = Plan::new(job);
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            let (asks, serves) = plan.ends(bounded);
            let server = lisle::spawn(move || server(n, serves));
            let elapsed = ask(n, asks);
            plan.check(n, server.join().unwrap());
            elapsed
        })
    });
    measured.nanoseconds()
}

/// An event for each source, which gives its number and the message.
fn sources(server: &Serves) -> impl Iterator<Item = impl Event<Output = (u64, u64)> + Send + Sync> {
    let numbered = (0..).zip(&server.receivers);
    numbered.map(|(number, rx)| rx.recv_evt().wrap(move |message| (number, message.unwrap())))
}

fn set(server: &Serves) -> WaitSet<'_, (u64, u64)> {
    let mut set = WaitSet::new();
    for source in sources(server) {
        set.insert(source);
    }
    set
}

fn serve(n: u64, answer: &Sender<u64>, mut next: impl FnMut() -> (u64, u64)) -> Tally {
    let mut tally = Tally::default();
    for _ in 0..=n {
        let (source, message) = next();
        tally.note(source, message);
        answer.send(message).unwrap();
    }
    tally
}

fn ask(n: u64, mut asks: Asks) -> Duration {
    let send = |tx: &Sender<u64>, message| tx.send(message).unwrap();
    let receive = |rx: &mut Receiver<u64>| rx.recv().unwrap();
    ask!(asks, n, send send, receive receive)
}

/// The same events, awaited.
pub(super) fn futures<E: Executor>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        let (asks, serves) = plan.ends(bounded);
        executor.run(async move {
            let server = E::spawn(serve_async(n, serves));
            let elapsed = ask_async(n, asks).await;
            plan.check(n, server.await);
            elapsed
        })
    });
    measured.nanoseconds()
}

async fn serve_async(n: u64, server: Serves) -> Tally {
    let mut set = set(&server);
    let mut tally = Tally::default();
    for _ in 0..=n {
        let (_, (source, message)) = set.evt().await;
        tally.note(source, message);
        server.answer.send_evt(message).await.unwrap();
    }
    tally
}

async fn ask_async(n: u64, mut asks: Asks) -> Duration {
    async fn send(tx: &Sender<u64>, message: u64) {
        tx.send_evt(message).await.unwrap();
    }
    async fn receive(rx: &mut Receiver<u64>) -> u64 {
        rx.recv_evt().await.unwrap()
    }
    ask!(asks, n, send send, receive receive, await)
}
