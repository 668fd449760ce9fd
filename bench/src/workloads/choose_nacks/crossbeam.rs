//! crossbeam-channel on threads: each round has a channel on which nothing is ever sent. When the
//! round is over the client drops its end, and a server that still wants to hand over an answer
//! notices.

use super::Counts;
use crate::job::{Job, Outcome, timed};
use crossbeam_channel::{Receiver, Sender, bounded, select};
use std::thread;

struct Request {
    number: u64,
    over: Receiver<()>,
}

pub(super) fn crossbeam(job: &Job) -> Outcome {
    let count = job.param("servers");
    let measured = job.measure(|n| {
        let mut ask = Vec::new();
        let mut answers = Vec::new();
        let servers: Vec<_> = (0..count)
            .map(|_| {
                let (to_server, requests) = bounded(0);
                let (answer, from_server) = bounded(0);
                ask.push(to_server);
                answers.push(from_server);
                thread::spawn(move || serve(&requests, &answer))
            })
            .collect();
        let mut counts = Counts::default();
        let elapsed = timed(|| {
            client(n, &ask, &answers);
            drop(ask);
            counts = servers.into_iter().map(|server| server.join().unwrap()).sum();
        });
        counts.check(n, count);
        elapsed
    });
    measured.nanoseconds()
}

/// `n` rounds, with as many arms as there are names.
macro_rules! rounds {
    ($n:ident, $ask:ident, $($answers:ident)+) => {
        for number in 0..$n {
            let (_keep, over) = bounded(0);
            for server in $ask {
                server.send(Request { number, over: over.clone() }).unwrap();
            }
            let answer = select! {
                $(recv($answers) -> answer => answer.unwrap(),)+
            };
            assert_eq!(answer, number);
        }
    };
}

fn client(n: u64, ask: &[Sender<Request>], answers: &[Receiver<u64>]) {
    match answers {
        [a, b] => rounds!(n, ask, a b),
        [a, b, c, d, e, f, g, h] => rounds!(n, ask, a b c d e f g h),
        _ => panic!("select! has as many arms as are written out"),
    }
}

fn serve(requests: &Receiver<Request>, answer: &Sender<u64>) -> Counts {
    let mut counts = Counts::default();
    for Request { number, over } in requests {
        let taken = select! {
            send(answer, number) -> sent => sent.is_ok(),
            recv(over) -> _ => false,
        };
        counts.note(taken);
    }
    counts
}
