//! The programs in four forms come to the same result in each.

use super::{rows, run};
use std::{collections::BTreeSet, process::Command};

const PROGRAMS: [&str; 12] = [
    "mandelbrot",
    "k-clustering",
    "barnes-hut",
    "count-graphs",
    "mergesort",
    "tsp",
    "raytrace",
    "mat-mult",
    "sieve",
    "par-tak",
    "par-fib",
    "swerve",
];

#[test]
#[ignore = "takes long: --ignored"]
fn every_form_of_every_program_gives_the_result_of_the_serial_form() {
    let has_go = Command::new("go").arg("version").output().is_ok();
    let systems = if has_go { "serial,lisle,lisle-tasks,go" } else { "serial,lisle,lisle-tasks" };
    let rows = rows(&run(&[&PROGRAMS, &["--quick", "--systems", systems, "--json", "-"][..]].concat()));
    for row in &rows {
        assert_eq!(row.get("error"), None, "{row}");
    }
    // The serial form is left out where there are two workers.
    let forms = |program: &str, workers: u64| -> BTreeSet<_> {
        let its = rows.iter().filter(|row| row["bench"] == program && row["workers"] == workers);
        its.filter_map(|row| row["system"].as_str()).collect()
    };
    let all: BTreeSet<_> = systems.split(',').collect();
    let parallel: BTreeSet<_> = all.iter().copied().filter(|&system| system != "serial").collect();
    for program in PROGRAMS {
        assert_eq!([forms(program, 1), forms(program, 2)], [all.clone(), parallel.clone()], "{program}");
    }
}
