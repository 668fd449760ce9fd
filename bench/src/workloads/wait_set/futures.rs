//! Systems of futures: `FuturesUnordered`, which polls only futures that have been woken, and keeps
//! the others. A future that is done gives its receiver back, and a new one takes its place.
//! (tokio's `StreamMap` and `select_all` poll every source, each time; `stream::select_all` is
//! `FuturesUnordered` inside.)

use super::{Asker, Plan, Server, Tally, ask};
use crate::{
    job::{Job, Outcome},
    peers::{Channel, Executor},
};
use futures::stream::{FuturesUnordered, StreamExt};
use std::time::Duration;

pub(super) fn futures<E: Executor, C: Channel>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        let (asker, server) = plan.ends(C::bounded);
        executor.run(async move {
            let server = E::spawn(serve::<C>(n, server));
            let elapsed = asks::<C>(n, asker).await;
            plan.check(n, server.await);
            elapsed
        })
    });
    measured.nanoseconds()
}

async fn receive<C: Channel>(receiver: &mut C::Receiver) -> u64 {
    C::receive(receiver).await.expect("the other side is there")
}

/// One message of one source.
async fn next<C: Channel>(source: u64, mut receiver: C::Receiver) -> (u64, C::Receiver, u64) {
    let message = receive::<C>(&mut receiver).await;
    (source, receiver, message)
}

async fn serve<C: Channel>(n: u64, server: Server<C::Sender, C::Receiver>) -> Tally {
    let numbered = (0..).zip(server.receivers);
    let mut sources: FuturesUnordered<_> =
        numbered.map(|(source, receiver)| next::<C>(source, receiver)).collect();
    let mut tally = Tally::default();
    for _ in 0..=n {
        let (source, receiver, message) = sources.next().await.expect("it is never empty");
        sources.push(next::<C>(source, receiver));
        tally.note(source, message);
        C::send(&server.answer, message).await;
    }
    tally
}

async fn asks<C: Channel>(n: u64, mut asker: Asker<C::Sender, C::Receiver>) -> Duration {
    ask!(asker, n, send C::send, receive receive::<C>, await)
}
