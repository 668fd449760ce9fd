//! Lisle: events are made once and performed again and again. Few arms are a tuple. Many are a vector for each
//! type, and a choice between the two vectors: that spares a pointer to each event.

use super::{Counterpart, Ends, Plan, TIMEOUT, timed_out};
use crate::{
    job::{Job, Outcome, timed},
    peers,
};
use lisle::{
    Event,
    channel::{Receiver, Sender},
    choose,
    time::after,
};

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

/// What the partner does.
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

fn chooser(plan: Plan, n: u64, receivers: &[Receiver<u64>], senders: &[(Sender<u64>, u64)]) -> u64 {
    let timeout = after(TIMEOUT).wrap(|()| timed_out());
    match (receivers, senders, plan.timeout) {
        ([a, b], [], false) => sum(n, choose((recv(a), recv(b)))),
        ([a, b], [], true) => sum(n, choose((recv(a), recv(b), timeout))),
        ([a], [b], _) => sum(n, choose((recv(a), send(b)))),
        ([a, b, c, d, e, f, g, h], [], false) => {
            let arms = (recv(a), recv(b), recv(c), recv(d), recv(e), recv(f), recv(g), recv(h));
            sum(n, choose(arms))
        }
        ([a, b, c, d, e, f, g, h], [], true) => {
            let arms = (recv(a), recv(b), recv(c), recv(d), recv(e), recv(f), recv(g), recv(h), timeout);
            sum(n, choose(arms))
        }
        ([a, c, e, g], [b, d, f, h], _) => {
            let arms = (recv(a), send(b), recv(c), send(d), recv(e), send(f), recv(g), send(h));
            sum(n, choose(arms))
        }
        _ => {
            let receives = choose(receivers.iter().map(recv).collect::<Vec<_>>());
            let sends = choose(senders.iter().map(send).collect::<Vec<_>>());
            match (plan.both, plan.timeout) {
                (true, _) => sum(n, choose((receives, sends))),
                (false, true) => sum(n, choose((receives, timeout))),
                (false, false) => sum(n, receives),
            }
        }
    }
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
