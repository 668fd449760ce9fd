//! A server that answers while all its cores are at work in a loop: how late its answers are, and
//! how much they slow the loop.
//!
//! The server is a child of the sample, on the sample's cores, where it draws one picture of the
//! Mandelbrot set after the other. The client has other cores, as in `serve`, where the machine has
//! them. It asks at fixed times, whether or not it has been answered (an open loop), and counts a
//! request's time from when it was due. Where it may, it asks at real-time priority: on the
//! server's cores it is itself late by milliseconds otherwise, whatever the server does. Each
//! answer says how many rows of pictures there have been.

#[path = "mixed/answer.rs"]
mod answer;
#[path = "mixed/client.rs"]
pub(super) mod client;
#[path = "mixed/lisle.rs"]
pub(super) mod lisle;
#[path = "mixed/tokio.rs"]
mod tokio;

use super::mandelbrot_loop::View;
use crate::{
    forms::checksum,
    job::{Figure, Job, Outcome},
    peers::Pool,
    server::{cores, process::Server, site::Site},
    systems,
    workload::{Case, Program, Unit, Workload, param, size},
};
use answer::Progress;
use client::Client;
use std::process::Command;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mixed",
    about: "requests to a server whose cores are all in a long loop; a client asks at a fixed rate, over 16 connections",
    follows: "what a service is afraid of: computing where it answers",
    unit: Unit::lower_is_better("µs"),
    units: &[
        ("p50", Unit::lower_is_better("µs")),
        ("p99", Unit::lower_is_better("µs")),
        ("p99.9", Unit::lower_is_better("µs")),
        ("loop", Unit::higher_is_better("rows/s")),
        ("loop-alone", Unit::higher_is_better("rows/s")),
    ],
    cases: &[Case::new(
        "-",
        &[param("rate", 1000), param("width", 256), size("height", 16384, 2048), param("steps", 256)],
    )],
    programs: &[
        Program::here("lisle", |job| here(job, "lisle", lisle::serve))
            .note("fibers and the loop in one runtime"),
        Program::here("tokio-rayon", |job| here(job, "tokio-rayon", tokio::beside_rayon))
            .note("as many threads of each as there are workers"),
        Program::here("tokio-blocking", |job| here(job, "tokio-blocking", tokio::blocking))
            .note("spawn_blocking for each 64 rows"),
        Program::here("go", go).starting_own(),
    ],
};

/// The variant that makes the sample a server.
const SERVER: &str = "server";

/// A server that is a function of this program.
fn here(job: &Job, system: &str, serve: fn(&Job) -> !) -> Outcome {
    if job.variant == SERVER {
        serve(job);
    }
    let mut command = Command::new("/proc/self/exe");
    command.args(["--as", system]);
    sample(job, command)
}

fn go(job: &Job) -> Outcome {
    sample(job, systems::own_command())
}

/// Asks the server that `command` starts, with the arguments of a peer.
fn sample(job: &Job, mut command: Command) -> Outcome {
    command.args([WORKLOAD.name, SERVER, &job.workers.to_string(), "0"]);
    command.args(job.params.iter().map(|(name, value)| format!("{name}={value}")));
    measure(job, command).unwrap_or_else(|why| panic!("{why}"))
}

fn measure(job: &Job, command: Command) -> Result<Outcome, String> {
    let site = Site::new().map_err(|error| format!("no folder for the server: {error}"))?;
    let server = Server::announced(command, &site)?;
    cores::leave_to_server(job.workers);
    let failed = |error| format!("asking: {error}");
    let mut client = Client::connect(server.address(), job.param("rate")).map_err(failed)?;
    // The first picture warms up.
    let checksum = client.first_picture().map_err(failed)?;
    let alone = client.wait(job.target * 5).map_err(failed)?;
    let before = server.usage();
    let asked = client.ask(job.target * 10).map_err(failed)?;
    let after = server.usage();
    let figure = |name: &str, value| Figure { name: name.to_owned(), value, p99: None };
    let [p50, p99, p999] = asked.percentiles;
    Ok(Outcome {
        figures: vec![
            figure("p50", p50),
            figure("p99", p99),
            figure("p99.9", p999),
            figure("loop", asked.rows_a_second),
            figure("loop-alone", alone),
        ],
        operations: asked.requests,
        cpu_seconds: after.cpu_seconds - before.cpu_seconds,
        rss_bytes: after.peak_bytes,
        checksum: Some(checksum),
        threads: None,
    })
}

/// Which row is drawn in the place of row `y`. The other order makes all parts of the loop take
/// equally long, so that the rate of rows is the rate of work.
fn shuffled(view: View, y: usize) -> usize {
    y * 7919 % view.height
}

/// Draws pictures on a pool, called within it.
fn draw<P: Pool>(job: &Job, progress: &Progress) -> ! {
    let view = View::of(job);
    let mut picture = vec![0; view.width * view.height];
    loop {
        P::rows(&mut picture, view.width, |y, row| {
            view.row(shuffled(view, y), row);
            progress.row();
        });
        progress.picture(|| checksum(picture.iter().map(|&steps| steps.into())));
    }
}
