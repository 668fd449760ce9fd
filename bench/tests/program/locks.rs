//! The command `locks`: each lock takes part in each study, and its rows have the requested
//! figures.

use super::{rows, run, stderr, stdout};
use serde_json::Value;
use std::{collections::BTreeSet, fs};

/// Between plain threads.
const THREADS: [&str; 25] = [
    "clh",
    "clh-yield",
    "hemlock",
    "hemlock-yield",
    "lisle-rwlock-threads",
    "lisle-semaphore-threads",
    "lisle-threads",
    "mcs",
    "mcs-yield",
    "parking_lot",
    "parking_lot-rwlock",
    "pthread",
    "pthread-adaptive",
    "reciprocating",
    "reciprocating-yield",
    "spin",
    "spin-amd",
    "spin-backoff",
    "spin-yield",
    "std",
    "std-rwlock",
    "test-and-set",
    "ticket",
    "ticket-yield",
    "usync",
];

const RUNTIMES: [&str; 12] = [
    "lisle",
    "lisle-rwlock",
    "lisle-rwlock-tasks",
    "lisle-semaphore",
    "lisle-semaphore-tasks",
    "lisle-tasks",
    "smol",
    "smol-rwlock",
    "smol-semaphore",
    "tokio-mt",
    "tokio-rwlock",
    "tokio-semaphore",
];

/// Readers-writer locks, and the mutexes that they are compared with.
const RWLOCKS: [&str; 10] = [
    "lisle-rwlock",
    "lisle-rwlock-tasks",
    "lisle-rwlock-threads",
    "lisle-threads",
    "parking_lot",
    "parking_lot-rwlock",
    "smol-rwlock",
    "std",
    "std-rwlock",
    "tokio-rwlock",
];

const CONDVARS: [&str; 6] = [
    "lisle-condvar",
    "lisle-condvar-tasks",
    "lisle-condvar-threads",
    "parking_lot-condvar",
    "std-condvar",
    "tokio-notify",
];

/// The figures that every row of a contest has. Of waits there may be fewer than four.
const FIGURES: [&str; 10] =
    ["", "test", "p50", "p90", "p99", "p99.9", "p99.99", "longest wait", "fairness", "processor time"];

fn figure(row: &Value) -> &str {
    row["params"]["figure"].as_str().unwrap_or("")
}

/// The locks that have this figure.
fn measured<'a>(rows: &'a [Value], name: &str) -> BTreeSet<&'a str> {
    let its = rows.iter().filter(|row| figure(row) == name && row["median"].as_f64() > Some(0.0));
    its.filter_map(|row| row["system"].as_str()).collect()
}

/// A lock lies idle while it is wanted only if its threads run at the same time, and on a machine
/// with much else to do they may not, for as long as a short run takes.
const RUNS_UNTIL_IDLE: usize = 20;

/// Runs the program with these arguments, and returns its rows. Asserts that each of the locks, and
/// no other, has each of the figures, and that they agree with each other.
fn with_all_figures(arguments: &[&str], locks: &BTreeSet<&str>) -> Vec<Value> {
    let rows = rows(&run(arguments));
    have_all_figures(&rows, locks);
    let idle = |rows: &[Value]| -> BTreeSet<String> {
        measured(rows, "longest idle time").into_iter().map(str::to_owned).collect()
    };
    let mut have_lain_idle = idle(&rows);
    for _ in 1..RUNS_UNTIL_IDLE {
        if have_lain_idle.len() < locks.len() {
            have_lain_idle.append(&mut idle(&super::rows(&run(arguments))));
        }
    }
    assert!(have_lain_idle.iter().eq(locks), "{have_lain_idle:?}");
    rows
}

fn have_all_figures(rows: &[Value], locks: &BTreeSet<&str>) {
    for row in rows {
        assert!(row["error"].is_null() || row["error"] == "has not measured this", "{row}");
    }
    for needed in FIGURES {
        assert_eq!(measured(rows, needed), *locks, "{needed}");
    }
    for lock in locks {
        let of = |name: &str| median(rows, lock, name);
        let percentiles = ["p50", "p90", "p99", "p99.9", "p99.99", "longest wait"].map(of);
        assert!(percentiles.is_sorted(), "{lock}: {percentiles:?}");
        let longest = rows.iter().filter(|row| row["system"] == **lock && figure(row).ends_with("wait"));
        let longest: Vec<f64> = longest.filter_map(|row| row["median"].as_f64()).collect();
        assert!(longest.iter().rev().is_sorted(), "{lock}: {longest:?}");
        assert!((0.0..=1.0).contains(&of("fairness")), "{lock}");
    }
}

