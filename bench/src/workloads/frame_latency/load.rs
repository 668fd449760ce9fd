//! A server in the runtime of the frames, and a process that asks it.

use super::{
    super::mixed::{client::Client, lisle::accept},
    LOAD, WORKLOAD, figure,
};
use crate::{
    job::{Job, Measured, Outcome, cpu_seconds},
    runner::process::end_with_us,
    server::cores,
};
use lisle::net::TcpListener;
use std::{
    net::{Ipv4Addr, SocketAddr},
    process::{Command, Output, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The started load, which sends requests.
pub(super) struct Load(JoinHandle<Output>);

impl Load {
    /// Starts a server in this runtime, and asks it for so long.
    pub(super) fn start(job: &Job, system: &str, duration: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        lisle::spawn(move || match accept(&listener) {
            Ok(never) => match never {},
            Err(error) => panic!("lisle: {error}"),
        });
        let mut command = Command::new("/proc/self/exe");
        command.args(["--as", system, WORKLOAD.name, LOAD, &job.workers.to_string()]);
        command.arg(duration.as_millis().to_string());
        command.args([format!("rate={}", job.param("rate")), format!("port={port}")]);
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let workers = job.workers;
        // A thread of its own, whose cores the process inherits. It waits: the process ends with
        // it.
        Load(thread::spawn(move || {
            cores::leave_to_server(workers);
            end_with_us(&mut command);
            command.output().expect("this program can be started")
        }))
    }

    /// Waits for its end, and returns its result.
    pub(super) fn end(self) -> Outcome {
        while !self.0.is_finished() {
            // Fibers of this domain have the last requests to answer.
            lisle::time::sleep(Duration::from_millis(1));
        }
        let output = self.0.join().expect("it has waited");
        assert!(output.status.success(), "the client has failed");
        let answer = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(answer.trim()).expect("the client answers as this program does")
    }
}

/// The work of the process that [`Load`] starts.
pub(super) fn ask(job: &Job) -> Outcome {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, job.param("port") as u16));
    let asked = Client::connect(address, job.param("rate")).and_then(|mut client| {
        let start = Instant::now();
        Ok((client.ask(job.target)?, start.elapsed()))
    });
    let (asked, elapsed) = asked.unwrap_or_else(|error| panic!("asking: {error}"));
    let [p50, p99, _] = asked.percentiles;
    let measured = Measured { operations: asked.requests, elapsed, cpu_seconds: cpu_seconds() };
    measured.figures(vec![figure("answers p50", p50), figure("answers p99", p99)])
}
