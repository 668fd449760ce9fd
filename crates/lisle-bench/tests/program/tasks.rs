//! The workloads about tasks: every system does each of its cases, and comes to the right result.

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
