//! A web server of components that talk over channels, each connection a thread of its own, and
//! each file that is read.
//!
//! - The *listener* accepts a connection when it has leave to.
//! - The *connection manager* admits a limited number of connections at once.
//! - A *connection* reads a request, has the file read, writes the answer, and has it logged.
//! - The *file processor* starts a reader for each file that is asked for, which sends the file in
//!   pieces.
//! - The *logger* writes a line for each answer.
//!
//! That is eight messages and two threads for each request. As in the workload `serve`, the server
//! is a child of the sample on the sample's cores, and the load has others, if the machine has
//! more.

#[path = "swerve/answer.rs"]
mod answer;
#[path = "swerve/fibers.rs"]
mod fibers;
#[path = "swerve/load.rs"]
mod load;
#[path = "swerve/serial.rs"]
mod serial;
#[path = "swerve/tasks.rs"]
mod tasks;

use crate::{
    job::{Job, Outcome},
    server::{cores, process::Server, site::Site},
    systems,
    workload::{Case, Program, Unit, Workload, param, size},
};
use answer::Piece;
use lisle::{channel::Sender, net::TcpListener};
use load::Load;
use std::{
    fs::{self, File},
    net::Ipv4Addr,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "swerve",
    about: "a web server of components: a file of 10 KB, a connection for each request; the load has cores of its own \
            if the machine has more",
    follows: "Swerve of the evaluation of parasitic threads: 20,000 requests for a file of 10 KB",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("requests", 20_000, 1_000), param("clients", 16)])],
    programs: &[
        Program::here("serial", |job| here(job, "serial", serial::serve))
            .note("one request after another, nothing but files and sockets"),
        Program::here("lisle", |job| here(job, "lisle", || fibers::serve(job.workers))),
        Program::here("lisle-tasks", |job| here(job, "lisle-tasks", || tasks::serve(job.workers))),
        Program::here("go", go).starting_own(),
    ],
};

/// The variant that makes the sample a server: it serves the files in the working directory.
const SERVER: &str = "server";
/// Where a server writes a line for each answer.
const LOG: &str = "access.log";
/// How many connections may be open at once.
const MOST_OPEN: usize = 64;
/// How long the last lines of the log may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a connection reaches the components, of fibers or of tasks.
#[derive(Clone)]
struct Components {
    /// To the file processor: the path, and where the pieces go.
    files: Sender<(String, Sender<Piece>)>,
    /// To the logger.
    log: Sender<String>,
    /// To the connection manager.
    ended: Sender<()>,
}

/// The log, and a listener on a free port, which is announced.
fn open() -> (File, TcpListener) {
    let log = File::create(LOG).expect("the working directory is ours");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    println!("listening {}", listener.local_addr().expect("it is bound"));
    (log, listener)
}

fn here(job: &Job, system: &str, serve: impl FnOnce()) -> Outcome {
    if job.variant == SERVER {
        serve();
        unreachable!("a server is ended from outside");
    }
    let mut command = Command::new("/proc/self/exe");
    command.args(["--as", system]);
    sample(job, command)
}

fn go(job: &Job) -> Outcome {
    sample(job, systems::own_command())
}

fn sample(job: &Job, command: Command) -> Outcome {
    measure(job, command).unwrap_or_else(|why| panic!("{why}"))
}

fn measure(job: &Job, mut command: Command) -> Result<Outcome, String> {
    let site = Site::new().map_err(|error| format!("no folder to serve: {error}"))?;
    command.args([WORKLOAD.name, SERVER, &job.workers.to_string(), "0"]).current_dir(site.folder());
    let server = Server::announced(command, &site)?;
    cores::leave_to_server(job.workers);
    let load = Load { address: server.address(), clients: job.param("clients") };
    let requests = job.param("requests");
    let mut asked = 0;
    let mut ask = |requests| {
        let start = Instant::now();
        let bytes = load.run(requests);
        asked += requests;
        (start.elapsed(), bytes)
    };
    ask(requests / 10).1.map_err(|error| format!("warm-up: {error}"))?;
    let before = server.usage();
    let mut bytes = Ok(0);
    let measured = job.measure_whole(
        || (),
        || {
            let elapsed;
            (elapsed, bytes) = ask(requests);
            elapsed
        },
    );
    let after = server.usage();
    let checksum = bytes.map_err(|error| error.to_string())?;
    logged(&site, asked)?;
    Ok(Outcome {
        cpu_seconds: after.cpu_seconds - before.cpu_seconds,
        rss_bytes: after.peak_bytes,
        checksum: Some(checksum),
        threads: None,
        ..measured.milliseconds()
    })
}

/// Checks that the log has `lines` lines. The last may come after the answers.
fn logged(site: &Site, lines: u64) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let log = fs::read(site.folder().join(LOG)).map_err(|error| format!("there is no log: {error}"))?;
        let found = log.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if found == lines {
            return Ok(());
        }
        if found > lines || begun.elapsed() > PATIENCE {
            return Err(format!("{lines} requests were answered, and {found} were logged"));
        }
        sleep(Duration::from_millis(2));
    }
}
