//! Garbage-collected heaps: the command `heap`, and the common parts of its workloads.
//!
//! How fast a heap is depends on the memory that it may take. So each system is measured with three
//! settings, and the tables of a workload are a curve: the time over the resident memory. The programs
//! in Rust are a program of their own (`bench/heaps`), whose allocator is mimalloc.

use crate::{
    cli::{HeapOptions, Options},
    report, runner,
    workload::{Case, Param, RESIDENT, Unit, Workload},
    workloads,
};
use std::time::Duration;

/// With which the names of these workloads begin.
const PREFIX: &str = "heap-";

/// The unit of the resident memory, which is a figure of each of these workloads.
pub(crate) const MEBIBYTES: (&str, Unit) = (RESIDENT, Unit::lower_is_better("MiB"));

/// The settings of a heap's memory: variants of each workload.
pub(crate) const fn settings(params: &'static [Param]) -> [Case; 3] {
    [Case::new("small", params), Case::new("medium", params), Case::new("large", params)]
}

pub(crate) fn workloads() -> impl Iterator<Item = &'static Workload> {
    workloads::ALL.iter().copied().filter(|workload| workload.name.starts_with(PREFIX))
}

/// Takes the samples, and prints the tables.
pub(crate) fn measure(options: &HeapOptions) -> Result<(), String> {
    let names = match options.names.as_slice() {
        [] => workloads().map(|workload| workload.name.to_owned()).collect(),
        names => names.to_vec(),
    };
    let all = Options {
        command: None,
        names,
        list: false,
        quick: options.quick,
        rounds: options.rounds,
        workers: options.workers.clone(),
        systems: options.systems.clone(),
        params: options.params.clone(),
        json: options.json.clone(),
        html: options.html.clone(),
    };
    let mut plan = runner::Plan::new(&all)?;
    plan.limit = Duration::from_secs(options.limit);
    let mut report = report::Report::open(&all)?;
    report.write(&runner::run(&plan))
}