#[test]
fn each_lock_has_all_figures() {
    let arguments = ["locks", "some", "--quick", "--threads", "2", "--json", "-"];
    let rows = with_all_figures(&arguments, &THREADS.into_iter().chain(RUNTIMES).collect());
    for row in &rows {
        assert_eq!([&row["bench"], &row["variant"]], ["lock-contended", "some"]);
        assert_eq!((row["params"]["threads"].as_u64(), row["workers"].as_u64()), (Some(2), Some(2)));
    }
}

/// A lock that nobody else wants has only one figure, and is compared on one core.
#[test]
fn a_lock_that_nobody_else_wants_has_a_cost() {
    let rows = rows(&run(&["locks", "alone", "--quick", "--json", "-"]));
    let locks: BTreeSet<&str> = rows.iter().filter_map(|row| row["system"].as_str()).collect();
    assert_eq!((rows.len(), locks), (37, THREADS.into_iter().chain(RUNTIMES).collect()));
    for row in &rows {
        assert!(row["median"].as_f64().is_some_and(|median| median > 0.0), "{row}");
        assert_eq!((row["unit"].as_str(), row["workers"].as_u64()), (Some("ns/lock"), Some(1)));
    }
}

/// The median of a lock's figure.
fn median(rows: &[Value], lock: &str, name: &str) -> f64 {
    let row = rows.iter().find(|row| row["system"] == lock && figure(row) == name).unwrap();
    row["median"].as_f64().unwrap()
}

#[test]
fn who_reads_and_who_writes_have_figures_of_their_own() {
    let needed = ["", "test", "writes", "read p50", "read p99", "read p99.9", "longest read wait"];
    let needed = needed.into_iter().chain(["write p50", "write p99", "write p99.9", "longest write wait"]);
    let needed: Vec<&str> = needed.chain(["fairness", "processor time"]).collect();
    for case in ["mix", "writer"] {
        let rows = rows(&run(&["locks", case, "--quick", "--threads", "3", "--json", "-"]));
        for name in &needed {
            assert_eq!(measured(&rows, name), RWLOCKS.into(), "{case}: {name}");
        }
        for lock in RWLOCKS {
            let of = |name| median(&rows, lock, name);
            // Readers that do not come to read leave only writes.
            assert!(of("writes") <= of(""), "{lock}");
            for side in [
                ["read p50", "read p99", "read p99.9", "longest read wait"],
                ["write p50", "write p99", "write p99.9", "longest write wait"],
            ] {
                assert!(side.map(of).is_sorted(), "{lock}: {side:?}");
            }
        }
        assert!(rows.iter().all(|row| row["bench"] == "lock-readers" && row["variant"] == case));
    }
}

/// One alone only writes, or hands over to itself.
#[test]
fn each_study_has_figures_with_one_performer() {
    for case in ["writer", "ring", "herd", "queue"] {
        let rows = rows(&run(&["locks", case, "--quick", "--threads", "1", "--json", "-"]));
        let locks: BTreeSet<&str> = rows.iter().filter_map(|row| row["system"].as_str()).collect();
        assert!(!locks.is_empty() && measured(&rows, "") == locks, "{case}: {rows:?}");
    }
}

/// An odd number of them, so that a queue has more that put than that take.
#[test]
fn each_condition_variable_hands_over() {
    for case in ["ring", "herd", "queue"] {
        let arguments = ["locks", case, "--quick", "--threads", "5", "--json", "-"];
        let mut without_turns = Vec::new();
        // In a quick sample that gets no processor there are fewer turns than performers.
        for _ in 0..3 {
            let rows = with_all_figures(&arguments, &CONDVARS.into());
            assert!(rows.iter().all(|row| row["bench"] == "lock-handover" && row["variant"] == case));
            without_turns =
                CONDVARS.into_iter().filter(|lock| median(&rows, lock, "fairness") <= 0.9).collect();
            if case == "queue" || without_turns.is_empty() {
                break;
            }
        }
        assert!(
            case == "queue" || without_turns.is_empty(),
            "{case}: each has had its turn, but for {without_turns:?}"
        );
    }
}

