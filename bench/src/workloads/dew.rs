//! Dew's own benchmark: in each frame every stream calls a function of the engine once.
//!
//! With one worker there is the thread of the frame and no other. With more, that thread is one of
//! them.

#[path = "dew/lisle.rs"]
pub(super) mod lisle;

use crate::{
    frames::{self, Calls},
    job::{Job, Outcome},
    peers::{Executor, Lisle, Pool, Rayon, Serial, TokioMultiThread},
    workload::{Case, Param, Program, Workload, param, size},
};
use std::time::Instant;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "dew",
    about: "30,000 streams, each of which calls a function once in a frame; the function does nothing, multiplies, or \
            doubles the numbers of a chunk of memory",
    follows: "\"Implementation of Parallelism\", the benchmark of the language Dew: the mean and the worst of ten frames",
    unit: frames::UNIT,
    units: frames::UNITS,
    cases: &[
        Case::new("none", &[STREAMS, param("chunk", 100)]),
        Case::new("arith", &[STREAMS, param("chunk", 100)]),
        Case::new("arith", &[STREAMS, param("chunk", 1_000)]),
        Case::new("arith", &[STREAMS, param("chunk", 10_000)]),
        Case::new("memory", &[STREAMS, param("chunk", 100)]),
        Case::new("memory", &[STREAMS, param("chunk", 1_000)]),
        Case::new("memory", &[STREAMS, param("chunk", 10_000)]),
    ],
    programs: &[
        Program::here("serial", looped::<Serial>),
        Program::here("lisle", lisle::lisle).note("a stream for each call"),
        Program::here("lisle-batches", lisle::batches).note("a stream for each call"),
        Program::here("lisle-domains", lisle::domains).note("a stream for each call"),
        Program::here("lisle-loop", looped::<Lisle>).note("a loop over the calls"),
        Program::here("rayon", looped::<Rayon>).note("a loop over the calls"),
        Program::here("bevy-tasks", bevy).note("a task for each call"),
        Program::here("tokio-mt", tokio).note("a task for each call"),
        Program::elsewhere("onetbb").note("a loop over the calls"),
        Program::elsewhere("onetbb-affinity").note("a loop over the calls"),
        Program::elsewhere("go").note("a goroutine for each call; its compiler knows no vectors"),
    ],
};

const STREAMS: Param = size("streams", 30_000, 1_000);

/// One loop over all streams in each frame.
pub(super) fn looped<P: Pool>(job: &Job) -> Outcome {
    let calls = Calls::new(job);
    P::run(job.workers, || {
        calls.measure(|call, streams| {
            P::each(streams, |_, stream| stream.value = Some(call.in_a_row(stream.chunk)));
        })
    })
}

fn bevy(job: &Job) -> Outcome {
    // A scope runs its tasks on the calling thread, too.
    let pool = bevy_tasks::TaskPoolBuilder::new().num_threads(job.workers - 1).build();
    Calls::new(job).measure(|call, streams| {
        pool.scope(|scope| {
            for stream in streams {
                scope.spawn(async move { stream.value = Some(call.once(stream.chunk)) });
            }
        });
    })
}

fn tokio(job: &Job) -> Outcome {
    let mut calls = Calls::new(job);
    TokioMultiThread::start(job.workers).run(async move {
        let mut tasks = Vec::with_capacity(calls.streams.len());
        while calls.goes_on() {
            let (start, call) = (Instant::now(), calls.call);
            let chunks = calls.streams.iter().map(|stream| stream.chunk);
            tasks.extend(chunks.map(|chunk| TokioMultiThread::spawn(async move { call.once(chunk) })));
            for (stream, task) in calls.streams.iter_mut().zip(tasks.drain(..)) {
                stream.value = Some(task.await);
            }
            calls.note(start.elapsed());
        }
        calls.outcome()
    })
}
