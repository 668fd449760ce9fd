//! The command line.

use crate::{heap, locks, systems, workloads};
use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};
use std::path::PathBuf;

/// Measures Lisle beside its peers: the same work, in the same run, each sample in a process of its
/// own.
#[derive(Debug, Parser)]
#[command(name = "lisle-bench", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// The workloads to run; all, if none is named
    #[arg(value_name = "NAME", value_parser = workload_names())]
    pub(crate) names: Vec<String>,

    /// Describe the workloads and end
    #[arg(long)]
    pub(crate) list: bool,

    /// Short samples, few rounds, small sizes: to see that everything runs, not to compare
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many samples to take of each program [default: 3, of a slow one fewer; quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// With how many workers to run, as a list: 1,2 [default: 1,2]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_workers)]
    pub(crate) workers: Vec<usize>,

    /// The systems to run, as a list: lisle,go,tokio-mt [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = system_names())]
    pub(crate) systems: Vec<String>,

    /// Other values for a parameter of the cases, which are run with each: relays=1,10,100,1000
    #[arg(long = "param", value_name = "NAME=LIST", value_parser = parse_param)]
    pub(crate) params: Vec<Values>,

    /// Write one JSON object a line for each row; to standard output, instead of the table, if PATH
    /// is -
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
}

/// The values that a parameter is to have.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub(crate) name: String,
    pub(crate) values: Vec<u64>,
}

/// The other commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write BENCHMARKS.md from files of results
    Report(ReportOptions),
    /// Explore programs by the checker, by loom and by shuttle
    Check(CheckOptions),
    /// Measure effects and their handlers, and no other workloads
    Effects(EffectsOptions),
    /// Measure garbage-collected heaps: time over memory, and pauses, and no other workloads
    Heap(HeapOptions),
    /// Measure the bounds of a message between cores, beside the workloads whose messages cross
    Limit(LimitOptions),
    /// Measure mutexes, semaphores, readers-writer locks and condition variables: throughput,
    /// waits, idle times and fairness, and no other workloads
    Locks(LocksOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// The programs to explore; all, if none is named
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// How many samples to take of each tool and program
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,

    /// After how many seconds a sample is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) limit: u64,
}

#[derive(Debug, Args)]
pub(crate) struct EffectsOptions {
    /// The workloads to run, or programs of the suite: countdown, effect-create; all, if none is
    /// named
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Short samples, few rounds, small sizes: to see that everything runs, not to compare
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many samples to take of each program [default: 3, of a slow one fewer; quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// After how many seconds a sample is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) limit: u64,

    /// The systems to run, as a list: lisle,ocaml [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = system_names())]
    pub(crate) systems: Vec<String>,

    /// Write one JSON object a line for each row; to standard output, instead of the table, if PATH
    /// is -
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HeapOptions {
    /// The workloads to run: heap-trees, heap-pauses; all, if none is named
    #[arg(value_name = "NAME", value_parser = heap_names())]
    pub(crate) names: Vec<String>,

    /// Short samples, few rounds, small sizes: to see that everything runs, not to compare
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many samples to take of each program [default: 3, of a slow one fewer; quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// With how many threads to run, as a list: 1,2 [default: 1,2]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_workers)]
    pub(crate) workers: Vec<usize>,

    /// After how many seconds a sample is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) limit: u64,

    /// The systems to run, as a list: lisle-heap,java-g1 [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = system_names())]
    pub(crate) systems: Vec<String>,

    /// Other values for a parameter of the cases, which are run with each: depth=18,21
    #[arg(long = "param", value_name = "NAME=LIST", value_parser = parse_param)]
    pub(crate) params: Vec<Values>,

    /// Write one JSON object a line for each row; to standard output, instead of the table, if PATH
    /// is -
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// The workloads to run beside the limits: ping-pong, chain; all that cross between cores, if
    /// none is named
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Short samples, few rounds, small sizes: to see that everything runs, not to compare
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many samples to take of each program [default: 3, of a slow one fewer; quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// The systems to run beside the limit, as a list: lisle,go [default: the forms of Lisle]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = system_names())]
    pub(crate) systems: Vec<String>,

    /// Write one JSON object a line for each row; to standard output, instead of the table, if PATH
    /// is -
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LocksOptions {
    /// The studies to run, or cases of them: lock-contended, readers, queue; all, if none is named
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Short samples, few rounds: to see that everything runs, not to compare
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many samples to take of each lock [default: 3, of a slow one fewer; quick: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// On how many cores to run, as a list: 1,2
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "2", value_parser = parse_workers)]
    pub(crate) workers: Vec<usize>,

    /// How many threads, fibers, tasks or futures lock, as a list: 2,64 [default: 2,4,16,64, or
    /// some of them]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_threads)]
    pub(crate) threads: Vec<u64>,

    /// The locks to run, as a list: std,lisle-threads [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = lock_names())]
    pub(crate) locks: Vec<String>,

    /// Write one JSON object a line for each row and figure; to standard output, instead of the
    /// tables, if PATH is -
    #[arg(long, value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PATH")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The files of results; the files of the repository, if none is named
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write nothing, and fail if the files differ from the texts that would be written
    #[arg(long)]
    pub(crate) check: bool,

    /// Write the same with plots, as a page of the site
    #[arg(long, value_name = "PATH")]
    pub(crate) site: Option<PathBuf>,
}

/// Names the nearest one, and all, when a name is wrong.
fn workload_names() -> PossibleValuesParser {
    workloads::ALL.iter().map(|workload| PossibleValue::new(workload.name).help(workload.about)).into()
}

fn heap_names() -> PossibleValuesParser {
    heap::workloads()
        .map(|workload| PossibleValue::new(workload.name).help(workload.about))
        .collect::<Vec<_>>()
        .into()
}

fn system_names() -> PossibleValuesParser {
    systems::ALL.iter().map(|system| PossibleValue::new(system.name).help(system.about)).into()
}

fn lock_names() -> PossibleValuesParser {
    let lock = |name| {
        let about = systems::find(name).map_or("", |system| system.about);
        PossibleValue::new(name).help(about)
    };
    locks::systems().map(lock).collect::<Vec<_>>().into()
}

fn parse_threads(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(threads) if (1..=1024).contains(&threads) => Ok(threads),
        _ => Err("a number of threads is from 1 to 1024".to_owned()),
    }
}

fn parse_workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(workers) if (1..=1024).contains(&workers) => Ok(workers),
        _ => Err("a number of workers is from 1 to 1024".to_owned()),
    }
}

/// `relays=1,10,100`; the name has to be one of a workload's.
fn parse_param(text: &str) -> Result<Values, String> {
    let (name, list) = text.split_once('=').ok_or("a parameter is given as NAME=LIST: relays=1,10,100")?;
    let mut known: Vec<&str> = workloads::ALL
        .iter()
        .flat_map(|workload| workload.cases)
        .flat_map(|case| case.params)
        .map(|p| p.name)
        .collect();
    known.sort_unstable();
    known.dedup();
    if !known.contains(&name) {
        return Err(format!("no workload has a parameter '{name}'; there are {}", known.join(", ")));
    }
    let value = |text: &str| text.parse().ok().filter(|value| *value <= 1_000_000_000);
    let values: Option<Vec<u64>> = list.split(',').map(value).collect();
    let values = values.ok_or_else(|| format!("a value of {name} is a number up to 1,000,000,000"))?;
    Ok(Values { name: name.to_owned(), values })
}
