//! A failure stands in its row, and the other rows are measured.

use super::{bench, peers::Peers, processes::Run, rows};
use serde_json::Value;

/// The error in the row of Go, when Lisle is measured beside it.
fn error(peers: &Peers, path: Option<&str>) -> String {
    let mut bench = peers.bench(&SMALL);
    if let Some(path) = path {
        bench.env("PATH", path);
    }
    let rows = rows(&bench.output().unwrap());
    let row = |system: &str| rows.iter().find(|row| row["system"] == system).unwrap();
    assert!(row("lisle")["median"].is_number(), "{rows:?}");
    assert_eq!(row("lisle").get("error"), None);
    assert_eq!((&row("go")["median"], &row("go")["rounds"]), (&Value::Null, &Value::from(0)));
    row("go")["error"].as_str().unwrap().to_owned()
}

const SMALL: [&str; 9] =
    ["spawn-join", "--quick", "--rounds=1", "--workers", "1", "--systems", "go,lisle", "--json", "-"];

#[test]
fn a_peer_whose_compiler_is_missing_is_reported_in_its_row() {
    let error = error(&Peers::without_compiler(), Some(""));
    assert!(error.contains("go cannot be run") && error.contains("install Go"), "{error}");
}

#[test]
fn a_peer_that_does_not_build_is_reported_in_its_row() {
    let error = error(&Peers::built_by("#!/bin/sh\necho 'main.go:7: a syntax error' >&2; exit 1"), None);
    assert!(error.contains("does not build: main.go:7: a syntax error"), "{error}");
}

#[test]
fn a_peer_that_prints_rubbish_is_reported_in_its_row() {
    let error = error(&Peers::that("echo rubbish"), None);
    assert!(error.starts_with("answers nonsense: rubbish"), "{error}");
}

#[test]
fn a_peer_that_fails_is_reported_in_its_row() {
    let error = error(&Peers::that("echo 'panic: the sum is wrong' >&2; exit 2"), None);
    assert_eq!(error, "failed with status 2: panic: the sum is wrong");
}

#[test]
fn a_sample_that_is_killed_is_reported_in_its_row() {
    let run =
        Run::start(bench(&["ping-pong", "--quick", "--rounds", "1", "--systems", "lisle", "--json", "-"]));
    run.kill_child();
    let rows = rows(&run.output());
    let errors: Vec<_> = rows.iter().map(|row| row["error"].as_str()).collect();
    assert_eq!(errors.len(), 4);
    assert_eq!(errors.iter().flatten().collect::<Vec<_>>(), [&"was ended by signal 9"]);
}
