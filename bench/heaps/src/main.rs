//! The programs in Rust of the workloads of heaps.
//!
//! - `lisle-bench heap` builds this program, and runs `SYSTEM WORKLOAD MEMORY WORKERS MILLIS [NAME=VALUE…]` for each sample. The
//!   answer is a line of JSON.
//! - `cargo run --release --manifest-path bench/heaps/Cargo.toml -- places [ROUNDS]` measures `lisle-heap` alone: what an
//!   entry and an allocation take, and what the threads in a heap take from each other.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod clock;
mod job;
mod lisle;
mod lru;
mod pauses;
mod places;
mod threads;
mod trees;

use job::{Job, Outcome};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "places") {
        let rounds = arguments.get(1).map_or(9, |text| text.parse().expect("the rounds are a number"));
        places::measure(rounds);
        return ExitCode::SUCCESS;
    }
    match Job::parse(&arguments).and_then(|job| measure(&job)) {
        Ok(outcome) => {
            println!("{}", serde_json::to_string(&outcome).expect("figures are numbers"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(job: &Job) -> Result<Outcome, String> {
    let outcome = match job.workload.as_str() {
        "heap-trees" => trees::measure(job),
        "heap-lru" => lru::measure(job),
        "heap-pauses" => pauses::measure(job),
        _ => None,
    };
    outcome.ok_or_else(|| format!("{} has no program for {}", job.system, job.workload))
}
