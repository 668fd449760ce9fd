//! Lisle: a call is an event that sends its request when it is performed, with its negative
//! acknowledgement. The server chooses between handing over its answer and hearing that nobody
//! waits for it.

use super::Counts;
use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, LisleTasks},
};
use lisle::{
    Event, channel,
    channel::{Receiver, Sender},
    choose,
    event::{Nack, with_nack},
};
use std::time::Instant;

pub(super) fn lisle(job: &Job) -> Outcome {
    match job.param("servers") {
        2 => rounds::<2>(job),
        8 => rounds::<8>(job),
        servers => panic!("no choice among {servers} servers is written out"),
    }
}

/// The same by tasks.
pub(super) fn tasks(job: &Job) -> Outcome {
    match job.param("servers") {
        2 => rounds_of_tasks::<2>(job),
        8 => rounds_of_tasks::<8>(job),
        servers => panic!("no choice among {servers} servers is written out"),
    }
}

fn rounds<const SERVERS: usize>(job: &Job) -> Outcome {
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            let (clients, servers): (Vec<_>, Vec<_>) = (0..SERVERS).map(|_| ends()).unzip();
            let clients = <[Client; SERVERS]>::try_from(clients).ok().expect("as many as that");
            let servers: Vec<_> =
                servers.into_iter().map(|server| lisle::spawn(move || server.serve())).collect();
            let mut counts = Counts::default();
            let elapsed = timed(|| {
                for number in 0..n {
                    assert_eq!(choose(clients.each_ref().map(|client| client.call(number))).sync(), number);
                }
                drop(clients);
                counts = servers.into_iter().map(|server| server.join().unwrap()).sum();
            });
            counts.check(n, SERVERS as u64);
            elapsed
        })
    });
    measured.nanoseconds()
}

fn rounds_of_tasks<const SERVERS: usize>(job: &Job) -> Outcome {
    let executor = LisleTasks::start(job.workers);
    let measured = job.measure(|n| {
        let (clients, servers): (Vec<_>, Vec<_>) = (0..SERVERS).map(|_| ends()).unzip();
        let clients = <[Client; SERVERS]>::try_from(clients).ok().expect("as many as that");
        executor.run(async move {
            let servers: Vec<_> =
                servers.into_iter().map(|server| LisleTasks::spawn(server.serve_task())).collect();
            let start = Instant::now();
            for number in 0..n {
                assert_eq!(choose(clients.each_ref().map(|client| client.call(number))).await, number);
            }
            drop(clients);
            let mut counts = Vec::with_capacity(SERVERS);
            for server in servers {
                counts.push(server.await);
            }
            let elapsed = start.elapsed();
            counts.into_iter().sum::<Counts>().check(n, SERVERS as u64);
            elapsed
        })
    });
    measured.nanoseconds()
}

/// The client's ends of the channels to and from one server.
struct Client {
    ask: Sender<(u64, Nack)>,
    answers: Receiver<u64>,
}

struct Server {
    requests: Receiver<(u64, Nack)>,
    answer: Sender<u64>,
}

fn ends() -> (Client, Server) {
    let (ask, requests) = channel();
    let (answer, answers) = channel();
    (Client { ask, answers }, Server { requests, answer })
}

impl Client {
    fn call(&self, number: u64) -> impl Event<Output = u64> {
        with_nack(move |nack| {
            self.ask.send((number, nack)).unwrap();
            self.answers.recv_evt().wrap(Result::unwrap)
        })
    }
}

impl Server {
    fn serve(self) -> Counts {
        let mut counts = Counts::default();
        for (number, nack) in self.requests {
            let taken = self.answer.send_evt(number).wrap(|sent| sent.is_ok());
            counts.note(choose((taken, nack.wrap(|()| false))).sync());
        }
        counts
    }

    async fn serve_task(self) -> Counts {
        let mut counts = Counts::default();
        while let Ok((number, nack)) = self.requests.recv_evt().await {
            let taken = self.answer.send_evt(number).wrap(|sent| sent.is_ok());
            counts.note(choose((taken, nack.wrap(|()| false))).await);
        }
        counts
    }
}
