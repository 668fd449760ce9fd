//! The checker beside loom and shuttle: the same programs, each explored by each tool.
//!
//! The program that takes a sample is a benchmark of `lisle-check` and not a part of this one: with
//! it the library would tell the checker its accesses, and all other benchmarks would measure that.
//! It is built here, and each sample is a process of its own, on one core. In each round each tool
//! takes one sample of a program, and the next round goes the other way.

mod sample;
mod table;

use crate::{cli::CheckOptions, report, repository::repository, runner};
use sample::Sample;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The tools that run all schedules of a program.
const EXHAUSTIVE: [&str; 3] = ["lisle", "loom", "shuttle-dfs"];
/// The tools that draw schedules by chance until one goes wrong.
const BY_CHANCE: [&str; 4] = ["lisle-random", "shuttle-random", "lisle-pct", "shuttle-pct"];

/// The results of all tools for a program.
struct Compared {
    program: String,
    tools: Vec<(&'static str, Vec<Sample>)>,
}

/// Takes the samples, and prints the tables.
pub(crate) fn compare(options: &CheckOptions) -> Result<(), String> {
    let peers = build()?;
    let programs = programs(&peers, &options.names)?;
    let facts = report::facts(options.rounds);
    print(&facts)?;
    for (program, fails) in programs {
        // A line on the terminal shows that it goes on.
        let _ = writeln!(io::stderr(), "{program}");
        let by_chance = BY_CHANCE.into_iter().filter(|_| fails);
        let tools = EXHAUSTIVE.into_iter().chain(by_chance).map(|tool| (tool, Vec::new())).collect();
        let mut compared = Compared { program, tools };
        for round in 1..=options.rounds {
            for (tool, samples) in &mut compared.tools {
                // A program that does not end would not end another time.
                if samples.iter().all(Sample::has_ended) {
                    samples.push(take(&peers, &compared.program, tool, round, options.limit));
                }
            }
            compared.tools.reverse();
        }
        if options.rounds % 2 == 1 {
            compared.tools.reverse();
        }
        print(&table::table(&compared))?;
    }
    Ok(())
}

fn print(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("cannot write: {error}"))
}

/// Takes one sample.
fn take(peers: &Path, program: &str, tool: &str, round: u32, limit: u64) -> Sample {
    let mut command = Command::new(peers);
    command.args(["sample", program, tool, &round.to_string(), &limit.to_string()]);
    // It gives up by itself.
    let ended = runner::alone(command, Duration::from_secs(limit + 10));
    ended.map_or_else(|error| Sample::Broken(error.to_string()), |ended| Sample::read(&ended))
}

/// Builds the program that takes samples, with the same profile as this one. Returns where it is.
fn build() -> Result<PathBuf, String> {
    let ours = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let target = ours.ancestors().nth(2).ok_or("this program is in no target folder")?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "-p", "lisle-check", "--bench", "peers"]);
    cargo.args(["--message-format", "json-render-diagnostics", "--target-dir"]).arg(target);
    cargo.current_dir(repository()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the programs of `lisle-check` do not build".to_owned());
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
    let executable = |line: &str| Some(PathBuf::from(message(line)?["executable"].as_str()?));
    messages.lines().filter_map(executable).next_back().ok_or_else(|| "cargo has built nothing".to_owned())
}

/// Returns the programs of these names, all if there are none, and whether they go wrong.
fn programs(peers: &Path, names: &[String]) -> Result<Vec<(String, bool)>, String> {
    let output = Command::new(peers).arg("list").output().map_err(|error| error.to_string())?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let all: Vec<_> = listed.lines().filter_map(|line| line.split_once(' ')).collect();
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|(known, _)| known == name)) {
        let known: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no program '{unknown}'; there are {}", known.join(", ")));
    }
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    let asked = all.into_iter().filter(|(name, _)| is_asked(name));
    Ok(asked.map(|(name, tools)| (name.to_owned(), tools == "all")).collect())
}
