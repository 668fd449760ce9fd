//! Systems of futures. Their channels hand nothing over at a rendezvous that a `select!` can safely
//! leave, so an answer lies in its slot until the client looks. It carries a oneshot, for which the
//! server waits: the client completes it when it takes the answer, and it is dropped along with an
//! answer that nobody takes.

use super::Counts;
use crate::{
    job::{Job, Outcome},
    peers::Executor,
};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

struct Request {
    number: u64,
    answer: oneshot::Sender<Answer>,
}

struct Answer {
    number: u64,
    taken: oneshot::Sender<()>,
}

pub(super) fn futures<E: Executor>(job: &Job) -> Outcome {
    let count = job.param("servers");
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        executor.run(async move {
            let mut ask = Vec::new();
            let servers: Vec<_> = (0..count)
                .map(|_| {
                    let (to_server, requests) = mpsc::channel(1);
                    ask.push(to_server);
                    E::spawn(serve(requests))
                })
                .collect();
            let start = Instant::now();
            client(n, &ask).await;
            drop(ask);
            let mut counts = Vec::new();
            for server in servers {
                counts.push(server.await);
            }
            let elapsed = start.elapsed();
            counts.into_iter().sum::<Counts>().check(n, count);
            elapsed
        })
    });
    measured.nanoseconds()
}

/// `n` rounds, with as many arms as there are names.
macro_rules! rounds {
    ($n:ident, $($server:ident)+) => {
        for number in 0..$n {
            $(let mut $server = call($server, number).await;)+
            let answer: Answer = tokio::select! {
                $(Ok(answer) = &mut $server => answer,)+
                else => panic!("all servers have gone"),
            };
            assert_eq!(answer.number, number);
            answer.taken.send(()).expect("the server waits to hear");
        }
    };
}

async fn call(server: &mpsc::Sender<Request>, number: u64) -> oneshot::Receiver<Answer> {
    let (answer, receiver) = oneshot::channel();
    assert!(server.send(Request { number, answer }).await.is_ok(), "the server is there");
    receiver
}

async fn client(n: u64, ask: &[mpsc::Sender<Request>]) {
    match ask {
        [a, b] => rounds!(n, a b),
        [a, b, c, d, e, f, g, h] => rounds!(n, a b c d e f g h),
        _ => panic!("select! has as many arms as are written out"),
    }
}

async fn serve(mut requests: mpsc::Receiver<Request>) -> Counts {
    let mut counts = Counts::default();
    while let Some(Request { number, answer }) = requests.recv().await {
        let (taken, learn) = oneshot::channel();
        // An answer that comes too late comes back, and is dropped like one that is not taken.
        drop(answer.send(Answer { number, taken }));
        counts.note(learn.await.is_ok());
    }
    counts
}
