//! Other values for the parameters of cases.

use super::{rows, run, stderr};
use std::collections::BTreeSet;

#[test]
fn a_workload_is_run_with_the_values_that_are_asked_for() {
    let arguments = ["chain", "--quick", "--workers", "1", "--systems", "lisle,lisle-tasks", "--json", "-"];
    let rows = rows(&run(&[&arguments[..], &["--param", "relays=1,3,1"]].concat()));
    let all: BTreeSet<_> = rows
        .iter()
        .map(|row| {
            assert!(row["error"].is_null(), "{row}");
            (row["variant"].as_str().unwrap(), row["params"]["relays"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(all, [("buffered", 1), ("buffered", 3), ("rendezvous", 1), ("rendezvous", 3)].into());
    assert_eq!(rows.len(), 8);
}

#[test]
fn a_wrong_parameter_is_answered_with_what_is_right() {
    for (wrong, needed) in [
        ("relays", "NAME=LIST"),
        ("relay=1", "no workload has a parameter 'relay'; there are "),
        ("relays=", "a value of relays is a number"),
        ("relays=1,x", "a value of relays is a number"),
        ("relays=-1", "a value of relays is a number"),
        ("relays=1000000001", "up to 1,000,000,000"),
    ] {
        let output = run(&["chain", &format!("--param={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).contains(needed), "{wrong}: {}", stderr(&output));
    }
    let output = run(&["yield", "--param", "relays=1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("none of the work asked for has a parameter 'relays'"),
        "{}",
        stderr(&output)
    );
}
