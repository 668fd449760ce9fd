//! Measures Lisle beside its peers: the same work, in the same run, each sample in a process of its
//! own.
//!
//! The folder's README says how to read the figures and how to add a workload.

mod check;
mod cli;
mod effects;
mod forms;
mod frames;
mod heap;
mod job;
mod limits;
mod locks;
mod loops;
mod parts;
mod peers;
mod report;
mod repository;
mod runner;
mod server;
mod systems;
mod workload;
mod workloads;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = runner::sample_if_asked() {
        return code;
    }
    let options = cli::Options::parse();
    let outcome = match &options.command {
        Some(cli::Command::Report(options)) => report::report(options),
        Some(cli::Command::Check(options)) => check::compare(options),
        Some(cli::Command::Effects(options)) => effects::measure(options),
        Some(cli::Command::Heap(options)) => heap::measure(options),
        Some(cli::Command::Limit(options)) => limits::measure(options),
        Some(cli::Command::Locks(options)) => locks::measure(options),
        None if options.list => report::list(workloads::ALL),
        None => measure(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lisle-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(options: &cli::Options) -> Result<(), String> {
    let plan = runner::Plan::new(options)?;
    let mut report = report::Report::open(options)?;
    report.write(&runner::run(&plan))
}
