//! Fibonacci numbers, each call a thread, without a cut-off: little but starting threads and
//! waiting for them.

use crate::{
    forms::{self, Forms},
    job::Job,
    workload::{Case, Unit, Workload, size},
};
use lisle::{channel::Sender, spawn_task};
use std::sync::Arc;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "par-fib",
    about: "a Fibonacci number; each call is a thread that starts two and sends the sum of their results",
    follows: "Par-fib of the evaluation of parasitic threads: fib(27) in 635,621 calls",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("n", 27, 20)])],
    programs: &forms::in_four_forms::<ParFib>(),
};

/// Of which number.
struct ParFib(u64);

impl Forms for ParFib {
    fn input(job: &Job) -> Self {
        ParFib(job.param("n"))
    }

    fn serial(&self) -> u64 {
        serial(self.0)
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let (result, caller) = lisle::channel();
        fiber(self.0, result);
        caller.recv().unwrap()
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (result, caller) = lisle::channel();
        task(self.0, result);
        caller.recv().unwrap()
    }
}

fn serial(n: u64) -> u64 {
    if n < 2 { n } else { serial(n - 1) + serial(n - 2) }
}

/// Both calls that a thread makes share a channel: the order of a sum's terms does not matter.
fn fiber(n: u64, result: Sender<u64>) {
    lisle::spawn(move || {
        if n < 2 {
            return result.send(n).unwrap();
        }
        let (tx, rx) = lisle::channel();
        fiber(n - 1, tx.clone());
        fiber(n - 2, tx);
        result.send(rx.recv().unwrap() + rx.recv().unwrap()).unwrap();
    });
}

fn task(n: u64, result: Sender<u64>) {
    spawn_task(async move {
        if n < 2 {
            return drop(result.send_async_evt(n).await);
        }
        let (tx, rx) = lisle::channel();
        task(n - 1, tx.clone());
        task(n - 2, tx);
        let sum = rx.recv_evt().await.unwrap() + rx.recv_evt().await.unwrap();
        drop(result.send_async_evt(sum).await);
    });
}
