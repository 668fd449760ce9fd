//! Takeuchi's function, each call a thread, without a cut-off: a call starts three that are
//! independent, and a fourth on their results.

use crate::{
    forms::{self, Forms},
    job::Job,
    workload::{Case, Unit, Workload, param, size},
};
use lisle::{
    channel::{Receiver, Sender},
    spawn_task,
};
use std::sync::Arc;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "par-tak",
    about: "Takeuchi's function of three numbers; each call is a thread that sends its result to the caller",
    follows: "Par-tak of the evaluation of parasitic threads: 297,361 calls, as of tak(20, 5, 0)",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("x", 20, 14), param("y", 5), param("z", 0)])],
    programs: &forms::in_four_forms::<ParTak>(),
};

/// The function's arguments. Some inner calls have a negative one.
struct ParTak([i64; 3]);

impl Forms for ParTak {
    fn input(job: &Job) -> Self {
        ParTak(["x", "y", "z"].map(|name| job.param(name).cast_signed()))
    }

    fn serial(&self) -> u64 {
        serial(self.0).cast_unsigned()
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        fiber(self.0).recv().unwrap().cast_unsigned()
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        task(self.0).recv().unwrap().cast_unsigned()
    }
}

fn serial([x, y, z]: [i64; 3]) -> i64 {
    if y >= x { z } else { serial(inner([x, y, z]).map(serial)) }
}

/// The arguments of the inner calls, whose results are the arguments of the outer call.
fn inner([x, y, z]: [i64; 3]) -> [[i64; 3]; 3] {
    [[x - 1, y, z], [y - 1, z, x], [z - 1, x, y]]
}

fn fiber([x, y, z]: [i64; 3]) -> Receiver<i64> {
    let (result, caller) = lisle::channel();
    lisle::spawn(move || {
        let value = if y >= x {
            z
        } else {
            let results = inner([x, y, z]).map(fiber);
            fiber(results.map(|result| result.recv().unwrap())).recv().unwrap()
        };
        result.send(value).unwrap();
    });
    caller
}

fn task(args: [i64; 3]) -> Receiver<i64> {
    let (result, caller) = lisle::channel();
    spawn_task(tak(args, result));
    caller
}

async fn tak([x, y, z]: [i64; 3], result: Sender<i64>) {
    if y >= x {
        return drop(result.send_async_evt(z).await);
    }
    let [a, b, c] = inner([x, y, z]).map(task);
    let results = [a.recv_evt().await.unwrap(), b.recv_evt().await.unwrap(), c.recv_evt().await.unwrap()];
    let value = task(results).recv_evt().await.unwrap();
    drop(result.send_async_evt(value).await);
}
