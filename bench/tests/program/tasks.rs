//! The workloads about tasks: every system runs each of its cases, and has the right result.

use super::{rows, run};
use std::collections::BTreeSet;

const WORKLOADS: [&str; 5] = ["task-call", "async-send", "inflation", "choose-all", "parked"];
const SYSTEMS: &str = "call,serial,lisle,lisle-tasks,lisle-fibers,lisle-inline,tokio-mt";

#[test]
#[ignore = "takes long: --ignored"]
fn tasks_are_measured_beside_what_they_are_compared_with() {
    let rows = rows(&run(&[&WORKLOADS, &["--quick", "--systems", SYSTEMS, "--json", "-"][..]].concat()));
    for row in &rows {
        assert!(row["error"].is_null() && row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
    }
    let systems = |workload: &str, variant: &str, workers: u64| -> BTreeSet<_> {
        let its = rows
            .iter()
            .filter(|row| row["bench"] == workload && row["variant"] == variant && row["workers"] == workers);
        its.filter_map(|row| row["system"].as_str()).collect()
    };
    for (workload, variant, workers, all) in [
        ("task-call", "joined", 1, &["call", "lisle", "lisle-tasks", "tokio-mt"][..]),
        ("task-call", "detached", 1, &["call", "lisle", "lisle-tasks", "tokio-mt"]),
        ("async-send", "synchronous", 2, &["lisle", "tokio-mt"]),
        ("async-send", "asynchronous", 2, &["lisle", "lisle-fibers", "lisle-tasks", "tokio-mt"]),
        ("inflation", "-", 1, &["lisle", "lisle-inline", "lisle-tasks", "serial", "tokio-mt"]),
        ("inflation", "-", 2, &["lisle", "lisle-inline", "lisle-tasks", "tokio-mt"]),
        ("choose-all", "threads", 2, &["lisle-fibers", "lisle-tasks", "tokio-mt"]),
        ("choose-all", "together", 2, &["lisle", "tokio-mt"]),
        ("parked", "-", 1, &["lisle", "lisle-tasks", "tokio-mt"]),
        ("parked", "beyond-future", 1, &["lisle-tasks", "tokio-mt"]),
    ] {
        let all = all.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(systems(workload, variant, workers), all, "{workload}, {variant}, {workers} workers");
    }
}

/// In these a task is shown beside a fiber, so that a user sees which to take.
const CHANNELS_SPAWNING_AND_SLEEPING: [&str; 14] = [
    "chain",
    "choose",
    "choose-nacks",
    "diagonal",
    "fan-out",
    "pairs",
    "ping-pong",
    "sleepers",
    "spawn-burst",
    "spawn-detached",
    "spawn-join",
    "wait-set",
    "wake",
    "yield",
];

#[test]
#[ignore = "takes long: --ignored"]
fn tasks_and_fibers_stand_side_by_side() {
    let arguments = ["--quick", "--systems", "lisle,lisle-tasks", "--json", "-"];
    let rows = rows(&run(&[&CHANNELS_SPAWNING_AND_SLEEPING, &arguments[..]].concat()));
    for row in &rows {
        assert!(row["error"].is_null() && row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
        // Between two plain threads there is neither.
        let is_between_threads = row["variant"] == "two-threads";
        let has = |system: &str| {
            let case = ["bench", "variant", "params", "workers"];
            rows.iter()
                .any(|other| other["system"] == system && case.iter().all(|key| other[key] == row[key]))
        };
        assert!(has("lisle") && (has("lisle-tasks") || is_between_threads), "{row}");
    }
}

/// Each way has the right sizes, or the system refuses it.
#[test]
fn a_file_is_asked_for_its_size_in_each_way() {
    let systems = "call,lisle,lisle-blocking,lisle-uring,tokio-ct,tokio-mt,smol,threads,io-uring";
    let rows = rows(&run(&["stat", "--quick", "--systems", systems, "--json", "-"]));
    // With one worker: all nine, and with 64 tasks all but the plain call. With two not the call,
    // nor tokio's of one worker.
    assert_eq!(rows.len(), 9 + 8 + 7 + 7);
    for row in &rows {
        let why = row["error"].as_str().unwrap_or_default();
        let is_refused = row["system"].as_str().unwrap().ends_with("uring") && why.starts_with("not here");
        assert!(is_refused || row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
    }
}

#[test]
fn threads_are_spawned_as_fibers_and_tasks_are() {
    let systems = "lisle,lisle-tasks,tokio-mt,smol,may,threads";
    let rows = rows(&run(&["spawn-detached", "--quick", "--systems", systems, "--json", "-"]));
    assert_eq!(rows.len(), 12);
    for row in &rows {
        assert!(row["error"].is_null() && row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
    }
}
