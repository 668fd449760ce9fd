//! The loops come to the same result on every system.

use super::{rows, run};
use std::collections::BTreeSet;

/// Each with the systems in Rust that do it with one worker; with two, all but `serial`.
const WORKLOADS: [(&str, &[&str]); 12] = [
    ("fib", &["chili", "lisle", "rayon", "serial"]),
    ("life", &["lisle", "rayon", "serial"]),
    ("mandelbrot-loop", &["lisle", "rayon", "serial"]),
    ("matmul", &["lisle", "rayon", "serial"]),
    ("mixed", &["lisle", "tokio-blocking", "tokio-rayon"]),
    ("nbody", &["lisle", "rayon", "serial"]),
    ("scan", &["lisle", "rayon", "serial"]),
    ("sort", &["lisle", "rayon", "serial"]),
    ("sum", &["lisle", "rayon", "serial"]),
    ("jobs", &["lisle", "rayon", "serial", "tokio-mt"]),
    ("tiny", &["lisle", "rayon", "serial"]),
    ("tree", &["chili", "lisle", "rayon", "serial"]),
];

/// Not here, where there is no compiler or library for them.
const ELSEWHERE: [&str; 3] = ["go", "onetbb", "openmp"];

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_gives_the_result_of_the_others() {
    measure(&WORKLOADS, &[1, 2], &ELSEWHERE);
}

/// Runs the workloads, and asserts that the systems named with each do it, with right results, with
/// each number of `workers`. The systems `elsewhere` need not be here.
pub(crate) fn measure(workloads: &[(&str, &[&str])], workers: &[u64], elsewhere: &[&str]) {
    let names: Vec<&str> = workloads.iter().map(|(name, _)| *name).collect();
    let rows = rows(&run(&[&names, &["--quick", "--json", "-"][..]].concat()));
    for row in &rows {
        let system = row["system"].as_str().unwrap();
        let why = row["error"].as_str();
        let is_missing = elsewhere.contains(&system) && why.is_some_and(|why| why.starts_with("not here"));
        assert!(why.is_none() || is_missing, "{row}");
    }
    for (name, systems) in workloads {
        for &workers in workers {
            let its = rows.iter().filter(|row| row["bench"] == *name && row["workers"] == workers);
            let measured: BTreeSet<_> = its
                .filter_map(|row| row["system"].as_str())
                .filter(|system| !elsewhere.contains(system))
                .collect();
            let parallel = systems.iter().copied().filter(|&system| workers == 1 || system != "serial");
            assert_eq!(measured, parallel.collect(), "{name}, {workers} workers");
        }
    }
}
