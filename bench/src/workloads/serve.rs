//! A web server: one file of 10 KB over connections that are kept alive, as fast as a closed loop
//! takes it.
//!
//! The server is a child of the sample, on the sample's cores. The load runs on other cores, as
//! many as the server has workers, where the machine has them; else it shares the server's. So with
//! two workers on a machine with two cores the two compete, for all systems alike, and the tail is
//! the scheduler's as much as the server's. A closed loop asks again only when it is answered: its
//! latencies belong to a server at its limit.

#[path = "serve/hyper.rs"]
mod hyper;
#[path = "serve/load.rs"]
mod load;
#[path = "serve/nginx.rs"]
mod nginx;
#[path = "serve/wrk.rs"]
mod wrk;

use crate::{
    job::{Figure, Job, Outcome},
    server::{
        cores,
        process::{self, Server, found},
        site::{self, Site},
    },
    systems,
    workload::{Case, Program, Unit, Workload, param},
};
use load::{Answers, Load};
use std::{ffi::OsString, process::Command};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "serve",
    about: "a file of 10 KB over connections kept alive; the load has cores of its own if the machine has more",
    follows: "wrk on one static file, as web servers are usually compared",
    unit: Unit::higher_is_better("requests/s"),
    units: &[
        ("rate", Unit::higher_is_better("requests/s")),
        ("p50", Unit::lower_is_better("µs")),
        ("p99", Unit::lower_is_better("µs")),
        ("p99.9", Unit::lower_is_better("µs")),
    ],
    cases: &[Case::new("-", &[param("connections", 64)])],
    programs: &[
        Program::here("lisle", lisle).starting_own().note("the command; files cached, timeouts on"),
        Program::here("hyper", hyper).note("the file in memory, no timeouts"),
        Program::here("go", go).starting_own().note("http.FileServer, no timeouts"),
        Program::here("nginx", nginx).note("sendfile, open files cached, timeouts on"),
    ],
};

fn lisle(job: &Job) -> Outcome {
    sample(job, |site| {
        let address = process::free_address()?;
        let mut command = systems::own_command();
        command.arg("serve").arg(site.folder()).args(["--addr", &address.to_string(), "--log", "off"]);
        command.args(["--domains", &job.workers.to_string(), "--pin"]);
        Server::at(address, command, site)
    })
}

fn hyper(job: &Job) -> Outcome {
    if job.variant == hyper::SERVER {
        hyper::serve(job.workers);
    }
    sample(job, |site| {
        let mut command = Command::new("/proc/self/exe");
        command.args(["--as", "hyper", WORKLOAD.name, hyper::SERVER, &job.workers.to_string(), "0"]);
        command.current_dir(site.folder());
        Server::announced(command, site)
    })
}

fn go(job: &Job) -> Outcome {
    sample(job, |site| {
        let mut directory = OsString::from("directory=");
        directory.push(site.folder());
        let mut command = systems::own_command();
        command.args([WORKLOAD.name, "-", &job.workers.to_string(), "0"]).arg(directory);
        Server::announced(command, site)
    })
}

fn nginx(job: &Job) -> Outcome {
    let nginx = found(nginx::find().ok_or("not here: nginx; install it (Debian: nginx-light)"));
    sample(job, |site| {
        let address = process::free_address()?;
        let mut command = Command::new(&nginx);
        command.arg("-c").arg(nginx::configure(site, address, job.workers)?);
        Server::at(address, command, site)
    })
}

fn sample(job: &Job, start: impl FnOnce(&Site) -> Result<Server, String>) -> Outcome {
    measure(job, start).unwrap_or_else(|why| panic!("{why}"))
}

fn measure(job: &Job, start: impl FnOnce(&Site) -> Result<Server, String>) -> Result<Outcome, String> {
    let site = Site::new().map_err(|error| format!("no folder to serve: {error}"))?;
    let server = start(&site)?;
    cores::leave_to_server(job.workers);
    let connections = job.param("connections") as usize;
    let load = Load { address: server.address(), connections, threads: job.workers };
    // Our own load checks each answer, and so the warm-up is its in any case.
    load.run(job.target.mul_f64(2.5)).map_err(|error| format!("warm-up: {error}"))?;
    let before = server.usage();
    let duration = job.target * 10;
    let answers = match wrk::find() {
        Some(wrk) => wrk::run(&wrk, &load, &site, duration)?,
        None => load.run(duration).map_err(|error| error.to_string())?,
    };
    let after = server.usage();
    Ok(outcome(&answers, after.cpu_seconds - before.cpu_seconds, after.peak_bytes))
}

fn outcome(answers: &Answers, cpu_seconds: f64, rss_bytes: u64) -> Outcome {
    let figure = |name: &str, value| Figure { name: name.to_owned(), value, p99: None };
    let [p50, p99, p999] = answers.percentiles;
    Outcome {
        figures: vec![
            figure("rate", answers.requests as f64 / answers.elapsed.as_secs_f64()),
            figure("p50", p50),
            figure("p99", p99),
            figure("p99.9", p999),
        ],
        operations: answers.requests,
        cpu_seconds,
        rss_bytes,
        checksum: None,
        threads: None,
    }
}
