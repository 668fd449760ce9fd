//! The command `limit`: the bounds of messages between cores, and the workloads beside them.

use super::{rows, run, stderr, stdout};
use rustix::thread::sched_getaffinity;
use std::collections::BTreeSet;

/// With one core nothing crosses, and the rows of two say so.
fn has_two_cores() -> bool {
    sched_getaffinity(None).unwrap().count() > 1
}

#[test]
fn the_limits_are_measured_beside_a_workload() {
    let rows = rows(&run(&["limit", "ping-pong", "--quick", "--rounds", "1", "--json", "-"]));
    let variants: BTreeSet<_> = rows
        .iter()
        .filter(|row| row["bench"] == "limit" && (has_two_cores() || row["workers"] == 1))
        .map(|row| {
            assert!(row["error"].is_null() && row["median"].as_f64() > Some(0.0), "{row}");
            (row["variant"].as_str().unwrap(), row["workers"].as_u64().unwrap())
        })
        .collect();
    for expected in [("futex", 1), ("event", 1), ("page", 1), ("locked", 1), ("system-call", 1)] {
        assert!(variants.contains(&expected), "{variants:?}");
    }
    if !has_two_cores() {
        return;
    }
    assert!(
        variants.contains(&("line-one-word", 2)) && variants.contains(&("line-two-words", 2)),
        "{variants:?}"
    );
    let beside: Vec<_> = rows.iter().filter(|row| row["bench"] == "ping-pong").collect();
    for variant in ["two-domains", "task-and-thread", "two-threads"] {
        let of = |system: &str| {
            let row = beside.iter().find(|row| row["variant"] == variant && row["system"] == system);
            row.unwrap_or_else(|| panic!("{variant} has no {system}"))
        };
        let (limit, lisle) = (of("limit"), of("lisle"));
        assert_eq!(limit["to_limit"].as_f64(), Some(1.0));
        let ratio = lisle["median"].as_f64().unwrap() / limit["median"].as_f64().unwrap();
        assert!((lisle["to_limit"].as_f64().unwrap() - ratio).abs() < 1e-9, "{lisle}");
    }
    // In one domain nothing crosses.
    assert!(beside.iter().all(|row| row["variant"] != "one-domain"));
}

#[test]
fn a_system_that_is_asked_for_stands_beside_the_limit() {
    if !has_two_cores() {
        return;
    }
    let arguments = ["limit", "pairs", "--quick", "--rounds", "1", "--systems", "threads"];
    let output = run(&arguments);
    let table = stdout(&output);
    assert!(output.status.success() && table.contains(" to limit"), "{table}{}", stderr(&output));
    let (_, pairs) = table.split_once("pairs, pairs=10, 2 workers").expect("it has been run");
    let words: BTreeSet<&str> = pairs.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(words.contains("limit") && words.contains("threads") && !words.contains("lisle"), "{table}");
}

#[test]
fn where_nothing_crosses_there_is_no_limit() {
    let output = run(&["limit", "parked"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("'parked'") && said.contains("there are limit, "), "{said}");
}

#[test]
fn a_table_with_a_limit_is_read_again() {
    if !has_two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.txt");
    let arguments = ["limit", "async-send", "--rounds", "1", "--systems", "lisle"];
    std::fs::write(&results, stdout(&run(&arguments))).unwrap();
    let output = super::bench(&["report", "--check"]).arg(&results).output().unwrap();
    // It is understood; the document would be another.
    assert!(stderr(&output).contains("BENCHMARKS.md"), "{}", stderr(&output));
}
