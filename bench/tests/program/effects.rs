//! The command `effects`: every system has the same results.

use super::{rows, run, stderr, stdout};
use std::collections::BTreeSet;

/// Not here, where there is no compiler or library for them.
const ELSEWHERE: [&str; 6] = ["boost-context", "go", "go-pull", "java", "libmpeff", "ocaml"];

const PROGRAMS: [&str; 12] = [
    "chameneos",
    "countdown",
    "fibonacci-recursive",
    "generator",
    "handler-sieve",
    "iterator",
    "nqueens",
    "parsing-dollars",
    "product-early",
    "resume-nontail",
    "tree-explore",
    "triples",
];

#[test]
fn a_program_of_the_suite_is_run_by_its_name() {
    let systems = "lisle,lisle-in-place,corosensei,genawaiter";
    let rows = rows(&run(&["effects", "countdown", "--quick", "--systems", systems, "--json", "-"]));
    // The suite's size, and a short one.
    assert_eq!(rows.len(), 8);
    for row in &rows {
        assert!(row["error"].is_null() && row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
        let case = [&row["bench"], &row["variant"], &row["unit"]].map(|text| text.as_str().unwrap());
        assert_eq!(case, ["effect-suite", "countdown", "ms"]);
    }
}

#[test]
fn only_effects_are_known_to_the_command() {
    let output = run(&["effects", "chain", "--quick"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("there is no 'chain'") && said.contains("effect-create, "), "{said}");
    let output = run(&["effects", "--quick", "--systems", "nginx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("none of the systems"), "{}", stderr(&output));
}

#[test]
fn a_sample_that_takes_longer_than_the_limit_is_given_up() {
    let output =
        run(&["effects", "handler-sieve", "--rounds", "1", "--limit", "1", "--systems", "corosensei"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("has not ended after 1 s"), "{}", stdout(&output));
}

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_comes_to_the_results_of_the_others() {
    let rows = rows(&run(&["effects", "--quick", "--json", "-"]));
    for row in &rows {
        let system = row["system"].as_str().unwrap();
        let why = row["error"].as_str();
        let is_missing = ELSEWHERE.contains(&system) && why.is_some_and(|why| why.starts_with("not here"));
        assert!(why.is_none() || is_missing, "{row}");
    }
    let measured = |workload: &str, variant: &str| -> BTreeSet<&str> {
        let its = rows.iter().filter(|row| row["bench"] == workload && row["variant"] == variant);
        its.filter_map(|row| row["system"].as_str()).filter(|name| !ELSEWHERE.contains(name)).collect()
    };
    for (workload, variant, systems) in [
        ("effect-create", "-", &["call", "corosensei", "genawaiter", "lisle", "lisle-in-place"][..]),
        ("effect-perform", "resume", &["corosensei", "genawaiter", "lisle"]),
        ("effect-perform", "in-place", &["call", "lisle-in-place"]),
        ("effect-suspended", "-", &["corosensei", "genawaiter", "lisle"]),
        (
            "effect-generator",
            "-",
            &["call", "corosensei", "genawaiter", "lisle", "lisle-channel", "serial", "threads"],
        ),
    ] {
        assert_eq!(measured(workload, variant), systems.iter().copied().collect(), "{workload}, {variant}");
    }
    for program in PROGRAMS {
        let systems = measured("effect-suite", program);
        assert!(systems.contains("lisle") && systems.contains("corosensei"), "{program}: {systems:?}");
    }
}
