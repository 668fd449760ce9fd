//! Lisle: events are made once and performed again and again. Few arms are a tuple. Many are a
//! vector for each type, and a choice between the two vectors: that spares a pointer to each event.

use super::{Counterpart, Ends, Plan, TIMEOUT, timed_out};
use crate::{
    job::{Job, Outcome, timed},
    peers::{self, Executor, LisleTasks},
};
use lisle::{
    Event,
    channel::{Receiver, Sender},
    choose,
    time::after,
};
use std::time::Instant;

pub(super) fn lisle(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let measured = peers::runtime(job.workers).run(|| {
        job.measure(|n| {
            let Ends { receivers, senders, partner } = plan.ends(lisle::channel);
            let partner = lisle::spawn(move || serve(plan, n, &partner));
            let mut sum = 0;
            let elapsed = timed(|| sum = chooser(plan, n, &receivers, &senders));
            plan.check(n, sum, partner.join().unwrap());
            elapsed
        })
    });
    measured.nanoseconds()
}

/// The same between two tasks.
pub(super) fn tasks(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let executor = LisleTasks::start(job.workers);
    let measured = job.measure(|n| {
        let Ends { receivers, senders, partner } = plan.ends(lisle::channel);
        executor.run(async move {
            let partner = LisleTasks::spawn(serve_task(plan, n, partner));
            let start = Instant::now();
            let sum = chooser_task(plan, n, &receivers, &senders).await;
            let elapsed = start.elapsed();
            plan.check(n, sum, partner.await);
            elapsed
        })
    });
    measured.nanoseconds()
}

/// The partner's loop.
fn serve(plan: Plan, n: u64, arms: &[Counterpart<Sender<u64>, Receiver<u64>>]) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        match &arms[plan.arm(i)] {
            Counterpart::Sender(tx) => tx.send(i).unwrap(),
            Counterpart::Receiver(rx) => sum += rx.recv().unwrap(),
        }
    }
    sum
}

async fn serve_task(plan: Plan, n: u64, arms: Vec<Counterpart<Sender<u64>, Receiver<u64>>>) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        match &arms[plan.arm(i)] {
            Counterpart::Sender(tx) => tx.send_evt(i).await.unwrap(),
            Counterpart::Receiver(rx) => sum += rx.recv_evt().await.unwrap(),
        }
    }
    sum
}

/// The choices of the case, each performed by `$sum`: in place, or awaited.
macro_rules! chooser {
    ($plan:ident, $n:ident, $receivers:ident, $senders:ident, $sum:ident $(, $await:tt)?) => {{
        let timeout = after(TIMEOUT).wrap(|()| timed_out());
        match ($receivers, $senders, $plan.timeout) {
            ([a, b], [], false) => $sum($n, choose((recv(a), recv(b))))$(.$await)?,
            ([a, b], [], true) => $sum($n, choose((recv(a), recv(b), timeout)))$(.$await)?,
            ([a], [b], _) => $sum($n, choose((recv(a), send(b))))$(.$await)?,
            ([a, b, c, d, e, f, g, h], [], false) => {
                let arms = (recv(a), recv(b), recv(c), recv(d), recv(e), recv(f), recv(g), recv(h));
                $sum($n, choose(arms))$(.$await)?
            }
            ([a, b, c, d, e, f, g, h], [], true) => {
                let arms = (recv(a), recv(b), recv(c), recv(d), recv(e), recv(f), recv(g), recv(h), timeout);
                $sum($n, choose(arms))$(.$await)?
            }
            ([a, c, e, g], [b, d, f, h], _) => {
                let arms = (recv(a), send(b), recv(c), send(d), recv(e), send(f), recv(g), send(h));
                $sum($n, choose(arms))$(.$await)?
            }
            _ => {
                let receives = choose($receivers.iter().map(recv).collect::<Vec<_>>());
                let sends = choose($senders.iter().map(send).collect::<Vec<_>>());
                match ($plan.both, $plan.timeout) {
                    (true, _) => $sum($n, choose((receives, sends)))$(.$await)?,
                    (false, true) => $sum($n, choose((receives, timeout)))$(.$await)?,
                    (false, false) => $sum($n, receives)$(.$await)?,
                }
            }
        }
    }};
}

fn chooser(plan: Plan, n: u64, receivers: &[Receiver<u64>], senders: &[(Sender<u64>, u64)]) -> u64 {
    chooser!(plan, n, receivers, senders, sum)
}

async fn chooser_task(
    plan: Plan,
    n: u64,
    receivers: &[Receiver<u64>],
    senders: &[(Sender<u64>, u64)],
) -> u64 {
    chooser!(plan, n, receivers, senders, sum_task, await)
}

fn recv(rx: &Receiver<u64>) -> impl Event<Output = u64> {
    rx.recv_evt().wrap(Result::unwrap)
}

fn send((tx, message): &(Sender<u64>, u64)) -> impl Event<Output = u64> {
    tx.send_evt(*message).wrap(|sent| {
        sent.unwrap();
        0
    })
}

/// The sum of `n` choices.
fn sum(n: u64, event: impl Event<Output = u64>) -> u64 {
    (0..n).map(|_| event.sync()).sum()
}

async fn sum_task(n: u64, event: impl Event<Output = u64>) -> u64 {
    let mut sum = 0;
    for _ in 0..n {
        sum += (&event).future().await;
    }
    sum
}