#[test]
fn a_bystander_tells_how_much_it_is_slowed_down() {
    let arguments = [
        "locks",
        "bystanders",
        "--quick",
        "--threads",
        "4",
        "--locks",
        "std,test-and-set,lisle",
        "--json",
        "-",
    ];
    let rows = with_all_figures(&arguments, &BTreeSet::from(["lisle", "std", "test-and-set"]));
    for needed in ["bystander", "bystander, running"] {
        let its = rows.iter().filter(|row| figure(row) == needed && row["median"].as_f64() > Some(0.0));
        assert_eq!(its.count(), 3, "{needed}");
    }
}

#[test]
fn threads_take_part_under_each_policy() {
    for policy in ["other", "batch", "nice", "idle"] {
        let arguments = ["locks", policy, "--quick", "--threads", "3", "--locks", "std,lisle", "--json", "-"];
        // A runtime's threads are its own.
        with_all_figures(&arguments, &BTreeSet::from(["std"]));
    }
}

/// Threads that stand in line and spin end also if they are more than the cores. There may be too
/// few locks for idle times, or none for seconds, and then the row says so.
#[test]
fn a_queue_of_spinning_threads_ends_in_time() {
    let locks = "ticket,mcs,clh,hemlock,reciprocating";
    let rows =
        rows(&run(&["locks", "nothing", "--quick", "--threads", "64", "--locks", locks, "--json", "-"]));
    for lock in locks.split(',') {
        let nobody_had_it = rows.iter().any(|row| {
            row["system"] == lock
                && row["error"].as_str().is_some_and(|why| why.starts_with("nobody has had the lock"))
        });
        let has = |name| measured(&rows, name).contains(lock);
        assert!(nobody_had_it || has("") && has("longest wait") && has("fairness"), "{lock}: {rows:?}");
    }
}

#[test]
fn the_table_and_the_page_have_a_line_for_each_lock() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("locks.html");
    let arguments = ["locks", "alone", "long", "mix", "--quick", "--locks", "std,lisle-threads", "--html"];
    let output = run(&[&arguments, &[page.to_str().unwrap()][..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    for needed in [
        "\nlock-alone, alone, 1 worker\n",
        "\nlock-holder, long, threads=16, 2 workers\n",
        "four longest idle",
        "\nlock-readers, mix, threads=64, 2 workers\n",
        "four longest write waits",
    ] {
        assert!(table.contains(needed), "{needed} in {table}");
    }
    assert_eq!(table.matches("\n  std ").count(), 8, "{table}");

    let page = fs::read_to_string(&page).unwrap();
    for needed in [
        "<title>A study of locks</title>",
        "<h2 id=\"lock-holder\">",
        "<h2 id=\"all\">",
        "long over threads, 2 workers: longest idle time",
        "<th>four longest waits</th>",
        "mix over threads, 2 workers: longest write wait",
        "<th>write p50</th>",
        "<dt>lisle-threads</dt>",
    ] {
        assert!(page.contains(needed), "{needed}");
    }
    for tag in ["article", "section", "table", "tr", "td", "p", "svg"] {
        let count = |end: &str| page.matches(end).count();
        let opened = count(&format!("<{tag} ")) + count(&format!("<{tag}>"));
        assert_eq!(opened, count(&format!("</{tag}>")), "{tag}");
    }
}

#[test]
fn bad_arguments_are_refused_with_what_is_allowed() {
    for (arguments, said) in [
        (&["chain"][..], "there is no 'chain'; there are lock-alone, "),
        (&["--locks", "stdd"], "invalid value 'stdd'"),
        (&["--locks", "go"], "[possible values: std, parking_lot, "),
        (&["--threads", "0"], "a number of threads is from 1 to 1024"),
        (&["--threads", "two"], "a number of threads is from 1 to 1024"),
        (&["--workers", "1025"], "a number of workers is from 1 to 1024"),
        (&["--rounds", "0"], "0 is not in 1..=1000"),
        (&["--locks", "std-semaphore"], "invalid value 'std-semaphore'"),
        (&["ring", "--locks", "lisle-rwlock"], "none of the locks asked for is in these studies"),
        (&["nice", "--locks", "lisle"], "none of the locks asked for is in these studies"),
        (&["--json", "/no/such/folder/rows.json"], "cannot write /no/such/folder/rows.json"),
    ] {
        let output = run(&[&["locks", "--quick"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
}

/// They are run by their command only.
#[test]
fn the_studies_are_not_among_the_workloads() {
    assert!(!stdout(&run(&["--list"])).contains("lock-contended"));
    assert_eq!(run(&["lock-contended", "--quick"]).status.code(), Some(2));
}
