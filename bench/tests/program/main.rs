//! The program as its users meet it.
//!
//! Tests that run whole workloads take long, and are ignored by default:
//!
//! ```sh
//! cargo test --manifest-path bench/Cargo.toml --test program -- --ignored
//! ```

mod benchmarks;
mod effects;
mod failures;
mod frames;
mod heap;
mod interrupts;
mod limits;
mod locks;
mod loops;
mod names;
mod params;
mod peers;
mod processes;
mod programs;
mod reports;
mod tasks;

use serde_json::Value;
use std::process::{Command, Output};

/// The program with these arguments.
fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle-bench"));
    command.args(arguments);
    command
}

/// Runs it to its end.
fn run(arguments: &[&str]) -> Output {
    bench(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// The lines of `--json -`. Nothing else may be among them.
fn rows(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
