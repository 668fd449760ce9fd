//! crossbeam-channel on threads: its macro for few arms, its dynamic `Select` for many.

use super::{Counterpart, Ends, Plan, TIMEOUT, timed_out};
use crate::job::{Job, Outcome, timed};
use crossbeam_channel::{Receiver, Select, Sender, bounded, select};
use std::thread;

pub(super) fn crossbeam(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let measured = job.measure(|n| {
        let Ends { receivers, senders, partner } = plan.ends(|| bounded(0));
        let partner = thread::spawn(move || serve(plan, n, &partner));
        let mut sum = 0;
        let elapsed = timed(|| sum = chooser(plan, n, &receivers, &senders));
        plan.check(n, sum, partner.join().unwrap());
        elapsed
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

/// The sum of `n` choices among these arms, each written as an arm of the macro.
macro_rules! sum {
    ($n:expr, $(recv $rx:ident),* $(, send $tx:ident)* $(, default $timeout:expr)?) => {
        (0..$n)
            .map(|_| {
                select! {
                    $(recv($rx) -> message => message.unwrap(),)*
                    $(send($tx.0, $tx.1) -> sent => {
                        sent.unwrap();
                        0
                    })*
                    $(default($timeout) => timed_out(),)?
                }
            })
            .sum()
    };
}

fn chooser(plan: Plan, n: u64, receivers: &[Receiver<u64>], senders: &[(Sender<u64>, u64)]) -> u64 {
    match (receivers, senders, plan.timeout) {
        ([a, b], [], false) => sum!(n, recv a, recv b),
        ([a, b], [], true) => sum!(n, recv a, recv b, default TIMEOUT),
        ([a], [b], _) => sum!(n, recv a, send b),
        ([a, b, c, d, e, f, g, h], [], false) => {
            sum!(n, recv a, recv b, recv c, recv d, recv e, recv f, recv g, recv h)
        }
        ([a, b, c, d, e, f, g, h], [], true) => {
            sum!(n, recv a, recv b, recv c, recv d, recv e, recv f, recv g, recv h, default TIMEOUT)
        }
        ([a, c, e, g], [b, d, f, h], _) => {
            sum!(n, recv a, recv c, recv e, recv g, send b, send d, send f, send h)
        }
        _ => many(plan, n, receivers, senders),
    }
}

/// The list is made once: `Select` may be used any number of times.
fn many(plan: Plan, n: u64, receivers: &[Receiver<u64>], senders: &[(Sender<u64>, u64)]) -> u64 {
    let mut select = Select::new();
    for receiver in receivers {
        select.recv(receiver);
    }
    for (sender, _) in senders {
        select.send(sender);
    }
    let mut sum = 0;
    for _ in 0..n {
        let chosen = if plan.timeout {
            select.select_timeout(TIMEOUT).expect("100 s are not over")
        } else {
            select.select()
        };
        match receivers.get(chosen.index()) {
            Some(receiver) => sum += chosen.recv(receiver).unwrap(),
            None => {
                let (sender, message) = &senders[chosen.index() - receivers.len()];
                chosen.send(sender, *message).unwrap();
            }
        }
    }
    sum
}
