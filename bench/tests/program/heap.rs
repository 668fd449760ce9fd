//! The command `heap`: every heap has the same results.

use super::{rows, run, stderr};
use std::collections::BTreeSet;

/// Not here, where there is no compiler or library for them.
const ELSEWHERE: [&str; 5] = ["boehm", "go-heap", "java-g1", "java-zgc", "ocaml-heap"];

#[test]
fn only_heaps_are_known_to_the_command() {
    let output = run(&["heap", "chain", "--quick"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("heap-trees"), "{}", stderr(&output));
    let output = run(&["heap", "--quick", "--systems", "nginx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("none of the systems"), "{}", stderr(&output));
}

#[test]
#[ignore = "takes long: --ignored"]
fn every_heap_comes_to_the_results_of_the_others() {
    let rows = rows(&run(&["heap", "--quick", "--json", "-"]));
    for row in &rows {
        let system = row["system"].as_str().unwrap();
        let why = row["error"].as_str();
        let is_missing = ELSEWHERE.contains(&system) && why.is_some_and(|why| why.starts_with("not here"));
        assert!(why.is_none() || is_missing, "{row}");
    }
    let measured = |workload: &str, memory: &str, workers: u64| -> BTreeSet<&str> {
        let is_its = |row: &&serde_json::Value| {
            row["bench"] == workload && row["variant"] == memory && row["workers"] == workers
        };
        let its = rows.iter().filter(is_its).filter_map(|row| row["system"].as_str());
        its.filter(|name| !ELSEWHERE.contains(name)).collect()
    };
    for memory in ["small", "medium", "large"] {
        for workers in [1, 2] {
            let systems = ["arc", "box", "dumpster", "gc-arena", "lisle-heap"];
            assert_eq!(measured("heap-trees", memory, workers), BTreeSet::from(systems));
            assert_eq!(measured("heap-lru", memory, workers), BTreeSet::from(["box", "lisle-heap"]));
        }
        assert_eq!(measured("heap-pauses", memory, 2), BTreeSet::from(["box", "clock", "lisle-heap"]));
    }
}
