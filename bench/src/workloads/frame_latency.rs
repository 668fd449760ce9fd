//! Frames at 60 Hz: how long after its time each is done, alone and while a server on the same
//! domains answers.
//!
//! A frame evaluates streams that take a small step, and others that await a call of some
//! microseconds. The client that asks is a child of the sample. It has other cores than the server
//! where the machine has them, as in `mixed`.

#[path = "frame_latency/game.rs"]
mod game;
#[path = "frame_latency/load.rs"]
mod load;

use crate::{
    job::{Figure, Job, Measured, Outcome, cpu_seconds},
    peers,
    workload::{Case, Param, Program, Unit, Workload, param, size},
};
use game::Game;
use load::Load;
use std::time::{Duration, Instant};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "frame-latency",
    about: "frames at 60 Hz, of 20,000 streams and 1,000 calls: how long after it is due each is done, alone and \
            beside a server under load on the same domains",
    follows: "what a game with a server in its process is afraid of",
    unit: MS,
    units: &[
        ("p50", MS),
        ("p99", MS),
        ("p99.9", MS),
        ("worst", MS),
        ("answers p50", Unit::lower_is_better("µs")),
        ("answers p99", Unit::lower_is_better("µs")),
    ],
    cases: &[
        Case::new(ALONE, &[FRAMES, STREAMS, CALLS]).lasts(SECONDS),
        Case::new(SERVER, &[FRAMES, STREAMS, CALLS, param("rate", 2_000)]).lasts(SECONDS),
    ],
    programs: &[Program::here(SYSTEM, lisle)],
};

const SYSTEM: &str = "lisle-domains";

const MS: Unit = Unit::lower_is_better("ms");

const ALONE: &str = "alone";
const SERVER: &str = "server";

/// The variant that makes the sample a client.
const LOAD: &str = "load";

/// 10,000 frames take two minutes and 47 seconds.
const FRAMES: Param = size("frames", 10_000, 120);
const SECONDS: u64 = 170;
const STREAMS: Param = param("streams", 20_000);
const CALLS: Param = param("calls", 1_000);

/// From one frame to the next.
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// How many frames come before the frames that are counted.
const WARM_UP: usize = 30;

fn lisle(job: &Job) -> Outcome {
    match job.variant.as_str() {
        LOAD => load::ask(job),
        _ => peers::runtime(job.workers).run(|| frames(job)),
    }
}

/// Called in a fiber, which has the frames.
fn frames(job: &Job) -> Outcome {
    let frames = job.param("frames") as usize;
    let mut game = Game::new(job);
    for _ in 0..WARM_UP {
        game.frame();
    }
    let load = (job.variant == SERVER).then(|| Load::start(job, SYSTEM, PERIOD * frames as u32));
    let cpu = cpu_seconds();
    let start = Instant::now();
    let mut late: Vec<Duration> = (0..frames as u32)
        .map(|nth| {
            let due = start + PERIOD * nth;
            lisle::time::sleep(due.saturating_duration_since(Instant::now()));
            game.frame();
            due.elapsed()
        })
        .collect();
    let cpu_seconds = cpu_seconds() - cpu;
    let measured = Measured { operations: frames as u64, elapsed: start.elapsed(), cpu_seconds };
    game.check(WARM_UP + frames);
    late.sort();
    let mut figures = figures(&late);
    if let Some(load) = load {
        figures.extend(load.end().figures);
    }
    measured.figures(figures)
}

/// Of times in order, in milliseconds.
fn figures(late: &[Duration]) -> Vec<Figure> {
    let at = |name: &str, quantile: f64| {
        let nth = ((late.len() as f64 * quantile).ceil() as usize).clamp(1, late.len()) - 1;
        figure(name, late[nth].as_secs_f64() * 1e3)
    };
    vec![at("p50", 0.5), at("p99", 0.99), at("p99.9", 0.999), at("worst", 1.0)]
}

fn figure(name: &str, value: f64) -> Figure {
    Figure { name: name.to_owned(), value, p99: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_times_in_order() {
        let late: Vec<Duration> = (1..=1000).map(Duration::from_millis).collect();
        let values: Vec<f64> = figures(&late).iter().map(|figure| figure.value).collect();
        assert_eq!(values, [500.0, 990.0, 999.0, 1000.0]);
        let values: Vec<f64> = figures(&late[..1]).iter().map(|figure| figure.value).collect();
        assert_eq!(values, [1.0; 4]);
    }
}
